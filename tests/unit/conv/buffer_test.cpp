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

TEST_F(ReuseTest, OtherBanksClear)
{
	struct {
		uint32_t fewerDataBanks, fewerWeightBanks;
		std::vector<int> lines;
	} const cases[] = {
		{ 1, 0, { 40, 42, 44, 46, 48, 50 } }, /* both: all is fetched */
		{ 0, 1, { 20, 22, 24, 26, 28, 30 } }, /* the weights: the data are the kept ones */
	};

	for (const auto &c : cases) {
		layer.kernels[0].v[0] = 1;
		ConvOp op = load(10);
		op.keepData = op.keepWeights = true;
		run(op);
		layer.kernels[0].v[0] = 2;
		op = load(20);
		op.reuseData = op.reuseWeights = true;
		op.dataBanks -= c.fewerDataBanks;
		op.weightBanks -= c.fewerWeightBanks;
		EXPECT_EQ(run(op), c.lines);
	}
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

/* What CSC reads where its registers say, whatever was fetched there. */
class StaleTest : public ReuseTest
{
};

TEST_F(StaleTest, LinesOfAnotherShapeAreTheBytesThatAreThere)
{
	ConvOp op = load(10);
	op.keepData = true;
	run(op);

	/* A line of two columns: each has an atom of the entry that a column has now. */
	op = load(20);
	op.reuseData = true;
	op.windows.data.width = op.windows.out.width = 2;
	run(op);
	EXPECT_EQ(bench.out->at(0, 0, 5, 0), 15);
	EXPECT_EQ(bench.out->at(0, 0, 5, 1), 0) << "the rest of the entry";
}

TEST_F(StaleTest, LinesBehindThoseThatWereKeptAreOlderOnes)
{
	/* In the first six entries, given up; the next ones are behind them. */
	run(load(40));
	ConvOp op = load(10);
	op.keepData = true;
	run(op);

	/* Lines are so far apart that the second one is where those of the first operation began.
	 */
	op = load(20);
	op.reuseData = true;
	op.windows.entries = 2048 - 6;
	op.windows.data.height = op.windows.out.height = 2;
	EXPECT_EQ(run(op), (std::vector<int>{ 10, 40 })) << "once around the eight banks";
}

TEST_F(StaleTest, FewerKernelsLeaveTheirCount)
{
	layer.kernels.assign(2, layer.kernels[0]);
	ConvOp op = load(10);
	op.keepWeights = true;
	run(op);

	layer.kernels.assign(1, layer.kernels[0]);
	op = load(10);
	op.reuseWeights = true;
	run(op);

	/* CDMA and CSC moved by an entry each: one kernel too many is counted, none is read. */
	layer.kernels[0].v[0] = 3;
	EXPECT_EQ(run(load(20)), (std::vector<int>{ 60, 63, 66, 69, 72, 75 }));
}

TEST_F(StaleTest, MoreWeightsThanTheMaskSaysShiftThoseOfTheNext)
{
	/* One kernel, and an entry behind it that CSC never loads. */
	ConvOp op = bench.compressed(load(10));
	bench.store(Bench::kWeights + 128, std::vector<uint8_t>(128, 7));
	op.weights.bytes += 128;
	EXPECT_EQ(run(op), (std::vector<int>{ 10, 11, 12, 13, 14, 15 }));

	layer.kernels[0].v[0] = 3;
	EXPECT_EQ(run(load(20)), (std::vector<int>{ 140, 147, 154, 161, 168, 175 }));

	/* Other banks: the pointers are together again. */
	op = load(20);
	op.weightBanks--;
	EXPECT_EQ(run(op), (std::vector<int>{ 60, 63, 66, 69, 72, 75 }));
}

TEST_F(StaleTest, FewerWeightsThanTheMaskSaysAreOlderOnes)
{
	/* 200 bytes in two entries, of which the next operation fetches one. */
	layer.kernels.assign(1, Cube(200, 1, 1));
	layer.inputs.assign(1, Cube(200, 6, 1));
	std::fill(layer.kernels[0].v.begin(), layer.kernels[0].v.end(), int16_t{ 9 });
	std::fill(layer.inputs[0].v.begin(), layer.inputs[0].v.end(), int16_t{ 1 });
	ConvOp secret = bench.direct(layer);
	ASSERT_EQ(bench.run(secret).guestError, "");
	EXPECT_EQ(bench.out->at(0, 0, 0, 0), 1800);

	/* Other banks and the first ones again: back to the beginning, the bytes are still there.
	 */
	ConvOp other = secret;
	other.weightBanks--;
	other.weights.bytes = 128;
	other.windows.data.channels = other.windows.kernel.channels = other.fetch.size.channels = 1;
	ASSERT_EQ(bench.run(other).guestError, "");

	std::fill(layer.kernels[0].v.begin(), layer.kernels[0].v.end(), int16_t{ 1 });
	ConvOp op = bench.compressed(bench.direct(layer));
	op.weights.bytes -= 128;
	ASSERT_EQ(bench.run(op).guestError, "");
	EXPECT_EQ(bench.out->at(0, 0, 0, 0), 128 + 9 * 72);
}

TEST_F(StaleTest, LinesThatNobodyWaitsForFollowTheSums)
{
	ConvOp op = load(10);
	op.windows.data.height = op.windows.out.height = 4;
	op.windows.releasedSlices = 4;
	EXPECT_EQ(run(op), (std::vector<int>{ 10, 11, 12, 13 }));
	EXPECT_FALSE(bench.engine.fetching()) << "there was room";

	/* A bank has 256 entries: the last lines find room when CSC has released its own. */
	op = load(10);
	op.dataBanks = 1;
	op.fetch.size.height = 300;
	op.fetch.lineStride = 0;
	op.windows.releasedSlices = 4;
	op.windows.data.height = op.windows.out.height = 4;
	MemoryPort port(bench.dram, bench.cvsram);
	Collector out(op);
	Workers workers;
	ConvEngine engine(workers);
	EXPECT_FALSE(engine.run(op, port, out).hangs);
	EXPECT_TRUE(engine.fetching());
	EXPECT_TRUE(engine.finishFetch().hangs) << "no room for 300 lines, of which 4 are released";

	op.fetch.size.height = 258;
	engine.reset();
	EXPECT_FALSE(engine.run(op, port, out).hangs);
	EXPECT_TRUE(engine.fetching());
	EXPECT_FALSE(engine.finishFetch().hangs);
	EXPECT_FALSE(engine.fetching());
}

} /* namespace */

} /* namespace nvdla::sim::test */
