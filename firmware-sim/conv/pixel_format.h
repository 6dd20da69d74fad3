/* SPDX-License-Identifier: MIT */
/* Pixel formats of image input: the place of each channel of a pixel in memory. */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvdla::sim
{

/** \brief Type of a channel in memory */
enum class PixelKind : uint8_t {
	Int8,
	Int16,
	Fp16,
	Packed10, /**< three channels of 10 bits and one of 2 in a 32-bit word */
};

/**
 * \brief One value of PIXEL_FORMAT
 *
 * Channels are numbered in the convolution's order: R, G, B, A or Y, U, V, A. \a place of a channel
 * is its lowest bit in the word for Packed10, else its index among the pixel's elements in memory,
 * plane 0 first.
 */
struct PixelFormat {
	PixelKind kind;
	uint8_t planes;
	uint8_t channels;
	std::array<uint8_t, 4> place;

	/** \return bytes of a channel's element; if packed, of the whole word */
	constexpr uint32_t elementBytes() const
	{
		return kind == PixelKind::Int8 ? 1 : kind == PixelKind::Packed10 ? 4 : 2;
	}
	/** \return the plane that has \a channel */
	constexpr uint32_t plane(uint32_t channel) const
	{
		return planes == 2 && place[channel] > 0 ? 1 : 0;
	}
	/** \return index of \a channel in its plane's pixel; not for Packed10 */
	constexpr uint32_t element(uint32_t channel) const
	{
		return place[channel] - plane(channel);
	}
	/** \return bytes from one pixel to the next in \a plane */
	constexpr uint32_t pixelBytes(uint32_t plane) const
	{
		if (planes == 2)
			return plane == 0 ? elementBytes() : 2 * elementBytes();
		return kind == PixelKind::Packed10 ? 4 : channels * elementBytes();
	}
};

/** \return the format of a PIXEL_FORMAT value, nullptr if it is reserved */
const PixelFormat *pixelFormat(uint32_t value);

/**
 * \brief Read one channel of a pixel, as the number that the converter takes
 *
 * 10-bit channels and 2-bit alpha are in the top bits of 16.
 *
 * \param plane0 first byte of the pixel in plane 0
 * \param plane1 first byte of the pixel in plane 1; not used by one-plane formats
 * \return 8 or 16 bits, zero-extended
 */
uint16_t pixelChannel(const PixelFormat &format, uint32_t channel, const std::byte *plane0,
		      const std::byte *plane1);

} /* namespace nvdla::sim */
