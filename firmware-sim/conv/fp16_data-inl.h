/* SPDX-License-Identifier: MIT */
/*
 * FP16 numbers taken apart for the MAC cells of a kernel group, for files that are compiled once
 * for each instruction set (Highway).
 */
#include <cstring>

#include "conv/fp16_carries-inl.h"
#include "conv/fp16_lanes-inl.h"

/* Once for each instruction set. */
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

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

constexpr int16_t kMagnitude = 0x7fff;
constexpr int16_t kInfinity = 0x7c00;
constexpr int kFractionBits = 10;
constexpr int16_t kFraction = (1 << kFractionBits) - 1;
/* Of weights' exponents: with it no distance of a zero, which has the most negative exponent, is
 * positive. */
constexpr int16_t kExponentBias = 64;

/** \return \a magnitudes, negative where \a numbers are */
HWY_INLINE Row withSignsOf(Row magnitudes, Row numbers)
{
#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	return Row{ _mm256_sign_epi16(magnitudes.raw, numbers.raw) };
#else
	const Row sign = hn::ShiftRight<15>(numbers);
	return hn::Sub(hn::Xor(magnitudes, sign), sign);
#endif
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/** How numbers are taken apart, by their exponents */
struct OfExponents {
	static constexpr size_t kCount = 32;

	alignas(64) int16_t implied[kCount];  /* the one before the fraction, if there is */
	alignas(64) int16_t shift[kCount];    /* of the significand */
	alignas(64) int16_t exponent[kCount]; /* as Parts has it */

	constexpr OfExponents() : implied(), shift(), exponent()
	{
		for (size_t i = 0; i < kCount; i++) {
			/* A denormal has no implied one and counts as exponent 1. */
			const auto counted = static_cast<int16_t>(i ? i : 1);
			implied[i] = i ? 1 << kFractionBits : 0;
			shift[i] = counted & 3;
			exponent[i] = static_cast<int16_t>(kExponentBias | (counted & 0x1c));
		}
	}
};

constexpr OfExponents kOfExponents;

#endif

/** FP16 numbers taken apart; of NaNs, which leave no sum, it does not matter what they become */
struct Parts {
	Row significand;	 /* shifted, with sign */
	Row exponent;		 /* a multiple of four, and kExponentBias */
	hn::Mask<RowTag> absent; /* zeroes */

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	HWY_INLINE explicit Parts(Row bits)
	{
		const OfExponents &of = kOfExponents;
		const Row byExponent = hn::ShiftRight<kFractionBits>(bits);
		/* Of three bits: the first one where the second is set, or else the third. */
		const __m512i whole = _mm512_ternarylogic_epi32(
			bits.raw, rowOf(kFraction).raw, lookedUp(of.implied, byExponent).raw, 0xea);
		const __m512i shifted =
			_mm512_sllv_epi16(whole, lookedUp(of.shift, byExponent).raw);

		significand = Row{ _mm512_mask_sub_epi16(shifted, _mm512_movepi16_mask(bits.raw),
							 _mm512_setzero_si512(), shifted) };
		exponent = lookedUp(of.exponent, byExponent);
		absent = { _mm512_testn_epi16_mask(bits.raw, rowOf(kMagnitude).raw) };
	}
#else
	HWY_INLINE explicit Parts(Row bits)
	{
		constexpr int16_t kExponent = static_cast<int16_t>(0xfc00);
		const Row none = rowOf(INT16_MIN);
		/* With all signs set, which shifts then spread over what is above the exponent. */
		const Row magnitude = hn::Or(bits, none);
		/* A denormal has no implied one and counts as exponent 1. */
		const Row scale =
			hn::And(hn::Max(magnitude, rowOf(INT16_MIN + (1 << kFractionBits))),
				rowOf(kExponent));
		const Row whole = hn::Sub(hn::Add(magnitude, rowOf(1 << kFractionBits)), scale);
		const Row shift = hn::ShiftRight<kFractionBits>(scale);

		significand = withSignsOf(
			hn::Mul(whole, powerOfTwo(hn::And(shift, rowOf(INT16_MIN | 3)))), bits);
		exponent = hn::And(shift, rowOf(kExponentBias | 0x1c));
		absent = hn::Eq(magnitude, none);
	}
#endif

	/** Only the first \a count numbers are there */
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

/** \return the first of \a count numbers that is a NaN, 0 if there is none */
inline uint16_t firstNan(const int16_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if ((numbers[i] & kMagnitude) > kInfinity)
			return static_cast<uint16_t>(numbers[i]);
	return 0;
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

/** Fp16Data::load() */
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
	/* What is behind the numbers is none of them. */
	out.nan = anyNan ? firstNan(numbers, lanes) : 0;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
