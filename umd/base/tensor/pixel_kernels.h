/* SPDX-License-Identifier: MIT */
/*
 * Splits pixels with adjacent channels into separate channels, and joins them.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvdla
{

/** \brief Maximum number of channels of a pixel */
inline constexpr uint32_t maxPixelChannels = 4;

/** \brief Smallest number of pixels for a call of these functions: the lanes of one vector */
inline constexpr size_t minimumPixels = 16;

/** \brief Bit fields of a 32-bit word: the lowest bit and the width of each */
struct PixelFields {
	std::array<uint8_t, maxPixelChannels> shift{};
	std::array<uint8_t, maxPixelChannels> bits{};
};

/**
 * \brief Copy the channels of pixels to separate arrays
 *
 * \param elementBytes 1 or 2
 * \param places elements of a pixel, 2 to 4
 * \param channels for each place of a pixel, the array for its \a count elements
 */
void splitPixels(uint32_t elementBytes, uint32_t places, const std::byte *pixels,
		 std::byte *const *channels, size_t count);

/** \brief The inverse of splitPixels() */
void joinPixels(uint32_t elementBytes, uint32_t places, const std::byte *const *channels,
		std::byte *pixels, size_t count);

/** \brief splitPixels() for pixels that are words with bit fields; the elements have 2 bytes */
void splitWords(const PixelFields &fields, uint32_t places, const std::byte *words,
		std::byte *const *channels, size_t count);

/** \brief The inverse of splitWords(). Bits of words that are in no field do not change. Elements
 * must fit their fields */
void joinWords(const PixelFields &fields, uint32_t places, const std::byte *const *channels,
	       std::byte *words, size_t count);

/**
 * \brief Find the bits that are set in elements of 2 bytes
 *
 * \param set one word for each place of a pixel; every bit that is set in an element of that place
 * is set in the word, too
 */
void combinePixels(uint32_t places, const std::byte *pixels, size_t count,
		   std::array<uint16_t, maxPixelChannels> &set);

} /* namespace nvdla */
