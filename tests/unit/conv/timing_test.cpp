/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include <gtest/gtest.h>

#include "conv/conv_timing.h"

namespace nvdla::sim::test
{

namespace
{

/** A 3x3 layer of 64 channels in INT8 whose MAC steps outweigh its weights */
ConvOp layer()
{
	ConvOp op;

	op.windows.data = op.fetch.size = { 58, 58, 64 };
	op.windows.kernel = { 3, 3, 64 };
	op.windows.kernels = 64;
	op.windows.out = { 56, 56, 64 };
	return op;
}

constexpr uint64_t kLayerSteps = 56 * 56 * 9 * 2;

TEST(ConvTimingTest, MacStepsAreACycleEach)
{
	EXPECT_EQ(convCycles(layer(), { 0, 0 }) - kLayerSteps, convCycles(ConvOp(), { 0, 0 }) - 8);
}

TEST(ConvTimingTest, FetchOfTheCubeIsNotHidden)
{
	const ConvOp op = layer();

	EXPECT_EQ(convCycles(op, { 6400, 0 }), convCycles(op, { 0, 0 }) + 200);
}

TEST(ConvTimingTest, OnlyTheFirstKernelGroupIsWaitedFor)
{
	ConvOp op = layer();
	const uint64_t idle = convCycles(op, { 0, 0 });

	EXPECT_EQ(convCycles(op, { 0, 6400 }), idle + 50) << "the second group comes meanwhile";

	/* One output: the weights are what takes time. */
	op.windows.out.width = op.windows.out.height = 1;
	const uint64_t steps = (8 + 16) * 9 * 2;
	const uint64_t fill = idle - kLayerSteps;
	EXPECT_EQ(convCycles(op, { 0, 128000 }), fill + 1000 + std::max<uint64_t>(steps, 1000));
}

TEST(ConvTimingTest, WinogradTakesAQuarterOfThePositions)
{
	ConvOp op = layer();
	const uint64_t fill = convCycles(op, { 0, 0 }) - kLayerSteps;

	op.mode = ConvMode::Winograd;
	op.windows.kernel = { 4, 4, 64 };
	EXPECT_EQ(convCycles(op, { 0, 0 }), fill + 56 * 56 / 4 * 16 * 2);
}

} /* namespace */

} /* namespace nvdla::sim::test */
