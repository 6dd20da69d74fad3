/* SPDX-License-Identifier: MIT */
/*
 * FP16 numbers taken apart for the MAC cells of a kernel group, for files that are compiled once
 * for each instruction set (Highway).
 */
#include <algorithm>

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

constexpr uint32_t kMagnitude = 0x7fff;
constexpr uint32_t kInfinity = 0x7c00;
constexpr uint32_t kFractionBits = 10;
constexpr int8_t kAbsentQuarter = -64;

/** FP16 numbers taken apart */
struct Parts {
	Integers significand; /* shifted, with sign; 0 for zeroes and NaNs */
	Integers quarter;
	hn::Mask<IntegerTag> present; /* neither zero nor NaN */
	hn::Mask<IntegerTag> nan;

	HWY_INLINE explicit Parts(const int16_t *numbers)
	{
		const hn::Rebind<uint16_t, UnsignedTag> tag;
		const auto bits = hn::BitCast(
			IntegerTag(),
			hn::PromoteTo(UnsignedTag(),
				      hn::LoadU(tag, reinterpret_cast<const uint16_t *>(numbers))));
		const Integers magnitude = hn::And(bits, constant(kMagnitude));
		const Integers exponent = hn::ShiftRight<kFractionBits>(magnitude);
		const Integers one = constant(1);
		const auto denormal = hn::Eq(exponent, hn::Zero(IntegerTag()));

		nan = hn::Gt(magnitude, constant(kInfinity));
		present = hn::AndNot(nan, hn::Gt(magnitude, hn::Zero(IntegerTag())));
		/* A denormal has no implied one and counts as exponent 1. */
		const Integers implied = hn::IfThenZeroElse(denormal, constant(1 << kFractionBits));
		const Integers whole = hn::Or(hn::And(bits, constant(0x3ff)), implied);
		const Integers shift =
			hn::And(hn::IfThenElse(denormal, one, exponent), constant(3));
		const Integers shifted = hn::Shl(whole, shift);
		const Integers sign = hn::Sub(hn::Zero(IntegerTag()), hn::ShiftRight<15>(bits));
		significand = hn::IfThenElseZero(present, hn::Sub(hn::Xor(shifted, sign), sign));
		quarter = hn::ShiftRight<2>(exponent);
	}

	/** Only the first \a count numbers are there */
	HWY_INLINE void keep(size_t count)
	{
		const auto kept = hn::FirstN(IntegerTag(), count);

		present = hn::And(present, kept);
		nan = hn::And(nan, kept);
	}
};

/** The numbers of a block */
struct Data {
	/* Significands in 16 bits, exponents. */
	alignas(64) int32_t significand[kMacLanes];
	alignas(64) int32_t exponent[kMacLanes];
	/* Very negative where there is no number; four can be read from the last one on. */
	alignas(64) int8_t quarter[kMacLanes + 3];
	uint64_t present; /* a bit for each that is neither zero nor NaN */
	uint16_t nan;

	/** \param numbers of which kMacLanes can be read, and \a lanes count */
	HWY_INLINE void load(const int16_t *numbers, uint32_t lanes)
	{
		uint64_t bits = 0;
		nan = 0;
		for (size_t i = 0; i < lanes; i += kLanes) {
			Parts parts(numbers + i);
			if (lanes - i < kLanes)
				parts.keep(lanes - i);
			bits |= uint64_t{ bitsOf(parts.present) } << i;
			store(parts, i);
			if (!hn::AllFalse(IntegerTag(), parts.nan) && nan == 0)
				nan = firstNan(numbers + i);
		}
		present = bits;
	}

	HWY_INLINE void store(const Parts &parts, size_t first)
	{
		const IntegerTag tag;
		const hn::Rebind<int8_t, IntegerTag> byteTag;
		const Integers quarters =
			hn::IfThenElse(parts.present, parts.quarter, constant(kAbsentQuarter));

		hn::Store(hn::And(parts.significand, constant(0xffff)), tag, significand + first);
		hn::Store(hn::ShiftLeft<2>(parts.quarter), tag, exponent + first);
		hn::StoreU(hn::DemoteTo(byteTag, quarters), byteTag, quarter + first);
	}

	static uint16_t firstNan(const int16_t *numbers)
	{
		while ((*numbers & kMagnitude) <= kInfinity)
			numbers++;
		return static_cast<uint16_t>(*numbers);
	}
};

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
