/* SPDX-License-Identifier: MIT */
/*
 * Operators of TensorFlow Lite whose results have other axes than their inputs.
 */
#include <algorithm>

#include <fmt/core.h>

#include "operators.h"

namespace nvdla::compiler::tflite
{

void addInShape(OperatorReader &reader, Kind kind, ValueId input, const Extents &shape,
		ValueId output)
{
	const Extents wanted = reader.value(output).shape;

	if (reader.failed() || !reader.need(elementCount(wanted) == elementCount(shape), "output",
					    fmt::format("is {}, the operator makes {}",
							toString(wanted), toString(shape))))
		return;
	if (wanted == shape) {
		reader.add(std::move(kind), { input }, { output });
		return;
	}
	const ValueId between = reader.addBetween(output, shape);
	reader.add(std::move(kind), { input }, { between });
	reader.add(Reshape{}, { between }, { output });
}

namespace
{

/* One window over all lines, all columns, or both. */
void addReduction(OperatorReader &reader, Pool::Method method)
{
	const ValueId input = reader.input(0);
	Extents shape = reader.value(input).shape;
	Pool pool{ method, {}, {}, {}, false, {}, true };
	bool known = shape.size() == 4;

	reader.supportElements(input);
	const std::vector<int64_t> axes = reader.numbers(1);
	if (axes.size() == 1 && !shape.empty() &&
	    reader.axis(axes.front(), shape.size(), "axes") + 1 == shape.size()) {
		shape.back() = 1;
		addInShape(reader, ChannelReduction{ method }, input, shape, reader.output(0));
		return;
	}
	for (const int64_t number : axes) {
		const uint32_t axis = reader.axis(number, shape.size(), "axes");
		if (reader.failed())
			return;
		known = known && (axis == 1 || axis == 2);
		if (known)
			(axis == 1 ? pool.kernel.y : pool.kernel.x) = shape[axis];
	}
	if (!reader.support(known && !axes.empty(), "axes",
			    "are not height, width or both of a picture, nor its channels; reduce "
			    "one after the other, or transpose before it"))
		return;
	for (const int64_t number : axes)
		shape[reader.axis(number, shape.size(), "axes")] = 1;
	addInShape(reader, pool, input, shape, reader.output(0));
}

void readMean(OperatorReader &reader)
{
	const size_t rank = reader.value(reader.input(0)).shape.size();
	std::vector<uint32_t> axes;

	for (const int64_t number : reader.numbers(1))
		axes.push_back(reader.axis(number, rank, "axes"));
	std::sort(axes.begin(), axes.end());
	if (rank == 4 && axes == std::vector<uint32_t>{ 1, 2 })
		reader.add(GlobalAverage{});
	else
		addReduction(reader, Pool::Method::Average);
}

template<Pool::Method method>
void readReduction(OperatorReader &reader)
{
	addReduction(reader, method);
}

/* What a strided slice says of its input's axes, which its own list of entries is about. */
struct SliceEntries {
	std::vector<size_t> axes;    /* the entry of each axis; no entry: all of it */
	std::vector<bool> shrinks;   /* whether it falls away */
	std::vector<uint32_t> added; /* before which axis the output has one of one element */
};

constexpr size_t allOfAxis = SIZE_MAX;

SliceEntries entriesOf(OperatorReader &reader, const fb::StridedSliceOptions &options,
		       size_t entries, size_t rank)
{
	auto has = [](int32_t mask, size_t entry) { return (mask >> entry & 1) != 0; };
	SliceEntries result;
	size_t axesOfEntries = 0;

	for (size_t i = 0; i < entries; i++)
		axesOfEntries +=
			!has(options.ellipsis_mask(), i) && !has(options.new_axis_mask(), i);
	if (!reader.need(axesOfEntries <= rank, "begin",
			 fmt::format("is of {} axes, the input has {}", axesOfEntries, rank)))
		return result;
	for (size_t i = 0; i < entries; i++) {
		if (has(options.ellipsis_mask(), i)) {
			result.axes.insert(result.axes.end(), rank - axesOfEntries, allOfAxis);
			axesOfEntries = rank;
		} else if (has(options.new_axis_mask(), i)) {
			result.added.push_back(static_cast<uint32_t>(result.axes.size()));
		} else {
			result.axes.push_back(i);
		}
	}
	result.axes.resize(rank, allOfAxis);
	for (const size_t entry : result.axes)
		result.shrinks.push_back(entry != allOfAxis &&
					 has(options.shrink_axis_mask(), entry));
	return result;
}

/* What an axis is shrunk to is one element, whose axis then falls away; new ones are of one. */
void readStridedSlice(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_StridedSliceOptions);
	const Extents shape = reader.value(reader.input(0)).shape;
	const Extents out = reader.value(reader.output(0)).shape;
	const std::vector<int64_t> begin = reader.numbers(1);
	const std::vector<int64_t> stride = reader.numbers(3);
	constexpr size_t mostEntries = 16; /* a mask has 32 bits */
	Extents taken;
	Slice slice;

	if (reader.failed())
		return;
	reader.supportElements(reader.input(0));
	reader.need(begin.size() == stride.size(), "begin", "has not one number for each stride");
	reader.support(begin.size() <= mostEntries, "begin",
		       fmt::format("is of {} axes; {} are possible", begin.size(), mostEntries));
	if (reader.failed())
		return;
	const SliceEntries entries = entriesOf(reader, *options, begin.size(), shape.size());
	size_t left = 0;
	for (size_t axis = 0; axis < shape.size() && !reader.failed(); axis++) {
		const size_t entry = entries.axes[axis];
		const auto extent = static_cast<int64_t>(shape[axis]);
		const bool all = entry == allOfAxis;
		const int64_t step = all ? 1 : stride[entry];
		int64_t first = all ? 0 : begin[entry];
		first = first < 0 ? first + extent : first;
		first = all || (options->begin_mask() >> entry & 1)
				? 0
				: std::clamp<int64_t>(first, 0, extent);
		reader.support(step >= 1, "strides",
			       fmt::format("{}: only forward slices are known", step));
		left += static_cast<size_t>(
			std::count(entries.added.begin(), entries.added.end(), axis));
		reader.need(entries.shrinks[axis] || left < out.size(), "output",
			    "has too few axes");
		slice.begin.push_back(static_cast<uint32_t>(first));
		slice.stride.push_back(static_cast<uint32_t>(step));
		if (!reader.failed())
			taken.push_back(entries.shrinks[axis] ? 1 : out[left++]);
	}
	addInShape(reader, std::move(slice), reader.input(0), taken, reader.output(0));
}

/* Tensors side by side along an axis that they do not have. */
void readPack(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_PackOptions);
	const ValueId output = reader.output(0);
	Extents one = reader.value(output).shape;
	std::vector<ValueId> parts;

	if (reader.failed())
		return;
	const uint32_t axis = reader.axis(options->axis(), one.size(), "axis");
	if (reader.failed())
		return;
	one[axis] = 1;
	for (size_t i = 0; i < reader.inputs() && !reader.failed(); i++) {
		const ValueId input = reader.input(i);
		const Value &value = reader.value(input);
		reader.supportElements(input);
		reader.support(!value.isConstant, fmt::format("input {}", i),
			       "is a constant; concatenate it instead");
		reader.need(elementCount(value.shape) == elementCount(one), "inputs",
			    fmt::format("are not all {}", toString(one)));
		parts.push_back(reader.addBetween(input, one));
		reader.add(Reshape{}, { input }, { parts.back() });
	}
	reader.add(Concatenation{ axis, {} }, std::move(parts), { output });
}

/* The elements of an axis, one an output. */
void readUnpack(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_UnpackOptions);
	const ValueId input = reader.input(0);
	Extents one = reader.value(input).shape;

	if (reader.failed())
		return;
	const uint32_t axis = reader.axis(options->axis(), one.size(), "axis");
	if (reader.failed())
		return;
	reader.supportElements(input);
	reader.need(reader.outputs() == one[axis], "outputs",
		    fmt::format("are {} for {} elements", reader.outputs(), one[axis]));
	Slice slice{ Extents(one.size(), 0), Extents(one.size(), 1) };
	one[axis] = 1;
	for (size_t i = 0; i < reader.outputs() && !reader.failed(); i++) {
		slice.begin[axis] = static_cast<uint32_t>(i);
		addInShape(reader, slice, input, one, reader.output(i));
	}
}

using enum fb::BuiltinOperator;

} /* namespace */

const OperatorTable axisOperators = {
	{ MEAN, readMean },
	{ PACK, readPack },
	{ REDUCE_MAX, readReduction<Pool::Method::Max> },
	{ REDUCE_MIN, readReduction<Pool::Method::Min> },
	{ STRIDED_SLICE, readStridedSlice },
	{ SUM, readReduction<Pool::Method::Sum> },
	{ UNPACK, readUnpack },
};

} /* namespace nvdla::compiler::tflite */
