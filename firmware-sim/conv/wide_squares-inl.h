/* SPDX-License-Identifier: MIT */
/*
 * Squares of INT16, 2^16 at a time, for files that are compiled once for each instruction set
 * (Highway).
 */
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "conv/tile_products-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CONV_WIDE_SQUARES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_WIDE_SQUARES_INL_H
#undef NVDLA_SIM_CONV_WIDE_SQUARES_INL_H
#else
#define NVDLA_SIM_CONV_WIDE_SQUARES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors whose size is known, so that they can be members. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::Repartition<int16_t, Tag>;
using Words = hn::Vec<WordTag>;
constexpr size_t kLanes = hn::MaxLanes(Tag());
constexpr size_t kWords = hn::MaxLanes(WordTag());

/** The squares of numbers, 2^16 at a time, rounded down */
HWY_INLINE Words squares(Words numbers)
{
	return hn::MulHigh(numbers, numbers);
}

/** Sums of pairs */
HWY_INLINE Vector pairSums(Words numbers)
{
	return Pairs::multiply(hn::BitCast(Tag(), numbers), hn::Set(Tag(), 0x10001));
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
