/* SPDX-License-Identifier: MIT */
/*
 * Two clients with random tasks, legal and illegal ones, through the driver. What the second one's
 * do behind the first one's is what they do on a core that was just reset, whatever happened to
 * the core in between.
 *
 * NVDLA_FUZZ_ROUNDS in the environment makes it that many times as many rounds.
 */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "driver_files.h"
#include "fuzz_rounds.h"
#include "task_client.h"
#include "task_dice.h"
#include "two_clients.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t seed = 20261122;
constexpr unsigned int plainRounds = 10, eventRounds = 2;

/*
 * As much of each buffer as tasks use, whose bias lies behind the first MiB. Filling and comparing
 * all of it would take most of the time.
 */
constexpr uint32_t usedBytes = (1 << 20) + (64 << 10);

/* Some tasks hang; all others take milliseconds. */
constexpr uint32_t hangMs = 2000;

/** A client that opens the device anew when its jobs have failed */
class RandomClient
{
public:
	RandomClient(uint32_t contentsSeed, bool hasOnChip)
		: contents_(usedBytes), hasOnChip_(hasOnChip)
	{
		std::mt19937 random(contentsSeed);
		for (uint8_t &byte : contents_)
			byte = static_cast<uint8_t>(random() >> random() % 32);
	}

	/** \brief Back to what was in the buffers at first */
	void restore()
	{
		if (!client_) {
			client_.emplace();
			ASSERT_EQ(hasOnChip_ ? client_->takeOnChip() : 0, 0);
		}
		ASSERT_TRUE(client_->valid());
		for (int16_t i = 0; i < TaskClient::bufferCount; i++) {
			ASSERT_EQ(client_->buffer(i).prepare(DRM_NVDLA_BO_WRITE), 0);
			std::ranges::copy(contents_, client_->buffer(i).bytes().begin());
			ASSERT_EQ(client_->buffer(i).finish(), 0);
		}
		ASSERT_EQ(hasOnChip_ ? client_->fillOnChip(0) : 0, 0);
	}

	/** \brief All of a buffer becomes one value */
	void fill(int16_t buffer, uint8_t value)
	{
		std::ranges::fill(client_->buffer(buffer).bytes(), value);
	}

	/** \return 0 or -errno */
	int run(const TaskBuilder &builder) { return client_->run(builder, hangMs); }

	/** \return a number that another content would not have, most likely */
	uint64_t digest()
	{
		uint64_t digest = 0;

		for (int16_t i = 0; i < TaskClient::bufferCount; i++)
			add(digest, i, usedBytes);
		if (hasOnChip_) {
			EXPECT_EQ(client_->readOnChip(0), 0);
			add(digest, 0, TaskClient::onChipBytes);
		}
		return digest;
	}

	void reopen() { client_.reset(); }

private:
	void add(uint64_t &digest, int16_t buffer, size_t bytes) const
	{
		EXPECT_EQ(client_->buffer(buffer).prepare(DRM_NVDLA_BO_READ), 0);
		const std::span<uint8_t> contents = client_->buffer(buffer).bytes();
		for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
			uint64_t word;
			std::memcpy(&word, &contents[at], sizeof(word));
			digest = (digest ^ word) * 0x9e3779b97f4a7c15 + 1;
		}
	}

	std::vector<uint8_t> contents_;
	bool hasOnChip_;
	std::optional<TaskClient> client_;
};

TaskBuilder emptyTask()
{
	TaskBuilder builder = TaskClient::sized();
	for (int16_t i = 0; i < TaskClient::bufferCount; i++)
		builder.extents[static_cast<size_t>(i)].size = usedBytes;
	return builder;
}

TaskBuilder randomTask(TaskDice &dice)
{
	TaskBuilder builder = emptyTask();
	dice.addTask(builder);
	return builder;
}

/** All banks get something of the client's own: a convolution of all its entries */
TaskBuilder fillingTask()
{
	TaskBuilder builder = emptyTask();
	builder.addConv();
	builder.setChannels(0, 1024);
	builder.conv(0).data_bank = 3;
	builder.conv(0).weight_bank = 13;
	return builder;
}

/**
 * A mask with ones for 9 KiB of weights, of which 128 bytes are fetched: the rest is what lies in
 * the convolution buffer. Its banks are others than those of fillingTask().
 */
TaskBuilder readingTask()
{
	TaskBuilder builder = emptyTask();
	builder.addCompressed();
	builder.conv(0).weight_bank = 7;
	return builder;
}

/** Keeps the core from sleeping, which would reset it */
class Awake
{
public:
	Awake() : control_(deviceFolder() / "power/control", "on") {}

private:
	Setting control_;
};

} /* namespace */

TEST_P(TwoClientsAcross, TheSecondOneSeesNothing)
{
	for (unsigned int round = 0; round < eventRounds * fuzzRounds(); round++) {
		SCOPED_TRACE(round);
		const auto awake = std::make_unique<Awake>();
		uint64_t digests[2];
		{
			RandomClient hostile(1, false);
			hostile.restore();
			ASSERT_EQ(hostile.run(fillingTask()), 0);
		}
		ASSERT_TRUE(GetParam().happen());
		for (uint64_t &digest : digests) {
			RandomClient normal(2, false);
			normal.restore();
			normal.fill(1, 0xff);
			ASSERT_EQ(normal.run(readingTask()), 0);
			digest = normal.digest();
			ASSERT_EQ(writeFile(debugFolder() / "reset", "1"), 0);
		}
		ASSERT_EQ(digests[0], digests[1]);
	}
}

TEST(TwoClients, TheSecondOneSeesAFreshCore)
{
	std::printf("seed %u\n", seed);
	std::mt19937 random(seed);
	TaskDice dice(random);
	const bool hasOnChip = Device().info().cvsram_bytes > 0;
	RandomClient hostile(1, hasOnChip), normal(2, hasOnChip);
	unsigned int ran = 0;

	for (unsigned int round = 0; round < plainRounds * fuzzRounds(); round++) {
		SCOPED_TRACE(round);
		std::vector<TaskBuilder> tasks;
		std::vector<int> results[2];
		uint64_t digests[2];

		hostile.restore();
		ASSERT_EQ(hostile.run(fillingTask()), 0);
		bool failed = false;
		for (unsigned int i = 0; i < 3; i++) {
			const int result = hostile.run(randomTask(dice));
			failed |= result && result != -EINVAL;
			ran += result != -EINVAL;
		}
		if (failed)
			hostile.reopen();

		for (unsigned int i = 0; i < 3; i++)
			tasks.push_back(randomTask(dice));
		failed = false;
		for (unsigned int pass = 0; pass < 2; pass++) {
			normal.restore();
			for (const TaskBuilder &task : tasks) {
				results[pass].push_back(normal.run(task));
				failed |= results[pass].back() && results[pass].back() != -EINVAL;
				ran += results[pass].back() != -EINVAL;
			}
			digests[pass] = normal.digest();
			ASSERT_EQ(writeFile(debugFolder() / "reset", "1"), 0);
		}
		if (failed)
			normal.reopen();
		ASSERT_EQ(results[0], results[1]);
		ASSERT_EQ(digests[0], digests[1]);
	}
	std::printf("%u tasks ran\n", ran);
	EXPECT_GT(ran, plainRounds * 4);
}

} /* namespace nvdla::test */
