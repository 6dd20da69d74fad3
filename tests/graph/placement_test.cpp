/* SPDX-License-Identifier: MIT */
/*
 * Surfaces in on-chip memory.
 */
#include <algorithm>

#include <gtest/gtest.h>
#include <nvdla/graph.h>
#include <nvdla/network.h>
#include <nvdla/task.h>

#include "refusal.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t depth = 40;
constexpr uint32_t side = 6;
constexpr uint32_t inputs = depth * side * side;

Surface onChip(std::string name)
{
	return { .name = std::move(name), .place = Place::Sram };
}

Graph smallInput()
{
	Graph graph;

	graph.input({ .name = "x", .type = DataType::Int8, .c = depth, .h = side, .w = side });
	return graph;
}

/* x -> SDP -> "1" on chip -> RUBIK -> "2" on chip -> RUBIK -> "3" on chip -> BDMA -> y */
Graph throughOnChipMemory()
{
	Graph graph = smallInput();

	graph.surface(onChip("1"));
	graph.surface({ .name = "2", .planar = true, .place = Place::Sram });
	graph.surface(onChip("3"));
	graph.add(relu("relu", "x", "1"));
	graph.add(op::SplitPlanes{ "split", "1", "2" });
	graph.add(op::MergePlanes{ "merge", "2", "3" });
	graph.add(op::Copy{ "copy", { { "3", "y" } } });
	graph.output("y");
	return graph;
}

} /* namespace */

TEST(OnChip, SurfacesShareAMemoryOfTheirOwn)
{
	auto loadable = throughOnChipMemory().assemble();
	ASSERT_TRUE(loadable) << loadable.error().message();
	const auto memory =
		std::find_if(loadable->memories.begin(), loadable->memories.end(),
			     [](const Memory &any) { return any.domain == MemoryDomain::Sram; });
	ASSERT_NE(memory, loadable->memories.end());
	/* Planes have 64 bytes in a line; "3" takes the place of "1". */
	EXPECT_EQ(memory->size, 2 * 32 * side * side + depth * side * 64);

	auto task = dlaTask(*loadable, 0);
	ASSERT_TRUE(task) << task.error().message();
	EXPECT_EQ(task->surfaces[0].sdp.src_data.type, NVDLA_MEM_MC);
	EXPECT_EQ(task->surfaces[0].sdp.dst_data.type, NVDLA_MEM_CV);
	EXPECT_EQ(task->surfaces[1].rubik.src_data.type, NVDLA_MEM_CV);
	EXPECT_EQ(task->surfaces[1].rubik.dst_data.type, NVDLA_MEM_CV);
	EXPECT_EQ(task->surfaces[3].bdma.src_type, NVDLA_MEM_CV);
	EXPECT_EQ(task->surfaces[3].bdma.dst_type, NVDLA_MEM_MC);
}

TEST(OnChip, ElementsComeThrough)
{
	auto loadable = throughOnChipMemory().assemble();
	ASSERT_TRUE(loadable) << loadable.error().message();
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device) << device.error().message();
	auto network = Network::load(*device, *loadable);
	ASSERT_TRUE(network) << network.error().message();

	std::vector<std::byte> elements(inputs);
	std::vector<std::byte> expected(inputs);
	for (size_t i = 0; i < inputs; i++) {
		const auto value = static_cast<int8_t>(i * 7);
		elements[i] = static_cast<std::byte>(value);
		expected[i] = static_cast<std::byte>(std::max<int8_t>(value, 0));
	}
	ASSERT_TRUE(network->setInputElements(0, elements));
	auto report = network->run();
	ASSERT_TRUE(report) << report.error().message();
	auto got = network->outputElements(0);
	ASSERT_TRUE(got) << got.error().message();
	EXPECT_EQ(*got, expected);
}

TEST(OnChip, OnlyTheCoreReachesIt)
{
	Graph graph;
	graph.input({ .name = "x",
		      .type = DataType::Int8,
		      .c = depth,
		      .h = side,
		      .w = side,
		      .place = Place::Sram });
	graph.add(relu("relu", "x", "y"));
	expectRefusal(graph, { "input 'x'", "on-chip memory, which the application" });

	graph = smallInput();
	graph.surface(onChip("y"));
	graph.add(relu("relu", "x", "y"));
	graph.output("y");
	expectRefusal(graph, { "'relu'", "'y' is in on-chip memory, which the application" });

	graph = smallInput();
	graph.surface(onChip("1"));
	graph.add(relu("relu", "x", "1"));
	graph.add(op::Power{ .name = "square", .input = "1", .output = "y", .power = 2.0f });
	graph.output("y");
	expectRefusal(graph, { "'square'", "'1' is in on-chip memory, which the CPU" });
}

/* Parts lie where the whole does. */
TEST(OnChip, PartsFollowTheWhole)
{
	Graph graph = smallInput();
	graph.surface(
		{ .name = "both", .type = DataType::Int8, .c = 2 * 64, .h = side, .w = side });
	graph.surface({ .name = "lower", .place = Place::Sram, .within = "both" });
	graph.add(relu("relu", "x", "lower"));
	expectRefusal(graph, { "'relu'", "'lower' is to be elsewhere than 'both'" });
}

/* BDMA knows one kind of memory on each side. */
TEST(OnChip, CopiesDoNotMixMemories)
{
	Graph graph = smallInput();
	graph.surface(onChip("1"));
	graph.add(op::Copy{ "copy", { { "x", "1" }, { "x", "2" } } });
	graph.add(relu("relu", "1", "y"));
	for (const char *output : { "2", "y" })
		graph.output(output);
	expectRefusal(graph, { "'copy'", "different kinds of memory" });
}

} /* namespace nvdla::test */
