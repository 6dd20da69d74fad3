/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

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

} /* namespace */
