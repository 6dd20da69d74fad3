/* SPDX-License-Identifier: MIT */
/*
 * The floating-point accumulator.
 *
 * Widths, rounding and the order of the steps are those of the hardware's published C model and
 * RTL.
 */
#include "conv/cacc.h"

#include <bit>

namespace nvdla::sim
{

namespace
{

constexpr unsigned kMantissaBits = 40;
constexpr uint32_t kExponentMask = 0xff;
constexpr uint64_t kMantissaMask = (uint64_t{ 1 } << kMantissaBits) - 1;
/* Added to a step's exponent (bias 50, 38 bits) to get FloatSum's exponent (bias 101, 40 bits). */
constexpr uint32_t kStepBias = 49;
/* Number of bits of a NaN's sign and fraction, at the top of the mantissa. */
constexpr unsigned kNanBits = 11;
/* Added to FloatSum's exponent to get FP32's, if the leading one is bit 38. */
constexpr uint32_t kFp32Bias = 64;
constexpr unsigned kFp32FractionBits = 23;

constexpr int64_t signExtend(uint64_t value)
{
	return arith::signExtend<kMantissaBits>(value);
}

/** \return left shift after which the top two of \a bits bits differ */
template<unsigned Bits>
unsigned redundantSignBits(int64_t value)
{
	const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
	return static_cast<unsigned>(std::countl_zero(magnitude)) - (64 - Bits) - 1;
}

/** A mantissa; \a below has the bits that were shifted out of it, at the top of its 40 bits */
struct Aligned {
	int64_t mantissa;
	uint64_t below = 0;

	void shiftRight(uint32_t distance)
	{
		if (distance > kMantissaBits) {
			/* Shifted out completely: not even the sign remains. */
			mantissa = 0;
			return;
		}
		if (distance == 0)
			return;
		below = static_cast<uint64_t>(mantissa) << (kMantissaBits - distance) &
			kMantissaMask;
		mantissa >>= distance;
	}
};

/** \return true if rounding half away from zero adds 1: from a half on; negative: above a half */
constexpr bool roundsUp(int64_t mantissa, bool half, bool rest)
{
	return mantissa < 0 ? half && rest : half;
}

} /* namespace */

void FloatSum::add(const Fp16Sum &step)
{
	if (step.mantissa == 0 || (exponent == kNan))
		return;
	if (step.exponent == Fp16Sum::kNan) {
		exponent = kNan;
		mantissa =
			step.mantissa * (int64_t{ 1 } << (kMantissaBits - Fp16Sum::kMantissaBits));
		return;
	}

	const unsigned up = redundantSignBits<Fp16Sum::kMantissaBits>(step.mantissa);
	const uint32_t stepExponent = (step.exponent - up + kStepBias) & kExponentMask;
	Aligned addend = { step.mantissa *
			   (int64_t{ 1 } << (up + kMantissaBits - Fp16Sum::kMantissaBits)) };
	Aligned held = { mantissa };
	uint32_t sumExponent = mantissa == 0 ? 0 : exponent;

	uint64_t below;
	if (stepExponent > sumExponent) {
		held.shiftRight(stepExponent - sumExponent);
		sumExponent = stepExponent;
		below = held.below;
	} else {
		addend.shiftRight(sumExponent - stepExponent);
		below = addend.below;
	}

	int64_t sum = held.mantissa + addend.mantissa;
	bool half;
	bool rest;
	if (sum != signExtend(static_cast<uint64_t>(sum))) {
		half = sum & 1;
		rest = below != 0;
		sum >>= 1;
		sumExponent++;
	} else {
		/* Normalise: shift left, and fill in bits that the alignment had shifted out. */
		const unsigned left = redundantSignBits<kMantissaBits>(sum);
		const uint64_t pulled = left ? below >> (kMantissaBits - left) : 0;
		sum = signExtend(static_cast<uint64_t>(sum) << left | pulled);
		below = below << left & kMantissaMask;
		half = below >> (kMantissaBits - 1);
		rest = (below & (kMantissaMask >> 1)) != 0;
		sumExponent -= left;
	}

	if (roundsUp(sum, half, rest)) {
		const bool negative = sum < 0;
		sum = signExtend(static_cast<uint64_t>(sum) + 1);
		if ((sum < 0) != negative) {
			/* The sum overflowed into the sign: restore the sign and halve the sum. */
			sum = signExtend(static_cast<uint64_t>(sum) >> 1 |
					 static_cast<uint64_t>(negative) << (kMantissaBits - 1));
			sumExponent++;
		}
	}
	mantissa = sum;
	exponent = sum == 0 ? 0 : sumExponent & kExponentMask;
}

uint32_t FloatSum::deliver() const
{
	const uint32_t sign = mantissa < 0 ? 0x80000000 : 0;
	const auto bits = static_cast<uint64_t>(mantissa) & kMantissaMask;

	if (exponent == kNan)
		return sign | kNan << kFp32FractionBits |
		       static_cast<uint32_t>(bits >> (kMantissaBits - kNanBits) & 0x3ff);
	if (mantissa == 0)
		return 0;

	/* Of all magnitudes, only that of the most negative mantissa needs one more bit. */
	const auto magnitude = static_cast<uint64_t>(mantissa < 0 ? -mantissa : mantissa);
	uint32_t exponent32 = exponent + kFp32Bias;
	constexpr unsigned kDrop = kMantissaBits - 2 - kFp32FractionBits;
	uint64_t rounded = (magnitude + (uint64_t{ 1 } << (kDrop - 1))) >> kDrop;
	if (rounded >> (kFp32FractionBits + 1))
		exponent32++;
	return sign | (exponent32 & kExponentMask) << kFp32FractionBits |
	       static_cast<uint32_t>(rounded & 0x7fffff);
}

} /* namespace nvdla::sim */
