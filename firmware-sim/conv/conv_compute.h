/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of one convolution, as a function of values and memory views.
 */
#pragma once

#include <cstdint>

#include "conv/cbuf.h"
#include "conv/conv_op.h"
#include "conv/csc.h"
#include "core/memory.h"
#include "core/stream.h"

namespace nvdla::sim
{

/** \brief Counters of a convolution */
struct ConvCounters {
	uint32_t saturated = 0; /**< D_OUT_SATURATION: outputs clipped to 32 bits */
};

/**
 * \brief Convolve the buffered cube and stream the accumulators to SDP
 *
 * The readable reference for every mode and precision: kernel group, output line,
 * block, column, kernel. Another implementation of this signature must give the same
 * stream for the operations it accepts.
 *
 * \param op an operation without guest error whose lines are all in \a data
 * \param sink gets whole lines, surface by surface; within a line, cube by cube of
 *        the batch. Channels from the last kernel to the end of the atom are 0
 * \param memory asked for cancellation at least once per block of a line, not accessed; the
 *        stream then ends early
 */
ConvCounters computeConv(const ConvOp &op, const DataView &data, WeightSource &weights,
			 StreamSink &sink, const MemoryPort &memory);

} /* namespace nvdla::sim */
