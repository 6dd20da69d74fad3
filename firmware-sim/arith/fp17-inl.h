/* SPDX-License-Identifier: MIT */
/*
 * FP17 of arith/float.h in vectors, for files that are compiled once for each instruction set
 * (Highway).
 *
 * Numbers are held as FP32, which represents all of them. A sum or product in FP32 has more than
 * twice FP17's bits, so rounding it once more to FP17 gives the same result as rounding only once.
 * NaNs have their payload in the low bits, as fp17ToFp32() leaves it; there are no infinities and
 * no denormal numbers.
 */
#include <cstdint>

#include <hwy/highway.h>

#include "arith/float.h"
#include "arith/float_bits-inl.h"

/* An include guard that lets the file be included once for each instruction set. */
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
constexpr int32_t kNan = 0x7f800000;   /* NaNs are at least this */

/** \return true if a register's number is a normal number or zero, which needs no special case */
inline bool isOrdinary(uint32_t fp17Bits)
{
	using arith::Fp17;

	return Fp17::isZero(fp17Bits) ||
	       (Fp17::exponent(fp17Bits) != 0 && Fp17::exponent(fp17Bits) != Fp17::kExponentMax);
}

/**
 * \param fp17Bits of an ordinary number
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
 * \return \a value rounded to FP17, to nearest even, in its range
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
	/* A number within half a denormal step of the smallest normal number becomes that
	 * number. */
	const Mask nearLeast = hn::And(hn::Gt(magnitude, constant(kLeast - 0x2001)),
				       hn::Lt(magnitude, constant(kLeast)));

	return hn::IfThenElse(nearLeast, hn::Or(constant(kLeast), signOf(value)),
			      rounded(value, signOf(value)));
}

/**
 * \param raw the FP32 result of \a a and \a b: a NaN if one of them is a NaN
 * \return \a result, or the first operand that is a NaN
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
	/* A sum of zero has the sign of the first operand. */
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
 * adding 2^13 times the number rounds off its last bits; subtracting that multiple again gives the
 * rounded number.
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
