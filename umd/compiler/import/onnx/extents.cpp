/* SPDX-License-Identifier: MIT */
/*
 * Operators that add elements around a tensor, or repeat it.
 */
#include <algorithm>

#include <fmt/core.h>

#include "compiler/import/parts.h"
#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

constexpr uint64_t mostElements = uint64_t{ 1 } << 28;

} /* namespace */

void addParts(NodeReader &reader, FileTensor tensor, const std::vector<std::vector<Part>> &axes)
{
	const auto changes = [](const std::vector<Part> &parts) { return !parts.empty(); };
	const auto last = std::find_if(axes.rbegin(), axes.rend(), changes).base() - axes.begin();

	if (reader.failed())
		return;
	if (last == 0)
		reader.alias(tensor);
	for (size_t axis = 0; axis < static_cast<size_t>(last); axis++) {
		FileTensor all = tensor;
		std::vector<ValueId> ids;

		if (axes[axis].empty())
			continue;
		all.shape[axis] = 0;
		for (const Part &part : axes[axis]) {
			FileTensor like = tensor;
			Extents begin(like.shape.size(), 0);
			begin[axis] = part.begin;
			like.shape[axis] = part.count;
			all.shape[axis] += part.count;
			const Slice slice{ inValueOrder(tensor, begin), Extents(begin.size(), 1) };
			ids.push_back(
				reader.addBetween(slice, { tensor.id }, reader.same(tensor), like)
					.id);
		}
		if (!reader.support(elementCount(all.shape) <= mostElements, "output",
				    fmt::format("would be {}", toString(all.shape))))
			return;
		const auto place = std::find(tensor.order.begin(), tensor.order.end(), axis);
		const Concatenation joined{ static_cast<uint32_t>(place - tensor.order.begin()),
					    {} };
		const ElementKind elements = reader.same(tensor);
		if (axis + 1 == static_cast<size_t>(last))
			reader.add(joined, std::move(ids), elements, all);
		else
			tensor = reader.addBetween(joined, std::move(ids), elements, all);
	}
}

namespace
{

/* A tensor that is computed, in an order of its own. */
FileTensor repeatable(NodeReader &reader)
{
	const FileTensor tensor = reader.plainInput(0);

	reader.support(!reader.value(tensor).isConstant, "input 0",
		       "is a constant; repeat it in the model's file");
	return reader.failed() ? FileTensor{} : tensor;
}

void readTile(NodeReader &reader)
{
	const FileTensor tensor = repeatable(reader);
	const std::vector<int64_t> times = reader.list(1, "repeats");
	std::vector<std::vector<Part>> axes;

	reader.need(reader.failed() || times.size() == tensor.shape.size(), "repeats",
		    fmt::format("are {} numbers for {} axes", times.size(), tensor.shape.size()));
	for (size_t axis = 0; axis < tensor.shape.size() && !reader.failed(); axis++)
		axes.push_back(repeatedParts(reader, "repeats", tensor.shape[axis], times[axis]));
	addParts(reader, tensor, axes);
}

/* Axes of one element are repeated; those that are missing are of one. */
void readExpand(NodeReader &reader)
{
	const FileTensor tensor = repeatable(reader);
	const std::vector<int64_t> shape = reader.list(1, "shape");
	const size_t rank = tensor.shape.size();
	std::vector<std::vector<Part>> axes(rank);

	reader.support(
		reader.failed() || shape.size() <= rank, "shape",
		fmt::format("has {} axes, the input {}; reshape it before", shape.size(), rank));
	for (size_t i = 0; i < shape.size() && !reader.failed(); i++) {
		const size_t axis = rank - shape.size() + i;
		const uint32_t extent = tensor.shape[axis];
		reader.need(extent == 1 || shape[i] == 1 || shape[i] == extent, "shape",
			    fmt::format("makes {} of {} elements", shape[i], extent));
		if (extent == 1)
			axes[axis] = repeatedParts(reader, "shape", extent, shape[i]);
	}
	addParts(reader, tensor, axes);
}

/* By constant indices along an axis; a single one, without an axis of its own, takes that away. */
void readGather(NodeReader &reader)
{
	const FileTensor tensor = reader.plainInput(0);
	const size_t rank = tensor.shape.size();
	const uint32_t axis = reader.axis(reader.integer("axis", 0), rank, "axis");
	const Extents list = reader.value(1).shape;

	reader.support(reader.failed() || reader.isConstant(1), "indices",
		       "are computed by the model; they have to be a constant");
	reader.support(list.size() <= 1, "indices",
		       fmt::format("are {}; a list of them is known", toString(list)));
	if (reader.failed())
		return;
	const std::vector<uint32_t> taken =
		chosenElements(reader, "indices", tensor.shape[axis], reader.wholeNumbers(1));
	if (list.empty() && !reader.failed()) {
		FileTensor one = tensor;
		Extents begin(rank, 0);
		begin[axis] = taken.front();
		one.shape[axis] = 1;
		one = reader.addBetween(Slice{ inValueOrder(tensor, begin), Extents(rank, 1) },
					{ tensor.id }, reader.same(tensor), one);
		Extents shape = tensor.shape;
		shape.erase(shape.begin() + axis);
		addReshape(reader, one, shape);
		return;
	}
	std::vector<std::vector<Part>> axes(rank);
	if (!reader.failed())
		axes[axis] = takenParts(reader, "indices", tensor.shape[axis], taken);
	addParts(reader, tensor, axes);
}

/* Of all axes, those that are not named among them: before each, then behind each. */
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

void readPad(NodeReader &reader)
{
	const FileTensor tensor = reader.plainInput(0);
	const size_t rank = tensor.shape.size();
	const std::vector<int64_t> pads = padsOf(reader, rank);
	const std::string mode = reader.text("mode", "constant");
	Extents before, after, shape;
	Pad pad;

	pad.value = reader.attribute("value") ? reader.number("value", 0) : reader.scalar(2, 0);
	reader.support(mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap",
		       "mode",
		       fmt::format("is {}; constant, reflect, edge and wrap are known", mode));
	if (reader.failed() ||
	    !reader.need(pads.size() == 2 * rank, "pads",
			 fmt::format("are {} numbers for {} axes", pads.size(), rank)))
		return;
	for (size_t axis = 0; axis < rank; axis++) {
		for (const int64_t number : { pads[axis], pads[axis + rank] })
			reader.support(number >= 0 && number < mostOfAxis, "pads",
				       fmt::format("{} elements", number));
		if (reader.failed())
			return;
		before.push_back(static_cast<uint32_t>(pads[axis]));
		after.push_back(static_cast<uint32_t>(pads[axis + rank]));
		shape.push_back(tensor.shape[axis] + before.back() + after.back());
	}
	if (mode != "constant") {
		std::vector<std::vector<Part>> axes;
		for (size_t axis = 0; axis < rank && !reader.failed(); axis++)
			axes.push_back(paddedParts(reader, "pads", mode, tensor.shape[axis],
						   before[axis], after[axis]));
		addParts(reader, repeatable(reader), axes);
		return;
	}
	pad.before = inValueOrder(tensor, before);
	pad.after = inValueOrder(tensor, after);
	reader.add(std::move(pad), { tensor.id }, reader.same(tensor), shape, tensor.order);
}

} /* namespace */

const NodeTable extentNodes = {
	{ "Expand", readExpand },
	{ "Gather", readGather },
	{ "Pad", readPad },
	{ "Tile", readTile },
};

} /* namespace nvdla::compiler::onnx */
