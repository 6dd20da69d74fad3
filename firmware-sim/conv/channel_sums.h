/* SPDX-License-Identifier: MIT */
/*
 * Depthwise sums: kernel k has weights for channel k only. Here each operand is multiplied by one
 * weight, while conv_tile would also multiply all other channels of a position by zero.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/conv_tile.h"

namespace nvdla::sim
{

/**
 * \brief Two kernel elements, whose products are summed by one instruction
 *
 * The members are distances, in bytes, from a position's first operand to an element's operands.
 */
struct ChannelTaps {
	size_t first;
	size_t second;
};

/** \brief Weights of the kernels, and how the operands are stored */
struct ChannelOperands {
	size_t elementBytes; /**< bytes of an operand: 1 (INT8), 2 (INT8, INT16) or 4 (f32) */
	size_t columns;	     /**< number of kernels in a full group */
	std::span<const ChannelTaps> taps;
	/** Two weights of each tap, for all columns. Integers: pairs of 16 bits, the first weight
	 * lower. Float: f32 of all columns for the first weight, then for the second. */
	const int32_t *weights;
	/** If not null, INT8 operands are stored 128 too high, corrected by these initial sums */
	const int32_t *starts = nullptr;
};

/**
 * \brief Computes the sums of products of each column for \a count positions
 *
 * A kernel element has one operand per column. The caller ensures that no sum overflows 32 bits.
 * Float: products are added one after the other, and NaNs are handled as in tileSums().
 *
 * \param sums \a count times the columns; overwritten
 */
void channelSums(const ChannelOperands &operands, const TilePosition *positions, size_t count,
		 int32_t *sums);

} /* namespace nvdla::sim */
