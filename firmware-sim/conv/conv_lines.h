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

/** \brief Makes output lines of one panel of kernel groups after the other; each thread has its own
 */
class LineMaker
{
public:
	virtual ~LineMaker() = default;

	/**
	 * \brief Work on \a group from now on; its bytes are not needed afterwards
	 * \param place 0 alone, or first of a panel of groups that are worked on at once, whose
	 *others are loaded next
	 */
	virtual void load(const WeightGroup &group, uint32_t place) = 0;
	/**
	 * \brief Make \a count lines from line \a first on
	 *
	 * Lines of a batch's cubes alternate. What is made once the operation is cancelled does
	 * not matter.
	 */
	virtual void make(uint64_t first, uint32_t count) = 0;
	/** \return accumulators of the lines made last, one after the other, of a group */
	virtual std::span<const int32_t> lines(uint32_t place) const = 0;
	/** \return outputs of those lines that were clipped, of all groups */
	virtual uint32_t saturated() const = 0;
};

/** \brief How lines are shared among threads */
struct LineShares {
	unsigned int threads;	   /**< that there is enough work for */
	uint32_t linesAtOnce;	   /**< lines of a panel that a thread makes at once, at most */
	uint32_t groupsAtOnce = 1; /**< that a panel has room for */
	/** Threads have bands of lines, of all groups, which they load all of: for weights that are
	 * small next to the cubes */
	bool inBands = false;
};

/**
 * \brief Stream all output lines to \a sink, in the order of computeConv()
 *
 * Pieces of panels are handed out in order to the threads, whole panels as long as there are
 * some for all of them, or where a receiver takes whole surfaces only; or bands of lines. Weights
 * are fetched by one thread at a time. If the sink can be forked, each thread has receivers of its
 * own, one for each group of a panel; else a panel is one group, and lines are delivered by one
 * thread at a time, in their order.
 * Memory, counters and errors are the same for any number of threads.
 *
 * \param sink its way to memory is not that of the weights: another thread may go there
 * \param newMaker called once for each thread, by several of them at a time: it may only look at
 *	  what they share
 * \throw std::bad_alloc in the caller's thread, whichever has run out of memory
 */
ConvCounters streamLines(const ConvOp &op, WeightSource &weights, StreamSink &sink,
			 const MemoryPort &memory, Workers &workers, const LineShares &shares,
			 const std::function<std::unique_ptr<LineMaker>()> &newMaker);

/** Multiply-adds that take a thread as long as waking another one, fast and as FP16 cells do them
 */
inline constexpr uint64_t kFastMacsForAThread = 1 << 19;
inline constexpr uint64_t kFp16MacsForAThread = 1 << 15;

/**
 * \return threads among which \a op is worth being shared
 * \param macs multiply-adds that take one of them as long as waking another one
 */
unsigned int worthwhileThreads(const ConvOp &op, uint64_t macs);

} /* namespace nvdla::sim */
