/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

#include "timing/operation_timing.h"
#include "timing/schedule.h"

using namespace nvdla::sim;

namespace
{

/* A copy that takes 10000 cycles: 100 of its own for each byte a cycle of \a bytes. */
OperationWork move(bool bdma, uint64_t bytes = 0)
{
	MoveWork work = { .cycles = 10000, .bdma = bdma };

	work.traffic.mc.readBytes = bytes;
	return { .move = work };
}

/* 3x3 over 64 channels of INT8 at 28x28: a cube of 49 KiB in 8 banks, 16 groups of 18 KiB in 8. */
ConvWork convolution()
{
	ConvWork work;

	work.outWidth = work.outHeight = 28;
	work.kernels = 512;
	work.groupKernels = 32;
	work.steps = 9;
	work.lanes = 9 * 64;
	work.atoms = 28 * 28 * 2;
	work.lines = 28 * 2;
	work.dataBytes = work.dataHeld = work.atoms * 32;
	work.oneSurface = false;
	work.weightBytes = 9 * 64 * 512;
	work.dataRoom = work.weightRoom = 8 * 32768;
	return work;
}

double alone(const ConvWork &work, const TimingParameters &parameters = {})
{
	return static_cast<double>(timeOperation({ .conv = work }, parameters).cycles);
}

double macCycles(const ConvWork &work)
{
	return static_cast<double>(timeOperation({ .conv = work }, {}).macCycles);
}

/* \return when the second one of two ends */
double endOfTwo(const ConvWork &first, const ConvWork &second, std::vector<size_t> after = {},
		const TimingParameters &parameters = {})
{
	const auto times =
		schedule({ { { .conv = first }, {} }, { { .conv = second }, after } }, parameters);

	EXPECT_GE(times[1].start, times[0].end) << "one computes at a time";
	return times[1].end;
}

TEST(Schedule, EnginesWorkSideBySide)
{
	const auto times = schedule({ { move(true), {} }, { move(false), {} } }, {});

	EXPECT_EQ(times[0].end, 10000);
	EXPECT_EQ(times[1].start, 0);
	EXPECT_EQ(times[1].end, 10000);
}

TEST(Schedule, AnEngineDoesOneAtATimeInOrder)
{
	const auto times = schedule({ { move(true), {} },
				      { move(true), {} },
				      { move(false), { 1 } },
				      { move(false), {} } },
				    {});

	EXPECT_EQ(times[1].start, 10000);
	EXPECT_EQ(times[2].start, 20000);
	EXPECT_EQ(times[3].start, 30000) << "it is behind the one that waits";
}

TEST(Schedule, WhoWaitsIsStartedByAnInterrupt)
{
	TimingParameters parameters;
	parameters.interruptCycles = 700;
	const auto times = schedule(
		{ { move(true), {} }, { move(false), { 0 } }, { move(true), {} } }, parameters);

	EXPECT_EQ(times[1].start, 10700);
	EXPECT_EQ(times[2].start, 10000) << "the registers of the other group are ready";
}

TEST(Schedule, MemoryIsShared)
{
	TimingParameters parameters;
	parameters.mc = { .bytesPerCycle = 10, .sharedBytesPerCycle = 10, .latency = 16 };
	/* Each of them needs three quarters of the memory. */
	const auto both =
		schedule({ { move(true, 75000), {} }, { move(false, 75000), {} } }, parameters);
	EXPECT_NEAR(both[0].end, 15000, 1);
	EXPECT_NEAR(both[1].end, 15000, 1);

	/* One that needs none is not slowed; the rest of the other goes on alone. */
	const auto one = schedule({ { move(true, 75000), {} }, { move(false), {} } }, parameters);
	EXPECT_NEAR(one[0].end, 10000, 1);
	EXPECT_NEAR(one[1].end, 10000, 1);
}

TEST(Schedule, WhoAsksAMemoryForLittleGetsIt)
{
	TimingParameters parameters;
	parameters.mc = { .bytesPerCycle = 10, .sharedBytesPerCycle = 10, .latency = 16 };
	const auto times =
		schedule({ { move(true, 30000), {} }, { move(false, 100000), {} } }, parameters);

	EXPECT_NEAR(times[0].end, 10000, 20);
	/* Seven tenths of the memory as long as the other is at it, then all of it. */
	EXPECT_NEAR(times[1].end, 10000 + 3000, 20);
}

TEST(Schedule, AConvolutionIsFetchedWhileTheOneBeforeComputes)
{
	const ConvWork work = convolution();
	const double fetch = static_cast<double>(work.dataBytes) / 64;
	const double both = endOfTwo(work, work);

	EXPECT_LT(both, 2 * alone(work) - fetch);
	EXPECT_GT(both, alone(work) + macCycles(work));
}

TEST(Schedule, AConvolutionIsNotFetchedBeforeWhatItWaitsFor)
{
	const ConvWork work = convolution();

	EXPECT_NEAR(endOfTwo(work, work, { 0 }), 2 * alone(work), 1);
}

TEST(Schedule, AConvolutionWithOtherBanksIsNotFetchedAhead)
{
	ConvWork other = convolution();

	other.weightRoom -= 32768;
	EXPECT_NEAR(endOfTwo(convolution(), other), alone(convolution()) + alone(other), 1);
}

TEST(Schedule, AheadIsFetchedWhatFindsRoom)
{
	ConvWork work = convolution();
	const double both = endOfTwo(work, work);

	/* The cube of the first one leaves none to that of the second. */
	work.dataRoom = work.dataHeld;
	const double weights = endOfTwo(work, work);
	EXPECT_GT(weights, both + static_cast<double>(work.dataBytes) / 64 / 2);
	EXPECT_LE(weights, 2 * alone(work));
}

TEST(Schedule, WhatIsFetchedAheadSharesTheMemory)
{
	TimingParameters slow;
	slow.mc = { .bytesPerCycle = 4, .sharedBytesPerCycle = 4 };
	const ConvWork work = convolution();
	const auto bytes = static_cast<double>(2 * (work.dataBytes + work.weightBytes));

	EXPECT_GT(endOfTwo(work, work, {}, slow), bytes / 4);
	EXPECT_LT(endOfTwo(work, work, {}, slow), 2 * alone(work, slow));
}

TEST(Schedule, CdmaIsBusyWithOneConvolutionAtATime)
{
	const ConvWork work = convolution();
	const auto times = schedule(
		{ { { .conv = work }, {} }, { { .conv = work }, {} }, { { .conv = work }, {} } },
		{});

	/* The third one is as far behind the second as that is behind the first, but for a latency.
	 */
	EXPECT_NEAR(times[2].end - times[1].end, times[1].end - times[0].end,
		    TimingParameters().mc.latency + 2);
}

} /* namespace */
