/* SPDX-License-Identifier: MIT */
#include <nvdla/pixel_format.h>

#include <iterator>

#include <fmt/core.h>

namespace nvdla
{

namespace
{

using Place = std::array<uint8_t, 4>;

/* Places of R, G, B, A (or Y, U, V, A) in memory, counted from the lowest byte. The names list the
 * channels from the highest byte. */
constexpr Place abgr = { 0, 1, 2, 3 };
constexpr Place argb = { 2, 1, 0, 3 };
constexpr Place bgra = { 1, 2, 3, 0 };
constexpr Place rgba = { 3, 2, 1, 0 };
constexpr Place ayuv = argb;
constexpr Place vuya = bgra;
constexpr Place one = { 0 };
/* The lowest bit of each channel in a 32-bit word. */
constexpr Place a2bgr = { 0, 10, 20, 30 };
constexpr Place a2rgb = { 20, 10, 0, 30 };
constexpr Place bgra2 = { 2, 12, 22, 0 };
constexpr Place rgba2 = { 22, 12, 2, 0 };
/* Formats of two planes: Y comes first, then V and U, which alternate in the second plane. */
constexpr Place vThenU = { 0, 2, 1 };
constexpr Place uThenV = { 0, 1, 2 };

using enum PixelFormat;
using enum PixelKind;

/* Indexed by PixelFormat, whose order is that of the table in NVDLA's in-memory format document. */
constexpr PixelFormatInfo table[] = {
	{ R8, "R8", Int8, 1, 1, one },
	{ R10, "R10", Int16, 1, 1, one },
	{ R12, "R12", Int16, 1, 1, one },
	{ R16, "R16", Int16, 1, 1, one },
	{ R16I, "R16_I", Int16, 1, 1, one },
	{ R16F, "R16_F", Half, 1, 1, one },
	{ A16B16G16R16, "A16B16G16R16", Int16, 1, 4, abgr },
	{ X16B16G16R16, "X16B16G16R16", Int16, 1, 4, abgr },
	{ A16B16G16R16F, "A16B16G16R16_F", Half, 1, 4, abgr },
	{ A16Y16U16V16, "A16Y16U16V16", Int16, 1, 4, ayuv },
	{ V16U16Y16A16, "V16U16Y16A16", Int16, 1, 4, vuya },
	{ A16Y16U16V16F, "A16Y16U16V16_F", Half, 1, 4, ayuv },
	{ A8B8G8R8, "A8B8G8R8", Int8, 1, 4, abgr },
	{ A8R8G8B8, "A8R8G8B8", Int8, 1, 4, argb },
	{ B8G8R8A8, "B8G8R8A8", Int8, 1, 4, bgra },
	{ R8G8B8A8, "R8G8B8A8", Int8, 1, 4, rgba },
	{ X8B8G8R8, "X8B8G8R8", Int8, 1, 4, abgr },
	{ X8R8G8B8, "X8R8G8B8", Int8, 1, 4, argb },
	{ B8G8R8X8, "B8G8R8X8", Int8, 1, 4, bgra },
	{ R8G8B8X8, "R8G8B8X8", Int8, 1, 4, rgba },
	{ A2B10G10R10, "A2B10G10R10", Packed10, 1, 4, a2bgr },
	{ A2R10G10B10, "A2R10G10B10", Packed10, 1, 4, a2rgb },
	{ B10G10R10A2, "B10G10R10A2", Packed10, 1, 4, bgra2 },
	{ R10G10B10A2, "R10G10B10A2", Packed10, 1, 4, rgba2 },
	{ A2Y10U10V10, "A2Y10U10V10", Packed10, 1, 4, a2rgb },
	{ V10U10Y10A2, "V10U10Y10A2", Packed10, 1, 4, bgra2 },
	{ A8Y8U8V8, "A8Y8U8V8", Int8, 1, 4, ayuv },
	{ V8U8Y8A8, "V8U8Y8A8", Int8, 1, 4, vuya },
	{ Y8U8V8N444, "Y8___U8V8_N444", Int8, 2, 3, vThenU },
	{ Y8V8U8N444, "Y8___V8U8_N444", Int8, 2, 3, uThenV },
	{ Y10U10V10N444, "Y10___U10V10_N444", Int16, 2, 3, vThenU },
	{ Y10V10U10N444, "Y10___V10U10_N444", Int16, 2, 3, uThenV },
	{ Y12U12V12N444, "Y12___U12V12_N444", Int16, 2, 3, vThenU },
	{ Y12V12U12N444, "Y12___V12U12_N444", Int16, 2, 3, uThenV },
	{ Y16U16V16N444, "Y16___U16V16_N444", Int16, 2, 3, vThenU },
	{ Y16V16U16N444, "Y16___V16U16_N444", Int16, 2, 3, uThenV },
};

constexpr bool inOrder()
{
	for (size_t i = 0; i < std::size(table); i++)
		if (static_cast<size_t>(table[i].format) != i)
			return false;
	return std::size(table) == static_cast<size_t>(Feature);
}
static_assert(inOrder());

} /* namespace */

const PixelFormatInfo *pixelFormatInfo(PixelFormat format)
{
	const auto index = static_cast<size_t>(format);

	return index < std::size(table) ? &table[index] : nullptr;
}

std::string pixelFormatName(PixelFormat format)
{
	if (const PixelFormatInfo *info = pixelFormatInfo(format))
		return info->name;
	if (format == PixelFormat::Feature)
		return "FEATURE";
	if (format == FeatureX8)
		return "FEATURE_X8";
	if (format == Plain)
		return "PLAIN";
	return fmt::format("format {}", static_cast<unsigned>(format));
}

} /* namespace nvdla */
