/* SPDX-License-Identifier: MIT */
/*
 * Lines out of the convolution buffer.
 *
 * RTL of nvdlav1, NV_NVDLA_CSC_dl: the address of an entry is the pointer, plus
 * D_ENTRY_PER_SLICE for each line (the cubes of a batch alternate), plus the width for
 * each 128 bytes of channels, plus the column's place; once around the data banks.
 */
#include "conv/csc.h"

#include <algorithm>

#include "conv/line_elements.h"

namespace nvdla::sim
{

namespace
{

/** Reads lines of one operation */
class LineGatherer
{
public:
	LineGatherer(const ConvOp &op, const Cbuf &cbuf)
		: op_(op), cbuf_(cbuf), width_(op.windows.data.width),
		  channels_(op.windows.data.channels)
	{
	}

	/** \param line counts the lines of all cubes of the batch */
	Slice gather(uint32_t line) const
	{
		const uint32_t entries = op_.bufferedEntries();

		switch (op_.mode) {
		case ConvMode::Direct:
			return direct(line * entries);
		case ConvMode::Image:
			return image(line * entries, entries);
		default:
			return winograd(line / WinogradTile::kSide * WinogradTile::kSide * entries,
					line % WinogradTile::kSide);
		}
	}

private:
	const std::byte *entry(uint32_t offset) const
	{
		const EntryRing &ring = cbuf_.data();
		return cbuf_.from(ring, ring.advance(ring.read(), offset)).data();
	}

	Slice direct(uint32_t first) const
	{
		Slice slice(static_cast<size_t>(width_) * channels_);
		const uint32_t atom = atomChannels(op_.precision);
		const uint32_t surfaces = surfacesOf(op_.precision, channels_);
		const LineLayout layout(width_, surfaces);

		for (uint32_t surface = 0; surface < surfaces;) {
			/* The atoms of a column in one entry follow each other. */
			const uint32_t atoms = layout.atoms(surface);
			const uint32_t channel = surface * atom;
			const uint32_t count = std::min(atoms * atom, channels_ - channel);
			int16_t *out = &slice[channel];
			for (uint32_t x = 0; x < width_; x++, out += channels_) {
				const uint32_t at = layout.atom(surface, x);
				widen(op_.precision,
				      entry(first + at / LineLayout::kAtomsPerEntry) +
					      at % LineLayout::kAtomsPerEntry * kAtomBytes,
				      { out, count });
			}
			surface += atoms;
		}
		return slice;
	}

	Slice image(uint32_t first, uint32_t entries) const
	{
		const uint32_t perEntry = kEntryBytes / elementBytes(op_.precision);
		Slice slice(static_cast<size_t>(entries) * perEntry);

		for (uint32_t i = 0; i < entries; i++)
			widen(op_.precision, entry(first + i),
			      { &slice[static_cast<size_t>(i) * perEntry], perEntry });
		return slice;
	}

	Slice winograd(uint32_t first, uint32_t row) const
	{
		Slice slice(static_cast<size_t>(width_) * channels_);
		const WinogradTile tile(op_.precision, width_);

		for (uint32_t x = 0; x < width_; x++)
			for (uint32_t c = 0; c + tile.channels() <= channels_; c += tile.channels())
				tile.get(entry(first + tile.entry(x, c)) + tile.byte(row, x),
					 &slice[static_cast<size_t>(x) * channels_ + c]);
		return slice;
	}

	const ConvOp &op_;
	const Cbuf &cbuf_;
	uint32_t width_;
	uint32_t channels_;
};

} /* namespace */

bool DataView::fits(const ConvOp &op)
{
	const uint64_t entries =
		op.mode == ConvMode::Image
			? op.bufferedEntries()
			: entriesPerSlice(op.mode, op.precision, op.windows.data.width,
					  op.windows.data.channels);

	return entries * op.windows.data.height * op.batches <=
	       uint64_t{ op.dataBanks } * kBankEntries;
}

DataView::DataView(const ConvOp &op, const Cbuf &cbuf) : batches_(op.batches)
{
	const LineGatherer gatherer(op, cbuf);
	const uint32_t lines = op.windows.data.height * op.batches;

	lines_.reserve(lines);
	for (uint32_t line = 0; line < lines; line++)
		lines_.push_back(gatherer.gather(line));
}

} /* namespace nvdla::sim */
