/* SPDX-License-Identifier: MIT */
/*
 * Sums of INT16 that 32 bits do not hold.
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
 * 32 bits hold the sums of some units. If they are few, because numbers are large, upper and lower
 * bytes of the weights are multiplied by themselves: of each there are 128 units or more.
 */
class WideWeights
{
public:
	/**
	 * \param panel of TileKind::Pairs, whose weights must outlive this object or the next
	 * load() \param largest magnitude of the data \return false if 32 bits hold all sums:
	 * tileSums() is faster for them
	 */
	bool load(const Panel &panel, uint32_t largest);

	/**
	 * \brief tileSums() in 64 bits, and what CACC delivers of them
	 * \param truncate bits that CACC drops, 0 to 31
	 * \return how many were clipped to 32 bits
	 */
	uint32_t sums(std::span<const TilePosition> positions, const Panel &panel,
		      uint32_t truncate, const TileSums &out) const;

private:
	uint32_t unitsAtOnce_ = 0;	     /* whose sums 32 bits hold */
	std::vector<TileRun> runs_;	     /* the panel's, of no more than those */
	std::vector<int32_t> lower_, upper_; /* bytes of the weights, in 16 bits each */
	std::vector<std::pair<const int32_t *, int64_t>> parts_; /* weights, their factor */
};

} /* namespace nvdla::sim */
