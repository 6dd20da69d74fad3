/* SPDX-License-Identifier: MIT */
/*
 * Two clients take turns on one core with random tasks, legal and illegal ones. What the
 * second one's tasks write and count must be what they write and count on a core that
 * nobody else uses, which is reset wherever the shared one is cleared: then nothing of
 * the first one's is in it.
 *
 * NVDLA_FUZZ_ROUNDS in the environment makes it that many times as many rounds.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "shared_core.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t seed = 20261122;
constexpr unsigned int plainRounds = 250;

enum Client : unsigned int { hostile, normal };

unsigned int rounds()
{
	const char *text = std::getenv("NVDLA_FUZZ_ROUNDS");
	return plainRounds *
	       (text ? static_cast<unsigned int>(std::strtoul(text, nullptr, 10)) : 1);
}

/** What came of a task */
struct Outcome {
	bool ended = false;
	uint64_t written = 0;
	std::vector<nvdla_operation_stats> stats;

	bool operator==(const Outcome &other) const
	{
		return ended == other.ended && written == other.written &&
		       stats.size() == other.stats.size() &&
		       std::memcmp(stats.data(), other.stats.data(),
				   stats.size() * sizeof(stats[0])) == 0;
	}
};

/** Random tasks; each has one engine at work at a time, so that it does the same every time */
class TaskDice
{
public:
	explicit TaskDice(std::mt19937 &random) : random_(random) {}

	TaskBuilder throwTask(unsigned int client)
	{
		TaskBuilder builder;

		builder.flags = NVDLA_TASK_STATISTICS;
		if (below(4) == 0)
			addOther(builder);
		else
			addConvolution(builder);
		SharedCore::giveMemory(builder, client);
		for (unsigned int patches = below(3); patches > 0; patches--)
			patch(builder);
		return builder;
	}

private:
	unsigned int below(unsigned int end) { return static_cast<unsigned int>(random_() % end); }
	uint8_t flag() { return static_cast<uint8_t>(below(2)); }

	void addOther(TaskBuilder &builder)
	{
		switch (below(6)) {
		case 0:
			builder.useLut(builder.addSdp());
			break;
		case 1:
			builder.addCdp();
			break;
		case 2:
			builder.addSplitPdp();
			break;
		case 3:
			builder.addSdpPdp();
			break;
		case 4:
			builder.addRubik(static_cast<nvdla_rubik_mode>(below(3)));
			break;
		default:
			builder.addBdma(3);
			break;
		}
	}

	void addConvolution(TaskBuilder &builder)
	{
		switch (below(5)) {
		case 0:
			builder.addWinograd();
			break;
		case 1:
			builder.addImage(12);
			break;
		case 2:
			addSparse(builder);
			break;
		case 3:
			addReuse(builder);
			break;
		default:
			builder.addConv();
			vary(builder, 0);
			break;
		}
		setBanks(builder);
	}

	/** Weights that are fewer, or more, than the mask says, which is whatever is in memory */
	void addSparse(TaskBuilder &builder)
	{
		builder.addCompressed();
		builder.convCubes(0).weight_data.size = 128 * (1 + below(80));
		builder.conv(0).skip_weight_rls = flag();
	}

	/** A second convolution that uses what the first one kept, if that is legal */
	void addReuse(TaskBuilder &builder)
	{
		builder.addConv();
		vary(builder, 0);
		const size_t last = builder.addConv() - 1;
		std::copy_n(builder.operations.begin(), 2, &builder.operations[last]);
		std::copy_n(builder.surfaces.begin(), 2, &builder.surfaces[last]);
		builder.edge(1, last, NVDLA_EVENT_OP_COMPLETED);
		builder.conv(0).skip_data_rls = builder.conv(last).data_reuse = flag();
		builder.conv(0).skip_weight_rls = builder.conv(last).weight_reuse = flag();
		builder.conv(last).skip_data_rls = flag();
		builder.conv(last).skip_weight_rls = flag();
	}

	void vary(TaskBuilder &builder, size_t i)
	{
		if (flag())
			builder.setChannels(i, 1 + below(300));
		if (flag())
			builder.setKernels(i, 1 + below(70));
		if (below(4) == 0)
			builder.conv(i).release = static_cast<uint16_t>(1 + below(8));
	}

	/** Often the same ones, so that pointers stay */
	void setBanks(TaskBuilder &builder)
	{
		const bool usual = below(3) > 0;
		const unsigned int data = usual ? 4 : 1 + below(15);
		const unsigned int weights = usual ? 6 : 1 + below(16 - data);

		for (size_t i = 0; i < builder.graph.size(); i++) {
			if (builder.graph[i].op_type != NVDLA_OP_CONV)
				continue;
			builder.conv(i).data_bank = static_cast<uint8_t>(data);
			builder.conv(i).weight_bank = static_cast<uint8_t>(weights);
		}
	}

	void patch(TaskBuilder &builder)
	{
		static constexpr uint16_t values[] = { 0, 1, 2, 3, 8, 32, 64, 128, 256, 0x8000 };
		const std::span<std::byte> bytes =
			flag() ? std::as_writable_bytes(std::span(builder.operations))
			       : std::as_writable_bytes(std::span(builder.surfaces));
		const uint16_t value = values[below(std::size(values))];

		std::memcpy(&bytes[below(static_cast<unsigned int>(bytes.size() - 1))], &value,
			    sizeof(value));
	}

	std::mt19937 &random_;
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
				fill(*core, client, contents);
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
	static void fill(SharedCore &core, unsigned int client, std::mt19937 &random)
	{
		TaskBuilder builder;

		SharedCore::giveMemory(builder, client);
		for (int16_t i = 0; i < TaskBuilder::cvsram; i++) {
			const nvdla_task_extent &extent = builder.extents[static_cast<size_t>(i)];
			std::vector<std::byte> bytes(extent.size);
			for (std::byte &byte : bytes)
				byte = static_cast<std::byte>(random() >> random() % 32);
			core.memory.fill(extent.dma_addr, bytes);
		}
	}

	bool run(unsigned int client)
	{
		const TaskBuilder builder = dice_.throwTask(client);
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
		for (uint32_t i = 0; outcome.ended && i < nvdla_task_num_operations(task); i++)
			outcome.stats.push_back(*nvdla_task_stats(task, i));
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

	for (unsigned int i = 0; i < rounds(); i++)
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
