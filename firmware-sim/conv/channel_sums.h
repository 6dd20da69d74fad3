/* SPDX-License-Identifier: MIT */
/*
 * Sums of kernels that have weights for one channel each, kernel k for channel k. conv_tile would
 * multiply all but one of a position's channels by zero; here each operand meets its own weight.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/conv_tile.h"

namespace nvdla::sim
{

/**
 * \brief Two kernel elements, whose products are added up together
 *
 * For each of them the bytes from a position's first operand to those of all channels.
 */
struct ChannelTaps {
	size_t first;
	size_t second;
};

/** \brief What positions meet */
struct ChannelOperands {
	size_t elementBytes; /**< of data: INT8, INT8 or INT16 in 16 bits, or f32 */
	size_t columns;	     /**< kernels of a full group */
	std::span<const ChannelTaps> taps;
	/** For each of \a taps those of all columns: two of 16 bits, the first one lower. Float:
	 * the first one's, then the second one's as f32. */
	const int32_t *weights;
};

/**
 * \brief Sums of products for \a count positions, for each column
 *
 * A position's operands of a tap are as many as there are columns. Nothing may overflow 32 bits.
 * Float: one product after the other is added, as in tileSums(), also what becomes of a NaN.
 *
 * \param sums \a count times the columns; overwritten
 */
void channelSums(const ChannelOperands &operands, const TilePosition *positions, size_t count,
		 int32_t *sums);

} /* namespace nvdla::sim */
