/* SPDX-License-Identifier: MIT */
/* The range of half precision. */
#pragma once

#include <cmath>

#include <nvdla/half.h>

namespace nvdla
{

/** \brief The largest finite number of half precision */
inline constexpr double largestHalf = 65504;
/** \brief The smallest number with all 11 bits of precision. Smaller numbers have fewer bits; below
 * 2^-25 they become 0 */
inline constexpr double smallestNormalHalf = 0x1p-14;

/** \return \a number rounded to FP16, saturated to finite numbers */
inline double asHalf(double number)
{
	const double clipped = std::fmin(std::fmax(number, -largestHalf), largestHalf);

	return std::isnan(number) ? number : halfToFloat(floatToHalf(static_cast<float>(clipped)));
}

/** \return true if \a number has full precision in FP16: a relative error of at most 2^-11 */
inline bool fitsHalf(double number)
{
	return !(std::fabs(asHalf(number) - number) > 0x1p-11 * std::fabs(number));
}

} /* namespace nvdla */
