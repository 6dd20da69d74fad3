/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of INT8 with a single output position: each weight is used once, so that it is
 * multiplied where it is, row by row.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/conv_tile.h"

namespace nvdla::sim
{

/** \brief What a block of weights meets: as many elements as each kernel has in it */
struct DenseBlock {
	const std::byte *data;
	size_t before; /**< bytes of each kernel before the block */
	size_t bytes;  /**< at most kDenseBytes */
};

/** \brief Weights of a group: for each block those of all kernels, one after the other */
struct DenseWeights {
	const std::byte *bytes;
	size_t kernels; /**< at least 1 */

	/** \return those of kernel \a kernel in a block */
	const std::byte *at(const DenseBlock &block, size_t kernel) const
	{
		return bytes + block.before * kernels + kernel * block.bytes;
	}
};

/** \brief Bytes of the largest block */
inline constexpr size_t kDenseBytes = 64;

/**
 * \brief The sum of products of each kernel
 * \param blocks of less than 2^16 bytes in all, so that nothing overflows
 * \param sums as many as kernels; overwritten
 */
void denseSums(std::span<const DenseBlock> blocks, const DenseWeights &weights, int32_t *sums);

/**
 * \brief Sums of the INT8 that positions of a line have, where TileKind::Quads is multiplied
 * \param line the first position's first unit \param step bytes to the next position's
 * \param runs that a position has
 */
void byteSums(const std::byte *line, size_t step, std::span<const TileRun> runs,
	      std::span<int32_t> sums);

} /* namespace nvdla::sim */
