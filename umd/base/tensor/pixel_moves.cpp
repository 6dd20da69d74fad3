/* SPDX-License-Identifier: MIT */
/*
 * Moves a block of pixels at a time, channel by channel. A channel whose elements are contiguous is
 * moved directly, other channels through a buffer that stays in the first-level cache.
 */
#include "pixel_moves.h"

#include <cstring>

namespace nvdla
{

namespace
{

/* Pixels in a block; the last block of a line, with the rest, has fewer than twice as many. */
constexpr size_t blockPixels = 512;
constexpr size_t largestElement = 2;

using Buffer = std::array<std::byte, 2 * blockPixels * largestElement>;

/* A block of pixels: an array for each channel, and one for each place that has no channel. */
class Block
{
public:
	Block(uint32_t elementBytes, size_t pixels) : elementBytes_(elementBytes), pixels_(pixels)
	{
	}

	void read(const PixelPlane &plane, const std::byte *from)
	{
		std::array<std::byte *, maxPixelChannels> places{};

		if (plane.places == 1 && !plane.word) {
			channels_[plane.channel[0]] = from;
			return;
		}
		for (uint32_t place = 0; place < plane.places; place++) {
			const uint8_t channel = plane.channel[place];
			Buffer &buffer =
				channel == PixelPlane::absent ? kept_[place] : buffers_[channel];
			places[place] = buffer.data();
			if (channel != PixelPlane::absent)
				channels_[channel] = buffer.data();
		}
		if (plane.word)
			splitWords(plane.fields, plane.places, from, places.data(), pixels_);
		else
			splitPixels(elementBytes_, plane.places, from, places.data(), pixels_);
	}

	void write(const PixelPlane &plane, std::byte *to)
	{
		std::array<const std::byte *, maxPixelChannels> places{};

		if (plane.places == 1 && !plane.word) {
			std::memcpy(to, channels_[plane.channel[0]], pixels_ * elementBytes_);
			return;
		}
		if (plane.partial)
			keep(plane, to);
		for (uint32_t place = 0; place < plane.places; place++)
			places[place] = plane.channel[place] == PixelPlane::absent
						? kept_[place].data()
						: channels_[plane.channel[place]];
		if (plane.word)
			joinWords(plane.fields, plane.places, places.data(), to, pixels_);
		else
			joinPixels(elementBytes_, plane.places, places.data(), to, pixels_);
	}

private:
	/* Reads the destination's places without a channel, which write() must not change. */
	void keep(const PixelPlane &plane, const std::byte *from)
	{
		std::array<std::byte *, maxPixelChannels> places{};
		Buffer unused;

		for (uint32_t place = 0; place < plane.places; place++)
			places[place] = plane.channel[place] == PixelPlane::absent
						? kept_[place].data()
						: unused.data();
		splitPixels(elementBytes_, plane.places, from, places.data(), pixels_);
	}

	uint32_t elementBytes_;
	size_t pixels_;
	std::array<const std::byte *, maxPixelChannels> channels_{};
	std::array<Buffer, maxPixelChannels> buffers_;
	std::array<Buffer, maxPixelChannels> kept_;
};

/* \return true if no plane has gaps between its lines, so that all lines can be handled as one */
bool isDense(const PixelCounts &counts, const PixelPlanes &planes, uint32_t elementBytes)
{
	for (uint32_t i = 0; i < planes.count; i++)
		if (planes.plane[i].lineStride !=
		    counts.pixels * planes.plane[i].pixelBytes(elementBytes))
			return false;
	return true;
}

/* Image, line and pixel at which a block starts. */
struct PixelPosition {
	uint32_t image;
	uint32_t line;
	uint64_t pixel;

	uint64_t in(const PixelPlane &plane, uint32_t elementBytes) const
	{
		return plane.offset + image * plane.imageStride + line * plane.lineStride +
		       pixel * plane.pixelBytes(elementBytes);
	}
};

/* Calls visit(position, pixels) for all blocks of all lines. */
template<typename Visit>
void forEachBlock(const PixelCounts &counts, Visit visit)
{
	for (uint32_t image = 0; image < counts.images; image++)
		for (uint32_t line = 0; line < counts.lines; line++)
			for (uint64_t pixel = 0; pixel < counts.pixels;) {
				const uint64_t rest = counts.pixels - pixel;
				const uint64_t count = rest < 2 * blockPixels ? rest : blockPixels;
				visit(PixelPosition{ image, line, pixel }, count);
				pixel += count;
			}
}

} /* namespace */

bool movePixels(uint32_t elementBytes, PixelCounts counts, const PixelPlanes &from,
		const std::byte *fromMemory, const PixelPlanes &to, std::byte *toMemory)
{
	if (isDense(counts, from, elementBytes) && isDense(counts, to, elementBytes))
		counts = { counts.images, 1, counts.lines * counts.pixels };
	if (counts.pixels < minimumPixels)
		return false;

	forEachBlock(counts, [&](const PixelPosition &position, size_t count) {
		Block block(elementBytes, count);
		for (uint32_t i = 0; i < from.count; i++)
			block.read(from.plane[i],
				   fromMemory + position.in(from.plane[i], elementBytes));
		for (uint32_t i = 0; i < to.count; i++)
			block.write(to.plane[i], toMemory + position.in(to.plane[i], elementBytes));
	});
	return true;
}

bool combineChannels(const PixelCounts &counts, const PixelPlanes &planes, const std::byte *memory,
		     std::array<uint16_t, maxPixelChannels> &set)
{
	const uint64_t pixels = counts.lines * counts.pixels;

	if (pixels < minimumPixels)
		return false;
	set.fill(0);
	for (uint32_t image = 0; image < counts.images; image++) {
		for (uint32_t i = 0; i < planes.count; i++) {
			const PixelPlane &plane = planes.plane[i];
			std::array<uint16_t, maxPixelChannels> places{};
			combinePixels(plane.places,
				      memory + plane.offset + image * plane.imageStride, pixels,
				      places);
			for (uint32_t place = 0; place < plane.places; place++)
				set[plane.channel[place]] |= places[place];
		}
	}
	return true;
}

} /* namespace nvdla */
