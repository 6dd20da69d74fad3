/* SPDX-License-Identifier: MIT */
/*
 * Dependencies, queues and streams: what is accepted and in which order it runs.
 */
#include <algorithm>
#include <cerrno>
#include <optional>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "device/refusal.h"
#include "recording_core.h"
#include "task_builder.h"

namespace nvdla::test
{

namespace
{

/* Bits of both groups of each engine, in the order of enum nvdla_op_type. */
constexpr uint32_t doneBits[NVDLA_NUM_OP_TYPES][2] = {
	{ 1 << 6, 1 << 7 }, { 0x15 << 16, 0x2a << 16 }, { 1 << 0, 1 << 1 },
	{ 1 << 4, 1 << 5 }, { 1 << 2, 1 << 3 },		{ 1 << 8, 1 << 9 },
};

/*
 * Completes one operation whose engine has come to it, chosen at random, as a
 * core would: never before its streams are complete. Returns false if there is
 * none.
 */
bool completeOne(SequencerFixture &fixture, const TaskBuilder &builder, std::mt19937 &random)
{
	const struct nvdla_sequencer_snapshot now = fixture.snapshot();
	std::vector<uint32_t> candidates;

	for (unsigned int type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		for (unsigned int group = 0; group < 2; group++) {
			const auto &entry = now.engine[type].group[group];
			if (entry.state != NVDLA_GROUP_ENABLED)
				continue;
			const nvdla_consumer &parent = builder.graph[entry.operation].fused_parent;
			const auto &completed = fixture.completed;
			if (parent.index >= 0 &&
			    std::find(completed.begin(), completed.end(),
				      static_cast<uint32_t>(parent.index)) == completed.end())
				continue;
			/* Copies of nothing shift BDMA's groups against the schedule's. */
			if (type == NVDLA_OP_BDMA)
				candidates.push_back(doneBits[type][1 - group]);
			candidates.push_back(doneBits[type][group]);
		}
	}
	std::shuffle(candidates.begin(), candidates.end(), random);

	/* A group that is not the older one of two is not taken as done. */
	const size_t before = fixture.completed.size();
	for (const uint32_t status : candidates) {
		fixture.irq(status);
		if (fixture.completed.size() != before)
			return true;
	}
	return false;
}

/* A graph of up to 8 operations or pairs of them, with edges that may make no sense. */
TaskBuilder randomGraph(std::mt19937 &random)
{
	TaskBuilder builder;
	const unsigned int count = 1 + random() % 8;
	for (unsigned int i = 0; i < count; i++) {
		switch (random() % 7) {
		case 0:
			builder.addConv();
			break;
		case 1:
			builder.addSdpPdp();
			break;
		case 2:
			builder.addBdma(random() % 21);
			break;
		case 3:
			builder.useLut(builder.addSdp());
			break;
		case 4:
			builder.addCdp();
			break;
		case 5:
			builder.addRubik(NVDLA_RUBIK_CONTRACT);
			break;
		default:
			builder.addPdp();
			break;
		}
	}
	const unsigned int edges = random() % 6;
	for (unsigned int i = 0; i < edges; i++) {
		const size_t from = random() % builder.graph.size();
		const size_t to = random() % builder.graph.size();
		/* Same-engine edges go up, so that the lower index is older. */
		if (builder.graph[from].op_type == builder.graph[to].op_type && from >= to)
			continue;
		if (from != to)
			builder.edge(from, to, static_cast<nvdla_event>(1 + random() % 3));
	}

	return builder;
}

} /* namespace */

TEST(Graph, DependencyCountIsNotBelieved)
{
	SequencerFixture fixture;
	TaskBuilder builder;
	builder.addPdp();
	builder.graph[0].dependency_count = 7;
	const Created created = builder.create();
	ASSERT_EQ(created.result, 0);
	ASSERT_EQ(fixture.start(created.task.get()), 0);
	EXPECT_EQ(fixture.enabled, std::vector<uint32_t>{ 0 });
}

TEST(Graph, ChainsDecideTheOrderOfAnEngine)
{
	SequencerFixture fixture;
	TaskBuilder builder;
	for (int i = 0; i < 3; i++)
		builder.addPdp();
	/* 2, 1, 0. */
	builder.edge(2, 1, NVDLA_EVENT_OP_PROGRAMMED);
	builder.edge(1, 0, NVDLA_EVENT_OP_PROGRAMMED);
	const Created created = builder.create();
	ASSERT_EQ(created.result, 0) << describeRefusal(created.error);
	ASSERT_EQ(fixture.start(created.task.get()), 0);
	EXPECT_EQ(fixture.enabled, (std::vector<uint32_t>{ 2, 1 }));
	fixture.irq(1 << 4);
	EXPECT_EQ(fixture.enabled, (std::vector<uint32_t>{ 2, 1, 0 }));
}

TEST(Graph, ChainsMayJoin)
{
	TaskBuilder builder;
	for (int i = 0; i < 3; i++)
		builder.addPdp();
	builder.edge(1, 0, NVDLA_EVENT_OP_COMPLETED);
	builder.edge(2, 0, NVDLA_EVENT_OP_COMPLETED);
	const Created created = builder.create();
	EXPECT_EQ(created.result, 0) << describeRefusal(created.error);
}

TEST(Graph, EachEventOfAnOperationReleasesItsWaiters)
{
	const nvdla_event events[] = { NVDLA_EVENT_OP_PROGRAMMED, NVDLA_EVENT_OP_ENABLED,
				       NVDLA_EVENT_OP_COMPLETED };
	for (const nvdla_event event : events) {
		SequencerFixture fixture;
		TaskBuilder builder;
		builder.addPdp();
		builder.addCdp();
		builder.edge(0, 1, event);
		const Created created = builder.create();
		ASSERT_EQ(created.result, 0) << describeRefusal(created.error);
		ASSERT_EQ(fixture.start(created.task.get()), 0);
		EXPECT_EQ(fixture.enabled.size(), event == NVDLA_EVENT_OP_COMPLETED ? 1u : 2u);
		fixture.irq(1 << 4);
		EXPECT_EQ(fixture.enabled.size(), 2u);
	}
}

/* A stream's consumer that waits for the end of its producer never gets there. */
TEST(Graph, WaitingForTheStreamsProducerIsRefused)
{
	TaskBuilder builder;
	builder.addSdpPdp();
	builder.edge(0, 1, NVDLA_EVENT_OP_COMPLETED);
	const Created created = builder.create();
	EXPECT_EQ(created.result, -EINVAL);
	EXPECT_EQ(refusedField(created.error), "consumers");
}

/* The second of three needs the third, which has no group to be programmed in. */
TEST(Graph, GroupsLimitWhatCanWait)
{
	TaskBuilder builder;
	for (int i = 0; i < 3; i++)
		builder.addPdp();
	builder.addCdp();
	builder.edge(2, 3, NVDLA_EVENT_OP_PROGRAMMED);
	builder.edge(3, 0, NVDLA_EVENT_OP_ENABLED);
	const Created created = builder.create();
	EXPECT_EQ(created.result, -EINVAL);
	EXPECT_EQ(created.error.error.operation, 0u);
	EXPECT_EQ(refusedField(created.error), "consumers");
}

TEST(Graph, FusedParentMayBeElsewhere)
{
	/* CONV, CONV, SDP, SDP, as compilers write batches. */
	TaskBuilder builder;
	builder.addConv();
	builder.addConv();
	std::swap(builder.graph[1], builder.graph[2]);
	std::swap(builder.operations[1], builder.operations[2]);
	std::swap(builder.surfaces[1], builder.surfaces[2]);
	builder.graph[0].consumers[NVDLA_OP_SDP].index = 2;
	builder.graph[1].consumers[NVDLA_OP_SDP].index = 3;
	builder.graph[2].fused_parent.index = 0;
	builder.graph[3].fused_parent.index = 1;
	const Created created = builder.create();
	EXPECT_EQ(created.result, 0) << describeRefusal(created.error);
}

/* A convolution may fetch only what the one before it did not leave in the buffer. */
TEST(Graph, KeptLinesAreNotFetchedAgain)
{
	TaskBuilder builder;
	builder.addConv();
	builder.addConv();
	builder.edge(0, 2, NVDLA_EVENT_OP_PROGRAMMED);
	builder.conv(0).release = 6;
	builder.conv(2).data_reuse = 1;
	builder.convCubes(2).src_data = featureCube(0, 0, 8, 6, 32);
	const Created created = builder.create();
	EXPECT_EQ(created.result, 0) << describeRefusal(created.error);
}

TEST(Graph, AccessIsKnownPerAddress)
{
	TaskBuilder builder;
	builder.addConv();
	builder.addPdp();
	const Created created = builder.create();
	ASSERT_EQ(created.result, 0);
	EXPECT_EQ(nvdla_task_access(created.task.get(), 0), NVDLA_ACCESS_READ);
	EXPECT_EQ(nvdla_task_access(created.task.get(), 1), NVDLA_ACCESS_READ);
	EXPECT_EQ(nvdla_task_access(created.task.get(), 2), NVDLA_ACCESS_READ | NVDLA_ACCESS_WRITE);
	EXPECT_EQ(nvdla_task_access(created.task.get(), 3), NVDLA_ACCESS_WRITE);
	EXPECT_EQ(nvdla_task_access(created.task.get(), 4), 0u);
	EXPECT_EQ(nvdla_task_num_operations(created.task.get()), 3u);
	EXPECT_EQ(nvdla_task_op_type(created.task.get(), 2), static_cast<u32>(NVDLA_OP_PDP));
}

/* A comparison writes only a status bit. */
TEST(Graph, ComparisonWritesNoMemory)
{
	TaskBuilder builder;
	builder.addSdp();
	builder.sdp(0).y_op.enable = 1;
	builder.sdp(0).y_op.type = NVDLA_SDP_OP_ADD;
	builder.sdp(0).y_op.alu_type = NVDLA_ALU_EQL;
	const Created created = builder.create();
	ASSERT_EQ(created.result, 0) << describeRefusal(created.error);
	EXPECT_EQ(nvdla_task_access(created.task.get(), 2), 0u);
}

/*
 * Random graphs: every one is either refused or comes to its end, in whatever
 * order the core completes operations.
 */
TEST(Graph, AcceptedGraphsComeToTheirEnd)
{
	std::mt19937 random(1);
	unsigned int accepted = 0;
	unsigned int refused = 0;

	for (int round = 0; round < 3000; round++) {
		const TaskBuilder builder = randomGraph(random);
		const Created created = builder.create();
		if (created.result != 0) {
			EXPECT_EQ(created.result, -EINVAL);
			refused++;
			continue;
		}
		accepted++;
		SequencerFixture fixture;
		ASSERT_EQ(fixture.start(created.task.get()), 0);
		while (fixture.done.empty() && completeOne(fixture, builder, random)) {
		}
		ASSERT_EQ(fixture.done, std::vector<int>{ 0 }) << "round " << round;
		EXPECT_EQ(fixture.completed.size(), builder.graph.size());
	}
	EXPECT_GT(accepted, 500u);
	EXPECT_GT(refused, 100u);
}

/* The same with each of them programmed while the one before it runs: nothing of it starts early.
 */
TEST(Graph, GraphsThatFollowComeToTheirEnd)
{
	std::mt19937 random(2);
	SequencerFixture fixture;
	std::optional<TaskBuilder> running;
	Created task;
	unsigned int followed = 0, programmed = 0;

	for (int round = 0; round < 3000; round++) {
		TaskBuilder builder = randomGraph(random);
		Created next = builder.create();
		if (next.result != 0)
			continue;
		if (!running) {
			ASSERT_EQ(fixture.start(next.task.get()), 0);
		} else {
			unsigned int before = random() % 3;
			while (before-- && fixture.done.empty() &&
			       completeOne(fixture, *running, random)) {
			}
			const bool follows = fixture.done.empty();
			fixture.programmed.clear();
			if (follows) {
				ASSERT_EQ(nvdla_sequencer_follow(fixture.sequencer.get(),
								 next.task.get()),
					  0);
			}
			while (fixture.done.empty() && completeOne(fixture, *running, random)) {
			}
			ASSERT_EQ(fixture.done, std::vector<int>{ 0 }) << "round " << round;
			ASSERT_EQ(fixture.completed.size(), running->graph.size());
			ASSERT_EQ(fixture.enabled.size(), running->graph.size());
			followed += follows;
			programmed += fixture.programmed.size();
			fixture.done.clear();
			fixture.completed.clear();
			fixture.enabled.clear();
			ASSERT_EQ(fixture.start(next.task.get()), 0);
		}
		running = std::move(builder);
		task = std::move(next);
	}
	EXPECT_GT(followed, 400u);
	EXPECT_GT(programmed, followed);
}

} /* namespace nvdla::test */
