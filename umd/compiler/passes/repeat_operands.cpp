/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

namespace nvdla::compiler
{

namespace
{

constexpr uint32_t lines = 1, columns = 2, channels = 3;
constexpr size_t rank = 4;

/* Repeats input \a input to the output's shape if SDP cannot; the result replaces the input. */
void repeat(Operator &operation, size_t input, Chain &chain)
{
	constexpr uint32_t mostCopies = 64; /* along lines or columns: each is one operation */
	Model &model = chain.model;
	const Extents out = model.values[operation.outputs.front()].shape;
	const Value &value = model.values[operation.inputs[input]];
	if (value.isConstant || out.size() > rank || value.shape.size() > rank)
		return;
	const Extents from = withRank(value.shape, rank), to = withRank(out, rank);
	const Value &other = model.values[operation.inputs[1 - input]];
	const bool otherIsWhole = !other.isConstant && withRank(other.shape, rank) == to;
	/* SDP takes one number for each channel as it is. */
	const bool onlyChannels = from[lines] == 1 && from[columns] == 1 && otherIsWhole;
	std::vector<uint32_t> axes;
	for (const uint32_t axis : { channels, columns, lines })
		if (from[axis] < to[axis] && (axis == channels || !onlyChannels))
			axes.push_back(axis);
	const bool isPossible = std::ranges::all_of(
		axes, [&](uint32_t axis) { return axis == channels || to[axis] <= mostCopies; });
	if (axes.empty() || from[0] != to[0] || !isPossible)
		return;
	constexpr const char *what = " repeated";
	chain.like.type = "(repeat)";
	chain.last = operation.inputs[input];
	if (value.shape.size() < rank)
		chain.add(Reshape{}, what, from);
	for (const uint32_t axis : axes) {
		Extents shape = model.values[chain.last].shape;
		shape[axis] = to[axis];
		/* A convolution with ones copies the only channel to all channels. */
		if (axis == channels)
			chain.add(Convolution{}, what, shape,
				  { model.add(onesOf(to[channels], { 1, 1 })) });
		else
			chain.add(Concatenation{ axis, {} }, what, shape,
				  std::vector<ValueId>(to[axis] - 1, chain.last));
	}
	const Extents made = model.values[chain.last].shape;
	if (out.size() < rank)
		chain.add(Reshape{}, what,
			  { made.end() - static_cast<ptrdiff_t>(out.size()), made.end() });
	operation.inputs[input] = chain.last;
}

} /* namespace */

void repeatOperands(Operator &operation, Chain &chain)
{
	const auto channelsOf = [&](size_t input) {
		return withRank(chain.model.values[operation.inputs[input]].shape, 1).back();
	};

	if (!isAny<Elementwise>(operation.kind))
		return;
	/* The input with fewer channels first: if it gets the output's shape, SDP may broadcast the
	 * other one. */
	const size_t first = channelsOf(0) <= channelsOf(1) ? 0 : 1;
	repeat(operation, first, chain);
	repeat(operation, 1 - first, chain);
	chain.operators.push_back(operation);
}

} /* namespace nvdla::compiler */
