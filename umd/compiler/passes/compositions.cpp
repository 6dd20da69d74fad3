/* SPDX-License-Identifier: MIT */
/*
 * Finds compositions of operators that one operator can replace.
 */
#include "passes.h"

#include <cmath>
#include <numbers>
#include <optional>

namespace nvdla::compiler
{

namespace
{

using Function = Elementwise::Function;

const Operator *elementwiseThatWrites(const Model &model, ValueId value, Function function)
{
	const Operator *writer = model.writer(value);
	const auto *kind = writer ? std::get_if<Elementwise>(&writer->kind) : nullptr;

	return kind && kind->function == function && kind->activation.isNone() ? writer : nullptr;
}

const Operator *unaryThatWrites(const Model &model, ValueId value, const Unary &function)
{
	const Operator *writer = model.writer(value);
	const auto *kind = writer ? std::get_if<Unary>(&writer->kind) : nullptr;

	return kind && *kind == function ? writer : nullptr;
}

const Operator *powerThatWrites(const Model &model, ValueId value, double exponent)
{
	return unaryThatWrites(model, value, { Unary::Function::Power, exponent, {} });
}

/* Value whose mean, sum or maximum over all channels is \a value. */
std::optional<ValueId> reducedOf(const Model &model, ValueId value, Pool::Method method)
{
	const Operator *writer = model.writer(value);
	const auto *reduction = writer ? std::get_if<ChannelReduction>(&writer->kind) : nullptr;

	if (!reduction || reduction->method != method)
		return std::nullopt;
	return writer->inputs[0];
}

std::optional<ValueId> meanOf(const Model &model, ValueId value)
{
	return reducedOf(model, value, Pool::Method::Average);
}

/* Value from which \a value results by subtracting its mean. */
std::optional<ValueId> centered(const Model &model, ValueId value)
{
	const Operator *difference = elementwiseThatWrites(model, value, Function::Subtract);

	if (!difference || meanOf(model, difference->inputs[1]) != difference->inputs[0])
		return std::nullopt;
	return difference->inputs[0];
}

/* Value whose square is \a value: by a function, or by a product. */
std::optional<ValueId> rootOf(const Model &model, ValueId value)
{
	if (const Operator *square = unaryThatWrites(model, value, { Unary::Function::Square }))
		return square->inputs[0];
	const Operator *product = elementwiseThatWrites(model, value, Function::Multiply);
	if (product && product->inputs[0] == product->inputs[1])
		return product->inputs[0];
	return std::nullopt;
}

/* Number that a constant of one element holds. */
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

/* The variance that \a value is, and the constant added to it. */
std::optional<Variance> varianceOf(const Model &model, ValueId value)
{
	const Operator *sum = elementwiseThatWrites(model, value, Function::Add);
	if (!sum)
		return std::nullopt;
	const bool first = model.values[sum->inputs[0]].isConstant;
	const auto epsilon = numberOf(model, sum->inputs[first ? 0 : 1]);
	if (!epsilon)
		return std::nullopt;
	const auto squares = meanOf(model, sum->inputs[first ? 1 : 0]);
	const auto difference = squares ? rootOf(model, *squares) : std::nullopt;
	const auto of = difference ? centered(model, *difference) : std::nullopt;
	if (!of)
		return std::nullopt;
	return Variance{ *of, *epsilon };
}

/* Value whose root, or reciprocal of the root, is \a value. */
std::optional<ValueId> radicandOf(const Model &model, ValueId value, bool isReciprocal)
{
	const Operator *root = powerThatWrites(model, value, isReciprocal ? -0.5 : 0.5);
	if (root)
		return root->inputs[0];
	const Operator *reciprocal = isReciprocal ? powerThatWrites(model, value, -1) : nullptr;
	return reciprocal ? radicandOf(model, reciprocal->inputs[0], false) : std::nullopt;
}

/* A difference divided by a root, or times the reciprocal of one. */
std::optional<Variance> standardized(const Model &model, const Operator &operation)
{
	const auto *kind = std::get_if<Elementwise>(&operation.kind);
	if (!kind || !kind->activation.isNone() ||
	    (kind->function != Function::Divide && kind->function != Function::Multiply))
		return std::nullopt;
	const bool divides = kind->function == Function::Divide;
	for (const size_t at : { 0U, 1U }) {
		const auto radicand = radicandOf(model, operation.inputs[1 - at], !divides);
		const auto variance = radicand ? varianceOf(model, *radicand) : std::nullopt;
		if (variance && (!divides || at == 0) &&
		    centered(model, operation.inputs[at]) == variance->of)
			return variance;
	}
	return std::nullopt;
}

/* Value whose softmax an operator computes; subtracting its maximum first is optional. */
std::optional<ValueId> softmaxOf(const Model &model, const Operator &operation)
{
	const auto *kind = std::get_if<Elementwise>(&operation.kind);
	if (!kind || !kind->activation.isNone() || kind->function != Function::Divide ||
	    reducedOf(model, operation.inputs[1], Pool::Method::Sum) != operation.inputs[0])
		return std::nullopt;
	const Operator *exponential =
		unaryThatWrites(model, operation.inputs[0], { Unary::Function::Exp });
	if (!exponential)
		return std::nullopt;
	const ValueId of = exponential->inputs[0];
	const Operator *difference = elementwiseThatWrites(model, of, Function::Subtract);
	const bool isLessMaximum =
		difference &&
		reducedOf(model, difference->inputs[1], Pool::Method::Max) == difference->inputs[0];
	return isLessMaximum ? difference->inputs[0] : of;
}

/* Value multiplied by a number. */
struct Scaled {
	ValueId of;
	double by = 1;
};

/* The value and the factor of any number of products with constants. */
Scaled scaledOf(const Model &model, ValueId value)
{
	Scaled scaled{ value };

	for (auto line = lineThatWrites(model, value); line && line->shift == 0;
	     line = lineThatWrites(model, scaled.of))
		scaled = { line->of, scaled.by * line->scale };
	return scaled;
}

/* Exporters write constants with seven digits, or fewer. */
bool isAbout(double number, double wanted)
{
	return std::abs(number / wanted - 1) < 1e-4;
}

bool isCubeOf(const Model &model, ValueId value, ValueId x)
{
	const Operator *product = elementwiseThatWrites(model, value, Function::Multiply);
	const auto isRest = [&](size_t at) {
		return product->inputs[at] == x && rootOf(model, product->inputs[1 - at]) == x;
	};

	return product && (isRest(0) || isRest(1));
}

/* The argument of GELU's hyperbolic tangent, sqrt(2 / pi) * (x + 0.044715 * x^3). */
bool isCubicOf(const Model &model, const Scaled &argument, ValueId x)
{
	const Operator *sum = elementwiseThatWrites(model, argument.of, Function::Add);
	const auto isCubic = [&](size_t at) {
		const Scaled cube = scaledOf(model, sum->inputs[1 - at]);
		return sum->inputs[at] == x && isAbout(cube.by, 0.044715) &&
		       isCubeOf(model, cube.of, x);
	};

	return sum && isAbout(argument.by, std::sqrt(2 / std::numbers::pi)) &&
	       (isCubic(0) || isCubic(1));
}

/* GELU: x * (1 + erf(x / sqrt(2))) / 2, or its approximation by a hyperbolic tangent. */
std::optional<Unary> geluOf(const Model &model, ValueId x, const Scaled &sum)
{
	const Operator *add = elementwiseThatWrites(model, sum.of, Function::Add);

	for (const size_t at : { 0U, 1U }) {
		const auto one = add ? numberOf(model, add->inputs[at]) : std::nullopt;
		if (!one || !isAbout(*one * sum.by, 0.5))
			continue;
		const Scaled function = scaledOf(model, add->inputs[1 - at]);
		if (!isAbout(function.by * sum.by, 0.5))
			continue;
		const Operator *erf = unaryThatWrites(model, function.of, { Unary::Function::Erf });
		const Operator *tangent =
			unaryThatWrites(model, function.of, { Unary::Function::Tanh });
		const Scaled argument = erf || tangent
						? scaledOf(model, (erf ? erf : tangent)->inputs[0])
						: Scaled{ x, 0 };
		if (erf && argument.of == x && isAbout(argument.by, std::sqrt(0.5)))
			return Unary{ Unary::Function::Gelu };
		if (tangent && isCubicOf(model, argument, x))
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

/* Value of a variance, its mean, and the kind of operator that makes means. */
struct VarianceParts {
	ValueId of;
	ValueId mean;
	Kind kind;
};

/* The mean of squares, less the square of the mean. */
std::optional<VarianceParts> partsOfVariance(const Model &model, const Operator &operation)
{
	const ValueId result = operation.outputs.front();

	if (elementwiseThatWrites(model, result, Function::Subtract) != &operation ||
	    !isFloat(model.values[result].type))
		return std::nullopt;
	const auto mean = rootOf(model, operation.inputs[1]);
	const Operator *ofSquares = model.writer(operation.inputs[0]);
	const Operator *ofNumbers = mean ? model.writer(*mean) : nullptr;
	if (!ofSquares || !ofNumbers || !isMean(model, *ofSquares) || !isMean(model, *ofNumbers) ||
	    ofSquares->kind.index() != ofNumbers->kind.index() ||
	    rootOf(model, ofSquares->inputs[0]) != ofNumbers->inputs[0])
		return std::nullopt;
	return VarianceParts{ ofNumbers->inputs[0], *mean, ofSquares->kind };
}

/* An operator like \a other that makes a value of the shape of \a like. */
Operator operatorBefore(Model &model, const Operator &other, const char *what, Kind kind,
			ValueId like)
{
	Value value = model.values[like];
	Operator made = other;

	value.name = other.name + what;
	made.name = value.name;
	made.kind = std::move(kind);
	made.outputs = { model.add(std::move(value)) };
	return made;
}

/* An operator that replaces several ones, and its input. */
struct Composition {
	Kind kind;
	ValueId of;
};

/* Replace operators by the compositions that \a find returns for them. */
template<typename Find>
void replaceEach(Model &model, Find find)
{
	bool found = false;

	for (Operator &operation : model.operators) {
		const std::optional<Composition> one = find(operation);
		if (!one)
			continue;
		operation.kind = one->kind;
		operation.inputs = { one->of };
		found = true;
	}
	if (found)
		removeUnused(model);
}

} /* namespace */

void findVariances(Model &model)
{
	const size_t before = model.operators.size();

	expandEach(model, [&](const Operator &operation) -> std::vector<Operator> {
		const auto parts = partsOfVariance(model, operation);
		if (!parts)
			return {};
		Operator centered =
			operatorBefore(model, operation, " centered",
				       Elementwise{ Function::Subtract, {} }, parts->of);
		Operator square =
			operatorBefore(model, operation, " squared",
				       Unary{ .function = Unary::Function::Square }, parts->of);
		Operator mean = operation;
		centered.inputs = { parts->of, parts->mean };
		square.inputs = centered.outputs;
		mean.kind = parts->kind;
		mean.inputs = square.outputs;
		return { centered, square, mean };
	});
	if (model.operators.size() > before)
		removeUnused(model);
}

void findSoftmaxes(Model &model)
{
	replaceEach(model, [&](const Operator &operation) -> std::optional<Composition> {
		const auto of = softmaxOf(model, operation);
		return of ? std::optional(Composition{ Softmax{}, *of }) : std::nullopt;
	});
}

void findGelus(Model &model)
{
	replaceEach(model, [&](const Operator &operation) -> std::optional<Composition> {
		if (!isFloat(model.values[operation.outputs.front()].type))
			return std::nullopt;
		const Scaled whole = scaledOf(model, operation.outputs.front());
		const Operator *product =
			elementwiseThatWrites(model, whole.of, Function::Multiply);
		if (!product)
			return std::nullopt;
		for (const size_t at : { 0U, 1U }) {
			const Scaled x = scaledOf(model, product->inputs[at]);
			Scaled sum = scaledOf(model, product->inputs[1 - at]);
			sum.by *= x.by * whole.by;
			if (const auto gelu = geluOf(model, x.of, sum))
				return Composition{ *gelu, x.of };
		}
		return std::nullopt;
	});
}

void findStandardizations(Model &model)
{
	replaceEach(model, [&](const Operator &operation) -> std::optional<Composition> {
		const auto variance = standardized(model, operation);
		if (!variance)
			return std::nullopt;
		return Composition{ OverChannels{ .function = OverChannels::Function::Standardize,
						  .shift = variance->epsilon },
				    variance->of };
	});
}

} /* namespace nvdla::compiler */
