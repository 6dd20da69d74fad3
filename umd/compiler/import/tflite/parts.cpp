/* SPDX-License-Identifier: MIT */
/*
 * Operators of TensorFlow Lite that put parts of tensors together.
 */
#include <algorithm>

#include <fmt/core.h>

#include "compiler/import/parts.h"
#include "operators.h"

namespace nvdla::compiler::tflite
{

namespace
{

/* An axis as parts of it, one behind the other. */
void addParts(OperatorReader &reader, ValueId input, uint32_t axis, const std::vector<Part> &parts,
	      ValueId output)
{
	const Extents shape = reader.value(input).shape;
	std::vector<ValueId> ids;

	for (const Part &part : parts) {
		Slice slice{ Extents(shape.size(), 0), Extents(shape.size(), 1) };
		Extents one = shape;
		slice.begin[axis] = part.begin;
		one[axis] = part.count;
		ids.push_back(reader.addBetween(output, one));
		reader.add(std::move(slice), { input }, { ids.back() });
	}
	reader.add(Concatenation{ axis, {} }, std::move(ids), { output });
}

/* A constant of one number for each element of a shape, as \a choose makes it of an index. */
template<typename Choose>
ValueId addNumbers(OperatorReader &reader, const Extents &shape, const Choose &choose)
{
	std::vector<double> numbers;

	for (size_t i = 0; i < elementCount(shape); i++)
		numbers.push_back(choose(i));
	return reader.addConstant(floatConstant(numbers, shape));
}

} /* namespace */

void addAxesOfParts(OperatorReader &reader, const std::vector<std::vector<Part>> &axes)
{
	const auto changes = [](const std::vector<Part> &parts) { return !parts.empty(); };
	const auto last = static_cast<size_t>(
		std::find_if(axes.rbegin(), axes.rend(), changes).base() - axes.begin());
	ValueId input = reader.input(0);
	const ValueId output = reader.output(0);
	Extents shape = reader.value(input).shape;

	if (last == 0)
		reader.add(Reshape{}, { input }, { output });
	for (size_t axis = 0; axis < last && !reader.failed(); axis++) {
		if (axes[axis].empty())
			continue;
		shape[axis] = 0;
		for (const Part &part : axes[axis])
			shape[axis] += part.count;
		const ValueId made = axis + 1 == last ? output : reader.addBetween(output, shape);
		addParts(reader, input, static_cast<uint32_t>(axis), axes[axis], made);
		input = made;
	}
}

namespace
{

void readMirrorPad(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_MirrorPadOptions);
	const ValueId input = reader.input(0);
	const Extents shape = reader.value(input).shape;
	const std::vector<int64_t> pads = reader.numbers(1);
	std::vector<std::vector<Part>> axes;

	if (reader.failed() ||
	    !reader.need(pads.size() == 2 * shape.size(), "paddings",
			 fmt::format("are {} numbers for {} axes", pads.size(), shape.size())))
		return;
	reader.supportElements(input);
	const bool symmetric = options->mode() == fb::MirrorPadMode::SYMMETRIC;
	for (size_t axis = 0; axis < shape.size() && !reader.failed(); axis++) {
		for (const int64_t number : { pads[2 * axis], pads[2 * axis + 1] })
			reader.need(number >= 0 && number < 1 << 20, "paddings",
				    fmt::format("{} elements", number));
		axes.push_back(paddedParts(reader, "paddings", symmetric ? "symmetric" : "reflect",
					   shape[axis], static_cast<uint32_t>(pads[2 * axis]),
					   static_cast<uint32_t>(pads[2 * axis + 1])));
	}
	addAxesOfParts(reader, axes);
}

void readTile(OperatorReader &reader)
{
	const ValueId input = reader.input(0);
	const Extents shape = reader.value(input).shape;
	const std::vector<int64_t> times = reader.numbers(1);
	std::vector<std::vector<Part>> axes;

	reader.supportElements(input);
	if (reader.failed() ||
	    !reader.need(times.size() == shape.size(), "multiples",
			 fmt::format("are {} numbers for {} axes", times.size(), shape.size())))
		return;
	for (size_t axis = 0; axis < shape.size(); axis++)
		axes.push_back(repeatedParts(reader, "multiples", shape[axis], times[axis]));
	addAxesOfParts(reader, axes);
}

/* By constant indices along an axis; a single one, without an axis of its own, takes that away. */
void readGather(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_GatherOptions);
	const ValueId input = reader.input(0), output = reader.output(0);
	const Extents shape = reader.value(input).shape;
	const std::vector<int64_t> indices = reader.numbers(1);

	reader.supportElements(input);
	if (reader.failed())
		return;
	const uint32_t axis = reader.axis(options->axis(), shape.size(), "axis");
	const Extents &list = reader.value(reader.input(1)).shape;
	reader.support(options->batch_dims() == 0, "batch_dims",
		       fmt::format("is {}; gather each sample's by itself", options->batch_dims()));
	reader.support(list.size() <= 1, "indices",
		       fmt::format("are {}; a list of them is known", toString(list)));
	if (reader.failed())
		return;
	for (const int64_t index : indices)
		reader.need(index >= 0, "indices", fmt::format("name element {}", index));
	const std::vector<uint32_t> taken = chosenElements(reader, "indices", shape[axis], indices);
	if (reader.failed())
		return;
	if (list.empty()) {
		Slice slice{ Extents(shape.size(), 0), Extents(shape.size(), 1) };
		Extents one = shape;
		slice.begin[axis] = taken.front();
		one[axis] = 1;
		addInShape(reader, std::move(slice), input, one, output);
		return;
	}
	std::vector<std::vector<Part>> axes(shape.size());
	axes[axis] = takenParts(reader, "indices", shape[axis], taken);
	addAxesOfParts(reader, axes);
}

/* With a constant condition: products with ones and zeros, and their sum. */
void readSelect(OperatorReader &reader)
{
	const Value condition = reader.constant(0);
	const ValueId output = reader.output(0);
	const Extents shape = reader.value(output).shape;
	const std::vector<double> mask =
		repeatedNumbers(rawNumbers(condition), condition.shape, shape);
	std::vector<ValueId> parts;

	reader.support(reader.failed() || !mask.empty(), "condition",
		       fmt::format("is {} for {}", toString(condition.shape), toString(shape)));
	for (const size_t input : { 1U, 2U }) {
		const ValueId id = reader.input(input);
		const Value x = reader.value(id);
		reader.supportElements(id);
		auto chosen = [&](size_t i) { return (mask[i] != 0) == (input == 1); };
		if (reader.failed())
			return;
		if (x.isConstant) {
			const auto numbers = repeatedNumbers(realNumbers(x), x.shape, shape);
			if (!reader.support(!numbers.empty(), fmt::format("input {}", input),
					    fmt::format("is {} for {}", toString(x.shape),
							toString(shape))))
				return;
			/* What is not chosen may be infinite. */
			parts.push_back(addNumbers(reader, shape, [&](size_t i) {
				return chosen(i) ? numbers[i] : 0;
			}));
			continue;
		}
		reader.support(x.shape == shape, fmt::format("input {}", input),
			       fmt::format("is {}; what is computed has to have the output's "
					   "shape, {}",
					   toString(x.shape), toString(shape)));
		const ValueId ones =
			addNumbers(reader, shape, [&](size_t i) { return chosen(i) ? 1 : 0; });
		parts.push_back(reader.addBetween(output, shape));
		reader.add(Elementwise{ Elementwise::Function::Multiply, {} }, { id, ones },
			   { parts.back() });
	}
	if (reader.failed())
		return;
	reader.support(!reader.value(parts[0]).isConstant || !reader.value(parts[1]).isConstant,
		       "inputs", "are constants, all of them");
	reader.add(Elementwise{ Elementwise::Function::Add, {} }, parts, { output });
}

using enum fb::BuiltinOperator;

} /* namespace */

const OperatorTable partOperators = {
	{ GATHER, readGather }, { MIRROR_PAD, readMirrorPad },
	{ SELECT, readSelect }, { SELECT_V2, readSelect },
	{ TILE, readTile },
};

} /* namespace nvdla::compiler::tflite */
