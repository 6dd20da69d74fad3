/* SPDX-License-Identifier: MIT */
/*
 * Weights of a kernel group as conv_tile wants them.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conv/csc.h"
#include "conv/dense_sums.h"
#include "conv/tile_plan.h"
#include "core/scratch.h"

namespace nvdla::sim
{

/** \brief One group's weights, column by column; zero behind its kernels */
class TileWeights
{
public:
	/** \param plan must outlive this object \param scratch where they are */
	TileWeights(const TilePlan &plan, Scratch &scratch);

	/** \brief Take over another group, whose bytes are not needed afterwards */
	void load(const WeightGroup &group);

	/** \return units of all runs; bits of f32 for FP16 */
	const int32_t *units() const { return units_.data(); }
	/** \return what the sums of each column begin with */
	const int32_t *start() const { return start_; }
	const TilePlan &plan() const { return plan_; }

private:
	/** \return some of the units' bytes are no weights of a whole group */
	bool hasGaps() const;
	void put(const Block &block, uint32_t row, const std::byte *elements, size_t kernelBytes);
	void putOne(std::byte *out, const std::byte *element) const;
	void findStart(const WeightGroup &group);

	const TilePlan &plan_;
	std::vector<Block> blocks_;
	std::vector<DenseBlock> ones_; /* that blocks of weights meet to be summed up */
	ScratchArray<int32_t> units_;
	uint32_t kernels_ = 0;
	int32_t start_[kTileColumns] = {};
};

} /* namespace nvdla::sim */
