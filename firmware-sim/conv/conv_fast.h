/* SPDX-License-Identifier: MIT */
/*
 * Integer convolutions at the speed of the host.
 */
#pragma once

#include "conv/conv_compute.h"

namespace nvdla::sim
{

/**
 * \return true if computeConvFast() can be used: direct or image convolution in
 *         integers, in which no accumulator can saturate, on a host with AVX2
 */
bool fastConvAccepts(const ConvOp &op);

/**
 * \brief computeConv() for the operations that fastConvAccepts()
 *
 * The order of the sums does not matter where nothing saturates, so whole kernel
 * rows are multiplied at once for a tile of outputs.
 */
ConvCounters computeConvFast(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory);

} /* namespace nvdla::sim */
