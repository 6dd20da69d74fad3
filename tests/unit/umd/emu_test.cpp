/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>
#include <nvdla/half.h>
#include <nvdla/weights.h>

#include "runtime/emu/emu.h"

namespace nvdla
{

namespace
{

EmuBuffer cube(DataType type, uint32_t c, uint32_t h, uint32_t w)
{
	const TensorDesc desc = TensorDesc::packedFeature("x", type, c, h, w);
	EmuBuffer buffer;

	buffer.type = type;
	buffer.c = c;
	buffer.h = h;
	buffer.w = w;
	buffer.lineStride = desc.lineStride;
	buffer.surfaceStride = desc.surfaceStride;
	return buffer;
}

std::vector<std::byte> pack(const EmuBuffer &buffer, const std::vector<float> &values)
{
	const TensorDesc desc =
		TensorDesc::packedFeature("x", buffer.type, buffer.c, buffer.h, buffer.w);
	std::vector<std::byte> bytes(desc.size);
	EXPECT_TRUE(packElements(desc, elementsFromFloat(buffer.type, values), bytes));
	return bytes;
}

std::vector<float> unpack(const EmuBuffer &buffer, std::span<const std::byte> bytes)
{
	const TensorDesc desc =
		TensorDesc::packedFeature("x", buffer.type, buffer.c, buffer.h, buffer.w);
	auto elements = unpackElements(desc, bytes);
	EXPECT_TRUE(elements);
	return elementsToFloat(buffer.type, *elements);
}

} /* namespace */

TEST(Emu, PowerOfHalves)
{
	EmuOperation operation;
	operation.src = cube(DataType::Half, 17, 2, 3);
	operation.dst = operation.src;
	operation.shift = 1.0f;
	operation.scale = 0.5f;
	operation.power = 2.0f;

	std::vector<float> values;
	for (int i = 0; i < 17 * 6; i++)
		values.push_back(static_cast<float>(i - 20));
	const auto src = pack(operation.src, values);
	std::vector<std::byte> dst(src.size());
	ASSERT_TRUE(runEmu(operation, src, dst));
	const auto result = unpack(operation.dst, dst);
	for (size_t i = 0; i < values.size(); i++) {
		const float y = 1.0f + 0.5f * values[i];
		EXPECT_EQ(result[i], halfToFloat(floatToHalf(y * y)));
	}
}

/* Memory is used again: bytes of another surface are NaNs, which the core counts. */
TEST(Emu, LanesWithoutElementsAreZero)
{
	for (const EmuOpType type : { EmuOpType::Power, EmuOpType::Reshape }) {
		EmuOperation operation;
		operation.type = type;
		operation.src = cube(DataType::Half, 19, 2, 3);
		operation.dst = operation.src;
		const auto src = pack(operation.src, std::vector<float>(19 * 6, 1.5f));
		std::vector<std::byte> dst(src.size(), std::byte{ 0xff });
		ASSERT_TRUE(runEmu(operation, src, dst));
		EXPECT_EQ(dst, src);
	}
}

/* log(x * x + 1e-10) in one step: nothing between has to be one of FP16's numbers. */
TEST(Emu, TwoFunctions)
{
	EmuOperation operation;
	operation.type = EmuOpType::Function;
	operation.src = cube(DataType::Half, 4, 1, 1);
	operation.dst = operation.src;
	operation.inner = ElementFunction::Square;
	operation.function = ElementFunction::Log;
	operation.shift = 1e-10f;
	const auto src = pack(operation.src, { 0, 0.001f, -1000, 3 });
	std::vector<std::byte> dst(src.size());
	ASSERT_TRUE(runEmu(operation, src, dst));
	const auto result = unpack(operation.dst, dst);
	EXPECT_NEAR(result[0], -23.026, 0.01);
	EXPECT_NEAR(result[1], -13.815, 0.01);
	EXPECT_NEAR(result[2], 13.816, 0.01);
	EXPECT_NEAR(result[3], 2.1972, 0.001);
}

TEST(Emu, IdentityPowerKeepsEveryHalf)
{
	EmuOperation operation;
	operation.src = cube(DataType::Half, 16, 1, 4096);
	operation.dst = operation.src;
	std::vector<std::byte> src(16 * 4096 * 2);
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		const auto half = static_cast<uint16_t>((bits & 0x7c00) == 0x7c00 ? 0 : bits);
		std::memcpy(&src[bits * 2], &half, 2);
	}
	std::vector<std::byte> dst(src.size());
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_EQ(unpack(operation.dst, dst), unpack(operation.src, src));
}

/* Of 0.5 - x / 2, for x of -4 and -1 to 2. */
TEST(Emu, FunctionsOfElements)
{
	EmuOperation operation;
	operation.type = EmuOpType::Function;
	operation.function = ElementFunction::Log;
	operation.src = cube(DataType::Half, 5, 1, 1);
	operation.dst = operation.src;
	operation.scale = -0.5f;
	operation.shift = 0.5f;
	const auto src = pack(operation.src, { -4, -1, 0, 1, 2 });
	std::vector<std::byte> dst(src.size());

	ASSERT_TRUE(runEmu(operation, src, dst));
	auto result = unpack(operation.dst, dst);
	EXPECT_NEAR(result[0], 0.916291, 1e-3);
	EXPECT_EQ(result[1], 0);
	EXPECT_NEAR(result[2], -0.693147, 1e-3);
	EXPECT_EQ(result[3], -INFINITY);
	EXPECT_TRUE(std::isnan(result[4]));

	/* Integers have no infinity and no NaN, but a lowest number. */
	operation.dst = cube(DataType::Int8, 5, 1, 1);
	operation.outScale = 0.125f;
	operation.outZero = 3;
	std::vector<std::byte> bytes(32);
	ASSERT_TRUE(runEmu(operation, src, bytes));
	EXPECT_EQ(unpack(operation.dst, bytes),
		  (std::vector<float>{ 7 + 3, 3, -6 + 3, -128, -128 }));

	operation.function = ElementFunction::ThresholdedRelu;
	operation.power = 0.75f;
	ASSERT_TRUE(runEmu(operation, src, bytes));
	EXPECT_EQ(unpack(operation.dst, bytes), (std::vector<float>{ 20 + 3, 8 + 3, 3, 3, 3 }));
}

TEST(Emu, IntegersAreScaled)
{
	EmuOperation operation;
	operation.src = cube(DataType::Int8, 4, 1, 1);
	operation.dst = cube(DataType::Int16, 4, 1, 1);
	operation.inScale = 0.5f;
	operation.outScale = 0.25f;
	operation.scale = 3.0f;
	operation.shift = 1.0f;

	const auto src = pack(operation.src, { -128, -1, 0, 127 });
	std::vector<std::byte> dst(32);
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_EQ(unpack(operation.dst, dst),
		  (std::vector<float>{ 4 * (1 - 192.0f), 4 * (1 - 1.5f), 4, 4 * (1 + 190.5f) }));

	operation.dst = cube(DataType::Int8, 4, 1, 1);
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_EQ(unpack(operation.dst, dst), (std::vector<float>{ -128, -2, 4, 127 }));
}

TEST(Emu, SoftmaxOverChannels)
{
	EmuOperation operation;
	operation.type = EmuOpType::Softmax;
	operation.src = cube(DataType::Half, 3, 1, 2);
	operation.dst = operation.src;

	/* Pixel 0 has large equal values, pixel 1 distinct ones. */
	const auto src = pack(operation.src, { 60000, 0, 60000, 1, 60000, 2 });
	std::vector<std::byte> dst(src.size());
	ASSERT_TRUE(runEmu(operation, src, dst));
	const auto result = unpack(operation.dst, dst);
	const double sum = 1 + std::exp(1.0) + std::exp(2.0);
	for (int c = 0; c < 3; c++) {
		EXPECT_NEAR(result[c * 2], 1.0 / 3, 1e-4);
		EXPECT_NEAR(result[c * 2 + 1], std::exp(c) / sum, 1e-3 * std::exp(c) / sum);
	}
}

TEST(Emu, ReshapeTakesAxesInAnotherOrder)
{
	EmuOperation operation;
	operation.type = EmuOpType::Reshape;
	operation.src = cube(DataType::Int16, 2, 3, 1);
	operation.dst = cube(DataType::Int16, 3, 2, 1);
	operation.axes.extents = { 3, 2 };
	operation.axes.order = { 1, 0 };

	const auto src = pack(operation.src, { 0, 1, 2, 10, 11, 12 });
	std::vector<std::byte> dst(TensorDesc::packedFeature("y", DataType::Int16, 3, 2, 1).size);
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_EQ(unpack(operation.dst, dst), (std::vector<float>{ 0, 10, 1, 11, 2, 12 }));

	for (const std::array<uint8_t, AxisOrder::most> order :
	     { std::array<uint8_t, AxisOrder::most>{ 1, 1 }, { 1, 7 } }) {
		operation.axes.order = order;
		const auto wrong = runEmu(operation, src, dst);
		ASSERT_FALSE(wrong);
		EXPECT_EQ(wrong.error().where, "axes");
	}
}

TEST(Emu, FunctionsOfAllChannels)
{
	EmuOperation operation;
	operation.src = cube(DataType::Int8, 2, 1, 2);
	operation.inScale = 0.5f;
	operation.inZero = -2;
	/* 3 and 4, 0 and -1 */
	const auto src = pack(operation.src, { 4, -2, 6, -4 });
	std::vector<std::byte> dst(TensorDesc::packedFeature("y", DataType::Half, 2, 1, 2).size);

	operation.type = EmuOpType::Normalize;
	operation.dst = cube(DataType::Half, 2, 1, 2);
	ASSERT_TRUE(runEmu(operation, src, dst));
	const auto normal = unpack(operation.dst, dst);
	EXPECT_NEAR(normal[0], 0.6, 1e-3);
	EXPECT_NEAR(normal[2], 0.8, 1e-3);
	EXPECT_NEAR(normal[3], -1, 1e-3);

	operation.type = EmuOpType::LocalResponse;
	operation.window = 3;
	operation.power = 0.5f;
	operation.scale = 1;
	operation.shift = 11;
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_NEAR(unpack(operation.dst, dst)[0], 3.0 / 6, 1e-3);

	operation.type = EmuOpType::LogSoftmax;
	ASSERT_TRUE(runEmu(operation, src, dst));
	const double less = -std::log(1 + std::exp(-1));
	const auto logarithms = unpack(operation.dst, dst);
	EXPECT_NEAR(logarithms[0], less - 1, 1e-3);
	EXPECT_NEAR(logarithms[1], less, 1e-3);

	operation.type = EmuOpType::Standardize;
	operation.shift = 0;
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_EQ(unpack(operation.dst, dst), (std::vector<float>{ -1, 1, 1, -1 }));
	operation.shift = 0.75f;
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_EQ(unpack(operation.dst, dst)[0], -0.5f);

	operation.type = EmuOpType::Largest;
	operation.dst = cube(DataType::Half, 1, 1, 2);
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_EQ(unpack(operation.dst, dst), (std::vector<float>{ 4, 0 }));
	operation.type = EmuOpType::Smallest;
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_EQ(unpack(operation.dst, dst), (std::vector<float>{ 3, -1 }));

	operation.type = EmuOpType::ArgMax;
	operation.dst = cube(DataType::Int16, 1, 1, 2);
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_EQ(unpack(operation.dst, dst), (std::vector<float>{ 1, 0 }));
}

TEST(Emu, ReshapeCountsChannelsFirst)
{
	EmuOperation operation;
	operation.type = EmuOpType::Reshape;
	operation.src = cube(DataType::Int16, 6, 1, 2);
	operation.dst = cube(DataType::Int16, 2, 3, 2);

	/* In C, H, W: channel c of pixel w is element w * 6 + c of H, W, C. */
	std::vector<float> values;
	for (int c = 0; c < 6; c++) {
		for (int w = 0; w < 2; w++)
			values.push_back(static_cast<float>(w * 6 + c));
	}
	const auto src = pack(operation.src, values);
	std::vector<std::byte> dst(TensorDesc::packedFeature("y", DataType::Int16, 2, 3, 2).size);
	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_EQ(unpack(operation.dst, dst),
		  (std::vector<float>{ 0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11 }));

	operation.dst = cube(DataType::Int16, 3, 3, 2);
	const auto longer = runEmu(operation, src, dst);
	ASSERT_FALSE(longer);
	EXPECT_EQ(longer.error().where, "dimensions");
}

TEST(Emu, BytesBetweenLinesAreLeftAlone)
{
	constexpr size_t atomBytes = 32, lineStride = 2 * atomBytes;
	EmuOperation operation;
	operation.src = cube(DataType::Int8, 5, 2, 1);
	operation.dst = operation.src;
	operation.dst.lineStride = lineStride;
	operation.dst.surfaceStride = 2 * lineStride;
	const auto src = pack(operation.src, std::vector<float>(10, 3));
	std::vector<std::byte> dst(2 * lineStride, std::byte{ 0x5a });
	ASSERT_TRUE(runEmu(operation, src, dst));
	for (size_t i = 0; i < dst.size(); i++) {
		const size_t inLine = i % lineStride;
		const std::byte inAtom = inLine < 5 ? std::byte{ 3 } : std::byte{ 0 };
		EXPECT_EQ(dst[i], inLine < atomBytes ? inAtom : std::byte{ 0x5a }) << i;
	}
}

TEST(Emu, ScalesThatCannotBeAreRefused)
{
	EmuOperation operation;
	operation.src = cube(DataType::Int8, 5, 1, 2);
	operation.dst = operation.src;
	std::vector<std::byte> bytes(64);
	for (float scale : { 0.0f, -1.0f, NAN, INFINITY }) {
		for (float EmuOperation::*which :
		     { &EmuOperation::inScale, &EmuOperation::outScale }) {
			EmuOperation wrong = operation;
			wrong.*which = scale;
			auto result = runEmu(wrong, bytes, bytes);
			ASSERT_FALSE(result) << scale;
			EXPECT_EQ(result.error().code, ErrorCode::InvalidFile);
			EXPECT_EQ(result.error().where, "quantization");
		}
	}
	operation.src = operation.dst = cube(DataType::Half, 5, 1, 2);
	operation.inScale = 0;
	EXPECT_TRUE(runEmu(operation, bytes, bytes)) << "halves have none";
}

TEST(Emu, ShortOrUnequalBuffersAreRefused)
{
	EmuOperation operation;
	operation.src = cube(DataType::Int8, 5, 1, 2);
	operation.dst = operation.src;
	std::vector<std::byte> src(64);
	std::vector<std::byte> dst(63);
	EXPECT_FALSE(runEmu(operation, src, dst));
	EXPECT_FALSE(runEmu(operation, dst, src));
	operation.dst.w = 1;
	auto result = runEmu(operation, src, src);
	ASSERT_FALSE(result);
	EXPECT_EQ(result.error().where, "dimensions");
}

/* Elements that share memory could be more than any memory has room for. */
TEST(Emu, RefusesSurfacesThatLieOverEachOther)
{
	constexpr size_t bytes = 4096;
	EmuOperation operation;
	operation.src = cube(DataType::Int8, 8192, 128, 1);
	operation.dst = operation.src;

	for (const uint32_t stride : { 0u, 1u, 32u }) {
		operation.src.surfaceStride = operation.dst.surfaceStride = stride;
		const std::vector<std::byte> src(bytes);
		std::vector<std::byte> dst(bytes);
		const auto done = runEmu(operation, src, dst);
		ASSERT_FALSE(done);
		EXPECT_EQ(done.error().where, "stride_2") << done.error().message();
		EXPECT_NE(done.error().why.find("surface stride"), std::string::npos);
	}
}

TEST(Emu, SmallAtoms)
{
	EmuOperation operation;
	operation.src = cube(DataType::Int8, 10, 1, 1);
	operation.src.format = PixelFormat::FeatureX8;
	operation.src.lineStride = operation.src.surfaceStride = 8;
	operation.dst = cube(DataType::Int8, 10, 1, 1);
	std::vector<std::byte> src(16), dst(32);
	for (size_t c = 0; c < 10; c++)
		src[c] = std::byte(c);

	ASSERT_TRUE(runEmu(operation, src, dst));
	EXPECT_TRUE(std::equal(src.begin(), src.begin() + 10, dst.begin()));
}

/* Each pixel of a cube of 2 lines is a kernel, or each channel. */
TEST(Emu, WeightsAreInTheOrderOfTheCore)
{
	constexpr uint32_t c = 70, h = 2, w = 20;

	for (const CoreGeometry &core : { nvFull, *findCoreVariant("nv_small") }) {
		for (const bool ofChannels : { false, true }) {
			EmuOperation operation;
			operation.type = EmuOpType::PackWeights;
			operation.inZero = -3;
			operation.weights = {
				static_cast<uint16_t>(core.groupKernels(DataType::Int8)),
				static_cast<uint16_t>(core.macChannels), 2, 1, ofChannels
			};
			operation.src = cube(DataType::Int8, c, h, w);
			std::vector<float> values;
			for (uint32_t i = 0; i < c * h * w; i++)
				values.push_back(static_cast<float>(i * 37 % 256) - 128);
			const WeightDesc weights{ DataType::Int8, ofChannels ? c : h * w,
						  ofChannels ? h * w : c, 2, 1 };
			std::vector<std::byte> plain;
			for (uint32_t k = 0; k < weights.kernels; k++)
				for (uint32_t i = 0; i < weights.channels; i++)
					for (uint32_t line = 0; line < 2; line++)
						plain.push_back(static_cast<std::byte>(std::min(
							127.0f, values[ofChannels ? k * h * w + i
										  : i * h * w + k] +
									3)));
			const auto wanted = packDirectWeights(core, weights, plain);
			ASSERT_TRUE(wanted);
			operation.dst = cube(DataType::Int8, 32, 1,
					     static_cast<uint32_t>(wanted->size() / 32));
			std::vector<std::byte> dst(wanted->size(), std::byte{ 0xee });
			ASSERT_TRUE(runEmu(operation, pack(operation.src, values), dst));
			EXPECT_EQ(dst, *wanted);
			dst.resize(100);
			const auto refused = runEmu(operation, pack(operation.src, values), dst);
			ASSERT_FALSE(refused);
			EXPECT_NE(refused.error().why.find("do not fit into"), std::string::npos);
			operation.weights.groupKernels = 0;
			EXPECT_FALSE(runEmu(operation, pack(operation.src, values), dst));
		}
	}
}

} /* namespace nvdla */
