/* SPDX-License-Identifier: MIT */
/* Pictures as inputs and outputs of networks. */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief 8-bit picture; pixels row by row from the top, channels beside each other */
struct Image {
	uint32_t width = 0;
	uint32_t height = 0;
	uint32_t channels = 1; /**< 1 grey, 3 red green blue */
	std::vector<uint8_t> pixels;
};

/**
 * \brief Read a PGM (P5), PPM (P6), PNG or JPEG picture of at most 8192 x 8192 pixels
 *
 * The format is recognized by the contents, not by the name. Colours of a PNG with a gamma (gAMA)
 * are converted to sRGB; transparency is ignored. A JPEG that ends early is an error.
 */
Result<Image> readImage(const std::string &path);

/** \brief Like readImage(), from memory; \a name is used in errors */
Result<Image> decodeImage(std::span<const std::byte> bytes, const std::string &name);

/** \brief Make a PNG; \a name is used in errors */
Result<std::vector<std::byte>> encodePng(const Image &image, const std::string &name);

/** \brief Write a PNG */
Result<void> writePng(const std::string &path, const Image &image);

/**
 * \brief Cut the middle of the picture with the aspect ratio of \a width x \a height and scale it
 * to this size
 */
Image resize(const Image &image, uint32_t width, uint32_t height);

/** \return the luminance of a colour picture (ITU-R BT.601), or the grey picture itself */
Image toGrey(const Image &image);

/** \return the grey picture in each of three channels, or the colour picture itself */
Image toColours(const Image &image);

/** \brief Conversion of pixels, 0 to 255, to numbers: (pixel - mean) / normalize */
struct PixelScaling {
	std::array<float, 4> mean{}; /**< subtracted first, per channel */
	float normalize = 1.0f;	     /**< divisor, applied after the subtraction */

	bool operator==(const PixelScaling &) const = default;
};

/**
 * \brief Quantization for an INT8 picture tensor whose description has no quantization
 *
 * Unsigned elements are the pixels; the signed element 127 is a pixel of 255.
 */
constexpr Quantization defaultPixelQuantization(bool isUnsigned)
{
	return { isUnsigned ? 1.0 : 255.0 / 127.0, 0 };
}

/**
 * \brief Make the elements of an input tensor, in N, C, H, W order, from a picture
 *
 * Pixels become numbers by \a scaling, and the numbers become elements by desc.quantization. For an
 * INT8 tensor without a quantization \a scaling is ignored, and the elements have
 * defaultPixelQuantization(): the pixels' bytes if the tensor isUnsigned, otherwise floor(pixel *
 * 127 / 255 + 0.5), as in the first NVDLA runtime. A grey picture gives the same numbers to the
 * first three channels of the tensor; a fourth channel represents 0.
 *
 * \return InvalidArgument naming both sizes if the picture's width or height is not the tensor's,
 * or if the tensor has fewer channels than the picture, or more than four
 */
Result<std::vector<std::byte>> elementsFromImage(const TensorDesc &desc, const Image &image,
						 const PixelScaling &scaling = {});

} /* namespace nvdla */

#pragma GCC visibility pop
