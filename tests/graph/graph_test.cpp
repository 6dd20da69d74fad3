/* SPDX-License-Identifier: MIT */
/*
 * What assembling derives, and what it refuses and how it says so.
 */
#include <numeric>

#include <gtest/gtest.h>
#include <nvdla/graph.h>
#include <nvdla/network.h>
#include <nvdla/task.h>

#include "refusal.h"

namespace nvdla::test
{

namespace
{

Surface feature(std::string name, uint32_t c = 32, uint32_t h = 8, uint32_t w = 8)
{
	return { .name = std::move(name), .type = DataType::Int8, .c = c, .h = h, .w = w };
}

/* x -> conv -> SDP -> PDP on the fly -> y */
Graph fused()
{
	Graph graph;

	graph.input(feature("x"));
	graph.weights({ "kernels", 16, 32, 3, 3,
			Elements::of(std::vector<int8_t>(size_t{ 16 } * 32 * 9, 1)) });
	graph.add(op::Convolution{ .name = "conv",
				   .input = "x",
				   .weights = "kernels",
				   .output = "sums",
				   .padding = { 1, 1, 1, 1 } });
	graph.surface({ .name = "activated", .place = Place::Stream });
	graph.add(relu("relu", "sums", "activated"));
	graph.add(op::Pooling{ .name = "pool",
			       .input = "activated",
			       .output = "y",
			       .kernel = { 2, 2 },
			       .stride = { 2, 2 } });
	graph.output("y");
	return graph;
}

/* Without memory that is used again, whose edges depend on what fits where. */
DlaTask onlyTask(const Graph &graph)
{
	auto loadable = graph.assemble({ .reuseMemory = false });
	EXPECT_TRUE(loadable) << loadable.error().message();
	auto task = dlaTask(*loadable, 0);
	EXPECT_TRUE(task) << task.error().message();
	return *task;
}

} /* namespace */

TEST(Graph, StreamsAreFused)
{
	const DlaTask task = onlyTask(fused());

	ASSERT_EQ(task.graph.size(), 3U);
	EXPECT_EQ(task.graph[0].consumers[NVDLA_OP_SDP].index, 1);
	EXPECT_EQ(task.graph[0].consumers[NVDLA_OP_SDP].event, NVDLA_EVENT_OP_PROGRAMMED);
	EXPECT_EQ(task.graph[1].fused_parent.index, 0);
	EXPECT_EQ(task.graph[1].fused_parent.event, NVDLA_EVENT_OP_ENABLED);
	EXPECT_EQ(task.graph[1].consumers[NVDLA_OP_PDP].index, 2);
	EXPECT_EQ(task.graph[2].fused_parent.index, 1);
	EXPECT_EQ(task.surfaces[1].sdp.src_data.type, NVDLA_MEM_HW);
	EXPECT_EQ(task.surfaces[1].sdp.dst_data.type, NVDLA_MEM_HW);
	EXPECT_EQ(task.surfaces[2].pdp.dst_data.type, NVDLA_MEM_MC);
}

TEST(Graph, ReadersWaitForWriters)
{
	Graph graph;

	graph.input(feature("x"));
	graph.add(relu("a", "x", "1"));
	graph.add(op::Pooling{ .name = "b", .input = "1", .output = "2" });
	graph.add(relu("c", "x", "3"));
	graph.add(relu("d", "3", "4"));
	for (const char *output : { "2", "4" })
		graph.output(output);
	const DlaTask task = onlyTask(graph);

	EXPECT_EQ(task.graph[0].consumers[NVDLA_OP_PDP].index, 1);
	EXPECT_EQ(task.graph[0].consumers[NVDLA_OP_PDP].event, NVDLA_EVENT_OP_COMPLETED);
	/* The next of the same engine does not need what this one does... */
	EXPECT_EQ(task.graph[0].consumers[NVDLA_OP_SDP].index, 2);
	EXPECT_EQ(task.graph[0].consumers[NVDLA_OP_SDP].event, NVDLA_EVENT_OP_PROGRAMMED);
	/* ... and here it does. */
	EXPECT_EQ(task.graph[2].consumers[NVDLA_OP_SDP].index, 3);
	EXPECT_EQ(task.graph[2].consumers[NVDLA_OP_SDP].event, NVDLA_EVENT_OP_COMPLETED);
	EXPECT_EQ(task.graph[1].dependency_count, 1);
}

TEST(Graph, OrderCanBeAskedFor)
{
	Graph graph;

	graph.input(feature("x"));
	graph.add(relu("a", "x", "1"));
	graph.add(op::Pooling{ .name = "b", .input = "x", .output = "2" });
	for (const char *output : { "1", "2" })
		graph.output(output);
	EXPECT_EQ(onlyTask(graph).graph[0].consumers[NVDLA_OP_PDP].index, -1);
	graph.order({ "a", "b" });
	EXPECT_EQ(onlyTask(graph).graph[0].consumers[NVDLA_OP_PDP].index, 1);
	graph.order({ "b", "a" });
	expectRefusal(graph, { "edge from 'b' to 'a'", "before them" });
}

TEST(Graph, OrderMayBeOfAnyEvent)
{
	const std::pair<OperationEvent, nvdla_event> events[] = {
		{ OperationEvent::Completed, NVDLA_EVENT_OP_COMPLETED },
		{ OperationEvent::Programmed, NVDLA_EVENT_OP_PROGRAMMED },
		{ OperationEvent::Enabled, NVDLA_EVENT_OP_ENABLED },
		{ OperationEvent::WeightsFetched, NVDLA_EVENT_CDMA_WT_DONE },
		{ OperationEvent::DataFetched, NVDLA_EVENT_CDMA_DT_DONE },
	};

	for (const auto &[event, described] : events) {
		Graph graph = fused();
		graph.add(op::Pooling{ .name = "after", .input = "x", .output = "z" });
		graph.output("z");
		graph.order({ "conv", "after", event });
		EXPECT_EQ(onlyTask(graph).graph[0].consumers[NVDLA_OP_PDP].event, described);
	}
}

/* Only what is in use at the same time needs memory of its own. */
TEST(Graph, MemoryIsReused)
{
	Graph graph;

	graph.input(feature("0"));
	for (int i = 0; i < 6; i++)
		graph.add(relu("op" + std::to_string(i), std::to_string(i), std::to_string(i + 1)));
	graph.output("6");
	const uint64_t bytes = 8 * 8 * 32;
	auto size = [&](bool reuse) {
		auto loadable = graph.assemble({ .reuseMemory = reuse });
		EXPECT_TRUE(loadable) << loadable.error().message();
		return loadable->memories[0].size;
	};
	EXPECT_EQ(size(true), 2 * bytes);
	EXPECT_EQ(size(false), 5 * bytes);
}

/* Parts lie in the whole's memory; who reads the whole waits for each. */
TEST(Graph, PartsMakeAConcatenation)
{
	Graph graph;

	graph.input(feature("x", 64));
	graph.surface(feature("both", 96));
	graph.surface({ .name = "lower", .within = "both", .atChannel = 0 });
	graph.surface({ .name = "upper", .within = "both", .atChannel = 64 });
	graph.surface({ .name = "slice", .c = 32, .within = "both", .atChannel = 32 });
	graph.add(relu("a", "x", "lower"));
	graph.add(op::Pooling{ .name = "b", .input = "slice", .output = "y" });
	expectRefusal(graph, { "'b'", "'slice' is a part of 'both', which is not written yet" });

	graph = Graph();
	graph.input(feature("x", 64));
	graph.input(feature("z", 32));
	graph.surface(feature("both", 96));
	graph.surface({ .name = "lower", .within = "both", .atChannel = 0 });
	graph.surface({ .name = "upper", .within = "both", .atChannel = 64 });
	graph.surface({ .name = "slice", .c = 32, .within = "both", .atChannel = 32 });
	graph.add(relu("a", "x", "lower"));
	graph.add(op::Pooling{ .name = "b", .input = "z", .output = "upper" });
	graph.add(op::Pooling{ .name = "c", .input = "slice", .output = "y" });
	graph.output("y");
	const DlaTask task = onlyTask(graph);
	EXPECT_EQ(task.graph[0].consumers[NVDLA_OP_PDP].index, 2);
	/* Another part than the one that is read: the same engine's order is enough. */
	EXPECT_EQ(task.graph[1].consumers[NVDLA_OP_PDP].event, NVDLA_EVENT_OP_PROGRAMMED);

	graph.surface({ .name = "again", .within = "both", .atChannel = 64 });
	graph.add(relu("d", "z", "again"));
	expectRefusal(graph, { "'d'", "'both' is written as a whole already" });
}

TEST(Graph, LongGraphsBecomeSeveralTasks)
{
	Graph graph = fused();

	graph.add(relu("next", "y", "z"));
	graph.add(op::Unary{ .name = "square",
			     .input = "z",
			     .output = "squares",
			     .function = ElementFunction::Square });
	graph.add(relu("last", "squares", "end"));
	graph.output("end");
	auto whole = graph.assemble();
	ASSERT_TRUE(whole) << whole.error().message();
	ASSERT_EQ(whole->tasks.size(), 3U);
	EXPECT_EQ(whole->tasks[1].interface, Interface::Emu1);

	/* What a stream connects stays together. */
	auto parts = graph.assemble({ .maxTaskOperations = 3 });
	ASSERT_TRUE(parts) << parts.error().message();
	ASSERT_EQ(parts->tasks.size(), 4U);
	EXPECT_EQ(dlaTask(*parts, 0)->graph.size(), 3U);
}

/* A task has as many addresses as the driver takes, and the next one the rest. */
TEST(Graph, ManySurfacesAreSeveralTasks)
{
	constexpr uint32_t many = 4096;
	Graph graph;

	graph.input(feature("x"));
	for (uint32_t i = 0; i < many; i++) {
		const std::string name = std::to_string(i);
		graph.operands(
			{ .name = "bias" + name,
			  .c = 32,
			  .alu = Elements::of(std::vector<int16_t>(32, static_cast<int16_t>(i))) });
		graph.add(op::Sdp{
			.name = name,
			.input = "x",
			.output = "y" + name,
			.x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "bias" + name } });
		graph.output("y" + name);
	}
	auto loadable = graph.assemble();
	ASSERT_TRUE(loadable) << loadable.error().message();
	ASSERT_EQ(loadable->tasks.size(), 2U);
	EXPECT_GT(dlaTask(*loadable, 0)->graph.size(), many - 16);
}

/* A task has the look-up tables of its operations, as many as the driver takes. */
TEST(Graph, ManyTablesAreSeveralTasks)
{
	constexpr int many = 300;
	const auto firstEntry = [](int table) { return static_cast<int16_t>(100 + table); };
	Graph graph;

	graph.input(feature("x"));
	for (int i = 0; i < many; i++) {
		const std::string name = std::to_string(i);
		Lut lut;
		lut.le.entries[0] = firstEntry(i);
		graph.lut(name, lut);
		graph.add(op::Sdp{ .name = name,
				   .input = "x",
				   .output = "y" + name,
				   .y = op::SdpUnit{ .activation = op::Activation::LookUp },
				   .lut = name });
		graph.output("y" + name);
	}
	auto loadable = graph.assemble();
	ASSERT_TRUE(loadable) << loadable.error().message();
	ASSERT_EQ(loadable->tasks.size(), 2U);
	int table = 0;
	for (size_t i = 0; i < loadable->tasks.size(); i++) {
		const auto task = dlaTask(*loadable, i);
		for (const nvdla_operation_desc &operation : task->operations)
			EXPECT_EQ(task->luts.at(static_cast<size_t>(operation.sdp.lut_index))
					  .le_table[0],
				  firstEntry(table++));
	}
	EXPECT_EQ(table, many);
}

/* An engine ends its operations in their order. */
TEST(Graph, AReaderWaitsForTheLastWriterOfAnEngine)
{
	constexpr uint32_t many = 256;
	Graph graph;

	graph.input(feature("x"));
	graph.surface(feature("all", many * 32));
	for (uint32_t i = 0; i < many; i++) {
		const std::string name = std::to_string(i);
		graph.surface({ .name = "part" + name, .within = "all", .atChannel = 32 * i });
		graph.add(op::Pooling{ .name = name, .input = "x", .output = "part" + name });
	}
	graph.add(relu("last", "all", "y"));
	graph.output("y");
	const DlaTask task = onlyTask(graph);

	ASSERT_EQ(task.graph.size(), many + 1);
	EXPECT_EQ(task.graph.back().dependency_count, 1);
	EXPECT_EQ(task.graph[0].consumers[NVDLA_OP_SDP].index, -1);
	EXPECT_EQ(task.graph[many - 1].consumers[NVDLA_OP_SDP].index, static_cast<int>(many));
	EXPECT_EQ(task.graph[many - 1].consumers[NVDLA_OP_SDP].event, NVDLA_EVENT_OP_COMPLETED);
}

/* A descriptor counts them with 8 bits. */
TEST(Graph, AnOperationWaitsForNoMoreThanADescriptorCounts)
{
	for (const int many : { 255, 256 }) {
		Graph graph;

		graph.input(feature("x"));
		for (int i = 0; i < many; i++) {
			const std::string name = std::to_string(i);
			graph.add(
				op::Pooling{ .name = name, .input = "x", .output = "out" + name });
			graph.output("out" + name);
			graph.order({ .before = name, .after = "last" });
		}
		graph.add(relu("last", "x", "y"));
		graph.output("y");
		if (many == 255)
			EXPECT_EQ(onlyTask(graph).graph.back().dependency_count, 255);
		else
			expectRefusal(graph, { "'last'", "256", "255" });
	}
}

/* Addresses have 15 bits. */
TEST(Graph, HasNoMoreSurfacesThanThereAreAddresses)
{
	Graph graph;

	for (int i = 0; i < 32768; i++)
		graph.input({ .name = std::to_string(i),
			      .type = DataType::Int8,
			      .c = 1,
			      .h = 1,
			      .w = 1 });
	graph.add(relu("relu", "0", "y"));
	graph.output("y");
	expectRefusal(graph, { "32767" });
}

TEST(Graph, SaysWhichNameIsWrong)
{
	Graph graph = fused();
	graph.add(relu("again", "nothing", "z"));
	expectRefusal(graph, { "'again' (SDP), input", "surface 'nothing'" });

	graph = fused();
	graph.add(relu("again", "x", "y"));
	expectRefusal(graph, { "'again'", "'y' is an input of the graph, or written by another" });

	graph = fused();
	graph.output("elsewhere");
	expectRefusal(graph, { "output 'elsewhere'", "written by no operation" });

	graph = fused();
	graph.output("sums");
	expectRefusal(graph, { "'conv'", "stream 'sums'" });
}

TEST(Graph, SaysWhatStreamsAreFor)
{
	Graph graph = fused();
	graph.add(relu("twice", "sums", "z"));
	expectRefusal(graph, { "'twice'", "'sums' is taken by another operation" });

	graph = fused();
	graph.add(op::Convolution{
		.name = "loose", .input = "x", .weights = "kernels", .output = "lost" });
	expectRefusal(graph, { "'loose'", "no operation takes its stream 'lost'" });

	graph = Graph();
	graph.input(feature("x"));
	graph.surface({ .name = "s", .place = Place::Stream });
	graph.add(relu("a", "x", "s"));
	graph.add(relu("b", "s", "y"));
	expectRefusal(graph, { "'b'", "which only a pooling can take" });
}

TEST(Graph, SaysWhichSizeIsWrong)
{
	Graph graph;
	graph.input(feature("x", 32, 8, 9));
	graph.add(op::Pooling{ .name = "pool",
			       .input = "x",
			       .output = "y",
			       .kernel = { 2, 2 },
			       .stride = { 2, 2 } });
	expectRefusal(graph, { "'pool'", "padding", "windows of 2 with stride 2" });

	graph = Graph();
	graph.input(feature("x", 128, 4, 8000));
	graph.weights({ "k", 1, 128, 1, 1, Elements::of(std::vector<int8_t>(128)) });
	graph.add(op::Convolution{ .name = "conv", .input = "x", .weights = "k", .output = "s" });
	graph.add(relu("relu", "s", "y"));
	expectRefusal(graph, { "'conv'", "1 lines of 'x', which make 1 of output, need 32 banks" });

	/* Bytes without a type are no elements. */
	graph = Graph();
	graph.input(feature("x"));
	graph.weights({ "k", 1, 32, 1, 1, { .bytes = std::vector<std::byte>(32) } });
	graph.add(op::Convolution{ .name = "conv", .input = "x", .weights = "k", .output = "s" });
	graph.add(relu("relu", "s", "y"));
	expectRefusal(graph, { "'conv'", "0" });

	graph = fused();
	graph.surface(feature("y", 16, 3, 3));
	expectRefusal(graph, { "'pool'", "'y' was described as 1 x 16 x 3 x 3", "1 x 16 x 4 x 4" });
}

/* What is not checked before is what the driver says, in the graph's names. */
TEST(Graph, TellsTheDriversRulesInItsNames)
{
	Graph graph;
	graph.input(feature("x"));
	graph.surface({ .name = "y", .lineStride = 8 * 32 + 1, .surfaceStride = 8 * 8 * 64 });
	graph.add(relu("a", "x", "y"));
	graph.output("y");
	expectRefusal(graph, { "'a' (SDP)", "dst_data.line_stride of 'y'", "not aligned" });

	graph = Graph();
	graph.input(feature("x"));
	graph.add(op::Pooling{
		.name = "pool", .input = "x", .output = "y", .kernel = { 4, 1 }, .parts = 5 });
	graph.output("y");
	expectRefusal(graph, { "'pool'", "parts", "5 are impossible" });
}

/* What comes of what cannot be is not an error of its own. */
TEST(Graph, NamesAllThatCannotBe)
{
	Graph graph;
	graph.input({ .name = "x", .type = DataType::Int8, .c = 32, .h = 20, .w = 20 });
	graph.weights({ "w", 32, 32, 3, 3, Elements::of(std::vector<int8_t>(32 * 32 * 9)) });
	graph.surface({ .name = "whole", .type = DataType::Int8, .c = 64, .h = 12, .w = 12 });
	graph.surface({ .name = "part", .within = "whole" });
	graph.add(
		op::Pooling{ .name = "first", .input = "x", .output = "part", .kernel = { 9, 9 } });
	graph.add(relu("reader", "whole", "y"));
	graph.add(op::Convolution{ .name = "second",
				   .input = "x",
				   .weights = "w",
				   .output = "sums",
				   .stride = { 9, 9 } });
	graph.add(relu("third", "sums", "z"));
	graph.add(relu("right", "x", "v"));
	graph.add(relu("fourth", "nothing", "u"));
	const std::string message = refusal(graph);
	for (const char *word :
	     { "'first'", "kernel", "'second'", "stride", "'fourth'", "'nothing'" })
		EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
	for (const char *word : { "'reader'", "'third'", "'right'" })
		EXPECT_EQ(message.find(word), std::string::npos) << word << " in: " << message;
}

TEST(Graph, SaysWhatIsSupported)
{
	Graph graph;
	graph.surface({ .name = "x", .type = DataType::Int8, .c = 32, .h = 20, .w = 20 });
	graph.weights({ "w", 32, 32, 3, 3, Elements::of(std::vector<int8_t>(32 * 32 * 9)) });
	op::Convolution conv{ .name = "conv", .input = "x", .weights = "w", .output = "sums" };
	op::Pooling pooling{ .name = "pool", .input = "x", .output = "y", .kernel = { 2, 2 } };
	EXPECT_TRUE(graph.supports(conv));
	EXPECT_TRUE(graph.supports(pooling));
	EXPECT_TRUE(graph.supports(relu("relu", "x", "y")));
	EXPECT_TRUE(graph.supports(op::Softmax{ .name = "softmax", .input = "x", .output = "y" }));
	conv.stride = { 9, 1 };
	pooling.kernel = { 9, 2 };
	const std::pair<Result<void>, const char *> refused[] = {
		{ graph.supports(conv), "'conv'" },
		{ graph.supports(pooling), "kernel" },
		{ graph.supports(relu("relu", "unknown", "y")), "'unknown' is no constant" },
	};
	for (const auto &[result, word] : refused) {
		ASSERT_FALSE(result) << word;
		EXPECT_NE(result.error().message().find(word), std::string::npos)
			<< result.error().message();
	}
}

} /* namespace nvdla::test */
