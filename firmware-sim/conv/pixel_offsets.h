/* SPDX-License-Identifier: MIT */
/*
 * Pixels of four bytes to INT8 where the input converter does nothing but subtract, as most
 * networks of INT8 want their pictures.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "conv/conv_op.h"
#include "conv/pixel_format.h"

namespace nvdla::sim
{

/** \brief What becomes of a pixel's four bytes: a number is added to each, and the sum is clipped
 */
struct PixelOffsets {
	static constexpr size_t kChannels = 4;
	static constexpr int kMost = 254; /* what two bytes add up to */

	std::array<uint8_t, kChannels> bytes; /**< of a pixel, in the order of its channels */
	uint8_t flip;			      /**< of a byte: its sign, if it has none */
	std::array<int16_t, kChannels> added; /**< to each channel then, kMost at most */

	/** \return nothing if the operation's pixels are others, or converted otherwise */
	static std::optional<PixelOffsets> of(const ConvOp &op, const PixelFormat &format);
};

/** \brief Convert \a count pixels */
void addOffsets(const PixelOffsets &offsets, const std::byte *pixels, size_t count, std::byte *out);

/** \brief addOffsets() to read */
void addOffsetsReference(const PixelOffsets &offsets, const std::byte *pixels, size_t count,
			 std::byte *out);

} /* namespace nvdla::sim */
