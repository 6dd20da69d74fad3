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
#include <cstring>

#include "conv/line_elements.h"

namespace nvdla::sim
{

namespace
{

/** Atoms of a column: four of them, whose size is then a constant, almost always */
void copyAtoms(const std::byte *atoms, size_t bytes, std::byte *out)
{
	if (bytes == kEntryBytes)
		std::memcpy(out, atoms, kEntryBytes);
	else
		std::memcpy(out, atoms, bytes);
}

} /* namespace */

DataView::DataView(const ConvOp &op, const Cbuf &cbuf) : op_(op), cbuf_(cbuf)
{
}

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

size_t DataView::lineBytes() const
{
	if (op_.mode == ConvMode::Image)
		return size_t{ op_.bufferedEntries() } * kEntryBytes;
	return size_t{ op_.windows.data.width } * op_.windows.data.channels *
	       elementBytes(op_.precision);
}

Slice DataView::line(uint32_t batch, uint32_t y) const
{
	std::vector<std::byte> bytes(lineBytes());
	Slice slice(bytes.size() / elementBytes(op_.precision));

	read(batch, y, bytes.data());
	widen(op_.precision, bytes.data(), slice);
	return slice;
}

void DataView::read(uint32_t batch, uint32_t y, std::byte *out) const
{
	const uint32_t line = y * op_.batches + batch;
	const uint32_t entries = op_.bufferedEntries();

	switch (op_.mode) {
	case ConvMode::Direct:
		readDirect(line * entries, out);
		break;
	case ConvMode::Image:
		readImage(line * entries, out);
		break;
	case ConvMode::Winograd:
		readWinograd(line / WinogradTile::kSide * WinogradTile::kSide * entries,
			     line % WinogradTile::kSide, out);
		break;
	}
}

const std::byte *DataView::entry(uint32_t offset) const
{
	const EntryRing &ring = cbuf_.data();
	return cbuf_.from(ring, ring.advance(ring.read(), offset)).data();
}

void DataView::readDirect(uint32_t first, std::byte *out) const
{
	const uint32_t width = op_.windows.data.width;
	const size_t column = size_t{ op_.windows.data.channels } * elementBytes(op_.precision);
	const uint32_t surfaces = surfacesOf(op_.precision, op_.windows.data.channels);
	const LineLayout layout(width, surfaces);

	for (uint32_t surface = 0; surface < surfaces;) {
		/* The atoms of a column in one entry follow each other. */
		const uint32_t atoms = layout.atoms(surface);
		const uint32_t columns = LineLayout::kAtomsPerEntry / atoms;
		const size_t channel = size_t{ surface } * kAtomBytes;
		const size_t bytes = std::min<size_t>(atoms * kAtomBytes, column - channel);
		uint32_t offset = first + layout.atom(surface, 0) / LineLayout::kAtomsPerEntry;
		std::byte *to = out + channel;
		for (uint32_t x = 0; x < width; offset++) {
			const std::byte *atom = entry(offset);
			for (const uint32_t end = std::min(x + columns, width); x < end; x++) {
				copyAtoms(atom, bytes, to);
				atom += atoms * kAtomBytes;
				to += column;
			}
		}
		surface += atoms;
	}
}

void DataView::readImage(uint32_t first, std::byte *out) const
{
	for (uint32_t i = 0; i < op_.bufferedEntries(); i++)
		std::memcpy(out + size_t{ i } * kEntryBytes, entry(first + i), kEntryBytes);
}

void DataView::readWinograd(uint32_t first, uint32_t row, std::byte *out) const
{
	const uint32_t width = op_.windows.data.width;
	const uint32_t channels = op_.windows.data.channels;
	const size_t elementSize = elementBytes(op_.precision);
	const WinogradTile tile(op_.precision, width);

	for (uint32_t x = 0; x < width; x++)
		for (uint32_t c = 0; c + tile.channels() <= channels; c += tile.channels())
			std::memcpy(out + (size_t{ x } * channels + c) * elementSize,
				    entry(first + tile.entry(x, c)) + tile.byte(row, x),
				    WinogradTile::kElementBytes);
}

} /* namespace nvdla::sim */
