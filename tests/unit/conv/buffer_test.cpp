/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

#include "conv_support.h"

namespace nvdla::sim::test
{

namespace
{

TEST(CbufTest, EntriesFollowTheAtoms)
{
	struct {
		Precision precision;
		uint32_t width, channels, entries;
	} const cases[] = {
		{ Precision::Int8, 5, 1, 2 },	{ Precision::Int8, 5, 32, 2 },
		{ Precision::Int8, 5, 33, 3 },	{ Precision::Int8, 5, 65, 5 },
		{ Precision::Int8, 5, 128, 5 }, { Precision::Int8, 5, 129, 7 },
		{ Precision::Int16, 5, 16, 2 }, { Precision::Int16, 5, 17, 3 },
		{ Precision::Fp16, 1, 64, 1 },	{ Precision::Fp16, 3, 112, 6 },
	};

	for (const auto &c : cases)
		EXPECT_EQ(entriesPerSlice(ConvMode::Direct, c.precision, c.width, c.channels),
			  c.entries)
			<< c.width << "x" << c.channels;
	EXPECT_EQ(entriesPerSlice(ConvMode::Image, Precision::Int8, 43, 3), 2U);
}

/** A 1x1 kernel of ones over one channel: the output is the input */
class ReuseTest : public ::testing::Test
{
protected:
	ReuseTest()
	{
		layer.inputs.assign(1, Cube(1, 6, 1));
		layer.kernels.assign(1, Cube(1, 1, 1));
		layer.kernels[0].v[0] = 1;
	}

	/** \brief Lines 0.. of the input become \a first, first + 1, ... */
	ConvOp load(int first)
	{
		for (int16_t &element : layer.inputs[0].v)
			element = static_cast<int16_t>(first++);
		return bench.direct(layer);
	}

	/** \return the output lines */
	std::vector<int> run(const ConvOp &op)
	{
		const OperationResult result = bench.run(op);
		std::vector<int> lines;
		EXPECT_EQ(result.guestError, "");
		for (uint32_t y = 0; y < op.windows.out.height; y++)
			lines.push_back(bench.out->at(0, 0, y, 0));
		return lines;
	}

	Layer layer;
	Bench bench;
};

TEST_F(ReuseTest, KeptDataIsNotFetchedAgain)
{
	ConvOp op = load(10);
	op.keepData = true;
	EXPECT_EQ(run(op), (std::vector<int>{ 10, 11, 12, 13, 14, 15 }));

	op = load(20);
	op.reuseData = true;
	op.keepData = true;
	EXPECT_EQ(run(op), (std::vector<int>{ 10, 11, 12, 13, 14, 15 }));
	op.keepData = false;
	EXPECT_EQ(run(op), (std::vector<int>{ 10, 11, 12, 13, 14, 15 }));
	EXPECT_EQ(run(op), (std::vector<int>{ 20, 21, 22, 23, 24, 25 })) << "it was released";
}

TEST_F(ReuseTest, NothingIsReusedWithoutTheFlag)
{
	ConvOp op = load(10);
	op.keepData = true;
	run(op);
	EXPECT_EQ(run(load(20)), (std::vector<int>{ 20, 21, 22, 23, 24, 25 }));
}

TEST_F(ReuseTest, NothingIsReusedWithOtherBanks)
{
	ConvOp op = load(10);
	op.keepData = op.keepWeights = true;
	run(op);
	layer.kernels[0].v[0] = 2;
	op = load(20);
	op.reuseData = op.reuseWeights = true;
	op.weightBanks--;
	EXPECT_EQ(run(op), (std::vector<int>{ 40, 42, 44, 46, 48, 50 }));
}

TEST_F(ReuseTest, PartialReleaseKeepsTheLastLines)
{
	ConvOp op = load(10);
	op.windows.releasedSlices = 4;
	run(op);

	op = load(20);
	op.reuseData = true;
	op.fetch.size.height = 3;
	op.windows.data.height = 5;
	op.windows.out.height = 5;
	op.windows.releasedSlices = 5;
	EXPECT_EQ(run(op), (std::vector<int>{ 14, 15, 20, 21, 22 }));
}

TEST_F(ReuseTest, KeptWeightsAreNotFetchedAgain)
{
	ConvOp op = load(10);
	op.keepWeights = true;
	run(op);

	layer.kernels[0].v[0] = 3;
	op = load(20);
	op.reuseWeights = true;
	EXPECT_EQ(run(op), (std::vector<int>{ 20, 21, 22, 23, 24, 25 }));
	EXPECT_EQ(run(op), (std::vector<int>{ 60, 63, 66, 69, 72, 75 })) << "they were released";
}

TEST_F(ReuseTest, ResetForgets)
{
	ConvOp op = load(10);
	op.keepData = op.keepWeights = true;
	run(op);
	bench.engine.reset();
	layer.kernels[0].v[0] = 3;
	op = load(20);
	op.reuseData = op.reuseWeights = true;
	EXPECT_EQ(run(op), (std::vector<int>{ 60, 63, 66, 69, 72, 75 }));
}

/** What never completes on the hardware must say so, and leave nothing behind */
class HangTest : public ReuseTest
{
protected:
	void expectHang(const ConvOp &op)
	{
		const OperationResult result = bench.run(op);
		EXPECT_TRUE(result.hangs);
		EXPECT_NE(result.guestError, "");
		EXPECT_EQ(bench.out->columns(), 0U);
		EXPECT_EQ(run(load(30)), (std::vector<int>{ 30, 31, 32, 33, 34, 35 }));
	}
};

TEST_F(HangTest, CubeLargerThanTheBanks)
{
	ConvOp op = load(10);
	op.dataBanks = 1;
	op.fetch.size.height = op.windows.data.height = 300;
	expectHang(op);
}

TEST_F(HangTest, FewerLinesThanTheWindowsNeed)
{
	ConvOp op = load(10);
	op.windows.data.height = 7;
	expectHang(op);
}

TEST_F(HangTest, OtherWidthThanFetched)
{
	ConvOp op = load(10);
	op.windows.data.width = 2;
	expectHang(op);
}

TEST_F(HangTest, KernelGroupLargerThanTheBanks)
{
	ConvOp op = load(10);
	op.weightBanks = 1;
	op.windows.kernel.channels = op.fetch.size.channels = op.windows.data.channels = 32;
	op.windows.kernel.width = op.windows.kernel.height = 32;
	op.windows.kernels = 2;
	op.weights.bytes = 1 << 20;
	expectHang(op);
}

TEST_F(HangTest, ReusedLinesOfAnotherShape)
{
	ConvOp op = load(10);
	op.keepData = true;
	run(op);
	op.reuseData = true;
	op.windows.data.channels = op.windows.kernel.channels = 2;
	expectHang(op);
}

TEST_F(HangTest, ReusedWeightsOfAnotherShape)
{
	ConvOp op = load(10);
	op.keepWeights = true;
	run(op);
	op.reuseWeights = true;
	op.windows.kernel.height = 2;
	expectHang(op);
}

} /* namespace */

} /* namespace nvdla::sim::test */
