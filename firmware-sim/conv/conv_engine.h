/* SPDX-License-Identifier: MIT */
/*
 * The convolution pipeline: CDMA, convolution buffer, CSC, CMAC, CACC.
 */
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conv/cbuf.h"
#include "conv/cdma.h"
#include "conv/conv_compute.h"
#include "conv/conv_op.h"
#include "core/conv_options.h"
#include "core/memory.h"
#include "core/operation.h"
#include "core/stream.h"
#include "core/workers.h"
#include "timing/work.h"

namespace nvdla::sim
{

/**
 * \brief Runs convolutions one after the other
 *
 * Owns the convolution buffer and what it keeps from one operation to the next; everything
 * else about an operation is in its ConvOp. Not thread-safe: the core has one
 * convolution thread.
 */
class ConvEngine
{
public:
	/** \param workers must outlive this object, as must \a geometry */
	explicit ConvEngine(Workers &workers, const ConvOptions &options = {},
			    const Geometry &geometry = nvFull)
		: workers_(workers), options_(options), cbuf_(geometry)
	{
	}

	/** \brief An empty buffer and nothing to fetch, as after a reset of the core */
	void reset();

	/**
	 * \brief Carry out \a op and stream its accumulators to SDP
	 *
	 * Memory in use is bounded, whatever \a op says: see LineShares. What the hardware
	 * would wait for forever, what it does not define, and what the host has no memory
	 * for ends as an operation that hangs, with a guest error; only reset() goes on
	 * from there.
	 *
	 * \param sink gets whole lines, see computeConv()
	 * \param memory once it is cancelled, the operation ends early and its result
	 *        means nothing
	 * \return NaN, infinity and saturation counters as register updates, the estimated
	 *         duration, or the guest error
	 */
	OperationResult run(const ConvOp &op, MemoryPort &memory, StreamSink &sink);

	/** \return threads that \a op is worth being shared among, before it runs; 1 if it hangs */
	unsigned int worthwhileThreads(const ConvOp &op) const;

	/**
	 * \brief CDMA has something to fetch that the sums of run() did not need
	 *
	 * CACC and CDMA are done independently of each other: CSC begins when there are as
	 * many lines as it is to look at, and the rest follows when it has released some.
	 */
	bool fetching() const;

	/**
	 * \brief Fetch that, behind run(), whose op and memory must still be there
	 * \return CDMA's counters, or the guest error if there is never room for it
	 */
	OperationResult finishFetch();

private:
	OperationResult carryOut(const ConvOp &op, MemoryPort &memory, StreamSink &sink);
	/** \return what \a work does; if the host has no memory for it, it hangs */
	template<typename Work>
	OperationResult withinMemory(const Work &work);
	/** \return what the hardware would wait for forever, empty if the lines are there */
	std::string prepareData(const ConvOp &op, MemoryPort &memory, const StreamSink &sink,
				bool kept);
	/** \brief Bring the cube into the buffer, or let it stay in memory if nobody can tell */
	void fetchData(const ConvOp &op, const StreamSink &sink);
	/** \return what CDMA counted */
	std::vector<RegisterUpdate> counters() const;
	OperationResult hang(std::string reason);

	ConvCounters compute(const ConvOp &op, StreamSink &sink, const MemoryPort &memory);

	Workers &workers_;
	const ConvOptions options_;
	Cbuf cbuf_;
	/* Of the operation that runs or ran last; data are null if they were kept. */
	std::unique_ptr<DataFetcher> data_;
	std::optional<CubeInMemory> cube_; /* instead of the buffer */
	std::optional<WeightReader> weights_;
};

/**
 * \brief What the timing model is told about a convolution
 * \param kept what is in the convolution buffer already and need not be fetched
 */
ConvWork convWork(const ConvOp &op, const Kept &kept);

} /* namespace nvdla::sim */
