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

/** \brief Makes output lines, one panel of kernel groups after the other; each thread has a
 * LineMaker */
class LineMaker
{
public:
	virtual ~LineMaker() = default;

	/**
	 * \brief Load a group's weights; does not use the bytes of \a group after the call
	 * \param place of the group in the panel; 0 begins a new panel, the others follow in order
	 */
	virtual void load(const WeightGroup &group, uint32_t place) = 0;
	/**
	 * \brief Make \a count lines from line \a first on
	 *
	 * Lines of a batch's cubes alternate. Once the operation is cancelled, results do not
	 * matter.
	 */
	virtual void make(uint64_t first, uint32_t count) = 0;
	/** \return accumulators of the lines of the last make(), line after line, for the group at
	 * \a place */
	virtual std::span<const int32_t> lines(uint32_t place) const = 0;
	/** \return the number of clipped outputs of the last make() in all groups */
	virtual uint32_t saturated() const = 0;
};

/** \brief How lines are shared among threads */
struct LineShares {
	unsigned int threads;	   /**< largest number of useful threads */
	uint32_t linesAtOnce;	   /**< most lines of a panel that a thread makes at a time */
	uint32_t groupsAtOnce = 1; /**< groups of a panel */
	/** True if each thread makes a band of lines for all groups, and so loads all weights:
	 * faster if the weights are small compared with the cubes */
	bool inBands = false;
};

/**
 * \brief Stream all output lines to \a sink, in the order of computeConv()
 *
 * Threads get bands of lines, or pieces of panels in order: whole panels while there is one for
 * each thread, or if a receiver takes only whole surfaces. One thread at a time fetches weights. If
 * the sink can be forked, each thread has a receiver for each group of a panel; else a panel is one
 * group, and one thread at a time delivers its lines, in order. Results in memory, counters and
 * errors do not depend on the number of threads.
 *
 * \param sink its memory port is not that of the weights, as both are used at the same time
 * \param newMaker function that each thread calls once, concurrently; must not change shared state
 * \throw std::bad_alloc in the caller's thread, if any thread has run out of memory
 */
ConvCounters streamLines(const ConvOp &op, WeightSource &weights, StreamSink &sink,
			 const MemoryPort &memory, Workers &workers, const LineShares &shares,
			 const std::function<std::unique_ptr<LineMaker>()> &newMaker);

/** Multiply-adds that take as long as waking a thread, for the fast kernels and for FP16 cells */
inline constexpr uint64_t kFastMacsForAThread = 1 << 19;
inline constexpr uint64_t kFp16MacsForAThread = 1 << 15;

/**
 * \return the number of threads among which sharing \a op pays
 * \param macs multiply-adds that take as long as waking a thread
 */
unsigned int worthwhileThreads(const ConvOp &op, uint64_t macs);

} /* namespace nvdla::sim */
