/* SPDX-License-Identifier: MIT */
/*
 * Sums of INT16 that exceed 32 bits.
 */
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "conv/conv_tile.h"

namespace nvdla::sim
{

/**
 * \brief INT16 weights of a panel whose sums need more than 32 bits
 *
 * Partial sums of a limited number of units fit into 32 bits, and are then added in 64 bits. If the
 * numbers are so large that only a few units fit, upper and lower bytes of the weights are
 * multiplied separately; then at least 128 units fit.
 */
class WideWeights
{
public:
	/**
	 * \param panel of TileKind::Pairs; its weights must stay valid until the next load()
	 * \param largest largest magnitude of the data
	 * \return false if all sums fit 32 bits: use tileSums()
	 */
	bool load(const Panel &panel, uint32_t largest);

	/**
	 * \brief Computes tileSums() in 64 bits, truncated and clipped as CACC does
	 * \param truncate bits that CACC drops, 0 to 31
	 * \return the number of clipped sums
	 */
	uint32_t sums(std::span<const TilePosition> positions, const Panel &panel,
		      uint32_t truncate, const TileSums &out) const;

private:
	uint32_t unitsAtOnce_ = 0;	     /* number of units whose sums fit 32 bits */
	std::vector<TileRun> runs_;	     /* runs of the panel, split to at most unitsAtOnce_
					      * units */
	std::vector<int32_t> lower_, upper_; /* lower and upper bytes of the weights, in 16 bits
					      * each */
	std::vector<std::pair<const int32_t *, int64_t>> parts_; /* weights, factor of products */
};

} /* namespace nvdla::sim */
