/* SPDX-License-Identifier: MIT */
/*
 * Packs and unpacks pictures: describes both the plain array and the tensor as planes of pixels,
 * between which movePixels() copies.
 */
#include "packing.h"
#include "pixel_moves.h"

namespace nvdla
{

namespace
{

/* Returns the planes of plain elements: one for each channel, or one with all channels. */
PixelPlanes plainPlanes(const TensorDesc &desc, ElementOrder order)
{
	const bool nchw = order == ElementOrder::Nchw;
	const uint64_t bytes = elementBytes(desc.type);
	const uint32_t together = nchw ? 1 : desc.c;
	const uint64_t line = bytes * desc.w * together;
	PixelPlanes planes;

	for (uint32_t c = 0; c < desc.c; c += together) {
		PixelPlane &plane = planes.add();
		plane.offset = c * line * desc.h;
		plane.imageStride = bytes * desc.c * desc.h * desc.w;
		plane.lineStride = line;
		plane.places = together;
		for (uint32_t place = 0; place < together; place++)
			plane.channel[place] = static_cast<uint8_t>(c + place);
	}
	return planes;
}

/* Returns the plane of the tensor that has a channel. */
PixelPlane &planeOf(PixelPlanes &planes, const Layout::Channel &place)
{
	for (uint32_t i = 0; i < planes.count; i++)
		if (planes.plane[i].offset == place.surface)
			return planes.plane[i];
	return planes.add();
}

PixelPlanes tensorPlanes(const TensorDesc &desc, const Layout &layout)
{
	const auto bytes = static_cast<uint32_t>(elementBytes(desc.type));
	PixelPlanes planes;

	for (uint32_t c = 0; c < desc.c; c++) {
		const Layout::Channel place = layout.channel(desc, c);
		PixelPlane &plane = planeOf(planes, place);
		plane.offset = place.surface;
		plane.imageStride = desc.size / desc.n;
		plane.lineStride = place.lineStride;
		plane.word = layout.packed();
		plane.places = plane.word ? desc.c : place.pixelStep / bytes;

		const uint32_t at = plane.word ? c : place.inPixel / bytes;
		plane.channel[at] = static_cast<uint8_t>(c);
		plane.fields.shift[at] = static_cast<uint8_t>(place.shift);
		plane.fields.bits[at] = static_cast<uint8_t>(place.bits);
	}
	for (PixelPlane &plane : planes.plane)
		for (uint32_t place = 0; place < plane.places; place++)
			plane.partial |= plane.channel[place] == PixelPlane::absent;
	return planes;
}

/*
 * Returns whether a tensor has a pixel format, with at most as many channels as movePixels() takes.
 */
bool isPicture(const TensorDesc &desc, const Layout &layout)
{
	return !layout.feature() && desc.c <= maxPixelChannels;
}

PixelCounts countsOf(const TensorDesc &desc)
{
	return { desc.n, desc.h, desc.w };
}

} /* namespace */

bool packPixels(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		std::span<const std::byte> elements, std::span<std::byte> tensor)
{
	return isPicture(desc, layout) &&
	       movePixels(static_cast<uint32_t>(elementBytes(desc.type)), countsOf(desc),
			  plainPlanes(desc, order), elements.data(), tensorPlanes(desc, layout),
			  tensor.data());
}

bool unpackPixels(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		  std::span<const std::byte> tensor, std::span<std::byte> elements)
{
	return isPicture(desc, layout) &&
	       movePixels(static_cast<uint32_t>(elementBytes(desc.type)), countsOf(desc),
			  tensorPlanes(desc, layout), tensor.data(), plainPlanes(desc, order),
			  elements.data());
}

bool pixelsFit(const TensorDesc &desc, const Layout &layout, ElementOrder order,
	       std::span<const std::byte> elements)
{
	std::array<uint16_t, maxPixelChannels> set;

	if (!layout.packed() ||
	    !combineChannels(countsOf(desc), plainPlanes(desc, order), elements.data(), set))
		return false;
	for (uint32_t c = 0; c < desc.c; c++)
		if (set[c] >> layout.channel(desc, c).bits)
			return false;
	return true;
}

} /* namespace nvdla */
