/* SPDX-License-Identifier: MIT */
/*
 * Surfaces that are parts of others.
 */
#include <gtest/gtest.h>
#include <nvdla/graph.h>
#include <nvdla/network.h>
#include <nvdla/task.h>

#include "refusal.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t channels = 40;
constexpr uint32_t lines = 5;
constexpr uint32_t columns = 4;

op::Sdp copy(std::string name, std::string input, std::string output)
{
	return { .name = std::move(name), .input = std::move(input), .output = std::move(output) };
}

Surface striped(std::string name, uint32_t c = channels, uint32_t h = lines)
{
	return { .name = std::move(name), .type = DataType::Int8, .c = c, .h = h, .w = columns };
}

/* Lines 1, 3 and columns 1 to 3 of x, behind its line 4: channels 32 to 39 of them. */
Graph slices()
{
	Graph graph;

	graph.input(striped("x"));
	graph.surface(striped("whole", channels, 3));
	graph.surface({ .name = "odd lines", .within = "x", .atLine = 1, .lineStep = 2 });
	graph.surface({ .name = "last line", .within = "x", .atLine = 4 });
	graph.surface({ .name = "below", .within = "whole", .atLine = 1 });
	graph.surface({ .name = "above", .within = "whole" });
	graph.surface({ .name = "right", .within = "whole", .atChannel = 32, .atColumn = 1 });
	graph.add(copy("a", "odd lines", "below"));
	graph.add(op::Pooling{ .name = "b", .input = "last line", .output = "above" });
	graph.add(copy("c", "right", "y"));
	graph.output("y");
	return graph;
}

/* A graph that writes 'a' and then 'b' into a whole of two lines. */
Graph twoParts(Surface one, Surface other)
{
	Graph graph;

	graph.input(striped("x", channels, 1));
	graph.surface(striped("whole", channels, 2));
	one.name = "a";
	other.name = "b";
	one.within = other.within = "whole";
	graph.surface(one);
	graph.surface(other);
	graph.add(copy("first", "x", "a"));
	graph.add(copy("second", "x", "b"));
	graph.output("whole");
	return graph;
}

} /* namespace */

TEST(Parts, LinesAndColumnsAreWhereTheyShouldBe)
{
	auto loadable = slices().assemble();
	ASSERT_TRUE(loadable) << loadable.error().message();
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device) << device.error().message();
	auto network = Network::load(*device, *loadable);
	ASSERT_TRUE(network) << network.error().message();

	auto at = [](uint32_t c, uint32_t y, uint32_t x) {
		return static_cast<std::byte>((c * lines + y) * columns + x);
	};
	std::vector<std::byte> elements;
	for (uint32_t c = 0; c < channels; c++)
		for (uint32_t y = 0; y < lines; y++)
			for (uint32_t x = 0; x < columns; x++)
				elements.push_back(at(c, y, x));
	std::vector<std::byte> expected;
	for (uint32_t c = 32; c < channels; c++)
		for (uint32_t y : { 4, 1, 3 })
			for (uint32_t x = 1; x < columns; x++)
				expected.push_back(at(c, y, x));
	ASSERT_TRUE(network->setInputElements(0, elements));
	auto report = network->run();
	ASSERT_TRUE(report) << report.error().message();
	auto got = network->outputElements(0);
	ASSERT_TRUE(got) << got.error().message();
	EXPECT_EQ(*got, expected);
}

/* Bands mingle in memory, but do not wait for each other. */
TEST(Parts, OnlyThoseThatMeetWait)
{
	auto loadable = slices().assemble({ .reuseMemory = false });
	ASSERT_TRUE(loadable) << loadable.error().message();
	auto task = dlaTask(*loadable, 0);
	ASSERT_TRUE(task) << task.error().message();
	/* 'a' and 'b' are independent, 'c' needs both. */
	EXPECT_EQ(task->graph[0].consumers[NVDLA_OP_PDP].index, -1);
	EXPECT_EQ(task->graph[0].consumers[NVDLA_OP_SDP].event, NVDLA_EVENT_OP_COMPLETED);
	EXPECT_EQ(task->graph[1].consumers[NVDLA_OP_SDP].index, 2);
	EXPECT_EQ(task->graph[1].consumers[NVDLA_OP_SDP].event, NVDLA_EVENT_OP_COMPLETED);
}

TEST(Parts, AreHeldAgainstTheWhole)
{
	EXPECT_TRUE(twoParts({ .atLine = 1 }, {}).assemble());
	expectRefusal(twoParts({ .atLine = 2 }, {}),
		      { "'first'", "'a' are lines 2 to 3 of 'whole', which has 2" });
	expectRefusal(twoParts({ .atColumn = 1 }, {}),
		      { "'first'", "'a' are columns 1 to 5 of 'whole', which has 4" });
	expectRefusal(twoParts({}, {}),
		      { "'second'", "'b' shares elements of 'whole' with another part" });
	expectRefusal(twoParts({ .lineStep = 0 }, {}), { "'a' has a lineStep of 0" });
	expectRefusal(twoParts({ .atBatch = 1 }, {}),
		      { "'first'", "'a' is of cube 1 of 'whole', which has 1" });

	/* Lines 0, 2, 4 and 1; then line 3 is missing. */
	Graph interlocked;
	interlocked.input(striped("x", channels, 3));
	interlocked.input(striped("z", channels, 1));
	interlocked.surface(striped("whole"));
	interlocked.surface({ .name = "even", .within = "whole", .lineStep = 2 });
	interlocked.surface({ .name = "one", .within = "whole", .atLine = 1, .lineStep = 2 });
	interlocked.add(copy("a", "x", "even"));
	interlocked.add(copy("b", "z", "one"));
	interlocked.output("whole");
	expectRefusal(interlocked, { "surface 'whole': 160 of its elements are in no part" });
	/* A step that leads around 32 bits, three lines of it. */
	interlocked.surface({ .name = "far", .h = 3, .within = "x", .lineStep = 0x80000000U });
	interlocked.add(copy("c", "far", "y"));
	expectRefusal(interlocked, { "'c'", "'far' are lines 0 to 4294967297 of 'x'" });

	Graph graph = twoParts({ .atLine = 1 }, {});
	graph.output("a");
	expectRefusal(graph, { "'first'", "only wholes are outputs" });
}

TEST(Parts, NothingOfTheWholeIsLeftOut)
{
	Graph graph;

	graph.input(striped("x", channels, 1));
	graph.surface(striped("whole", channels, 2));
	graph.surface({ .name = "a", .within = "whole" });
	graph.add(copy("first", "x", "a"));
	graph.output("whole");
	expectRefusal(graph, { "'whole'", "160 of its elements are in no part" });
}

} /* namespace nvdla::test */
