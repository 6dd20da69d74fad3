/* SPDX-License-Identifier: MIT */
/*
 * Random tasks in memory that barely holds them: whatever is accepted touches nothing but its
 * extents, on the core whose every access to system memory is looked at, and whose on-chip memory
 * has canaries in the other client's half.
 *
 * NVDLA_FUZZ_ROUNDS in the environment makes it that many times as many tasks.
 */
#include <cstdio>
#include <random>

#include <gtest/gtest.h>

#include "fuzz_rounds.h"
#include "shared_core.h"
#include "task_dice.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t seed = 20261122;
constexpr unsigned int plainTasks = 4000;
/* The canaries are looked at once in so many tasks. */
constexpr unsigned int tasksBetweenLooks = 2000;
constexpr std::byte canary{ 0xc5 };

} /* namespace */

TEST(ExtentsFuzz, NothingElseIsTouched)
{
	std::printf("seed %u\n", seed);
	std::mt19937 random(seed);
	TaskDice dice(random);
	SharedCore core(false);
	unsigned int accepted = 0, refused = 0, hung = 0;

	core.fillMemory(0, random);
	core.fillOnChip(1, canary);
	for (unsigned int i = 1; i <= plainTasks * fuzzRounds(); i++) {
		TaskBuilder builder;
		SharedCore::giveMemory(builder, 0);
		dice.cutExtents(builder);
		dice.addTask(builder);
		const Created created = builder.create();
		if (created.result != 0) {
			refused++;
			continue;
		}
		accepted++;
		hung += !core.run(0, builder, created.task.get());
		ASSERT_EQ(core.memory.strayAccesses(), 0U) << "task " << i;
		if (i % tasksBetweenLooks == 0) {
			ASSERT_TRUE(core.onChipIs(1, canary)) << "task " << i;
		}
	}
	EXPECT_TRUE(core.onChipIs(1, canary));
	std::printf("%u tasks ran, %u of them hung; %u were refused\n", accepted, hung, refused);
	EXPECT_GT(accepted, plainTasks / 4);
	EXPECT_GT(refused, plainTasks / 4);
	EXPECT_GT(hung, 0U);
}

} /* namespace nvdla::test */
