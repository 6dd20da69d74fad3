/* SPDX-License-Identifier: MIT */
#pragma once

#include <nvdla/quantization.h>

#include "random.h"

namespace nvdla::test
{

/** \brief A scale from 2^-10 to 4, and a zero point that elements of 8 bits have */
inline Quantization randomQuantization(Random &random)
{
	return { random.powerOfTwo(-10, 2), random(-100, 100) };
}

} /* namespace nvdla::test */
