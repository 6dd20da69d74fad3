/* SPDX-License-Identifier: MIT */
/*
 * Weights that umd packs give, on the device model, the convolution that the plain ones
 * define; and they come back.
 */
#include <cstring>

#include <gtest/gtest.h>
#include <nvdla/weights.h>

#include "model_convolution.h"
#include "user/nvdla_engine.h"
#include "plain_convolution.h"

namespace nvdla
{

using namespace test;

TEST(Weights, DirectOrderIsThatOfTheFormatDocument)
{
	/* 2 groups of 16 and 2 kernels, 2 blocks of 64 and 1 channels, 1 x 2. */
	const WeightDesc desc{ DataType::Int16, 18, 65, 1, 2 };
	std::vector<uint16_t> plain(desc.elements());
	for (size_t i = 0; i < plain.size(); i++)
		plain[i] = static_cast<uint16_t>(i);
	auto packed = packDirectWeights(nvFull, desc, std::as_bytes(std::span(plain)));
	ASSERT_TRUE(packed) << packed.error().message();
	ASSERT_EQ(packed->size(), alignUp(desc.elements() * 2, 128));

	auto at = [&](size_t position) {
		uint16_t value;
		std::memcpy(&value, &(*packed)[position * 2], sizeof(value));
		return value;
	};
	auto index = [&](uint32_t k, uint32_t c, uint32_t s) { return (k * 65 + c) * 2 + s; };
	EXPECT_EQ(at(0), index(0, 0, 0));
	EXPECT_EQ(at(1), index(0, 1, 0)) << "channels change fastest";
	EXPECT_EQ(at(64), index(1, 0, 0)) << "then kernels";
	EXPECT_EQ(at(16 * 64), index(0, 0, 1)) << "then columns";
	EXPECT_EQ(at(2 * 16 * 64), index(0, 64, 0)) << "then blocks, the last one is short";
	EXPECT_EQ(at(2 * 16 * 64 + 1), index(1, 64, 0));
	EXPECT_EQ(at(2 * 16 * 65), index(16, 0, 0)) << "then groups, the last one is short, too";
	EXPECT_EQ(at(2 * 16 * 65 + 64), index(17, 0, 0));
}

TEST(Weights, DirectConvolutionOnTheModel)
{
	Random random(101);

	for (int round = 0; round < 40; round++) {
		const WeightDesc desc{ random.type(), random.size(1, 70), random.size(1, 140),
				       random.size(1, 4), random.size(1, 4) };
		const PlainWindow window{ random.size(1, 3), random.size(1, 3),
					  random.size(0, desc.width - 1),
					  random.size(0, desc.height - 1) };
		/* FP16 keeps sums of these exact. */
		const int32_t limit = desc.type == DataType::Half ? 2 : 100;
		const PlainData data =
			randomData(random, desc.channels, desc.height + 2, desc.width + 3, limit);
		const auto weights = random.numbers(desc.elements(), limit);
		const auto plain = elementsFromFloat(desc.type, weights);

		auto packed = packDirectWeights(nvFull, desc, plain);
		ASSERT_TRUE(packed) << packed.error().message();
		EXPECT_EQ(*unpackDirectWeights(nvFull, desc, *packed), plain);

		const uint32_t outHeight =
			(data.h + window.padTop - desc.height) / window.strideY + 1;
		const uint32_t outWidth =
			(data.w + window.padLeft - desc.width) / window.strideX + 1;
		ModelConvolution model(desc.type, data.c, data.h, data.w, data.v);
		model.setKernel(desc, outHeight, outWidth);
		model.op.windows.strideX = window.strideX;
		model.op.windows.strideY = window.strideY;
		model.op.windows.padLeft = window.padLeft;
		model.op.windows.padTop = window.padTop;
		model.weights = *packed;
		expectConvolution(model.run(), desc.type, desc, weights, data, window, outHeight,
				  outWidth);
	}
}

TEST(Weights, ImageConvolutionOnTheModel)
{
	Random random(102);

	for (int round = 0; round < 40; round++) {
		const uint32_t lines = random.oneOf<uint32_t>({ 1, 2, 4 });
		const uint32_t widest = lines == 1 ? 40 : 16 / lines;
		const WeightDesc desc{ DataType::Int8, random.size(1, 70), 4, random.size(1, 6),
				       random.size(1, widest) };
		const PlainData data = randomData(random, 4, desc.height + 2, desc.width + 3, 127);
		const auto weights = random.numbers(desc.elements(), 127);
		const auto plain = elementsFromFloat(desc.type, weights);

		auto packed = packImageWeights(nvFull, desc, plain, lines);
		ASSERT_TRUE(packed) << packed.error().message();
		EXPECT_EQ(*unpackImageWeights(nvFull, desc, *packed, lines), plain);

		TensorDesc image;
		image.format = PixelFormat::A8B8G8R8;
		image.c = 4;
		image.h = data.h;
		image.w = data.w;
		image.lineStride = static_cast<uint32_t>(alignUp(data.w * 4, 32));
		image.size = uint64_t{ image.lineStride } * image.h;
		ModelConvolution model(desc.type, 4, data.h, data.w, data.v);
		model.data.resize(image.size);
		ASSERT_TRUE(
			packElements(image, elementsFromFloat(DataType::Int8, data.v), model.data));
		model.op.mode = sim::ConvMode::Image;
		model.op.pixel.format = static_cast<uint8_t>(image.format);
		model.op.fetch.lineStride = image.lineStride;
		model.setKernel(imageKernel(desc), 3, 4);
		model.op.windows.rowsPerBlock = lines;
		model.weights = *packed;
		expectConvolution(model.run(), desc.type, desc, weights, data, {}, 3, 4);
	}
}

TEST(Weights, CompressedConvolutionOnTheModel)
{
	Random random(106);

	for (int round = 0; round < 24; round++) {
		const WeightDesc desc{ random.type(), random.size(1, 80), random.size(1, 90),
				       random.size(1, 3), random.size(1, 3) };
		const PlainData data =
			randomData(random, desc.channels, desc.height + 1, desc.width + 1, 2);
		auto weights = random.numbers(desc.elements(), 2);
		const int32_t zeroes = random(0, 10);
		for (float &weight : weights)
			weight = random(1, 10) <= zeroes ? 0.0f : weight;
		const auto packed =
			packDirectWeights(nvFull, desc, elementsFromFloat(desc.type, weights));
		ASSERT_TRUE(packed);

		auto compressed = compressWeights(nvFull, desc, *packed);
		ASSERT_TRUE(compressed) << compressed.error().message();
		for (const auto *surface :
		     { &compressed->weights, &compressed->mask, &compressed->groupSizes })
			EXPECT_EQ(surface->size() % 128, 0u);
		auto expanded = expandWeights(nvFull, desc, *compressed);
		ASSERT_TRUE(expanded) << expanded.error().message();
		EXPECT_EQ(*expanded, *packed);

		ModelConvolution model(desc.type, data.c, data.h, data.w, data.v);
		model.setKernel(desc, 2, 2);
		model.compressed = &*compressed;
		expectConvolution(model.run(), desc.type, desc, weights, data, {}, 2, 2);
	}
}

TEST(Weights, GroupSizesAndMaskAreThoseOfTheFormatDocument)
{
	/* 34 kernels of 5 elements: a group of 32 and one of 2. */
	const WeightDesc desc{ DataType::Int8, 34, 5, 1, 1 };
	std::vector<std::byte> packed(packedWeightBytes(nvFull, desc));
	packed[0] = std::byte{ 1 };
	packed[9] = std::byte{ 2 };
	packed[160] = std::byte{ 3 };

	auto compressed = compressWeights(nvFull, desc, packed);
	ASSERT_TRUE(compressed);
	uint32_t sizes[2];
	std::memcpy(sizes, compressed->groupSizes.data(), sizeof(sizes));
	EXPECT_EQ(sizes[0], 2u);
	EXPECT_EQ(sizes[1], 1u);
	EXPECT_EQ(compressed->mask[0], std::byte{ 1 });
	EXPECT_EQ(compressed->mask[1], std::byte{ 2 });
	EXPECT_EQ(compressed->mask[20], std::byte{ 1 }) << "no gap between groups";
	EXPECT_EQ(compressed->weights[2], std::byte{ 3 });

	compressed->mask[20] = std::byte{ 3 };
	EXPECT_FALSE(expandWeights(nvFull, desc, *compressed)) << "mask and size differ";
	compressed->mask.resize(16);
	EXPECT_FALSE(expandWeights(nvFull, desc, *compressed)) << "the mask is too short";
}

TEST(Weights, RefusesWhatCannotBe)
{
	const std::vector<std::byte> nine(9);
	WeightDesc desc{ DataType::Int8, 1, 1, 3, 3 };

	EXPECT_TRUE(packDirectWeights(nvFull, desc, nine));
	EXPECT_FALSE(packDirectWeights(nvFull, desc, std::span(nine).first(8)));
	EXPECT_FALSE(unpackDirectWeights(nvFull, desc, std::span(nine).first(8)));
	EXPECT_FALSE(packImageWeights(nvFull, desc, nine, 3));
	EXPECT_FALSE(splitDeconvolution(desc, 0, 1, nine));
	desc.type = DataType::Float;
	EXPECT_EQ(packDirectWeights(nvFull, desc, nine).error().code, ErrorCode::Unsupported);
	desc = { DataType::Int8, 1, 0, 3, 3 };
	EXPECT_FALSE(packDirectWeights(nvFull, desc, {}));
	desc = { DataType::Int8, 1, 11, 1, 3 };
	const std::vector<std::byte> image(33);
	EXPECT_TRUE(packImageWeights(nvFull, desc, image, 1));
	EXPECT_FALSE(packImageWeights(nvFull, desc, image, 2)) << "33 channels, 32 fit";
	desc = { DataType::Int8, 1, 1, 2, 3 };
	EXPECT_EQ(winogradKernel(nvFull, desc, {}).error().code, ErrorCode::Unsupported);
	desc = { DataType::Int8, 1, 3000, 9, 3 };
	EXPECT_FALSE(winogradKernel(nvFull, desc, { 1, 3, 1.0f })) << "9024 channels";
}

} /* namespace nvdla */
