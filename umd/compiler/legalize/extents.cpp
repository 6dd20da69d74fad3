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

/* Index of the element that the padding has at index \a at, which is negative in front of the axis.
 * Mode "reflect" mirrors at the edge element, "symmetric" behind it. */
int64_t repeatedAt(const std::string &mode, int64_t at, int64_t extent)
{
	const int64_t edge = mode == "symmetric" ? 1 : 0;

	if (mode == "wrap")
		return (at + extent) % extent;
	if (mode == "edge")
		return std::clamp<int64_t>(at, 0, extent - 1);
	return at < 0 ? -at - edge : at < extent ? at : 2 * (extent - 1) + edge - at;
}

/* Parts of an axis whose concatenation is the padded axis; none if there is no padding. */
std::vector<Part> paddedParts(Builder &builder, const std::string &field, const std::string &mode,
			      uint32_t extent, uint32_t before, uint32_t after)
{
	std::vector<uint32_t> taken;

	if (before == 0 && after == 0)
		return {};
	builder.need(extent > 0, "input 0", "has no elements");
	const uint32_t most = mode == "wrap"   ? extent
			      : mode == "edge" ? mostParts
					       : std::min(extent - (mode == "reflect"), mostParts);
	builder.support(std::max(before, after) <= most, field,
			fmt::format("of {} and {} elements around {}, in mode {}; up to {} are "
				    "possible",
				    before, after, extent, mode, most));
	for (int64_t at = -int64_t{ before }; at < int64_t{ extent } + after; at++)
		taken.push_back(static_cast<uint32_t>(repeatedAt(mode, at, extent)));
	return takenParts(builder, field, extent, taken);
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
	std::vector<std::vector<Part>> axes(tensor.shape.size());

	builder.need(times.size() == tensor.shape.size(), field,
		     fmt::format("are {} numbers for {} axes", times.size(), tensor.shape.size()));
	for (size_t axis = 0; axis < times.size(); axis++) {
		builder.support(times[axis] >= 1 && times[axis] <= mostParts, field,
				fmt::format("repeats an axis {} times; up to {} are possible",
					    times[axis], mostParts));
		if (times[axis] > 1)
			axes[axis].assign(static_cast<size_t>(times[axis]),
					  { 0, tensor.shape[axis] });
	}
	return ofParts(builder, tensor, axes);
}

Tensor expand(Builder &builder, const Tensor &from, const std::vector<int64_t> &shape)
{
	const size_t rank = from.shape.size();
	std::vector<int64_t> times(rank, 1);

	builder.support(
		shape.size() <= rank, "shape",
		fmt::format("has {} axes, the input {}; reshape it before", shape.size(), rank));
	for (size_t i = 0; i < shape.size(); i++) {
		const size_t axis = rank - shape.size() + i;
		const uint32_t extent = from.shape[axis];
		builder.need(extent == 1 || shape[i] == 1 || shape[i] == extent, "shape",
			     fmt::format("makes {} of {} elements", shape[i], extent));
		if (extent == 1)
			times[axis] = shape[i];
	}
	return tile(builder, from, "shape", times);
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

Tensor pad(Builder &builder, const Tensor &from, const Padding &padding)
{
	const Tensor tensor = builder.plain(from);
	const size_t rank = tensor.shape.size();
	const std::string &field = padding.field, &mode = padding.mode;
	const AxisOrder all = asInFile(rank);
	const auto named = padding.axes.value_or(std::vector<int64_t>(all.begin(), all.end()));
	std::vector<std::vector<Part>> axes;
	Tensor padded = tensor;
	Extents before(rank), after(rank);

	builder.support(mode == "constant" || mode == "reflect" || mode == "symmetric" ||
				mode == "edge" || mode == "wrap",
			"mode",
			fmt::format("is {}; constant, reflect, edge and wrap are known", mode));
	builder.need(padding.before.size() == named.size() && padding.after.size() == named.size(),
		     field,
		     fmt::format("are {} numbers for {} axes",
				 padding.before.size() + padding.after.size(), named.size()));
	for (size_t i = 0; i < named.size(); i++) {
		const uint32_t axis = builder.axis(named[i], rank, "axes");
		for (const int64_t number : { padding.before[i], padding.after[i] })
			builder.support(number >= 0 && number < mostOfAxis, field,
					fmt::format("{} elements", number));
		before[axis] = static_cast<uint32_t>(padding.before[i]);
		after[axis] = static_cast<uint32_t>(padding.after[i]);
		padded.shape[axis] = tensor.shape[axis] + before[axis] + after[axis];
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
