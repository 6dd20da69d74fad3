/* SPDX-License-Identifier: MIT */
/*
 * Sums of INT16 products that 32 bits do not hold, for files that are compiled once for each
 * instruction set (Highway). The low 32 bits of what is added up go round; the upper halves are
 * added up, too, and say how often.
 */
#include <cstdint>

#include <hwy/highway.h>

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CONV_WIDE_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_WIDE_SUMS_INL_H
#undef NVDLA_SIM_CONV_WIDE_SUMS_INL_H
#else
#define NVDLA_SIM_CONV_WIDE_SUMS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors whose size is known, so that they can be members. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

namespace hn = hwy::HWY_NAMESPACE;

/** \brief The sum of less than 2^16 numbers of 32 bits, in each lane */
struct WideSum {
	using Tag = hn::ScalableTag<int32_t>;
	using Vector = hn::Vec<Tag>;

	Vector low;  /* modulo 2^32 */
	Vector high; /* of the upper halves */

	HWY_INLINE WideSum() : low(hn::Zero(Tag())), high(hn::Zero(Tag())) {}

	HWY_INLINE void add(Vector numbers)
	{
		low = hn::Add(low, numbers);
		high = hn::Add(high, hn::ShiftRight<16>(numbers));
	}

	/* What the upper halves leave over is below 2^32. */
	HWY_INLINE void store(int64_t *out) const
	{
		const hn::Repartition<int64_t, Tag> wideTag;
		const hn::RebindToUnsigned<decltype(wideTag)> wideRestTag;
		const hn::Half<Tag> halfTag;
		const hn::RebindToUnsigned<decltype(halfTag)> restTag;
		const Vector rest = hn::Sub(low, hn::ShiftLeft<16>(high));
		const auto total = [&](auto highs, auto rests) HWY_ATTR {
			const auto wideRest =
				hn::PromoteTo(wideRestTag, hn::BitCast(restTag, rests));
			return hn::Add(hn::ShiftLeft<16>(hn::PromoteTo(wideTag, highs)),
				       hn::BitCast(wideTag, wideRest));
		};

		hn::StoreU(total(hn::LowerHalf(halfTag, high), hn::LowerHalf(halfTag, rest)),
			   wideTag, out);
		hn::StoreU(total(hn::UpperHalf(halfTag, high), hn::UpperHalf(halfTag, rest)),
			   wideTag, out + hn::MaxLanes(wideTag));
	}
};

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
