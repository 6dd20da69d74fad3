/* SPDX-License-Identifier: MIT */
/*
 * Fetches pixels into the convolution buffer: unpacks and converts them, and adds columns of
 * padding.
 *
 * As in nvdlav1's RTL, padding does not pass the converter; if the converter is off, bits are
 * unchanged and no mean is subtracted.
 */
#include "conv/cdma.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "arith/float.h"
#include "arith/integer.h"
#include "conv/pixel_format.h"
#include "core/elements.h"

namespace nvdla::sim
{

namespace
{

/** Converts one channel's raw bits to the buffered element */
class PixelConverter
{
public:
	/** \param special counter of NaNs and infinities of FP16 */
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

	/** \return the bits as a number of 17 bits, signed according to PIXEL_SIGN_OVERRIDE */
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

/** Convert a line to elements, channel fastest: the readable reference, for all formats */
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
 * Does convertLine() for pixels of four bytes, with tables of the converter's results
 *
 * Tables pay because most images have more pixels than a table has entries.
 */
class QuadConverter
{
public:
	static bool accepts(const PixelFormat &format)
	{
		return format.kind == PixelKind::Int8 && format.channels == kQuad;
	}

	/** \param elementBytes bytes of a buffered element */
	QuadConverter(const PixelFormat &format, PixelConverter &convert, uint32_t elementBytes)
	{
		const uint32_t bits = 8 * elementBytes;
		const uint64_t mask = (uint64_t{ 1 } << bits) - 1;

		for (uint32_t channel = 0; channel < kQuad; channel++)
			for (uint16_t raw = 0; raw < quads_[channel].size(); raw++)
				quads_[format.element(channel)][raw] =
					(static_cast<uint64_t>(convert(channel, raw)) & mask)
					<< channel * bits;
	}

	/** \tparam Quad integer of the size of four elements */
	template<typename Quad>
	void convert(const PixelLine &line, std::byte *out) const
	{
		const size_t pixels = line.pixels;
		const std::byte *in = line.planes[0];
		const auto *quads = quads_.data();
		uint32_t pixel = 0;

		for (size_t x = 0; x < pixels; x++, in += kQuad, out += sizeof(Quad)) {
			/* All supported hosts are little-endian. */
			std::memcpy(&pixel, in, sizeof(pixel));
			const auto quad = static_cast<Quad>(
				quads[0][pixel & 0xff] | quads[1][pixel >> 8 & 0xff] |
				quads[2][pixel >> 16 & 0xff] | quads[3][pixel >> 24]);
			std::memcpy(out, &quad, sizeof(quad));
		}
	}

private:
	static constexpr uint32_t kQuad = 4;

	/* Tables: [byte of the pixel][value of the byte] is the element, shifted to its place.
	 */
	std::array<std::array<uint64_t, 256>, kQuad> quads_;
};

/** \return true if pixels are buffered unchanged, except for NaNs */
bool passesAsItIs(const ConvOp &op, const PixelFormat &format)
{
	const auto bytes = static_cast<uint32_t>(elementBytes(op.precision));
	const bool isFloat = format.kind == PixelKind::Fp16; /* FP16 pixels are never converted */
	const bool isSame = (format.kind == PixelKind::Int8 && op.precision == Precision::Int8) ||
			    (format.kind == PixelKind::Int16 && op.precision == Precision::Int16);

	for (uint32_t channel = 0; channel < format.channels; channel++) {
		if (format.place[channel] != channel)
			return false;
	}
	return (isFloat || (isSame && !op.pixel.convert)) && format.planes == 1 &&
	       format.pixelBytes(0) == format.channels * bytes;
}

/** One plane of the image, read line by line */
class Plane
{
public:
	Plane(const ConvOp &op, MemoryPort &memory, uint32_t pixelBytes, uint64_t firstPixel,
	      uint32_t lineStride)
		: lineStride_(lineStride),
		  lineBytes_(static_cast<size_t>(op.fetch.size.width) * pixelBytes),
		  source_(memory, op.fetch.ram, firstPixel,
			  uint64_t{ op.fetch.size.height - 1 } * lineStride + lineBytes_)
	{
	}

	/** \return all lines and the gaps between them; empty if memory cannot be read in place */
	std::span<const std::byte> all() const { return source_.all(); }
	size_t lineBytes() const { return lineBytes_; }

	/** \return line \a y, valid until the next line is read */
	const std::byte *read(uint32_t y)
	{
		return source_.view(uint64_t{ y } * lineStride_, lineBytes_, line_).data();
	}

private:
	uint32_t lineStride_;
	size_t lineBytes_;
	ReadRange source_;
	std::vector<std::byte> line_; /* copy of a line, if memory cannot be read in place */
};

/** Fetches pixels and adds columns of padding, line by line */
class ImageFetcher : public DataFetcher
{
public:
	ImageFetcher(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf)
		: DataFetcher(op, memory, cbuf, op.fetch.size.height, 1),
		  format_(*pixelFormat(op.pixel.format)), passes_(passesAsItIs(op, format_))
	{
		const size_t line = size_t{ op.bufferedColumns() } * format_.channels;
		const size_t entryBytes = op.geometry->entryBytes;
		const size_t perEntry = entryBytes / elementBytes(op.precision);

		padding_.resize((line + perEntry - 1) / perEntry * entryBytes);
		narrowElements(
			std::vector<int16_t>(line, padElement(op.precision, op.fetch.padValue)),
			op.precision, padding_);
		if (passes_ || !QuadConverter::accepts(format_))
			return;
		SpecialCount none;
		PixelConverter convert(op, format_, none);
		convertQuads_.emplace(format_, convert, elementBytes(op.precision));
	}

	std::string check() const override
	{
		if (op_.fetch.size.width != op_.windows.data.width)
			return "CDMA DATAIN_WIDTH and CSC DATAIN_WIDTH_EXT differ";
		return {};
	}

protected:
	FetchLine newLines(MemoryPort &memory, SpecialCount &special) override
	{
		return [lines = ImageLines(*this, memory, special)](uint32_t line,
								    uint32_t offset) mutable {
			lines.fetch(line, offset);
		};
	}
	uint32_t lineEntries() const override
	{
		return static_cast<uint32_t>(padding_.size() / op_.geometry->entryBytes);
	}
	std::optional<CubeInMemory> look() override
	{
		if (!passes_ || format_.kind == PixelKind::Fp16)
			return {};
		const Plane plane = this->plane(memory_, 0);
		if (plane.all().empty())
			return {};
		return CubeInMemory{ .bytes = plane.all(),
				     .size = plane.lineBytes() * op_.fetch.size.height,
				     .lineStride = op_.fetch.lineStride,
				     .surfaceStride = 0,
				     .around = padding_,
				     .firstPixel = firstPixel(),
				     .pixelBytes = plane.lineBytes() };
	}

private:
	class ImageLines
	{
	public:
		ImageLines(ImageFetcher &fetcher, MemoryPort &memory, SpecialCount &special)
			: fetcher_(fetcher), special_(special),
			  convert_(fetcher.op_, fetcher.format_, special),
			  plane0_(fetcher.plane(memory, 0)), plane1_(fetcher.plane(memory, 1)),
			  elements_(size_t{ fetcher.op_.fetch.size.width } *
				    fetcher.format_.channels),
			  bytes_(fetcher.padding_)
		{
		}

		void fetch(uint32_t y, uint32_t offset);

	private:
		void convert(const PixelLine &line, std::byte *out);

		ImageFetcher &fetcher_;
		SpecialCount &special_;
		PixelConverter convert_;
		Plane plane0_;
		Plane plane1_;
		std::vector<int16_t> elements_; /* unpacked elements of a line */
		std::vector<std::byte> bytes_;	/* bytes of a line as it is buffered */
	};

	/** \return the offset of the first pixel in a buffered line, after the padding */
	size_t firstPixel() const
	{
		return size_t{ op_.fetch.padLeft } * format_.channels * elementBytes(op_.precision);
	}
	/* \return a plane; the address register of plane 1 points to the atom with the first
	 * pixel */
	Plane plane(MemoryPort &memory, uint32_t index) const
	{
		const DataFetch &fetch = op_.fetch;
		const uint32_t bytes = index < format_.planes ? format_.pixelBytes(index) : 0;
		const uint32_t before = op_.pixel.xOffset * bytes;

		return index == 0
			       ? Plane(op_, memory, bytes, fetch.address + before, fetch.lineStride)
			       : Plane(op_, memory, bytes, fetch.addressUv + before % op_.atom(),
				       fetch.lineStrideUv);
	}

	const PixelFormat &format_;
	const bool passes_;
	std::optional<QuadConverter> convertQuads_;
	/* A line's bytes around its pixels: padding, then zeroes to the end of an entry. */
	std::vector<std::byte> padding_;
};

void ImageFetcher::ImageLines::convert(const PixelLine &line, std::byte *out)
{
	const ConvOp &op = fetcher_.op_;
	const auto &quads = fetcher_.convertQuads_;

	if (fetcher_.passes_) {
		const std::span pixels(out, line.pixels * fetcher_.format_.pixelBytes(0));
		std::memcpy(pixels.data(), line.planes[0], pixels.size());
		if (fetcher_.format_.kind == PixelKind::Fp16)
			special_.pass(pixels, op.fetch.flushNan);
	} else if (!quads) {
		convertLine(fetcher_.format_, convert_, line, elements_.data());
		narrowElements(elements_, op.precision,
			       { out, elements_.size() * elementBytes(op.precision) });
	} else if (op.precision == Precision::Int8) {
		quads->convert<uint32_t>(line, out);
	} else {
		quads->convert<uint64_t>(line, out);
	}
}

void ImageFetcher::ImageLines::fetch(uint32_t y, uint32_t offset)
{
	const PixelFormat &format = fetcher_.format_;
	const PixelLine line = { { plane0_.read(y),
				   format.planes == 2 ? plane1_.read(y) : nullptr },
				 fetcher_.op_.fetch.size.width };

	convert(line, &bytes_[fetcher_.firstPixel()]);
	fetcher_.cbuf_.put(bytes_, fetcher_.cbuf_.data(), fetcher_.cbuf_.data().write(), offset);
}

} /* namespace */

std::unique_ptr<DataFetcher> createImageFetcher(const ConvOp &op, MemoryPort &memory, Cbuf &cbuf)
{
	return std::make_unique<ImageFetcher>(op, memory, cbuf);
}

} /* namespace nvdla::sim */
