/* SPDX-License-Identifier: MIT */
/*
 * Operators that change a tensor's axes, pad it, select elements of it, or repeat it.
 */
#include <algorithm>

#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

/*
 * Parts of an axis that are its padding, around the axis itself. The mode symmetric is a
 * reflection that repeats the edge. Returns no parts without padding.
 */
std::vector<Part> paddedParts(Builder &builder, const std::string &field, const std::string &mode,
			      uint32_t extent, uint32_t before, uint32_t after)
{
	const bool wraps = mode == "wrap", edge = mode == "edge", twice = mode == "symmetric";
	std::vector<Part> parts;

	if (before == 0 && after == 0)
		return {};
	builder.need(extent > 0, "input 0", "has no elements");
	const uint32_t pieces = wraps ? 2 : std::max(before, after);
	const uint32_t most = wraps || twice ? extent : edge ? mostParts : extent - 1;
	builder.support(std::max(before, after) <= most && pieces <= mostParts / 2, field,
			fmt::format("of {} and {} elements around {}, in mode {}; up to {} are "
				    "possible",
				    before, after, extent, mode,
				    wraps ? extent : std::min(most, mostParts / 2)));
	if (wraps && before)
		parts.push_back({ extent - before, before });
	for (uint32_t i = before; !wraps && i > 0; i--)
		parts.push_back({ edge ? 0 : twice ? i - 1 : i, 1 });
	parts.push_back({ 0, extent });
	for (uint32_t i = 1; !wraps && i <= after; i++)
		parts.push_back({ edge ? extent - 1 : twice ? extent - i : extent - 1 - i, 1 });
	if (wraps && after)
		parts.push_back({ 0, after });
	return parts;
}

/* Parts that repeat an axis; none for a single repetition. */
std::vector<Part> repeatedParts(Builder &builder, const std::string &field, uint32_t extent,
				int64_t times)
{
	builder.support(
		times >= 1 && times <= mostParts, field,
		fmt::format("repeats an axis {} times; up to {} are possible", times, mostParts));
	if (times == 1)
		return {};
	return std::vector<Part>(static_cast<size_t>(times), { 0, extent });
}

/* Padding with numbers for all axes, 0 for those without any. */
Padding ofAllAxes(Builder &builder, Padding padding, size_t rank)
{
	const std::vector<int64_t> axes = padding.axes.value_or(std::vector<int64_t>{});

	if (!padding.axes)
		return padding;
	builder.need(padding.before.size() == axes.size() && padding.after.size() == axes.size(),
		     padding.field,
		     fmt::format("are {} numbers for {} axes",
				 padding.before.size() + padding.after.size(), axes.size()));
	for (std::vector<int64_t> *side : { &padding.before, &padding.after }) {
		const std::vector<int64_t> numbers = *side;
		side->assign(rank, 0);
		for (size_t i = 0; i < axes.size(); i++)
			(*side)[builder.axis(axes[i], rank, "axes")] = numbers[i];
	}
	return padding;
}

} /* namespace */

std::vector<Part> takenParts(Builder &builder, const std::string &field, uint32_t extent,
			     const std::vector<uint32_t> &taken)
{
	std::vector<Part> parts;

	for (const uint32_t element : taken) {
		if (!parts.empty() && parts.back().begin + parts.back().count == element)
			parts.back().count++;
		else
			parts.push_back({ element, 1 });
	}
	if (parts.size() == 1 && parts.front().count == extent)
		return {};
	builder.support(!parts.empty() && parts.size() <= mostParts, field,
			fmt::format("takes {} parts of {} elements; up to {} are possible",
				    parts.size(), extent, mostParts));
	return parts;
}

Tensor reshaped(Builder &builder, const Tensor &tensor, const std::vector<int64_t> &numbers,
		bool zeroKeeps)
{
	constexpr int64_t most = 1 << 28;
	const uint64_t elements = elementCount(tensor.shape);
	uint64_t known = 1;
	Extents shape;
	std::optional<size_t> open;

	for (const int64_t number : numbers) {
		const size_t axis = shape.size();
		const bool keeps = number == 0 && zeroKeeps && axis < tensor.shape.size();
		builder.need(number >= -1 && number <= most && (number != -1 || !open), "shape",
			     fmt::format("has an axis of {}", number));
		if (number == -1)
			open = axis;
		shape.push_back(number == -1 ? 1
				: keeps	     ? tensor.shape[axis]
					     : static_cast<uint32_t>(number));
		known *= shape.back();
		builder.need(known <= elements, "shape",
			     fmt::format("has more elements than {}", toString(tensor.shape)));
	}
	if (open && known)
		shape[*open] = static_cast<uint32_t>(elements / known);
	return builder.reshaped(tensor, shape);
}

Tensor flattenedAt(Builder &builder, const Tensor &tensor, int64_t given)
{
	const auto rank = static_cast<int64_t>(tensor.shape.size());
	const int64_t axis = given < 0 ? given + rank : given;
	Extents shape{ 1, 1 };

	builder.need(axis >= 0 && axis <= rank, "axis", fmt::format("{} of {}", given, rank));
	for (size_t i = 0; i < tensor.shape.size(); i++)
		shape[i < static_cast<size_t>(axis) ? 0 : 1] *= tensor.shape[i];
	return builder.reshaped(tensor, shape);
}

Tensor squeezed(Builder &builder, const Tensor &tensor, const std::vector<int64_t> &axes)
{
	const AxisOrder named = builder.sortedAxes(axes, tensor.shape.size());
	Extents shape;

	for (uint32_t axis = 0; axis < tensor.shape.size(); axis++) {
		if (axes.empty() ? tensor.shape[axis] != 1 : !std::ranges::count(named, axis))
			shape.push_back(tensor.shape[axis]);
	}
	return builder.reshaped(tensor, shape);
}

Tensor unsqueezed(Builder &builder, const Tensor &tensor, const std::vector<int64_t> &axes)
{
	const AxisOrder added = builder.sortedAxes(axes, tensor.shape.size() + axes.size());
	Extents shape = tensor.shape;

	builder.need(added.size() == axes.size(), "axes", "name one twice");
	for (const uint32_t axis : added)
		shape.insert(shape.begin() + axis, 1);
	return builder.reshaped(tensor, shape);
}

Tensor slice(Builder &builder, const Tensor &tensor, Cuts cuts)
{
	const size_t rank = tensor.shape.size(), count = cuts.starts.size();
	Extents begin(rank, 0), stride(rank, 1), shape = tensor.shape;

	for (size_t i = 0; cuts.axes.size() < count && i < count; i++)
		cuts.axes.push_back(static_cast<int64_t>(i));
	cuts.steps.resize(cuts.steps.empty() ? count : cuts.steps.size(), 1);
	builder.need(cuts.ends.size() == count && cuts.axes.size() == count &&
			     cuts.steps.size() == count,
		     "starts", "and ends, axes and steps are of different numbers");
	for (size_t i = 0; i < count; i++) {
		const uint32_t axis = builder.axis(cuts.axes[i], rank, "axes");
		const int64_t extent = tensor.shape[axis], step = cuts.steps[i];
		const int64_t first = placeWithin(cuts.starts[i], extent);
		const int64_t last = placeWithin(cuts.ends[i], extent);
		builder.support(step >= 1 && step <= mostOfAxis, "steps",
				fmt::format("{}: only forward slices are known", step));
		builder.support(last > first || builder.isConstant(tensor), "ends",
				"leave nothing");
		begin[axis] = static_cast<uint32_t>(first);
		stride[axis] = static_cast<uint32_t>(step);
		shape[axis] =
			static_cast<uint32_t>(last > first ? (last - first - 1) / step + 1 : 0);
	}
	return slice(builder, tensor, begin, stride, shape);
}

Tensor tile(Builder &builder, const Tensor &from, const std::string &field,
	    const std::vector<int64_t> &times)
{
	const Tensor tensor = builder.plain(builder.needComputed(from));
	std::vector<std::vector<Part>> axes;

	builder.need(times.size() == tensor.shape.size(), field,
		     fmt::format("are {} numbers for {} axes", times.size(), tensor.shape.size()));
	for (size_t axis = 0; axis < tensor.shape.size(); axis++)
		axes.push_back(repeatedParts(builder, field, tensor.shape[axis], times[axis]));
	return ofParts(builder, tensor, axes);
}

Tensor expand(Builder &builder, const Tensor &from, const std::vector<int64_t> &shape)
{
	const Tensor tensor = builder.plain(builder.needComputed(from));
	const size_t rank = tensor.shape.size();
	std::vector<std::vector<Part>> axes(rank);

	builder.support(
		shape.size() <= rank, "shape",
		fmt::format("has {} axes, the input {}; reshape it before", shape.size(), rank));
	for (size_t i = 0; i < shape.size(); i++) {
		const size_t axis = rank - shape.size() + i;
		const uint32_t extent = tensor.shape[axis];
		builder.need(extent == 1 || shape[i] == 1 || shape[i] == extent, "shape",
			     fmt::format("makes {} of {} elements", shape[i], extent));
		if (extent == 1)
			axes[axis] = repeatedParts(builder, "shape", extent, shape[i]);
	}
	return ofParts(builder, tensor, axes);
}

Tensor gather(Builder &builder, const Tensor &from, int64_t along, const Value &indices)
{
	const Tensor tensor = builder.plain(from);
	const size_t rank = tensor.shape.size();
	const uint32_t axis = builder.axis(along, rank, "axis");
	std::vector<std::vector<Part>> axes(rank);
	std::vector<uint32_t> taken;

	builder.support(indices.isConstant, "indices",
			"are computed by the model; they have to be a constant");
	builder.support(indices.shape.size() <= 1, "indices",
			fmt::format("are {}; a list of them is known", toString(indices.shape)));
	for (const int64_t number : wholeNumbers(indices))
		taken.push_back(builder.axis(number, tensor.shape[axis], "indices", "element"));
	builder.need(!taken.empty(), "indices", "are no whole numbers");
	if (indices.shape.empty())
		return squeezed(builder, part(builder, tensor, axis, { taken.front(), 1 }),
				{ axis });
	axes[axis] = takenParts(builder, "indices", tensor.shape[axis], taken);
	return ofParts(builder, tensor, axes);
}

Tensor pad(Builder &builder, const Tensor &from, const Padding &given)
{
	const Padding padding = ofAllAxes(builder, given, from.shape.size());
	const Tensor tensor = builder.plain(from);
	const size_t rank = tensor.shape.size();
	const std::string &field = padding.field, &mode = padding.mode;
	std::vector<std::vector<Part>> axes;
	Tensor padded = tensor;
	Extents before, after;

	builder.support(mode == "constant" || mode == "reflect" || mode == "symmetric" ||
				mode == "edge" || mode == "wrap",
			"mode",
			fmt::format("is {}; constant, reflect, edge and wrap are known", mode));
	builder.need(padding.before.size() == rank && padding.after.size() == rank, field,
		     fmt::format("are {} numbers for {} axes",
				 padding.before.size() + padding.after.size(), rank));
	for (size_t axis = 0; axis < rank; axis++) {
		for (const int64_t number : { padding.before[axis], padding.after[axis] })
			builder.support(number >= 0 && number < mostOfAxis, field,
					fmt::format("{} elements", number));
		before.push_back(static_cast<uint32_t>(padding.before[axis]));
		after.push_back(static_cast<uint32_t>(padding.after[axis]));
		padded.shape[axis] += before.back() + after.back();
	}
	if (mode == "constant")
		return builder.move(Pad{ inValueOrder(tensor, before), inValueOrder(tensor, after),
					 padding.value },
				    tensor, padded);
	for (size_t axis = 0; axis < rank; axis++)
		axes.push_back(paddedParts(builder, field, mode, tensor.shape[axis], before[axis],
					   after[axis]));
	return ofParts(builder, builder.needComputed(tensor), axes);
}

} /* namespace nvdla::compiler::legalize */
