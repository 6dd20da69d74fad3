/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>
#include <nvdla/device.h>
#include <nvdla/graph.h>

#include "compare_check.h"
#include "refusal.h"

namespace nvdla::test
{

namespace
{

Graph withInput(uint32_t channels = 64)
{
	Graph graph;

	graph.input({ .name = "x", .type = DataType::Int8, .c = channels, .h = 2, .w = 2 });
	return graph;
}

} /* namespace */

TEST(Compare, FindsDifferences)
{
	checkComparisons(Device::embeddedPath);
}

TEST(Compare, SaysWhatIsWrong)
{
	Graph graph = withInput();
	graph.add(op::Compare{ .name = "compare", .input = "x" });
	expectRefusal(graph, { "'compare' (comparison), with", "has no name" });

	graph = withInput();
	graph.input({ .name = "y", .type = DataType::Int8, .c = 64, .h = 2, .w = 3 });
	graph.add(op::Compare{ .name = "compare", .input = "x", .with = "y" });
	expectRefusal(graph, { "'compare'", "'y' has the shape" });

	graph = withInput();
	graph.surface({ .name = "s", .place = Place::Stream });
	graph.add(op::Sdp{ .name = "sdp", .input = "x", .output = "s" });
	graph.add(op::Compare{ .name = "compare", .input = "x", .with = "s" });
	expectRefusal(graph, { "'compare'", "stream" });

	/* Lines of three atoms have room for a fourth: strides of batches are multiples of 64
	 * bytes. */
	graph = {};
	graph.input({ .name = "x", .type = DataType::Int8, .c = 32, .h = 2, .w = 3, .n = 2 });
	graph.add(op::Compare{ .name = "compare", .input = "x", .with = "x" });
	expectRefusal(graph, { "'compare'", "'x' is a batch with room", "one by one" });

	graph = withInput(33);
	graph.operands({ .name = "c", .c = 33, .alu = Elements::of(std::vector<int8_t>(33)) });
	graph.add(op::Compare{ .name = "compare", .input = "x", .with = "c" });
	expectRefusal(graph, { "'compare'", "the 33 channels of 'x' are not whole atoms" });
}

} /* namespace nvdla::test */
