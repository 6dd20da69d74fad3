/* SPDX-License-Identifier: MIT */
/*
 * Divides an axis that is too long for a surface into two axes.
 *
 * Detectors concatenate the positions of several pictures to one axis, of 8400 elements for
 * instance, and compute each position by itself. A surface has at most 8192 channels, lines and
 * columns. The results are the same if 8400 columns are 21 lines of 400 columns, or 8400 channels
 * are 21 columns of 400 channels, as the elements keep their order.
 */
#include "passes.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace nvdla::compiler
{

namespace
{

/* The largest divisor of an extent that an axis of a surface can have */
uint32_t largestDivisor(uint32_t extent)
{
	uint32_t parts = (extent + mostOfSurface - 1) / mostOfSurface;

	while (extent % parts != 0)
		parts++;
	return extent / parts;
}

/* The product of the extents of all axes before \a axis */
uint32_t outside(const Extents &shape, size_t axis)
{
	return static_cast<uint32_t>(
		elementCount({ shape.begin(), shape.begin() + static_cast<ptrdiff_t>(axis) }));
}

/* The product of the extents of all axes but the last one */
uint32_t positionsOf(const Extents &shape)
{
	return shape.empty() ? 1 : outside(shape, shape.size() - 1);
}

/* The axis along which a slice takes neighbouring elements; the last one if it takes all */
std::optional<size_t> slicedAxis(const Slice &slice, const Extents &from, const Extents &to)
{
	std::optional<size_t> sliced;

	for (size_t axis = 0; axis < from.size(); axis++) {
		if (from[axis] == to[axis])
			continue;
		if (sliced || slice.stride[axis] != 1)
			return std::nullopt;
		sliced = axis;
	}
	return sliced.value_or(from.size() - 1);
}

class LongAxes
{
public:
	explicit LongAxes(Model &model) : model_(model) {}

	/* Finds the division of each long axis; false if there is no such axis. */
	bool find();
	/* Replaces an operator with a long axis, unless it needs the axis whole. */
	void divide(const Operator &operation, Chain &chain);

private:
	/* Indices of the axes of a divided tensor; axis 0 has one element. */
	static constexpr uint32_t lines = 1, columns = 2, channels = 3;

	struct LongAxis {
		bool isLast; /* else it is the last but one */
		uint32_t extent;

		auto operator<=>(const LongAxis &) const = default;
	};

	std::optional<LongAxis> longAxis(ValueId id) const;
	std::optional<LongAxis> longAxis(const Operator &operation) const;
	bool takes(const Operator &operation, const LongAxis &axis) const;
	bool takesOperands(const Operator &operation, const LongAxis &axis) const;
	Extents shapeFor(const Extents &shape, const LongAxis &axis) const;
	ValueId divided(ValueId id, const LongAxis &axis, Chain &chain);

	const Extents &shape(ValueId id) const { return model_.values[id].shape; }
	const Extents &result(const Operator &operation) const
	{
		return shape(operation.outputs.front());
	}
	/* Inputs that share axes with the result: not kernels, nor the input of a Transpose. */
	std::span<const ValueId> operands(const Operator &operation) const
	{
		return std::span(operation.inputs)
			.first(isAny<Transpose>(operation.kind) ? 0
			       : hasKernels(operation.kind)	? 1
								: operation.inputs.size());
	}

	Model &model_;
	std::map<LongAxis, uint32_t> inner_; /* extent of the inner of the two new axes */
	std::map<std::pair<ValueId, LongAxis>, ValueId> divided_;
};

std::optional<LongAxes::LongAxis> LongAxes::longAxis(ValueId id) const
{
	const Value &value = model_.values[id];
	const auto last = value.shape.rbegin();

	if (value.isConstant || value.batch > 1 || value.shape.empty())
		return std::nullopt;
	if (*last > mostOfSurface)
		return LongAxis{ true, *last };
	if (value.shape.size() > 1 && *(last + 1) > mostOfSurface)
		return LongAxis{ false, *(last + 1) };
	return std::nullopt;
}

std::optional<LongAxes::LongAxis> LongAxes::longAxis(const Operator &operation) const
{
	for (const auto &ids : { operation.outputs, operation.inputs }) {
		for (const ValueId id : ids) {
			if (const auto axis = longAxis(id))
				return axis;
		}
	}
	return std::nullopt;
}

bool LongAxes::find()
{
	for (ValueId id = 0; id < model_.values.size(); id++) {
		if (const auto axis = longAxis(id))
			inner_.emplace(*axis, axis->extent);
	}
	for (const Operator &operation : model_.operators) {
		const auto axis = longAxis(operation);
		const auto *concatenation = std::get_if<Concatenation>(&operation.kind);
		const size_t behind = axis && axis->isLast ? 1 : 2;
		if (!axis || !concatenation ||
		    concatenation->axis + behind != result(operation).size())
			continue;
		/* Each input of a concatenation has to be a multiple of the inner axis long. */
		uint32_t &inner = inner_.at(*axis);
		for (const ValueId id : operation.inputs)
			inner = std::gcd(inner, shape(id)[concatenation->axis]);
		/* If a picture's columns stay columns, the CPU need not move its elements. */
		const Extents &picture = shape(model_.beforeReshapes(operation.inputs.front()));
		if (!axis->isLast && picture.size() > 1 && inner % *(picture.rbegin() + 1) == 0)
			inner = *(picture.rbegin() + 1);
	}
	for (auto &[axis, inner] : inner_)
		inner = largestDivisor(inner);
	return !inner_.empty();
}

/* Whether each operand has as many rows along the last axis as the result, or one, and, if the last
 * axis is divided, as many elements in a row, or one */
bool LongAxes::takesOperands(const Operator &operation, const LongAxis &axis) const
{
	const uint32_t positions = positionsOf(result(operation));

	return std::ranges::all_of(operands(operation), [&](ValueId id) {
		const uint32_t own = positionsOf(shape(id));
		const uint32_t last = shape(id).empty() ? 1 : shape(id).back();
		return (own == 1 || own == positions) &&
		       (!axis.isLast || last == 1 || last == axis.extent);
	});
}

/* Whether each result of an operator depends only on elements at one index of the axis */
bool LongAxes::takes(const Operator &operation, const LongAxis &axis) const
{
	const Extents &from = shape(operation.inputs.front()), &to = result(operation);

	if (const auto *concatenation = std::get_if<Concatenation>(&operation.kind))
		return concatenation->axis + 1 == to.size() ||
		       outside(to, concatenation->axis) == 1;
	if (const auto *slice = std::get_if<Slice>(&operation.kind)) {
		const auto sliced = slicedAxis(*slice, from, to);
		return sliced &&
		       (*sliced + 1 == from.size() ? !axis.isLast
						   : axis.isLast && outside(from, *sliced) == 1);
	}
	/* A Transpose can write any shape with the same number of elements. */
	if (isAny<Transpose>(operation.kind))
		return longAxis(operation.outputs.front()).has_value();
	if (!takesOperands(operation, axis))
		return false;
	if (isAny<Elementwise, Unary>(operation.kind))
		return true;
	if (const auto *conv = std::get_if<Convolution>(&operation.kind)) {
		const Extents &kernels = shape(operation.inputs[1]);
		return !axis.isLast && kernels[2] == 1 && kernels[3] == 1 && conv->stride.x == 1 &&
		       conv->stride.y == 1 && isNone(conv->padding);
	}
	return !axis.isLast && traitsOf(operation.kind).isOverLastAxis &&
	       (!hasKernels(operation.kind) || from.back() == shape(operation.inputs[1]).back());
}

/* The shape with the long axis as two. An operand that is repeated along it has one element. */
Extents LongAxes::shapeFor(const Extents &shape, const LongAxis &axis) const
{
	const uint32_t inner = inner_.at(axis), positions = positionsOf(shape);
	const uint32_t last = shape.empty() ? 1 : shape.back();

	if (axis.isLast && last > 1)
		return { 1, positions, last / inner, inner };
	if (axis.isLast || positions == 1)
		return { 1, positions, 1, last };
	return { 1, positions / inner, inner, last };
}

ValueId LongAxes::divided(ValueId id, const LongAxis &axis, Chain &chain)
{
	const auto [found, isNew] = divided_.try_emplace({ id, axis }, 0);

	if (isNew && model_.values[id].isConstant) {
		found->second = model_.addLike(id, "", shapeFor(shape(id), axis));
		if (model_.values[id].quantizedAxis + size_t{ 1 } == shape(id).size())
			model_.values[found->second].quantizedAxis = channels;
	} else if (isNew) {
		chain.last = id;
		chain.add(Reshape{}, " divided", shapeFor(shape(id), axis));
		found->second = chain.last;
	}
	return found->second;
}

void LongAxes::divide(const Operator &operation, Chain &chain)
{
	const auto axis = longAxis(operation);

	if (!axis || !takes(operation, *axis))
		return;
	const ValueId output = operation.outputs.front();
	const Extents from = shape(operation.inputs.front()), to = shape(output);
	const auto axisFor = [&](size_t before) {
		return before + 1 < to.size() ? lines : axis->isLast ? columns : channels;
	};
	Operator same = operation;

	chain.like.type = "(divide)";
	for (size_t i = 0; i < operands(operation).size(); i++)
		same.inputs[i] = divided(operation.inputs[i], *axis, chain);
	same.outputs = { model_.addLike(output, " divided", shapeFor(to, *axis)) };
	if (auto *concatenation = std::get_if<Concatenation>(&same.kind))
		concatenation->axis = axisFor(concatenation->axis);
	if (auto *slice = std::get_if<Slice>(&same.kind)) {
		const size_t sliced = *slicedAxis(*slice, from, to);
		Extents begin(4, 0);
		begin[axisFor(sliced)] =
			slice->begin[sliced] *
			(sliced + 1 < from.size() ? positionsOf(from) / from[sliced] : 1);
		slice->begin = begin;
		slice->stride = Extents(4, 1);
	}
	divided_[{ output, *axis }] = chain.last = same.outputs.front();
	chain.operators.push_back(std::move(same));
	chain.add(Reshape{}, output);
}

} /* namespace */

void divideLongAxes(Model &model)
{
	LongAxes axes(model);

	if (axes.find() && expandEach(model, std::bind_front(&LongAxes::divide, &axes)))
		removeUnused(model);
}

} /* namespace nvdla::compiler */
