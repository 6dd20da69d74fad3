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

/** \brief Weights that follow each other for each kernel, and what they meet */
struct DenseFloats {
	const float *data;
	const std::byte *weights; /**< the first kernel's, FP16; those of the next one follow */
	size_t elements;	  /**< of a kernel; at most kDenseElements */
};

/** \brief Elements of the largest block */
inline constexpr size_t kDenseElements = 64;

/**
 * \brief The sum of products of each kernel, one after the other as tileSums() adds them
 * \param blocks in the order of the sum
 * \param kernels at least 1, at most kFewColumns
 * \param sums bits of f32, kFewColumns of them; zero behind the kernels, overwritten
 * \param ahead bytes that are wanted next, which are brought nearer meanwhile
 */
void denseFloatSums(std::span<const DenseFloats> blocks, size_t kernels, int32_t *sums,
		    std::span<const std::byte> ahead = {});

/** \brief denseFloatSums() to read */
void denseFloatSumsReference(std::span<const DenseFloats> blocks, size_t kernels, int32_t *sums);

} /* namespace nvdla::sim */
