/* SPDX-License-Identifier: MIT */
#include "conv/tile_weights.h"

#include <algorithm>
#include <cstring>

#include "core/aligned.h"
#include "core/bring_ahead.h"

namespace nvdla::sim
{

TileWeights::TileWeights(const TilePlan &plan, Scratch &scratch)
	: plan_(plan), units_(scratch, plan.units * kTileColumns),
	  kernels_(plan.groupsAtOnce(), kAnything),
	  zeroes_(plan.kernel.kind == TileKind::Quads ? plan.units * kUnitBytes : 0,
		  std::byte{ 0x80 })
{
}

void TileWeights::load(const WeightGroup &group, uint32_t place)
{
	const std::byte *elements = group.bytes.data();
	const size_t elementSize = elementBytes(plan_.op.precision);
	const uint32_t most = plan_.op.groupKernels();
	const Columns columns = { size_t{ place } * most, group.kernels };

	/* Zeroes written earlier are still right, unless the number of kernels changes. */
	if (group.kernels != kernels_[place] && (group.kernels < most || hasGaps()))
		clear(place);
	kernels_[place] = group.kernels;
	groups_ = place + 1;
	for (const Block &block : plan_.blocks) {
		const size_t kernelBytes = block.lanes * elementSize;
		const size_t rowBytes = kernelBytes / block.rows;
		/* Prefetches the next block: bringAhead() reaches as far as a whole block. */
		for (size_t at = 0; at < group.kernels * kernelBytes; at += kLineBytes)
			bringAhead(elements + at);
		for (uint32_t row = 0; row < block.rows; row++)
			put(columns, block, row, elements + row * rowBytes, kernelBytes);
		elements += group.kernels * kernelBytes;
	}
}

Panel TileWeights::panel()
{
	for (uint32_t place = groups_; place < kernels_.size(); place++) {
		if (kernels_[place] == 0)
			continue;
		clear(place);
		kernels_[place] = 0;
	}
	const Panel panel = { .runs = plan_.runs,
			      .weights = units_.data(),
			      .used = (groups_ - 1) * plan_.op.groupKernels() +
				      kernels_[groups_ - 1],
			      .width = plan_.op.windows.out.width,
			      .starts = starts_ };
	if (plan_.kernel.kind == TileKind::Quads)
		findStarts(panel);
	return panel;
}

/* Sets each column's initial sum, which compensates that operands are 128 too high. */
void TileWeights::findStarts(const Panel &panel)
{
	const TileRun all = { 0, static_cast<uint32_t>(plan_.units) };
	const TilePosition position = { zeroes_.data() };

	tileSums(TileKind::Quads, { &position, 1 },
		 { .runs = { &all, 1 }, .weights = panel.weights, .used = panel.used },
		 { starts_ });
	for (int32_t &start : starts_)
		start = -start;
}

void TileWeights::clear(uint32_t place)
{
	const uint32_t columns = plan_.op.groupKernels();
	int32_t *unit = units_.data() + size_t{ place } * columns;

	for (size_t i = 0; i < plan_.units; i++, unit += kTileColumns)
		std::fill_n(unit, columns, 0);
}

bool TileWeights::hasGaps() const
{
	return std::ranges::any_of(plan_.taps, [&](const TileTap &tap) {
		return tap.elements * plan_.elementBytes %
			       (plan_.kernel.unitsAtOnce * kUnitBytes) !=
		       0;
	});
}

/* \param elements the first kernel's; each further kernel's elements are kernelBytes later */
void TileWeights::put(const Columns &columns, const Block &block, uint32_t row,
		      const std::byte *elements, size_t kernelBytes)
{
	const Windows &windows = plan_.op.windows;
	const size_t kernelRow = block.row + row;
	const TileTap &tap =
		plan_.taps[plan_.dilated() ? kernelRow * windows.kernel.width + block.column
					   : kernelRow];
	const uint32_t count = block.lanes / block.rows;
	const size_t at = block.channel +
			  (plan_.dilated() ? 0 : size_t{ block.column } * windows.kernel.channels);
	const size_t elementSize = elementBytes(plan_.op.precision);

	/* Elements that begin at a unit are stored in whole units, others element by element. */
	const size_t first = at * plan_.elementBytes;
	const size_t bytes = count * plan_.elementBytes;
	const size_t whole = first % kUnitBytes == 0 ? bytes / kUnitBytes : 0;
	const size_t put = putUnits(
		plan_.kernel.weights, { elements, kernelBytes, columns.kernels }, whole,
		units_.data() + (tap.unit + first / kUnitBytes) * kTileColumns + columns.first);
	for (size_t done = put * kUnitBytes; done < bytes; done += plan_.elementBytes) {
		const size_t unit = tap.unit + (first + done) / kUnitBytes;
		const size_t i = done / plan_.elementBytes;
		auto *out = reinterpret_cast<std::byte *>(
				    &units_[unit * kTileColumns + columns.first]) +
			    (first + done) % kUnitBytes;
		for (uint32_t kernel = 0; kernel < columns.kernels; kernel++)
			putOne(out + kernel * kUnitBytes,
			       elements + kernel * kernelBytes + i * elementSize);
	}
}

void TileWeights::putOne(std::byte *out, const std::byte *element) const
{
	packPiece(plan_.kernel.weights == UnitFormat::Bytes ? LineFormat::Bytes
							    : plan_.kernel.lines,
		  { .from = element, .bytes = elementBytes(plan_.op.precision) }, out);
}

} /* namespace nvdla::sim */
