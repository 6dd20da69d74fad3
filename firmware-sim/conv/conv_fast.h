/* SPDX-License-Identifier: MIT */
/*
 * Convolutions at the speed of the host.
 */
#pragma once

#include "conv/conv_compute.h"
#include "core/conv_options.h"
#include "core/workers.h"

namespace nvdla::sim
{

/**
 * \return true if computeConvFast() can be used: direct or image convolution, in integers
 *         of which no accumulator can saturate, or in FP16 if it may be Fast
 */
bool fastConvAccepts(const ConvOp &op, Fp16Arithmetic fp16 = Fp16Arithmetic::Exact);

/**
 * \brief computeConv() for the operations that fastConvAccepts()
 *
 * The same stream in integers. FP16 is summed in f32, product by product in the order of
 * the lines (row, column, channel): the same bits on every host, within the threshold of the
 * precision document, but not the hardware's. A NaN has no sign and the payload 0x200.
 *
 * The order of the sums does not matter where nothing saturates, so whole kernel
 * rows are multiplied at once for a tile of outputs.
 */
ConvCounters computeConvFast(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers);

/** \return true if computeConvFp16() can be used: direct or image convolution in FP16 */
bool fp16ConvAccepts(const ConvOp &op);

/** \brief computeConv() for the operations that fp16ConvAccepts(); the same bits */
ConvCounters computeConvFp16(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers);

/** \return threads that the fastest of these ways shares \a op among, at most */
unsigned int worthwhileThreads(const ConvOp &op, Fp16Arithmetic fp16);

/** \return true if the lines with their padding are not too much memory to be made for \a op */
bool paddedLinesFit(const ConvOp &op);

} /* namespace nvdla::sim */
