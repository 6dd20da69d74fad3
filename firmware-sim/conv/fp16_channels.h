/* SPDX-License-Identifier: MIT */
/*
 * Exact FP16 of groups whose kernels have weights for one channel each: what depthwise layers
 * become when their groups are put together. A kernel's only product of a step is exact.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conv/channel_weights.h"
#include "conv/csc.h"
#include "conv/fp16_cells.h"
#include "conv/tile_plan.h"
#include "core/scratch.h"
#include "core/workers.h"

namespace nvdla::sim
{

/** \brief Padded lines as doubles, which are read by all threads */
class Fp16ChannelLines
{
public:
	/** \param plan whose mayBeChannelwise is true, must outlive this object */
	Fp16ChannelLines(const TilePlan &plan, const DataView &data, Workers &workers);

	const TilePlan &plan() const { return plan_; }
	/** \return there is a NaN, which counts where it meets zeroes as well */
	bool hasNan() const { return hasNan_; }

	/**
	 * \brief The first operands of the positions of \a count lines from line \a first on
	 * \param positions overwritten
	 */
	void place(uint64_t first, uint32_t count, std::vector<const double *> &positions) const;

private:
	/** \brief A line with its padding; those of batches follow each other */
	void makeLine(const DataView &data, uint64_t line, std::vector<LinePiece> &pieces);

	const TilePlan &plan_;
	const size_t height_;	    /* lines of a batch, with padding */
	const size_t lineNumbers_;  /* of a line */
	const size_t batchNumbers_; /* of a batch's lines */
	const double pad_;
	ScratchArray<double> numbers_;
	std::atomic<bool> hasNan_;
};

/** \brief Sums of such groups, one after the other */
class Fp16Channels
{
public:
	/** \param lines without NaNs, must outlive this object */
	explicit Fp16Channels(const Fp16ChannelLines &lines);

	/** \return false if \a group is none of these, or has a NaN */
	bool load(const WeightGroup &group);

	/** \brief Accumulators of \a count lines from line \a first on, as SDP gets them */
	void make(const TowardZero &towardZero, uint64_t first, uint32_t count, int32_t *out);

private:
	const Fp16ChannelLines &lines_;
	ChannelWeights weights_;
	std::vector<size_t> taps_;    /* numbers from a position's first operand on */
	std::vector<double> numbers_; /* weights of each tap */
	uint32_t kernels_ = 0;
	std::vector<const double *> positions_;
};

} /* namespace nvdla::sim */
