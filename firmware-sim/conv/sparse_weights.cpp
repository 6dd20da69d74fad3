/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "conv/sparse_weights.h"

#include <array>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/sparse_weights.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#ifndef NVDLA_SIM_SPARSE_WEIGHTS_ONCE
#define NVDLA_SIM_SPARSE_WEIGHTS_ONCE

namespace nvdla::sim
{

/** \brief For each mask its ones, and for each of its elements which of the packed ones it is */
struct MaskTable {
	static constexpr uint8_t kZero = 0x80; /* and more: none of them */

	std::array<uint8_t, 256> ones;
	std::array<std::array<uint8_t, 8>, 256> order;

	constexpr MaskTable() : ones(), order()
	{
		for (size_t mask = 0; mask < ones.size(); mask++)
			for (size_t i = 0; i < 8; i++)
				order[mask][i] = mask >> i & 1 ? ones[mask]++ : kZero;
	}
};

inline constexpr MaskTable kMasks;

/** \brief The elements of one mask; \a packed and \a out are moved behind them */
inline void expandMask(std::byte mask, size_t elementBytes, const std::byte *&packed,
		       std::byte *&out)
{
	const auto number = std::to_integer<size_t>(mask);

	for (const uint8_t place : kMasks.order[number]) {
		if (place == MaskTable::kZero)
			std::memset(out, 0, elementBytes);
		else
			std::memcpy(out, packed + place * elementBytes, elementBytes);
		out += elementBytes;
	}
	packed += kMasks.ones[number] * elementBytes;
}

} /* namespace nvdla::sim */

#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using Tag = hn::FixedTag<uint8_t, 16>;
using Half = hn::FixedTag<uint8_t, 8>;

HWY_INLINE hn::Vec<Half> orderOf(size_t mask)
{
	return hn::LoadU(Half(), kMasks.order[mask].data());
}

/** Sixteen bytes of the packed ones, in \a order */
HWY_INLINE void put(const std::byte *packed, hn::Vec<Tag> order, std::byte *out)
{
	const auto bytes = hn::LoadU(Tag(), reinterpret_cast<const uint8_t *>(packed));

	hn::StoreU(hn::TableLookupBytesOr0(bytes, order), Tag(), reinterpret_cast<uint8_t *>(out));
}

/* No sum of places leaves 8 bits, and what is 0x80 or more stays it. */
void expandBytes(ControlView masks, const std::byte *packed, std::byte *out)
{
	size_t i = 0;

	for (; i + 2 <= masks.size(); i += 2, out += 16) {
		const auto first = std::to_integer<size_t>(masks[i]);
		const auto second = std::to_integer<size_t>(masks[i + 1]);
		const auto behind = hn::Add(orderOf(second), hn::Set(Half(), kMasks.ones[first]));

		put(packed, hn::Combine(Tag(), behind, orderOf(first)), out);
		packed += kMasks.ones[first] + kMasks.ones[second];
	}
	if (i < masks.size())
		expandMask(masks[i], 1, packed, out);
}

void expandPairs(ControlView masks, const std::byte *packed, std::byte *out)
{
	const Tag tag;
	const auto second = hn::BitCast(tag, hn::Set(hn::RepartitionToWide<Tag>(), 0x100));

	for (const std::byte mask : masks) {
		const auto number = std::to_integer<size_t>(mask);
		const auto order = hn::ZeroExtendVector(tag, orderOf(number));
		const auto twice = hn::InterleaveLower(tag, order, order);

		put(packed, hn::SaturatedAdd(hn::SaturatedAdd(twice, twice), second), out);
		packed += 2 * kMasks.ones[number];
		out += 16;
	}
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/* VBMI2: a vector of elements at a time. It comes with more hosts than the set of instructions
 * Highway wants to see. */
template<size_t kElementBytes>
HWY_INLINE __m512i expanded(uint64_t mask, const std::byte *packed)
{
	const __m512i in = _mm512_loadu_si512(packed);
	__m512i out;

	if constexpr (kElementBytes == 1)
		asm("vpexpandb %1, %0%{%2%}%{z%}" : "=v"(out) : "v"(in), "Yk"(mask));
	else
		asm("vpexpandw %1, %0%{%2%}%{z%}" : "=v"(out) : "v"(in), "Yk"(mask));
	return out;
}

/** \return masks that are done, from the first on; \a packed and \a out are moved behind them */
template<size_t kElementBytes>
size_t expandVectors(ControlView masks, const std::byte *&packed, std::byte *&out)
{
	constexpr size_t kMaskBytes = sizeof(__m512i) / kElementBytes / 8;
	size_t i = 0;

	for (; i + kMaskBytes <= masks.size(); i += kMaskBytes, out += sizeof(__m512i)) {
		uint64_t mask = 0;
		std::memcpy(&mask, &masks[i], kMaskBytes);
		_mm512_storeu_si512(out, expanded<kElementBytes>(mask, packed));
		packed += static_cast<size_t>(std::popcount(mask)) * kElementBytes;
	}
	return i;
}

template<size_t kElementBytes>
void expandSome(ControlView &masks, const std::byte *&packed, std::byte *&out)
{
	if (__builtin_cpu_supports("avx512vbmi2"))
		masks = masks.subspan(expandVectors<kElementBytes>(masks, packed, out));
}

#else

template<size_t kElementBytes>
void expandSome(ControlView &, const std::byte *&, std::byte *&)
{
}

#endif

void expandOfTarget(ControlView masks, const std::byte *packed, size_t elementBytes, std::byte *out)
{
	if (elementBytes == 1)
		expandSome<1>(masks, packed, out);
	else
		expandSome<2>(masks, packed, out);
	if (elementBytes == 1)
		expandBytes(masks, packed, out);
	else
		expandPairs(masks, packed, out);
}

#else

void expandOfTarget(ControlView masks, const std::byte *packed, size_t elementBytes, std::byte *out)
{
	for (const std::byte mask : masks)
		expandMask(mask, elementBytes, packed, out);
}

#endif

size_t countOfTarget(ControlView masks)
{
	const hn::ScalableTag<uint64_t> tag;
	const size_t step = hn::Lanes(tag) * sizeof(uint64_t);
	auto sums = hn::Zero(tag);
	size_t i = 0;

	for (; i + step <= masks.size(); i += step)
		sums = hn::Add(sums, hn::PopulationCount(hn::LoadU(
					     tag, reinterpret_cast<const uint64_t *>(&masks[i]))));
	size_t ones = hn::GetLane(hn::SumOfLanes(tag, sums));
	for (; i < masks.size(); i++)
		ones += kMasks.ones[std::to_integer<size_t>(masks[i])];
	return ones;
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(countOfTarget);
HWY_EXPORT(expandOfTarget);

size_t countOnes(ControlView masks)
{
	return HWY_DYNAMIC_DISPATCH(countOfTarget)(masks);
}

void expandSparse(ControlView masks, const std::byte *packed, size_t elementBytes, std::byte *out)
{
	HWY_DYNAMIC_DISPATCH(expandOfTarget)(masks, packed, elementBytes, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
