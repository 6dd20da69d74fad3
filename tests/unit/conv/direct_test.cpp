/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "conv_support.h"

namespace nvdla::sim::test
{

namespace
{

Layer randomLayer(Random &random, Precision precision)
{
	Layer layer;

	layer.precision = precision;
	const auto channels = static_cast<uint32_t>(random(1, 150));
	const auto width = static_cast<uint32_t>(random(1, 9));
	const auto height = static_cast<uint32_t>(random(1, 9));
	const auto s = static_cast<uint32_t>(random(1, 4));
	const auto r = static_cast<uint32_t>(random(1, 4));
	layer.strideX = static_cast<uint32_t>(random(1, 3));
	layer.strideY = static_cast<uint32_t>(random(1, 3));
	layer.dilationX = static_cast<uint32_t>(random(1, 3));
	layer.dilationY = static_cast<uint32_t>(random(1, 3));
	layer.padLeft = static_cast<uint32_t>(random(0, 4));
	layer.padTop = static_cast<uint32_t>(random(0, 4));
	layer.padRight = static_cast<uint32_t>(random(0, 4)) + s * layer.dilationX;
	layer.padBottom = static_cast<uint32_t>(random(0, 4)) + r * layer.dilationY;
	layer.padValue = precision == Precision::Fp16 ? halfBits(random(-3, 3))
						      : static_cast<int16_t>(random(-9, 9));
	layer.inputs.assign(static_cast<size_t>(std::max(1, random(-3, 3))),
			    Cube(channels, height, width));
	layer.kernels.assign(static_cast<size_t>(random(1, 70)), Cube(channels, r, s));
	for (Cube &cube : layer.inputs)
		random.fill(cube, precision);
	for (Cube &cube : layer.kernels)
		random.fill(cube, precision);
	return layer;
}

/* Threshold of the precision document for direct convolution before the output is rounded. */
double threshold(const Layer &layer)
{
	int data = -14;
	int weight = -14;

	auto exponent = [](int16_t bits) { return (bits >> 10 & 0x1c) - 15; };
	for (const Cube &cube : layer.inputs)
		for (int16_t v : cube.v)
			data = std::max(data, exponent(v));
	data = std::max(data, exponent(layer.padValue));
	for (const Cube &cube : layer.kernels)
		for (int16_t v : cube.v)
			weight = std::max(weight, exponent(v));
	return std::ldexp(2.0 * static_cast<double>(layer.kernels[0].v.size()), data + weight - 20);
}

class DirectTest : public ::testing::TestWithParam<std::tuple<Precision, uint32_t>>
{
};

TEST_P(DirectTest, EqualsTheNaiveSum)
{
	const auto [precision, seed] = GetParam();
	Random random(seed);
	const Layer layer = randomLayer(random, precision);
	Bench bench;
	const ConvOp op = bench.direct(layer);
	const OperationResult result = bench.run(op);

	ASSERT_EQ(result.guestError, "");
	ASSERT_FALSE(result.hangs);
	ASSERT_EQ(bench.out->columns(),
		  uint64_t{ op.batches } * op.surfaces() * layer.outWidth() * layer.outHeight());
	const double tolerance = threshold(layer);
	for (uint32_t n = 0; n < op.batches; n++) {
		for (uint32_t k = 0; k < op.surfaces() * op.groupKernels(); k++) {
			for (uint32_t y = 0; y < layer.outHeight(); y++) {
				for (uint32_t x = 0; x < layer.outWidth(); x++) {
					const int32_t got = bench.out->at(n, k, y, x);
					if (k >= layer.kernels.size()) {
						ASSERT_EQ(got, 0);
						continue;
					}
					const double want = naiveOutput(layer, n, k, y, x);
					if (precision == Precision::Fp16)
						ASSERT_NEAR(floatValue(got), want, tolerance);
					else
						ASSERT_EQ(got, std::clamp(want, -2147483648.0,
									  2147483647.0))
							<< "n " << n << " k " << k << " y " << y
							<< " x " << x;
				}
			}
		}
	}
}

INSTANTIATE_TEST_SUITE_P(Random, DirectTest,
			 ::testing::Combine(::testing::Values(Precision::Int8, Precision::Int16,
							      Precision::Fp16),
					    ::testing::Range(1U, 13U)));

Layer smallLayer(Precision precision, int16_t data, int16_t weight, uint32_t channels)
{
	Layer layer;

	layer.precision = precision;
	layer.inputs.assign(1, Cube(channels, 1, 1));
	layer.kernels.assign(1, Cube(channels, 1, 1));
	std::fill(layer.inputs[0].v.begin(), layer.inputs[0].v.end(), data);
	std::fill(layer.kernels[0].v.begin(), layer.kernels[0].v.end(), weight);
	return layer;
}

uint32_t counter(const OperationResult &result, uint32_t address)
{
	for (const RegisterUpdate &update : result.updates)
		if (update.address == address)
			return update.value;
	ADD_FAILURE() << "no update of register " << address;
	return 0;
}

TEST(DirectTest, ClipRoundsHalfAwayFromZero)
{
	for (int sign : { 1, -1 }) {
		Bench bench;
		ConvOp op = bench.direct(
			smallLayer(Precision::Int8, static_cast<int16_t>(3 * sign), 1, 2));
		op.clipTruncate = 2;
		EXPECT_FALSE(bench.run(op).hangs);
		EXPECT_EQ(bench.out->at(0, 0, 0, 0), 2 * sign) << "6 / 4 is a half";
	}
}

TEST(DirectTest, SaturationIsCountedForRealKernelsOnly)
{
	Bench bench;
	ConvOp op = bench.direct(smallLayer(Precision::Int16, -32768, -32768, 2));
	OperationResult result = bench.run(op);

	EXPECT_EQ(bench.out->at(0, 0, 0, 0), INT32_MAX);
	EXPECT_EQ(counter(result, NVDLA_CACC_D_OUT_SATURATION), 1U);

	op.clipTruncate = 1;
	result = bench.run(op);
	EXPECT_EQ(bench.out->at(0, 0, 0, 0), 1 << 30);
	EXPECT_EQ(counter(result, NVDLA_CACC_D_OUT_SATURATION), 0U);
}

TEST(DirectTest, SpecialNumbersAreCountedAndNaNsFlushed)
{
	constexpr int16_t kNan = 0x7e01;
	constexpr auto kInf = static_cast<int16_t>(0xfc00);
	const int16_t one = halfBits(1);
	Layer layer = smallLayer(Precision::Fp16, one, one, 3);
	layer.inputs[0].v = { kNan, kInf, one };
	layer.kernels[0].v = { one, kInf, kNan };
	Bench bench;
	ConvOp op = bench.direct(layer);
	OperationResult result = bench.run(op);

	EXPECT_EQ(counter(result, NVDLA_CDMA_D_NAN_INPUT_DATA_NUM), 1U);
	EXPECT_EQ(counter(result, NVDLA_CDMA_D_INF_INPUT_DATA_NUM), 1U);
	EXPECT_EQ(counter(result, NVDLA_CDMA_D_NAN_INPUT_WEIGHT_NUM), 1U);
	EXPECT_EQ(counter(result, NVDLA_CDMA_D_INF_INPUT_WEIGHT_NUM), 1U);
	EXPECT_TRUE(std::isnan(floatValue(bench.out->at(0, 0, 0, 0))));

	op.fetch.flushNan = true;
	result = bench.run(op);
	EXPECT_EQ(counter(result, NVDLA_CDMA_D_NAN_INPUT_DATA_NUM), 1U);
	EXPECT_EQ(floatValue(bench.out->at(0, 0, 0, 0)), 65536.0 * 65536.0);
}

TEST(DirectTest, PackedVectorIgnoresTheSurfaceStride)
{
	Layer layer = smallLayer(Precision::Int8, 1, 1, 70);
	Random random(1);
	random.fill(layer.inputs[0], layer.precision);
	Bench bench;
	ConvOp op = bench.direct(layer);

	std::vector<uint8_t> atoms(96);
	for (uint32_t c = 0; c < 70; c++)
		atoms[c] = static_cast<uint8_t>(layer.inputs[0].v[c]);
	bench.store(Bench::kData, atoms);
	op.fetch.packed = true;
	EXPECT_FALSE(bench.run(op).hangs);
	EXPECT_EQ(bench.out->at(0, 0, 0, 0), naiveOutput(layer, 0, 0, 0, 0));
}

TEST(DirectTest, CancelledOperationEndsEarly)
{
	Bench bench;
	const ConvOp op = bench.direct(smallLayer(Precision::Int8, 1, 1, 64));
	const std::atomic<bool> cancel = true;
	MemoryPort port(bench.dram, bench.cvsram, &cancel);
	Collector out(op);

	bench.engine.run(op, port, out);
	EXPECT_EQ(out.columns(), 0U);
	EXPECT_FALSE(bench.run(op).hangs) << "and leaves the engine usable";
	EXPECT_EQ(bench.out->at(0, 0, 0, 0), 64);
}

} /* namespace */

} /* namespace nvdla::sim::test */
