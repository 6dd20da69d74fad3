/* SPDX-License-Identifier: MIT */
/*
 * Moves pixels between two layouts, in each of which channels may be in planes, beside each other
 * in any order, or bit fields of words.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pixel_kernels.h"

namespace nvdla
{

/** \brief A plane: an array of pixels in which one or more channels lie beside each other */
struct PixelPlane {
	/** \brief Value in \a channel for a place without a channel */
	static constexpr uint8_t absent = maxPixelChannels;

	/** \return bytes from pixel to pixel */
	uint32_t pixelBytes(uint32_t elementBytes) const
	{
		return word ? sizeof(uint32_t) : places * elementBytes;
	}

	uint64_t offset = 0; /**< offset of the first pixel, in bytes */
	uint64_t imageStride = 0;
	uint64_t lineStride = 0;
	uint32_t places = 0; /**< number of elements (or bit fields) of a pixel: 1 to 4 */
	std::array<uint8_t, maxPixelChannels> channel{ absent, absent, absent, absent };
	/** \brief True if some places have no channel; always false if word is true */
	bool partial = false;
	/** \brief True if each pixel is a 32-bit word, and each place a bit field of it */
	bool word = false;
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
	uint64_t pixels; /**< number of pixels in a line */
};

/**
 * \brief Copy all channels of \a from to \a to
 *
 * Places of \a to without a channel, and bits of words between fields, do not change. Elements for
 * words must fit their bit fields.
 *
 * \param elementBytes 1 or 2; always 2 if pixels are words
 * \return false, with nothing done, for lines of fewer than minimumPixels contiguous pixels
 */
bool movePixels(uint32_t elementBytes, PixelCounts counts, const PixelPlanes &from,
		const std::byte *fromMemory, const PixelPlanes &to, std::byte *toMemory);

/**
 * \brief Find the bits that are set in any pixel
 *
 * \param planes planes of elements of 2 bytes, with lines that follow each other without gaps
 * \param set for each channel, the bitwise or of all its values
 * \return false, with nothing done, in the cases in which movePixels() returns false
 */
bool combineChannels(const PixelCounts &counts, const PixelPlanes &planes, const std::byte *memory,
		     std::array<uint16_t, maxPixelChannels> &set);

} /* namespace nvdla */
