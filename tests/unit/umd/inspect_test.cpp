/* SPDX-License-Identifier: MIT */
/*
 * What the tools say and draw about loadables.
 */
#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "edge_network.h"
#include "loadable/emu_descriptors.h"
#include "loadable/inspect/graph_picture.h"
#include "loadable/inspect/layered_layout.h"
#include "loadable/inspect/loadable_text.h"
#include "loadable/inspect/network_graph.h"
#include "loadable/inspect/svg.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

using namespace inspect;

using Kind = GraphNode::Kind;

size_t countOf(const std::string &text, const std::string &part)
{
	size_t count = 0;

	for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
		count++;
	return count;
}

Loadable referenceLoadable(const std::filesystem::path &reference, const char *name)
{
	auto loadable = Loadable::readFile(reference / "loadables" / name);
	EXPECT_TRUE(loadable) << name;
	return *loadable;
}

/* Returns the graph of layers of \a width operations each, of which all read all of the layer
 * before; the last operation of each layer has another shape than the others. */
NetworkGraph wideGraph(size_t layers, size_t width)
{
	NetworkGraph graph;

	for (size_t i = 0; i < layers * width; i++) {
		const std::string shape = i % width + 1 == width ? "4x9x9" : "16x9x9";
		GraphNode node;
		for (const char *engine : { "CONV", "SDP" })
			node.operations.push_back(
				{ 0,
				  2 * i + node.operations.size(),
				  { engine, "direct 3x3, pad 1", shape, "int8", "@1+0 -> @1+64",
				    fmt::format("layer{}", i / width) } });
		for (size_t from = i / width * width - width;
		     i >= width && from < i / width * width; from++)
			graph.edges.push_back({ from, i, GraphEdge::Kind::Data, "16x9x9" });
		graph.nodes.push_back(std::move(node));
	}
	return graph;
}

} /* namespace */

TEST(Inspect, FusedOperationsAreOneNode)
{
	const auto graph = networkGraph(*examples::edgeNetwork({ 16, 16 }));
	ASSERT_TRUE(graph);
	ASSERT_EQ(graph->nodes.size(), 3u);
	EXPECT_EQ(graph->nodes[0].kind, Kind::Input);
	ASSERT_EQ(graph->nodes[1].operations.size(), 3u);
	EXPECT_EQ(graph->nodes[1].operations[0].text.engine, "CONV");
	EXPECT_EQ(graph->nodes[1].operations[1].text.engine, "SDP");
	EXPECT_EQ(graph->nodes[1].operations[2].text.engine, "PDP");
	EXPECT_EQ(graph->nodes[2].kind, Kind::Output);
	const std::vector<GraphEdge> edges = { { 0, 1, GraphEdge::Kind::Data, "4x16x16" },
					       { 1, 2, GraphEdge::Kind::Data, "8x7x7" } };
	EXPECT_EQ(graph->edges, edges);
}

TEST(Inspect, OperationsInWords)
{
	auto text = loadableText(*examples::edgeNetwork({ 16, 16 }), "net");
	ASSERT_TRUE(text);
	EXPECT_TRUE(test::has(*text, "image 3x3, A8B8G8R8: 4x16x16 -> ")) << *text;
	EXPECT_TRUE(test::has(*text, "then 1 (op_programmed)")) << *text;
	EXPECT_TRUE(test::has(*text, "max 2x2, stride 2")) << *text;
	EXPECT_TRUE(test::has(*text, "alloc,input")) << *text;
}

TEST(Inspect, LongNamesDoNotWidenTheTableOfMemories)
{
	Loadable loadable = test::copyLoadable(std::vector<std::byte>(64));
	ASSERT_FALSE(loadable.tensors.empty());
	for (int i = 0; i < 9; i++)
		loadable.tensors.push_back(loadable.tensors.front());
	for (TensorEntry &tensor : loadable.tensors)
		tensor.name = std::string(500, 'x') + "/end";
	const auto text = loadableText(loadable, "net");
	ASSERT_TRUE(text) << text.error().message();
	const std::string table = text->substr(text->find("contents, tensors"));
	EXPECT_TRUE(test::has(table, "x/end+0, ")) << table;
	EXPECT_TRUE(test::has(table, " more\n")) << table;
	std::istringstream lines(table);
	for (std::string line; std::getline(lines, line);)
		EXPECT_LE(line.size(), 250u) << line;
}

TEST(Inspect, CopyIsDescribed)
{
	const Loadable loadable = test::copyLoadable(std::vector<std::byte>(64));
	auto text = loadableText(loadable, "net");
	ASSERT_TRUE(text) << text.error().message();
	EXPECT_TRUE(test::has(*text, "copy, 1 transfer: 1 x 2 x 32 bytes")) << *text;
	auto graph = networkGraph(loadable);
	ASSERT_TRUE(graph);
	ASSERT_EQ(graph->edges.size(), 1u);
	EXPECT_EQ(graph->edges[0].label, "32x1x2");
}

/* A fused chain that bites its tail, and indices that lead nowhere. */
TEST(Inspect, NonsenseInDescriptorsIsShown)
{
	test::LoadableBuilder builder;
	test::DlaDescriptors task;
	for (int i = 0; i < 2; i++) {
		nvdla_graph_node node = test::graphNode(NVDLA_OP_SDP);
		node.fused_parent.index = static_cast<__s16>(1 - i);
		nvdla_surface_desc surface = {};
		(i ? surface.pdp.src_data : surface.sdp.src_data).type = NVDLA_MEM_HW;
		(i ? surface.pdp.dst_data : surface.sdp.dst_data).address = 99;
		nvdla_operation_desc operation = {};
		operation.sdp.src_precision = 77;
		if (i)
			node.op_type = NVDLA_OP_PDP;
		task.graph.push_back(node);
		task.operations.push_back(operation);
		task.surfaces.push_back(surface);
	}
	task.addTo(builder, {});
	ASSERT_TRUE(builder.loadable.check());

	auto graph = networkGraph(builder.loadable);
	ASSERT_TRUE(graph) << graph.error().message();
	EXPECT_EQ(graph->nodes.size(), 1u);
	EXPECT_TRUE(test::has(graphSvg(*graph, "x"), "</svg>"));
	auto text = loadableText(builder.loadable, "net");
	ASSERT_TRUE(text);
	EXPECT_TRUE(test::has(*text, "no address 99")) << *text;
	EXPECT_TRUE(test::has(*text, "77?")) << *text;
}

TEST(Inspect, DotHasEveryNodeAndEdge)
{
	auto graph = networkGraph(*examples::edgeNetwork({ 16, 16 }));
	ASSERT_TRUE(graph);
	const std::string dot = graphDot(*graph, "a \"b\"");
	EXPECT_TRUE(dot.starts_with("digraph \"a \\\"b\\\"\" {"));
	EXPECT_EQ(countOf(dot, "label="), graph->nodes.size() + graph->edges.size());
	EXPECT_EQ(countOf(dot, " -> n"), graph->edges.size());
}

/* A depthwise convolution of many channels is many operations, which do not need each other. */
TEST(Inspect, ALayersEqualOperationsAreOneBox)
{
	const Svg picture = graphPicture(wideGraph(20, 60), "net");
	EXPECT_LT(picture.width(), 1000);
	EXPECT_LT(picture.height(), 4000);
	const std::string svg = graphSvg(wideGraph(2, 60), "net");
	EXPECT_TRUE(test::has(svg, ">59 x layer1</text>")) << svg;
	EXPECT_TRUE(test::has(svg, ">layer1</text>")) << svg;
	EXPECT_EQ(countOf(svg, "class=\"edge\""), 4U);
	/* No operation is lost: a program finds each, and the title has its place. */
	std::string convolutions;
	for (size_t i = 0; i < 59; i++)
		convolutions += fmt::format("{}0.{}", i ? " " : "", 2 * i);
	EXPECT_TRUE(test::has(svg, fmt::format("<g data-op=\"{}\">", convolutions))) << svg;
	EXPECT_TRUE(test::has(svg, "task 0 operation 117: @1+0 -&gt; @1+64")) << svg;
}

/* Operations of which no layer is known may compute different layers. */
TEST(Inspect, OperationsWithoutALayerHaveTheirOwnBoxes)
{
	NetworkGraph graph = wideGraph(1, 5);
	for (GraphNode &node : graph.nodes)
		node.operations[0].text.layer.clear();
	EXPECT_EQ(countOf(graphSvg(graph, "net"), "class=\"box\""), 5U);
}

/* A CPU operation reads and writes all surfaces of its cubes, with the atoms of their core. */
TEST(Inspect, CubesOfCpuOperationsAreWhole)
{
	const struct {
		EmuFormat format;
		PixelFormat layout;
	} cores[] = { { EmuFormatInt8, PixelFormat::Feature },
		      { EmuFormatInt8SmallAtoms, PixelFormat::FeatureX8 } };
	for (const auto &[format, layout] : cores) {
		test::LoadableBuilder builder;
		const uint32_t atom = atomBytes(layout);
		const TensorDesc whole =
			TensorDesc::packedFeature("whole", DataType::Int8, 2 * atom, 2, 2, layout);
		TensorDesc second =
			TensorDesc::packedFeature("second", DataType::Int8, atom, 2, 2, layout);
		const EmuBufferDesc from = { .address = 1,
					     .size = static_cast<uint32_t>(whole.size),
					     .format = static_cast<uint16_t>(format),
					     .width = 2,
					     .height = 2,
					     .channel = static_cast<uint16_t>(2 * atom),
					     .line_stride = whole.lineStride,
					     .surf_stride = whole.surfaceStride };
		EmuBufferDesc to = from;
		to.address = 2;
		/* The second operation reads what the first wrote into its second surface. */
		EmuBufferDesc part = to, end = from;
		part.offset = whole.surfaceStride;
		part.channel = end.channel = static_cast<uint16_t>(atom);
		end.address = 3;
		const std::vector<EmuBufferPair<EmuBufferDesc>> pairs = {
			{ .src_data = from, .dst_data = to }, { .src_data = part, .dst_data = end }
		};
		EmuOperationDesc operation = { .in_scale = 1, .out_scale = 1 };
		operation.power.power = operation.power.scale = 1;
		const uint16_t network = builder.content(
			"network", test::bytesOf(EmuNetworkDesc{ 4, 5, 2 }), Interface::Emu1);
		std::vector<uint16_t> addresses{ network, builder.tensor(whole, MemoryInput),
						 builder.memory(whole.size),
						 builder.tensor(second, MemoryOutput) };
		const std::vector<EmuOperationDesc> operations(2, operation);
		addresses.push_back(
			builder.content("operations", test::bytesOf(operations), Interface::Emu1));
		addresses.push_back(
			builder.content("buffers", test::bytesOf(pairs), Interface::Emu1));
		builder.task(Interface::Emu1, addresses);
		const auto graph = networkGraph(builder.loadable);
		ASSERT_TRUE(graph) << graph.error().message();
		ASSERT_EQ(graph->nodes.size(), 4U);
		EXPECT_TRUE(std::ranges::any_of(graph->edges, [](const GraphEdge &edge) {
			return edge.from == 1 && edge.to == 2;
		})) << atom;
		EXPECT_EQ(graph->edges.size(), 3U);
	}
}

TEST(Inspect, SvgEscapesNames)
{
	EXPECT_EQ(escapeXml("a<b>&\"\x01\xff"), "a&lt;b&gt;&amp;&quot;??");
}

/* Branches that write parts of one buffer are all sources of what reads the whole. */
TEST(Inspect, ConcatenationHasAllItsSources)
{
	NVDLA_NEED_REFERENCE(reference);
	const auto graph = networkGraph(
		referenceLoadable(reference, "compiled/inception/nv_full_fp16_default.nvdla"));
	ASSERT_TRUE(graph);
	const auto last = std::find_if(graph->nodes.rbegin(), graph->nodes.rend(),
				       [](const auto &node) { return node.kind == Kind::Device; });
	const auto index = static_cast<size_t>(graph->nodes.rend() - last) - 1;
	EXPECT_EQ(std::count_if(graph->edges.begin(), graph->edges.end(),
				[&](const GraphEdge &edge) {
					return edge.to == index &&
					       edge.kind == GraphEdge::Kind::Data;
				}),
		  4);
}

TEST(Inspect, ReferenceLoadables)
{
	NVDLA_NEED_REFERENCE(reference);

	for (const auto &path : test::referenceLoadables(reference)) {
		const auto loadable = Loadable::readFile(path);
		ASSERT_TRUE(loadable);
		EXPECT_TRUE(loadableText(*loadable, "net")) << path;
		const auto graph = networkGraph(*loadable);
		ASSERT_TRUE(graph) << path;
		const std::string svg = graphSvg(*graph, "net");
		EXPECT_FALSE(test::has(svg, "nan") || test::has(svg, "inf,")) << path;
		for (size_t i = 0; i < graph->nodes.size(); i++) {
			const bool led =
				std::any_of(graph->edges.begin(), graph->edges.end(),
					    [&](const auto &edge) { return edge.to == i; });
			EXPECT_TRUE(led || graph->nodes[i].kind != Kind::Output)
				<< path << ": nothing writes output " << graph->nodes[i].tensor;
		}
	}
}

TEST(LayeredLayout, NothingOverlaps)
{
	std::random_device seedSource;
	const unsigned seed = seedSource();
	std::mt19937 random(seed);

	for (int round = 0; round < 30; round++) {
		const size_t count = 1 + random() % 40;
		std::vector<LayoutBox> boxes;
		std::vector<LayoutEdge> edges;
		for (size_t i = 0; i < count; i++) {
			boxes.push_back({ 20.0 + random() % 200, 20.0 + random() % 80, {} });
			for (size_t n = random() % 3; n && i; n--)
				edges.push_back({ random() % i, i, {} });
		}
		const Point size = layOut(boxes, edges);
		for (size_t a = 0; a < count; a++) {
			EXPECT_GE(boxes[a].centre.x - boxes[a].width / 2, -0.01);
			EXPECT_LE(boxes[a].centre.x + boxes[a].width / 2, size.x + 0.01);
			EXPECT_LE(boxes[a].centre.y + boxes[a].height / 2, size.y + 0.01);
			for (size_t b = a + 1; b < count; b++) {
				const double dx = std::fabs(boxes[a].centre.x - boxes[b].centre.x);
				const double dy = std::fabs(boxes[a].centre.y - boxes[b].centre.y);
				EXPECT_TRUE(dx >= (boxes[a].width + boxes[b].width) / 2 - 0.01 ||
					    dy >= (boxes[a].height + boxes[b].height) / 2 - 0.01)
					<< "seed " << seed << " round " << round;
			}
		}
		for (const LayoutEdge &edge : edges)
			EXPECT_LT(edge.route.front().y, edge.route.back().y) << "seed " << seed;
	}
}

TEST(LayeredLayout, AChainIsStraight)
{
	std::vector<LayoutBox> boxes = { { 10, 10, {} }, { 200, 10, {} }, { 40, 10, {} } };
	std::vector<LayoutEdge> edges = { { 0, 1, {} }, { 1, 2, {} } };
	const LayoutGaps gaps;
	/* Straight edges need little height. */
	EXPECT_NEAR(layOut(boxes, edges, gaps).y, 3 * 10 + 2 * gaps.straight, 0.01);
	EXPECT_NEAR(boxes[0].centre.x, 100.0, 0.01);
	EXPECT_NEAR(boxes[2].centre.x, 100.0, 0.01);
}

TEST(LayeredLayout, NothingIsAllowed)
{
	std::vector<LayoutBox> boxes;
	std::vector<LayoutEdge> edges;
	EXPECT_EQ(layOut(boxes, edges).x, 0.0);
}

} /* namespace nvdla */
