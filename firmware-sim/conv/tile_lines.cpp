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

TileLines::TileLines(const TilePlan &plan, const DataView &data, Workers &workers)
	: plan_(plan), height_(paddedHeight(plan.op.windows)), count_(height_ * plan.op.batches),
	  lineBytes_(plan.lineBytes()), padding_(padding()),
	  bytes_(workers.scratch(), plan.inPlace ? 0 : lineBytes_ * count_), lines_(count_),
	  turned_(plan.inPlace ? count_ : 0),
	  positions_(workers.scratch(), size_t{ plan.op.windows.out.width } *
						plan.op.windows.out.height * plan.op.batches),
	  rowSums_(workers.scratch(),
		   plan.kernel.kind == TileKind::Quads ? plan.op.windows.out.width * count_ : 0)
{
	const unsigned int threads = threadsFor(lineBytes_ * count_, kBytesForAThread);
	const bool summed = rowSums_.size() && !plan.mayBeChannelwise;

	shareOut(&workers, threads, count_, [&] {
		return [&, pieces = std::vector<LinePiece>()](uint64_t index) mutable {
			lines_[index] = plan_.inPlace ? findLine(index, data)
						      : makeLine(index, data, pieces);
			inspect(lines_[index]);
			if (summed)
				sumRow(index);
		};
	});
	/* In a second pass, because a window's sum needs all lines of the window. */
	shareOut(&workers, threads, count_, [&] {
		return [&, sums = std::vector<int32_t>()](uint64_t index) mutable {
			place(index, summed, sums);
		};
	});
}

void TileLines::prepareStarts()
{
	if (rowSums_.size() == 0 || !plan_.mayBeChannelwise)
		return;
	std::call_once(started_, [&] {
		std::vector<int32_t> sums;
		for (size_t index = 0; index < count_; index++)
			sumRow(index);
		for (size_t index = 0; index < count_; index++)
			place(index, true, sums);
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

/* Operands that stay unwritten are multiplied by weights of zero. */
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
		fill(out, 0, plan_.lineElements, padding_);
	}
	return out;
}

/* Operands are read in place: such operations have no padding. */
const std::byte *TileLines::findLine(size_t index, const DataView &data)
{
	const auto batch = static_cast<uint32_t>(index / height_);
	const auto y = static_cast<uint32_t>(index % height_);

	if (const std::byte *there = data.whole(batch, y))
		return there;
	const size_t lineBytes = size_t{ plan_.lineElements } * plan_.elementBytes;
	turned_[index].resize(lineBytes + kLineBytes); /* with readable bytes behind the line, as
							* behind the buffer */
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

/* Sums, for each output column, the elements of the line that a kernel row covers. */
void TileLines::sumRow(size_t index)
{
	const Windows &windows = plan_.op.windows;
	const size_t width = windows.out.width;
	const size_t runs = plan_.runs.size() / windows.kernel.height;

	if (windows.kernel.height > 1 || !positionsOf(index).empty())
		byteSums(lines_[index], size_t{ plan_.step } * plan_.elementBytes,
			 std::span(plan_.runs).first(runs), { &rowSums_[index * width], width });
}

/* Quads: sets initial values of sums, which correct the weights' excess of 128. */
void TileLines::place(size_t index, bool summed, std::vector<int32_t> &sums)
{
	constexpr int32_t kWeightExcess = 128;
	const Windows &windows = plan_.op.windows;
	const std::span<TilePosition> positions = positionsOf(index);
	const uint32_t rows = summed && !positions.empty() ? windows.kernel.height : 0;
	const size_t step = size_t{ plan_.step } * plan_.elementBytes;
	const std::byte *at = lines_[index];

	sums.assign(positions.size(), 0);
	for (uint32_t row = 0; row < rows; row++) {
		const size_t line = index + size_t{ row } * windows.dilationY;
		const int32_t *more = &rowSums_[line * windows.out.width];
		for (size_t i = 0; i < sums.size(); i++)
			sums[i] += more[i];
	}
	for (size_t i = 0; i < positions.size(); i++, at += step)
		positions[i] = { at, sums[i] * -kWeightExcess };
}

void TileLines::put(std::span<const LinePiece> pieces, std::byte *line) const
{
	const bool image = plan_.op.mode == ConvMode::Image;
	const size_t bytes = elementBytes(plan_.op.precision);
	const size_t left = plan_.leftElements();
	const size_t end = left + plan_.bufferedElements();

	fill(line, 0, left, padding_);
	for (const LinePiece &piece : pieces)
		packPiece(plan_.kernel.lines, piece, operand(line, left + piece.to / bytes));
	/* Fill the rest of the line: with zeroes in images, whose lines include padding, else with
	 * padding. */
	if (end < plan_.lineElements)
		fill(line, end, plan_.lineElements - end, image ? 0 : padding_);
}

uint32_t TileLines::padding() const
{
	const int16_t element = padElement(plan_.op.precision, plan_.op.windows.padValue);
	const auto *bytes = reinterpret_cast<const std::byte *>(&element);
	uint32_t operand = 0;

	packPiece(plan_.kernel.lines, { .from = bytes, .bytes = elementBytes(plan_.op.precision) },
		  reinterpret_cast<std::byte *>(&operand));
	return operand;
}

void TileLines::fill(std::byte *line, size_t first, size_t count, uint32_t value) const
{
	std::byte *const out = operand(line, first);

	if (plan_.elementBytes == sizeof(uint32_t))
		std::fill_n(reinterpret_cast<uint32_t *>(out), count, value);
	else if (plan_.elementBytes == sizeof(uint16_t))
		std::fill_n(reinterpret_cast<uint16_t *>(out), count, value);
	else
		std::fill_n(out, count, std::byte(value));
}

} /* namespace nvdla::sim */
