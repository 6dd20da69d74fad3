/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of one convolution, as functions of values and memory views: the reference, and
 * implementations for speed.
 */
#pragma once

#include <cstdint>

#include "conv/cbuf.h"
#include "conv/conv_op.h"
#include "conv/csc.h"
#include "core/conv_options.h"
#include "core/memory.h"
#include "core/stream.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief Events that a convolution counts, for status registers */
struct ConvCounters {
	uint32_t saturated = 0; /**< D_OUT_SATURATION: outputs clipped to 32 bits */
};

/**
 * \brief Convolve the buffered cube and stream the accumulators to SDP
 *
 * The readable reference for every mode and precision. Its loops, from the outermost: kernel group,
 * output line, block, column, kernel. Another implementation of this signature must give the same
 * stream for the operations it accepts.
 *
 * \param op an operation without guest error; \a data contains all its lines
 * \param sink gets whole lines, surface by surface; within a line, cube by cube of the batch.
 *        Channels past the last kernel, up to the end of the atom, are 0
 * \param memory not accessed; asked at least once per block of a line whether the operation is
 *        cancelled: the stream then ends early
 */
ConvCounters computeConv(const ConvOp &op, const DataView &data, WeightSource &weights,
			 StreamSink &sink, const MemoryPort &memory);

/** \return true if computeConvFast() can be used: direct or image convolution, in integers that
 * cannot saturate an accumulator, or in FP16 if \a fp16 is Fast */
bool fastConvAccepts(const ConvOp &op, Fp16Arithmetic fp16 = Fp16Arithmetic::Exact);

/**
 * \brief computeConv() for the operations that fastConvAccepts()
 *
 * The stream is equal for integers. FP16 products are added in f32, in the order of
 * the lines (row, column, channel). The result is equal on every host and within the threshold of
 * the precision document, but differs from the hardware's. A NaN has no sign and payload 0x200.
 *
 * The order of additions does not matter without saturation, so whole kernel rows are multiplied
 * with a tile of outputs.
 */
ConvCounters computeConvFast(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers);

/** \return true if computeConvFp16() can be used: direct or image convolution in FP16 */
bool fp16ConvAccepts(const ConvOp &op);

/** \brief computeConv() for the operations that fp16ConvAccepts(); the same bits */
ConvCounters computeConvFp16(const ConvOp &op, const DataView &data, WeightSource &weights,
			     StreamSink &sink, const MemoryPort &memory, Workers &workers);

/** \return the largest useful number of threads for \a op, with the fastest implementation */
unsigned int worthwhileThreads(const ConvOp &op, Fp16Arithmetic fp16);

/** \return true if computeConvFast() has memory for the padded lines of \a op */
bool paddedLinesFit(const ConvOp &op);

} /* namespace nvdla::sim */
