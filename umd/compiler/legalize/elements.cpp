/* SPDX-License-Identifier: MIT */
/*
 * Functions of single elements, of two tensors, and softmax.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

using Function = Elementwise::Function;

Tensor timesNumber(Builder &builder, const Tensor &x, double factor, bool isLast)
{
	const Elementwise product{ Function::Multiply, {} };
	const std::vector<ValueId> other{ builder.addNumber(factor) };

	return isLast ? builder.compute(product, x, x, other)
		      : builder.prepare(product, x, x, other);
}

} /* namespace */

Tensor unary(Builder &builder, const Tensor &x, const Unary &function)
{
	builder.needComputed(x);
	return builder.compute(function, x, x);
}

Tensor scaledUnary(Builder &builder, double inner, const Tensor &from, const Unary &function,
		   double outer)
{
	Tensor x = builder.needComputed(from);

	if (inner != 1)
		x = timesNumber(builder, x, inner, false);
	if (outer == 1)
		return builder.compute(function, x, x);
	return timesNumber(builder, builder.prepare(function, x, x), outer, true);
}

Tensor negative(Builder &builder, const Tensor &x)
{
	return timesNumber(builder, builder.needComputed(x), -1, true);
}

Tensor shrink(Builder &builder, const Tensor &x, double threshold, double bias)
{
	if (bias == 0)
		return unary(builder, x, { Unary::Function::HardShrink, threshold, {} });
	builder.support(bias == threshold && threshold > 0, "bias",
			fmt::format("is {}; 0 and lambd, {}, are known", bias, threshold));
	const Tensor near = builder.prepare(Unary{ .activation = { -threshold, threshold } },
					    builder.needComputed(x), x);
	return builder.compute(Elementwise{ Function::Subtract, {} }, x, x, { near.id });
}

Tensor hardSigmoid(Builder &builder, const Tensor &x, double alpha, double beta)
{
	const ValueId sum = builder.addNumber(beta);

	return builder.compute(Elementwise{ Function::Add, { 0, 1 } },
			       timesNumber(builder, x, alpha, false), x, { sum });
}

Tensor elementwise(Builder &builder, const Elementwise &operation, Tensor a, Tensor b)
{
	const bool first = builder.isConstant(a), second = builder.isConstant(b);

	if (builder.failed() ||
	    !builder.support(!first || !second, "inputs", "are constants, both of them"))
		return {};
	const size_t rank = std::max(a.shape.size(), b.shape.size());
	/* Axes that one lacks are of one element, and in front; constants get them when they meet.
	 */
	for (Tensor *one : { &a, &b }) {
		Extents shape(rank - one->shape.size(), 1);
		shape.insert(shape.end(), one->shape.begin(), one->shape.end());
		if (shape != one->shape && !builder.isConstant(*one))
			*one = builder.reshaped(*one, shape);
	}
	Tensor &larger =
		first || (!second && elementCount(a.shape) < elementCount(b.shape)) ? b : a;
	Tensor &other = &larger == &a ? b : a;
	if (builder.failed())
		return {};
	const size_t lacks = rank - other.shape.size();
	Tensor like = larger;
	for (size_t axis = lacks; axis < rank; axis++) {
		const uint32_t one = larger.shape[axis], two = other.shape[axis - lacks];
		if (!builder.need(one == two || one == 1 || two == 1, "inputs",
				  fmt::format("of {} and {} do not go together: trailing axes have "
					      "to be alike, or of one element",
					      toString(a.shape), toString(b.shape))))
			return {};
		like.shape[axis] = one == 1 ? two : one;
	}
	/* One number for each row goes with any order of its elements. */
	const bool otherOrder =
		!first && !second && a.places != b.places && other.shape.back() != 1;
	if (otherOrder || like.shape != larger.shape) {
		const Extents shape = like.shape;
		like = larger = builder.plain(larger);
		like.shape = shape;
	}
	if (first || second)
		other.id = builder.addMeeting(larger, builder.value(other));
	else
		other = builder.arranged(other, larger);
	return builder.make(operation, { a.id, b.id }, builder.computed(first ? b : a), like);
}

Tensor quotient(Builder &builder, const Tensor &a, const Tensor &b, const Clamp &activation)
{
	Tensor factor = b;

	if (!builder.isConstant(b))
		return elementwise(builder, { Function::Divide, activation }, a, b);
	std::vector<double> factors = realNumbers(builder.value(b));
	for (double &number : factors) {
		builder.need(number != 0, "input 1", "is 0");
		number = 1 / number;
	}
	if (builder.failed())
		return {};
	factor.id = builder.addConstant(floatConstant(factors, b.shape));
	return elementwise(builder, { Function::Multiply, activation }, a, factor);
}

Tensor several(Builder &builder, Function function, const std::vector<Tensor> &tensors)
{
	Tensor made = tensors.empty() ? Tensor{} : tensors.front();

	for (size_t i = 1; i < tensors.size() && !builder.failed(); i++) {
		const Tensor &other = tensors[i];
		if (i + 1 == tensors.size())
			return elementwise(builder, { function, {} }, made, other);
		if (!builder.support(made.shape == other.shape && !builder.isConstant(made) &&
					     !builder.isConstant(other),
				     "inputs",
				     "are more than two, and constants or of several shapes"))
			return {};
		const Tensor first = made.places == other.places ? made : builder.plain(made);
		made = builder.prepare(Elementwise{ function, {} }, first, first,
				       { builder.arranged(other, first).id });
	}
	return made;
}

Tensor mean(Builder &builder, const std::vector<Tensor> &tensors)
{
	Tensor sum = tensors.empty() ? Tensor{} : builder.plain(tensors.front());

	for (size_t i = 1; i < tensors.size() && !builder.failed(); i++) {
		const Tensor other = builder.inOrder(tensors[i], sum.order);
		if (!builder.support(sum.shape == other.shape && !builder.isConstant(sum) &&
					     !builder.isConstant(other),
				     "inputs", "are constants or of several shapes"))
			return {};
		sum = builder.prepare(Elementwise{ Function::Add, {} }, sum, sum, { other.id });
	}
	return tensors.size() < 2
		       ? sum
		       : timesNumber(builder, sum, 1.0 / static_cast<double>(tensors.size()), true);
}

Tensor squaredDifference(Builder &builder, const Tensor &a, const Tensor &b)
{
	builder.needFloatResults();
	const Tensor difference = elementwise(builder, { Function::Subtract, {} }, a, b);

	return builder.compute(Unary{ .function = Unary::Function::Square }, difference,
			       difference);
}

Tensor power(Builder &builder, const Tensor &x, double exponent)
{
	const Unary square{ Unary::Function::Square, 0, {} };

	builder.support(std::isfinite(exponent), "exponent", "is infinite or no number");
	if (builder.failed() || exponent == 1)
		return x;
	if (exponent == 2)
		return unary(builder, x, square);
	if (exponent == 3 && builder.hasFloatResults()) {
		const Tensor squared = builder.prepare(square, builder.needComputed(x), x);
		return builder.compute(Elementwise{ Function::Multiply, {} }, x, x, { squared.id });
	}
	return unary(builder, x, { Unary::Function::Power, exponent, {} });
}

Tensor prelu(Builder &builder, const Tensor &x, const Value &slopes)
{
	return builder.compute(PRelu{}, x, x, { builder.addMeeting(x, slopes) });
}

Tensor softmax(Builder &builder, const Tensor &from, uint32_t axis, const Softmax &function)
{
	const Tensor x = builder.withAxisLast(from, axis);

	return builder.compute(function, x, x);
}

} /* namespace nvdla::compiler::legalize */
