/* SPDX-License-Identifier: MIT */
#include "packing.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "base/io/guarded.h"

namespace nvdla
{

namespace
{

Error sizeError(const TensorDesc &desc, const char *what, uint64_t have, uint64_t want)
{
	return Error{ ErrorCode::InvalidArgument, what, "tensor " + desc.describe(),
		      fmt::format("{} bytes given, {} needed", have, want) };
}

/*
 * Calls line(channel, packed, plain, step) for every line of every channel. packed: byte offset of
 * the line in the tensor; plain: index of the line's first element in the plain array; step:
 * distance in the plain array from one element of the line to the next, in elements. The lines of
 * adjacent channels come one after the other.
 */
template<typename Line>
void forEachLine(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		 uint32_t firstChannel, Line line)
{
	const uint64_t imageBytes = desc.size / desc.n;
	const bool nchw = order == ElementOrder::Nchw;
	auto visit = [&](uint32_t n, uint32_t h, uint32_t c) {
		const Layout::Channel place = layout.channel(desc, c);
		const uint64_t plain = nchw ? ((uint64_t{ n } * desc.c + c) * desc.h + h) * desc.w
					    : (uint64_t{ n } * desc.h + h) * desc.w * desc.c + c;
		line(place, n * imageBytes + place.offset() + uint64_t{ h } * place.lineStride,
		     plain, nchw ? 1 : desc.c);
	};

	for (uint32_t n = 0; n < desc.n; n++) {
		for (uint32_t c0 = firstChannel; c0 < desc.c;) {
			const uint32_t atom = layout.atomChannels();
			const uint32_t end = std::min((c0 / atom + 1) * atom, desc.c);
			for (uint32_t h = 0; h < desc.h; h++)
				for (uint32_t c = c0; c < end; c++)
					visit(n, h, c);
			c0 = end;
		}
	}
}

uint32_t mask(const Layout::Channel &place)
{
	return ((1U << place.bits) - 1) << place.shift;
}

void putBits(const Layout::Channel &place, const std::byte *element, std::byte *word)
{
	uint16_t value;
	uint32_t bits;

	std::memcpy(&value, element, sizeof(value));
	std::memcpy(&bits, word, sizeof(bits));
	bits = (bits & ~mask(place)) | (uint32_t{ value } << place.shift & mask(place));
	std::memcpy(word, &bits, sizeof(bits));
}

void getBits(const Layout::Channel &place, const std::byte *word, std::byte *element)
{
	uint32_t bits;

	std::memcpy(&bits, word, sizeof(bits));
	const auto value = static_cast<uint16_t>((bits & mask(place)) >> place.shift);
	std::memcpy(element, &value, sizeof(value));
}

/* Copies elements whose size is a constant, so that each copy is a single instruction. */
template<size_t bytes>
void copyElements(const std::byte *from, size_t fromStep, std::byte *to, size_t toStep,
		  uint32_t count)
{
	for (uint32_t i = 0; i < count; i++, from += fromStep, to += toStep)
		std::memcpy(to, from, bytes);
}

void copyLine(size_t bytes, const std::byte *from, size_t fromStep, std::byte *to, size_t toStep,
	      uint32_t count)
{
	if (bytes == 1)
		copyElements<1>(from, fromStep, to, toStep, count);
	else if (bytes == 2)
		copyElements<2>(from, fromStep, to, toStep, count);
	else if (bytes == 4)
		copyElements<4>(from, fromStep, to, toStep, count);
	else
		copyElements<8>(from, fromStep, to, toStep, count);
}

/* Checks that every element of a packed format fits the bits of its channel. */
Result<void> checkBits(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		       std::span<const std::byte> elements)
{
	Result<void> result;

	if (!layout.packed() || pixelsFit(desc, layout, order, elements))
		return result;
	forEachLine(desc, layout, order, 0,
		    [&](const Layout::Channel &place, uint64_t, uint64_t plain, uint64_t step) {
			    for (uint32_t w = 0; w < desc.w; w++, plain += step) {
				    uint16_t value;
				    std::memcpy(&value, &elements[plain * sizeof(value)],
						sizeof(value));
				    if (result && value >> place.bits)
					    result = fail(ErrorCode::InvalidArgument,
							  "pack tensor elements",
							  "tensor " + desc.describe(),
							  fmt::format("element {} is {}, must be 0 "
								      "to {}",
								      plain,
								      static_cast<int16_t>(value),
								      (1U << place.bits) - 1));
			    }
		    });
	return result;
}

/* Clears the bytes that hold no element; if these are scattered, clears the whole tensor. */
void clearGaps(const TensorDesc &desc, const Layout &layout, std::span<std::byte> tensor)
{
	const uint64_t surfaces = (desc.c + layout.atomChannels() - 1) / layout.atomChannels();
	const uint64_t line = uint64_t{ desc.w } * layout.atomBytes();
	const uint64_t surface = line * desc.h;
	const bool dense = !layout.twoPlanes() && surface * surfaces * desc.n == desc.size &&
			   (desc.h == 1 || desc.lineStride == line) &&
			   (surfaces == 1 || desc.surfaceStride == surface);

	if (!dense) {
		std::fill(tensor.begin(), tensor.end(), std::byte{ 0 });
	} else if (desc.c % layout.atomChannels()) {
		for (uint32_t n = 1; n <= desc.n; n++) {
			const auto last =
				tensor.subspan(n * (desc.size / desc.n) - surface, surface);
			std::fill(last.begin(), last.end(), std::byte{ 0 });
		}
	}
}

Result<void> pack(const TensorDesc &desc, std::span<const std::byte> elements,
		  std::span<std::byte> tensor, ElementOrder order, bool clear)
{
	auto layout = Layout::of(desc);
	if (!layout)
		return forward(layout);

	const uint64_t needed = desc.elements() * elementBytes(desc.type);
	if (elements.size() != needed)
		return tl::unexpected(
			sizeError(desc, "pack tensor elements", elements.size(), needed));
	if (tensor.size() != desc.size)
		return tl::unexpected(
			sizeError(desc, "pack tensor memory", tensor.size(), desc.size));
	if (auto checked = checkBits(desc, *layout, order, elements); !checked)
		return checked;

	if (clear)
		clearGaps(desc, *layout, tensor);
	const uint32_t done = packFast(desc, *layout, order, elements, tensor);
	packReference(desc, *layout, order, elements, tensor, done);
	return {};
}

} /* namespace */

void packReference(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		   std::span<const std::byte> elements, std::span<std::byte> tensor,
		   uint32_t firstChannel)
{
	const size_t bytes = elementBytes(desc.type);
	auto line = [&](const Layout::Channel &place, uint64_t offset, uint64_t plain,
			uint64_t step) {
		std::byte *to = &tensor[offset];
		const std::byte *from = &elements[plain * bytes];

		if (place.bits)
			for (uint32_t w = 0; w < desc.w; w++, from += step * bytes)
				putBits(place, from, to + size_t{ w } * place.pixelStep);
		else
			copyLine(bytes, from, step * bytes, to, place.pixelStep, desc.w);
	};

	forEachLine(desc, layout, order, firstChannel, line);
}

void unpackReference(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		     std::span<const std::byte> tensor, std::span<std::byte> elements,
		     uint32_t firstChannel)
{
	const size_t bytes = elementBytes(desc.type);
	auto line = [&](const Layout::Channel &place, uint64_t offset, uint64_t plain,
			uint64_t step) {
		const std::byte *from = &tensor[offset];
		std::byte *to = &elements[plain * bytes];

		if (place.bits)
			for (uint32_t w = 0; w < desc.w; w++, to += step * bytes)
				getBits(place, from + size_t{ w } * place.pixelStep, to);
		else
			copyLine(bytes, from, place.pixelStep, to, step * bytes, desc.w);
	};

	forEachLine(desc, layout, order, firstChannel, line);
}

Result<void> packElements(const TensorDesc &desc, std::span<const std::byte> elements,
			  std::span<std::byte> out, ElementOrder order)
{
	return guarded("pack elements",
		       [&]() -> Result<void> { return pack(desc, elements, out, order, true); });
}

Result<void> overwriteElements(const TensorDesc &desc, std::span<const std::byte> elements,
			       std::span<std::byte> tensor, ElementOrder order)
{
	return guarded("overwrite elements", [&]() -> Result<void> {
		return pack(desc, elements, tensor, order, false);
	});
}

Result<void> unpackElements(const TensorDesc &desc, std::span<const std::byte> tensor,
			    std::span<std::byte> elements, ElementOrder order)
{
	return guarded("unpack elements", [&]() -> Result<void> {
		auto layout = Layout::of(desc);
		if (!layout)
			return forward(layout);

		const uint64_t needed = desc.elements() * elementBytes(desc.type);
		if (tensor.size() != desc.size)
			return tl::unexpected(
				sizeError(desc, "unpack tensor memory", tensor.size(), desc.size));
		if (elements.size() != needed)
			return tl::unexpected(
				sizeError(desc, "unpack tensor elements", elements.size(), needed));

		const uint32_t done = unpackFast(desc, *layout, order, tensor, elements);
		unpackReference(desc, *layout, order, tensor, elements, done);
		return {};
	});
}

Result<std::vector<std::byte>> unpackElements(const TensorDesc &desc,
					      std::span<const std::byte> tensor, ElementOrder order)
{
	return guarded("unpack elements", [&]() -> Result<std::vector<std::byte>> {
		/* Check first, because memory for an impossible shape must not be allocated. */
		if (auto checked = desc.check(); !checked)
			return forward(checked);

		std::vector<std::byte> elements(desc.elements() * elementBytes(desc.type));
		if (auto unpacked = unpackElements(desc, tensor, elements, order); !unpacked)
			return forward(unpacked);
		return elements;
	});
}

} /* namespace nvdla */
