/* SPDX-License-Identifier: MIT */
/*
 * Chooses the fast code for a layout. Between planes and feature cubes, half atoms (16 channels of
 * INT8, or 8 channels of two bytes) are transposed in vectors. Channels that are adjacent in both
 * layouts are copied.
 */
#include <algorithm>
#include <cstring>

#include "packing.h"
#include "transpose.h"

namespace nvdla
{

namespace
{

/* Some pixels of some channels. plain and packed are the byte offsets of the first element, in the
 * plain elements and in the tensor; strides are in bytes. */
struct Piece {
	uint64_t plain, packed;
	uint64_t channelStride; /* distance from channel to channel in the plain elements */
	uint64_t pixelStride;	/* distance from pixel to pixel in the plain elements */
	uint64_t pixels;
	uint64_t bytes; /* bytes of the channels in one pixel of the tensor */
};

/* \return number of pixels that can be handled as one line: all of a surface if its lines are
 * contiguous, otherwise the pixels of a line. */
uint64_t pixelsOfRun(const TensorDesc &desc, uint32_t pixelStep)
{
	const bool whole = desc.h == 1 || desc.lineStride == uint64_t{ desc.w } * pixelStep;

	return whole ? uint64_t{ desc.h } * desc.w : desc.w;
}

/* Calls move(piece) for \a count channels from \a c on, in all images. */
template<typename Move>
void forEachRun(const TensorDesc &desc, const Layout &layout, ElementOrder order, uint32_t c,
		uint32_t count, Move move)
{
	const uint64_t bytes = elementBytes(desc.type);
	const uint64_t plane = uint64_t{ desc.h } * desc.w;
	const Layout::Channel place = layout.channel(desc, c);
	const bool nchw = order == ElementOrder::Nchw;
	Piece piece{};

	piece.channelStride = (nchw ? plane : 1) * bytes;
	piece.pixelStride = (nchw ? 1 : desc.c) * bytes;
	piece.pixels = pixelsOfRun(desc, place.pixelStep);
	piece.bytes = count * bytes;
	for (uint32_t n = 0; n < desc.n; n++) {
		piece.packed = n * (desc.size / desc.n) + place.offset();
		for (uint64_t pixel = 0; pixel < plane; pixel += piece.pixels) {
			piece.plain = (nchw ? (uint64_t{ n } * desc.c + c) * plane + pixel
					    : (n * plane + pixel) * desc.c + c) *
				      bytes;
			move(piece);
			piece.packed += place.lineStride;
		}
	}
}

/* Calls forEachRun() for whole atoms as long as there are enough channels, then for half an atom.
 * Returns the number of channels that these calls cover. */
template<typename Move>
uint32_t forEachHalfAtom(const TensorDesc &desc, const Layout &layout, Move move)
{
	const auto half = static_cast<uint32_t>(transposeBytes / elementBytes(desc.type));
	uint32_t c = 0;

	if (!layout.feature() || layout.atomChannels() != 2 * half)
		return 0;
	while (c + half <= desc.c) {
		const uint32_t step = c + 2 * half <= desc.c ? 2 * half : half;
		forEachRun(desc, layout, ElementOrder::Nchw, c, step, move);
		c += step;
	}
	return c;
}

/*
 * Returns whether elements that are adjacent in the tensor are also adjacent, in the same order, in
 * the plain array. With a single channel or a single pixel, both orders of the plain array are
 * alike; otherwise only one order can fit.
 */
bool beside(const TensorDesc &desc, const Layout &layout, ElementOrder order)
{
	const uint32_t atom = std::min(layout.atomChannels(), desc.c);
	const bool single = desc.c == 1 || (desc.h == 1 && desc.w == 1);

	if (layout.packed() || layout.twoPlanes())
		return false;
	if (!single && (order == ElementOrder::Nchw) != (layout.atomChannels() == 1))
		return false;
	for (uint32_t c = 0; c < atom; c++)
		if (layout.channel(desc, c).inPixel != c * elementBytes(desc.type))
			return false;
	return true;
}

template<typename Move>
uint32_t forEachAtom(const TensorDesc &desc, const Layout &layout, ElementOrder order, Move move)
{
	for (uint32_t c = 0; c < desc.c; c += layout.atomChannels())
		forEachRun(desc, layout, order, c, std::min(layout.atomChannels(), desc.c - c),
			   move);
	return desc.c;
}

template<size_t bytes>
void copyEach(const std::byte *from, size_t fromStep, std::byte *to, size_t toStep, size_t count)
{
	for (size_t i = 0; i < count; i++, from += fromStep, to += toStep)
		std::memcpy(to, from, bytes);
}

/* Copies pieces of \a bytes bytes. Sizes of an atom and of few channels are constants in the code,
 * which saves a call of memcpy() for each piece. */
void copyPieces(const std::byte *from, size_t fromStep, std::byte *to, size_t toStep, size_t bytes,
		size_t count)
{
	if (fromStep == bytes && toStep == bytes) {
		std::memcpy(to, from, bytes * count);
		return;
	}
	switch (bytes) {
	case 1:
		copyEach<1>(from, fromStep, to, toStep, count);
		break;
	case 2:
		copyEach<2>(from, fromStep, to, toStep, count);
		break;
	case 3:
		copyEach<3>(from, fromStep, to, toStep, count);
		break;
	case 6:
		copyEach<6>(from, fromStep, to, toStep, count);
		break;
	case 32:
		copyEach<32>(from, fromStep, to, toStep, count);
		break;
	default:
		for (size_t i = 0; i < count; i++, from += fromStep, to += toStep)
			std::memcpy(to, from, bytes);
	}
}

} /* namespace */

uint32_t packFast(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		  std::span<const std::byte> elements, std::span<std::byte> tensor)
{
	const size_t atom = layout.atomBytes();
	auto transpose = [&](const Piece &piece) {
		linesToPixels(elementBytes(desc.type), piece.bytes, &elements[piece.plain],
			      piece.channelStride, &tensor[piece.packed], atom, piece.pixels);
	};
	auto copy = [&](const Piece &piece) {
		copyPieces(&elements[piece.plain], piece.pixelStride, &tensor[piece.packed], atom,
			   piece.bytes, piece.pixels);
	};

	if (beside(desc, layout, order))
		return forEachAtom(desc, layout, order, copy);
	if (packPixels(desc, layout, order, elements, tensor))
		return desc.c;
	return order == ElementOrder::Nchw ? forEachHalfAtom(desc, layout, transpose) : 0;
}

uint32_t unpackFast(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		    std::span<const std::byte> tensor, std::span<std::byte> elements)
{
	const size_t atom = layout.atomBytes();
	auto transpose = [&](const Piece &piece) {
		pixelsToLines(elementBytes(desc.type), piece.bytes, &tensor[piece.packed], atom,
			      &elements[piece.plain], piece.channelStride, piece.pixels);
	};
	auto copy = [&](const Piece &piece) {
		copyPieces(&tensor[piece.packed], atom, &elements[piece.plain], piece.pixelStride,
			   piece.bytes, piece.pixels);
	};

	if (beside(desc, layout, order))
		return forEachAtom(desc, layout, order, copy);
	if (unpackPixels(desc, layout, order, tensor, elements))
		return desc.c;
	return order == ElementOrder::Nchw ? forEachHalfAtom(desc, layout, transpose) : 0;
}

} /* namespace nvdla */
