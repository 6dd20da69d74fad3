/* SPDX-License-Identifier: MIT */
/*
 * Convolution weights: conversion between plain arrays and the core's layouts.
 *
 * Plain weights are in O, I, H, W order: kernel, channel, line, column. All rules are those of
 * NVDLA's in-memory format document, "Weight Format"; names in quotes are its sections.
 * Documentation/umd/layouts.md draws the layouts.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nvdla/core_geometry.h>
#include <nvdla/error.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Type and shape of a layer's weights; each length is 1 to 8192 */
struct WeightDesc {
	DataType type = DataType::Int8; /**< Int8, Int16 or Half */
	uint32_t kernels = 1;		/**< K (also called O) */
	uint32_t channels = 1;		/**< C */
	uint32_t height = 1;		/**< R */
	uint32_t width = 1;		/**< S */

	/** \return elements of one kernel */
	uint64_t kernelElements() const { return uint64_t{ channels } * height * width; }
	/** \return elements of all kernels */
	uint64_t elements() const { return kernels * kernelElements(); }

	/** \return "K x C x R x S type", for messages */
	std::string describe() const;

	bool operator==(const WeightDesc &) const = default;
};

/** \return bytes of packed weights of shape \a desc, as the core sees it, with the final padding */
uint64_t packedWeightBytes(const CoreGeometry &geometry, const WeightDesc &desc);

/**
 * \brief Pack weights for direct convolution ("Basic Weight for Direct Convolution")
 *
 * The order is: kernel groups of geometry.groupKernels() kernels; in a group, blocks of
 * geometry.macChannels channels; in a block, lines, columns, kernels, channels. The only padding is
 * zeroes at the end, up to a multiple of geometry.weightSizeAlignment.
 *
 * \param[in] weights desc.elements() elements in O, I, H, W order
 * \return packedWeightBytes() bytes; InvalidArgument for an impossible shape or size
 */
Result<std::vector<std::byte>> packDirectWeights(const CoreGeometry &geometry,
						 const WeightDesc &desc,
						 std::span<const std::byte> weights);

/** \brief The inverse of packDirectWeights(); \a packed may lack the final padding */
Result<std::vector<std::byte>> unpackDirectWeights(const CoreGeometry &geometry,
						   const WeightDesc &desc,
						   std::span<const std::byte> packed);

/**
 * \brief The shape of image weights as the core sees it ("Basic Weight for image input")
 *
 * Channel pre-extension: a kernel line becomes one pixel of C * S channels, number
 * s * C + c (CSC.WEIGHT_SIZE_EXT of the programming guide).
 */
WeightDesc imageKernel(const WeightDesc &desc);

/**
 * \brief Pack weights for image input
 *
 * \param[in] lines channel post-extension ("Weight Channel Post-extension for image
 * input"): 1 for none, or 2 or 4 kernel lines that share a block. A last block of
 * fewer lines stays short. Needs C * S <= geometry.macChannels / lines.
 * \param[in] weights desc.elements() elements in O, I, H, W order; desc.channels are
 * those of the pixel format (4 for A8B8G8R8)
 */
Result<std::vector<std::byte>> packImageWeights(const CoreGeometry &geometry,
						const WeightDesc &desc,
						std::span<const std::byte> weights,
						uint32_t lines = 1);

/** \brief The inverse of packImageWeights() */
Result<std::vector<std::byte>> unpackImageWeights(const CoreGeometry &geometry,
						  const WeightDesc &desc,
						  std::span<const std::byte> packed,
						  uint32_t lines = 1);

/** \brief Parameters of a convolution's conversion to Winograd */
struct WinogradParams {
	uint32_t strideX = 1;
	uint32_t strideY = 1;
	/** factor by which a transformed weight is multiplied before it is rounded to its type */
	float scale = 1.0f;
};

/**
 * \brief The shape of Winograd weights as the core sees it
 *
 * "Basic Weight for Winograd Convolution", phase 1: channels are filled up to an atom
 * and the stride turns into channels, number (iy * strideX + ix) * C' + c; then a 3x3
 * kernel becomes 4x4.
 *
 * \return Unsupported unless ceil(R / strideY) and ceil(S / strideX) are 3
 */
Result<WeightDesc> winogradKernel(const CoreGeometry &geometry, const WeightDesc &desc,
				  const WinogradParams &params);

/**
 * \brief The largest scale at which no transformed weight saturates
 *
 * The scale is 1 for FP16, unless a weight is beyond FP16's range, and for weights that are all
 * zero.
 *
 * \param[in] weights as for packWinogradWeights()
 */
Result<float> winogradScale(const CoreGeometry &geometry, const WeightDesc &desc,
			    const WinogradParams &params, std::span<const float> weights);

/**
 * \brief Pack weights for Winograd convolution: scale * G W G^T, in cubes of 4x4x4
 *
 * W is a 3x3 kernel, and G the document's 4x3 transform matrix. Weights are transformed in double
 * precision, rounded to float, and converted as by elementsFromFloat(). In a cube, the order is
 * line, column, channel. In a kernel group, the first cubes of all kernels come first. The
 * convolution's result is \a scale times that of the given weights.
 *
 * \param[in] weights desc.elements() numbers in O, I, H, W order
 */
Result<std::vector<std::byte>> packWinogradWeights(const CoreGeometry &geometry,
						   const WeightDesc &desc,
						   const WinogradParams &params,
						   std::span<const float> weights);

/**
 * \brief The weights that packWinogradWeights() was given, up to its rounding
 *
 * The first and the last row of G W are those of W, and the middle row of W is the difference of
 * the two rows between them. The same holds for columns.
 */
Result<std::vector<float>> unpackWinogradWeights(const CoreGeometry &geometry,
						 const WeightDesc &desc,
						 const WinogradParams &params,
						 std::span<const std::byte> packed);

/** \brief The kernel sets of a deconvolution, all of one shape */
struct DeconvolutionSets {
	WeightDesc desc; /**< S' = ceil(S / strideX), R' = ceil(R / strideY) */
	/** plain weights of the set for output phase (y, x), number y * strideX + x */
	std::vector<std::vector<std::byte>> sets;
};

/**
 * \brief Split a deconvolution's kernels ("Set split for deconvolution")
 *
 * Deconvolution: out(k, y * strideY + r, x * strideX + s) += in(c, y, x) * W(k, c, r, s).
 * Output pixels of one phase (y mod strideY, x mod strideX) are a convolution, without
 * strides, of the input padded by R' - 1 lines and S' - 1 columns on each side with the
 * weights of that phase, whose lines and columns are in reverse order. Rubik's contract mode
 * interleaves the phases (programming guide, "Deconvolution").
 *
 * \param[in] weights desc.elements() elements in O, I, H, W order, where O are the output's
 * channels
 */
Result<DeconvolutionSets> splitDeconvolution(const WeightDesc &desc, uint32_t strideX,
					     uint32_t strideY, std::span<const std::byte> weights);

/** \brief The inverse of splitDeconvolution(); \a desc is that of the whole kernels */
Result<std::vector<std::byte>> mergeDeconvolution(const WeightDesc &desc, uint32_t strideX,
						  uint32_t strideY, const DeconvolutionSets &sets);

/** \brief The three surfaces of sparse weights; sizes are multiples of weightSizeAlignment */
struct CompressedWeights {
	std::vector<std::byte> weights;	   /**< the elements that are not zero */
	std::vector<std::byte> mask;	   /**< WMB: one bit per element, lowest bit first */
	std::vector<std::byte> groupSizes; /**< WGS: byte count of each kernel group, 32 bits */
};

/**
 * \brief Leave out elements that are zero ("Sparse Compression option")
 *
 * An element is zero if all its bits are: FP16's -0 is kept.
 *
 * \param[in] desc the shape as the core sees it: of imageKernel() or winogradKernel()
 * for those modes
 * \param[in] packed packedWeightBytes() bytes, as a pack function made them
 */
Result<CompressedWeights> compressWeights(const CoreGeometry &geometry, const WeightDesc &desc,
					  std::span<const std::byte> packed);

/** \brief The inverse of compressWeights(); checks the three surfaces against each other */
Result<std::vector<std::byte>> expandWeights(const CoreGeometry &geometry, const WeightDesc &desc,
					     const CompressedWeights &compressed);

} /* namespace nvdla */

#pragma GCC visibility pop
