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
constexpr int16_t kAbsentQuarter = -64;

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

	/** Calls use(first number, significands, exponents) for vectors of 32 bits */
	template<typename Use, typename Tag = RowTag>
	HWY_INLINE void widen(Use use, Tag = {}) const
	{
		if constexpr (kRowLanes == kLanes) {
			const hn::Rebind<int32_t, Tag> tag;
			use(0, hn::PromoteTo(tag, significand), hn::PromoteTo(tag, exponent));
		} else {
			const hn::Half<Tag> half;
			const hn::Rebind<int32_t, hn::Half<Tag>> tag;
			use(0, hn::PromoteTo(tag, hn::LowerHalf(half, significand)),
			    hn::PromoteTo(tag, hn::LowerHalf(half, exponent)));
			use(kLanes, hn::PromoteTo(tag, hn::UpperHalf(half, significand)),
			    hn::PromoteTo(tag, hn::UpperHalf(half, exponent)));
		}
	}

	/** The exponents in units of four, very negative where there is no number */
	HWY_INLINE void storeQuarters(int8_t *out) const
	{
		const hn::Rebind<int8_t, RowTag> byteTag;
		const Row quarters =
			hn::IfThenElse(present, hn::ShiftRight<2>(exponent), rowOf(kAbsentQuarter));
		hn::StoreU(hn::DemoteTo(byteTag, quarters), byteTag, out);
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
	/* Significands in 16 bits twice, which row of LostCarries is about them, exponents twice.
	 */
	alignas(64) int32_t significand[kMacLanes];
	alignas(64) int32_t carryRow[kMacLanes];
	alignas(64) int32_t exponent[kMacLanes];
	/* Very negative where there is no number; four can be read from the last one on. */
	alignas(64) int8_t quarter[kMacLanes + 3];
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

	HWY_INLINE void store(const Parts &parts, size_t first)
	{
		parts.widen([&](size_t i, Integers significands, Integers exponents) HWY_ATTR {
			const IntegerTag tag;
			hn::Store(twice(significands), tag, significand + first + i);
			hn::Store(LostCarries::rowIndex(significands), tag, carryRow + first + i);
			hn::Store(twice(exponents), tag, exponent + first + i);
		});
		parts.storeQuarters(quarter + first);
	}

	static HWY_INLINE Integers twice(Integers numbers)
	{
		return hn::Or(hn::And(numbers, constant(0xffff)), hn::ShiftLeft<16>(numbers));
	}
};

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
