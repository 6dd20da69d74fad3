/* SPDX-License-Identifier: MIT */
/*
 * What convolutions add up.
 */
#pragma once

#include <algorithm>

#include <nvdla/half.h>

#include "reference.h"

namespace nvdla::test
{

/* exp() of the thresholds: the exponent field of FP16, in steps of four. */
inline int exponentStep(double value)
{
	const uint16_t bits = floatToHalf(static_cast<float>(value));

	return (((bits >> 10) & 0x1f) - 15) & ~3;
}

/* One output element: the sum, and what the threshold is made of. */
struct Sum {
	double value = 0;
	int maxExponent = -100;

	void add(double data, double weight, bool isFloat)
	{
		value += data * weight;
		if (isFloat)
			maxExponent =
				std::max(maxExponent, exponentStep(data) + exponentStep(weight));
	}
};

/* CACC: integers are shifted right and clipped to 32 bits. */
inline double deliver(int accumulatorShift, double sum, bool isFloat)
{
	if (isFloat)
		return sum;
	return static_cast<double>(
		saturate(shiftRight(static_cast<int64_t>(sum), accumulatorShift), 32));
}

} /* namespace nvdla::test */
