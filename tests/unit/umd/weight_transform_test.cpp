/* SPDX-License-Identifier: MIT */
/*
 * Weights that are not moved alone: Winograd and deconvolution, on the device model.
 */
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/weights.h>

#include "core/ram_memory.h"
#include "model_convolution.h"
#include "plain_convolution.h"
#include "rubik/rubik.h"

namespace nvdla
{

using namespace test;

TEST(WeightTransform, WinogradConvolutionOnTheModel)
{
	Random random(103);

	for (int round = 0; round < 24; round++) {
		WinogradParams params{ random.size(1, 3), random.size(1, 3), 4.0f };
		const WeightDesc desc{ random.type(), random.size(1, 40), random.size(1, 40),
				       3 * params.strideY - random.size(0, params.strideY - 1),
				       3 * params.strideX - random.size(0, params.strideX - 1) };
		/* Small enough that no transform clips. */
		const int32_t limit = desc.type == DataType::Int8 ? 3 : 2;
		const uint32_t outHeight = 8, outWidth = 4;
		const PlainData data =
			randomData(random, desc.channels, (outHeight + 4) * params.strideY,
				   (outWidth + 4) * params.strideX, limit);
		const auto weights = random.numbers(desc.elements(), limit);

		const auto seen = winogradKernel(nvFull, desc, params);
		ASSERT_TRUE(seen) << seen.error().message();
		auto packed = packWinogradWeights(nvFull, desc, params, weights);
		ASSERT_TRUE(packed) << packed.error().message();
		/* With 4 nothing is rounded: whole numbers have quarters after the transform. */
		EXPECT_EQ(*unpackWinogradWeights(nvFull, desc, params, *packed), weights);

		ModelConvolution model(desc.type, data.c, data.h, data.w, data.v);
		model.op.mode = sim::ConvMode::Winograd;
		model.op.fetch.strideX = params.strideX;
		model.op.fetch.strideY = params.strideY;
		model.setKernel(*seen, outHeight, outWidth);
		model.op.windows.data = { outWidth + 4, outHeight + 4, seen->channels };
		model.weights = *packed;
		expectConvolution(model.run(), desc.type, desc, weights, data,
				  { params.strideX, params.strideY, 0, 0 }, outHeight, outWidth, 4);
	}
}

TEST(WeightTransform, WinogradScaleUsesTheRangeWithoutClipping)
{
	Random random(104);

	for (DataType type : { DataType::Int8, DataType::Int16, DataType::Half }) {
		const WeightDesc desc{ type, 5, 7, 3, 3 };
		std::vector<float> weights(desc.elements());
		for (float &weight : weights)
			weight = static_cast<float>(random.real(-0.7, 0.7));
		WinogradParams params;
		params.scale = *winogradScale(nvFull, desc, params, weights);

		auto packed = packWinogradWeights(nvFull, desc, params, weights);
		ASSERT_TRUE(packed);
		const auto elements = elementsToFloat(type, *packed);
		const float largest = std::abs(
			*std::max_element(elements.begin(), elements.end(), [](float a, float b) {
				return std::abs(a) < std::abs(b);
			}));
		if (type == DataType::Half)
			EXPECT_EQ(params.scale, 1.0f);
		else
			EXPECT_EQ(largest, type == DataType::Int8 ? 127.0f : 32767.0f);

		/* Each of the (at most four) elements a weight comes back from is off by 1/2. */
		const float error = type == DataType::Half ? 0.004f : 2.0f / params.scale;
		const auto back = *unpackWinogradWeights(nvFull, desc, params, *packed);
		for (size_t i = 0; i < weights.size(); i++)
			ASSERT_NEAR(back[i], weights[i], error);
	}
}

TEST(WeightTransform, DeconvolutionSetsOnTheModel)
{
	Random random(105);

	for (int round = 0; round < 24; round++) {
		const WeightDesc desc{ random.oneOf<DataType>({ DataType::Int8, DataType::Int16 }),
				       random.size(1, 40), random.size(1, 70), random.size(1, 5),
				       random.size(1, 5) };
		const uint32_t sx = random.size(1, 3), sy = random.size(1, 3);
		const PlainData data = randomData(random, desc.channels, random.size(1, 5),
						  random.size(1, 5), 100);
		const auto weights = random.numbers(desc.elements(), 100);
		const auto plain = elementsFromFloat(desc.type, weights);
		auto split = splitDeconvolution(desc, sx, sy, plain);
		ASSERT_TRUE(split) << split.error().message();
		ASSERT_EQ(split->sets.size(), sx * sy);
		EXPECT_EQ(*mergeDeconvolution(desc, sx, sy, *split), plain);

		/* The definition of a deconvolution. */
		const uint32_t outH = data.h + split->desc.height - 1;
		const uint32_t outW = data.w + split->desc.width - 1;
		std::vector<double> expected(size_t{ desc.kernels } * outH * sy * outW * sx);
		for (uint32_t k = 0; k < desc.kernels; k++)
			for (uint32_t c = 0; c < desc.channels; c++)
				for (uint32_t y = 0; y < data.h; y++)
					for (uint32_t x = 0; x < data.w; x++)
						for (uint32_t r = 0; r < desc.height; r++)
							for (uint32_t s = 0; s < desc.width; s++)
								expected[(size_t{ k } * outH * sy +
									  y * sy + r) *
										 outW * sx +
									 x * sx + s] +=
									data.at(c, y, x) *
									weightAt(desc, weights, k,
										 c, r, s);

		for (uint32_t phase = 0; phase < sx * sy; phase++) {
			ModelConvolution model(desc.type, data.c, data.h, data.w, data.v);
			model.setKernel(split->desc, outH, outW);
			model.op.windows.padLeft = split->desc.width - 1;
			model.op.windows.padTop = split->desc.height - 1;
			model.weights = *packDirectWeights(nvFull, split->desc, split->sets[phase]);
			const auto output = model.run();
			size_t i = 0;
			for (uint32_t k = 0; k < desc.kernels; k++)
				for (uint32_t y = 0; y < outH; y++)
					for (uint32_t x = 0; x < outW; x++, i++)
						ASSERT_EQ(output[i],
							  expected[(size_t{ k } * outH * sy +
								    y * sy + phase / sx) *
									   outW * sx +
								   x * sx + phase % sx])
							<< desc.describe() << " phase " << phase;
		}
	}
}

TEST(WeightTransform, DeconvolutionPhasesAreInTheOrderOfRubik)
{
	Random random(107);

	for (int round = 0; round < 10; round++) {
		const uint32_t sx = random.size(1, 3), sy = random.size(1, 3);
		const auto phase =
			TensorDesc::packedFeature("phase", random.type(), random.size(1, 40), 2, 3);
		const auto whole = TensorDesc::packedFeature("whole", phase.type, phase.c,
							     phase.h * sy, phase.w * sx);
		const auto numbers = random.numbers(whole.elements(), 100);
		std::vector<std::byte> expected(whole.size), got(whole.size);
		ASSERT_TRUE(packElements(whole, elementsFromFloat(whole.type, numbers), expected));

		sim::RamMemory dram(0, 1 << 20), cvsram(0x50000000, 4096);
		sim::MemoryPort port(dram, cvsram);
		for (uint32_t set = 0; set < sx * sy; set++) {
			std::vector<float> part;
			for (uint32_t k = 0; k < phase.c; k++)
				for (uint32_t y = set / sx; y < whole.h; y += sy)
					for (uint32_t x = set % sx; x < whole.w; x += sx)
						part.push_back(numbers[(size_t{ k } * whole.h + y) *
									       whole.w +
								       x]);
			std::vector<std::byte> packed(phase.size);
			ASSERT_TRUE(
				packElements(phase, elementsFromFloat(phase.type, part), packed));
			ASSERT_TRUE(dram.write(set * phase.size, packed));
		}

		sim::RubikOp op{};
		op.mode = sim::RubikMode::Contract;
		op.precision = test::precisionOf(phase.type);
		op.srcType = op.dstType = sim::RamType::Mc;
		op.width = phase.w;
		op.height = phase.h;
		op.channels = phase.c * sx * sy;
		op.outChannels = phase.c;
		op.dst = 1 << 19;
		op.srcLineStride = phase.lineStride;
		op.srcSurfaceStride = phase.surfaceStride;
		op.groupStride = static_cast<uint32_t>(phase.size);
		op.dstLineStride = whole.lineStride;
		op.dstSurfaceStride = whole.surfaceStride;
		op.blockStride = whole.lineStride * sy;
		op.strideX = sx;
		op.strideY = sy;
		sim::run(op, port);
		ASSERT_TRUE(dram.read(op.dst, got));
		EXPECT_EQ(got, expected) << sx << " x " << sy;
	}
}

} /* namespace nvdla */
