/* SPDX-License-Identifier: MIT */
/*
 * Two clients take turns on one core with random tasks, legal and illegal ones. What the
 * second one's tasks write and count must be what they write and count on a core that
 * nobody else uses, which is reset wherever the shared one is cleared: then nothing of
 * the first one's is in it.
 *
 * NVDLA_FUZZ_ROUNDS in the environment makes it that many times as many rounds.
 */
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz_rounds.h"
#include "shared_core.h"
#include "task_dice.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t seed = 20261122;
constexpr unsigned int plainRounds = 250;

enum Client : unsigned int { hostile, normal };

/** What came of a task */
struct Outcome {
	bool ended = false;
	uint64_t written = 0;
	std::vector<drm_nvdla_operation_result> stats;

	bool operator==(const Outcome &other) const
	{
		return ended == other.ended && written == other.written &&
		       stats.size() == other.stats.size() &&
		       std::memcmp(stats.data(), other.stats.data(),
				   stats.size() * sizeof(stats[0])) == 0;
	}
};

/** A core that both use, and one for the normal client alone, with the same memory */
class TwoClients
{
public:
	explicit TwoClients(bool scrubs) : shared_(scrubs)
	{
		std::printf("seed %u\n", seed);
		for (SharedCore *core : { &shared_, &alone_ }) {
			std::mt19937 contents(seed);
			for (unsigned int client : { hostile, normal })
				core->fillMemory(client, contents);
		}
	}

	/** One client after the other; \return tasks that went differently */
	unsigned int round()
	{
		unsigned int different = 0;

		for (unsigned int tasks = 1 + random_() % 3; tasks > 0; tasks--)
			run(hostile);
		for (unsigned int tasks = 1 + random_() % 3; tasks > 0; tasks--)
			different += run(normal);
		return different;
	}

	unsigned int accepted = 0;
	unsigned int refused = 0;
	unsigned int hung = 0;

	unsigned int strayAccesses() const { return shared_.memory.strayAccesses(); }

private:
	bool run(unsigned int client)
	{
		TaskBuilder builder;
		builder.flags = NVDLA_TASK_STATISTICS;
		SharedCore::giveMemory(builder, client);
		dice_.addTask(builder);
		const Created created = builder.create();

		if (created.result != 0) {
			refused++;
			return false;
		}
		accepted++;
		const unsigned int cleared = shared_.timesCleared;
		const unsigned int scrubs = shared_.scrubsRun;
		const Outcome outcome = runOn(shared_, client, builder, created.task.get());
		hung += !outcome.ended;
		if (client == hostile) {
			/* A reset takes from the normal client what it had left itself. */
			cleared_ |= shared_.timesCleared != cleared;
			return false;
		}
		if (cleared_ || shared_.scrubsRun != scrubs)
			alone_.reset();
		cleared_ = false;
		nvdla_task_rewind(created.task.get());
		return !(outcome == runOn(alone_, client, builder, created.task.get()));
	}

	static Outcome runOn(SharedCore &core, unsigned int client, const TaskBuilder &builder,
			     nvdla_task *task)
	{
		Outcome outcome;

		outcome.ended = core.run(client, builder, task);
		outcome.written = core.memory.takeWritten();
		for (uint32_t i = 0; outcome.ended && i < nvdla_task_num_operations(task); i++) {
			auto &counted = outcome.stats.emplace_back();
			nvdla_result_operation(task, i, &counted);
			counted.start_ns = counted.end_ns = 0;
		}
		return outcome;
	}

	SharedCore shared_;
	SharedCore alone_;
	bool cleared_ = false; /* by a reset, since the normal client's last task */
	std::mt19937 random_{ seed };
	TaskDice dice_{ random_ };
};

TEST(TwoClientsFuzz, TheSecondOneSeesAFreshCore)
{
	TwoClients clients(true);

	for (unsigned int i = 0; i < plainRounds * fuzzRounds(); i++)
		ASSERT_EQ(clients.round(), 0U) << "round " << i;
	std::printf("%u tasks ran, %u of them hung; %u were refused\n", clients.accepted,
		    clients.hung, clients.refused);
	EXPECT_GT(clients.accepted, plainRounds);
	EXPECT_GT(clients.refused, plainRounds / 10);
	EXPECT_GT(clients.hung, 0U);
	EXPECT_EQ(clients.strayAccesses(), 0U);
}

TEST(TwoClientsFuzz, WithoutScrubsItDoesNot)
{
	TwoClients clients(false);
	unsigned int different = 0;

	for (unsigned int i = 0; i < plainRounds; i++)
		different += clients.round();
	EXPECT_GT(different, 0U) << "these tasks could not show a leak";
}

} /* namespace */

} /* namespace nvdla::test */
