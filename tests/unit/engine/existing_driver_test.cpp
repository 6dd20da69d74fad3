/* SPDX-License-Identifier: MIT */
/*
 * Registers as the NVDLA project's own driver leaves them: the model reports no error that is none,
 * and computes the same.
 */
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "existing_driver.h"
#include "fuzz_rounds.h"
#include "shared_core.h"
#include "task_dice.h"

namespace nvdla::test
{

namespace
{

constexpr unsigned int existingDriverSeed = 20261127;
constexpr unsigned int rounds = 300;

/* A core with memory of its own. */
struct Machine {
	struct Outcome {
		bool ended = false;
		uint64_t written = 0;
		std::vector<std::string> errors;

		bool operator==(const Outcome &) const = default;
	};

	Machine()
	{
		std::mt19937 random(existingDriverSeed);
		TaskBuilder builder;
		for (size_t i = 0; i < TaskBuilder::cvsram; i++) {
			std::vector<std::byte> bytes(1 << 20);
			for (std::byte &byte : bytes)
				byte = static_cast<std::byte>(random() >> random() % 32);
			memory.fill(builder.extents[i].dma_addr, bytes);
		}
	}

	Outcome run(const TaskBuilder &builder, nvdla_task *task)
	{
		Outcome outcome;

		memory.setExtents(builder.extents);
		outcome.ended = core.run(task);
		outcome.written = memory.takeWritten();
		outcome.errors = core.takeErrors();
		/* Errors are reported once until a reset. */
		if (!outcome.ended || !outcome.errors.empty())
			core.reset();
		return outcome;
	}

	ClientMemory memory;
	ModelledCore core{ memory };
};

} /* namespace */

TEST(ExistingDriverTest, NoFalseReportAndTheSameResults)
{
	ExistingDriver driver(existingDriverSeed);
	Machine ours;
	Machine theirs;
	std::mt19937 random(existingDriverSeed);
	TaskDice dice(random);
	unsigned int ran = 0;
	unsigned int clean = 0;

	theirs.core.writeThrough(driver);
	for (unsigned int i = 0; i < rounds * fuzzRounds(); i++) {
		TaskBuilder builder;
		dice.addTask(builder);
		const Created created = builder.create();
		if (created.result != 0)
			continue;
		const Machine::Outcome wanted = ours.run(builder, created.task.get());
		nvdla_task_rewind(created.task.get());
		const Machine::Outcome got = theirs.run(builder, created.task.get());
		ASSERT_EQ(got.errors, wanted.errors) << "round " << i;
		ASSERT_EQ(got, wanted) << "round " << i;
		ran++;
		clean += wanted.ended && wanted.errors.empty();
	}
	std::printf("%u tasks, %u of them without an error, %u registers left\n", ran, clean,
		    driver.left());
	EXPECT_GT(clean, rounds / 2);
	EXPECT_GT(driver.left(), 10 * clean);
}

/* Each engine by itself. */
TEST(ExistingDriverTest, NoReportOfAnyEngine)
{
	const std::vector<std::pair<const char *, std::function<void(TaskBuilder &)>>> tasks = {
		{ "BDMA", [](TaskBuilder &builder) { builder.addBdma(3); } },
		{ "convolution", [](TaskBuilder &builder) { builder.addConv(); } },
		{ "Winograd", [](TaskBuilder &builder) { builder.addWinograd(); } },
		{ "image", [](TaskBuilder &builder) { builder.addImage(12); } },
		{ "SDP", [](TaskBuilder &builder) { builder.addSdp(); } },
		{ "SDP with LUT", [](TaskBuilder &builder) { builder.useLut(builder.addSdp()); } },
		{ "comparison", [](TaskBuilder &builder) { builder.addComparison(); } },
		{ "PDP", [](TaskBuilder &builder) { builder.addPdp(); } },
		{ "PDP in parts", [](TaskBuilder &builder) { builder.addSplitPdp(); } },
		{ "PDP behind SDP", [](TaskBuilder &builder) { builder.addSdpPdp(); } },
		{ "CDP", [](TaskBuilder &builder) { builder.addCdp(); } },
		{ "contract",
		  [](TaskBuilder &builder) { builder.addRubik(NVDLA_RUBIK_CONTRACT); } },
		{ "split", [](TaskBuilder &builder) { builder.addRubik(NVDLA_RUBIK_SPLIT); } },
		{ "merge", [](TaskBuilder &builder) { builder.addRubik(NVDLA_RUBIK_MERGE); } },
	};
	ExistingDriver driver(existingDriverSeed);
	Machine machine;

	machine.core.writeThrough(driver);
	for (unsigned int i = 0; i < 3 * tasks.size(); i++) {
		const auto &[name, add] = tasks[i % tasks.size()];
		TaskBuilder builder;
		add(builder);
		const Created created = builder.create();
		ASSERT_EQ(created.result, 0) << name;
		const Machine::Outcome outcome = machine.run(builder, created.task.get());
		EXPECT_TRUE(outcome.ended) << name;
		EXPECT_EQ(outcome.errors, std::vector<std::string>()) << name;
	}
}

} /* namespace nvdla::test */
