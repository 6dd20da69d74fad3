/* SPDX-License-Identifier: MIT */
/*
 * Functions of single elements, and of two tensors. A selection by a constant condition (Where) is
 * computed as the sum of two products with masks of ones and zeros.
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

} /* namespace */

Tensor unary(Builder &builder, const Tensor &x, const Unary &function)
{
	return builder.compute(function, x, x);
}

Tensor scaledUnary(Builder &builder, const Tensor &x, const Unary &function, double factor)
{
	return factor == 1 ? builder.compute(function, x, x)
			   : timesNumber(builder, builder.prepare(function, x, x), factor);
}

Tensor timesNumber(Builder &builder, const Tensor &x, double factor, bool isLast)
{
	const Elementwise product{ Function::Multiply, {} };
	const std::vector<ValueId> other{ builder.addNumber(factor) };

	return isLast ? builder.compute(product, x, x, other)
		      : builder.prepare(product, x, x, other);
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
	const size_t rank = std::max(a.shape.size(), b.shape.size());

	/* Prepend missing axes of one element. If one input is constant, addMeeting() does that. */
	for (Tensor *one : { &a, &b }) {
		if (one->shape.size() < rank && (first == second || !builder.isConstant(*one)))
			*one = builder.reshaped(*one, withRank(one->shape, rank));
	}
	const bool secondIsLarger =
		first == second ? elementCount(a.shape) < elementCount(b.shape) : first;
	Tensor &larger = secondIsLarger ? b : a;
	Tensor &other = &larger == &a ? b : a;
	Tensor like = larger;
	like.shape = builder.together(larger.shape, other.shape);
	/* Flattened pictures (Tensor::places) need the same order of elements in both operands,
	 * unless one operand has a single number per row. */
	const bool otherOrder =
		!first && !second && a.places != b.places && other.shape.back() != 1;
	if (otherOrder || like.shape != larger.shape) {
		const Extents shape = like.shape;
		like = larger = builder.plain(larger);
		like.shape = shape;
	}
	if (first != second)
		other.id = builder.addMeeting(larger, builder.value(other));
	else
		other = builder.arranged(other, larger);
	return builder.make(operation, { a.id, b.id }, builder.computed(first ? b : a), like);
}

Tensor quotient(Builder &builder, const Tensor &a, const Tensor &b, const Clamp &activation)
{
	Tensor factor = b;

	if (builder.isConstant(a) && !builder.isConstant(b) && elementCount(a.shape) == 1 &&
	    a.shape.size() <= b.shape.size()) {
		const double number = realNumbers(builder.value(a)).front();
		if (number != 0)
			return unary(builder, b,
				     { .function = Unary::Function::Power,
				       .parameter = -1,
				       .activation = activation,
				       .scale = 1 / number });
	}
	if (!builder.isConstant(b) || builder.isConstant(a))
		return elementwise(builder, { Function::Divide, activation }, a, b);
	std::vector<double> factors = realNumbers(builder.value(b));
	for (double &number : factors) {
		builder.need(number != 0, "input 1", "is 0");
		number = 1 / number;
	}
	factor.id = builder.addConstant(floatConstant(factors, b.shape));
	return elementwise(builder, { Function::Multiply, activation }, a, factor);
}

Tensor several(Builder &builder, const Elementwise &operation, const std::vector<Tensor> &tensors)
{
	Tensor made = tensors.empty() ? Tensor{} : tensors.front();

	for (size_t i = 1; i < tensors.size(); i++) {
		const Tensor &other = tensors[i];
		if (i + 1 == tensors.size())
			return elementwise(builder, operation, made, other);
		builder.support(made.shape == other.shape && !builder.isConstant(made) &&
					!builder.isConstant(other),
				"inputs", "are more than two, and constants or of several shapes");
		const Tensor first = made.places == other.places ? made : builder.plain(made);
		made = builder.prepare(Elementwise{ operation.function }, first, first,
				       { builder.arranged(other, first).id });
	}
	return made;
}

Tensor mean(Builder &builder, const std::vector<Tensor> &tensors)
{
	const Tensor sum = several(builder, { Function::Add }, tensors);

	if (tensors.size() < 2)
		return sum;
	builder.needFloatResults();
	return timesNumber(builder, sum, 1.0 / static_cast<double>(tensors.size()));
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
	if (exponent == 1)
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

Tensor select(Builder &builder, const Value &condition, const Tensor &a, const Tensor &b)
{
	const bool first = builder.isConstant(a), second = builder.isConstant(b);
	const Tensor x = !first && !second && a.places != b.places ? builder.plain(a)
			 : first				   ? b
								   : a;
	const std::vector<double> mask = broadcast(rawNumbers(condition), condition.shape, x.shape);
	/* Returns a tensor's elements where the condition is \a wanted, and 0 elsewhere. */
	const auto chosen = [&](const Tensor &from, bool wanted) {
		const Value &value = builder.value(from);
		std::vector<double> numbers =
			value.isConstant ? broadcast(realNumbers(value), value.shape, x.shape)
					 : std::vector<double>(mask.size(), 1);
		builder.support(!numbers.empty(), "inputs",
				fmt::format("are {} and a constant of {}", toString(x.shape),
					    toString(value.shape)));
		/* Mask constants here, not by a product: a constant may be infinite, and
		 * infinity * 0 is NaN. */
		for (size_t i = 0; i < numbers.size(); i++)
			numbers[i] = (mask[i] != 0) == wanted ? numbers[i] : 0;
		const ValueId made = builder.addMeeting(x, floatConstant(numbers, x.shape));
		return value.isConstant ? made
					: builder.make(Elementwise{ Function::Multiply, {} },
						       { builder.arranged(from, x).id, made },
						       builder.joined(x), x)
						  .id;
	};

	builder.support(!first || !second, "inputs", "are constants, all of them");
	builder.support(!mask.empty(), "condition",
			fmt::format("is {} for {}", toString(condition.shape), toString(x.shape)));
	builder.support(
		first || second || a.shape == b.shape, "inputs",
		fmt::format("are {} and {}; what is computed has to have the output's shape",
			    toString(a.shape), toString(b.shape)));
	const ValueId taken = chosen(x, !first);
	return builder.make(Elementwise{ Function::Add, {} },
			    { taken, chosen(first ? a : b, first) }, builder.computed(x), x);
}

} /* namespace nvdla::compiler::legalize */
