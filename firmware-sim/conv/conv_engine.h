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
 * Owns the convolution buffer, which may keep data for the next operation; everything else about an
 * operation is in its ConvOp. Not thread-safe: the core has one convolution thread.
 */
class ConvEngine
{
public:
	/** \param workers,geometry must outlive this object */
	explicit ConvEngine(Workers &workers, const ConvOptions &options = {},
			    const Geometry &geometry = nvFull)
		: workers_(workers), options_(options), cbuf_(geometry)
	{
	}

	/** \brief Empty the buffer and drop the remaining fetches, as a reset of the core does */
	void reset();

	/**
	 * \brief Carry out \a op and stream its accumulators to SDP
	 *
	 * The memory used is bounded, whatever \a op says. An operation hangs, with
	 * a guest error, if the hardware would wait forever, if its behaviour on hardware is
	 * undefined, or if the host is out of memory; only reset() ends the hang.
	 *
	 * \param sink gets whole lines, see computeConv()
	 * \param memory if it is cancelled, the operation ends early and its result is meaningless
	 * \return NaN, infinity and saturation counters as register updates, and the work for the
	 *         timing model; or the guest error
	 */
	OperationResult run(const ConvOp &op, MemoryPort &memory, StreamSink &sink);

	/** \return the number of threads among which sharing \a op pays; 1 for an operation that
	 * hangs */
	unsigned int worthwhileThreads(const ConvOp &op) const;

	/**
	 * \return true if CDMA still has to fetch lines or weights that run() did not need
	 *
	 * CACC can be done before CDMA: CSC begins when all lines that it reads are buffered, and
	 * CDMA fetches the rest when CSC has released some lines.
	 */
	bool fetching() const;

	/**
	 * \brief Finish CDMA's fetches after run(), whose op and memory must still exist
	 * \return CDMA's counters, or a guest error if the remaining bytes never fit the buffer
	 */
	OperationResult finishFetch();

private:
	OperationResult carryOut(const ConvOp &op, MemoryPort &memory, StreamSink &sink);
	/** \return the result of \a work, or the result of a hanging operation if weights never
	 * arrive or the host is out of memory */
	template<typename Work>
	OperationResult orHang(const Work &work);
	/** \return the reason why the hardware would wait forever, empty if all lines arrive */
	std::string prepareData(const ConvOp &op, MemoryPort &memory, const StreamSink &sink,
				bool kept);
	/** \brief Bring the cube into the buffer, or let CSC read it in memory if the result is the
	 * same */
	void fetchData(const ConvOp &op, const StreamSink &sink);
	/** \return updates of CDMA's registers that count NaNs and infinities */
	std::vector<RegisterUpdate> counters() const;
	OperationResult hang(std::string reason);

	ConvCounters compute(const ConvOp &op, StreamSink &sink, const MemoryPort &memory);

	Workers &workers_;
	const ConvOptions options_;
	Cbuf cbuf_;
	/* Fetchers of the current or last operation; data_ is null if an earlier operation kept the
	 * data. */
	std::unique_ptr<DataFetcher> data_;
	std::optional<CubeInMemory> cube_; /* set if CSC reads memory instead of the buffer */
	std::optional<WeightReader> weights_;
};

/**
 * \return the convolution's work, for the timing model
 * \param kept data that are in the convolution buffer already
 */
ConvWork convWork(const ConvOp &op, const Kept &kept);

} /* namespace nvdla::sim */
