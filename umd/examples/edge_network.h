/* SPDX-License-Identifier: MIT */
/*
 * The example network, which finds the edges in a photograph and their directions.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nvdla/core_geometry.h>
#include <nvdla/error.h>
#include <nvdla/image.h>
#include <nvdla/loadable.h>

namespace nvdla::examples
{

/** \brief Number of directions of edges that the network distinguishes: a full turn in equal
 * steps */
constexpr uint32_t edgeDirections = 8;

/** \brief Size, in pixels, of the pictures that the network takes */
struct EdgeNetworkSize {
	uint32_t width = 224;
	uint32_t height = 224;
};

/**
 * \brief Make the example network
 *
 * A colour picture (tensor "picture", A8B8G8R8, unsigned) is convolved with eight 3x3 compass
 * filters on its luminance. A threshold is subtracted. ReLU keeps edges that get brighter in the
 * filter's direction. A tone curve (look-up table) amplifies weak edges. 2x2 max pooling gives the
 * tensor "edges": each side is size / 2 - 1 long, and each direction has an INT8 channel. The
 * engines for convolution, SDP (ReLU, tone curve) and PDP (pooling) run at the same time: the data
 * between them never reach memory.
 *
 * \param[in] size even width and height, each 16 to 256
 * \param[in] core core to assemble for; Unsupported without look-up table (nv_small)
 */
Result<Loadable> edgeNetwork(const EdgeNetworkSize &size, const CoreGeometry &core = nvFull);

/**
 * \brief Make the bytes of the tensor "picture" from a photograph; the pixels stay as they are, 8
 * bits for each colour
 * \param[in] desc the tensor, of the photograph's width and height
 */
Result<std::vector<std::byte>> pictureTensor(const TensorDesc &desc, const Image &photo);

/**
 * \brief Draw the network's output: the hue shows the direction of an edge, the brightness its
 * strength
 * \param[in] desc the tensor "edges"
 * \param[in] elements its elements in N, C, H, W order
 */
Result<Image> edgePicture(const TensorDesc &desc, std::span<const std::byte> elements);

/** \return the photograph on the left, and on the right \a edges, scaled to the photograph's size;
 * \a edges has to be in colour */
Image besideEachOther(const Image &photo, const Image &edges);

} /* namespace nvdla::examples */
