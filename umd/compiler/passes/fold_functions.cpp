/* SPDX-License-Identifier: MIT */
/*
 * What a function on the CPU takes over from the operators before it.
 */
#include "passes.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/number/element_functions.h"

namespace nvdla::compiler
{

namespace
{

using Function = Elementwise::Function;

/* The writer of a float value that nothing else reads; nullptr if there is none. */
const Operator *ownWriter(const Model &model, ValueId value)
{
	const bool isShared = model.readers(value).size() != 1 || model.isOutput(value) ||
			      !isFloat(model.values[value].type);

	return isShared ? nullptr : model.writer(value);
}

/* scale * x + shift, of a value x. */
struct Line {
	ValueId of;
	double scale;
	double shift;
};

/* A sum or a product of a tensor and one number. */
std::optional<Line> lineThatWrites(const Model &model, ValueId value)
{
	const Operator *writer = ownWriter(model, value);
	const auto *kind = writer ? std::get_if<Elementwise>(&writer->kind) : nullptr;
	if (!kind || !kind->activation.isNone() || kind->function > Function::Multiply)
		return std::nullopt;
	const size_t at = model.values[writer->inputs[0]].isConstant ? 0 : 1;
	const Value &constant = model.values[writer->inputs[at]];
	const Value &tensor = model.values[writer->inputs[1 - at]];
	if (!constant.isConstant || tensor.isConstant || !isFloat(tensor.type) ||
	    tensor.shape != model.values[value].shape)
		return std::nullopt;
	const std::vector<double> numbers = realNumbers(constant);
	if (numbers.empty() ||
	    std::ranges::adjacent_find(numbers, std::not_equal_to<>()) != numbers.end())
		return std::nullopt;
	const double number = numbers.front();
	Line line{ writer->inputs[1 - at], 1, 0 };
	if (kind->function == Function::Multiply)
		line.scale = number;
	else if (kind->function == Function::Add)
		line.shift = number;
	else
		line = at == 0 ? Line{ line.of, -1, number } : Line{ line.of, 1, -number };
	return line;
}

/* A function that the core has no good table of, or a square. */
struct Inner {
	ValueId of;
	Unary::Function function;
};

std::optional<Inner> innerThatWrites(const Model &model, ValueId value)
{
	const Operator *writer = ownWriter(model, value);
	if (!writer || !isFloat(model.values[writer->inputs[0]].type))
		return std::nullopt;
	if (const auto *product = std::get_if<Elementwise>(&writer->kind)) {
		const bool isSquare = product->function == Function::Multiply &&
				      product->activation.isNone() &&
				      writer->inputs[0] == writer->inputs[1];
		return isSquare ? std::optional(Inner{ writer->inputs[0], Unary::Function::Square })
				: std::nullopt;
	}
	const auto *unary = std::get_if<Unary>(&writer->kind);
	if (!unary || *unary != Unary{ .function = unary->function })
		return std::nullopt;
	const ElementFunctionInfo &info = elementFunction(unary->function);
	if (info.hasParameter || (info.hasTables && unary->function != Unary::Function::Square))
		return std::nullopt;
	return Inner{ writer->inputs[0], unary->function };
}

/* One operator into the function behind it; false if there is none to fold. */
bool foldOne(Model &model)
{
	for (Operator &operation : model.operators) {
		auto *unary = std::get_if<Unary>(&operation.kind);
		if (!unary || elementFunction(unary->function).hasTables ||
		    unary->inner != Unary::Function::Identity)
			continue;
		ValueId &input = operation.inputs[0];
		if (const auto line = lineThatWrites(model, input)) {
			unary->shift += unary->scale * line->shift;
			unary->scale *= line->scale;
			input = line->of;
			return true;
		}
		if (const auto inner = innerThatWrites(model, input)) {
			unary->inner = inner->function;
			input = inner->of;
			return true;
		}
	}
	return false;
}

} /* namespace */

void foldIntoFunctions(Model &model)
{
	/* What was folded reads nothing any more. */
	while (foldOne(model))
		removeUnused(model);
}

} /* namespace nvdla::compiler */
