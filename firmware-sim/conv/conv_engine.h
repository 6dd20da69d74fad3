/* SPDX-License-Identifier: MIT */
/*
 * The convolution pipeline: CDMA, convolution buffer, CSC, CMAC, CACC.
 */
#pragma once

#include <optional>
#include <string>

#include "conv/cbuf.h"
#include "conv/cdma.h"
#include "conv/conv_op.h"
#include "core/memory.h"
#include "core/operation.h"
#include "core/stream.h"
#include "core/variant.h"

namespace nvdla::sim
{

/**
 * \brief Runs convolutions one after the other
 *
 * Owns what the convolution buffer keeps from one operation to the next; everything
 * else about an operation is in its ConvOp. Not thread-safe: the core has one
 * convolution thread.
 */
class ConvEngine
{
public:
	explicit ConvEngine(Fp16Arithmetic fp16 = Fp16Arithmetic::Exact) : fp16_(fp16) {}

	/** \brief Forget the buffered lines and weights, as a reset of the core does */
	void reset() { cbuf_.clear(); }

	/**
	 * \brief Carry out \a op and stream its accumulators to SDP
	 *
	 * Memory in use is bounded by the size of the convolution buffer and one line
	 * of accumulators. What the hardware would wait for forever, and what it does
	 * not define, ends as an operation that hangs, with a guest error.
	 *
	 * \param sink gets whole lines, see computeConv()
	 * \param memory once it is cancelled, the operation ends early and its result
	 *        means nothing
	 * \return NaN, infinity and saturation counters as register updates, the estimated
	 *         duration, or the guest error
	 */
	OperationResult run(const ConvOp &op, MemoryPort &memory, StreamSink &sink);

private:
	/** \return what the hardware would wait for forever, empty if the lines are there */
	std::string prepareData(const ConvOp &op, MemoryPort &memory, SpecialCount &special);
	/** \brief Make \a reader ready, unless the weights are those of an earlier operation */
	std::string prepareWeights(const ConvOp &op, MemoryPort &memory,
				   std::optional<WeightReader> &reader);
	OperationResult hang(std::string reason);

	const Fp16Arithmetic fp16_;
	Cbuf cbuf_;
};

} /* namespace nvdla::sim */
