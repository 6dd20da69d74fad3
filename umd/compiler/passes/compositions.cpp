/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

namespace nvdla::compiler
{

namespace
{

using Function = Elementwise::Function;

/* Whether an operator computes a function of two tensors, without an activation. */
bool computes(const Operator &operation, Function function)
{
	const auto *kind = std::get_if<Elementwise>(&operation.kind);

	return kind && kind->function == function && kind->activation.isNone();
}

const Operator *elementwiseThatWrites(const Model &model, ValueId value, Function function)
{
	const Operator *writer = model.writer(value);

	return writer && computes(*writer, function) ? writer : nullptr;
}

/* Both orders of the operands of \a value's writer; none if it does not compute \a function. */
std::vector<std::pair<ValueId, ValueId>> operandsOf(const Model &model, ValueId value,
						    Function function)
{
	const Operator *writer = elementwiseThatWrites(model, value, function);
	if (!writer)
		return {};
	const ValueId a = writer->inputs[0], b = writer->inputs[1];
	return { { a, b }, { b, a } };
}

/* The value x if \a value is function(x). */
std::optional<ValueId> argumentOf(const Model &model, ValueId value, const Unary &function)
{
	const Operator *writer = model.writer(value);
	const auto *kind = writer ? std::get_if<Unary>(&writer->kind) : nullptr;

	return kind && *kind == function ? std::optional(writer->inputs[0]) : std::nullopt;
}

/* The value whose mean, sum or maximum over all channels is \a value. */
std::optional<ValueId> reducedOf(const Model &model, ValueId value, Pool::Method method)
{
	const Operator *writer = model.writer(value);
	const auto *reduction = writer ? std::get_if<ChannelReduction>(&writer->kind) : nullptr;

	if (!reduction || reduction->method != method)
		return std::nullopt;
	return writer->inputs[0];
}

/* The value x if \a value is x minus the mean of x. */
std::optional<ValueId> centered(const Model &model, ValueId value)
{
	const Operator *difference = elementwiseThatWrites(model, value, Function::Subtract);
	const auto of = difference ? reducedOf(model, difference->inputs[1], Pool::Method::Average)
				   : std::nullopt;

	return of && of == difference->inputs[0] ? of : std::nullopt;
}

/* The value x if \a value is x squared, by a function or as the product x * x. */
std::optional<ValueId> rootOf(const Model &model, ValueId value)
{
	const Operator *product = elementwiseThatWrites(model, value, Function::Multiply);

	if (product && product->inputs[0] == product->inputs[1])
		return product->inputs[0];
	return argumentOf(model, value, { Unary::Function::Square });
}

/* The real number in a constant of one element; nothing if \a value is no such constant. */
std::optional<double> numberOf(const Model &model, ValueId value)
{
	const Value &constant = model.values[value];

	if (!constant.isConstant || elementCount(constant.shape) != 1)
		return std::nullopt;
	return realNumbers(constant).front();
}

struct Variance {
	ValueId of;
	double epsilon;
};

/* If \a value is the variance of a value plus a constant: that value and the constant. */
std::optional<Variance> varianceOf(const Model &model, ValueId value)
{
	for (const auto &[constant, other] : operandsOf(model, value, Function::Add)) {
		const auto epsilon = numberOf(model, constant);
		const auto squares = reducedOf(model, other, Pool::Method::Average);
		const auto difference = squares ? rootOf(model, *squares) : std::nullopt;
		const auto of = difference ? centered(model, *difference) : std::nullopt;
		if (epsilon && of)
			return Variance{ *of, *epsilon };
	}
	return std::nullopt;
}

/* The value x if \a value is sqrt(x), or 1 / sqrt(x) if isReciprocal. */
std::optional<ValueId> radicandOf(const Model &model, ValueId value, bool isReciprocal)
{
	const auto ofPower = [&](ValueId power, double exponent) {
		return argumentOf(model, power, { Unary::Function::Power, exponent, {} });
	};

	if (!isReciprocal)
		return ofPower(value, 0.5);
	const auto root = ofPower(value, -1);
	return root ? ofPower(*root, 0.5) : ofPower(value, -0.5);
}

/* Returns x and the constant factor, maybe 1, if \a value is the factor times x. */
Line scaledOf(const Model &model, ValueId value)
{
	Line scaled{ value };

	for (auto line = lineThatWrites(model, value); line && line->shift == 0;
	     line = lineThatWrites(model, scaled.of))
		scaled = { line->of, scaled.scale * line->scale };
	return scaled;
}

/* Compares with a tolerance, because exporters write constants with seven digits or fewer. */
bool isAbout(double number, double wanted)
{
	return std::abs(number / wanted - 1) < 1e-4;
}

/* The argument of GELU's hyperbolic tangent, sqrt(2 / pi) * (x + 0.044715 * x^3). */
bool isCubicOf(const Model &model, const Line &argument, ValueId x)
{
	const auto isCube = [&](const auto &of) {
		return of.first == x && rootOf(model, of.second) == x;
	};
	const auto isCubic = [&](const auto &of) {
		const Line cube = scaledOf(model, of.second);
		return of.first == x && isAbout(cube.scale, 0.044715) &&
		       std::ranges::any_of(operandsOf(model, cube.of, Function::Multiply), isCube);
	};

	return isAbout(argument.scale, std::sqrt(2 / std::numbers::pi)) &&
	       std::ranges::any_of(operandsOf(model, argument.of, Function::Add), isCubic);
}

/* SiLU: x * logistic(x), or with a factor, which approximates GELU: x * logistic(1.702 * x). */
std::optional<Unary> siluOf(const Model &model, ValueId x, const Line &gate)
{
	const auto of = argumentOf(model, gate.of, { Unary::Function::Logistic });
	const Line argument = of ? scaledOf(model, *of) : Line{ gate.of };

	return of && argument.of == x && gate.scale == 1
		       ? std::optional(Unary{ Unary::Function::Silu, argument.scale, {} })
		       : std::nullopt;
}

/* GELU: x * (1 + erf(x / sqrt(2))) / 2, or its approximation by a hyperbolic tangent. */
std::optional<Unary> geluOf(const Model &model, ValueId x, const Line &sum)
{
	for (const auto &[constant, other] : operandsOf(model, sum.of, Function::Add)) {
		const auto one = numberOf(model, constant);
		const Line function = scaledOf(model, other);
		if (!one || !isAbout(*one * sum.scale, 0.5) ||
		    !isAbout(function.scale * sum.scale, 0.5))
			continue;
		if (const auto of = argumentOf(model, function.of, { Unary::Function::Erf })) {
			const Line argument = scaledOf(model, *of);
			if (argument.of == x && isAbout(argument.scale, std::sqrt(0.5)))
				return Unary{ Unary::Function::Gelu };
		}
		const auto of = argumentOf(model, function.of, { Unary::Function::Tanh });
		if (of && isCubicOf(model, scaledOf(model, *of), x))
			return Unary{ Unary::Function::GeluTanh };
	}
	return std::nullopt;
}

/* Whether an operator is a mean over channels, or over lines and columns. */
bool isMean(const Model &model, const Operator &operation)
{
	const auto *channels = std::get_if<ChannelReduction>(&operation.kind);
	const auto *pool = std::get_if<Pool>(&operation.kind);

	return channels ? channels->method == Pool::Method::Average
			: pool && pool->method == Pool::Method::Average &&
				  pool->activation.isNone() &&
				  pool->isWhole(model.values[operation.inputs[0]].shape);
}

/* Adds the single operator that replaces the matched ones; \a of is its input. */
void addInstead(Chain &chain, ValueId of, Kind kind)
{
	chain.last = of;
	chain.add(std::move(kind), chain.like.outputs.front());
}

} /* namespace */

void findVariances(const Operator &operation, Chain &chain)
{
	const Model &model = chain.model;
	const ValueId result = operation.outputs.front();
	if (!computes(operation, Function::Subtract) || !isFloat(model.values[result].type))
		return;
	const auto mean = rootOf(model, operation.inputs[1]);
	const Operator *ofSquares = model.writer(operation.inputs[0]);
	const Operator *ofNumbers = mean ? model.writer(*mean) : nullptr;
	if (!ofSquares || !ofNumbers || !isMean(model, *ofSquares) || !isMean(model, *ofNumbers) ||
	    ofSquares->kind.index() != ofNumbers->kind.index() ||
	    rootOf(model, ofSquares->inputs[0]) != ofNumbers->inputs[0])
		return;
	chain.last = ofNumbers->inputs[0];
	const Extents shape = model.values[chain.last].shape;
	chain.add(Elementwise{ Function::Subtract, {} }, " centered", shape, { *mean });
	chain.add(Unary{ Unary::Function::Square }, " squared", shape);
	chain.add(ofSquares->kind, result);
}

void findSoftmaxes(const Operator &operation, Chain &chain)
{
	const Model &model = chain.model;
	if (!computes(operation, Function::Divide) ||
	    reducedOf(model, operation.inputs[1], Pool::Method::Sum) != operation.inputs[0])
		return;
	const auto of = argumentOf(model, operation.inputs[0], { Unary::Function::Exp });
	if (!of)
		return;
	/* Files may subtract the maximum first, which changes no result. */
	const Operator *difference = elementwiseThatWrites(model, *of, Function::Subtract);
	const bool isLessMaximum =
		difference &&
		reducedOf(model, difference->inputs[1], Pool::Method::Max) == difference->inputs[0];
	addInstead(chain, isLessMaximum ? difference->inputs[0] : *of, Softmax{});
}

void findGelus(const Operator &operation, Chain &chain)
{
	const Model &model = chain.model;
	if (!isFloat(model.values[operation.outputs.front()].type))
		return;
	const Line whole = scaledOf(model, operation.outputs.front());
	for (const auto &[one, other] : operandsOf(model, whole.of, Function::Multiply)) {
		const Line x = scaledOf(model, one);
		Line sum = scaledOf(model, other);
		sum.scale *= x.scale * whole.scale;
		for (const auto find : { geluOf, siluOf })
			if (const auto found = find(model, x.of, sum))
				return addInstead(chain, x.of, *found);
	}
}

void findStandardizations(const Operator &operation, Chain &chain)
{
	const Model &model = chain.model;
	const bool divides = computes(operation, Function::Divide);
	if (!divides && !computes(operation, Function::Multiply))
		return;
	/* Instead of a division by the root, files may multiply by its reciprocal. */
	for (const size_t at : { 0U, 1U }) {
		const auto radicand = radicandOf(model, operation.inputs[1 - at], !divides);
		const auto variance = radicand ? varianceOf(model, *radicand) : std::nullopt;
		if (variance && (!divides || at == 0) &&
		    centered(model, operation.inputs[at]) == variance->of)
			return addInstead(
				chain, variance->of,
				OverChannels{ .function = OverChannels::Function::Standardize,
					      .shift = variance->epsilon });
	}
}

} /* namespace nvdla::compiler */
