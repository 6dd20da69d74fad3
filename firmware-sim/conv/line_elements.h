/* SPDX-License-Identifier: MIT */
/*
 * Elements of buffered lines: bytes in the convolution buffer, 16-bit numbers in the MAC cells.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/stream.h"

namespace nvdla::sim
{

/** \brief Converts buffered bytes to numbers: INT8 is sign-extended, FP16 keeps its
 * bits */
inline void widen(Precision precision, const std::byte *bytes, std::span<int16_t> out)
{
	if (precision == Precision::Int8) {
		for (size_t i = 0; i < out.size(); i++)
			out[i] = static_cast<int8_t>(bytes[i]);
		return;
	}
	if (!out.empty())
		std::memcpy(out.data(), bytes, out.size_bytes());
}

/** \brief Converts numbers to buffered bytes */
inline void narrow(Precision precision, std::span<const int16_t> elements, std::byte *out)
{
	if (precision == Precision::Int8) {
		for (size_t i = 0; i < elements.size(); i++)
			out[i] = static_cast<std::byte>(elements[i]);
		return;
	}
	if (!elements.empty())
		std::memcpy(out, elements.data(), elements.size_bytes());
}

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

	/** \return channels of an element */
	uint32_t channels() const { return kElementBytes / elementBytes(precision_); }
	/** \return index of the entry that holds column \a x, channel \a c, counted from the first
	 * entry of the four lines */
	uint32_t entry(uint32_t x, uint32_t c) const
	{
		return c / channels() * (width_ / kSide) + x / kSide;
	}
	/** \return offset in its entry of the first byte of line \a row, column \a x */
	static uint32_t byte(uint32_t row, uint32_t x)
	{
		return (row % kSide * kSide + x % kSide) * kElementBytes;
	}
	void put(const int16_t *elements, std::byte *out) const
	{
		narrow(precision_, { elements, channels() }, out);
	}

private:
	Precision precision_;
	uint32_t width_;
};

} /* namespace nvdla::sim */
