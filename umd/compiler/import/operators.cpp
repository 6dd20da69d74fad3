/* SPDX-License-Identifier: MIT */
/*
 * Operators that the formats define alike. A format writes ArgMax or ARG_MAX; here names are in
 * lower case, without underscores.
 */
#include <cctype>
#include <map>

#include "base/number/element_functions.h"
#include "operand_reader.h"

namespace nvdla::compiler
{

namespace
{

using OfTwo = Elementwise::Function;
using OfOne = Unary::Function;
using Method = Pool::Method;

/* Functions of each element that have a parameter, or another name than the compiler's own. */
const std::map<std::string, Unary> functions = {
	{ "elu", { OfOne::Elu, 1 } },
	{ "leakyrelu", { OfOne::LeakyRelu, 0.01 } },
	{ "reciprocal", { OfOne::Power, -1 } },
	{ "relu", { .activation = { .low = 0 } } },
	{ "relu0to1", { .activation = { 0, 1 } } },
	{ "relu6", { .activation = { 0, 6 } } },
	{ "relun1to1", { .activation = { -1, 1 } } },
	{ "rsqrt", { OfOne::Power, -0.5 } },
	{ "sigmoid", { OfOne::Logistic } },
	{ "sqrt", { OfOne::Power, 0.5 } },
	{ "thresholdedrelu", { OfOne::ThresholdedRelu, 1 } },
};

/* Functions of several tensors, and the least number of tensors. */
const std::map<std::string, std::pair<OfTwo, size_t>> binaries = {
	{ "add", { OfTwo::Add, 2 } },	   { "max", { OfTwo::Maximum, 1 } },
	{ "min", { OfTwo::Minimum, 1 } },  { "mul", { OfTwo::Multiply, 2 } },
	{ "sub", { OfTwo::Subtract, 2 } }, { "sum", { OfTwo::Add, 1 } },
};

/* Reductions, and functions of each element before and behind the reduction. */
const std::map<std::string, std::pair<Method, legalize::Around>> reductions = {
	{ "reducel1", { Method::Sum, { { OfOne::Abs }, {} } } },
	{ "reducel2", { Method::Sum, { { OfOne::Square }, { OfOne::Power, 0.5 } } } },
	{ "reducelogsum", { Method::Sum, { {}, { OfOne::Log } } } },
	{ "reducemax", { Method::Max, {} } },
	{ "reducemean", { Method::Average, {} } },
	{ "reducemin", { Method::Min, {} } },
	{ "reducesum", { Method::Sum, {} } },
	{ "reducesumsquare", { Method::Sum, { { OfOne::Square }, {} } } },
};

legalize::Reduction reductionOf(OperandReader &reader)
{
	const size_t rank = reader.needComputed(reader.input(0)).shape.size();
	legalize::Reduction reduction{ reader.sortedAxes(reader.list(1, "axes"), rank),
				       reader.integer("keepdims", 1) != 0 };

	if (reduction.axes.empty() && reader.integer("noop_with_empty_axes", 0) == 0)
		reduction.axes = legalize::asInFile(rank);
	return reduction;
}

template<bool ofSmallest>
Tensor readArgMax(OperandReader &reader)
{
	const std::vector<int64_t> axes = reader.list(1, "axis");
	const Tensor x = reader.input(0);
	const uint32_t axis = reader.axis(axes.empty() ? 0 : axes.front(), x.shape.size(), "axis");

	reader.support(axes.size() <= 1, "axis", fmt::format("is {} numbers", axes.size()));
	reader.support(reader.integer("select_last_index", 0) == 0, "select_last_index",
		       "is set; the first of several is known");
	const Tensor made = legalize::argMax(reader, x, axis, ofSmallest);
	if (reader.integer("keepdims", 1) != 0)
		return made;
	Extents shape = made.shape;
	shape.erase(shape.begin() + axis);
	return reader.reshaped(made, shape);
}

Tensor readLpNormalization(OperandReader &reader)
{
	reader.support(reader.integer("p", 2) == 2, "p", "is not 2");
	reader.support(reader.activation().isNone(), "fused activation",
		       "is not known here; make it an operator of its own");
	return legalize::overAxis(reader, reader.input(0), reader.axisOf("axis", -1),
				  OverChannels{ OverChannels::Function::Normalize });
}

/* By default the order of the axes is reversed. */
Tensor readTranspose(OperandReader &reader)
{
	const Tensor tensor = reader.input(0);
	std::vector<int64_t> perm = reader.list(1, "perm");

	for (size_t axis = perm.empty() ? tensor.shape.size() : 0; axis-- > 0;)
		perm.push_back(static_cast<int64_t>(axis));
	return legalize::transposed(reader, tensor, perm);
}

const std::map<std::string, Tensor (*)(OperandReader &)> others = {
	{ "argmax", readArgMax<false> },
	{ "argmin", readArgMax<true> },
	{ "div",
	  [](OperandReader &r) {
		  return legalize::quotient(r, r.input(0), r.input(1), r.activation());
	  } },
	{ "expand",
	  [](OperandReader &r) { return legalize::expand(r, r.input(0), r.list(1, "shape")); } },
	{ "lpnormalization", readLpNormalization },
	{ "neg", [](OperandReader &r) { return legalize::timesNumber(r, r.input(0), -1); } },
	{ "pow", [](OperandReader &r) { return legalize::power(r, r.input(0), r.scalar(1, 1)); } },
	{ "reducelogsumexp",
	  [](OperandReader &r) {
		  return legalize::logarithmOfExponentials(r, r.input(0), reductionOf(r));
	  } },
	{ "squareddifference",
	  [](OperandReader &r) { return legalize::squaredDifference(r, r.input(0), r.input(1)); } },
	{ "transpose", readTranspose },
	{ "where",
	  [](OperandReader &r) {
		  return legalize::select(r, r.constant(0), r.input(1), r.input(2));
	  } },
};

std::string plainName(const std::string &type)
{
	std::string name;

	for (const char letter : type)
		if (letter != '_')
			name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
	return name;
}

std::optional<Unary> functionOf(const OperandReader &reader, const std::string &name)
{
	if (const auto found = functions.find(name); found != functions.end()) {
		Unary function = found->second;
		if (elementFunction(function.function).hasParameter)
			function.parameter = reader.number("alpha", function.parameter);
		return function;
	}
	for (unsigned code = 1; const auto *function = findElementFunction(code); code++)
		if (!function->hasParameter && plainName(function->name) == name)
			return Unary{ static_cast<OfOne>(code) };
	return std::nullopt;
}

} /* namespace */

std::optional<Tensor> readCommon(OperandReader &reader, const std::string &type)
{
	const std::string name = plainName(type);

	if (const auto function = functionOf(reader, name))
		return legalize::unary(reader, reader.input(0), *function);
	if (const auto found = binaries.find(name); found != binaries.end()) {
		const auto &[function, least] = found->second;
		return legalize::several(reader, { function, reader.activation() },
					 reader.allInputs(least));
	}
	if (const auto found = reductions.find(name); found != reductions.end()) {
		const auto &[method, around] = found->second;
		return legalize::reduced(reader, reader.input(0), reductionOf(reader), method,
					 around);
	}
	const auto other = others.find(name);
	return other == others.end() ? std::nullopt : std::optional(other->second(reader));
}

} /* namespace nvdla::compiler */
