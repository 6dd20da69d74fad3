/* SPDX-License-Identifier: MIT */
/*
 * Operators that bring the mean of numbers to 0 and their variance to 1.
 */
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

double epsilonOf(NodeReader &reader)
{
	return reader.number("epsilon", 1e-5);
}

/* A constant input and what is done with it; before it nothing is done. */
struct Factor {
	Elementwise::Function function;
	ValueId constant;
};

/* Scale and shift, a number for each element of an axis of what is normalized. */
std::vector<Factor> factorsOf(NodeReader &reader, const FileTensor &made, uint32_t axis)
{
	std::vector<Factor> factors;

	if (reader.failed())
		return {};
	const uint32_t count = made.shape[axis];
	for (const auto &[input, function] : { std::pair{ 1U, Elementwise::Function::Multiply },
					       std::pair{ 2U, Elementwise::Function::Add } }) {
		if (input == 2 && !reader.hasInput(input))
			continue;
		const Value &one = reader.constant(input);
		if (!reader.need(elementCount(one.shape) == count, "scale",
				 fmt::format("or bias is {} for {} channels", toString(one.shape),
					     count)) ||
		    reader.failed())
			return {};
		factors.push_back({ function, reader.addAlong(made, axis, realNumbers(one)) });
	}
	return factors;
}

/* What is normalized, times a scale and plus a shift for each channel, is the result. */
void finishScaled(NodeReader &reader, FileTensor x, const std::vector<Factor> &factors)
{
	const ElementKind elements = reader.computed(x);

	for (size_t i = 0; i < factors.size() && !reader.failed(); i++) {
		const Elementwise step{ factors[i].function, {} };
		const std::vector<ValueId> inputs{ x.id, factors[i].constant };
		if (i + 1 == factors.size())
			reader.add(step, inputs, elements, x);
		else
			x = reader.addBetween(step, inputs, elements, x);
	}
}

/* Each row with a mean of 0 and a variance of 1. */
FileTensor standardized(NodeReader &reader, const FileTensor &rows)
{
	return reader.addBetween(Standardization{ epsilonOf(reader) }, { rows.id },
				 reader.computed(rows), rows);
}

/* The mean of each row and the reciprocal of its width, for who wants them, too. */
void addMoments(NodeReader &reader, const Rows &all)
{
	constexpr size_t meanAt = 1, widthAt = 2;
	const ChannelReduction mean{ Pool::Method::Average };

	if (reader.failed() || (!reader.hasOutput(meanAt) && !reader.hasOutput(widthAt)))
		return;
	const ElementKind elements = reader.computed(all.rows);
	const FileTensor means = reader.addBetween(mean, { all.rows.id }, elements, all.reduced);
	if (reader.hasOutput(meanAt))
		reader.add(Reshape{}, { means.id }, elements, all.kept.shape, all.kept.order,
			   meanAt);
	if (!reader.hasOutput(widthAt))
		return;
	const FileTensor centered =
		reader.addBetween(Elementwise{ Elementwise::Function::Subtract, {} },
				  { all.rows.id, means.id }, elements, all.rows);
	const FileTensor squares = reader.addBetween(Unary{ Unary::Function::Square },
						     { centered.id }, elements, all.rows);
	const FileTensor variance = reader.addBetween(mean, { squares.id }, elements, all.reduced);
	const ValueId epsilon = reader.addNumber(epsilonOf(reader));
	const FileTensor more = reader.addBetween(Elementwise{ Elementwise::Function::Add, {} },
						  { variance.id, epsilon }, elements, all.reduced);
	const FileTensor widths = reader.addBetween(Unary{ Unary::Function::Power, -0.5, {} },
						    { more.id }, elements, all.reduced);
	reader.add(Reshape{}, { widths.id }, elements, all.kept.shape, all.kept.order, widthAt);
}

/* Several axes are normalized as one, in the file's order. */
void readLayerNormalization(NodeReader &reader)
{
	const FileTensor x = reader.input(0);
	AxisOrder axes = asInFile(x.shape.size());
	const uint32_t first = reader.axis(reader.integer("axis", -1), axes.size(), "axis");

	if (reader.failed())
		return;
	axes.erase(axes.begin(), axes.begin() + first);
	const Rows all = rowsOf(reader, x, axes);
	if (reader.failed())
		return;
	const std::vector<Factor> factors = factorsOf(reader, all.rows, all.rows.order.back());
	FileTensor made = standardized(reader, all.rows);
	if (axes.size() == 1) {
		finishScaled(reader, made, factors);
	} else {
		for (const Factor &factor : factors)
			made = reader.addBetween(Elementwise{ factor.function, {} },
						 { made.id, factor.constant },
						 reader.computed(made), made);
		reader.add(Reshape{}, { made.id }, reader.same(made), all.turned);
	}
	addMoments(reader, all);
}

/* Of each channel by itself. */
void readInstanceNormalization(NodeReader &reader)
{
	const FileTensor x = reader.picture(0);

	if (reader.failed())
		return;
	const Rows all = rowsOf(reader, x, { 2, 3 });
	const FileTensor made = standardized(reader, all.rows);
	const FileTensor turned =
		reader.addBetween(Reshape{}, { made.id }, reader.same(made), all.turned);
	finishScaled(reader, reader.inOrder(turned, x.order), factorsOf(reader, x, 1));
}

/* Of channels side by side together; until version 21 groups have a scale, then channels. */
void readGroupNormalization(NodeReader &reader)
{
	constexpr int64_t scalesChannels = 21;
	const FileTensor x = reader.picture(0);
	const int64_t groups = reader.integer("num_groups", 0);

	if (reader.failed() ||
	    !reader.need(groups >= 1 && groups <= x.shape[1] && x.shape[1] % groups == 0,
			 "num_groups", fmt::format("is {} for {} channels", groups, x.shape[1])))
		return;
	const auto count = static_cast<uint32_t>(groups);
	const FileTensor inFile = reader.inOrder(x, asInFile(4));
	const uint64_t each = elementCount(x.shape) / x.shape[0] / count;
	if (!reader.support(each <= mostOfAxis, "input 0",
			    fmt::format("has groups of {} elements", each)))
		return;
	const FileTensor groupRows{
		0, { x.shape[0], count, static_cast<uint32_t>(each) }, asInFile(3), {}
	};
	const FileTensor rows =
		reader.addBetween(Reshape{}, { inFile.id }, reader.same(inFile), groupRows);
	const FileTensor made = standardized(reader, rows);
	const FileTensor turned =
		reader.addBetween(Reshape{}, { made.id }, reader.same(made), inFile);
	const bool ofGroups = reader.version() < scalesChannels &&
			      elementCount(reader.constant(1).shape) == count && count > 1;
	if (!reader.support(!ofGroups || count == x.shape[1], "scale",
			    "is one number for each group; give one for each channel"))
		return;
	finishScaled(reader, reader.inOrder(turned, x.order), factorsOf(reader, x, 1));
}

} /* namespace */

const NodeTable normalizationNodes = {
	{ "GroupNormalization", readGroupNormalization },
	{ "InstanceNormalization", readInstanceNormalization },
	{ "LayerNormalization", readLayerNormalization },
};

} /* namespace nvdla::compiler::onnx */
