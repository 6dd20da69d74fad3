/* SPDX-License-Identifier: MIT */
/*
 * Reads lines from the convolution buffer.
 *
 * The buffer holds line 0 of each cube of a batch, then line 1 of each, and so on. A line has
 * D_ENTRY_PER_SLICE entries: first those of all columns for as many channels as an entry holds,
 * then those of all columns for the next channels. Addresses of entries count from CSC's read
 * pointer, and wrap around at the end of the banks for data (RTL of nvdlav1, NV_NVDLA_CSC_dl).
 */
#include "conv/csc.h"

#include <algorithm>
#include <cstring>

#include "conv/line_elements.h"

namespace nvdla::sim
{

DataView::DataView(const ConvOp &op, const Cbuf &cbuf, const CubeInMemory *cube)
	: op_(op), cbuf_(cbuf), cube_(cube)
{
}

bool DataView::fits(const ConvOp &op)
{
	const uint64_t entries = op.mode == ConvMode::Image ? op.bufferedEntries()
							    : op.entriesOf(op.windows.data.width);

	return entries * op.windows.data.height * op.batches <=
	       uint64_t{ op.dataBanks } * op.geometry->bankEntries;
}

size_t DataView::lineBytes() const
{
	if (op_.mode == ConvMode::Image)
		return size_t{ op_.bufferedEntries() } * op_.geometry->entryBytes;
	return size_t{ op_.windows.data.width } * op_.windows.data.channels *
	       elementBytes(op_.precision);
}

void DataView::line(uint32_t batch, uint32_t y, std::span<int16_t> out) const
{
	if (elementBytes(op_.precision) == sizeof(int16_t)) {
		read(batch, y, reinterpret_cast<std::byte *>(out.data()));
		return;
	}
	std::vector<std::byte> bytes(lineBytes());
	read(batch, y, bytes.data());
	widenElements(bytes, op_.precision, out);
}

void DataView::read(uint32_t batch, uint32_t y, std::byte *out) const
{
	if (op_.mode == ConvMode::Winograd) {
		const uint32_t line = y * op_.batches + batch;
		readWinograd(line / WinogradTile::kSide * WinogradTile::kSide *
				     op_.bufferedEntries(),
			     line % WinogradTile::kSide, out);
		return;
	}
	std::vector<LinePiece> pieces;
	find(batch, y, pieces);
	for (const LinePiece &piece : pieces)
		for (size_t i = 0; i < piece.parts; i++)
			std::memcpy(out + piece.to + i * piece.toStep,
				    piece.from + i * piece.fromStep, piece.bytes);
}

void DataView::find(uint32_t batch, uint32_t y, std::vector<LinePiece> &pieces) const
{
	pieces.clear();
	if (cube_ && op_.mode == ConvMode::Image)
		findImageInMemory(y, pieces);
	else if (cube_)
		findInMemory(y, pieces);
	else if (op_.mode == ConvMode::Image)
		findImage(firstEntry(batch, y), pieces);
	else
		findDirect(firstEntry(batch, y), pieces);
}

uint32_t DataView::firstEntry(uint32_t batch, uint32_t y) const
{
	return (y * op_.batches + batch) * op_.bufferedEntries();
}

std::span<const std::byte> DataView::entries(uint32_t offset) const
{
	const EntryRing &ring = cbuf_.data();
	return cbuf_.from(ring, ring.advance(ring.read(), offset));
}

void DataView::findDirect(uint32_t first, std::vector<LinePiece> &pieces) const
{
	const uint32_t width = op_.windows.data.width;
	const size_t column = size_t{ op_.windows.data.channels } * elementBytes(op_.precision);
	const uint32_t surfaces = op_.geometry->surfaces(op_.precision, op_.windows.data.channels);
	const LineLayout layout(width, surfaces, *op_.geometry);

	for (uint32_t surface = 0; surface < surfaces;) {
		/* The atoms of a column in one entry follow each other. */
		const uint32_t atoms = layout.atoms(surface);
		const size_t step = size_t{ atoms } * op_.atom();
		const size_t channel = size_t{ surface } * op_.atom();
		const uint32_t columns = layout.perEntry() / atoms;
		for (uint32_t x = 0; x < width;) {
			/* At this point x is the first column of an entry. */
			const auto here =
				entries(first + layout.atom(surface, x) / layout.perEntry());
			const size_t room = here.size() / op_.geometry->entryBytes * columns;
			const auto count = static_cast<uint32_t>(std::min<size_t>(width - x, room));
			LinePiece piece = { .from = here.data(),
					    .fromStep = step,
					    .to = x * column + channel,
					    .toStep = column,
					    .bytes = std::min(step, column - channel),
					    .parts = count };
			/* Join the parts, which are contiguous. */
			if (piece.bytes == step && piece.bytes == column) {
				piece.bytes *= count;
				piece.parts = 1;
			}
			pieces.push_back(piece);
			x += count;
		}
		surface += atoms;
	}
}

void DataView::findInMemory(uint32_t y, std::vector<LinePiece> &pieces) const
{
	const size_t column = size_t{ op_.windows.data.channels } * elementBytes(op_.precision);
	const size_t atom = op_.atom();
	const std::byte *from = &cube_->bytes[y * cube_->lineStride];

	for (size_t channel = 0; channel < column; channel += atom) {
		pieces.push_back({ .from = from,
				   .fromStep = atom,
				   .to = channel,
				   .toStep = column,
				   .bytes = std::min(atom, column - channel),
				   .parts = op_.windows.data.width });
		from += cube_->surfaceStride;
	}
}

void DataView::findImageInMemory(uint32_t y, std::vector<LinePiece> &pieces) const
{
	const std::span<const std::byte> around = cube_->around;
	const std::span<const std::byte> pixels =
		cube_->bytes.subspan(y * cube_->lineStride, cube_->pixelBytes);
	size_t to = 0;
	const auto put = [&](std::span<const std::byte> bytes) {
		if (!bytes.empty())
			pieces.push_back({ .from = bytes.data(), .to = to, .bytes = bytes.size() });
		to += bytes.size();
	};

	put(around.first(cube_->firstPixel));
	put(pixels);
	put(around.subspan(to));
}

void DataView::findImage(uint32_t first, std::vector<LinePiece> &pieces) const
{
	const uint32_t end = op_.bufferedEntries();
	const size_t entryBytes = op_.geometry->entryBytes;

	for (uint32_t i = 0; i < end;) {
		const auto here = entries(first + i);
		const auto count =
			static_cast<uint32_t>(std::min<size_t>(end - i, here.size() / entryBytes));
		pieces.push_back(
			{ .from = here.data(), .to = i * entryBytes, .bytes = count * entryBytes });
		i += count;
	}
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
				    &entries(first + tile.entry(x, c))[tile.byte(row, x)],
				    WinogradTile::kElementBytes);
}

} /* namespace nvdla::sim */
