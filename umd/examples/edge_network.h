/* SPDX-License-Identifier: MIT */
/*
 * The example network: where does a photograph have edges, and which way do
 * they run?
 */
#pragma once

#include <cstdint>
#include <span>

#include <nvdla/error.h>
#include <nvdla/image.h>
#include <nvdla/loadable.h>

namespace nvdla::examples
{

/** \brief Directions that the network looks for, a full turn in equal steps */
constexpr uint32_t edgeDirections = 8;

/** \brief Size of the pictures the network is made for */
struct EdgeNetworkSize {
	uint32_t width = 224;
	uint32_t height = 224;
};

/**
 * \brief Write the example network from code
 *
 * A colour picture (tensor "picture", A8B8G8R8, INT8) is convolved with eight
 * 3x3 compass filters on its luminance; a threshold is subtracted, ReLU leaves
 * what rises towards the filter's direction, and 2x2 max pooling gives the
 * tensor "edges" of half the size with one INT8 channel per direction.
 * Convolution and SDP are fused, PDP reads what they wrote.
 *
 * \param[in] size even width and height, each 16 to 256
 */
Result<Loadable> edgeNetwork(const EdgeNetworkSize &size);

/**
 * \brief Show the network's output: the direction is the hue, the strength the brightness
 * \param[in] desc the tensor "edges"
 * \param[in] elements its elements in N, C, H, W order
 */
Result<Image> edgePicture(const TensorDesc &desc, std::span<const std::byte> elements);

} /* namespace nvdla::examples */
