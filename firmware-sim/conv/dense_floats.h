/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of FP16 with a single output position, in f32: each weight is used once, so that it
 * is multiplied as it comes from memory.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conv/conv_tile.h"

namespace nvdla::sim
{

/** \brief What a block of weights meets: as many elements as each kernel has in it */
struct DenseFloats {
	const float *data;
	size_t before;	 /**< elements of each kernel before the block */
	size_t elements; /**< at most kDenseElements */
};

/** \brief Elements of the largest block */
inline constexpr size_t kDenseElements = 64;

/**
 * \brief The sum of products of each kernel, one after the other as tileSums() adds them
 *
 * As each product waits for the sum before it, two groups take about as long as one.
 *
 * \param blocks in the order of the sum
 * \param groups weights of one group of kernels or two, FP16: for each block those of all kernels,
 *	  one after the other
 * \param kernels of each group, at least 1, at most kFewColumns
 * \param sums bits of f32, kFewColumns for each group; zero behind the kernels, overwritten
 * \param ahead bytes that are wanted next, which are brought nearer meanwhile
 * \return false if there is an infinity or a NaN among the weights; it may be if there is one
 *	   among the data
 */
bool denseFloatSums(std::span<const DenseFloats> blocks, std::span<const std::byte *const> groups,
		    size_t kernels, int32_t *sums, std::span<const std::byte> ahead = {});

/** \brief denseFloatSums() to read */
void denseFloatSumsReference(std::span<const DenseFloats> blocks,
			     std::span<const std::byte *const> groups, size_t kernels,
			     int32_t *sums);

} /* namespace nvdla::sim */
