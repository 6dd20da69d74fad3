/* SPDX-License-Identifier: MIT */
#include "conv/tile_lines.h"

#include <algorithm>
#include <cstring>

#include "conv/line_elements.h"
#include "conv/tile_operands.h"

namespace nvdla::sim
{

TileLines::TileLines(const TilePlan &plan, const DataView &data)
	: plan_(plan), height_(plan.op.windows.data.height), lineBytes_(plan.lineBytes()),
	  bytes_(lineBytes_ * (static_cast<size_t>(height_) * plan.op.batches + 1)),
	  elements_(data.lineBytes())
{
	std::byte *line = bytes_.data();

	fill(line, 0, plan.lineElements, padElement(plan.op.precision, plan.op.windows.padValue));
	for (uint32_t batch = 0; batch < plan.op.batches; batch++) {
		for (uint32_t y = 0; y < height_; y++) {
			line += lineBytes_;
			put(data, batch, y, line);
		}
	}
}

void TileLines::put(const DataView &data, uint32_t batch, uint32_t y, std::byte *line)
{
	const Windows &windows = plan_.op.windows;
	const bool image = plan_.op.mode == ConvMode::Image;
	const int16_t pad = padElement(plan_.op.precision, windows.padValue);
	const size_t wanted = plan_.lineElements;
	const size_t left = image ? 0 : size_t{ windows.padLeft } * windows.data.channels;
	const size_t begin = std::min(left, wanted);
	const size_t count =
		std::min(elements_.size() / elementBytes(plan_.op.precision), wanted - begin);

	data.read(batch, y, elements_.data());
	fill(line, 0, begin, pad);
	convert(elements_.data(), count, operand(line, begin));
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
