/* SPDX-License-Identifier: MIT */
#pragma once

#include "reference.h"

namespace nvdla::test
{

/**
 * \brief SOFTMAX of int16 as TensorFlow Lite's kernels compute it, with two tables
 *
 * Both tables are of 512 steps, and values between are interpolated: exp() from -10 to 0, and the
 * reciprocal 1 / (1 + x) from 0 to 1. Results are up to some steps off the softmax of real numbers.
 *
 * \param row integers of one row of classes
 * \param scale of the integers, times beta
 * \return as many integers from 0 to 32767; scale 2^-15, zero point 0
 */
Numbers tableSoftmax(const Numbers &row, double scale);

} /* namespace nvdla::test */
