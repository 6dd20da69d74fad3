/* SPDX-License-Identifier: MIT */
/* Functions of all channels of a pixel, in place. */
#pragma once

#include <cstdint>
#include <span>

namespace nvdla
{

/** \brief Scale channels so that the root of the sum of their squares is 1 */
void normalize(std::span<double> channels);
/** \brief Subtract log(sum of exp(channel)) from each channel */
void takeLogSoftmax(std::span<double> channels);
/** \brief Shift channels to mean 0 and divide them by the root of (variance + \a epsilon) */
void standardize(std::span<double> channels, double epsilon);
/** \brief Multiply each channel by (shift + scale * sum of squares of the \a window channels around
 * it) ^ -power */
void takeLocalResponse(std::span<double> channels, uint32_t window, double power, double scale,
		       double shift);

} /* namespace nvdla */
