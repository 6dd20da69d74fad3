/* SPDX-License-Identifier: MIT */
/*
 * The integer arithmetic of TensorFlow Lite's reference kernels, from its published
 * quantization specification.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace nvdla::test
{

/** \brief real = factor * 2^(shift - 31), factor from 2^30 to 2^31 - 1, or 0 */
struct RealFactor {
	int64_t factor = 0;
	int shift = 0;
};

inline RealFactor realFactor(double real)
{
	if (real == 0)
		return {};
	RealFactor result;
	const double fraction = std::frexp(real, &result.shift);
	result.factor = static_cast<int64_t>(std::floor(std::ldexp(fraction, 31) + 0.5));
	if (result.factor == int64_t{ 1 } << 31) {
		result.factor /= 2;
		result.shift++;
	}
	return result.shift < -31 ? RealFactor{} : result;
}

/** \return x * factor / 2^31, to the nearest, ties away from zero */
inline int64_t highProduct(int64_t x, int64_t factor)
{
	const int64_t product = x * factor;
	const int64_t nudge = product >= 0 ? int64_t{ 1 } << 30 : 1 - (int64_t{ 1 } << 30);

	return (product + nudge) / (int64_t{ 1 } << 31);
}

/** \return x / 2^exponent, to the nearest, ties away from zero */
inline int64_t dividePower(int64_t x, int exponent)
{
	const int64_t mask = (int64_t{ 1 } << exponent) - 1;

	return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0));
}

/** \brief A 32-bit sum times a real factor: rounded twice */
inline int64_t multiply(int64_t x, const RealFactor &real)
{
	return dividePower(highProduct(x * (int64_t{ 1 } << std::max(real.shift, 0)), real.factor),
			   std::max(-real.shift, 0));
}

/** \brief A 64-bit sum times a real factor: 16 bits of it, rounded once, ties up */
inline int64_t multiplyWide(int64_t x, const RealFactor &real)
{
	const int64_t factor =
		real.factor < 0x7fff0000 ? (real.factor + (1 << 15)) >> 16 : int64_t{ 0x7fff };
	const int shift = 15 - real.shift;

	return (x * factor + (int64_t{ 1 } << (shift - 1))) >> shift;
}

} /* namespace nvdla::test */
