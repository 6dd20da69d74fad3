/* SPDX-License-Identifier: MIT */
/*
 * Weights of kernel groups in the layout of conv_tile.
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

/** \brief The panel of groups computed together; columns without kernels are zero */
class TileWeights
{
public:
	/**
	 * \param plan layout of the panel
	 * \param scratch memory for the panel; both must outlive this object
	 */
	TileWeights(const TilePlan &plan, Scratch &scratch);

	/**
	 * \brief Copy a group's weights
	 * \param place the group's place in the panel, in order from 0
	 */
	void load(const WeightGroup &group, uint32_t place);

	/** \return the weights for tileSums(), FP16 as bits of f32; columns without a group are
	 * zero */
	Panel panel();

private:
	/** The columns of a group that is being loaded */
	struct Columns {
		size_t first;
		uint32_t kernels;
	};

	/** \return true if taps do not fill their units, whose other weights must be zero */
	bool hasGaps() const;
	void clear(uint32_t place);
	void findStarts(const Panel &panel);
	void put(const Columns &columns, const Block &block, uint32_t row,
		 const std::byte *elements, size_t kernelBytes);
	void putOne(std::byte *out, const std::byte *element) const;

	static constexpr uint32_t kAnything = ~0U;

	const TilePlan &plan_;
	ScratchArray<int32_t> units_;
	uint32_t groups_ = 0;		/* groups of the panel */
	std::vector<uint32_t> kernels_; /* for each place: number of kernels in its columns;
					 * kAnything: contents undefined */
	std::vector<std::byte> zeroes_; /* Quads: operands that stand for zero (128), for all
					 * units */
	int32_t starts_[kTileColumns] = {};
};

} /* namespace nvdla::sim */
