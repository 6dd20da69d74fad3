/* SPDX-License-Identifier: MIT */
/*
 * Widening of integer elements and operands to 32 bits, and look-up of elements in tables.
 *
 * The byte look-up instruction takes four bits of each byte and a table of sixteen entries. A table
 * of 256 entries is sixteen such tables. A byte's upper four bits select one of their results.
 *
 * Compiled once for each instruction set (Highway), by sdp_simd.cpp.
 */
#include <cmath>
#include <cstring>

#include "core/elements.h"
#include "sdp/sdp_fast.h"

#include <hwy/highway.h>

#include "arith/doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

constexpr size_t kLanes = hn::MaxLanes(Tag());

using NumberTag = hn::CappedTag<int32_t, 16>;

/** \return true if 32 bits hold each step of the conversion of numbers of 16 bits */
bool fitsNumbers(const arith::Converter &converter)
{
	constexpr int64_t kLargest = 1 << 15;
	const int64_t moved = kLargest + std::abs(int64_t{ converter.offset });
	const int64_t half = int64_t{ 1 } << (converter.shift & 31) >> 1;

	return converter.shift < 31 &&
	       moved * std::abs(int64_t{ converter.scale }) + half <= INT32_MAX;
}

size_t convertNumbers(const arith::Converter &converter, std::span<int32_t> values)
{
	const NumberTag tag;
	const size_t whole = values.size() / hn::Lanes(tag) * hn::Lanes(tag);
	const auto offset = hn::Set(tag, converter.offset);
	const auto scale = hn::Set(tag, converter.scale);
	const int shift = converter.shift;
	const auto half = hn::Set(tag, 1 << shift >> 1);
	const auto toZero = hn::Set(tag, shift ? -1 : 0); /* added to negative products, so that
							   * their halves are rounded away from
							   * zero */

	for (size_t i = 0; i < whole; i += hn::Lanes(tag)) {
		const auto moved = hn::Sub(hn::LoadU(tag, &values[i]), offset);
		const auto product = hn::Mul(moved, scale);
		const auto sign = hn::And(hn::BroadcastSignBit(product), toZero);
		hn::StoreU(hn::ShiftRightSame(hn::Add(hn::Add(product, half), sign), shift), tag,
			   &values[i]);
	}
	return whole;
}

size_t operandsOfTarget(const arith::Converter &converter, std::span<int32_t> values)
{
	if (fitsNumbers(converter))
		return convertNumbers(converter, values);

	const size_t whole = values.size() / kLanes * kLanes;
	const double scale = std::ldexp(converter.scale, -converter.shift);

	for (size_t i = 0; i < whole; i += kLanes) {
		const Vector moved = hn::Sub(load(&values[i]), constant(converter.offset));
		store(roundAway(hn::Mul(moved, constant(scale))), &values[i]);
	}
	return whole;
}

template<typename Element>
size_t widenAs(const std::byte *raw, std::span<int32_t> out, int shift)
{
	const NumberTag tag;
	const hn::Rebind<Element, NumberTag> elementTag;
	const auto *elements = reinterpret_cast<const Element *>(raw);
	size_t i = 0;

	for (; i + hn::Lanes(tag) <= out.size(); i += hn::Lanes(tag))
		hn::StoreU(hn::ShiftLeftSame(
				   hn::PromoteTo(tag, hn::LoadU(elementTag, elements + i)), shift),
			   tag, &out[i]);
	return i;
}

size_t widenOfTarget(const std::byte *raw, Precision precision, std::span<int32_t> out, int shift)
{
	return precision == Precision::Int8 ? widenAs<int8_t>(raw, out, shift)
					    : widenAs<int16_t>(raw, out, shift);
}

#else

size_t operandsOfTarget(const arith::Converter &, std::span<int32_t>)
{
	return 0;
}

size_t widenOfTarget(const std::byte *, Precision, std::span<int32_t>, int)
{
	return 0;
}

#endif

/* Keeps the names apart from those of other files of a unity build. */
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

/* Vectors of two atoms, and of one atom for the last atom of an odd number. */
using Tag = hn::CappedTag<uint8_t, 64>;
using AtomTag = hn::CappedTag<uint8_t, 32>;

/** \brief Tables of sixteen entries, held in local vectors, which cannot alias the output */
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
	 * \tparam kFrom index of the first table
	 * \tparam kTables number of tables, selected by the upper bits
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

HWY_EXPORT(operandsOfTarget);
HWY_EXPORT(widenOfTarget);

void convertSdpOperandsFast(const arith::Converter &converter, std::span<int32_t> values)
{
	const size_t done = HWY_DYNAMIC_DISPATCH(operandsOfTarget)(converter, values);

	for (int32_t &value : values.subspan(done))
		value = static_cast<int32_t>(arith::saturate<32>(converter.apply(value)));
}

void widenSdpElements(std::span<const std::byte> raw, Precision precision, std::span<int32_t> out,
		      int shift)
{
	const size_t done = HWY_DYNAMIC_DISPATCH(widenOfTarget)(raw.data(), precision, out, shift);
	const auto rest = out.subspan(done);

	widenElements(raw.subspan(done * elementBytes(precision)), precision, rest);
	for (int32_t &number : rest)
		number <<= shift;
}

HWY_EXPORT(lookUpBytesOfTarget);

namespace
{

/*
 * Looks up words one by one: the table is in the cache, so this is faster than gather instructions.
 * A register collects the results, because one large store is faster than many small ones.
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
