/* SPDX-License-Identifier: MIT */
/*
 * Floating-point arithmetic on bits, as the datapath does it.
 *
 * Three formats: FP16 (memory), FP17 (6-bit exponent, inside LUT, CDP and PDP) and FP32 (inside
 * SDP). Differences from IEEE 754:
 *  - results are rounded to nearest even, but overflow gives the largest finite
 *    number; infinities of the input become that number when they are widened;
 *  - FP17 and FP32 have no denormals: a result below the smallest normal number becomes zero of the
 *    same sign. Only FP16 in memory has denormals;
 *  - if an operand is a NaN, the result is that NaN (of two NaNs, the first one). A NaN's payload
 *    stays in the low bits when the width changes (NVDLA's memory formats document, "FP16
 *    Supporting"; widths and order of the steps are those of the hardware's published C model).
 */
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

namespace nvdla::sim::arith
{

/** \brief A binary floating-point format: sign, exponent, mantissa, from the top bit down */
template<unsigned ExponentBits, unsigned MantissaBits, bool Denormals>
struct FloatFormat {
	static constexpr unsigned kMantissaBits = MantissaBits;
	static constexpr unsigned kSignBit = ExponentBits + MantissaBits;
	/** Exponent field of infinities and NaNs */
	static constexpr int kExponentMax = (1 << ExponentBits) - 1;
	static constexpr int kBias = kExponentMax / 2;
	static constexpr bool kDenormals = Denormals;

	static constexpr uint32_t kSignMask = uint32_t{ 1 } << kSignBit;
	static constexpr uint32_t kMantissaMask = (uint32_t{ 1 } << MantissaBits) - 1;
	static constexpr uint32_t kMagnitudeMask = kSignMask - 1;
	/** Largest finite number: overflow and infinities of the input become this number */
	static constexpr uint32_t kMax = (static_cast<uint32_t>(kExponentMax) << MantissaBits) - 1;
	static constexpr uint32_t kOne = static_cast<uint32_t>(kBias) << MantissaBits;

	static constexpr int exponent(uint32_t bits)
	{
		return static_cast<int>((bits & kMagnitudeMask) >> MantissaBits);
	}
	static constexpr uint32_t mantissa(uint32_t bits) { return bits & kMantissaMask; }
	static constexpr uint32_t sign(uint32_t bits) { return bits & kSignMask; }
	static constexpr bool isZero(uint32_t bits) { return (bits & kMagnitudeMask) == 0; }
	static constexpr bool isNan(uint32_t bits)
	{
		return exponent(bits) == kExponentMax && mantissa(bits) != 0;
	}
	static constexpr bool isInf(uint32_t bits)
	{
		return exponent(bits) == kExponentMax && mantissa(bits) == 0;
	}
	static constexpr uint32_t pack(uint32_t signBits, int exponentField, uint32_t mantissaBits)
	{
		return signBits | static_cast<uint32_t>(exponentField) << MantissaBits |
		       (mantissaBits & kMantissaMask);
	}

	/** \return the mantissa with its implied leading one (zero has none) */
	static constexpr uint64_t significand(uint32_t bits)
	{
		return isZero(bits) ? 0 : mantissa(bits) | uint64_t{ 1 } << MantissaBits;
	}
};

using Fp16 = FloatFormat<5, 10, true>;
using Fp17 = FloatFormat<6, 10, false>;
using Fp32 = FloatFormat<8, 23, false>;

/** \return \a value shifted right by \a drop bits (1..63) and rounded to nearest even */
constexpr uint64_t roundNearestEven(uint64_t value, unsigned drop)
{
	const uint64_t kept = value >> drop;
	const uint64_t rest = value & ((uint64_t{ 1 } << drop) - 1);
	const uint64_t half = uint64_t{ 1 } << (drop - 1);
	const bool up = rest > half || (rest == half && (kept & 1));

	return kept + up;
}

/**
 * \brief Rounds a significand, and combines sign, exponent and mantissa
 *
 * \param exponentField exponent field before rounding, which may increase it by one
 * \param significand its top bit is bit number kMantissaBits + \a drop
 */
template<typename F>
constexpr uint32_t roundAndPack(uint32_t sign, int exponentField, uint64_t significand,
				unsigned drop)
{
	uint64_t rounded = roundNearestEven(significand, drop);

	if (rounded >> (F::kMantissaBits + 1)) {
		exponentField++;
		if (exponentField >= F::kExponentMax)
			return sign | F::kMax;
	}
	return F::pack(sign, exponentField, static_cast<uint32_t>(rounded));
}

/** \return \a a + \a b */
template<typename F>
constexpr uint32_t add(uint32_t a, uint32_t b)
{
	if (F::isNan(a))
		return a;
	if (F::isNan(b))
		return b;
	if ((a & F::kMagnitudeMask) < (b & F::kMagnitudeMask))
		std::swap(a, b);

	/* Bits kept below the larger significand: two more than a mantissa has, so that bits of
	 * the smaller number that are lost below them cannot change the rounding. */
	constexpr unsigned kGuard = F::kMantissaBits + 2;
	constexpr unsigned kWidth = F::kMantissaBits + 1 + kGuard;
	const unsigned distance = static_cast<unsigned>(F::exponent(a) - F::exponent(b));
	const uint64_t larger = F::significand(a) << kGuard;
	const uint64_t smaller = distance < kWidth ? F::significand(b) << kGuard >> distance : 0;
	const bool sameSign = F::sign(a) == F::sign(b);
	uint64_t sum = sameSign ? larger + smaller : larger - smaller;
	int exponent = F::exponent(a);

	if (sum >> kWidth) {
		if (exponent >= F::kExponentMax - 1)
			return F::sign(a) | F::kMax;
		exponent++;
		sum >>= 1;
	} else {
		const int zeroes = std::countl_zero(sum) - static_cast<int>(64 - kWidth);
		if (sum == 0 || exponent <= zeroes)
			return F::sign(a);
		exponent -= zeroes;
		sum <<= zeroes;
	}
	return roundAndPack<F>(F::sign(a), exponent, sum, kGuard);
}

/** \return \a a - \a b */
template<typename F>
constexpr uint32_t subtract(uint32_t a, uint32_t b)
{
	return add<F>(a, b ^ F::kSignMask);
}

/** \return \a a * \a b */
template<typename F>
constexpr uint32_t multiply(uint32_t a, uint32_t b)
{
	if (F::isNan(a))
		return a;
	if (F::isNan(b))
		return b;

	const uint32_t sign = F::sign(a ^ b);
	int exponent = F::exponent(a) + F::exponent(b) - F::kBias;
	if (F::isZero(a) || F::isZero(b) || exponent < 0)
		return sign;
	if (exponent >= F::kExponentMax)
		return sign | F::kMax;

	constexpr unsigned kProductBits = 2 * F::kMantissaBits + 2;
	uint64_t product = F::significand(a) * F::significand(b);
	if (product >> (kProductBits - 1)) {
		if (exponent >= F::kExponentMax - 1)
			return sign | F::kMax;
		exponent++;
	} else {
		product <<= 1;
	}

	const uint32_t result = roundAndPack<F>(sign, exponent, product, F::kMantissaBits + 1);
	return F::exponent(result) == 0 ? sign : result;
}

/** \return true if \a a > \a b (+0 > -0), or both are the same negative number; no NaNs */
template<typename F>
constexpr bool isGreater(uint32_t a, uint32_t b)
{
	const bool magnitudeGreater = (a & F::kMagnitudeMask) > (b & F::kMagnitudeMask);

	if (F::sign(a) != F::sign(b))
		return F::sign(b) != 0;
	return F::sign(a) ? !magnitudeGreater : magnitudeGreater;
}

template<typename F>
constexpr uint32_t maximum(uint32_t a, uint32_t b)
{
	if (F::isNan(a))
		return a;
	if (F::isNan(b))
		return b;
	return isGreater<F>(a, b) ? a : b;
}

template<typename F>
constexpr uint32_t minimum(uint32_t a, uint32_t b)
{
	if (F::isNan(a))
		return a;
	if (F::isNan(b))
		return b;
	return isGreater<F>(a, b) ? b : a;
}

/** \brief Moves the sign bit from its place in format \a From to that in format \a To */
template<typename From, typename To>
constexpr uint32_t moveSign(uint32_t bits)
{
	return From::sign(bits) ? To::kSignMask : 0;
}

/** \return \a bits in a format with no smaller field; exact, but infinities are clipped */
template<typename From, typename To>
constexpr uint32_t widen(uint32_t bits)
{
	constexpr unsigned kShift = To::kMantissaBits - From::kMantissaBits;
	constexpr int kBias = To::kBias - From::kBias;
	const uint32_t sign = moveSign<From, To>(bits);
	const uint32_t mantissa = From::mantissa(bits);
	const int exponent = From::exponent(bits);

	if (From::isNan(bits))
		return To::pack(sign, To::kExponentMax, mantissa);
	if (From::isInf(bits))
		return sign | To::kMax;
	if (From::isZero(bits))
		return sign;
	if (From::kDenormals && exponent == 0) {
		const int zeroes =
			std::countl_zero(mantissa) - static_cast<int>(32 - From::kMantissaBits);
		return To::pack(sign, kBias - zeroes, mantissa << (zeroes + 1) << kShift);
	}
	return To::pack(sign, exponent + kBias, mantissa << kShift);
}

/**
 * \brief Round \a bits to a smaller format
 *
 * If \a To has no denormals, numbers below its smallest normal number become zero, unless they
 * round up to that number.
 */
template<typename From, typename To>
constexpr uint32_t narrow(uint32_t bits)
{
	constexpr unsigned kDrop = From::kMantissaBits - To::kMantissaBits;
	constexpr int kBias = From::kBias - To::kBias;
	const uint32_t sign = moveSign<From, To>(bits);
	const int exponent = From::exponent(bits) - kBias;

	if (From::isNan(bits))
		return To::pack(sign, To::kExponentMax, From::mantissa(bits));
	if (exponent >= To::kExponentMax)
		return sign | To::kMax;
	if (exponent < -static_cast<int>(To::kMantissaBits) || From::isZero(bits))
		return sign;
	if (exponent <= 0) {
		const unsigned shift = kDrop + static_cast<unsigned>(1 - exponent);
		const uint32_t rounded =
			static_cast<uint32_t>(roundNearestEven(From::significand(bits), shift));
		if (!To::kDenormals && rounded <= To::kMantissaMask)
			return sign;
		return sign | rounded;
	}
	if constexpr (kDrop == 0)
		return To::pack(sign, exponent, From::mantissa(bits));
	else
		return roundAndPack<To>(sign, exponent, From::significand(bits), kDrop);
}

constexpr uint32_t fp16ToFp32(uint16_t bits)
{
	return widen<Fp16, Fp32>(bits);
}

constexpr uint16_t fp32ToFp16(uint32_t bits)
{
	return static_cast<uint16_t>(narrow<Fp32, Fp16>(bits));
}

constexpr uint32_t fp16ToFp17(uint16_t bits)
{
	return widen<Fp16, Fp17>(bits);
}

constexpr uint16_t fp17ToFp16(uint32_t bits)
{
	return static_cast<uint16_t>(narrow<Fp17, Fp16>(bits));
}

constexpr uint32_t fp17ToFp32(uint32_t bits)
{
	return widen<Fp17, Fp32>(bits);
}

constexpr uint32_t fp32ToFp17(uint32_t bits)
{
	return narrow<Fp32, Fp17>(bits);
}

/** \return \a value, a signed number of 17 bits, rounded to FP16 */
constexpr uint16_t int17ToFp16(int32_t value)
{
	const uint32_t sign = value < 0 ? Fp16::kSignMask : 0;
	const uint32_t magnitude = static_cast<uint32_t>(value < 0 ? -value : value);

	if (magnitude == 0)
		return 0;

	/* Shifts the magnitude to an FP16 significand followed by 16 bits to round off. */
	constexpr unsigned kExtra = 16;
	const int top = 31 - std::countl_zero(magnitude);
	const int exponent = top + Fp16::kBias;
	if (exponent >= Fp16::kExponentMax)
		return static_cast<uint16_t>(sign | Fp16::kMax);
	const uint64_t significand = static_cast<uint64_t>(magnitude)
				     << (Fp16::kMantissaBits + kExtra - static_cast<unsigned>(top));
	return static_cast<uint16_t>(roundAndPack<Fp16>(sign, exponent, significand, kExtra));
}

/** \return \a bits rounded half away from zero and clipped to 16 bits; NaN gives -32768 */
constexpr int16_t fp16ToInt16(uint16_t bits)
{
	if (Fp16::isNan(bits))
		return INT16_MIN;

	const int shift =
		static_cast<int>(Fp16::kMantissaBits) + Fp16::kBias - Fp16::exponent(bits);
	const uint64_t significand = Fp16::significand(bits);
	uint64_t magnitude;
	if (shift <= 0)
		magnitude = significand << -shift;
	else
		magnitude = ((significand >> (shift - 1)) + 1) >> 1;

	if (magnitude > INT16_MAX)
		return Fp16::sign(bits) ? INT16_MIN : INT16_MAX;
	const auto value = static_cast<int16_t>(magnitude);
	return Fp16::sign(bits) ? static_cast<int16_t>(-value) : value;
}

/**
 * \brief Converts the fixed-point number \a fraction / 2^\a FractionBits, which is less than 1, to
 * the format \a F
 *
 * \param fraction less than 2^FractionBits. Numbers below the smallest normal number of \a F become
 * zero
 */
template<typename F, unsigned FractionBits>
constexpr uint32_t fractionToFloat(uint64_t fraction)
{
	if (fraction == 0)
		return 0;

	const int top = 63 - std::countl_zero(fraction);
	const int exponent = F::kBias + top - static_cast<int>(FractionBits);
	if (exponent <= 0)
		return 0;

	/* The significand has 64 bits: the mantissa and at least one bit below it to round. */
	constexpr unsigned kDrop = 63 - F::kMantissaBits;
	return roundAndPack<F>(0, exponent, fraction << (63 - top), kDrop);
}

} /* namespace nvdla::sim::arith */
