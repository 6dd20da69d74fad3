/* SPDX-License-Identifier: MIT */
/*
 * Splits FP16 numbers into significands and exponents for the MAC cells. For files that are
 * compiled once for each instruction set (Highway).
 */
#include <cstring>

#include "conv/fp16_carries-inl.h"
#include "conv/fp16_lanes-inl.h"

/* Include guard that works once per instruction set: HWY_TARGET_TOGGLE changes with each. */
#if defined(NVDLA_SIM_CONV_FP16_DATA_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_FP16_DATA_INL_H
#undef NVDLA_SIM_CONV_FP16_DATA_INL_H
#else
#define NVDLA_SIM_CONV_FP16_DATA_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Only for targets with vectors of doubles. */
#if HWY_TARGET != HWY_SCALAR && HWY_HAVE_FLOAT64

constexpr int16_t kMagnitude = 0x7fff;
constexpr int16_t kInfinity = 0x7c00;
constexpr int kHalfFractionBits = 10;
constexpr int16_t kHalfFraction = (1 << kHalfFractionBits) - 1;
/* Added to exponents of weights. A zero weight has the most negative exponent; with the bias, its
 * distance from the largest exponent exceeds int16_t and wraps to a negative number. */
constexpr int16_t kExponentBias = 64;

/** \return \a magnitudes with the signs of \a numbers */
HWY_INLINE Row withSignsOf(Row magnitudes, Row numbers)
{
	const Row sign = hn::ShiftRight<15>(numbers);
	return hn::Sub(hn::Xor(magnitudes, sign), sign);
}

/** Parts of FP16 numbers; those of a NaN are not used, as a NaN replaces the whole sum */
struct Parts {
	Row significand;	 /* shifted, with sign */
	Row exponent;		 /* a multiple of four, plus kExponentBias */
	hn::Mask<RowTag> absent; /* true for zeroes */

	HWY_INLINE explicit Parts(Row bits)
	{
		constexpr int16_t kExponent = static_cast<int16_t>(0xfc00);
		const Row none = rowOf(INT16_MIN);
		/* Set all sign bits; the arithmetic shift below then fills the bits above the
		 * exponent with ones. */
		const Row magnitude = hn::Or(bits, none);
		/* A denormal has no implied one and counts as exponent 1. */
		const Row scale =
			hn::And(hn::Max(magnitude, rowOf(INT16_MIN + (1 << kHalfFractionBits))),
				rowOf(kExponent));
		const Row whole = hn::Sub(hn::Add(magnitude, rowOf(1 << kHalfFractionBits)), scale);
		const Row shift = hn::ShiftRight<kHalfFractionBits>(scale);

		significand = withSignsOf(
			hn::Mul(whole, powerOfTwo(hn::And(shift, rowOf(INT16_MIN | 3)))), bits);
		exponent = hn::And(shift, rowOf(kExponentBias | 0x1c));
		absent = hn::Eq(magnitude, none);
	}

	/** Replaces the numbers from index \a count on by zeroes */
	HWY_INLINE void keep(size_t count)
	{
		absent = hn::Or(absent, hn::Not(hn::FirstN(RowTag(), count)));
	}
};

/** \return true if some of the numbers are NaNs */
HWY_INLINE bool hasNan(Row bits)
{
	return !hn::AllFalse(RowTag(), hn::Gt(hn::And(bits, rowOf(kMagnitude)), rowOf(kInfinity)));
}

template<typename HalfRow>
HWY_INLINE void store(HalfRow significands, HalfRow exponents, size_t first, Fp16Data &out)
{
	const IntegerTag tag;
	const Integers significand = hn::PromoteTo(tag, significands);
	const Integers exponent = hn::Xor(hn::PromoteTo(tag, exponents), constant(kExponentBias));

	hn::Store(hn::And(significand, constant(0xffff)), tag, out.low + first);
	hn::Store(hn::ShiftLeft<16>(significand), tag, out.high + first);
	hn::Store(LostCarries::rowIndex(significand), tag, out.carryRow + first);
	hn::Store(hn::Or(exponent, hn::ShiftLeft<16>(exponent)), tag, out.exponent + first);
}

/** Splits \a lanes numbers into the members of \a out; further lanes count as zero */
HWY_INLINE void loadData(const int16_t *numbers, size_t lanes, Fp16Data &out)
{
	const hn::Half<RowTag> half;
	uint8_t bits[kMacLanes / 8] = {};
	bool anyNan = false;

	for (size_t i = 0; i < lanes; i += kRowLanes) {
		const Row row = hn::LoadU(RowTag(), numbers + i);
		Parts parts(row);
		if (lanes - i < kRowLanes)
			parts.keep(lanes - i);
		hn::StoreMaskBits(RowTag(), hn::Not(parts.absent), bits + i / 8);
		anyNan |= hasNan(row);
		store(hn::LowerHalf(half, parts.significand), hn::LowerHalf(half, parts.exponent),
		      i, out);
		store(hn::UpperHalf(half, parts.significand), hn::UpperHalf(half, parts.exponent),
		      i + kLanes, out);
	}
	std::memcpy(&out.present, bits, sizeof(out.present));
	/* Vectors reach beyond the numbers, so firstNan() searches only the numbers. */
	out.nan = anyNan ? firstNan(numbers, lanes) : 0;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
