/* SPDX-License-Identifier: MIT */
/* Sums of products of real numbers, as convolutions compute them. */
#pragma once

#include <cstdint>

namespace nvdla
{

/** \brief Number of pixels whose sums are computed at once, so that kernels are read less often */
inline constexpr uint32_t pixelsAtOnce = 4;

/** \brief The channels of each pixel */
using ProductInputs = const float *[pixelsAtOnce];
/** \brief The sums of each pixel, one for each kernel */
using ProductSums = float *[pixelsAtOnce];

/**
 * \brief Add the products of each pixel's channels with kernels to the pixel's sums
 *
 * The products of a sum are added in the order of the channels.
 *
 * \param[in] rows for each channel, a row with the weights of all kernels
 */
void addProducts(const ProductInputs &from, const ProductSums &sums, const float *rows,
		 uint32_t channels, uint32_t kernels);

} /* namespace nvdla */
