/* SPDX-License-Identifier: MIT */
/*
 * Operators that move elements. Most change nothing but names of axes.
 */
#include <algorithm>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* Axes in the value's order that stand for \a several of the file's, those of one element first. */
AxisOrder orderOf(const Extents &shape, const AxisOrder &several)
{
	const AxisOrder usual = channelsLast(shape.size());
	AxisOrder order;

	if (severalOf(shape, usual) == several)
		return usual;
	for (uint32_t axis = 0; axis < shape.size(); axis++) {
		if (shape[axis] == 1)
			order.push_back(axis);
	}
	order.insert(order.end(), several.begin(), several.end());
	return order;
}

Extents sizesOf(const Extents &shape, const AxisOrder &axes)
{
	Extents sizes;

	for (const uint32_t axis : axes)
		sizes.push_back(shape[axis]);
	return sizes;
}

void readReshape(NodeReader &reader)
{
	const FileTensor tensor = reader.input(0);
	const std::vector<int64_t> wanted = reader.list(1, "shape");
	const bool zeroIsEmpty = reader.integer("allowzero", 0) != 0;
	const uint64_t elements = elementCount(tensor.shape);
	uint64_t known = 1;
	Extents shape;
	std::optional<size_t> open;

	for (const int64_t number : wanted) {
		const size_t axis = shape.size();
		const bool keeps = number == 0 && !zeroIsEmpty && axis < tensor.shape.size();
		reader.need(number >= -1 && number <= mostOfAxis && (number != -1 || !open),
			    "shape", fmt::format("has an axis of {}", number));
		if (reader.failed())
			return;
		if (number == -1)
			open = axis;
		shape.push_back(number == -1 ? 1
				: keeps	     ? tensor.shape[axis]
					     : static_cast<uint32_t>(number));
		known *= shape.back();
		if (!reader.need(known <= elements, "shape",
				 fmt::format("has more elements than {}", toString(tensor.shape))))
			return;
	}
	if (open && known)
		shape[*open] = static_cast<uint32_t>(elements / known);
	addReshape(reader, tensor, shape);
}

void readFlatten(NodeReader &reader)
{
	const FileTensor tensor = reader.input(0);
	const auto rank = static_cast<int64_t>(tensor.shape.size());
	const int64_t given = reader.integer("axis", 1);
	const int64_t axis = given < 0 ? given + rank : given;
	Extents shape{ 1, 1 };

	if (reader.failed() ||
	    !reader.need(axis >= 0 && axis <= rank, "axis", fmt::format("{} of {}", given, rank)))
		return;
	for (size_t i = 0; i < tensor.shape.size(); i++)
		shape[i < static_cast<size_t>(axis) ? 0 : 1] *= tensor.shape[i];
	addReshape(reader, tensor, shape);
}

void readSqueeze(NodeReader &reader)
{
	const FileTensor tensor = reader.input(0);
	std::vector<bool> taken(tensor.shape.size());
	const std::vector<int64_t> axes = reader.list(1, "axes");
	Extents shape;

	for (const int64_t number : axes) {
		const uint32_t axis = reader.axis(number, tensor.shape.size(), "axes");
		if (reader.failed())
			return;
		taken[axis] = true;
	}
	for (size_t axis = 0; axis < tensor.shape.size(); axis++) {
		const bool one = tensor.shape[axis] == 1;
		if (!(axes.empty() ? one : taken[axis]))
			shape.push_back(tensor.shape[axis]);
	}
	addReshape(reader, tensor, shape);
}

void readUnsqueeze(NodeReader &reader)
{
	const FileTensor tensor = reader.input(0);
	const std::vector<int64_t> axes = reader.list(1, "axes");
	const size_t rank = tensor.shape.size() + axes.size();
	std::vector<bool> added(rank);
	Extents shape;
	size_t from = 0;

	for (const int64_t number : axes) {
		const uint32_t axis = reader.axis(number, rank, "axes");
		if (reader.failed() || !reader.need(!added[axis], "axes", "name one twice"))
			return;
		added[axis] = true;
	}
	if (reader.failed())
		return;
	for (size_t axis = 0; axis < rank; axis++)
		shape.push_back(added[axis] ? 1 : tensor.shape[from++]);
	addReshape(reader, tensor, shape);
}

/* Other names for the same axes. */
void readTranspose(NodeReader &reader)
{
	const FileTensor tensor = reader.plainInput(0);
	const size_t rank = tensor.shape.size();
	std::vector<int64_t> given = reader.integers("perm");
	AxisOrder newName(rank);
	std::vector<bool> seen(rank);
	FileTensor result{ tensor.id, {}, {}, {} };

	for (size_t i = 0; given.size() < rank; i++)
		given.push_back(static_cast<int64_t>(rank - 1 - i));
	if (!reader.need(given.size() == rank, "perm", "does not name each axis"))
		return;
	for (size_t axis = 0; axis < rank; axis++) {
		const uint32_t from = reader.axis(given[axis], rank, "perm");
		if (reader.failed() || !reader.need(!seen[from], "perm", "names an axis twice"))
			return;
		seen[from] = true;
		newName[from] = static_cast<uint32_t>(axis);
		result.shape.push_back(tensor.shape[from]);
	}
	for (const uint32_t axis : tensor.order)
		result.order.push_back(newName[axis]);
	reader.alias(result);
}

void readConcat(NodeReader &reader)
{
	std::vector<FileTensor> tensors{ reader.input(0) };
	bool alike = true;

	for (size_t i = 1; i < reader.inputs(); i++)
		tensors.push_back(reader.input(i));
	if (reader.failed())
		return;
	for (const FileTensor &tensor : tensors)
		alike = alike && reader.same(tensor) == reader.same(tensors.front());
	addConcatenation(reader, tensors,
			 alike ? reader.same(tensors.front()) : reader.computed(tensors.front()));
}

/* Parts along an axis, one an output. */
void readSplit(NodeReader &reader)
{
	const FileTensor tensor = reader.plainInput(0);
	const size_t rank = tensor.shape.size();
	const uint32_t axis = reader.axis(reader.integer("axis", 0), rank, "axis");
	std::vector<int64_t> sizes = reader.list(1, "split");
	Extents begin(rank, 0);

	if (reader.failed())
		return;
	const auto parts = static_cast<uint32_t>(reader.outputs());
	const uint32_t each = (tensor.shape[axis] + parts - 1) / parts;
	for (uint32_t i = 0; sizes.size() < parts && i < parts; i++)
		sizes.push_back(std::min<int64_t>(each, int64_t{ tensor.shape[axis] } -
								int64_t{ i } * each));
	if (!reader.need(sizes.size() == parts, "split", "has not a size for each output"))
		return;
	for (uint32_t i = 0; i < parts; i++) {
		if (!reader.need(sizes[i] >= 1 && sizes[i] + begin[axis] <= tensor.shape[axis],
				 "split",
				 fmt::format("{} elements of {}", sizes[i], tensor.shape[axis])))
			return;
		Extents shape = tensor.shape;
		shape[axis] = static_cast<uint32_t>(sizes[i]);
		reader.add(Slice{ inValueOrder(tensor, begin), Extents(rank, 1) }, { tensor.id },
			   reader.same(tensor), shape, tensor.order, i);
		begin[axis] += shape[axis];
	}
}

void readSlice(NodeReader &reader)
{
	const FileTensor tensor = reader.plainInput(0);
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
		return;
	for (size_t i = 0; i < starts.size(); i++) {
		const uint32_t axis = reader.axis(axes[i], rank, "axes");
		if (reader.failed())
			return;
		const auto extent = static_cast<int64_t>(tensor.shape[axis]);
		auto place = [extent](int64_t at) {
			return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
		};
		const int64_t first = place(starts[i]), last = place(ends[i]);
		reader.support(steps[i] >= 1 && steps[i] <= mostOfAxis, "steps",
			       fmt::format("{}: only forward slices are known", steps[i]));
		reader.support(last > first, "ends", "leave nothing");
		if (reader.failed())
			return;
		begin[axis] = static_cast<uint32_t>(first);
		stride[axis] = static_cast<uint32_t>(steps[i]);
		shape[axis] = static_cast<uint32_t>((last - first - 1) / steps[i] + 1);
	}
	reader.add(Slice{ inValueOrder(tensor, begin), inValueOrder(tensor, stride) },
		   { tensor.id }, reader.same(tensor), shape, tensor.order);
}

} /* namespace */

Extents inValueOrder(const FileTensor &tensor, const Extents &numbers)
{
	Extents ordered;

	for (const uint32_t axis : tensor.order)
		ordered.push_back(numbers[axis]);
	return ordered;
}

void addConcatenation(NodeReader &reader, const std::vector<FileTensor> &tensors,
		      const ElementKind &elements)
{
	if (reader.failed() || !reader.need(!tensors.empty(), "inputs", "are missing"))
		return;
	const FileTensor first = reader.plain(tensors.front());
	const uint32_t axis = reader.axis(reader.integer("axis", 1), first.shape.size(), "axis");
	Extents shape = first.shape;
	std::vector<ValueId> ids;

	if (reader.failed())
		return;
	shape[axis] = 0;
	for (const FileTensor &tensor : tensors) {
		reader.support(!reader.value(tensor).isConstant, "inputs",
			       "are constants, some of them");
		if (reader.failed() || !reader.need(tensor.shape.size() == shape.size(), "inputs",
						    "have different axes"))
			return;
		ids.push_back(&tensor == &tensors.front() ? first.id
							  : reader.inOrder(tensor, first.order).id);
		shape[axis] += tensor.shape[axis];
	}
	const auto place = std::find(first.order.begin(), first.order.end(), axis);
	reader.add(Concatenation{ static_cast<uint32_t>(place - first.order.begin()), {} },
		   std::move(ids), elements, shape, first.order);
}

namespace
{

Value constantAs(NodeReader &reader, const Value &from, const Extents &shape)
{
	Value constant = from;

	reader.support(constant.quantization.values().size() <= 1, "input 0",
		       "is a constant with a scale for each channel");
	constant.shape = shape;
	return constant;
}

/* A flattened picture, whose elements stay where they are. */
FileTensor flattened(const FileTensor &tensor, const Extents &shape)
{
	std::vector<uint64_t> strides(tensor.shape.size(), 1);
	Extents extents;
	FileTensor flat{ 0, shape, asInFile(shape.size()) };

	for (size_t axis = tensor.shape.size() - 1; axis > 0; axis--)
		strides[axis - 1] = strides[axis] * tensor.shape[axis];
	for (const uint32_t axis : tensor.order)
		extents.push_back(tensor.shape[axis]);
	for (uint64_t i = 0; i < shape.back(); i++) {
		uint64_t rest = i, place = 0;
		for (size_t axis = tensor.order.size(); axis-- > 0;) {
			const uint32_t extent = tensor.shape[tensor.order[axis]];
			place += rest % extent * strides[tensor.order[axis]];
			rest /= extent;
		}
		flat.places.push_back(static_cast<uint32_t>(place));
	}
	flat.unflattened = turnedTo(tensor, extents, asInFile(tensor.shape.size()));
	return flat;
}

/* What a Reshape reads, and what it makes. */
struct Reshaping {
	FileTensor from;
	FileTensor to;
};

Reshaping reshapingOf(NodeReader &reader, const FileTensor &flat, const Extents &shape)
{
	const FileTensor tensor = reader.plain(flat);
	const AxisOrder from = severalOf(tensor.shape, tensor.order);
	const AxisOrder to = severalOf(shape, asInFile(shape.size()));

	/* Elements lie as in the file. */
	if (std::is_sorted(from.begin(), from.end()))
		return { tensor, { 0, shape, orderOf(shape, to) } };
	/* Only axes of one element come or go. */
	const AxisOrder old = severalOf(tensor.shape, asInFile(tensor.shape.size()));
	if (sizesOf(tensor.shape, old) == sizesOf(shape, to)) {
		AxisOrder several;
		for (const uint32_t axis : from)
			several.push_back(to[static_cast<size_t>(
				std::find(old.begin(), old.end(), axis) - old.begin())]);
		return { tensor, { 0, shape, orderOf(shape, several) } };
	}
	/* A batch may stay in front of what is flattened. */
	const bool keepsBatch = to.size() == 2 && to.front() == 0 && shape[0] == tensor.shape[0] &&
				tensor.order.front() == 0;
	if ((to.size() == 1 || keepsBatch) && to.back() + 1 == shape.size())
		return { tensor, flattened(tensor, shape) };
	/* The CPU brings the elements into the file's order. */
	const FileTensor inFile = reader.inOrder(tensor, asInFile(tensor.shape.size()));
	return { inFile, { 0, shape, orderOf(shape, to) } };
}

bool needSameCount(NodeReader &reader, const FileTensor &tensor, const Extents &shape)
{
	return !reader.failed() &&
	       reader.need(
		       elementCount(shape) == elementCount(tensor.shape), "shape",
		       fmt::format("{} cannot become {}", toString(tensor.shape), toString(shape)));
}

} /* namespace */

void addReshape(NodeReader &reader, const FileTensor &tensor, const Extents &shape)
{
	if (!needSameCount(reader, tensor, shape))
		return;
	if (reader.value(tensor).isConstant) {
		reader.become(constantAs(reader, reader.value(tensor), shape));
		return;
	}
	const Reshaping made = reshapingOf(reader, tensor, shape);
	reader.add(Reshape{}, { made.from.id }, reader.same(tensor), made.to);
}

FileTensor reshaped(NodeReader &reader, const FileTensor &tensor, const Extents &shape)
{
	if (!needSameCount(reader, tensor, shape))
		return {};
	if (reader.value(tensor).isConstant)
		return { reader.addConstant(constantAs(reader, reader.value(tensor), shape)), shape,
			 asInFile(shape.size()) };
	const Reshaping made = reshapingOf(reader, tensor, shape);
	return reader.addBetween(Reshape{}, { made.from.id }, reader.same(tensor), made.to);
}

const NodeTable layoutNodes = {
	{ "Concat", readConcat },	{ "Flatten", readFlatten },	{ "Reshape", readReshape },
	{ "Slice", readSlice },		{ "Split", readSplit },		{ "Squeeze", readSqueeze },
	{ "Transpose", readTranspose }, { "Unsqueeze", readUnsqueeze },
};

} /* namespace nvdla::compiler::onnx */
