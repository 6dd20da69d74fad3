/* SPDX-License-Identifier: MIT */
/*
 * What one client's convolutions leave for another's, and what the scrub leaves of it.
 */

#include <gtest/gtest.h>

#include "shared_core.h"

namespace nvdla::test
{

namespace
{

enum Client : unsigned int { victim, thief };

class ScrubTest : public ::testing::Test
{
protected:
	/** \brief Fill the first megabyte of an extent with \a value */
	static void fill(SharedCore &core, Client client, int16_t extent, uint8_t value)
	{
		TaskBuilder builder;
		SharedCore::giveMemory(builder, client);
		core.memory.fill(builder.extents[static_cast<size_t>(extent)].dma_addr,
				 std::vector<std::byte>(1 << 20, std::byte{ value }));
	}

	/** \return what the task wrote */
	static uint64_t run(SharedCore &core, Client client, TaskBuilder builder)
	{
		SharedCore::giveMemory(builder, client);
		const Created created = builder.create();
		EXPECT_EQ(created.result, 0);
		EXPECT_TRUE(core.run(client, builder, created.task.get()));
		return core.memory.takeWritten();
	}

	/** \brief A convolution whose weights are the secret: 36 KiB */
	static uint64_t runVictim(SharedCore &core)
	{
		TaskBuilder builder;
		fill(core, victim, 1, 0x5a);
		builder.addConv();
		builder.setChannels(0, 128);
		builder.conv(0).weight_bank = 8;
		return run(core, victim, builder);
	}

	/** \brief One whose mask has ones for 9 KiB of weights, but which fetches 128 bytes */
	static uint64_t runThief(SharedCore &core)
	{
		TaskBuilder builder;
		fill(core, thief, 0, 1);
		fill(core, thief, 1, 0xff);
		builder.addCompressed();
		/* Other banks for the weights than the victim has: they begin where its did. */
		builder.conv(0).weight_bank = 7;
		return run(core, thief, builder);
	}
};

TEST_F(ScrubTest, AMaskReadsWhatAnotherClientLeftAsWeights)
{
	SharedCore core(false), fresh(false);

	runVictim(core);
	EXPECT_NE(runThief(core), runThief(fresh)) << "without a scrub it must leak, or this test "
						      "sees nothing";
}

TEST_F(ScrubTest, WhatAnotherClientLeftIsGone)
{
	SharedCore core, fresh;

	runVictim(core);
	EXPECT_EQ(runThief(core), runThief(fresh));
	EXPECT_EQ(core.scrubsRun, 1U);
	EXPECT_EQ(fresh.scrubsRun, 0U) << "reset has cleared the buffer";
	EXPECT_EQ(core.memory.strayAccesses(), 0U);
}

TEST_F(ScrubTest, WeightsAreNotShiftedForTheNextClient)
{
	SharedCore leaky(false), core, fresh;

	/* It fetches an entry that its mask has no ones for. */
	for (SharedCore *shared : { &leaky, &core }) {
		TaskBuilder builder;
		fill(*shared, thief, 1, 0);
		builder.addCompressed();
		run(*shared, thief, builder);
	}
	TaskBuilder builder;
	builder.addConv();
	builder.sdp(1).out_cvt.truncate = 6;
	for (SharedCore *shared : { &leaky, &core, &fresh }) {
		fill(*shared, victim, 0, 3);
		fill(*shared, victim, 1, 5);
	}
	const uint64_t expected = run(fresh, victim, builder);
	EXPECT_NE(run(leaky, victim, builder), expected);
	EXPECT_EQ(run(core, victim, builder), expected);
}

TEST_F(ScrubTest, WorksWhateverBanksWereUsedBefore)
{
	for (unsigned int banks = 1; banks < 16; banks++) {
		SharedCore core, fresh;
		TaskBuilder builder;

		fill(core, victim, 0, 0x5a);
		fill(core, victim, 1, 0x5a);
		builder.addConv();
		builder.conv(0).data_bank = static_cast<uint8_t>(banks);
		builder.conv(0).weight_bank = static_cast<uint8_t>(16 - banks);
		run(core, victim, builder);
		EXPECT_EQ(runThief(core), runThief(fresh)) << banks << " data banks";
	}
}

TEST_F(ScrubTest, IsRunOnlyWhereTheClientChanges)
{
	SharedCore core;
	TaskBuilder copy;

	copy.addBdma();
	runVictim(core);
	runVictim(core);
	EXPECT_EQ(core.scrubsRun, 0U) << "one client";
	run(core, thief, copy);
	runVictim(core);
	EXPECT_EQ(core.scrubsRun, 0U) << "the other one does not convolve";
	runThief(core);
	EXPECT_EQ(core.scrubsRun, 1U);
	run(core, thief, copy);
	EXPECT_EQ(core.scrubsRun, 1U);
	runVictim(core);
	EXPECT_EQ(core.scrubsRun, 2U);
	core.reset();
	runThief(core);
	EXPECT_EQ(core.scrubsRun, 2U) << "reset has cleared the buffer";
}

} /* namespace */

} /* namespace nvdla::test */
