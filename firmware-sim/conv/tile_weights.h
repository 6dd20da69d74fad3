/* SPDX-License-Identifier: MIT */
/*
 * Weights of kernel groups as conv_tile wants them.
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

/** \brief The weights of groups that are worked on at once, column by column; zero behind kernels
 */
class TileWeights
{
public:
	/** \param plan must outlive this object \param scratch where they are */
	TileWeights(const TilePlan &plan, Scratch &scratch);

	/** \brief So many groups are loaded next */
	void begin(uint32_t groups);
	/**
	 * \brief Take over a group, whose bytes are not needed afterwards
	 * \param index its place among those that are worked on at once
	 */
	void load(const WeightGroup &group, uint32_t index);

	/** \return what all positions meet: bits of f32 for FP16 */
	TileOperands operands() const
	{
		return { plan_.runs, units_.data(), columns_,
			 start_,     used_,	    plan_.op.windows.out.width };
	}

private:
	/** The columns of a group that is being loaded */
	struct Columns {
		size_t first;
		uint32_t kernels;
	};

	/** \return some of the units' bytes are no weights of a whole group */
	bool hasGaps() const;
	void clear(size_t column);
	void put(const Columns &columns, const Block &block, uint32_t row,
		 const std::byte *elements, size_t kernelBytes);
	void putOne(std::byte *out, const std::byte *element) const;
	void findStart(const WeightGroup &group);

	const TilePlan &plan_;
	std::vector<Block> blocks_;
	std::vector<DenseBlock> ones_; /* that blocks of weights meet to be summed up */
	ScratchArray<int32_t> units_;
	size_t columns_;  /* of a unit */
	size_t used_ = 0; /* of them, by kernels and those before */
	/* Of the groups that were loaded last, by their places. */
	uint32_t kernels_[kTileColumns / kFewColumns] = {};
	int32_t start_[kTileColumns] = {};
};

} /* namespace nvdla::sim */
