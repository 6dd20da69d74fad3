/* SPDX-License-Identifier: MIT */
/*
 * Where the elements of a tensor lie; the rules of "In-memory data formats".
 */
#pragma once

#include <nvdla/tensor.h>

namespace nvdla
{

/** \brief A tensor's layout, reduced to what address arithmetic needs */
struct Layout {
	uint32_t atomChannels; /**< channels that lie beside each other */
	uint32_t pixelBytes;   /**< bytes from one pixel of a line to the next */
	uint32_t elementBytes;

	/**
	 * \brief Work out the layout and check that all elements lie in the tensor
	 * \return Unsupported for a layout this library does not pack,
	 * InvalidArgument for a shape or stride that cannot be
	 */
	static Result<Layout> of(const TensorDesc &desc);

	/** \return bytes from the image's start to channel \a c of its first pixel */
	uint64_t channelOffset(const TensorDesc &desc, uint32_t c) const
	{
		return uint64_t{ c / atomChannels } * desc.surfaceStride +
		       (c % atomChannels) * elementBytes;
	}
};

} /* namespace nvdla */
