/* SPDX-License-Identifier: MIT */
/*
 * Operators that look at all channels, or move elements between channels and the picture.
 */
#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* Indices are integers of 16 bits here, whatever the file has. */
void addArgMax(NodeReader &reader, const FileTensor &x, uint32_t axis)
{
	reader.support(reader.integer("select_last_index", 0) == 0, "select_last_index",
		       "is set; the first of several is known");
	addReduced(reader, ArgMax{}, x, axis, { ElementType::Int16, Quantization{ 1, 0 } });
}

void readArgMax(NodeReader &reader)
{
	const uint32_t axis =
		reader.axis(reader.integer("axis", 0), reader.input(0).shape.size(), "axis");

	addArgMax(reader, withAxisLast(reader, axis), axis);
}

/* The largest of the negative numbers. */
void readArgMin(NodeReader &reader)
{
	const uint32_t axis =
		reader.axis(reader.integer("axis", 0), reader.input(0).shape.size(), "axis");
	const FileTensor x = withAxisLast(reader, axis);
	const ValueId factor = reader.addConstant(floatConstant({ -1 }, { 1 }));

	if (reader.failed())
		return;
	reader.addBefore(Elementwise{ Elementwise::Function::Multiply, {} }, { x.id, factor },
			 reader.computed(x), x,
			 [&](const FileTensor &negative) { addArgMax(reader, negative, axis); });
}

/* The norm of all channels is 1 then. */
void readLpNormalization(NodeReader &reader)
{
	const uint32_t axis =
		reader.axis(reader.integer("axis", -1), reader.input(0).shape.size(), "axis");
	const FileTensor x = withAxisLast(reader, axis);

	reader.support(reader.integer("p", 2) == 2, "p", "is not 2");
	reader.add(Normalization{}, { x.id }, reader.computed(x), x);
}

/* A function of a tensor and constants, which has its shape. */
struct Step {
	Kind kind;
	std::vector<ValueId> constants;
};

/* Functions one behind the other; what \a rest makes of it is the result, or the last one's. */
void addSteps(NodeReader &reader, const FileTensor &x, std::span<const Step> steps,
	      const std::function<void(const FileTensor &)> &rest)
{
	const ElementKind elements = reader.computed(x);
	const Step &first = steps.front();
	std::vector<ValueId> inputs{ x.id };

	inputs.insert(inputs.end(), first.constants.begin(), first.constants.end());
	if (steps.size() > 1)
		reader.addBefore(first.kind, inputs, elements, x, [&](const FileTensor &made) {
			addSteps(reader, made, steps.subspan(1), rest);
		});
	else if (rest)
		reader.addBefore(first.kind, inputs, elements, x, rest);
	else
		reader.add(first.kind, inputs, elements, x);
}

/* What is normalized along the last axis, times a scale and plus a shift for each element there. */
void addScaledStandardization(NodeReader &reader, const FileTensor &x,
			      const std::function<void(const FileTensor &)> &rest = {})
{
	std::vector<Step> steps{ { Standardization{ reader.number("epsilon", 1e-5) }, {} } };

	if (reader.failed())
		return;
	const uint32_t channels = x.shape[x.order.back()];
	for (const auto &[input, function] : { std::pair{ 1U, Elementwise::Function::Multiply },
					       std::pair{ 2U, Elementwise::Function::Add } }) {
		if (input == 2 && !reader.hasInput(input))
			continue;
		const Value &one = reader.constant(input);
		if (!reader.need(elementCount(one.shape) == channels, "scale",
				 fmt::format("or bias is {} for {} channels", toString(one.shape),
					     channels)) ||
		    reader.failed())
			return;
		const ValueId constant =
			reader.addConstant(floatConstant(realNumbers(one), { channels }));
		steps.push_back({ Elementwise{ function, {} }, { constant } });
	}
	addSteps(reader, x, steps, rest);
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
	const ValueId epsilon =
		reader.addConstant(floatConstant({ reader.number("epsilon", 1e-5) }, { 1 }));
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
	if (axes.size() == 1)
		addScaledStandardization(reader, all.rows);
	else
		addScaledStandardization(reader, all.rows, [&](const FileTensor &result) {
			reader.add(Reshape{}, { result.id }, reader.same(result), all.turned);
		});
	addMoments(reader, all);
}

void readLrn(NodeReader &reader)
{
	const FileTensor x = reader.picture(0);
	const int64_t size = reader.integer("size", 0);

	if (!reader.support(size >= 1 && size <= UINT8_MAX && size % 2 == 1, "size",
			    fmt::format("is {}; odd numbers up to 255 are known", size)))
		return;
	reader.add(LocalResponse{ static_cast<uint32_t>(size), reader.number("bias", 1),
				  reader.number("alpha", 1e-4) / static_cast<double>(size),
				  reader.number("beta", 0.75) },
		   { x.id }, reader.computed(x), x);
}

/* The block's size; 0 and an error if the picture has no such blocks. */
uint32_t blockOf(NodeReader &reader, uint64_t extent, uint64_t other)
{
	const int64_t size = reader.integer("blocksize", 0);
	const bool fits = size >= 1 && size <= UINT8_MAX &&
			  extent % static_cast<uint64_t>(size) == 0 &&
			  other % static_cast<uint64_t>(size) == 0;

	reader.need(fits, "blocksize", fmt::format("is {}", size));
	return reader.failed() ? 0 : static_cast<uint32_t>(size);
}

/* DCR: channels of an element stay side by side; CRD: those of a block do. */
void readDepthToSpace(NodeReader &reader)
{
	const FileTensor x = reader.picture(0);
	const std::string mode = reader.text("mode", "DCR");

	reader.need(mode == "DCR" || mode == "CRD", "mode", "is " + mode);
	if (reader.failed())
		return;
	const uint32_t block = blockOf(reader, x.shape[1], x.shape[1]);
	if (reader.failed() ||
	    !reader.need(x.shape[1] % (block * block) == 0, "blocksize",
			 fmt::format("is {}, of {} channels", block, x.shape[1])))
		return;
	const uint32_t channels = x.shape[1] / block / block, h = x.shape[2], w = x.shape[3];
	const Transpose transpose =
		mode == "DCR" ? Transpose{ { h, w, block, block, channels }, { 0, 2, 1, 3, 4 } }
			      : Transpose{ { h, w, channels, block, block }, { 0, 3, 1, 4, 2 } };
	reader.add(ofSamples(x.shape[0], transpose), { x.id }, reader.same(x),
		   { x.shape[0], channels, h * block, w * block }, x.order);
}

void readSpaceToDepth(NodeReader &reader)
{
	const FileTensor x = reader.picture(0);
	if (reader.failed())
		return;
	const uint32_t block = blockOf(reader, x.shape[2], x.shape[3]);
	if (reader.failed())
		return;
	const uint32_t h = x.shape[2] / block, w = x.shape[3] / block;
	const Transpose transpose{ { h, block, w, block, x.shape[1] }, { 0, 2, 1, 3, 4 } };
	reader.add(ofSamples(x.shape[0], transpose), { x.id }, reader.same(x),
		   { x.shape[0], x.shape[1] * block * block, h, w }, x.order);
}

} /* namespace */

FileTensor withAxisLast(NodeReader &reader, uint32_t axis)
{
	const FileTensor x = reader.input(0);
	AxisOrder order = x.order;

	if (reader.failed())
		return x;
	order.erase(std::find(order.begin(), order.end(), axis));
	order.push_back(axis);
	return reader.inOrder(x, order);
}

void addReduced(NodeReader &reader, Kind kind, const FileTensor &x, uint32_t axis,
		const ElementKind &elements)
{
	FileTensor like = x;

	if (reader.failed())
		return;
	like.shape[axis] = 1;
	if (reader.integer("keepdims", 1) != 0) {
		reader.add(std::move(kind), { x.id }, elements, like);
		return;
	}
	reader.addBefore(std::move(kind), { x.id }, elements, like, [&](const FileTensor &kept) {
		Extents shape = like.shape;
		shape.erase(shape.begin() + axis);
		addReshape(reader, kept, shape);
	});
}

const NodeTable channelNodes = {
	{ "ArgMax", readArgMax },
	{ "ArgMin", readArgMin },
	{ "DepthToSpace", readDepthToSpace },
	{ "LayerNormalization", readLayerNormalization },
	{ "LpNormalization", readLpNormalization },
	{ "LRN", readLrn },
	{ "SpaceToDepth", readSpaceToDepth },
};

} /* namespace nvdla::compiler::onnx */
