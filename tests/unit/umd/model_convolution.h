/* SPDX-License-Identifier: MIT */
/*
 * Convolutions by the device model, of tensors and weights that umd laid out.
 */
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <nvdla/tensor.h>
#include <nvdla/weights.h>

#include "conv/conv_op.h"

namespace nvdla::test
{

/** \return the model's name of a type that the core computes with */
sim::Precision precisionOf(DataType type);

/** \brief Operands in memory as umd packed them */
struct ModelConvolution {
	sim::ConvOp op;
	std::vector<std::byte> data;
	std::vector<std::byte> secondPlane; /**< of a semi-planar image */
	std::vector<std::byte> weights;
	const CompressedWeights *compressed = nullptr; /**< instead of weights */

	/** \brief A feature cube of numbers in C, H, W order; the rest is up to the caller */
	ModelConvolution(DataType type, uint32_t c, uint32_t h, uint32_t w,
			 std::span<const float> numbers);

	/** \brief Take the kernel's shape from \a seen and the output's size as given */
	void setKernel(const WeightDesc &seen, uint32_t outHeight, uint32_t outWidth);

	/** \return accumulators in K, H, W order; for FP16 the bits of FP32 numbers */
	std::vector<int32_t> run() const;
};

} /* namespace nvdla::test */
