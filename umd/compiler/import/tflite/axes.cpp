/* SPDX-License-Identifier: MIT */
/*
 * Operators of TensorFlow Lite whose results have other axes than their inputs.
 */
#include <algorithm>

#include <fmt/core.h>

#include "operators.h"

namespace nvdla::compiler::tflite
{

namespace
{

/* Add an operator that makes \a shape of the elements that the output has in its own. */
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

/* One window over all lines, all columns, or both. */
void addReduction(OperatorReader &reader, Pool::Method method)
{
	const ValueId input = reader.input(0);
	Extents shape = reader.value(input).shape;
	Pool pool{ method, {}, {}, {}, false, {} };
	bool known = shape.size() == 4;

	reader.supportElements(input);
	const std::vector<int64_t> axes = reader.numbers(1);
	for (const int64_t number : axes) {
		const uint32_t axis = reader.axis(number, shape.size(), "axes");
		if (reader.failed())
			return;
		known = known && (axis == 1 || axis == 2);
		if (known)
			(axis == 1 ? pool.kernel.y : pool.kernel.x) = shape[axis];
	}
	if (!reader.support(known && !axes.empty(), "axes",
			    "are not height or width of a picture, the only ones that are known; "
			    "of channels use a convolution, or transpose before it"))
		return;
	for (const int64_t number : axes)
		shape[reader.axis(number, shape.size(), "axes")] = 1;
	addInShape(reader, pool, input, shape, reader.output(0));
}

} /* namespace */

void readMean(OperatorReader &reader)
{
	const size_t rank = reader.value(reader.input(0)).shape.size();
	std::vector<uint32_t> axes;

	for (const int64_t number : reader.numbers(1))
		axes.push_back(reader.axis(number, rank, "axes"));
	std::sort(axes.begin(), axes.end());
	if (rank == 4 && axes == std::vector<uint32_t>{ 1, 2 })
		reader.add(GlobalAverage{}, { reader.input(0) }, { reader.output(0) });
	else
		addReduction(reader, Pool::Method::Average);
}

void readSum(OperatorReader &reader)
{
	addReduction(reader, Pool::Method::Sum);
}

void readReduceMax(OperatorReader &reader)
{
	addReduction(reader, Pool::Method::Max);
}

/* What an axis is shrunk to is one element, whose axis then falls away. */
void readStridedSlice(OperatorReader &reader)
{
	const auto *options =
		reader.options<fb::StridedSliceOptions>(fb::BuiltinOptions::StridedSliceOptions);
	const Extents shape = reader.value(reader.input(0)).shape;
	const Extents out = reader.value(reader.output(0)).shape;
	const std::vector<int64_t> begin = reader.numbers(1);
	const std::vector<int64_t> stride = reader.numbers(3);
	Extents taken;
	size_t left = 0;
	Slice slice;

	if (reader.failed())
		return;
	reader.supportElements(reader.input(0));
	reader.support(options->ellipsis_mask() == 0 && options->new_axis_mask() == 0, "masks",
		       "add axes or leave some out; slice and reshape instead");
	reader.need(begin.size() == shape.size() && stride.size() == shape.size(), "begin",
		    "is not one number for each axis");
	constexpr size_t mostAxes = 8; /* a mask has 32 bits */
	reader.support(shape.size() <= mostAxes, "input 0",
		       fmt::format("has {} axes; {} are possible", shape.size(), mostAxes));
	for (size_t i = 0; i < shape.size() && !reader.failed(); i++) {
		const auto extent = static_cast<int64_t>(shape[i]);
		const bool shrinks = options->shrink_axis_mask() >> i & 1;
		int64_t first = begin[i] < 0 ? begin[i] + extent : begin[i];
		first = options->begin_mask() >> i & 1 ? 0 : std::clamp<int64_t>(first, 0, extent);
		reader.support(stride[i] >= 1, "strides",
			       fmt::format("{}: only forward slices are known", stride[i]));
		reader.need(shrinks || left < out.size(), "output", "has too few axes");
		slice.begin.push_back(static_cast<uint32_t>(first));
		slice.stride.push_back(static_cast<uint32_t>(stride[i]));
		if (!reader.failed())
			taken.push_back(shrinks ? 1 : out[left++]);
	}
	addInShape(reader, std::move(slice), reader.input(0), taken, reader.output(0));
}

/* Tensors side by side along an axis that they do not have. */
void readPack(OperatorReader &reader)
{
	const auto *options = reader.options<fb::PackOptions>(fb::BuiltinOptions::PackOptions);
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
	const auto *options = reader.options<fb::UnpackOptions>(fb::BuiltinOptions::UnpackOptions);
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

} /* namespace nvdla::compiler::tflite */
