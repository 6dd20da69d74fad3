/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

#include "trace/sequence.h"

using namespace nvdla::sim;

namespace
{

constexpr double kWrite = 19; /* cycles, as sequence.cpp has it */

OperationRecord reshaped(uint64_t cycles)
{
	OperationRecord record = { .engine = Engine::Rubik };

	record.units = 1U << index(Unit::Rbk);
	record.work.move = MoveWork{ .cycles = cycles };
	return record;
}

OperationRecord copied(uint64_t cycles)
{
	OperationRecord record = { .engine = Engine::Bdma };

	record.work.move = MoveWork{ .cycles = cycles, .bdma = true };
	return record;
}

std::optional<Sequence> sequence(std::vector<OperationRecord> operations, const std::string &text)
{
	SuiteRun run;
	const auto commands = parseTrace(text);

	EXPECT_TRUE(commands) << commands.error();
	run.operations = std::move(operations);
	return sequenceOf(run, { .directory = "", .commands = *commands });
}

const std::string enableRubik = "write 0x10008 0x1\n";
const std::string enableCopy = "write 0x4030 0x1\n";
const std::string launch = "write 0x4034 0x1\n";

TEST(Sequence, TheSecondGroupFollowsTheFirst)
{
	const auto both = sequence({ reshaped(100), reshaped(50) },
				   enableRubik + enableRubik +
					   "poll 0xc 0x100 0x100\npoll 0xc 0x200 0x200\n");

	ASSERT_TRUE(both);
	EXPECT_DOUBLE_EQ(both->steps[1].enabled, kWrite);
	EXPECT_DOUBLE_EQ(both->steps[1].time.start, 100);
	EXPECT_DOUBLE_EQ(both->lastCycles(), 150 - kWrite);
}

TEST(Sequence, WhatIsPolledForIsWaitedFor)
{
	const auto both = sequence({ reshaped(100), reshaped(50) },
				   enableRubik + "poll 0xc 0x100 0x100\nwrite 0xc 0x100\n" +
					   enableRubik + "poll 0xc 0x200 0x200\n");

	ASSERT_TRUE(both);
	EXPECT_DOUBLE_EQ(both->steps[1].enabled, 100 + kWrite);
	EXPECT_DOUBLE_EQ(both->lastCycles(), 50);
}

TEST(Sequence, TheFirstOfSeveralRaisesTheLine)
{
	const auto both = sequence({ copied(40), reshaped(100) },
				   enableRubik + enableCopy + launch + "poll 0xc 0x140 0x140\n");

	ASSERT_TRUE(both);
	EXPECT_DOUBLE_EQ(both->lastCycles(), 40);
}

TEST(Sequence, TheLastCopyOfAGroupInterrupts)
{
	const auto group = sequence({ copied(40), copied(30) },
				    enableCopy + enableCopy + launch + "poll 0xc 0x40 0x40\n");

	ASSERT_TRUE(group);
	EXPECT_DOUBLE_EQ(group->lastCycles(), 70);
}

TEST(Sequence, AllOperationsHaveToBeEnabled)
{
	EXPECT_FALSE(sequence({ reshaped(100), reshaped(50) }, enableRubik));
}

} /* namespace */
