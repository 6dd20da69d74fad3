/* SPDX-License-Identifier: MIT */
#include "conv/tile_lines.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "conv/line_elements.h"
#include "conv/tile_operands.h"

namespace nvdla::sim
{

namespace
{

/* Bytes that take a thread about as long as waking another one. */
constexpr size_t kBytesForAThread = 1 << 17;

} /* namespace */

TileLines::TileLines(const TilePlan &plan, const DataView &data, Workers &workers)
	: plan_(plan), height_(plan.op.windows.data.height), lineBytes_(plan.lineBytes()),
	  bytes_(lineBytes_ * (static_cast<size_t>(height_) * plan.op.batches + 1))
{
	const uint32_t lines = height_ * plan.op.batches;
	std::atomic<uint32_t> next = 0;

	fill(bytes_.data(), 0, plan.lineElements,
	     padElement(plan.op.precision, plan.op.windows.padValue));
	noteLargest(bytes_.data());
	workers.run(static_cast<unsigned int>(bytes_.size() / kBytesForAThread + 1), [&] {
		std::vector<std::byte> elements(data.lineBytes());
		for (uint32_t line; (line = next++) < lines;) {
			std::byte *out = &bytes_[(size_t{ line } + 1) * lineBytes_];
			put(data, line / height_, line % height_, elements, out);
			noteLargest(out);
		}
	});
}

void TileLines::noteLargest(const std::byte *line)
{
	if (plan_.op.precision != Precision::Int16)
		return;
	const uint32_t largest = largestMagnitude(line, plan_.lineElements);
	for (uint32_t known = largest_; known < largest;)
		if (largest_.compare_exchange_weak(known, largest))
			return;
}

void TileLines::put(const DataView &data, uint32_t batch, uint32_t y, std::span<std::byte> elements,
		    std::byte *line) const
{
	const Windows &windows = plan_.op.windows;
	const bool image = plan_.op.mode == ConvMode::Image;
	const int16_t pad = padElement(plan_.op.precision, windows.padValue);
	const size_t wanted = plan_.lineElements;
	const size_t left = image ? 0 : size_t{ windows.padLeft } * windows.data.channels;
	const size_t begin = std::min(left, wanted);
	const size_t count =
		std::min(elements.size() / elementBytes(plan_.op.precision), wanted - begin);

	data.read(batch, y, elements.data());
	fill(line, 0, begin, pad);
	convert(elements.data(), count, operand(line, begin));
	/* Behind an image line there is nothing, behind others padding. */
	fill(line, begin + count, wanted - begin - count, image ? int16_t{ 0 } : pad);
}

void TileLines::fill(std::byte *line, size_t first, size_t count, int16_t value) const
{
	std::byte element[sizeof(value)];
	std::byte one[kUnitBytes];

	if (count == 0)
		return;
	narrow(plan_.op.precision, { &value, 1 }, element);
	convert(element, 1, one);
	for (size_t i = 0; i < count; i++)
		std::memcpy(operand(line, first + i), one, plan_.elementBytes);
}

void TileLines::convert(const std::byte *elements, size_t count, std::byte *out) const
{
	if (plan_.kind == TileKind::Float)
		widenHalves(elements, count, reinterpret_cast<float *>(out));
	else if (plan_.kind == TileKind::Quads)
		flipSigns(elements, count, out);
	else if (plan_.op.precision == Precision::Int8)
		widenBytes(elements, count, reinterpret_cast<int16_t *>(out));
	else
		std::memcpy(out, elements, count * sizeof(int16_t));
}

} /* namespace nvdla::sim */
