/* SPDX-License-Identifier: MIT */
/*
 * Functions of all channels of a pixel: what they make takes the channels' place.
 */
#pragma once

#include <cstdint>
#include <span>

namespace nvdla
{

/** \brief The root of the sum of all squares becomes 1 */
void normalize(std::span<double> channels);
/** \brief Each less log(sum of exp(each)) */
void takeLogSoftmax(std::span<double> channels);
/** \brief The mean becomes 0 and the variance 1; channels that are alike become 0 */
void standardize(std::span<double> channels, double epsilon);
/** \brief Each times (shift + scale * sum of squares of the \a window around it) ^ -power */
void takeLocalResponse(std::span<double> channels, uint32_t window, double power, double scale,
		       double shift);

} /* namespace nvdla */
