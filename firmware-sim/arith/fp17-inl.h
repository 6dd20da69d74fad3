/* SPDX-License-Identifier: MIT */
/*
 * FP17 numbers of arith/float.h in vectors, for files that are compiled once for each instruction
 * set (Highway).
 *
 * Numbers are held in FP32, which represents all of FP17. A sum or product in FP32 has more than
 * twice FP17's bits, so rounding it once more to FP17 gives the same result as rounding only once.
 * NaNs have their payload in the low bits, as fp17ToFp32() leaves it. Infinities and denormal
 * numbers do not occur.
 */
#include <cstdint>

#include <hwy/highway.h>

#include "arith/float.h"
#include "arith/float_bits-inl.h"

/* Include guard that works once per instruction set: HWY_TARGET_TOGGLE changes with each. */
#if defined(NVDLA_SIM_ARITH_FP17_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_ARITH_FP17_INL_H
#undef NVDLA_SIM_ARITH_FP17_INL_H
#else
#define NVDLA_SIM_ARITH_FP17_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace fp17
{

using namespace float_bits;

constexpr int32_t kLeast = 0x30800000; /* smallest normal number */
constexpr int32_t kMost = 0x4f7fe000;  /* largest finite number */
constexpr int32_t kNan = 0x7f800000;   /* magnitudes of NaNs are greater */

/** \return true if a register holds zero or a normal finite number */
inline bool isOrdinary(uint32_t fp17Bits)
{
	using arith::Fp17;

	return Fp17::isZero(fp17Bits) ||
	       (Fp17::exponent(fp17Bits) != 0 && Fp17::exponent(fp17Bits) != Fp17::kExponentMax);
}

/**
 * \param fp17Bits bits of an ordinary number, see isOrdinary()
 * \return FP32 bits
 */
inline int32_t ofRegister(uint32_t fp17Bits)
{
	return static_cast<int32_t>(arith::fp17ToFp32(fp17Bits));
}

HWY_INLINE Mask isNan(Bits bits)
{
	return hn::Gt(magnitudeOf(bits), constant(kNan));
}

HWY_INLINE Bits ofHalves(Bits halves)
{
	const Bits magnitude = hn::And(halves, constant(0x7fff));

	return widened(halves, hn::Gt(magnitude, constant(0x7c00)),
		       hn::Eq(magnitude, constant(0x7c00)), constant(kMost));
}

HWY_INLINE Bits load(const uint16_t *halves)
{
	const HalfTag tag;
	const auto raw = hn::LoadU(tag, halves);
	const auto magnitude = hn::And(raw, hn::Set(tag, 0x7fff));

	if (HWY_LIKELY(hn::AllTrue(tag, hn::Lt(magnitude, hn::Set(tag, 0x7c00)))))
		return widenFinite(halves);
	return ofHalves(hn::PromoteTo(Tag(), raw));
}

HWY_INLINE void store(Bits bits, uint16_t *halves)
{
	const HalfTag tag;
	const Mask wrong = isNan(bits);

	if (HWY_LIKELY(hn::AllFalse(Tag(), wrong))) {
		hn::StoreU(narrowFinite(bits), tag, halves);
		return;
	}
	const Bits sign = hn::And(hn::ShiftRight<16>(bits), constant(0x8000));
	const Bits payload = hn::And(bits, constant(0x3ff));
	const Bits nan = hn::Or(hn::Or(sign, payload), constant(0x7c00));
	hn::StoreU(hn::DemoteTo(tag, hn::IfThenElse(wrong, nan, halvesOf(bits))), tag, halves);
}

/**
 * \param value FP32 bits
 * \return \a value rounded to nearest even in FP17, clipped to its range, with \a sign
 */
HWY_INLINE Bits rounded(Bits value, Bits sign)
{
	const Bits magnitude = magnitudeOf(value);
	const Bits odd = hn::And(hn::ShiftRight<13>(magnitude), constant(1));
	const Bits near =
		hn::AndNot(constant(0x1fff), hn::Add(hn::Add(magnitude, odd), constant(0xfff)));
	const Bits flushed = hn::IfThenZeroElse(hn::Lt(near, constant(kLeast)), near);

	return hn::Or(hn::Min(flushed, constant(kMost)), sign);
}

/**
 * \param value FP32 bits, no NaN
 * \return the result of fp32ToFp17()
 */
HWY_INLINE Bits ofSingles(Bits value)
{
	const Bits magnitude = magnitudeOf(value);
	/* A magnitude that is less than the smallest normal number by at most half the
	 * distance between denormal numbers is rounded up to it. */
	const Mask nearLeast = hn::And(hn::Gt(magnitude, constant(kLeast - 0x2001)),
				       hn::Lt(magnitude, constant(kLeast)));

	return hn::IfThenElse(nearLeast, hn::Or(constant(kLeast), signOf(value)),
			      rounded(value, signOf(value)));
}

/**
 * \param raw the FP32 result for \a a and \a b: a NaN if \a a or \a b is one
 * \return \a result; if an operand is a NaN, the first such operand
 */
HWY_INLINE Bits unlessNan(Bits a, Bits b, Bits raw, Bits result)
{
	if (HWY_LIKELY(hn::AllFalse(Tag(), isNan(raw))))
		return result;
	return hn::IfThenElse(isNan(a), a, hn::IfThenElse(isNan(b), b, result));
}

/** \brief The result of add(), for numbers that are not NaNs */
HWY_INLINE Bits addFinite(Bits a, Bits b)
{
	const Bits sum = asBits(hn::Add(asFloat(a), asFloat(b)));
	/* A sum of zero gets the sign of the first operand. */
	const Mask zero = hn::Eq(magnitudeOf(sum), hn::Zero(Tag()));

	return rounded(sum, signOf(hn::IfThenElse(zero, a, sum)));
}

HWY_INLINE Bits add(Bits a, Bits b)
{
	const Bits sum = asBits(hn::Add(asFloat(a), asFloat(b)));

	return unlessNan(a, b, sum, addFinite(a, b));
}

/** \brief The result of multiply(), for numbers that are not NaNs */
HWY_INLINE Bits multiplyFinite(Bits a, Bits b)
{
	const Bits product = asBits(hn::Mul(asFloat(a), asFloat(b)));

	return rounded(product, signOf(product));
}

/**
 * \param value finite, below 2^100
 * \return \a value with the mantissa rounded to FP17's; the range is not checked
 *
 * T. J. Dekker's method ("A floating-point technique for extending the available precision", 1971):
 * value + 2^13 * value rounds off the last bits of \a value. Subtracting 2^13 * value again leaves
 * the rounded number.
 */
HWY_INLINE Bits roundedMantissa(Bits value)
{
	const auto number = asFloat(value);
	const auto large = hn::MulAdd(number, hn::Set(FloatTag(), 0x1p13F), number);

	return asBits(hn::Sub(large, hn::Sub(large, number)));
}

HWY_INLINE Bits multiply(Bits a, Bits b)
{
	const Bits product = asBits(hn::Mul(asFloat(a), asFloat(b)));

	return unlessNan(a, b, product, multiplyFinite(a, b));
}

} /* namespace fp17 */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */
