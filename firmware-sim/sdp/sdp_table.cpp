/* SPDX-License-Identifier: MIT */
/*
 * A byte shuffle looks up the lower four bits of each byte in a table of sixteen entries. There is
 * one such table for each value of the upper four bits, which select the result.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "sdp/sdp_table.h"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_table.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
/* The names here are others' as well. */
namespace byte_table
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

bool lookUp(const uint8_t *table, const uint8_t *in, uint8_t *out, size_t count)
{
	uint8_t any = 0;

	for (size_t i = 0; i < count; i++)
		any |= out[i] = table[in[i]];
	return any != 0;
}

#else

/* A run of atoms may have an odd number of them. */
using Tag = hn::CappedTag<uint8_t, 64>;
using AtomTag = hn::CappedTag<uint8_t, 32>;

/** \brief Tables of sixteen entries in registers, which stores to the output cannot alias */
template<class D>
class Tables
{
public:
	using Vector = hn::Vec<D>;

	explicit HWY_INLINE Tables(const uint8_t *table)
	{
		for (size_t i = 0; i < kCount; i++)
			of_[i] = hn::LoadDup128(D(), table + 16 * i);
	}

	HWY_INLINE Vector lookUp(const uint8_t *in, uint8_t *out) const
	{
		const Vector bytes = hn::LoadU(D(), in);
		const Vector results = choose<0, kCount>(bytes, hn::And(bytes, hn::Set(D(), 0xf)));

		hn::StoreU(results, D(), out);
		return results;
	}

private:
	static constexpr size_t kCount = 16;

	/**
	 * \tparam kFrom index of the first of \tparam kTables tables, among which the upper bits
	 * choose
	 */
	template<size_t kFrom, size_t kTables>
	HWY_INLINE Vector choose(Vector bytes, Vector lower) const
	{
		if constexpr (kTables == 1) {
			return hn::TableLookupBytes(of_[kFrom], lower);
		} else {
			constexpr size_t kHalf = kTables / 2;
			const auto isUpper = hn::TestBit(bytes, hn::Set(D(), 16 * kHalf));

			return hn::IfThenElse(isUpper, choose<kFrom + kHalf, kHalf>(bytes, lower),
					      choose<kFrom, kHalf>(bytes, lower));
		}
	}

	Vector of_[kCount];
};

bool lookUp(const uint8_t *table, const uint8_t *in, uint8_t *out, size_t count)
{
	constexpr size_t kStep = hn::MaxLanes(Tag());
	constexpr size_t kAtomStep = hn::MaxLanes(AtomTag());
	const Tables<Tag> tables(table);
	const Tables<AtomTag> tablesOfRest(table);
	auto any = hn::Zero(Tag());
	auto anyOfRest = hn::Zero(AtomTag());
	size_t i = 0;

	for (; i + kStep <= count; i += kStep)
		any = hn::Or(any, tables.lookUp(in + i, out + i));
	for (; i < count; i += kAtomStep)
		anyOfRest = hn::Or(anyOfRest, tablesOfRest.lookUp(in + i, out + i));
	return !hn::AllTrue(Tag(), hn::Eq(any, hn::Zero(Tag()))) ||
	       !hn::AllTrue(AtomTag(), hn::Eq(anyOfRest, hn::Zero(AtomTag())));
}

#endif

} /* namespace byte_table */

bool lookUpBytesOfTarget(const std::byte *table, const std::byte *in, std::byte *out, size_t count)
{
	return byte_table::lookUp(reinterpret_cast<const uint8_t *>(table),
				  reinterpret_cast<const uint8_t *>(in),
				  reinterpret_cast<uint8_t *>(out), count);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(lookUpBytesOfTarget);

namespace
{

/*
 * One by one from the cache, because gathers take longer. Results are collected before they are
 * written, as many small writes take longer, too.
 */
bool lookUpWords(const uint16_t *table, const uint16_t *in, uint16_t *out, size_t count)
{
	using Words = uint16_t __attribute__((vector_size(16)));
	constexpr size_t kStep = sizeof(Words) / sizeof(uint16_t);
	Words any = {};

	for (size_t i = 0; i < count; i += kStep) {
		const uint16_t *from = in + i;
		const Words words = { table[from[0]], table[from[1]], table[from[2]],
				      table[from[3]], table[from[4]], table[from[5]],
				      table[from[6]], table[from[7]] };
		any |= words;
		std::memcpy(out + i, &words, sizeof(words));
	}
	const Words none = {};
	return std::memcmp(&any, &none, sizeof(any)) != 0;
}

} /* namespace */

bool lookUpSdpTable(const SdpTable &table, std::span<const std::byte> in, std::span<std::byte> out)
{
	if (table.elementBytes == sizeof(uint16_t))
		return lookUpWords(reinterpret_cast<const uint16_t *>(table.results.data()),
				   reinterpret_cast<const uint16_t *>(in.data()),
				   reinterpret_cast<uint16_t *>(out.data()),
				   in.size() / sizeof(uint16_t));
	return HWY_DYNAMIC_DISPATCH(lookUpBytesOfTarget)(table.results.data(), in.data(),
							 out.data(), in.size());
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
