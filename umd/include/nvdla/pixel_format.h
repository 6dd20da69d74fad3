/* SPDX-License-Identifier: MIT */
/* Memory layouts of tensors by name, and descriptions of the pixel formats among them. */
#pragma once

#include <array>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace nvdla
{

/**
 * \brief Memory layout of a tensor; the values are those of loadables
 *
 * 0 to 35 are the pixel formats of the table "Pixel formats and valid setting" in the
 * document "In-memory data formats", with its names.
 */
enum class PixelFormat : uint8_t {
	R8 = 0,
	R10 = 1,
	R12 = 2,
	R16 = 3,
	R16I = 4,
	R16F = 5,
	A16B16G16R16 = 6,
	X16B16G16R16 = 7,
	A16B16G16R16F = 8,
	A16Y16U16V16 = 9,
	V16U16Y16A16 = 10,
	A16Y16U16V16F = 11,
	A8B8G8R8 = 12,
	A8R8G8B8 = 13,
	B8G8R8A8 = 14,
	R8G8B8A8 = 15,
	X8B8G8R8 = 16,
	X8R8G8B8 = 17,
	B8G8R8X8 = 18,
	R8G8B8X8 = 19,
	A2B10G10R10 = 20,
	A2R10G10B10 = 21,
	B10G10R10A2 = 22,
	R10G10B10A2 = 23,
	A2Y10U10V10 = 24,
	V10U10Y10A2 = 25,
	A8Y8U8V8 = 26,
	V8U8Y8A8 = 27,
	Y8U8V8N444 = 28,
	Y8V8U8N444 = 29,
	Y10U10V10N444 = 30,
	Y10V10U10N444 = 31,
	Y12U12V12N444 = 32,
	Y12V12U12N444 = 33,
	Y16U16V16N444 = 34,
	Y16V16U16N444 = 35,
	Feature = 36,	/**< atoms of 32 bytes: 32 INT8 or 16 INT16/FP16 channels */
	FeatureX8 = 37, /**< atoms of 8 bytes, the layout of nv_small */
	/** \brief Extension: elements one after the other in the model's order, for host steps
	 */
	Plain = 64,
};

/** \return bytes of an atom of feature data; 0 for other formats */
constexpr uint32_t atomBytes(PixelFormat format)
{
	return format == PixelFormat::Feature ? 32 : format == PixelFormat::FeatureX8 ? 8 : 0;
}

/** \return whether elements lie in atoms of channels, as engines write them */
constexpr bool isFeature(PixelFormat format)
{
	return atomBytes(format) > 0;
}

/** \brief Representation of a pixel's channels */
enum class PixelKind : uint8_t {
	Int8,
	Int16, /**< 16 bits for each channel, also for formats of 10 and 12 bits */
	Half,
	Packed10, /**< three channels of 10 bits and one of 2 in a little-endian 32-bit word */
};

/**
 * \brief One pixel format
 *
 * Channels are numbered as the convolution sees them: R, G, B, A or Y, U, V, A; an X is an unused
 * A. Names give the channels from the most significant end of the pixel down; in formats of two
 * planes, a name with U before V has V at the lower address.
 */
struct PixelFormatInfo {
	PixelFormat format;
	const char *name; /**< name as in the in-memory format document, without "T_" */
	PixelKind kind;
	uint8_t planes;	  /**< 2: Y, and U alternating with V, at full resolution */
	uint8_t channels; /**< number of channels of a pixel */
	/**
	 * Packed10: the channel's lowest bit in the word. Else its place among the pixel's
	 * elements, those of plane 0 first.
	 */
	std::array<uint8_t, 4> place;

	/** \return bytes of a channel, or of the whole word for Packed10 */
	constexpr uint32_t elementBytes() const
	{
		return kind == PixelKind::Int8 ? 1 : kind == PixelKind::Packed10 ? 4 : 2;
	}

	/** \return bytes from one pixel to the next in \a plane, 0 or 1 */
	constexpr uint32_t pixelBytes(uint32_t plane = 0) const
	{
		if (planes == 2)
			return plane == 0 ? elementBytes() : 2 * elementBytes();
		return kind == PixelKind::Packed10 ? 4 : channels * elementBytes();
	}

	/** \return bits of \a channel in a packed word */
	static constexpr uint32_t packedBits(uint32_t channel) { return channel == 3 ? 2 : 10; }
};

/** \return description of \a format, nullptr if it is no pixel format */
const PixelFormatInfo *pixelFormatInfo(PixelFormat format);

/** \return name of a layout as in PixelFormatInfo, or "format <n>" */
std::string pixelFormatName(PixelFormat format);

} /* namespace nvdla */

#pragma GCC visibility pop
