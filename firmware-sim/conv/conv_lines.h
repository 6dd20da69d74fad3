/* SPDX-License-Identifier: MIT */
/*
 * A convolution's output lines, made on several threads and streamed in order.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "conv/conv_compute.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief Makes the output lines of one panel (kernel groups computed together) after the other;
 * each thread has its own LineMaker */
class LineMaker
{
public:
	virtual ~LineMaker() = default;

	/**
	 * \brief Load a group's weights; does not use the bytes of \a group after the call
	 * \param place index of the group in the panel, in rising order; 0 begins a new panel
	 */
	virtual void load(const WeightGroup &group, uint32_t place) = 0;
	/**
	 * \brief Make \a count lines from line \a first on
	 *
	 * The lines of a batch's cubes alternate. If the operation is cancelled, results are
	 * undefined.
	 */
	virtual void make(uint64_t first, uint32_t count) = 0;
	/** \return accumulators of the last make(), line after line, for the group at
	 * \a place */
	virtual std::span<const int32_t> lines(uint32_t place) const = 0;
	/** \return the number of clipped outputs of the last make() in all groups */
	virtual uint32_t saturated() const = 0;
};

/** \brief How lines are shared among threads */
struct LineShares {
	unsigned int threads;	   /**< largest number of useful threads */
	uint32_t linesAtOnce;	   /**< most lines of a panel that a thread makes at a time */
	uint32_t groupsAtOnce = 1; /**< kernel groups of a panel */
	/** True if each thread makes a band of lines for all groups, so it loads all weights:
	 * faster if the weights are smaller than the cubes */
	bool inBands = false;
};

/**
 * \brief Stream all output lines to \a sink, in the order of computeConv()
 *
 * A thread takes a band of lines for all panels, or pieces of panels (some lines each) in order. It
 * takes a whole panel while there is one for each thread, or if a receiver needs whole surfaces.
 * Only one thread at a time fetches weights. If the sink can be forked, each thread has a receiver
 * for each group of a panel. Else a panel is one group, and threads deliver their lines in order.
 * Results in memory, counters and errors do not depend on the number of threads.
 *
 * \param sink must use another memory port than the weights, as both are used at the same time
 * \param newMaker called once in each thread, in parallel; must not change shared state
 * \throw std::bad_alloc in the caller's thread, if any thread has run out of memory
 */
ConvCounters streamLines(const ConvOp &op, WeightSource &weights, StreamSink &sink,
			 const MemoryPort &memory, Workers &workers, const LineShares &shares,
			 const std::function<std::unique_ptr<LineMaker>()> &newMaker);

/** Multiply-adds that a thread does in the time of waking another one: fast convolution, FP16 */
inline constexpr uint64_t kFastMacsForAThread = 1 << 19;
inline constexpr uint64_t kFp16MacsForAThread = 1 << 15;

/**
 * \return the number of threads that are useful for \a op
 * \param macs multiply-adds that a thread does in the time of waking another one
 */
unsigned int worthwhileThreads(const ConvOp &op, uint64_t macs);

} /* namespace nvdla::sim */
