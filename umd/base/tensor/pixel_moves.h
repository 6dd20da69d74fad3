/* SPDX-License-Identifier: MIT */
/*
 * Moves pixels between two layouts of channels: planes, adjacent channels in any order, fields of
 * words.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pixel_kernels.h"

namespace nvdla
{

/** \brief Channels that lie beside each other in every pixel */
struct PixelPlane {
	/** \brief Marks a place without a channel */
	static constexpr uint8_t absent = maxPixelChannels;

	/** \return bytes from pixel to pixel */
	uint32_t pixelBytes(uint32_t elementBytes) const
	{
		return word ? sizeof(uint32_t) : places * elementBytes;
	}

	uint64_t offset = 0; /**< offset of the first pixel, in bytes */
	uint64_t imageStride = 0;
	uint64_t lineStride = 0;
	uint32_t places = 0; /**< elements, or fields, of a pixel: 1 to 4 */
	std::array<uint8_t, maxPixelChannels> channel{ absent, absent, absent, absent };
	bool partial = false; /**< some places are absent; never true if word is */
	bool word = false;    /**< each pixel is a 32-bit word, each place a field of it */
	PixelFields fields;
};

/** \brief All planes of a picture; no channel is in two of them */
struct PixelPlanes {
	uint32_t count = 0;
	std::array<PixelPlane, maxPixelChannels> plane{};

	/** \return the next plane, to be filled in */
	PixelPlane &add() { return plane[count++]; }
};

/** \brief Numbers of images, lines and pixels */
struct PixelCounts {
	uint32_t images;
	uint32_t lines;
	uint64_t pixels; /**< pixels of a line */
};

/**
 * \brief Move all channels of \a from
 *
 * Places of \a to without a channel, and bits of words between fields, do not change.
 * Values for words must fit their fields.
 *
 * \param elementBytes 1, or 2; 2 with words
 * \return false, with nothing done, for lines of fewer than minimumPixels contiguous pixels
 */
bool movePixels(uint32_t elementBytes, PixelCounts counts, const PixelPlanes &from,
		const std::byte *fromMemory, const PixelPlanes &to, std::byte *toMemory);

/**
 * \brief Find the bits that are set in any pixel
 *
 * \param planes of elements of 2 bytes; lines follow each other without gaps
 * \param set for each channel, the bitwise or of all its values
 * \return as movePixels()
 */
bool combineChannels(const PixelCounts &counts, const PixelPlanes &planes, const std::byte *memory,
		     std::array<uint16_t, maxPixelChannels> &set);

} /* namespace nvdla */
