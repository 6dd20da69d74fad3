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

/* x -> 1, 2, 3 times as many channels -> y: as they are made, the third one would lie beside the
 * second. */
TEST(Placement, TriesSeveralOrders)
{
	constexpr uint32_t side = 8, unit = 32;
	Graph graph;

	graph.input({ .name = "0", .type = DataType::Int8, .c = unit, .h = side, .w = side });
	for (uint32_t i = 1; i <= 4; i++) {
		const uint32_t k = i < 4 ? i * unit : unit, c = i > 1 ? (i - 1) * unit : unit;
		const std::string number = std::to_string(i);
		graph.weights({ "w" + number, k, c, 1, 1,
				Elements::of(std::vector<int8_t>(size_t{ k } * c, 1)) });
		graph.add(op::Convolution{ .name = "conv" + number,
					   .input = std::to_string(i - 1),
					   .weights = "w" + number,
					   .output = "sums" + number });
		graph.add(relu("relu" + number, "sums" + number, number));
	}
	graph.output("4");
	auto loadable = graph.assemble();
	ASSERT_TRUE(loadable) << loadable.error().message();
	const auto memory = std::ranges::find_if(
		loadable->memories, [](const Memory &any) { return any.flags == MemoryAlloc; });
	ASSERT_NE(memory, loadable->memories.end());
	EXPECT_EQ(memory->size, (2 + 3) * unit * side * side);
}

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
	graph.add(op::Unary{ .name = "square",
			     .input = "1",
			     .output = "y",
			     .function = ElementFunction::Square });
	graph.output("y");
	expectRefusal(graph, { "'square'", "'1' is in on-chip memory, which the CPU" });
}

namespace
{

/* x -> "1" -> "2" -> y and, from "1" again, z; all may be on the chip. */
Graph anywhere()
{
	Graph graph = smallInput();

	for (const char *name : { "1", "2", "y", "z" })
		graph.surface({ .name = name, .place = Place::Auto });
	graph.add(relu("a", "x", "1"));
	graph.add(relu("b", "1", "2"));
	graph.add(relu("c", "2", "y"));
	graph.add(relu("d", "1", "z"));
	graph.output("y");
	graph.output("z");
	return graph;
}

/* Bytes of each kind of memory that a graph's own surfaces take. */
uint64_t bytesIn(const Loadable &loadable, MemoryDomain domain)
{
	uint64_t bytes = 0;

	for (const Memory &memory : loadable.memories)
		bytes += memory.domain == domain && memory.flags == MemoryAlloc ? memory.size : 0;
	return bytes;
}

} /* namespace */

TEST(OnChip, HoldsWhatThereIsRoomFor)
{
	constexpr uint64_t one = 2 * 32 * side * side;
	const struct {
		uint64_t room;
		uint64_t onChip;
		uint64_t inMemory;
	} cases[] = { { 0, 0, 2 * one },
		      { one - 1, 0, 2 * one },
		      { one, one, one },
		      { 4 * one, 2 * one, 0 } };
	for (const auto &[room, onChip, inMemory] : cases) {
		auto loadable = anywhere().assemble({ .sramBytes = room });
		ASSERT_TRUE(loadable) << loadable.error().message();
		EXPECT_EQ(bytesIn(*loadable, MemoryDomain::Sram), onChip) << room;
		EXPECT_EQ(bytesIn(*loadable, MemoryDomain::System), inMemory) << room;
	}
}

/* The CPU reaches none of it. */
TEST(OnChip, LeavesToTheCpuWhatItReads)
{
	Graph graph = smallInput();
	graph.surface({ .name = "1", .place = Place::Auto });
	graph.surface({ .name = "2", .place = Place::Auto });
	graph.add(relu("a", "x", "1"));
	graph.add(op::Unary{ .name = "square",
			     .input = "1",
			     .output = "2",
			     .function = ElementFunction::Square });
	graph.add(relu("b", "2", "y"));
	graph.output("y");
	auto loadable = graph.assemble({ .sramBytes = 1 << 20 });
	ASSERT_TRUE(loadable) << loadable.error().message();
	EXPECT_EQ(bytesIn(*loadable, MemoryDomain::Sram), 0U);
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

/* x -> convolution and SDP with a bias -> y, all constants on the chip; 512 channels are many
 * bytes. */
Graph withConstantsOnTheChip(uint32_t channels, bool sparse = false)
{
	constexpr uint32_t kernels = 64;
	Graph graph;
	GraphWeights weights{ "w", kernels, channels, 3, 3 };
	GraphOperands bias{ .name = "bias", .c = kernels };

	weights.elements = Elements::of(std::vector<int8_t>(kernels * channels * 9, 1));
	weights.compressed = sparse;
	bias.alu = Elements::of(std::vector<int16_t>(kernels, 7));
	weights.onChip = bias.onChip = true;
	graph.input({ .name = "x", .type = DataType::Int8, .c = channels, .h = 5, .w = 5 });
	graph.weights(std::move(weights));
	graph.operands(std::move(bias));
	graph.add(op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "s" });
	graph.add(op::Sdp{ .name = "sdp",
			   .input = "s",
			   .output = "y",
			   .x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "bias" } });
	graph.output("y");
	return graph;
}

TEST(OnChip, ConstantsAreCopiedThereBeforeTheyAreRead)
{
	auto loadable = withConstantsOnTheChip(32).assemble();
	ASSERT_TRUE(loadable) << loadable.error().message();
	auto task = dlaTask(*loadable, 0);
	ASSERT_TRUE(task) << task.error().message();
	const uint8_t engines[] = { NVDLA_OP_BDMA, NVDLA_OP_BDMA, NVDLA_OP_CONV, NVDLA_OP_SDP };
	ASSERT_EQ(task->graph.size(), std::size(engines));
	for (size_t i = 0; i < std::size(engines); i++)
		EXPECT_EQ(task->graph[i].op_type, engines[i]) << i;

	const nvdla_data_cube &weights = task->surfaces[2].conv.weight_data;
	const nvdla_data_cube &bias = task->surfaces[3].sdp.x1_data;
	const nvdla_bdma_surface_desc &first = task->surfaces[0].bdma;
	EXPECT_EQ(weights.type, NVDLA_MEM_CV);
	EXPECT_EQ(bias.type, NVDLA_MEM_CV);
	EXPECT_EQ(first.src_type, NVDLA_MEM_MC);
	EXPECT_EQ(first.dst_type, NVDLA_MEM_CV);
	EXPECT_EQ(first.transfers[0].dst_address, weights.address);
	EXPECT_EQ(first.transfers[0].line_size, 64u * 32 * 9);
	EXPECT_EQ(task->surfaces[1].bdma.transfers[0].dst_address, bias.address);
	/* The convolution waits for its weights, SDP for its bias. */
	EXPECT_EQ(task->graph[0].consumers[NVDLA_OP_CONV].event, NVDLA_EVENT_OP_COMPLETED);
	EXPECT_EQ(task->graph[0].consumers[NVDLA_OP_CONV].index, 2);
	EXPECT_EQ(task->graph[1].consumers[NVDLA_OP_SDP].index, 3);
}

TEST(OnChip, ConstantsAreWhatTheyWereInMemory)
{
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device) << device.error().message();
	for (const bool sparse : { false, true }) {
		/* 294912 bytes are more than a line of BDMA. */
		auto network =
			Network::load(*device, *withConstantsOnTheChip(512, sparse).assemble());
		ASSERT_TRUE(network) << network.error().message();
		ASSERT_TRUE(network->setInputElements(
			0, std::vector<std::byte>(size_t{ 512 } * 5 * 5)));
		auto report = network->run();
		ASSERT_TRUE(report) << report.error().message();
		EXPECT_EQ(*network->outputElements(0),
			  std::vector<std::byte>(size_t{ 64 } * 3 * 3, std::byte{ 7 }));
	}
}

} /* namespace nvdla::test */
