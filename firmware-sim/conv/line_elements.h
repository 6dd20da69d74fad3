/* SPDX-License-Identifier: MIT */
/*
 * Places of the elements of a Winograd cube in the convolution buffer.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/elements.h"

namespace nvdla::sim
{

/**
 * \brief Layout of the elements of a Winograd cube
 *
 * An entry has a tile of four lines by four columns. Each position in it has 8 bytes of channels
 * (RTL of nvdlav1, NV_NVDLA_CSC_dl: dat_wg). Tiles of the same channels are side by side.
 */
class WinogradTile
{
public:
	static constexpr uint32_t kSide = 4;
	static constexpr uint32_t kElementBytes = 8;

	WinogradTile(Precision precision, uint32_t width) : precision_(precision), width_(width) {}

	/** \return channels in the 8 bytes of a position */
	uint32_t channels() const { return kElementBytes / elementBytes(precision_); }
	/** \return index of the entry that holds column \a x, channel \a c, counted from the first
	 * entry of the four lines */
	uint32_t entry(uint32_t x, uint32_t c) const
	{
		return c / channels() * (width_ / kSide) + x / kSide;
	}
	/** \return offset in bytes, in an entry, of line \a row, column \a x */
	static uint32_t byte(uint32_t row, uint32_t x)
	{
		return (row % kSide * kSide + x % kSide) * kElementBytes;
	}
	void put(const int16_t *elements, std::byte *out) const
	{
		narrowElements(std::span(elements, channels()), precision_, { out, kElementBytes });
	}

private:
	Precision precision_;
	uint32_t width_;
};

} /* namespace nvdla::sim */
