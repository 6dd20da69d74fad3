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
/* Of weights' exponents: with it no distance of a zero, which has the most negative exponent, is
 * positive. */
constexpr int16_t kExponentBias = 64;

/** FP16 numbers taken apart; of NaNs, which leave no sum, it does not matter what they become */
struct Parts {
	Row significand; /* shifted, with sign */
	Row exponent;	 /* a multiple of four */
	hn::Mask<RowTag> present;

	HWY_INLINE explicit Parts(Row bits)
	{
		const Row magnitude = hn::And(bits, rowOf(kMagnitude));
		/* A denormal has no implied one and counts as exponent 1. */
		const Row shift = hn::Max(hn::ShiftRight<kFractionBits>(magnitude), rowOf(1));
		const Row whole = hn::Sub(hn::Add(magnitude, rowOf(1 << kFractionBits)),
					  hn::ShiftLeft<kFractionBits>(shift));
		const Row shifted = hn::Mul(whole, powerOfTwo(hn::And(shift, rowOf(3))));
		const Row sign = hn::ShiftRight<15>(bits);

		significand = hn::Sub(hn::Xor(shifted, sign), sign);
		exponent = hn::And(shift, rowOf(0x1c));
		present = hn::Gt(magnitude, hn::Zero(RowTag()));
	}

	/** Only the first \a count numbers are there */
	HWY_INLINE void keep(size_t count)
	{
		present = hn::And(present, hn::FirstN(RowTag(), count));
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

/** The numbers of a block */
struct Data {
	/* Significands in 16 bits, in the lower halves and in the upper ones, with zeroes beside
	 * them; which row of LostCarries is about them; exponents in 16 bits twice. */
	alignas(64) int32_t low[kMacLanes];
	alignas(64) int32_t high[kMacLanes];
	alignas(64) int32_t carryRow[kMacLanes];
	alignas(64) int32_t exponent[kMacLanes];
	uint64_t present; /* a bit for each that is not zero */
	uint16_t nan;

	/** \param numbers of which kMacLanes can be read, and \a lanes count */
	HWY_INLINE void load(const int16_t *numbers, uint32_t lanes)
	{
		uint8_t bits[kMacLanes / 8] = {};
		bool anyNan = false;

		for (size_t i = 0; i < lanes; i += kRowLanes) {
			const Row row = hn::LoadU(RowTag(), numbers + i);
			Parts parts(row);
			if (lanes - i < kRowLanes)
				parts.keep(lanes - i);
			hn::StoreMaskBits(RowTag(), parts.present, bits + i / 8);
			anyNan |= hasNan(row);
			store(parts, i);
		}
		std::memcpy(&present, bits, sizeof(present));
		/* What is behind the numbers is none of them. */
		nan = anyNan ? firstNan(numbers, lanes) : 0;
	}

private:
	HWY_INLINE void store(const Parts &parts, size_t first)
	{
		const hn::Half<RowTag> half;

		store(hn::LowerHalf(half, parts.significand), hn::LowerHalf(half, parts.exponent),
		      first);
		store(hn::UpperHalf(half, parts.significand), hn::UpperHalf(half, parts.exponent),
		      first + kLanes);
	}

	template<typename HalfRow>
	HWY_INLINE void store(HalfRow significands, HalfRow exponents, size_t first)
	{
		const IntegerTag tag;
		const Integers significand = hn::PromoteTo(tag, significands);
		const Integers exponents32 = hn::PromoteTo(tag, exponents);

		hn::Store(hn::And(significand, constant(0xffff)), tag, low + first);
		hn::Store(hn::ShiftLeft<16>(significand), tag, high + first);
		hn::Store(LostCarries::rowIndex(significand), tag, carryRow + first);
		hn::Store(hn::Or(exponents32, hn::ShiftLeft<16>(exponents32)), tag,
			  exponent + first);
	}
};

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
