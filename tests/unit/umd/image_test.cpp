/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <filesystem>
#include <span>

#include <gtest/gtest.h>
#include <nvdla/image.h>
#include <unistd.h>

#include "jpeg.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

std::vector<std::byte> bytes(const std::string &text)
{
	const auto *raw = reinterpret_cast<const std::byte *>(text.data());
	return std::vector<std::byte>(raw, raw + text.size());
}

} /* namespace */

TEST(Picture, PgmAndPpm)
{
	auto grey = decodeImage(bytes("P5 # a comment\n2 1\n255\n\x10\x20"), "grey");
	ASSERT_TRUE(grey) << grey.error().message();
	EXPECT_EQ(grey->width, 2u);
	EXPECT_EQ(grey->channels, 1u);
	EXPECT_EQ(grey->pixels, (std::vector<uint8_t>{ 0x10, 0x20 }));

	auto colour = decodeImage(bytes("P6\n1 2\n255\nabcdef"), "colour");
	ASSERT_TRUE(colour);
	EXPECT_EQ(colour->channels, 3u);
	EXPECT_EQ(colour->pixels.back(), 'f');
}

TEST(Picture, DamagedFilesAreRefused)
{
	for (const char *text :
	     { "", "P5", "P5 2", "P5 2 1 255", "P5 2 1 255\nx", "P5 2 1 65535\nxxxx",
	       "P5 0 1 255\n", "P5 9999 1 255\n", "P2 1 1 255\n1", "P5 a b c\n",
	       "P5 # only a comment", "\x89PNG\r\n\x1a\n", "GIF89a" })
		EXPECT_FALSE(decodeImage(bytes(text), "file")) << text;
}

TEST(Picture, PngComesBack)
{
	const auto path = std::filesystem::temp_directory_path() /
			  ("nvdla-image-test-" + std::to_string(getpid()) + ".png");
	for (uint32_t channels : { 1u, 3u }) {
		Image image{ 3, 2, channels, {} };
		for (uint32_t i = 0; i < 6 * channels; i++)
			image.pixels.push_back(static_cast<uint8_t>(i * 11));
		ASSERT_TRUE(writePng(path, image));
		auto back = readImage(path);
		ASSERT_TRUE(back) << back.error().message();
		EXPECT_EQ(back->channels, channels);
		EXPECT_EQ(back->pixels, image.pixels);
	}
	const auto good = test::readBytes(path);
	for (size_t length = 0; length + 12 < good.size(); length += 5)
		EXPECT_FALSE(decodeImage(std::span(good).first(length), "cut")) << length;
	std::filesystem::remove(path);
	EXPECT_FALSE(readImage(path));
	EXPECT_FALSE(writePng(path, Image{ 3, 2, 1, {} }));
}

TEST(Picture, Jpeg)
{
	for (uint32_t channels : { 1u, 3u }) {
		Image image{ 16, 9, channels, {} };
		for (uint32_t i = 0; i < 16 * 9; i++) {
			for (uint32_t c = 0; c < channels; c++)
				image.pixels.push_back(static_cast<uint8_t>(40 + 90 * c));
		}
		const auto file = test::encodeJpeg(image);
		auto back = decodeImage(file, "jpeg");
		ASSERT_TRUE(back) << back.error().message();
		EXPECT_EQ(back->width, 16u);
		EXPECT_EQ(back->height, 9u);
		ASSERT_EQ(back->pixels.size(), image.pixels.size());
		/* At the best quality a flat area is off by the rounding of its colours. */
		for (size_t i = 0; i < image.pixels.size(); i++)
			EXPECT_NEAR(back->pixels[i], image.pixels[i], 1) << i;
		for (size_t length = 0; length + 2 < file.size(); length += 7)
			EXPECT_FALSE(decodeImage(std::span(file).first(length), "cut")) << length;
	}
}

TEST(Picture, ColoursOfPrintAreRefusedWithARemedy)
{
	const Image print{ 2, 1, 4, std::vector<uint8_t>(8, 50) };
	const auto read = decodeImage(test::encodeJpeg(print), "print");

	ASSERT_FALSE(read);
	EXPECT_NE(read.error().why.find("convert it to RGB"), std::string::npos)
		<< read.error().message();
}

TEST(Picture, ResizeKeepsFlatAreasAndAverages)
{
	const Image flat{ 5, 7, 3, std::vector<uint8_t>(5 * 7 * 3, 77) };
	for (uint8_t pixel : resize(flat, 4, 4).pixels)
		EXPECT_EQ(pixel, 77);
	EXPECT_EQ(resize(flat, 9, 20).pixels.size(), 9u * 20 * 3);
	const Image quad{ 2, 2, 1, { 0, 100, 50, 50 } };
	EXPECT_EQ(resize(quad, 1, 1).pixels, (std::vector<uint8_t>{ 50 }));
	EXPECT_EQ(resize(quad, 2, 2).pixels, quad.pixels);
}

TEST(Picture, PixelsBecomeElements)
{
	TensorDesc desc = TensorDesc::packedFeature("x", DataType::Int8, 1, 1, 3);
	const Image image{ 3, 1, 1, { 0, 128, 255 } };
	auto elements = elementsFromImage(desc, image);
	ASSERT_TRUE(elements);
	EXPECT_EQ(elementsToFloat(DataType::Int8, *elements), (std::vector<float>{ 0, 64, 127 }));

	desc = TensorDesc::packedFeature("x", DataType::Half, 1, 1, 3);
	elements = elementsFromImage(desc, image, { { 128, 0, 0, 0 }, 2.0f });
	ASSERT_TRUE(elements);
	EXPECT_EQ(elementsToFloat(DataType::Half, *elements), (std::vector<float>{ -64, 0, 63.5 }));

	/* Colour goes to three of four channels, plane by plane. */
	desc = TensorDesc::packedFeature("x", DataType::Half, 4, 1, 2);
	const Image colour{ 2, 1, 3, { 1, 2, 3, 4, 5, 6 } };
	elements = elementsFromImage(desc, colour);
	ASSERT_TRUE(elements);
	EXPECT_EQ(elementsToFloat(DataType::Half, *elements),
		  (std::vector<float>{ 1, 4, 2, 5, 3, 6, 0, 0 }));
}

TEST(Picture, WithoutAQuantizationBytesAreThoseOfTheFirstRuntime)
{
	const TensorDesc desc = TensorDesc::packedFeature("x", DataType::Int8, 1, 16, 16);
	Image image{ 16, 16, 1, {} };
	std::vector<float> expected;
	for (int pixel = 0; pixel < 256; pixel++) {
		image.pixels.push_back(static_cast<uint8_t>(pixel));
		expected.push_back(static_cast<float>((pixel * 254 + 255) / 510));
	}

	for (const PixelScaling &scaling :
	     { PixelScaling{}, PixelScaling{ { 100, 0, 0, 0 }, 3.0f } }) {
		auto elements = elementsFromImage(desc, image, scaling);
		ASSERT_TRUE(elements);
		EXPECT_EQ(elementsToFloat(desc.type, *elements), expected);
	}
}

TEST(Picture, UnsignedElementsAreItsBytes)
{
	TensorDesc desc = TensorDesc::image("x", PixelFormat::R8, 1, 4);
	const Image image{ 4, 1, 1, { 0, 127, 128, 255 } };
	desc.isUnsigned = true;
	auto elements = elementsFromImage(desc, image, { { 128, 0, 0, 0 }, 2.0f });
	ASSERT_TRUE(elements);
	EXPECT_TRUE(std::ranges::equal(*elements, std::as_bytes(std::span(image.pixels))));
	EXPECT_EQ(elementsToFloat(desc, *elements).value(),
		  (std::vector<float>{ 0, 127, 128, 255 }));

	/* Around a mean, a network subtracts the zero point itself. */
	desc.quantization = Quantization{ 0.5, 128 };
	elements = elementsFromImage(desc, image, { { 128, 0, 0, 0 }, 2.0f });
	ASSERT_TRUE(elements);
	EXPECT_TRUE(std::ranges::equal(*elements, std::as_bytes(std::span(image.pixels))));
}

/* The same numbers as an FP16 tensor gets, in steps. */
TEST(Picture, WithAQuantizationPixelsAreScaled)
{
	const PixelScaling scaling{ { 128, 100, 0, 0 }, 64.0f };
	const Image image{ 2, 1, 3, { 0, 100, 7, 255, 228, 64 } };
	TensorDesc desc = TensorDesc::packedFeature("x", DataType::Int8, 4, 1, 2);
	desc.quantization = Quantization{ 1.0 / 32, -5 };
	auto elements = elementsFromImage(desc, image, scaling);
	ASSERT_TRUE(elements) << elements.error().message();
	EXPECT_EQ(elementsToFloat(desc.type, *elements),
		  (std::vector<float>{ -69, 59, -5, 59, -1, 27, -5, -5 }));

	TensorDesc half = TensorDesc::packedFeature("x", DataType::Half, 4, 1, 2);
	const auto reals = elementsToFloat(half, elementsFromImage(half, image, scaling).value());
	const auto steps = elementsToFloat(desc, *elements).value();
	for (size_t i = 0; i < steps.size(); i++)
		EXPECT_NEAR(steps[i], reals->at(i), 1.0 / 64);
}

/* A number of the mean that belongs to no channel would have no effect. */
TEST(Picture, NoMeanForChannelsThatAreNotThere)
{
	const auto error = [](uint32_t channels, const PixelScaling &scaling) {
		const Image image{ 1, 1, channels == 1 ? 1u : 3u, std::vector<uint8_t>(3) };
		const auto made = elementsFromImage(
			TensorDesc::packedFeature("x", DataType::Half, channels, 1, 1), image,
			scaling);
		return made ? "" : made.error().message();
	};

	for (const uint32_t colours : { 3u, 4u }) {
		EXPECT_EQ(error(colours, { { 1, 2, 3, 0 }, 1 }), "");
		EXPECT_NE(error(colours, { { 1, 2, 3, 4 }, 1 })
				  .find("takes red, green and blue, and mean has 4 numbers"),
			  std::string::npos);
	}
	EXPECT_EQ(error(1, { { 1, 0, 0, 0 }, 1 }), "");
	EXPECT_EQ(error(1, { { 128, 128, 128, 0 }, 1 }), "");
	EXPECT_NE(error(1, { { 128, 128, 128, 128 }, 1 }), "");
	EXPECT_NE(error(1, { { 1, 2, 3, 0 }, 1 }).find("takes grey pixels, and mean has 3 numbers"),
		  std::string::npos);
}

TEST(Picture, WrongSizesAreNamed)
{
	const TensorDesc desc = TensorDesc::packedFeature("x", DataType::Int8, 1, 28, 28);
	auto elements = elementsFromImage(desc, Image{ 3, 1, 1, { 0, 1, 2 } });
	ASSERT_FALSE(elements);
	EXPECT_NE(elements.error().why.find("3 x 1"), std::string::npos);
	EXPECT_NE(elements.error().why.find("28 x 28"), std::string::npos);
	EXPECT_FALSE(elementsFromImage(TensorDesc::packedFeature("x", DataType::Int8, 1, 1, 1),
				       Image{ 1, 1, 3, { 0, 1, 2 } }));
	EXPECT_FALSE(elementsFromImage(TensorDesc::packedFeature("x", DataType::Half, 1, 1, 1),
				       Image{ 1, 1, 1, { 0 } }, { {}, 0.0f }));
}

} /* namespace nvdla */
