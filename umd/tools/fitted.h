/* SPDX-License-Identifier: MIT */
#pragma once

#include <nvdla/image.h>

namespace nvdla::tools
{

/** \return \a image scaled to the size of a model's input, in grey if the input has one channel */
inline Image fitted(const Image &image, uint32_t channels, uint32_t height, uint32_t width)
{
	const Image coloured = channels == 1 ? toGrey(image) : image;

	if (coloured.width == width && coloured.height == height)
		return coloured;
	return resize(coloured, width, height);
}

} /* namespace nvdla::tools */
