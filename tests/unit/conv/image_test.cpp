/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "conv/cdma.h"
#include "conv/pixel_format.h"
#include "conv_support.h"
#include "each_target.h"

namespace nvdla::sim::test
{

namespace
{

using Elements = std::vector<int16_t>;

#define FORMAT(name) NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_FORMAT__T_##name

struct Word {
	uint32_t format;
	uint64_t bits;		 /* the pixel as a little-endian word, first plane below second */
	unsigned planeBytes;	 /* of the first plane */
	std::vector<int> values; /* channels in the order of the convolution */
};

TEST(PixelFormatTest, NamesGiveTheChannelsFromTheTopDown)
{
	const Word words[] = {
		{ FORMAT(R8), 0x91, 1, { 0x91 } },
		{ FORMAT(R16), 0x1234, 2, { 0x1234 } },
		{ FORMAT(A8B8G8R8), 0x0a0b0c0d, 4, { 0x0d, 0x0c, 0x0b, 0x0a } },
		{ FORMAT(A8R8G8B8), 0x0a0d0c0b, 4, { 0x0d, 0x0c, 0x0b, 0x0a } },
		{ FORMAT(B8G8R8A8), 0x0b0c0d0a, 4, { 0x0d, 0x0c, 0x0b, 0x0a } },
		{ FORMAT(R8G8B8X8), 0x0d0c0b0a, 4, { 0x0d, 0x0c, 0x0b, 0x0a } },
		{ FORMAT(V8U8Y8A8), 0x0b0c0d0a, 4, { 0x0d, 0x0c, 0x0b, 0x0a } },
		{ FORMAT(A16B16G16R16), 0x0004000300020001, 8, { 1, 2, 3, 4 } },
		{ FORMAT(A16Y16U16V16), 0x0004000100020003, 8, { 1, 2, 3, 4 } },
		{ FORMAT(V16U16Y16A16), 0x0003000200010004, 8, { 1, 2, 3, 4 } },
		{ FORMAT(A2B10G10R10),
		  3U << 30 | 0x2aa << 20 | 0x155 << 10 | 1,
		  4,
		  { 1 << 6, 0x155 << 6, 0x2aa << 6, 3 << 14 } },
		{ FORMAT(A2Y10U10V10),
		  2U << 30 | 5 << 20 | 6 << 10 | 7,
		  4,
		  { 5 << 6, 6 << 6, 7 << 6, 2 << 14 } },
		{ FORMAT(B10G10R10A2),
		  7U << 22 | 6 << 12 | 5 << 2 | 1,
		  4,
		  { 5 << 6, 6 << 6, 7 << 6, 1 << 14 } },
		{ FORMAT(R10G10B10A2),
		  5U << 22 | 6 << 12 | 7 << 2 | 1,
		  4,
		  { 5 << 6, 6 << 6, 7 << 6, 1 << 14 } },
		{ FORMAT(Y8___V8U8_N444), 0x030201, 1, { 1, 2, 3 } },
		{ FORMAT(Y8___U8V8_N444), 0x020301, 1, { 1, 2, 3 } },
		{ FORMAT(Y12___U12V12_N444), 0x000200030001, 2, { 1, 2, 3 } },
	};

	for (const Word &word : words) {
		const PixelFormat *format = pixelFormat(word.format);
		std::byte bytes[8];
		std::memcpy(bytes, &word.bits, sizeof(bytes));

		ASSERT_NE(format, nullptr);
		ASSERT_EQ(format->channels, word.values.size()) << word.format;
		EXPECT_EQ(format->pixelBytes(0), word.planeBytes) << word.format;
		for (uint32_t c = 0; c < format->channels; c++)
			EXPECT_EQ(pixelChannel(*format, c, bytes, bytes + word.planeBytes),
				  word.values[c])
				<< "format " << word.format << " channel " << c;
	}
}

TEST(PixelFormatTest, EveryValueOfTheRegisterIsKnownOrReserved)
{
	for (uint32_t value = 0; value < 64; value++)
		EXPECT_EQ(pixelFormat(value) != nullptr, value <= FORMAT(Y16___V16U16_N444));
}

/** An image of one plane, 4x3 pixels, and the operation that fetches it */
class ImageTest : public ::testing::Test
{
protected:
	static constexpr uint32_t kWidth = 4, kHeight = 3, kStride = 96;

	ImageTest() : port(bench.dram, bench.cvsram)
	{
		op.mode = ConvMode::Image;
		op.fetch.address = Bench::kData;
		op.fetch.lineStride = kStride;
		op.fetch.size = { kWidth, kHeight, 1 };
		op.windows.data = op.fetch.size;
	}

	std::string fetch(unsigned int threads = 1)
	{
		cbuf.clear();
		cbuf.begin(op);
		const auto fetcher = DataFetcher::create(op, port, cbuf);
		std::string error = fetcher->check();
		if (!error.empty())
			return error;
		Workers fetchers(threads);
		fetcher->fill(fetchers);
		special = fetcher->special();
		return fetcher->done() ? "" : "the image does not fit the data banks";
	}

	/** \return line \a y as far as there are pixels and padding */
	Elements line(uint32_t y)
	{
		const DataView view(op, cbuf);
		Elements elements(view.lineBytes() / elementBytes(op.precision));

		view.line(0, y, elements);
		elements.resize(size_t{ op.bufferedColumns() } * op.windows.data.channels);
		return elements;
	}

	/** \return the one channel R8 makes of \a pixel */
	int16_t convert(uint8_t pixel)
	{
		bench.store(Bench::kData, { pixel });
		EXPECT_EQ(fetch(), "");
		return line(0)[op.fetch.padLeft];
	}

	Bench bench;
	MemoryPort port;
	Cbuf cbuf;
	SpecialCount special;
	ConvOp op;
};

TEST_F(ImageTest, ConverterRoundsHalfAwayAndClips)
{
	op.pixel.format = FORMAT(R8);
	op.pixel.convert = true;
	std::fill(std::begin(op.pixel.mean), std::end(op.pixel.mean), int16_t{ 10 });
	op.pixel.scale = 3;
	op.pixel.truncate = 1;

	EXPECT_EQ(convert(11), 2) << "(11 - 10) * 3 / 2 = 1.5";
	EXPECT_EQ(convert(9), -2) << "(9 - 10) * 3 / 2 = -1.5";
	EXPECT_EQ(convert(0x80), 127) << "unsigned 128";
	op.pixel.isSigned = true;
	EXPECT_EQ(convert(0x80), -128) << "signed -128";
	op.precision = Precision::Int16;
	EXPECT_EQ(convert(0x80), -207);
	op.precision = Precision::Fp16;
	EXPECT_EQ(convert(0x80), static_cast<int16_t>(halfBits(-207)));
}

TEST_F(ImageTest, WithoutConverterBitsPassAndTheMeanIsIgnored)
{
	op.pixel.format = FORMAT(R8);
	std::fill(std::begin(op.pixel.mean), std::end(op.pixel.mean), int16_t{ 10 });
	EXPECT_EQ(convert(0x91), static_cast<int8_t>(0x91));
}

TEST_F(ImageTest, WithoutConverterBitsPassInEveryFormat)
{
	Random random(58);

	for (uint32_t value = 0; value <= FORMAT(Y16___V16U16_N444); value++) {
		const PixelFormat &format = *pixelFormat(value);
		std::vector<uint8_t> bytes(kWidth * 8);

		if (format.kind == PixelKind::Fp16)
			continue;
		for (uint8_t &byte : bytes)
			byte = static_cast<uint8_t>(random(0, 255));
		bench.store(Bench::kData, bytes);
		bench.store(Bench::kWeights, bytes);
		op.pixel.format = static_cast<uint8_t>(value);
		op.windows.data.channels = format.channels;
		op.fetch.addressUv = Bench::kWeights;
		op.fetch.padLeft = static_cast<uint32_t>(random(0, 3));
		for (const Precision precision : { Precision::Int8, Precision::Int16 }) {
			const bool narrow =
				precision == Precision::Int8 || format.kind == PixelKind::Int8;
			const auto *memory = reinterpret_cast<const std::byte *>(bytes.data());

			op.precision = precision;
			ASSERT_EQ(fetch(), "");
			const Elements got = line(0);
			for (uint32_t i = 0; i < kWidth * format.channels; i++) {
				const uint32_t x = i / format.channels;
				const std::byte *second =
					format.planes == 2 ? memory + x * format.pixelBytes(1)
							   : nullptr;
				const uint16_t raw =
					pixelChannel(format, i % format.channels,
						     memory + x * format.pixelBytes(0), second);
				EXPECT_EQ(got[op.fetch.padLeft * format.channels + i],
					  narrow ? static_cast<int8_t>(raw)
						 : static_cast<int16_t>(raw))
					<< "format " << value << " element " << i;
			}
		}
	}
}

TEST_F(ImageTest, PaddingIsAddedUnconverted)
{
	op.pixel.format = FORMAT(R8);
	op.pixel.convert = true;
	op.pixel.scale = 2;
	op.fetch.padLeft = 2;
	op.fetch.padRight = 1;
	op.fetch.padValue = 77;
	bench.store(Bench::kData + kStride, { 1, 2, 3, 4 });

	ASSERT_EQ(fetch(), "");
	EXPECT_EQ(cbuf.slices(), kHeight);
	EXPECT_EQ(line(1), (Elements{ 77, 77, 2, 4, 6, 8, 77 }));
}

TEST_F(ImageTest, XOffsetIsInPixelsAndWrapsInTheSecondPlane)
{
	op.pixel.format = FORMAT(Y8___V8U8_N444);
	op.pixel.xOffset = 17;
	op.fetch.addressUv = Bench::kWeights;
	op.fetch.lineStrideUv = 2 * kStride;
	op.windows.data.channels = 3;
	bench.store(Bench::kData + 17, { 1, 2, 3, 4 });
	bench.store(Bench::kWeights + 2, { 11, 21, 12, 22, 13, 23, 14, 24 });

	ASSERT_EQ(fetch(), "");
	EXPECT_EQ(line(0), (Elements{ 1, 11, 21, 2, 12, 22, 3, 13, 23, 4, 14, 24 }));
}

TEST_F(ImageTest, BytesGoThroughTheirChannelsConverter)
{
	Random random(57);

	for (uint32_t value = 0; value <= FORMAT(Y16___V16U16_N444); value++) {
		const PixelFormat &format = *pixelFormat(value);
		std::vector<uint8_t> bytes(kWidth * 4);

		if (format.kind != PixelKind::Int8)
			continue;
		for (uint8_t &byte : bytes)
			byte = static_cast<uint8_t>(random(0, 255));
		bench.store(Bench::kData, bytes);
		bench.store(Bench::kWeights, bytes);
		op.pixel.format = static_cast<uint8_t>(value);
		op.windows.data.channels = format.channels;
		op.pixel.convert = true;
		for (int16_t &mean : op.pixel.mean)
			mean = static_cast<int16_t>(random(0, 255));
		op.pixel.scale = static_cast<int16_t>(random(1, 3));
		op.fetch.addressUv = Bench::kWeights;

		std::vector<std::byte> memory(bytes.size());
		std::memcpy(memory.data(), bytes.data(), bytes.size());
		std::vector<int> expected;
		for (uint32_t x = 0; x < kWidth; x++) {
			const std::byte *pixel0 = &memory[x * format.pixelBytes(0)];
			const std::byte *pixel1 =
				format.planes == 2 ? &memory[x * format.pixelBytes(1)] : nullptr;
			for (uint32_t c = 0; c < format.channels; c++) {
				const int raw = pixelChannel(format, c, pixel0, pixel1);
				expected.push_back((raw - op.pixel.mean[c]) * op.pixel.scale);
			}
		}
		for (const Precision precision : { Precision::Int8, Precision::Int16 }) {
			const int highest = precision == Precision::Int8 ? 127 : 32767;
			op.precision = precision;
			ASSERT_EQ(fetch(), "");
			for (size_t i = 0; i < expected.size(); i++)
				EXPECT_EQ(line(0)[i],
					  std::clamp(expected[i], -highest - 1, highest))
					<< "format " << value << " element " << i;
		}
	}
}

TEST_F(ImageTest, FloatingPointPixelsPassAndAreCounted)
{
	op.pixel.format = FORMAT(R16_F);
	op.pixel.convert = true;
	op.pixel.scale = 5;
	op.precision = op.inPrecision = Precision::Fp16;
	op.fetch.flushNan = true;
	std::vector<uint8_t> bytes;
	for (int bits : { 0x3c00, 0x7c00, 0x7c01, 0xfc00 })
		appendElement(bytes, Precision::Fp16, static_cast<int16_t>(bits));
	appendElement(bytes, Precision::Fp16, 0x7c01); /* behind the line */
	bench.store(Bench::kData, bytes);

	ASSERT_EQ(fetch(), "");
	EXPECT_EQ(special.nan, 1U);
	EXPECT_EQ(special.inf, 2U);
	EXPECT_EQ(line(0), (Elements{ 0x3c00, 0x7c00, 0, static_cast<int16_t>(0xfc00) }));
}

TEST_F(ImageTest, FloatingPointPixelsPassInEveryFormat)
{
	Random random(59);

	op.precision = op.inPrecision = Precision::Fp16;
	for (uint32_t value = 0; value <= FORMAT(Y16___V16U16_N444); value++) {
		const PixelFormat &format = *pixelFormat(value);
		std::vector<std::byte> bytes(size_t{ kHeight } * kStride);

		if (format.kind != PixelKind::Fp16)
			continue;
		op.pixel.format = static_cast<uint8_t>(value);
		op.windows.data.channels = format.channels;
		for (const bool flush : { false, true }) {
			for (size_t i = 0; i < bytes.size(); i += 2) {
				const auto bits = static_cast<uint16_t>(random(0, 0xffff));
				/* Some that are special. */
				const uint16_t exponent = random(0, 3) ? 0 : 0x7c00;
				const auto half = static_cast<uint16_t>(bits | exponent);
				std::memcpy(&bytes[i], &half, sizeof(half));
			}
			bench.dram.write(Bench::kData, bytes);
			op.fetch.flushNan = flush;
			ASSERT_EQ(fetch(), "");

			SpecialCount expected;
			for (uint32_t y = 0; y < kHeight; y++) {
				const Elements got = line(y);
				for (uint32_t i = 0; i < kWidth * format.channels; i++) {
					const uint16_t raw = pixelChannel(
						format, i % format.channels,
						&bytes[y * size_t{ kStride } +
						       i / format.channels * format.pixelBytes(0)],
						nullptr);
					EXPECT_EQ(got[i],
						  static_cast<int16_t>(expected.pass(raw, flush)))
						<< "format " << value << " element " << i;
				}
			}
			EXPECT_GT(expected.nan, 0U);
			EXPECT_EQ(special.nan, expected.nan) << "format " << value;
			EXPECT_EQ(special.inf, expected.inf) << "format " << value;
		}
	}
}

/* Enough for threads to be worth it, with NaNs in every line; and lines written onto others. */
TEST_F(ImageTest, AnyNumberOfThreadsFetchesTheSame)
{
	constexpr uint32_t kSide = 120;
	constexpr uint16_t kNan = 0x7e01;
	std::vector<uint8_t> bytes(size_t{ kSide } * kSide * 4 * sizeof(uint16_t));

	for (size_t i = 0; i < bytes.size(); i++)
		bytes[i] = static_cast<uint8_t>(i * i % 113);
	for (size_t line = 0; line < kSide; line++)
		std::memcpy(&bytes[(line * kSide + line) * 4 * sizeof(kNan)], &kNan, sizeof(kNan));
	bench.store(Bench::kData, bytes);
	op.inPrecision = op.precision = Precision::Fp16;
	op.pixel.format = FORMAT(A16B16G16R16_F);
	op.dataBanks = 8;
	op.fetch.lineStride = kSide * 4 * sizeof(uint16_t);
	op.fetch.size = { kSide, kSide, 4 };
	op.windows.data = op.fetch.size;
	op.fetch.padLeft = 1;
	op.windows.entries = 9;

	for (const uint32_t entries : { 9U, 3U }) {
		op.fetch.entries = entries;
		ASSERT_EQ(fetch(), "");
		const SpecialCount alone = special;
		std::vector<Elements> lines;
		for (uint32_t y = 0; y < kSide / 3; y++)
			lines.push_back(line(y));
		EXPECT_EQ(alone.nan, kSide);
		for (const unsigned int threads : { 2U, 5U }) {
			ASSERT_EQ(fetch(threads), "");
			EXPECT_EQ(special.nan, alone.nan);
			EXPECT_EQ(special.inf, alone.inf);
			for (uint32_t y = 0; y < lines.size(); y++)
				EXPECT_EQ(line(y), lines[y]) << "line " << y;
		}
	}
}

TEST_F(ImageTest, LargerThanTheBanksIsRefused)
{
	op.pixel.format = FORMAT(R8);
	op.fetch.size = op.windows.data = { 8192, 200, 1 };
	EXPECT_NE(fetch(), "");
	EXPECT_LT(cbuf.slices(), op.fetch.size.height);
}

/** The convolution of an R8G8B8X8 image with \a rowsPerBlock rows to a MAC step */
std::vector<int32_t> convolveImage(uint32_t rowsPerBlock, uint32_t rows)
{
	constexpr uint32_t kC = 4, kS = 3, kK = 5, kW = 7, kH = 9;
	Random random(55 + rows);
	Bench bench;
	ConvOp op;
	Cube image(kC, kH, kW);
	std::vector<Cube> kernels(kK, Cube(kC, rows, kS));
	std::vector<uint8_t> bytes;

	random.fill(image, Precision::Int8);
	for (Cube &kernel : kernels)
		random.fill(kernel, Precision::Int8);
	for (uint32_t y = 0; y < kH; y++) {
		for (uint32_t x = 0; x < kW; x++)
			for (uint32_t c : { 0U, 1U, 2U, 3U })
				appendElement(bytes, Precision::Int8, image.at(c, y, x));
		bytes.resize((y + 1) * 32);
	}
	bench.store(Bench::kData, bytes);

	std::vector<uint8_t> weights;
	for (uint32_t r0 = 0; r0 < rows; r0 += rowsPerBlock)
		for (const Cube &kernel : kernels)
			for (uint32_t r = r0; r < std::min(r0 + rowsPerBlock, rows); r++)
				for (uint32_t s = 0; s < kS; s++)
					for (uint32_t c = 0; c < kC; c++)
						appendElement(weights, Precision::Int8,
							      kernel.at(c, r, s));
	weights.resize((weights.size() + 127) / 128 * 128);
	bench.store(Bench::kWeights, weights);

	op.mode = ConvMode::Image;
	op.pixel.format = FORMAT(A8B8G8R8);
	op.dataBanks = op.weightBanks = 1;
	op.fetch.address = Bench::kData;
	op.fetch.lineStride = 32;
	op.fetch.size = op.windows.data = { kW, kH, kC };
	op.fetch.padLeft = op.fetch.padRight = 1;
	op.fetch.padValue = op.windows.padValue = 3;
	op.weights.address = Bench::kWeights;
	op.weights.bytes = static_cast<uint32_t>(weights.size());
	op.windows.kernel = { 1, rows, kC * kS };
	op.windows.kernels = kK;
	op.windows.padTop = 1;
	op.windows.strideX = 2;
	op.windows.out = { 4, kH + 2 - rows, kK };
	op.windows.rowsPerBlock = rowsPerBlock;
	EXPECT_EQ(bench.run(op).guestError, "");

	Layer layer;
	layer.inputs = { image };
	layer.kernels = kernels;
	layer.strideX = 2;
	layer.padLeft = layer.padRight = layer.padTop = layer.padBottom = 1;
	layer.padValue = 3;
	for (uint32_t k = 0; k < kK; k++)
		for (uint32_t y = 0; y < op.windows.out.height; y++)
			for (uint32_t x = 0; x < op.windows.out.width; x++)
				EXPECT_EQ(bench.out->at(0, k, y, x), naiveOutput(layer, 0, k, y, x))
					<< "k " << k << " y " << y << " x " << x;
	return bench.out->values();
}

TEST(ImageConvolutionTest, PostExtensionChangesNothingButTheWeightOrder)
{
	for (uint32_t rows : { 1U, 2U, 3U, 5U, 6U, 7U }) {
		const std::vector<int32_t> plain = convolveImage(1, rows);
		EXPECT_EQ(convolveImage(2, rows), plain) << rows << " rows";
		EXPECT_EQ(convolveImage(4, rows), plain) << rows << " rows";
	}
}

} /* namespace */

} /* namespace nvdla::sim::test */
