/* SPDX-License-Identifier: MIT */
#include "conv/tile_lines.h"

#include <algorithm>
#include <cstring>

#include "conv/dense_sums.h"
#include "conv/line_elements.h"
#include "conv/tile_operands.h"
#include "core/aligned.h"
#include "core/shared_units.h"

namespace nvdla::sim
{

namespace
{

template<typename Operand>
void fillWith(std::byte *out, size_t count, const std::byte *bits)
{
	Operand value;

	std::memcpy(&value, bits, sizeof(value));
	std::fill_n(reinterpret_cast<Operand *>(out), count, value);
}

} /* namespace */

TileLines::TileLines(const TilePlan &plan, const DataView &data, Workers &workers)
	: plan_(plan), height_(paddedHeight(plan.op.windows)), count_(height_ * plan.op.batches),
	  lineBytes_(plan.lineBytes()),
	  bytes_(workers.scratch(), plan.inPlace ? 0 : lineBytes_ * count_), lines_(count_),
	  turned_(plan.inPlace ? count_ : 0),
	  positions_(workers.scratch(), size_t{ plan.op.windows.out.width } *
						plan.op.windows.out.height * plan.op.batches)
{
	const unsigned int threads = threadsFor(lineBytes_ * count_, kBytesForAThread);
	const bool needsAll = plan.kernel.kind == TileKind::SignedQuads && !plan.inPlace;

	shareOut(&workers, threads, count_, [&] {
		return [&, pieces = std::vector<LinePiece>(),
			sums = std::vector<int32_t>()](uint64_t index) mutable {
			lines_[index] = plan_.inPlace ? findLine(index, data)
						      : makeLine(index, data, pieces);
			inspect(lines_[index]);
			if (!needsAll)
				place(index, sums);
		};
	});
	/* Windows have several lines, all of which are there now. */
	if (needsAll)
		shareOut(&workers, threads, count_, [&] {
			return [&, sums = std::vector<int32_t>()](uint64_t index) mutable {
				place(index, sums);
			};
		});
}
void TileLines::inspect(const std::byte *line)
{
	if (!plan_.inPlace) {
		inspect(line, plan_.lineElements);
		return;
	}
	for (const TileRun &run : plan_.runs)
		inspect(line + run.offset, plan_.columnElements());
}

void TileLines::inspect(const std::byte *line, size_t count)
{
	if (plan_.op.precision == Precision::Int16) {
		const uint32_t largest = magnitudesOf(line, count).number;
		const std::lock_guard lock(mutex_);
		largest_ = std::max(largest_, largest);
	} else if (plan_.kernel.kind == TileKind::Float && plan_.mayBeChannelwise &&
		   anyNan(reinterpret_cast<const float *>(line), count)) {
		hasNan_ = true;
	}
}

/* What is not written meets weights that are zero. */
const std::byte *TileLines::makeLine(size_t index, const DataView &data,
				     std::vector<LinePiece> &pieces)
{
	const Windows &windows = plan_.op.windows;
	const auto y = static_cast<uint32_t>(index % height_) - windows.padTop;
	std::byte *out = &bytes_[index * lineBytes_];

	if (y < windows.data.height) {
		data.find(static_cast<uint32_t>(index / height_), y, pieces);
		put(pieces, out);
	} else {
		fill(out, 0, plan_.lineElements, padElement(plan_.op.precision, windows.padValue));
	}
	return out;
}

/* There is no padding. */
const std::byte *TileLines::findLine(size_t index, const DataView &data)
{
	const auto batch = static_cast<uint32_t>(index / height_);
	const auto y = static_cast<uint32_t>(index % height_);

	if (const std::byte *there = data.whole(batch, y))
		return there;
	const size_t lineBytes = size_t{ plan_.lineElements } * plan_.elementBytes;
	turned_[index].resize(lineBytes + kLineBytes); /* as much as behind the buffer */
	data.copyWhole(batch, y, std::span(turned_[index]).first(lineBytes));
	return turned_[index].data();
}

std::span<TilePosition> TileLines::positionsOf(size_t index)
{
	const Windows &windows = plan_.op.windows;
	const size_t batch = index / height_;
	const size_t y = index % height_;

	if (y % windows.strideY || y / windows.strideY >= windows.out.height)
		return {};
	const size_t line = y / windows.strideY * plan_.op.batches + batch;
	return { positions_.data() + line * windows.out.width, windows.out.width };
}

/* SignedQuads: sums begin with what they have too much because the weights are more by 128. */
void TileLines::place(size_t index, std::vector<int32_t> &sums)
{
	constexpr int32_t kWeightExcess = 128;
	const size_t step = size_t{ plan_.step } * plan_.elementBytes;
	const std::span<TilePosition> positions = positionsOf(index);
	const std::byte *at = lines_[index];

	sums.resize(positions.size());
	if (plan_.kernel.kind == TileKind::SignedQuads)
		byteSums(at, step, plan_.runs, sums);
	for (size_t i = 0; i < positions.size(); i++, at += step)
		positions[i] = { at, sums[i] * -kWeightExcess };
}

void TileLines::put(std::span<const LinePiece> pieces, std::byte *line) const
{
	const bool image = plan_.op.mode == ConvMode::Image;
	const int16_t pad = padElement(plan_.op.precision, plan_.op.windows.padValue);
	const size_t bytes = elementBytes(plan_.op.precision);
	const size_t left = plan_.leftElements();
	const size_t end = left + plan_.bufferedElements();

	fill(line, 0, left, pad);
	for (const LinePiece &piece : pieces)
		packPiece(plan_.kernel.lines, piece, operand(line, left + piece.to / bytes));
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
	packPiece(plan_.kernel.lines,
		  { .from = element, .bytes = elementBytes(plan_.op.precision), .parts = 1 }, one);
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

} /* namespace nvdla::sim */
