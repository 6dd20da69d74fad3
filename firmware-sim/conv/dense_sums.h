/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of integers with a single output position: each weight is used once, so that it is
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
	size_t bytes;		  /**< at most kDenseBytes; of INT16 twice as many */
};

/** \brief Bytes of the largest block of INT8 */
inline constexpr size_t kDenseBytes = 64;

/** \brief What there is to know of INT8 data beforehand */
struct ByteStatistics {
	int32_t sum = 0; /**< of all of them */
	bool anyNegative = false;

	void add(int8_t number)
	{
		sum += number;
		anyNegative |= number < 0;
	}
};

/**
 * \brief The sum of products of each kernel
 * \param blocks of less than 2^16 bytes in all, so that nothing overflows
 * \param kernels at least 1
 * \param data those of all blocks \param sums as many as kernels; overwritten
 */
void denseSums(std::span<const DenseBlock> blocks, size_t kernels, ByteStatistics data,
	       int32_t *sums);

/** \brief denseSums() to read */
void denseSumsReference(std::span<const DenseBlock> blocks, size_t kernels, int32_t *sums);

/**
 * \brief The sum of products of INT16 of each kernel
 * \param blocks of less than 2^17 elements in all \param lowestData of all data
 * \param kernels at least 1 \param sums as many as kernels; overwritten
 */
void denseWideSums(std::span<const DenseBlock> blocks, size_t kernels, int16_t lowestData,
		   int64_t *sums);

/** \brief denseWideSums() to read */
void denseWideSumsReference(std::span<const DenseBlock> blocks, size_t kernels, int64_t *sums);

} /* namespace nvdla::sim */
