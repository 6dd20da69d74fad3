/* SPDX-License-Identifier: MIT */
#include "conv/tile_lines.h"

#include <algorithm>
#include <cstring>

#include "conv/tile_operands.h"
#include "core/aligned.h"
#include "core/bands.h"
#include "core/shared_units.h"

namespace nvdla::sim
{

TileLines::TileLines(const TilePlan &plan, const DataView &data, Workers &workers)
	: plan_(plan), height_(paddedHeight(plan.op.windows)), count_(height_ * plan.op.batches),
	  lineBytes_(plan.lineBytes()), padding_(padding()),
	  bytes_(workers.scratch(), lineBytes_ * count_),
	  positions_(workers.scratch(), size_t{ plan.op.windows.out.width } *
						plan.op.windows.out.height * plan.op.batches)
{
	const unsigned int threads = threadsFor(lineBytes_ * count_, kBytesForAThread);
	Bands bands(count_, std::min(threads, workers.threads()));

	workers.run(threads, [&](unsigned int thread) {
		std::vector<LinePiece> pieces;
		while (const auto line = bands.take(thread))
			makeLine(*line, data, pieces);
	});
	place();
}

void TileLines::inspect(const std::byte *line)
{
	const size_t count = plan_.lineElements;

	if (plan_.op.precision == Precision::Int16) {
		const uint32_t largest = magnitudesOf(line, count).number;
		const std::lock_guard lock(mutex_);
		largest_ = std::max(largest_, largest);
	} else if (plan_.kernel.kind == TileKind::Float && plan_.mayBeChannelwise &&
		   anyNan(reinterpret_cast<const float *>(line), count)) {
		hasNan_ = true;
	}
}

/* Makes a padded line. Operands that are not written have weights of zero. */
void TileLines::makeLine(size_t index, const DataView &data, std::vector<LinePiece> &pieces)
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
	inspect(out);
}

void TileLines::place()
{
	const Windows &windows = plan_.op.windows;
	const size_t step = size_t{ plan_.step } * plan_.elementBytes;
	TilePosition *position = positions_.data();

	for (size_t y = 0; y < windows.out.height; y++) {
		for (size_t batch = 0; batch < plan_.op.batches; batch++) {
			const std::byte *at =
				&bytes_[(batch * height_ + y * windows.strideY) * lineBytes_];
			for (uint32_t x = 0; x < windows.out.width; x++, at += step)
				*position++ = { at };
		}
	}
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
