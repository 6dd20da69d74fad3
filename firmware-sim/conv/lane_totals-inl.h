/* SPDX-License-Identifier: MIT */
/*
 * What all lanes of vectors are together, for files that are compiled once for each instruction set
 * (Highway).
 */
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CONV_LANE_TOTALS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_LANE_TOTALS_INL_H
#undef NVDLA_SIM_CONV_LANE_TOTALS_INL_H
#else
#define NVDLA_SIM_CONV_LANE_TOTALS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors whose size is known, so that there can be arrays of them. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kTotalsAtOnce = 4;
using TotalsTag = hn::FixedTag<int32_t, kTotalsAtOnce>;

/** \return the sum of the vector's blocks of 128 bits */
template<typename Tag>
HWY_INLINE hn::Vec<TotalsTag> sumOfBlocks(Tag tag, hn::Vec<Tag> blocks)
{
	if constexpr (hn::MaxLanes(Tag()) == kTotalsAtOnce) {
		return blocks;
	} else {
		const hn::Half<Tag> half;
		return sumOfBlocks(
			half, hn::Add(hn::LowerHalf(half, blocks), hn::UpperHalf(half, blocks)));
	}
}

/** \return the sum of the lanes of each of four vectors of 32-bit numbers */
template<typename Tag>
HWY_INLINE hn::Vec<TotalsTag> totalsOf(Tag tag, const hn::Vec<Tag> *sums)
{
	const hn::Repartition<int64_t, Tag> pairTag;
	const auto halve = [&](hn::Vec<Tag> a, hn::Vec<Tag> b) HWY_ATTR {
		return hn::BitCast(pairTag, hn::Add(hn::InterleaveLower(tag, a, b),
						    hn::InterleaveUpper(tag, a, b)));
	};
	const auto first = halve(sums[0], sums[1]);
	const auto second = halve(sums[2], sums[3]);

	return sumOfBlocks(tag,
			   hn::Add(hn::BitCast(tag, hn::InterleaveLower(pairTag, first, second)),
				   hn::BitCast(tag, hn::InterleaveUpper(pairTag, first, second))));
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
