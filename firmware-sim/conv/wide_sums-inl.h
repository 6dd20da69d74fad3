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

	HWY_INLINE void store(int64_t *out) const
	{
		const Vector rest = rests();

		hn::StoreU(wide(hn::LowerHalf(Half(), high), hn::LowerHalf(Half(), rest)),
			   WideTag(), out);
		hn::StoreU(wide(hn::UpperHalf(Half(), high), hn::UpperHalf(Half(), rest)),
			   WideTag(), out + hn::MaxLanes(WideTag()));
	}

	/** \return the sum of all lanes */
	HWY_INLINE int64_t total() const
	{
		const Vector rest = rests();
		const auto lower = wide(hn::LowerHalf(Half(), high), hn::LowerHalf(Half(), rest));
		const auto upper = wide(hn::UpperHalf(Half(), high), hn::UpperHalf(Half(), rest));

		return hn::GetLane(hn::SumOfLanes(WideTag(), hn::Add(lower, upper)));
	}

private:
	using Half = hn::Half<Tag>;
	using WideTag = hn::Repartition<int64_t, Tag>;

	/** What the upper halves leave over; it is below 2^32. */
	HWY_INLINE Vector rests() const { return hn::Sub(low, hn::ShiftLeft<16>(high)); }

	static HWY_INLINE hn::Vec<WideTag> wide(hn::Vec<Half> highs, hn::Vec<Half> rests)
	{
		const hn::RebindToUnsigned<WideTag> wideRestTag;
		const hn::RebindToUnsigned<Half> restTag;
		const auto wideRest = hn::PromoteTo(wideRestTag, hn::BitCast(restTag, rests));

		return hn::Add(hn::ShiftLeft<16>(hn::PromoteTo(WideTag(), highs)),
			       hn::BitCast(WideTag(), wideRest));
	}
};

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
