/* SPDX-License-Identifier: MIT */
/*
 * What the timing model is told about a convolution.
 */
#pragma once

#include "conv/cbuf.h"
#include "conv/conv_op.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \param kept what is in the convolution buffer already and need not be fetched */
ConvWork convWork(const ConvOp &op, const Kept &kept);

} /* namespace nvdla::sim */
