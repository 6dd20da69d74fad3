/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

#include "timing/conv_timing.h"
#include "timing/operation_timing.h"

using namespace nvdla::sim;

namespace
{

/* A 3x3 layer of 64 channels in INT8 at 56x56 whose MAC steps outweigh all else. */
ConvWork layer()
{
	ConvWork work;

	work.outWidth = work.outHeight = 56;
	work.kernels = 64;
	work.groupKernels = 32;
	work.steps = 9;
	work.lanes = 9 * 64;
	work.atoms = 56 * 56 * 2;
	work.lines = 56 * 2;
	work.dataBytes = work.atoms * 32;
	work.oneSurface = false;
	work.weightBytes = 9 * 64 * 64;
	work.weightRoom = 4 * 32768;
	return work;
}

/* A fully connected layer: one position, many weights. */
ConvWork fullyConnected()
{
	ConvWork work = layer();

	work.outWidth = work.outHeight = 1;
	work.kernels = 1024;
	work.steps = 64;
	work.lanes = 64 * 64;
	work.atoms = work.lines = 128;
	work.dataBytes = 4096;
	work.weightBytes = 4096 * 1024;
	work.weightRoom = 12 * 32768;
	return work;
}

/* Elements of a copy, 32 bytes in and out for each 32 of them. */
SdpWork copyOf(uint64_t elements)
{
	SdpWork work;

	work.elements = elements;
	work.traffic.mc = { elements, elements };
	return work;
}

TEST(ConvTiming, MacStepsAreACycleEach)
{
	EXPECT_EQ(timeConv(layer(), {}).macCycles, 56 * 56 * 9 * 2);
	EXPECT_EQ(layer().macs(), 56U * 56 * 64 * 64 * 9);
}

TEST(ConvTiming, TheCubeIsWaitedFor)
{
	ConvWork work = layer();
	const ConvTiming all = timeConv(work, {});

	EXPECT_GT(all.begin, static_cast<double>(work.dataBytes) / 64);
	work.dataBytes = 0;
	const ConvTiming kept = timeConv(work, {});
	EXPECT_LT(kept.begin, all.begin);
	EXPECT_EQ(kept.macCycles, all.macCycles);
}

TEST(ConvTiming, AStripeIsNoShorterThanLoadingWeights)
{
	ConvWork work = layer();

	work.outWidth = work.outHeight = 1;
	EXPECT_EQ(timeConv(work, {}).macCycles, 16 * 9 * 2);
	work.kernels = 4; /* fewer kernels load faster, up to a limit */
	EXPECT_EQ(timeConv(work, {}).macCycles, 10 * 9);
}

TEST(ConvTiming, StripesOfAnImageEndWithTheLine)
{
	ConvWork work = layer();

	work.outWidth = 4;
	work.outHeight = 8;
	EXPECT_EQ(timeConv(work, {}).macCycles, 32 * 9 * 2);
	work.walk = ConvWalk::Lines;
	EXPECT_EQ(timeConv(work, {}).macCycles, 8 * 16 * 9 * 2);
}

TEST(ConvTiming, WinogradTakesAStepForFourPositions)
{
	ConvWork work = layer();

	work.walk = ConvWalk::Tiles;
	work.steps = 16;
	work.lanes = 16 * 64;
	EXPECT_EQ(timeConv(work, {}).macCycles, 56 * 56 / 4 * 16 * 2);
	EXPECT_EQ(work.macs(), 56U * 56 / 4 * 64 * 16 * 64);
}

TEST(ConvTiming, WeightsThatDoNotFitTwiceAreWaitedFor)
{
	ConvWork work = fullyConnected();
	const uint64_t group = work.weightBytes / 32;

	work.weightRoom = 2 * group;
	const double both = timeConv(work, {}).end;
	work.weightRoom = group;
	EXPECT_GT(timeConv(work, {}).end, both + 30 * 16 * 64);
}

TEST(ConvTiming, WhatWasFetchedAheadIsNotWaitedFor)
{
	ConvWork work = fullyConnected();
	const ConvTiming all = timeConv(work, {});

	work.ahead = { work.dataBytes, work.weightBytes / 4 };
	const ConvTiming less = timeConv(work, {});
	EXPECT_EQ(less.dataReady, 0);
	EXPECT_EQ(less.begin, 0) << "the first group is there";
	EXPECT_LT(less.weightsReady, all.weightsReady * 0.8);
	work.ahead.weightBytes = work.weightBytes;
	EXPECT_EQ(timeConv(work, {}).end, all.macCycles);
}

TEST(ConvTiming, CubeAndWeightsAreFetchedAheadAtOnce)
{
	const ConvWork work = layer();
	const InBuffer room = { work.dataBytes / 2, work.weightBytes };
	const double cycles = cyclesAhead(work, room, {});
	const InBuffer half = fetchedAhead(work, room, cycles / 2, {});
	const InBuffer all = fetchedAhead(work, room, cycles, {});

	EXPECT_EQ(fetchedAhead(work, room, 0, {}).dataBytes, 0U);
	EXPECT_GT(half.dataBytes, 0U);
	EXPECT_LT(half.dataBytes, room.dataBytes);
	EXPECT_GT(half.weightBytes, 0U);
	EXPECT_NEAR(static_cast<double>(all.dataBytes), static_cast<double>(room.dataBytes), 1);
	EXPECT_NEAR(static_cast<double>(all.weightBytes), static_cast<double>(room.weightBytes), 1);
	EXPECT_EQ(cyclesAhead(work, {}, {}), 0);
}

TEST(OperationTiming, WhatItIsBoundBy)
{
	TimingParameters slow;
	slow.mc = { .bytesPerCycle = 4, .sharedBytesPerCycle = 4 };

	EXPECT_EQ(timeOperation({ .conv = layer() }, {}).bound, Bound::Mac);
	EXPECT_EQ(timeOperation({ .conv = fullyConnected() }, slow).bound, Bound::Dram);
	EXPECT_EQ(timeOperation({ .sdp = copyOf(32000) }, {}).bound, Bound::Sdp);
	EXPECT_EQ(timeOperation({ .sdp = copyOf(32000) }, slow).bound, Bound::Dram);
	EXPECT_EQ(timeOperation({ .sdp = copyOf(32) }, slow).bound, Bound::Latency);

	SdpWork onChip = copyOf(32000);
	std::swap(onChip.traffic.mc, onChip.traffic.cv);
	slow.cv = slow.mc;
	EXPECT_EQ(timeOperation({ .sdp = onChip }, slow).bound, Bound::Sram);
}

TEST(OperationTiming, NothingIsFasterThanItsBytes)
{
	TimingParameters parameters;
	parameters.mc = { .bytesPerCycle = 64, .sharedBytesPerCycle = 10 };

	for (const OperationWork &work :
	     { OperationWork{ .conv = layer() }, OperationWork{ .conv = fullyConnected() },
	       OperationWork{ .sdp = copyOf(100000) },
	       OperationWork{ .conv = layer(), .sdp = copyOf(200704) } })
		EXPECT_GE(timeOperation(work, parameters).cycles, work.traffic().mc.total() / 10);
}

TEST(OperationTiming, StallsAreWhatASlowMemoryCosts)
{
	TimingParameters slow;
	slow.mc = { .bytesPerCycle = 8, .sharedBytesPerCycle = 8 };
	const OperationTiming fast = timeOperation({ .conv = layer() }, {});
	const OperationTiming stalled = timeOperation({ .conv = layer() }, slow);

	EXPECT_EQ(fast.readStall + fast.weightStall + fast.writeStall, 0U);
	EXPECT_GT(stalled.readStall, 10000U);
	EXPECT_EQ(stalled.cycles,
		  fast.cycles + stalled.readStall + stalled.weightStall + stalled.writeStall);

	const OperationTiming copy = timeOperation({ .sdp = copyOf(32000) }, slow);
	EXPECT_EQ(copy.cycles, timeOperation({ .sdp = copyOf(32000) }, {}).cycles + copy.readStall +
				       copy.writeStall);
	EXPECT_GT(copy.readStall, 0U);
	EXPECT_GT(copy.writeStall, 0U);
}

/* Who reads the most waits the longest; behind a convolution, too. */
TEST(OperationTiming, OperandsHaveTheirShareOfAStall)
{
	TimingParameters slow;
	slow.mc = { .bytesPerCycle = 8, .sharedBytesPerCycle = 8 };
	SdpWork sdp = copyOf(200704);
	sdp.operandBytes = { 200704, 0, 401408 };
	sdp.traffic.mc.readBytes += sdp.allOperandBytes();
	const OperationTiming ideal = timeOperation({ .sdp = sdp }, {});
	const OperationTiming alone = timeOperation({ .sdp = sdp }, slow);

	EXPECT_EQ(ideal.operandStall, (std::array<uint64_t, 3>{}));
	EXPECT_GT(alone.readStall, 0U);
	EXPECT_NEAR(static_cast<double>(alone.operandStall[0]),
		    static_cast<double>(alone.readStall), 2);
	EXPECT_EQ(alone.operandStall[1], 0U);
	EXPECT_NEAR(static_cast<double>(alone.operandStall[2]),
		    2 * static_cast<double>(alone.readStall), 3);

	sdp.flying = true;
	const OperationTiming fused = timeOperation({ .conv = layer(), .sdp = sdp }, slow);
	EXPECT_GT(fused.operandStall[0], 0U);
	EXPECT_EQ(fused.operandStall[1], 0U);
	EXPECT_NEAR(static_cast<double>(fused.operandStall[2]),
		    2 * static_cast<double>(fused.operandStall[0]), 2);
	EXPECT_EQ(fused.cycles, timeOperation({ .conv = layer(), .sdp = sdp }, {}).cycles +
					fused.readStall + fused.weightStall + fused.writeStall +
					fused.operandStall[0] + fused.operandStall[2]);
}

TEST(OperationTiming, LatencyOfAMemoryThatIsReadCountsOnce)
{
	TimingParameters far;
	far.mc.latency = 216;
	far.cv.latency = 1000;
	const OperationTiming near = timeOperation({ .sdp = copyOf(3200) }, {});
	const OperationTiming timing = timeOperation({ .sdp = copyOf(3200) }, far);

	EXPECT_EQ(timing.cycles, near.cycles + 200);
	EXPECT_EQ(timing.latency, 216U);
	EXPECT_EQ(timeOperation({ .conv = layer() }, far).cycles,
		  timeOperation({ .conv = layer() }, {}).cycles + 200);
}

TEST(OperationTiming, EnginesOnTheFlyWorkSideBySide)
{
	SdpWork sdp = copyOf(200704);
	sdp.flying = true;
	const uint64_t alone = timeOperation({ .conv = layer() }, {}).cycles;
	const uint64_t fused = timeOperation({ .conv = layer(), .sdp = sdp }, {}).cycles;

	EXPECT_GT(fused, alone);
	EXPECT_LT(fused, alone + alone / 50);
	sdp.y = true; /* 4 elements a cycle: now SDP is the slower one */
	const OperationTiming slow = timeOperation({ .conv = layer(), .sdp = sdp }, {});
	EXPECT_GT(slow.cycles, 200704U / 4);
	sdp.elements *= 2;
	EXPECT_EQ(timeOperation({ .conv = layer(), .sdp = sdp }, {}).bound, Bound::Sdp);
}

TEST(WordsOfLines, CountsWhatIsTouched)
{
	EXPECT_EQ(wordsOfLines(64, 0, 64, 10, 64, 1, 640), 10U);
	EXPECT_EQ(wordsOfLines(64, 32, 64, 10, 64, 1, 640), 20U) << "each lies in two words";
	EXPECT_EQ(wordsOfLines(64, 0, 64, 10, 96, 1, 960), 15U) << "every other one does";
	EXPECT_EQ(wordsOfLines(64, 0, 32, 10, 32, 3, 320), 30U);
	EXPECT_EQ(wordsOfLines(8, 8, 16, 10, 24, 1, 240), 20U) << "nv_small's words";
}

TEST(SdpTiming, PairsOfOperandsTakeLonger)
{
	OperationWork one = { .sdp = copyOf(32 * 1000) };
	OperationWork pairs = one;

	pairs.sdp->pairedAtoms = 1000;
	EXPECT_NEAR(static_cast<double>(timeOperation(pairs, {}).cycles -
					timeOperation(one, {}).cycles),
		    800, 1);
}

TEST(SdpTiming, ComparingIsDoneEarlier)
{
	OperationWork writing = { .sdp = copyOf(32 * 1000) };
	OperationWork comparing = writing;

	comparing.sdp->writes = false;
	EXPECT_LT(timeOperation(comparing, {}).cycles, timeOperation(writing, {}).cycles);
}

} /* namespace */
