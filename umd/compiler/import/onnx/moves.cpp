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

using legalize::mostOfAxis;

Tensor readReshape(NodeReader &reader)
{
	const Tensor tensor = reader.input(0);
	const bool zeroIsEmpty = reader.integer("allowzero", 0) != 0;
	const uint64_t elements = elementCount(tensor.shape);
	uint64_t known = 1;
	Extents shape;
	std::optional<size_t> open;

	for (const int64_t number : reader.list(1, "shape")) {
		const size_t axis = shape.size();
		const bool keeps = number == 0 && !zeroIsEmpty && axis < tensor.shape.size();
		reader.need(number >= -1 && number <= static_cast<int64_t>(maxConstant) &&
				    (number != -1 || !open),
			    "shape", fmt::format("has an axis of {}", number));
		if (reader.failed())
			return {};
		if (number == -1)
			open = axis;
		shape.push_back(number == -1 ? 1
				: keeps	     ? tensor.shape[axis]
					     : static_cast<uint32_t>(number));
		known *= shape.back();
		if (!reader.need(known <= elements, "shape",
				 fmt::format("has more elements than {}", toString(tensor.shape))))
			return {};
	}
	if (open && known)
		shape[*open] = static_cast<uint32_t>(elements / known);
	return reader.reshaped(tensor, shape);
}

Tensor readFlatten(NodeReader &reader)
{
	const Tensor tensor = reader.input(0);
	const auto rank = static_cast<int64_t>(tensor.shape.size());
	const int64_t given = reader.integer("axis", 1);
	const int64_t axis = given < 0 ? given + rank : given;
	Extents shape{ 1, 1 };

	if (!reader.need(axis >= 0 && axis <= rank, "axis", fmt::format("{} of {}", given, rank)))
		return {};
	for (size_t i = 0; i < tensor.shape.size(); i++)
		shape[i < static_cast<size_t>(axis) ? 0 : 1] *= tensor.shape[i];
	return reader.reshaped(tensor, shape);
}

/* Without `axes`, all axes of one element are removed. */
Tensor readSqueeze(NodeReader &reader)
{
	const Tensor tensor = reader.input(0);
	const std::vector<int64_t> axes = reader.list(1, "axes");
	const legalize::AxisOrder named = reader.sortedAxes(axes, tensor.shape.size());
	Extents shape;

	for (uint32_t axis = 0; axis < tensor.shape.size(); axis++) {
		if (axes.empty() ? tensor.shape[axis] != 1 : !std::ranges::count(named, axis))
			shape.push_back(tensor.shape[axis]);
	}
	return reader.reshaped(tensor, shape);
}

Tensor readUnsqueeze(NodeReader &reader)
{
	const Tensor tensor = reader.input(0);
	const std::vector<int64_t> axes = reader.list(1, "axes");
	const legalize::AxisOrder added =
		reader.sortedAxes(axes, tensor.shape.size() + axes.size());
	Extents shape = tensor.shape;

	if (!reader.need(added.size() == axes.size(), "axes", "name one twice") || reader.failed())
		return {};
	for (const uint32_t axis : added)
		shape.insert(shape.begin() + axis, 1);
	return reader.reshaped(tensor, shape);
}

/* Each output is a part of the input along an axis. */
Tensor readSplit(NodeReader &reader)
{
	const Tensor tensor = reader.input(0);
	const uint32_t axis = reader.axisOf("axis", 0);
	std::vector<int64_t> sizes = reader.list(1, "split");

	if (reader.failed())
		return {};
	const auto count = static_cast<int64_t>(reader.outputs());
	const int64_t all = tensor.shape[axis], each = (all + count - 1) / count;
	for (int64_t i = 0; static_cast<int64_t>(sizes.size()) < count && i < count; i++)
		sizes.push_back(std::min(each, all - i * each));
	reader.need(sizes.size() == reader.outputs(), "split", "has not a size for each output");
	if (reader.failed())
		return {};
	return reader.writeAll(legalize::split(reader, tensor, axis, sizes));
}

Tensor readSlice(NodeReader &reader)
{
	const Tensor tensor = reader.input(0);
	const size_t rank = tensor.shape.size();
	const std::vector<int64_t> starts = reader.list(1, "starts"), ends = reader.list(2, "ends");
	std::vector<int64_t> axes = reader.list(3, "axes"), steps = reader.list(4, "steps");
	Extents begin(rank, 0), stride(rank, 1), shape = tensor.shape;

	for (size_t i = 0; axes.size() < starts.size() && i < starts.size(); i++)
		axes.push_back(static_cast<int64_t>(i));
	steps.resize(steps.empty() ? starts.size() : steps.size(), 1);
	if (reader.failed() ||
	    !reader.need(ends.size() == starts.size() && axes.size() == starts.size() &&
				 steps.size() == starts.size(),
			 "starts", "and ends, axes and steps are of different numbers"))
		return {};
	for (size_t i = 0; i < starts.size(); i++) {
		const uint32_t axis = reader.axis(axes[i], rank, "axes");
		if (reader.failed())
			return {};
		const auto extent = static_cast<int64_t>(tensor.shape[axis]);
		const int64_t first = placeWithin(starts[i], extent);
		const int64_t last = placeWithin(ends[i], extent);
		reader.support(steps[i] >= 1 && steps[i] <= mostOfAxis, "steps",
			       fmt::format("{}: only forward slices are known", steps[i]));
		reader.support(last > first || reader.isConstant(tensor), "ends", "leave nothing");
		if (reader.failed())
			return {};
		begin[axis] = static_cast<uint32_t>(first);
		stride[axis] = static_cast<uint32_t>(steps[i]);
		shape[axis] =
			static_cast<uint32_t>(last > first ? (last - first - 1) / steps[i] + 1 : 0);
	}
	return legalize::slice(reader, tensor, begin, stride, shape);
}

/* Pads of all axes, 0 for unnamed ones: those before each axis, then those behind each. */
std::vector<int64_t> padsOf(NodeReader &reader, size_t rank)
{
	constexpr size_t axesAt = 3;
	const std::vector<int64_t> pads = reader.list(1, "pads");

	if (!reader.hasInput(axesAt))
		return pads;
	const std::vector<int64_t> axes = reader.wholeNumbers(axesAt);
	std::vector<int64_t> all(2 * rank, 0);
	if (!reader.need(pads.size() == 2 * axes.size(), "pads",
			 fmt::format("are {} numbers for {} axes", pads.size(), axes.size())))
		return all;
	for (size_t i = 0; i < axes.size() && !reader.failed(); i++) {
		const uint32_t axis = reader.axis(axes[i], rank, "axes");
		if (reader.failed())
			break;
		all[axis] = pads[i];
		all[axis + rank] = pads[i + axes.size()];
	}
	return all;
}

Tensor readPad(NodeReader &reader)
{
	const Tensor tensor = reader.input(0);
	const std::vector<int64_t> pads = padsOf(reader, tensor.shape.size());
	const auto middle = pads.begin() + static_cast<ptrdiff_t>(pads.size() / 2);

	return legalize::pad(reader, tensor,
			     { .field = "pads",
			       .mode = reader.text("mode", "constant"),
			       .before = { pads.begin(), middle },
			       .after = { middle, pads.end() },
			       .value = reader.attribute("value") ? reader.number("value", 0)
								  : reader.scalar(2, 0) });
}

uint32_t blockOf(NodeReader &reader)
{
	const int64_t size = reader.integer("blocksize", 0);

	return reader.need(size >= 1 && size <= UINT8_MAX, "blocksize", fmt::format("is {}", size))
		       ? static_cast<uint32_t>(size)
		       : 0;
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
	{ "Flatten", readFlatten },
	{ "Gather",
	  [](NodeReader &r) {
		  return legalize::gather(r, r.input(0), r.integer("axis", 0), r.value(1));
	  } },
	{ "Pad", readPad },
	{ "Reshape", readReshape },
	{ "Slice", readSlice },
	{ "SpaceToDepth",
	  [](NodeReader &r) {
		  return legalize::spaceToDepth(r, r.picture(r.input(0)), blockOf(r));
	  } },
	{ "Split", readSplit },
	{ "Squeeze", readSqueeze },
	{ "Tile",
	  [](NodeReader &r) {
		  return legalize::tile(r, r.input(0), "repeats", r.list(1, "repeats"));
	  } },
	{ "Unsqueeze", readUnsqueeze },
};

} /* namespace nvdla::compiler::onnx */
