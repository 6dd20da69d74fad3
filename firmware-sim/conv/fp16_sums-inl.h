/* SPDX-License-Identifier: MIT */
/*
 * The FP16 accumulator in vectors of doubles, for files that are compiled once for each instruction
 * set (Highway).
 *
 * It has 39 bits of a double's 53, and its exponents never leave the range. A sum of two is cut to
 * 53 bits (TowardZero), then rounded half away from zero to 39.
 */
#include <cstdint>

#include "conv/fp16_lanes-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CONV_FP16_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_FP16_SUMS_INL_H
#undef NVDLA_SIM_CONV_FP16_SUMS_INL_H
#else
#define NVDLA_SIM_CONV_FP16_SUMS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

/** Half away from zero, without the last \a kBits bits of the fraction */
template<int kBits>
HWY_INLINE Doubles roundedBy(Doubles number)
{
	const BitsTag tag;
	constexpr int64_t kUnit = int64_t{ 1 } << kBits;
	const auto bits = hn::Add(hn::BitCast(tag, number), hn::Set(tag, kUnit / 2));

	return hn::BitCast(DoubleTag(), hn::And(bits, hn::Set(tag, -kUnit)));
}

/** A sum that was cut to 53 bits, as FloatSum::add() rounds it: cutting changes no half */
HWY_INLINE Doubles rounded(Doubles sum)
{
	constexpr int kDroppedBits = 14;
	return roundedBy<kDroppedBits>(sum);
}

/** \return what FloatSum::deliver() makes of sums without NaNs */
HWY_INLINE hn::Vec<HalfTag> delivered(Doubles sum)
{
	const hn::Rebind<float, DoubleTag> floatTag;
	return hn::BitCast(HalfTag(),
			   hn::DemoteTo(floatTag, roundedBy<Fp16Sums::kNotDelivered>(sum)));
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
