/* SPDX-License-Identifier: MIT */
/*
 * Weights of kernel groups as conv_tile wants them.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conv/csc.h"
#include "conv/tile_plan.h"
#include "core/scratch.h"

namespace nvdla::sim
{

/** \brief The panel of groups that are worked on at once, column by column; zero behind kernels */
class TileWeights
{
public:
	/** \param plan must outlive this object \param scratch where they are */
	TileWeights(const TilePlan &plan, Scratch &scratch);

	/**
	 * \brief Take over a group, whose bytes are not needed afterwards
	 * \param place its place in the panel, one after the other from 0 on
	 */
	void load(const WeightGroup &group, uint32_t place);

	/** \return what all positions meet: bits of f32 for FP16; columns of no group are zero */
	Panel panel();

private:
	/** The columns of a group that is being loaded */
	struct Columns {
		size_t first;
		uint32_t kernels;
	};

	/** \return some of the units' bytes are no weights of a whole group */
	bool hasGaps() const;
	void clear(uint32_t place);
	void put(const Columns &columns, const Block &block, uint32_t row,
		 const std::byte *elements, size_t kernelBytes);
	void putOne(std::byte *out, const std::byte *element) const;

	static constexpr uint32_t kAnything = ~0U;

	const TilePlan &plan_;
	ScratchArray<int32_t> units_;
	uint32_t groups_ = 0;		/* of the panel */
	std::vector<uint32_t> kernels_; /* that each place has columns of, or kAnything */
};

} /* namespace nvdla::sim */
