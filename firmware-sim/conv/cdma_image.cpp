/* SPDX-License-Identifier: MIT */
/*
 * Pixels into the convolution buffer: unpacking, conversion, columns of padding.
 *
 * Hardware semantics, "Image": padding does not pass the converter; with the
 * converter off the bits are taken as they are and no mean is subtracted.
 */
#include "conv/cdma.h"

#include <array>
#include <optional>
#include <vector>

#include "arith/float.h"
#include "arith/integer.h"
#include "conv/pixel_format.h"

namespace nvdla::sim
{

namespace
{

constexpr uint32_t kFetchBytes = 32;

/** One channel's raw bits to the element that is buffered */
class PixelConverter
{
public:
	PixelConverter(const ConvOp &op, const PixelFormat &format, SpecialCount &special)
		: op_(op), format_(format), special_(special)
	{
	}

	int16_t operator()(uint32_t channel, uint16_t raw)
	{
		if (format_.kind == PixelKind::Fp16)
			return static_cast<int16_t>(special_.pass(raw, op_.fetch.flushNan));
		if (!op_.pixel.convert)
			return unconverted(raw);

		const arith::Converter converter = { op_.pixel.mean[channel], op_.pixel.scale,
						     op_.pixel.truncate };
		const int64_t value = arith::saturate<17>(converter.apply(sample(raw)));
		switch (op_.precision) {
		case Precision::Fp16:
			return static_cast<int16_t>(
				arith::int17ToFp16(static_cast<int32_t>(value)));
		case Precision::Int16:
			return static_cast<int16_t>(arith::saturate<16>(value));
		default:
			return static_cast<int16_t>(arith::saturate<8>(value));
		}
	}

private:
	int16_t unconverted(uint16_t raw) const
	{
		if (format_.kind == PixelKind::Int8 || op_.precision == Precision::Int8)
			return static_cast<int8_t>(raw);
		return static_cast<int16_t>(raw);
	}

	/** The number of 17 bits that PIXEL_SIGN_OVERRIDE makes of the bits */
	int32_t sample(uint16_t raw) const
	{
		if (!op_.pixel.isSigned)
			return raw;
		return format_.kind == PixelKind::Int8 ? static_cast<int8_t>(raw)
						       : static_cast<int16_t>(raw);
	}

	const ConvOp &op_;
	const PixelFormat &format_;
	SpecialCount &special_;
};

/** A line of the image in memory; the second plane may be absent */
struct PixelLine {
	const std::byte *planes[2];
	uint32_t pixels;
};

/** A line to elements, channel fastest: the readable way, for all formats */
void convertLine(const PixelFormat &format, PixelConverter &convert, PixelLine line, int16_t *out)
{
	for (uint32_t x = 0; x < line.pixels; x++) {
		for (uint32_t channel = 0; channel < format.channels; channel++)
			*out++ = convert(channel, pixelChannel(format, channel, line.planes[0],
							       line.planes[1]));
		line.planes[0] += format.pixelBytes(0);
		if (line.planes[1])
			line.planes[1] += format.pixelBytes(1);
	}
}

/**
 * convertLine() for channels of 8 bits, by a table of what the converter makes of them
 *
 * Most pictures have more pixels than a table has entries.
 */
class ByteConverter
{
public:
	ByteConverter(const PixelFormat &format, PixelConverter &convert)
		: format_(format), tables_(format.channels)
	{
		for (uint32_t channel = 0; channel < format.channels; channel++)
			for (uint16_t raw = 0; raw < tables_[channel].size(); raw++)
				tables_[channel][raw] = convert(channel, raw);
	}

	void operator()(const PixelLine &line, int16_t *out) const
	{
		for (uint32_t channel = 0; channel < format_.channels; channel++) {
			const uint32_t plane = format_.plane(channel);
			const std::byte *from = line.planes[plane] + format_.element(channel);
			const size_t step = format_.pixelBytes(plane);

			for (size_t x = 0; x < line.pixels; x++)
				out[x * format_.channels + channel] =
					tables_[channel][std::to_integer<uint8_t>(from[x * step])];
		}
	}

private:
	const PixelFormat &format_;
	std::vector<std::array<int16_t, 256>> tables_;
};

/** One plane of the image, read line by line */
class Plane
{
public:
	Plane(const ConvOp &op, MemoryPort &memory, uint32_t pixelBytes, uint64_t firstPixel,
	      uint32_t lineStride)
		: memory_(memory), ram_(op.fetch.ram), address_(firstPixel),
		  lineStride_(lineStride),
		  line_(static_cast<size_t>(op.fetch.size.width) * pixelBytes)
	{
	}

	const std::byte *read(uint32_t y)
	{
		memory_.read(ram_, address_ + static_cast<uint64_t>(y) * lineStride_, line_);
		return line_.data();
	}

private:
	MemoryPort &memory_;
	RamType ram_;
	uint64_t address_;
	uint32_t lineStride_;
	std::vector<std::byte> line_;
};

} /* namespace */

std::string fetchImage(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf, SpecialCount &special)
{
	const DataFetch &fetch = op.fetch;
	const PixelFormat &format = *pixelFormat(op.pixel.format);
	const uint32_t columns = fetch.padLeft + fetch.size.width + fetch.padRight;
	const uint32_t channels = format.channels;

	if (fetch.size.width != op.windows.data.width)
		return "CDMA DATAIN_WIDTH and CSC DATAIN_WIDTH_EXT differ";
	const uint64_t entries = entriesPerSlice(op.mode, op.precision, columns, channels);
	if (entries * (cbuf.slices() + static_cast<uint64_t>(fetch.size.height)) >
	    static_cast<uint64_t>(op.dataBanks) * kBankEntries)
		return "CDMA: the image does not fit the data banks";

	PixelConverter convert(op, format, special);
	std::optional<ByteConverter> convertBytes;
	if (format.kind == PixelKind::Int8)
		convertBytes.emplace(format, convert);
	const uint32_t bytes0 = format.pixelBytes(0);
	const uint32_t bytes1 = format.planes == 2 ? format.pixelBytes(1) : 0;
	/* The second address register names the 32-byte unit that holds the first pixel. */
	Plane plane0(op, memory, bytes0, fetch.address + op.pixel.xOffset * bytes0,
		     fetch.lineStride);
	Plane plane1(op, memory, bytes1, fetch.addressUv + op.pixel.xOffset * bytes1 % kFetchBytes,
		     fetch.lineStrideUv);
	const int16_t pad = padElement(op.precision, fetch.padValue);

	for (uint32_t y = 0; y < fetch.size.height && !memory.cancelled(); y++) {
		const PixelLine line = { { plane0.read(y),
					   format.planes == 2 ? plane1.read(y) : nullptr },
					 fetch.size.width };
		Slice slice(static_cast<size_t>(columns) * channels, pad);
		int16_t *out = &slice[static_cast<size_t>(fetch.padLeft) * channels];

		if (convertBytes)
			(*convertBytes)(line, out);
		else
			convertLine(format, convert, line, out);
		cbuf.append(std::move(slice));
	}
	return {};
}

} /* namespace nvdla::sim */
