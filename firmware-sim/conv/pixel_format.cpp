/* SPDX-License-Identifier: MIT */
/*
 * The table of pixel formats. Names list the channels from the most significant end
 * of a word down, so a semi-planar format with U before V in its name stores V first.
 */
#include "conv/pixel_format.h"

#include <cstring>
#include <iterator>

#include <nvdla/hw/registers.h>

namespace nvdla::sim
{

namespace
{

#define FORMAT(name) NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_FORMAT__T_##name

using Place = std::array<uint8_t, 4>;

constexpr Place kOne = { 0 };
constexpr Place kRgba = { 0, 1, 2, 3 };
constexpr Place kBgra = { 2, 1, 0, 3 };
constexpr Place kAbgr = { 3, 2, 1, 0 };
constexpr Place kArgb = { 1, 2, 3, 0 };
constexpr Place kYuv = { 0, 1, 2 };
constexpr Place kYvu = { 0, 2, 1 };

constexpr PixelFormat single(PixelKind kind)
{
	return { kind, 1, 1, kOne };
}

constexpr PixelFormat quad(PixelKind kind, Place place)
{
	return { kind, 1, 4, place };
}

constexpr PixelFormat semiPlanar(PixelKind kind, Place place)
{
	return { kind, 2, 3, place };
}

constexpr size_t kFormats = FORMAT(Y16___V16U16_N444) + 1;

constexpr std::array<PixelFormat, kFormats> makeTable()
{
	using enum PixelKind;
	std::array<PixelFormat, kFormats> table{};

	table[FORMAT(R8)] = single(Int8);
	table[FORMAT(R10)] = single(Int16);
	table[FORMAT(R12)] = single(Int16);
	table[FORMAT(R16)] = single(Int16);
	table[FORMAT(R16_I)] = single(Int16);
	table[FORMAT(R16_F)] = single(Fp16);
	table[FORMAT(A16B16G16R16)] = quad(Int16, kRgba);
	table[FORMAT(X16B16G16R16)] = quad(Int16, kRgba);
	table[FORMAT(A16B16G16R16_F)] = quad(Fp16, kRgba);
	table[FORMAT(A16Y16U16V16)] = quad(Int16, kBgra);
	table[FORMAT(V16U16Y16A16)] = quad(Int16, kArgb);
	table[FORMAT(A16Y16U16V16_F)] = quad(Fp16, kBgra);
	table[FORMAT(A8B8G8R8)] = quad(Int8, kRgba);
	table[FORMAT(A8R8G8B8)] = quad(Int8, kBgra);
	table[FORMAT(B8G8R8A8)] = quad(Int8, kArgb);
	table[FORMAT(R8G8B8A8)] = quad(Int8, kAbgr);
	table[FORMAT(X8B8G8R8)] = quad(Int8, kRgba);
	table[FORMAT(X8R8G8B8)] = quad(Int8, kBgra);
	table[FORMAT(B8G8R8X8)] = quad(Int8, kArgb);
	table[FORMAT(R8G8B8X8)] = quad(Int8, kAbgr);
	table[FORMAT(A2B10G10R10)] = quad(Packed10, { 0, 10, 20, 30 });
	table[FORMAT(A2R10G10B10)] = quad(Packed10, { 20, 10, 0, 30 });
	table[FORMAT(B10G10R10A2)] = quad(Packed10, { 2, 12, 22, 0 });
	table[FORMAT(R10G10B10A2)] = quad(Packed10, { 22, 12, 2, 0 });
	table[FORMAT(A2Y10U10V10)] = quad(Packed10, { 20, 10, 0, 30 });
	table[FORMAT(V10U10Y10A2)] = quad(Packed10, { 2, 12, 22, 0 });
	table[FORMAT(A8Y8U8V8)] = quad(Int8, kBgra);
	table[FORMAT(V8U8Y8A8)] = quad(Int8, kArgb);
	table[FORMAT(Y8___U8V8_N444)] = semiPlanar(Int8, kYvu);
	table[FORMAT(Y8___V8U8_N444)] = semiPlanar(Int8, kYuv);
	table[FORMAT(Y10___U10V10_N444)] = semiPlanar(Int16, kYvu);
	table[FORMAT(Y10___V10U10_N444)] = semiPlanar(Int16, kYuv);
	table[FORMAT(Y12___U12V12_N444)] = semiPlanar(Int16, kYvu);
	table[FORMAT(Y12___V12U12_N444)] = semiPlanar(Int16, kYuv);
	table[FORMAT(Y16___U16V16_N444)] = semiPlanar(Int16, kYvu);
	table[FORMAT(Y16___V16U16_N444)] = semiPlanar(Int16, kYuv);
	return table;
}

constexpr std::array<PixelFormat, kFormats> kTable = makeTable();

/* Shifts that move a 10-bit and a 2-bit channel to the top of 16 bits. */
constexpr unsigned kShift10 = 6;
constexpr unsigned kShift2 = 14;

uint16_t packedChannel(const PixelFormat &format, uint32_t channel, const std::byte *word)
{
	uint32_t value;

	std::memcpy(&value, word, sizeof(value));
	value >>= format.place[channel];
	if (channel == 3)
		return static_cast<uint16_t>((value & 0x3) << kShift2);
	return static_cast<uint16_t>((value & 0x3ff) << kShift10);
}

} /* namespace */

const PixelFormat *pixelFormat(uint32_t value)
{
	return value < kTable.size() ? &kTable[value] : nullptr;
}

uint16_t pixelChannel(const PixelFormat &format, uint32_t channel, const std::byte *plane0,
		      const std::byte *plane1)
{
	if (format.kind == PixelKind::Packed10)
		return packedChannel(format, channel, plane0);

	const std::byte *pixel = format.plane(channel) == 1 ? plane1 : plane0;
	const uint32_t element = format.element(channel);

	if (format.kind == PixelKind::Int8)
		return std::to_integer<uint16_t>(pixel[element]);

	uint16_t value;
	std::memcpy(&value, pixel + 2 * element, sizeof(value));
	return value;
}

} /* namespace nvdla::sim */
