/* SPDX-License-Identifier: MIT */
/*
 * Repeats operands that meet a larger tensor, such as a weight for each element of a picture.
 */
#include "passes.h"

#include <algorithm>
#include <utility>

#include "kernel_window.h"

namespace nvdla::compiler
{

namespace
{

constexpr size_t lines = 1, columns = 2, channels = 3;
constexpr size_t rank = 4;

/* The shape with four axes; the first ones are 1 if it has fewer. */
Extents pictureOf(const Extents &shape)
{
	Extents picture(rank - std::min(rank, shape.size()), 1);

	picture.insert(picture.end(), shape.begin(), shape.end());
	return picture;
}

/* Repeats one value, as operators before the one that reads it. */
class Repeater
{
public:
	Repeater(Model &model, const Operator &reader, ValueId id)
		: model_(model), reader_(reader), id_(id)
	{
	}

	/* The value as it was, or seen as four axes, if it had fewer. */
	void seeAsPicture()
	{
		const Extents &shape = model_.values[id_].shape;
		if (shape.size() < rank)
			add(Reshape{}, { id_ }, pictureOf(shape));
	}
	void repeatChannels(uint32_t count)
	{
		/* Each is of the only channel there is, as it is. */
		add(Convolution{}, { id_, model_.add(onesOf(count, { 1, 1 })) },
		    extended(channels, count));
	}
	void repeat(size_t axis, uint32_t count)
	{
		Concatenation all{ static_cast<uint32_t>(axis), {} };
		add(all, std::vector<ValueId>(count, id_), extended(axis, count));
	}
	void seeAs(const Extents &shape)
	{
		if (shape.size() < rank)
			add(Reshape{}, { id_ }, shape);
	}

	ValueId id() const { return id_; }
	std::vector<Operator> operators;

private:
	Extents extended(size_t axis, uint32_t count) const
	{
		Extents shape = model_.values[id_].shape;
		shape[axis] = count;
		return shape;
	}
	void add(Kind kind, std::vector<ValueId> inputs, Extents shape)
	{
		id_ = model_.addLike(id_, " repeated", std::move(shape));
		operators.push_back({ reader_.name,
				      "(repeat)",
				      std::move(kind),
				      std::move(inputs),
				      { id_ },
				      reader_.index });
	}

	Model &model_;
	const Operator &reader_;
	ValueId id_;
};

/* SDP takes one number for each channel as it is. */
bool isAlongChannels(const Extents &shape)
{
	return shape[lines] == 1 && shape[columns] == 1;
}

/* Operators that repeat an input where it is to be; what they make takes its place. */
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
	Repeater repeater(model, operation, operation.inputs[input]);
	repeater.seeAsPicture();
	if (needsChannels)
		repeater.repeatChannels(to[channels]);
	if (needsColumns && !onlyChannels)
		repeater.repeat(columns, to[columns]);
	if (needsLines && !onlyChannels)
		repeater.repeat(lines, to[lines]);
	const Extents made = model.values[repeater.id()].shape;
	repeater.seeAs({ made.end() - static_cast<ptrdiff_t>(out.size()), made.end() });
	operation.inputs[input] = repeater.id();
	return std::move(repeater.operators);
}

/* One with a number for each channel needs nothing once the other one has all channels. */
void repeatBoth(Model &model, Operator &operation, std::vector<Operator> &steps)
{
	const auto channelsOf = [&](size_t input) {
		const Extents &shape = model.values[operation.inputs[input]].shape;
		return shape.empty() ? 1 : shape.back();
	};
	const size_t first = channelsOf(0) <= channelsOf(1) ? 0 : 1;

	for (const size_t input : { first, 1 - first }) {
		const std::vector<Operator> some = repeated(model, operation, input);
		steps.insert(steps.end(), some.begin(), some.end());
	}
}

} /* namespace */

void repeatOperands(Model &model)
{
	std::vector<Operator> all;

	for (Operator &operation : std::exchange(model.operators, {})) {
		if (isAny<Elementwise>(operation.kind))
			repeatBoth(model, operation, all);
		all.push_back(std::move(operation));
	}
	model.operators = std::move(all);
}

} /* namespace nvdla::compiler */
