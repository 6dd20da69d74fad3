/* SPDX-License-Identifier: MIT */
/*
 * Where with a constant condition: products with ones and zeros, and their sum.
 */
#include <algorithm>

#include <fmt/core.h>

#include "compiler/import/parts.h"
#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* A constant for each element, in the value's order. */
ValueId addNumbers(NodeReader &reader, const FileTensor &like, const std::vector<double> &numbers)
{
	return reader.addMeeting(like, floatConstant(numbers, like.shape));
}

/* What is chosen of a tensor, and zeros. */
ValueId choose(NodeReader &reader, const FileTensor &x, const std::vector<double> &mask)
{
	const Elementwise product{ Elementwise::Function::Multiply, {} };

	return reader.addBetween(product, { x.id, addNumbers(reader, x, mask) }, reader.same(x), x)
		.id;
}

void readWhere(NodeReader &reader)
{
	const Value condition = reader.constant(0);
	const FileTensor a = reader.input(1), b = reader.input(2);
	const bool first = reader.value(a).isConstant, second = reader.value(b).isConstant;
	const FileTensor x = !first && !second && a.places != b.places ? reader.plain(a)
			     : first				       ? b
								       : a;
	const Elementwise sum{ Elementwise::Function::Add, {} };

	if (reader.failed() ||
	    !reader.support(!first || !second, "inputs", "are constants, all of them"))
		return;
	std::vector<double> mask = repeatedNumbers(rawNumbers(condition), condition.shape, x.shape),
			    other = mask;
	if (!reader.support(!mask.empty() && (first || second || a.shape == b.shape), "inputs",
			    fmt::format("are {} and {} with a condition of {}; what is computed "
					"has to have the output's shape",
					toString(a.shape), toString(b.shape),
					toString(condition.shape))))
		return;
	for (size_t i = 0; i < mask.size(); i++) {
		mask[i] = (mask[i] != 0) != first;
		other[i] = 1 - mask[i];
	}
	if (!first && !second) {
		const FileTensor y = reader.arranged(b, x);
		const ValueId chosen = choose(reader, x, mask), rest = choose(reader, y, other);
		reader.add(sum, { chosen, rest }, reader.computed(x), x);
		return;
	}
	const Value &constant = reader.value(first ? a : b);
	const std::vector<double> numbers =
		repeatedNumbers(realNumbers(constant), constant.shape, x.shape);
	if (!reader.support(!numbers.empty(), "inputs",
			    fmt::format("are {} and a constant of {}", toString(x.shape),
					toString(constant.shape))))
		return;
	/* What is not chosen may be infinite. */
	for (size_t i = 0; i < numbers.size(); i++)
		other[i] = other[i] != 0 ? numbers[i] : 0;
	const ValueId chosen = choose(reader, x, mask);
	reader.add(sum, { chosen, addNumbers(reader, x, other) }, reader.computed(x), x);
}

} /* namespace */

const NodeTable selectNodes = {
	{ "Where", readWhere },
};

} /* namespace nvdla::compiler::onnx */
