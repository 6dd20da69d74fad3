/* SPDX-License-Identifier: MIT */
#include <array>

#include <gtest/gtest.h>

#include "conv/cmac.h"
#include "conv_support.h"

namespace nvdla::sim::test
{

namespace
{

/* 4 * G * w * G^T, exact in integers: G has halves in it, so 2G * w * 2G^T. */
std::array<int, 16> transformedKernel(const int w[9])
{
	constexpr int kG2[4][3] = { { 2, 0, 0 }, { 1, 1, 1 }, { 1, -1, 1 }, { 0, 0, 2 } };
	std::array<int, 16> out{};

	for (int y = 0; y < 4; y++)
		for (int x = 0; x < 4; x++)
			for (int r = 0; r < 3; r++)
				for (int s = 0; s < 3; s++)
					out[static_cast<size_t>(4 * y + x)] +=
						kG2[y][r] * w[3 * r + s] * kG2[x][s];
	return out;
}

TEST(WinogradTest, TransformsComposeToTheConvolution)
{
	Random random(21);

	for (int repeat = 0; repeat < 50; repeat++) {
		int w[9];
		int16_t tile[16];
		int16_t transformed[16];
		std::array<int64_t, 16> m;

		for (int &v : w)
			v = random(-20, 20);
		for (int16_t &v : tile)
			v = static_cast<int16_t>(random(-500, 500));
		winogradTransform(Precision::Int16, 0, tile, transformed);
		const std::array<int, 16> kernel = transformedKernel(w);
		for (size_t i = 0; i < 16; i++)
			m[i] = int64_t{ transformed[i] } * kernel[i];
		const std::array<int64_t, 4> out = winogradOutput(m);

		for (size_t y = 0; y < 2; y++) {
			for (size_t x = 0; x < 2; x++) {
				int64_t sum = 0;
				for (size_t r = 0; r < 3; r++)
					for (size_t s = 0; s < 3; s++)
						sum += tile[4 * (y + r) + x + s] * w[3 * r + s];
				EXPECT_EQ(out[2 * y + x], 4 * sum);
			}
		}
	}
}

TEST(WinogradTest, TruncateRoundsAndClips)
{
	int16_t tile[16] = {};
	int16_t out[16];

	tile[0] = 3;
	winogradTransform(Precision::Int8, 1, tile, out);
	EXPECT_EQ(out[0], 2);
	tile[0] = -3;
	winogradTransform(Precision::Int8, 1, tile, out);
	EXPECT_EQ(out[0], -2);
	tile[0] = 127;
	tile[2] = -128;
	winogradTransform(Precision::Int8, 0, tile, out);
	EXPECT_EQ(out[0], 127);
	tile[0] = 32767;
	tile[2] = -32768;
	winogradTransform(Precision::Int16, 2, tile, out);
	EXPECT_EQ(out[0], 16384);
}

/** A 3x3 layer as a Winograd operation whose weights are scaled by 4 */
ConvOp winogradOp(Bench &bench, const Layer &layer)
{
	ConvOp op = bench.direct(layer);
	const Cube &input = layer.inputs[0];
	const uint32_t atom = atomChannels(layer.precision);
	const uint32_t channels = (input.channels + atom - 1) / atom * atom;
	const auto kernels = static_cast<uint32_t>(layer.kernels.size());
	std::vector<uint8_t> weights;

	for (uint32_t k0 = 0; k0 < kernels; k0 += atom) {
		for (uint32_t c0 = 0; c0 < channels; c0 += 4) {
			for (uint32_t k = k0; k < std::min(k0 + atom, kernels); k++) {
				std::array<int, 16> kernel[4] = {};
				for (uint32_t c = c0; c < std::min(c0 + 4, input.channels); c++) {
					int w[9];
					for (uint32_t i = 0; i < 9; i++)
						w[i] = layer.kernels[k].at(c, i / 3, i % 3);
					kernel[c - c0] = transformedKernel(w);
				}
				for (size_t i = 0; i < 16; i++)
					for (size_t c = 0; c < 4; c++)
						appendElement(weights, layer.precision,
							      static_cast<int16_t>(kernel[c][i]));
			}
		}
	}
	weights.resize((weights.size() + 127) / 128 * 128);
	bench.store(Bench::kWeights, weights);

	op.mode = ConvMode::Winograd;
	op.weights.bytes = static_cast<uint32_t>(weights.size());
	op.fetch.padLeft = layer.padLeft;
	op.fetch.padRight = layer.padRight;
	op.fetch.padTop = layer.padTop;
	op.fetch.padBottom = layer.padBottom;
	op.fetch.padValue = layer.padValue;
	op.windows.data = { layer.padLeft + input.width + layer.padRight,
			    layer.padTop + input.height + layer.padBottom, channels };
	op.windows.kernel = { 4, 4, channels };
	op.windows.out = { op.windows.data.width - 4, op.windows.data.height - 4, kernels };
	return op;
}

/* Lines that are never made are not fetched either: each would take 128 MiB. */
TEST(WinogradTest, LinesThatTheBanksDoNotHoldAreRefusedFirst)
{
	Bench bench;
	MemoryPort port(bench.dram, bench.cvsram);
	ConvOp op;

	op.mode = ConvMode::Winograd;
	op.precision = op.inPrecision = Precision::Int16;
	op.dataBanks = op.weightBanks = 8;
	op.fetch.size = { 8192, 8, 8192 };
	op.fetch.entries = op.windows.entries = 1;
	op.windows.data = op.fetch.size;
	op.windows.kernel = { 4, 4, 8192 };
	op.windows.out = { 8188, 4, 1 };
	Collector out(op);
	const OperationResult result = bench.engine.run(op, port, out);
	EXPECT_TRUE(result.hangs);
	EXPECT_EQ(result.guestError, "CSC D_DATAIN_SIZE_EXT is more than the data banks hold");
	EXPECT_EQ(port.traffic(RamType::Mc).readBytes, 0U);
}

class WinogradTest : public ::testing::TestWithParam<std::tuple<Precision, uint32_t>>
{
};

TEST_P(WinogradTest, IsFourTimesTheDirectConvolution)
{
	const auto [precision, seed] = GetParam();
	Random random(seed);
	Layer layer;

	/* Small enough that neither transform clips. */
	const int limit = precision == Precision::Int8 ? 3 : 100;
	layer.precision = precision;
	layer.padLeft = static_cast<uint32_t>(random(0, 2));
	layer.padTop = static_cast<uint32_t>(random(0, 2));
	layer.padRight = static_cast<uint32_t>(random(2, 4));
	layer.padBottom = static_cast<uint32_t>(random(2, 4));
	layer.padValue = static_cast<int16_t>(random(-2, 2));
	layer.inputs.assign(1, Cube(static_cast<uint32_t>(random(1, 40)),
				    12 - layer.padTop - layer.padBottom,
				    16 - layer.padLeft - layer.padRight));
	layer.kernels.assign(static_cast<size_t>(random(1, 40)),
			     Cube(layer.inputs[0].channels, 3, 3));
	for (int16_t &v : layer.inputs[0].v)
		v = static_cast<int16_t>(random(-limit, limit));
	for (Cube &kernel : layer.kernels)
		for (int16_t &v : kernel.v)
			v = static_cast<int16_t>(random(-limit, limit));

	Bench bench;
	const ConvOp op = winogradOp(bench, layer);
	ASSERT_EQ(bench.run(op).guestError, "");
	for (uint32_t k = 0; k < layer.kernels.size(); k++)
		for (uint32_t y = 0; y < op.windows.out.height; y++)
			for (uint32_t x = 0; x < op.windows.out.width; x++)
				ASSERT_EQ(bench.out->at(0, k, y, x),
					  4 * naiveOutput(layer, 0, k, y, x))
					<< "k " << k << " y " << y << " x " << x;
}

INSTANTIATE_TEST_SUITE_P(Random, WinogradTest,
			 ::testing::Combine(::testing::Values(Precision::Int8, Precision::Int16),
					    ::testing::Range(30U, 36U)));

TEST(WinogradTest, StridesBecomeChannels)
{
	Random random(22);
	Layer layer;

	layer.precision = Precision::Int16;
	layer.inputs.assign(1, Cube(5, 24, 16));
	layer.kernels.assign(1, Cube(5, 1, 1)); /* not used: the weights below are */
	for (int16_t &v : layer.inputs[0].v)
		v = static_cast<int16_t>(random(-100, 100));
	Bench bench;
	ConvOp op = bench.direct(layer);
	op.mode = ConvMode::Winograd;
	op.fetch.strideX = 2;
	op.fetch.strideY = 3;
	op.windows.data = { 8, 8, 16 * 6 };
	op.windows.kernel = { 4, 4, 16 * 6 };
	op.windows.out = { 4, 4, 1 };

	/* A kernel that is 1 at one place of one channel, so that the output is a copy. */
	constexpr uint32_t kPhaseX = 1, kPhaseY = 2, kChannel = 3;
	const int w[9] = { 0, 0, 0, 0, 0, 1, 0, 0, 0 }; /* r 1, s 2 */
	const std::array<int, 16> kernel = transformedKernel(w);
	const uint32_t channel = (kPhaseY * 2 + kPhaseX) * 16 + kChannel;
	std::vector<uint8_t> weights;
	for (uint32_t c0 = 0; c0 < 16 * 6; c0 += 4)
		for (size_t i = 0; i < 16; i++)
			for (uint32_t c = c0; c < c0 + 4; c++)
				appendElement(weights, layer.precision,
					      static_cast<int16_t>(c == channel ? kernel[i] : 0));
	bench.store(Bench::kWeights, weights);
	op.weights.bytes = static_cast<uint32_t>(weights.size());

	ASSERT_EQ(bench.run(op).guestError, "");
	for (uint32_t y = 0; y < 4; y++)
		for (uint32_t x = 0; x < 4; x++)
			EXPECT_EQ(bench.out->at(0, 0, y, x),
				  4 * layer.inputs[0].at(kChannel, (y + 1) * 3 + kPhaseY,
							 (x + 2) * 2 + kPhaseX));
}

} /* namespace */

} /* namespace nvdla::sim::test */
