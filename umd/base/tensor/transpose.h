/* SPDX-License-Identifier: MIT */
/*
 * Transposes planes of channels to pixels with adjacent channels, and back. Packing and unpacking
 * feature cubes spends most of its time here.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla
{

/** \brief Bytes of the smallest piece of a pixel that these functions move: half an atom */
inline constexpr size_t transposeBytes = 16;

/**
 * \brief Transpose lines of channels to pixels with adjacent channels
 *
 * Reads \a pieceBytes / \a elementBytes lines of \a count elements, \a lineStride bytes apart,
 * and writes \a count blocks, \a pixelStride bytes apart: block w has element w of all lines.
 *
 * \param elementBytes 1 or 2
 * \param pieceBytes transposeBytes, or twice that
 */
void linesToPixels(size_t elementBytes, size_t pieceBytes, const std::byte *lines,
		   size_t lineStride, std::byte *pixels, size_t pixelStride, size_t count);

/** \brief The inverse of linesToPixels() */
void pixelsToLines(size_t elementBytes, size_t pieceBytes, const std::byte *pixels,
		   size_t pixelStride, std::byte *lines, size_t lineStride, size_t count);

} /* namespace nvdla */
