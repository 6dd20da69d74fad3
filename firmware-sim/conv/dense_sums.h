/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of INT8 with a single output position: each weight is used once, so that it is
 * multiplied where it is, row by row.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::sim
{

/** \brief What a block of weights meets: as many elements as each kernel has in it */
struct DenseBlock {
	const std::byte *data;
	const std::byte *weights; /**< the first kernel's; those of the next one follow */
	size_t bytes;		  /**< at most kDenseBytes */
};

/** \brief Bytes of the largest block */
inline constexpr size_t kDenseBytes = 64;

/**
 * \brief The sum of products of each kernel
 * \param blocks of less than 2^16 bytes in all, so that nothing overflows
 * \param kernels at least 1
 * \param dataSum of all data \param sums as many as kernels; overwritten
 */
void denseSums(std::span<const DenseBlock> blocks, size_t kernels, int32_t dataSum, int32_t *sums);

/** \brief denseSums() to read */
void denseSumsReference(std::span<const DenseBlock> blocks, size_t kernels, int32_t *sums);

} /* namespace nvdla::sim */
