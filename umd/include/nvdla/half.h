/* SPDX-License-Identifier: MIT */
/* IEEE 754 half precision, as it lies in memory. */
#pragma once

#include <bit>
#include <cstdint>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \return the value of the half precision number \a bits; exact, a NaN becomes a quiet one */
inline float halfToFloat(uint16_t bits)
{
	const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
	const uint32_t exponent = (bits >> 10) & 0x1f;
	const uint32_t mantissa = bits & 0x3ff;

	if (exponent == 0x1f)
		return std::bit_cast<float>(sign | (mantissa ? 0x7fc00000 : 0x7f800000) |
					    (mantissa << 13));
	if (exponent == 0) {
		/* Zero and denormals: the mantissa counts units of 2^-24. */
		const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
		return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
	}
	return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

/**
 * \brief Round to half precision, to the nearest and ties to even
 *
 * Magnitudes beyond the largest finite half become infinity, as in IEEE 754;
 * a NaN stays a (quiet) NaN.
 */
inline uint16_t floatToHalf(float value)
{
	const uint32_t bits = std::bit_cast<uint32_t>(value);
	const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
	const uint32_t magnitude = bits & 0x7fffffff;

	if (magnitude > 0x7f800000)
		return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
	if (magnitude >= 0x477ff000) /* 65520 and more round up to infinity */
		return sign | 0x7c00;
	if (magnitude < 0x38800000) {
		/*
		 * Below 2^-14 the result is denormal. Adding 0.5 puts the last
		 * bit of a half denormal, 2^-24, at the last bit of a float, so
		 * that the addition rounds as wanted.
		 */
		const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
		return static_cast<uint16_t>(sign |
					     (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
	}

	const uint32_t odd = (magnitude >> 13) & 1;
	return static_cast<uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + odd) >> 13));
}

} /* namespace nvdla */

#pragma GCC visibility pop
