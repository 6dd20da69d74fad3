/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>
#include <nvdla/half.h>
#include <nvdla/tensor.h>

namespace nvdla
{

namespace
{

/* The feature rule of the format document, written down directly. */
uint64_t featureOffset(const TensorDesc &desc, uint32_t n, uint32_t c, uint32_t h, uint32_t w)
{
	const uint64_t atomBytes = desc.format == PixelFormat::FeatureX8 ? 8 : 32;
	const uint64_t bytes = elementBytes(desc.type);
	const uint64_t channels = atomBytes / bytes;

	return n * (desc.size / desc.n) + c / channels * desc.surfaceStride +
	       uint64_t{ h } * desc.lineStride + w * atomBytes + c % channels * bytes;
}

uint64_t pixelOffset(const TensorDesc &desc, uint32_t channels, uint32_t c, uint32_t h, uint32_t w)
{
	const uint64_t bytes = elementBytes(desc.type);

	return uint64_t{ h } * desc.lineStride + (uint64_t{ w } * channels + c) * bytes;
}

std::vector<std::byte> randomBytes(std::mt19937 &random, size_t count)
{
	std::vector<std::byte> bytes(count);

	std::generate(bytes.begin(), bytes.end(), [&] { return std::byte(random() & 0xff); });
	return bytes;
}

/* Packs and compares every element with what \a offset says; the rest has to be zero. */
template<typename Offset>
void checkPacking(const TensorDesc &desc, std::mt19937 &random, Offset offset)
{
	const size_t bytes = elementBytes(desc.type);
	const auto elements = randomBytes(random, desc.elements() * bytes);
	std::vector<std::byte> packed(desc.size, std::byte{ 0xaa });
	ASSERT_TRUE(packElements(desc, elements, packed)) << desc.describe();

	std::vector<std::byte> expected(desc.size);
	size_t position = 0;
	for (uint32_t n = 0; n < desc.n; n++)
		for (uint32_t c = 0; c < desc.c; c++)
			for (uint32_t h = 0; h < desc.h; h++)
				for (uint32_t w = 0; w < desc.w; w++, position += bytes)
					std::memcpy(&expected[offset(n, c, h, w)],
						    &elements[position], bytes);
	ASSERT_EQ(packed, expected) << desc.describe();

	auto back = unpackElements(desc, packed);
	ASSERT_TRUE(back);
	ASSERT_EQ(*back, elements) << desc.describe();
}

} /* namespace */

TEST(Tensor, FeatureLayoutIsThatOfTheFormatDocument)
{
	const unsigned seed = 20;
	std::mt19937 random(seed);

	for (int round = 0; round < 200; round++) {
		TensorDesc desc;
		desc.name = "random";
		desc.type =
			std::array{ DataType::Int8, DataType::Int16, DataType::Half }[random() % 3];
		desc.format = random() % 4 ? PixelFormat::Feature : PixelFormat::FeatureX8;
		desc.n = 1 + random() % 3;
		desc.c = 1 + random() % 70;
		desc.h = 1 + random() % 7;
		desc.w = 1 + random() % 9;
		const uint32_t atomBytes = desc.format == PixelFormat::Feature ? 32 : 8;
		const uint32_t channels =
			atomBytes / static_cast<uint32_t>(elementBytes(desc.type));
		desc.lineStride = desc.w * atomBytes + random() % 3 * 32;
		desc.surfaceStride = desc.h * desc.lineStride + random() % 3 * 32;
		desc.size = uint64_t{ desc.n } * (desc.c + channels - 1) / channels *
				    desc.surfaceStride +
			    desc.n * uint64_t{ desc.surfaceStride };
		desc.size -= desc.size % desc.n;
		checkPacking(desc, random, [&](uint32_t n, uint32_t c, uint32_t h, uint32_t w) {
			return featureOffset(desc, n, c, h, w);
		});
	}
}

TEST(Tensor, PixelsLieBesideEachOther)
{
	std::mt19937 random(21);
	const struct {
		PixelFormat format;
		DataType type;
		uint32_t channels;
	} cases[] = {
		{ PixelFormat::R8, DataType::Int8, 1 },
		{ PixelFormat::R16, DataType::Int16, 1 },
		{ PixelFormat::R16I, DataType::Int16, 1 },
		{ PixelFormat::R16F, DataType::Half, 1 },
		{ PixelFormat::A8B8G8R8, DataType::Int8, 4 },
		{ PixelFormat::A16B16G16R16, DataType::Int16, 4 },
		{ PixelFormat::A16B16G16R16F, DataType::Half, 4 },
	};

	for (const auto &one : cases) {
		for (uint32_t c = 1; c <= one.channels; c++) {
			TensorDesc desc;
			desc.name = "image";
			desc.type = one.type;
			desc.format = one.format;
			desc.c = c;
			desc.h = 5;
			desc.w = 7;
			desc.lineStride = 96;
			desc.size = 5 * 96;
			checkPacking(desc, random,
				     [&](uint32_t, uint32_t ch, uint32_t h, uint32_t w) {
					     return pixelOffset(desc, one.channels, ch, h, w);
				     });
		}
	}
}

TEST(Tensor, PackedFeatureHasNoGaps)
{
	const TensorDesc desc = TensorDesc::packedFeature("x", DataType::Half, 17, 3, 5);

	EXPECT_EQ(desc.lineStride, 5u * 32);
	EXPECT_EQ(desc.surfaceStride, 3u * 5 * 32);
	EXPECT_EQ(desc.size, 2u * 3 * 5 * 32);
	EXPECT_TRUE(desc.check());
}

TEST(Tensor, RefusesWhatCannotBe)
{
	const TensorDesc good = TensorDesc::packedFeature("x", DataType::Int8, 33, 4, 4);
	auto expectError = [](TensorDesc desc, ErrorCode code, const char *where) {
		auto result = desc.check();
		ASSERT_FALSE(result);
		EXPECT_EQ(result.error().code, code);
		EXPECT_EQ(result.error().where, where);
	};

	TensorDesc desc = good;
	desc.c = 0;
	expectError(desc, ErrorCode::InvalidArgument, "c");
	desc = good;
	desc.w = 8193;
	expectError(desc, ErrorCode::InvalidArgument, "w");
	desc = good;
	desc.lineStride = 96;
	expectError(desc, ErrorCode::InvalidArgument, "stride_1");
	desc = good;
	desc.size -= 1;
	expectError(desc, ErrorCode::InvalidArgument, "size");
	desc = good;
	desc.surfaceStride = 0xffffffff;
	expectError(desc, ErrorCode::InvalidArgument, "size");
	desc = good;
	desc.type = DataType::Float;
	expectError(desc, ErrorCode::Unsupported, "data_type");
	desc = good;
	desc.format = static_cast<PixelFormat>(38);
	expectError(desc, ErrorCode::Unsupported, "pixel_format");
	desc = good;
	desc.format = PixelFormat::A8B8G8R8;
	desc.c = 5;
	expectError(desc, ErrorCode::InvalidArgument, "c");
	desc.c = 4;
	desc.type = DataType::Half;
	expectError(desc, ErrorCode::InvalidArgument, "data_type");
}

TEST(Tensor, SizeErrorsNameBothSizes)
{
	const TensorDesc desc = TensorDesc::packedFeature("x", DataType::Int8, 3, 2, 2);
	std::vector<std::byte> packed(desc.size);
	const std::vector<std::byte> elements(11);

	auto result = packElements(desc, elements, packed);
	ASSERT_FALSE(result);
	EXPECT_NE(result.error().why.find("11"), std::string::npos);
	EXPECT_NE(result.error().why.find("12"), std::string::npos);

	packed.pop_back();
	auto unpacked = unpackElements(desc, packed);
	ASSERT_FALSE(unpacked);
	EXPECT_NE(unpacked.error().why.find("127"), std::string::npos);
	EXPECT_NE(unpacked.error().why.find("128"), std::string::npos);
}

TEST(Tensor, NumbersBecomeElements)
{
	const std::vector<float> values{ 0.4f, -0.5f, 2.5f, 127.4f, 300.0f, -300.0f, NAN };

	EXPECT_EQ(elementsToFloat(DataType::Int8, elementsFromFloat(DataType::Int8, values)),
		  (std::vector<float>{ 0, -1, 3, 127, 127, -128, 0 }));
	EXPECT_EQ(elementsToFloat(DataType::Int16,
				  elementsFromFloat(DataType::Int16,
						    std::vector<float>{ 1e6f, -1e6f, 1.5f })),
		  (std::vector<float>{ 32767, -32768, 2 }));
	EXPECT_EQ(elementsToFloat(DataType::Half,
				  elementsFromFloat(DataType::Half, std::vector<float>{ 0.1f })),
		  (std::vector<float>{ halfToFloat(0x2e66) }));
}

} /* namespace nvdla */
