/* SPDX-License-Identifier: MIT */
/*
 * INT8 convolutions with a single output position. Each weight is used only once, so repacking
 * would not pay: weights are multiplied where they are, row by row.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/conv_tile.h"

namespace nvdla::sim
{

/** \brief Operands for one block of weights: as many as the block has weights of each kernel */
struct DenseBlock {
	const std::byte *data;
	size_t before; /**< bytes of a kernel's weights before the block */
	size_t bytes;  /**< at most kDenseBytes */
};

/** \brief Weights of a group: block by block, and in a block kernel by kernel */
struct DenseWeights {
	const std::byte *bytes;
	size_t kernels; /**< at least 1 */

	/** \return the weights of \a kernel in a block */
	const std::byte *at(const DenseBlock &block, size_t kernel) const
	{
		return bytes + block.before * kernels + kernel * block.bytes;
	}
};

/** \brief Bytes of the largest block */
inline constexpr size_t kDenseBytes = 64;

/**
 * \brief Compute the sum of products of each kernel
 * \param blocks operands, in all less than 2^16 bytes, so that no sum overflows
 * \param sums as many as kernels; overwritten
 */
void denseSums(std::span<const DenseBlock> blocks, const DenseWeights &weights, int32_t *sums);

} /* namespace nvdla::sim */
