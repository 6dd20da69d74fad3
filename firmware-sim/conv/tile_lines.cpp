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

template<typename Operand>
void fillWith(std::byte *out, size_t count, const std::byte *bits)
{
	Operand value;

	std::memcpy(&value, bits, sizeof(value));
	std::fill_n(reinterpret_cast<Operand *>(out), count, value);
}

/** \param line numbers of f32 */
bool anyNan(const std::byte *line, size_t count)
{
	constexpr uint32_t kMagnitude = 0x7fffffff;
	constexpr uint32_t kBelowInfinity = 0x7fffff; /* what NaNs with it carry out of */
	uint32_t carries = 0;
	uint32_t bits = 0;

	for (size_t i = 0; i < count; i++) {
		std::memcpy(&bits, line + i * sizeof(bits), sizeof(bits));
		carries |= (bits & kMagnitude) + kBelowInfinity;
	}
	return carries >> 31;
}

} /* namespace */

TileLines::TileLines(const TilePlan &plan, const DataView &data, Workers &workers)
	: plan_(plan), height_(plan.op.windows.data.height),
	  left_(plan.op.mode == ConvMode::Image
			? 0
			: size_t{ plan.op.windows.padLeft } * plan.op.windows.data.channels),
	  elements_(data.lineBytes() / elementBytes(plan.op.precision)),
	  /* All elements are put, also those that no window touches. */
	  lineBytes_(std::max(plan.lineBytes(), (left_ + elements_) * plan.elementBytes)),
	  bytes_(workers.scratch(),
		 plan.inBuffer ? 0 : lineBytes_ * (size_t{ height_ } * plan.op.batches + 1)),
	  rows_(size_t{ height_ } * plan.op.batches + 1)
{
	const uint32_t lines = height_ * plan.op.batches;
	const size_t bytes = lineBytes_ * rows_.size();
	std::atomic<uint32_t> next = 0;

	if (plan.kind == TileKind::SignedQuads)
		starts_.resize(size_t{ lines } * plan.op.windows.out.width);
	if (plan.inBuffer) {
		turned_.resize(lines);
	} else {
		/* What is not written meets weights that are zero. */
		rows_[0] = bytes_.data();
		fill(bytes_.data(), 0, plan.lineElements,
		     padElement(plan.op.precision, plan.op.windows.padValue));
		finish(0);
	}
	workers.run(static_cast<unsigned int>(bytes / kBytesForAThread + 1), [&] {
		std::vector<LinePiece> pieces;
		for (uint32_t line; (line = next++) < lines;)
			if (plan.inBuffer)
				findLine(line, data);
			else
				makeLine(line, data, pieces);
	});
}

void TileLines::makeLine(uint32_t line, const DataView &data, std::vector<LinePiece> &pieces)
{
	const size_t index = size_t{ line } + 1;
	std::byte *out = &bytes_[index * lineBytes_];

	data.find(line / height_, line % height_, pieces);
	put(pieces, out);
	rows_[index] = out;
	finish(index);
}

void TileLines::findLine(uint32_t line, const DataView &data)
{
	constexpr int32_t kWeightExcess = 128;
	const size_t index = size_t{ line } + 1;
	const size_t width = plan_.op.windows.out.width;
	const auto bytes = data.whole(line / height_, line % height_);

	rows_[index] = bytes.data();
	if (bytes.empty()) {
		turned_[line].resize(size_t{ plan_.lineElements } * plan_.elementBytes);
		data.copyWhole(line / height_, line % height_, turned_[line]);
		rows_[index] = turned_[line].data();
	}
	finish(index);
	if (starts_.empty())
		return;
	const auto starts = std::span(starts_).subspan(line * width, width);
	byteSums(rows_[index], size_t{ plan_.step } * plan_.elementBytes, plan_.runs, starts);
	for (int32_t &start : starts)
		start *= -kWeightExcess;
}

void TileLines::finish(size_t index)
{
	const std::byte *line = rows_[index];

	if (plan_.kind == TileKind::Float && plan_.isOneAtom && anyNan(line, plan_.lineElements))
		hasNan_ = true;
	if (plan_.op.precision != Precision::Int16)
		return;
	const Int16Range range = rangeOf(line, plan_.lineElements);
	for (int32_t known = lowest_; range.lowest < known;)
		if (lowest_.compare_exchange_weak(known, range.lowest))
			break;
	for (int32_t known = highest_; range.highest > known;)
		if (highest_.compare_exchange_weak(known, range.highest))
			break;
}

void TileLines::put(std::span<const LinePiece> pieces, std::byte *line) const
{
	const bool image = plan_.op.mode == ConvMode::Image;
	const int16_t pad = padElement(plan_.op.precision, plan_.op.windows.padValue);
	const size_t end = left_ + elements_;

	fill(line, 0, left_, pad);
	for (const LinePiece &piece : pieces)
		convert(piece, left_, line);
	/* Behind an image line there is nothing, behind others padding. */
	if (end < plan_.lineElements)
		fill(line, end, plan_.lineElements - end, image ? int16_t{ 0 } : pad);
}

void TileLines::fill(std::byte *line, size_t first, size_t count, int16_t value) const
{
	std::byte element[sizeof(value)];
	std::byte one[kUnitBytes];

	if (count == 0)
		return;
	narrow(plan_.op.precision, { &value, 1 }, element);
	convert(element, 1, one);
	switch (plan_.elementBytes) {
	case sizeof(uint8_t):
		fillWith<uint8_t>(operand(line, first), count, one);
		break;
	case sizeof(uint16_t):
		fillWith<uint16_t>(operand(line, first), count, one);
		break;
	default:
		fillWith<uint32_t>(operand(line, first), count, one);
		break;
	}
}

void TileLines::convert(const LinePiece &piece, size_t begin, std::byte *line) const
{
	const size_t size = elementBytes(plan_.op.precision);
	std::byte *out = operand(line, begin + piece.to / size);

	if (plan_.kind == TileKind::Quads) {
		flipSigns(piece, out);
		return;
	}
	for (size_t i = 0; i < piece.parts; i++)
		convert(piece.from + i * piece.fromStep, piece.bytes / size,
			out + i * piece.toStep / size * plan_.elementBytes);
}

void TileLines::convert(const std::byte *elements, size_t count, std::byte *out) const
{
	if (plan_.kind == TileKind::Float)
		widenHalves(elements, count, reinterpret_cast<float *>(out));
	else if (plan_.kind == TileKind::Quads)
		flipSigns({ .from = elements, .bytes = count, .parts = 1 }, out);
	else if (plan_.op.precision == Precision::Int8)
		widenBytes(elements, count, reinterpret_cast<int16_t *>(out));
	else
		std::memcpy(out, elements, count * sizeof(int16_t));
}

} /* namespace nvdla::sim */
