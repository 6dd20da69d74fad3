/* SPDX-License-Identifier: MIT */
/*
 * One of two numbers for each element, with a constant condition: products with ones and zeros,
 * and their sum.
 */
#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

/* Shapes are a file's, which may say anything. */
bool fitsMemory(const Extents &shape)
{
	constexpr uint64_t mostElements = uint64_t{ 1 } << 26;
	uint64_t elements = 1;

	for (const uint32_t extent : shape) {
		elements *= extent;
		if (elements > mostElements)
			return false;
	}
	return true;
}

/* For each element of a larger tensor; none if the shapes do not go together, or make too many. */
std::vector<double> repeatedNumbers(const std::vector<double> &numbers, const Extents &from,
				    const Extents &to)
{
	const size_t more = to.size() - std::min(from.size(), to.size());
	std::vector<double> result;

	if (from.size() > to.size() || !fitsMemory(to) || !fitsMemory(from) ||
	    elementCount(from) != numbers.size())
		return {};
	for (size_t axis = 0; axis < from.size(); axis++) {
		if (from[axis] != 1 && from[axis] != to[more + axis])
			return {};
	}
	for (uint64_t i = 0; i < elementCount(to); i++) {
		uint64_t rest = i, at = 0, step = 1;
		for (size_t axis = to.size(); axis-- > more;) {
			const uint32_t extent = from[axis - more];
			at += extent == 1 ? 0 : rest % to[axis] * step;
			rest /= to[axis];
			step *= extent;
		}
		result.push_back(numbers[at]);
	}
	return result;
}

/* What is chosen of a tensor, and zeros. */
Tensor choose(Builder &builder, const Tensor &x, const std::vector<double> &mask)
{
	return builder.make(Elementwise{ Elementwise::Function::Multiply, {} },
			    { x.id, builder.addMeeting(x, floatConstant(mask, x.shape)) },
			    builder.joined(x), x);
}

} /* namespace */

Tensor select(Builder &builder, const Value &condition, const Tensor &a, const Tensor &b)
{
	const bool first = builder.isConstant(a), second = builder.isConstant(b);
	const Tensor x = !first && !second && a.places != b.places ? builder.plain(a)
			 : first				   ? b
								   : a;
	const Elementwise sum{ Elementwise::Function::Add, {} };

	if (builder.failed() ||
	    !builder.support(!first || !second, "inputs", "are constants, all of them"))
		return {};
	std::vector<double> mask = repeatedNumbers(rawNumbers(condition), condition.shape, x.shape),
			    other = mask;
	builder.support(!mask.empty(), "condition",
			fmt::format("is {} for {}", toString(condition.shape), toString(x.shape)));
	if (!builder.support(
		    first || second || a.shape == b.shape, "inputs",
		    fmt::format("are {} and {}; what is computed has to have the output's shape",
				toString(a.shape), toString(b.shape))) ||
	    builder.failed())
		return {};
	for (size_t i = 0; i < mask.size(); i++) {
		mask[i] = (mask[i] != 0) != first;
		other[i] = 1 - mask[i];
	}
	const Tensor chosen = choose(builder, x, mask);
	if (!first && !second)
		return builder.compute(sum, chosen, x,
				       { choose(builder, builder.arranged(b, x), other).id });
	const Value &constant = builder.value(first ? a : b);
	const std::vector<double> numbers =
		repeatedNumbers(realNumbers(constant), constant.shape, x.shape);
	if (!builder.support(!numbers.empty(), "inputs",
			     fmt::format("are {} and a constant of {}", toString(x.shape),
					 toString(constant.shape))))
		return {};
	/* What is not chosen may be infinite. */
	for (size_t i = 0; i < numbers.size(); i++)
		other[i] = other[i] != 0 ? numbers[i] : 0;
	return builder.compute(sum, chosen, x,
			       { builder.addMeeting(x, floatConstant(other, x.shape)) });
}

} /* namespace nvdla::compiler::legalize */
