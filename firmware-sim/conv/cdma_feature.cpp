/* SPDX-License-Identifier: MIT */
/*
 * Fetches feature cubes into the convolution buffer, for direct and Winograd convolution.
 *
 * A line of a feature cube is one run of atoms per surface (formats document, "Feature Data
 * Format"). In Winograd mode, lines are those of the padded, channel-extended cube ("Channel
 * extension for Winograd").
 */
#include "conv/cdma.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "conv/line_elements.h"
#include "conv/tile_operands.h"
#include "core/shared_units.h"

namespace nvdla::sim
{

bool SpecialCount::any(std::span<const std::byte> halves)
{
	return !areFinite(halves.data(), halves.size() / sizeof(uint16_t));
}

void SpecialCount::pass(std::span<std::byte> halves, bool flush)
{
	if (!any(halves))
		return;
	for (size_t i = 0; i < halves.size(); i += sizeof(uint16_t)) {
		uint16_t bits;
		std::memcpy(&bits, &halves[i], sizeof(bits));
		bits = pass(bits, flush);
		std::memcpy(&halves[i], &bits, sizeof(bits));
	}
}

namespace
{

/** Reads lines of one feature cube, surface by surface */
class LineReader
{
public:
	LineReader(const ConvOp &op, MemoryPort &memory, SpecialCount &special)
		: op_(op), special_(special),
		  surfaces_(op.geometry->surfaces(op.precision, op.fetch.size.channels)),
		  lineBytes_(size_t{ op.fetch.size.width } * op.atom()),
		  source_(memory, op.fetch.ram, op.fetch.address,
			  offset(op.batches - 1, surfaces_ - 1, op.fetch.size.height - 1) +
				  lineBytes_)
	{
	}

	uint32_t surfaces() const { return surfaces_; }

	/**
	 * \return the atoms of line \a y of cube \a batch
	 *
	 * Valid until a surface with the same number modulo kMostAtomsPerEntry is read.
	 */
	std::span<const std::byte> read(uint32_t batch, uint32_t surface, uint32_t y)
	{
		std::vector<std::byte> &buffer = buffers_[surface % std::size(buffers_)];
		const std::span<const std::byte> bytes =
			source_.view(offset(batch, surface, y), lineBytes_, buffer);

		if (op_.precision != Precision::Fp16 || !SpecialCount::any(bytes))
			return bytes;
		if (bytes.data() != buffer.data())
			buffer.assign(bytes.begin(), bytes.end());
		special_.pass(buffer, op_.fetch.flushNan);
		return buffer;
	}

	/** \return the cube in memory; nothing if memory cannot be read in place, or if NaNs and
	 * infinities of FP16 may have to be counted */
	std::optional<CubeInMemory> look()
	{
		if (source_.all().empty() || op_.batches > 1 || op_.precision == Precision::Fp16 ||
		    reinterpret_cast<uintptr_t>(source_.all().data()) % op_.atom())
			return {};
		return CubeInMemory{ source_.all(), lineBytes_ * op_.fetch.size.height * surfaces_,
				     static_cast<size_t>(offset(0, 0, 1) - offset(0, 0, 0)),
				     static_cast<size_t>(offset(0, 1, 0) - offset(0, 0, 0)) };
	}

private:
	uint64_t offset(uint32_t batch, uint32_t surface, uint32_t y) const
	{
		const DataFetch &fetch = op_.fetch;
		const uint64_t cube = static_cast<uint64_t>(batch) * fetch.batchStride;

		/* A packed 1x1 cube is one line of atoms, for any surface stride. */
		if (fetch.packed && fetch.size.width == 1 && fetch.size.height == 1)
			return cube + static_cast<uint64_t>(surface) * op_.atom();
		return cube + static_cast<uint64_t>(surface) * fetch.surfaceStride +
		       static_cast<uint64_t>(y) * fetch.lineStride;
	}

	const ConvOp &op_;
	SpecialCount &special_;
	uint32_t surfaces_;
	size_t lineBytes_;
	ReadRange source_;
	std::vector<std::byte> buffers_[LineLayout::kMostAtomsPerEntry];
};

/** Base of the fetchers for direct and for Winograd mode; each thread has a LineReader */
class FeatureFetcher : public DataFetcher
{
protected:
	using DataFetcher::DataFetcher;

	/** \param offset distance from CDMA's pointer in entries */
	virtual void fetchLine(LineReader &reader, uint32_t line, uint32_t offset) = 0;

private:
	FetchLine newLines(MemoryPort &memory, SpecialCount &special) override
	{
		return [this, reader = LineReader(op_, memory, special)](uint32_t line,
									 uint32_t offset) mutable {
			fetchLine(reader, line, offset);
		};
	}
};

/** Direct mode: fetches the cube unchanged, the cubes of a batch line by line */
class DirectFetcher : public FeatureFetcher
{
public:
	DirectFetcher(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf)
		: FeatureFetcher(op, memory, cbuf, op.fetch.size.height, 1),
		  surfaces_(op.geometry->surfaces(op.precision, op.fetch.size.channels)),
		  layout_(op.fetch.size.width, surfaces_, *op.geometry),
		  entries_(entriesPerSlice(op.mode, op.precision, op.fetch.size.width,
					   op.fetch.size.channels, *op.geometry))
	{
	}

	std::string check() const override
	{
		if (op_.fetch.size.width != op_.windows.data.width)
			return "CDMA DATAIN_WIDTH and CSC DATAIN_WIDTH_EXT differ";
		if (op_.fetch.size.channels != op_.windows.data.channels)
			return "CDMA DATAIN_CHANNEL and CSC DATAIN_CHANNEL_EXT differ";
		return {};
	}

protected:
	uint32_t lineEntries() const override { return entries_; }

	std::optional<CubeInMemory> look() override
	{
		SpecialCount none;
		return LineReader(op_, memory_, none).look();
	}

private:
	void fetchLine(LineReader &reader, uint32_t line, uint32_t offset) override
	{
		for (uint32_t batch = 0; batch < op_.batches; batch++) {
			const uint32_t first = offset + batch * op_.fetchedEntries();

			for (uint32_t i = layout_.firstPadded(entries_); i < entries_; i++)
				std::fill_n(entry(first + i), op_.geometry->entryBytes,
					    std::byte{ 0 });
			for (uint32_t surface = 0; surface < surfaces_;
			     surface += layout_.atoms(surface))
				putColumns(reader, batch, line, surface, first);
		}
	}

	/* Stores columns of the surfaces from \a surface on that share an entry. */
	void putColumns(LineReader &reader, uint32_t batch, uint32_t line, uint32_t surface,
			uint32_t first)
	{
		const uint32_t width = op_.fetch.size.width;
		const size_t atom = op_.atom();
		const size_t step = layout_.atoms(surface) * atom;
		const uint32_t count = std::min(layout_.atoms(surface), surfaces_ - surface);
		const std::byte *atoms[LineLayout::kMostAtomsPerEntry];

		for (uint32_t i = 0; i < count; i++)
			atoms[i] = reader.read(batch, surface + i, line).data();
		for (uint32_t x = 0; x < width;) {
			/* At this point x is the first column of an entry. */
			const auto room =
				entries(first + layout_.atom(surface, x) / layout_.perEntry());
			const auto columns = static_cast<uint32_t>(
				std::min<size_t>(width - x, room.size() / step));
			const size_t before = x * atom;

			for (uint32_t i = 0; i < count; i++)
				putAtoms(atoms[i] + before, columns, step, &room[i * atom]);
			x += columns;
		}
	}

	void putAtoms(const std::byte *atoms, uint32_t count, size_t step, std::byte *out) const
	{
		const size_t atom = op_.atom();

		if (step == atom) {
			std::memcpy(out, atoms, count * atom);
			return;
		}
		for (uint32_t i = 0; i < count; i++, out += step, atoms += atom)
			if (atom == atomBytes)
				std::memcpy(out, atoms, atomBytes); /* a constant size, so that the
								     * copy is inlined */
			else
				std::memcpy(out, atoms, atom);
	}

	const uint32_t surfaces_;
	LineLayout layout_;
	uint32_t entries_; /* entries of a line */
};

/** Winograd mode: fetches lines of the channel-extended cube, in tiles of 4 lines by 4 columns */
class WinogradFetcher : public FeatureFetcher
{
public:
	WinogradFetcher(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf)
		: FeatureFetcher(op, memory, cbuf, op.windows.data.height, WinogradTile::kSide),
		  channels_(op.geometry->surfaces(op.precision, op.fetch.size.channels) *
			    atomChannels(op.precision)),
		  tile_(op.precision, op.windows.data.width)
	{
	}

	std::string check() const override
	{
		const DataFetch &fetch = op_.fetch;
		const CubeSize &data = op_.windows.data;

		if ((fetch.padTop + fetch.size.height + fetch.padBottom) / fetch.strideY !=
			    data.height ||
		    (fetch.padLeft + fetch.size.width + fetch.padRight) / fetch.strideX !=
			    data.width)
			return "CDMA: padded input and CSC D_DATAIN_SIZE_EXT_0 differ";
		if (channels_ * fetch.strideX * fetch.strideY != data.channels)
			return "CDMA DATAIN_CHANNEL and CSC DATAIN_CHANNEL_EXT differ";
		return {};
	}

protected:
	uint32_t lineEntries() const override
	{
		const CubeSize &data = op_.windows.data;
		return entriesPerSlice(op_.mode, op_.precision, data.width, data.channels);
	}

private:
	/** \param offset entry of the line, as if the four lines of a tile had separate entries */
	void fetchLine(LineReader &reader, uint32_t line, uint32_t offset) override
	{
		const uint32_t row = line % WinogradTile::kSide;
		const std::vector<int16_t> elements = extended(reader, line);
		const CubeSize &data = op_.windows.data;

		offset -= row * op_.fetchedEntries();
		for (uint32_t x = 0; x < data.width; x++)
			for (uint32_t c = 0; c < data.channels; c += tile_.channels())
				tile_.put(&elements[static_cast<size_t>(x) * data.channels + c],
					  entry(offset + tile_.entry(x, c)) + tile_.byte(row, x));
	}

	/** \return line \a line with padding; positions that a stride skips become channels */
	std::vector<int16_t> extended(LineReader &reader, uint32_t line) const
	{
		const DataFetch &fetch = op_.fetch;
		const CubeSize &data = op_.windows.data;
		std::vector<int16_t> out(static_cast<size_t>(data.width) * data.channels,
					 padElement(op_.precision, fetch.padValue));

		for (uint32_t phaseY = 0; phaseY < fetch.strideY; phaseY++) {
			const uint32_t y = line * fetch.strideY + phaseY - fetch.padTop;
			if (y >= fetch.size.height)
				continue;
			for (uint32_t surface = 0; surface < reader.surfaces(); surface++)
				putPhase(reader.read(0, surface, y), phaseY,
					 surface * atomChannels(op_.precision), out);
		}
		return out;
	}

	void putPhase(std::span<const std::byte> atoms, uint32_t phaseY, uint32_t channel,
		      std::vector<int16_t> &out) const
	{
		const DataFetch &fetch = op_.fetch;
		const CubeSize &data = op_.windows.data;

		for (uint32_t x = 0; x < fetch.size.width; x++) {
			const uint32_t column = x + fetch.padLeft;
			const uint32_t phase = phaseY * fetch.strideX + column % fetch.strideX;
			if (column / fetch.strideX >= data.width)
				return;
			widenElements(atoms.subspan(size_t{ x } * atomBytes), op_.precision,
				      std::span(out).subspan(
					      static_cast<size_t>(column / fetch.strideX) *
							      data.channels +
						      static_cast<size_t>(phase) * channels_ +
						      channel,
					      atomChannels(op_.precision)));
		}
	}

	uint32_t channels_; /* channels of the cube in memory, in whole atoms */
	WinogradTile tile_;
};

} /* namespace */

std::unique_ptr<DataFetcher> DataFetcher::create(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf)
{
	switch (op.mode) {
	case ConvMode::Image:
		return createImageFetcher(op, memory, cbuf);
	case ConvMode::Winograd:
		return std::make_unique<WinogradFetcher>(op, memory, cbuf);
	default:
		return std::make_unique<DirectFetcher>(op, memory, cbuf);
	}
}

uint32_t DataFetcher::linesThatFit() const
{
	const uint32_t entries = op_.fetchedEntries() * op_.batches;
	const uint32_t room =
		(cbuf_.data().size() - cbuf_.data().available()) & cbuf_.data().mask();
	const uint64_t fit = room / std::max(uint64_t{ entries } * step_, uint64_t{ 1 }) * step_;

	return static_cast<uint32_t>(std::min<uint64_t>(fit, lines_ - next_));
}

std::optional<CubeInMemory> DataFetcher::leave(const StreamSink &sink)
{
	if (linesThatFit() < lines_ || memory_.cancelled())
		return {};
	const auto cube = look();
	if (!cube || !sink.leavesAlone(cube->bytes))
		return {};
	next_ = lines_;
	cbuf_.addSlices(lines_, op_.fetchedEntries() * op_.batches);
	memory_.countRead(op_.fetch.ram, cube->size);
	return cube;
}

/* Uses a single thread if lines overwrite each other in the ring, because their order matters. */
void DataFetcher::fetchLines(uint32_t count, uint32_t step, Workers &workers)
{
	struct Part {
		const DataFetcher &fetcher;
		const uint32_t step;
		SpecialCount special = {};
		FetchLine fetch = {};

		void work(uint64_t unit)
		{
			const auto line = static_cast<uint32_t>(unit);

			fetch(fetcher.next_ + line, line * step);
		}
	};
	const bool apart = lineEntries() <= op_.fetchedEntries();
	const uint64_t bytes = uint64_t{ count } * step * op_.geometry->entryBytes;

	shareUnits(
		&workers, apart ? threadsFor(bytes, kBytesForAThread) : 1, memory_, count,
		[&](MemoryPort &port) {
			auto part = std::unique_ptr<Part>(new Part{ *this, step });
			part->fetch = newLines(port, part->special);
			return part;
		},
		[&](const Part &part) { special_.add(part.special); });
}

void DataFetcher::fill(Workers &workers)
{
	const uint32_t entries = op_.fetchedEntries() * op_.batches;
	const uint32_t count = linesThatFit();

	if (count == 0 || memory_.cancelled())
		return;
	fetchLines(count, entries, workers);
	next_ += count;
	cbuf_.addSlices(count, entries);
}

} /* namespace nvdla::sim */
