/* SPDX-License-Identifier: MIT */
/*
 * Repeats operands that meet a larger tensor, such as a weight for each element of a picture.
 */
#include "passes.h"

#include <algorithm>

#include "kernel_window.h"

namespace nvdla::compiler
{

namespace
{

constexpr uint32_t lines = 1, columns = 2, channels = 3;
constexpr size_t rank = 4;

/* The shape with four axes; the first ones are 1 if it has fewer. */
Extents pictureOf(const Extents &shape)
{
	Extents picture(rank - std::min(rank, shape.size()), 1);

	picture.insert(picture.end(), shape.begin(), shape.end());
	return picture;
}

/* SDP takes one number for each channel as it is. */
bool isAlongChannels(const Extents &shape)
{
	return shape[lines] == 1 && shape[columns] == 1;
}

/* Operators that repeat an input if it has to be repeated; their result replaces the input. */
std::vector<Operator> repeated(Model &model, Operator &operation, size_t input)
{
	constexpr uint32_t mostCopies = 64; /* along an axis, as Tile has them */
	const Extents out = model.values[operation.outputs.front()].shape;
	const Value &value = model.values[operation.inputs[input]];
	if (value.isConstant || out.size() > rank || value.shape.size() > rank)
		return {};
	const Extents from = pictureOf(value.shape), to = pictureOf(out);
	const Value &other = model.values[operation.inputs[1 - input]];
	const bool otherIsWhole = !other.isConstant && pictureOf(other.shape) == to;
	const bool needsLines = from[lines] < to[lines], needsColumns = from[columns] < to[columns];
	const bool needsChannels = from[channels] < to[channels];
	const bool onlyChannels = isAlongChannels(from) && otherIsWhole;
	const bool wanted =
		onlyChannels ? needsChannels : needsLines || needsColumns || needsChannels;
	if (!wanted || from[0] != to[0] ||
	    (!onlyChannels && needsLines && to[lines] > mostCopies) ||
	    (!onlyChannels && needsColumns && to[columns] > mostCopies))
		return {};
	constexpr const char *what = " repeated";
	Chain chain{ model,
		     { operation.name, "(repeat)", {}, {}, {}, operation.index },
		     operation.inputs[input] };
	const auto repeat = [&](uint32_t axis) {
		Extents shape = model.values[chain.last].shape;
		shape[axis] = to[axis];
		/* A convolution with ones copies the only channel to all channels. */
		if (axis == channels)
			chain.add(Convolution{}, what, shape,
				  { model.add(onesOf(to[channels], { 1, 1 })) });
		else
			chain.add(Concatenation{ axis, {} }, what, shape,
				  std::vector<ValueId>(to[axis] - 1, chain.last));
	};
	if (value.shape.size() < rank)
		chain.add(Reshape{}, what, from);
	if (needsChannels)
		repeat(channels);
	if (needsColumns && !onlyChannels)
		repeat(columns);
	if (needsLines && !onlyChannels)
		repeat(lines);
	const Extents made = model.values[chain.last].shape;
	if (out.size() < rank)
		chain.add(Reshape{}, what,
			  { made.end() - static_cast<ptrdiff_t>(out.size()), made.end() });
	operation.inputs[input] = chain.last;
	return std::move(chain.operators);
}

/* Repeats the input with fewer channels first: SDP may then take the other one as it is. */
std::vector<Operator> repeatBoth(Model &model, Operator &operation)
{
	std::vector<Operator> steps;
	const auto channelsOf = [&](size_t input) {
		const Extents &shape = model.values[operation.inputs[input]].shape;
		return shape.empty() ? 1 : shape.back();
	};
	const size_t first = channelsOf(0) <= channelsOf(1) ? 0 : 1;

	for (const size_t input : { first, 1 - first }) {
		const std::vector<Operator> some = repeated(model, operation, input);
		steps.insert(steps.end(), some.begin(), some.end());
	}
	steps.push_back(operation);
	return steps;
}

} /* namespace */

void repeatOperands(Model &model)
{
	expandEach(model, [&](Operator &operation) {
		return isAny<Elementwise>(operation.kind) ? repeatBoth(model, operation)
							  : std::vector<Operator>{};
	});
}

} /* namespace nvdla::compiler */
