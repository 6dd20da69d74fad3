/* SPDX-License-Identifier: MIT */
/*
 * Operators that move, add or select elements.
 */
#include <algorithm>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* Each output is a part of the input along an axis. */
Tensor readSplit(NodeReader &reader)
{
	const Tensor tensor = reader.input(0);
	const uint32_t axis = reader.axisOf("axis", 0);
	std::vector<int64_t> sizes = reader.list(1, "split");

	const auto count = static_cast<int64_t>(reader.outputs());
	const int64_t all = tensor.shape[axis], each = (all + count - 1) / count;
	for (int64_t i = 0; static_cast<int64_t>(sizes.size()) < count && i < count; i++)
		sizes.push_back(std::min(each, all - i * each));
	reader.need(sizes.size() == reader.outputs(), "split", "has not a size for each output");
	return reader.writeAll(legalize::split(reader, tensor, axis, sizes));
}

/*
 * Pads are the numbers before each axis, or before each axis that an input names, then those behind
 * them.
 */
Tensor readPad(NodeReader &reader)
{
	constexpr size_t axesAt = 3;
	const std::vector<int64_t> pads = reader.list(1, "pads");
	const auto middle = pads.begin() + static_cast<ptrdiff_t>(pads.size() / 2);
	legalize::Padding padding{ .field = "pads",
				   .mode = reader.text("mode", "constant"),
				   .before = { pads.begin(), middle },
				   .after = { middle, pads.end() },
				   .value = reader.attribute("value") ? reader.number("value", 0)
								      : reader.scalar(2, 0) };

	if (reader.hasInput(axesAt))
		padding.axes = reader.wholeNumbers(axesAt);
	return legalize::pad(reader, reader.input(0), padding);
}

uint32_t blockOf(NodeReader &reader)
{
	const int64_t size = reader.integer("blocksize", 0);

	reader.need(size >= 1 && size <= UINT8_MAX, "blocksize", fmt::format("is {}", size));
	return static_cast<uint32_t>(size);
}

/* DCR: channels of an element stay side by side; CRD: those of a block do. */
Tensor readDepthToSpace(NodeReader &reader)
{
	const bool blocksTogether =
		reader.choice<bool>("mode", "DCR", { { "CRD", true }, { "DCR", false } });

	return legalize::depthToSpace(reader, reader.picture(reader.input(0)), blockOf(reader),
				      blocksTogether);
}

} /* namespace */

const NodeTable moveNodes = {
	{ "Concat",
	  [](NodeReader &r) {
		  return legalize::concatenation(r, r.allInputs(), r.integer("axis", 1), {});
	  } },
	{ "DepthToSpace", readDepthToSpace },
	{ "Flatten",
	  [](NodeReader &r) {
		  return legalize::flattenedAt(r, r.input(0), r.integer("axis", 1));
	  } },
	{ "Gather",
	  [](NodeReader &r) {
		  return legalize::gather(r, r.input(0), r.integer("axis", 0), r.value(1));
	  } },
	{ "Pad", readPad },
	{ "Reshape",
	  [](NodeReader &r) {
		  const bool zeroKeeps = r.integer("allowzero", 0) == 0;
		  return legalize::reshaped(r, r.input(0), r.list(1, "shape"), zeroKeeps);
	  } },
	{ "Slice",
	  [](NodeReader &r) {
		  return legalize::slice(r, r.input(0),
					 { r.list(1, "starts"), r.list(2, "ends"),
					   r.list(3, "axes"), r.list(4, "steps") });
	  } },
	{ "SpaceToDepth",
	  [](NodeReader &r) {
		  return legalize::spaceToDepth(r, r.picture(r.input(0)), blockOf(r));
	  } },
	{ "Split", readSplit },
	{ "Squeeze",
	  [](NodeReader &r) { return legalize::squeezed(r, r.input(0), r.list(1, "axes")); } },
	{ "Tile",
	  [](NodeReader &r) {
		  return legalize::tile(r, r.input(0), "repeats", r.list(1, "repeats"));
	  } },
	{ "Unsqueeze",
	  [](NodeReader &r) { return legalize::unsqueezed(r, r.input(0), r.list(1, "axes")); } },
};

} /* namespace nvdla::compiler::onnx */
