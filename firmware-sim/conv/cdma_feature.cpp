/* SPDX-License-Identifier: MIT */
/*
 * Feature cubes into the convolution buffer, for direct and Winograd convolution.
 *
 * A line of a feature cube is one run of 32-byte atoms per surface (formats
 * document, "Feature Data Format"). Winograd lines are those of the cube that
 * padding and channel extension make of it ("Channel extension for Winograd").
 */
#include "conv/cdma.h"

#include <algorithm>
#include <cstring>

namespace nvdla::sim
{

namespace
{

constexpr uint32_t kAtomBytes = 32;

/** Reads lines of one feature cube, all surfaces, as elements */
class LineReader
{
public:
	LineReader(const ConvOp &op, MemoryPort &memory, SpecialCount &special)
		: op_(op), memory_(memory), special_(special),
		  atomChannels_(atomChannels(op.precision)),
		  surfaces_((op.fetch.size.channels + atomChannels_ - 1) / atomChannels_),
		  bytes_(static_cast<size_t>(op.fetch.size.width) * kAtomBytes)
	{
	}

	/** \return channels of a line as read: whole atoms */
	uint32_t channels() const { return surfaces_ * atomChannels_; }

	/**
	 * \brief Read line \a y of cube \a batch
	 * \param put called with (x, first channel, elements) for each atom
	 */
	template<typename Put>
	void read(uint32_t batch, uint32_t y, Put put)
	{
		for (uint32_t surface = 0; surface < surfaces_; surface++) {
			memory_.read(op_.fetch.ram, address(batch, surface, y), bytes_);
			const uint32_t first = surface * atomChannels_;
			for (uint32_t x = 0; x < op_.fetch.size.width; x++) {
				unpack(&bytes_[static_cast<size_t>(x) * kAtomBytes]);
				put(x, first, static_cast<const int16_t *>(atom_));
			}
		}
	}

private:
	uint64_t address(uint32_t batch, uint32_t surface, uint32_t y) const
	{
		const DataFetch &fetch = op_.fetch;
		const uint64_t base =
			fetch.address + static_cast<uint64_t>(batch) * fetch.batchStride;

		/* A packed 1x1 cube is one line of atoms, whatever its surface stride says. */
		if (fetch.packed && fetch.size.width == 1 && fetch.size.height == 1)
			return base + static_cast<uint64_t>(surface) * kAtomBytes;
		return base + static_cast<uint64_t>(surface) * fetch.surfaceStride +
		       static_cast<uint64_t>(y) * fetch.lineStride;
	}

	void unpack(const std::byte *bytes)
	{
		if (op_.precision == Precision::Int8) {
			for (uint32_t i = 0; i < kAtomBytes; i++)
				atom_[i] = std::to_integer<int8_t>(bytes[i]);
			return;
		}
		std::memcpy(atom_, bytes, kAtomBytes);
		if (op_.precision == Precision::Fp16) {
			for (uint32_t i = 0; i < atomChannels_; i++)
				atom_[i] = static_cast<int16_t>(special_.pass(
					static_cast<uint16_t>(atom_[i]), op_.fetch.flushNan));
		}
	}

	const ConvOp &op_;
	MemoryPort &memory_;
	SpecialCount &special_;
	uint32_t atomChannels_;
	uint32_t surfaces_;
	std::vector<std::byte> bytes_;
	int16_t atom_[kAtomBytes];
};

void fetchDirect(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, SpecialCount &special)
{
	const CubeSize &size = op.fetch.size;
	LineReader reader(op, memory, special);

	for (uint32_t batch = 0; batch < op.batches; batch++) {
		for (uint32_t y = 0; y < size.height && !memory.cancelled(); y++) {
			Slice slice(static_cast<size_t>(size.width) * size.channels);
			reader.read(batch, y, [&](uint32_t x, uint32_t first, const int16_t *atom) {
				const uint32_t count =
					std::min(atomChannels(op.precision), size.channels - first);
				std::copy_n(atom, count,
					    &slice[static_cast<size_t>(x) * size.channels + first]);
			});
			cbuf.append(std::move(slice));
		}
	}
}

void fetchWinograd(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, SpecialCount &special)
{
	const DataFetch &fetch = op.fetch;
	LineReader reader(op, memory, special);
	const uint32_t channels = reader.channels();
	const CubeSize &extended = op.windows.data;
	const int16_t padding = padElement(op.precision, fetch.padValue);

	for (uint32_t line = 0; line < extended.height && !memory.cancelled(); line++) {
		Slice slice(static_cast<size_t>(extended.width) * extended.channels, padding);

		for (uint32_t phaseY = 0; phaseY < fetch.strideY; phaseY++) {
			const uint32_t y = line * fetch.strideY + phaseY - fetch.padTop;
			if (y >= fetch.size.height)
				continue;
			reader.read(0, y, [&](uint32_t x, uint32_t first, const int16_t *atom) {
				const uint32_t column = x + fetch.padLeft;
				if (column / fetch.strideX >= extended.width)
					return;
				const uint32_t phase =
					phaseY * fetch.strideX + column % fetch.strideX;
				const size_t at = static_cast<size_t>(column / fetch.strideX) *
							  extended.channels +
						  static_cast<size_t>(phase) * channels + first;
				std::copy_n(atom, atomChannels(op.precision), &slice[at]);
			});
		}
		cbuf.append(std::move(slice));
	}
}

} /* namespace */

std::string fetchData(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, SpecialCount &special)
{
	const DataFetch &fetch = op.fetch;
	const CubeSize &data = op.windows.data;
	uint32_t lines = fetch.size.height * op.batches;
	uint32_t channels = fetch.size.channels;

	if (op.mode == ConvMode::Winograd) {
		const uint32_t atoms = atomChannels(op.precision);
		channels = (channels + atoms - 1) / atoms * atoms * fetch.strideX * fetch.strideY;
		lines = data.height;
		if ((fetch.padTop + fetch.size.height + fetch.padBottom) / fetch.strideY !=
			    data.height ||
		    (fetch.padLeft + fetch.size.width + fetch.padRight) / fetch.strideX !=
			    data.width)
			return "CDMA: padded input and CSC D_DATAIN_SIZE_EXT_0 differ";
	} else if (fetch.size.width != data.width) {
		return "CDMA DATAIN_WIDTH and CSC DATAIN_WIDTH_EXT differ";
	}
	if (channels != data.channels)
		return "CDMA DATAIN_CHANNEL and CSC DATAIN_CHANNEL_EXT differ";

	const uint64_t entries = entriesPerSlice(op.mode, op.precision, data.width, channels);
	if (entries * (cbuf.slices() + static_cast<uint64_t>(lines)) >
	    static_cast<uint64_t>(op.dataBanks) * kBankEntries)
		return "CDMA: the cube does not fit the data banks";

	if (op.mode == ConvMode::Winograd)
		fetchWinograd(op, memory, cbuf, special);
	else
		fetchDirect(op, memory, cbuf, special);
	return {};
}

} /* namespace nvdla::sim */
