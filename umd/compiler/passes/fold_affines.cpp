/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/number/element_functions.h"

namespace nvdla::compiler
{

namespace
{

/* A constant's numbers, one for each kernel; empty if the constant has other axes. */
std::vector<double> perKernel(const Value &constant, uint32_t kernels)
{
	std::vector<double> numbers = realNumbers(constant);

	if (numbers.size() == 1)
		numbers.assign(kernels, numbers.front());
	const bool lastAxis = !constant.shape.empty() && constant.shape.back() == kernels;
	return numbers.size() == kernels && (lastAxis || elementCount(constant.shape) == 1)
		       ? numbers
		       : std::vector<double>{};
}

/* Multiplies kernels and bias by factors and adds sums to the bias, one for each kernel. */
void fold(Model &model, Operator &conv, const std::vector<double> &factors,
	  const std::vector<double> &sums)
{
	const ValueId weights = conv.inputs[1];
	const Extents shape = model.values[weights].shape;
	const size_t kernel = elementCount(shape) / shape.front();
	std::vector<double> elements = realNumbers(model.values[weights]);
	std::vector<double> bias = conv.inputs.size() > 2
					   ? realNumbers(model.values[conv.inputs[2]])
					   : std::vector<double>(shape.front());

	for (size_t i = 0; i < elements.size(); i++)
		elements[i] *= factors[i / kernel];
	for (size_t k = 0; k < bias.size(); k++)
		bias[k] = bias[k] * factors[k] + sums[k];
	conv.inputs.resize(2);
	if (model.isReadOnce(weights))
		model.values[weights] = floatConstant(elements, shape);
	else
		conv.inputs[1] = model.add(floatConstant(elements, shape));
	conv.inputs.push_back(model.add(floatConstant(bias, { shape.front() })));
}

using Function = Elementwise::Function;

/* The writer of a float value that nothing else reads; nullptr if there is none. */
const Operator *ownWriter(const Model &model, ValueId value)
{
	return model.isReadOnce(value) && isFloat(model.values[value].type) ? model.writer(value)
									    : nullptr;
}

/* The function that writes a float value, if it is a square or the core has no good table of it. */
std::optional<Unary::Function> innerThatWrites(const Model &model, ValueId value)
{
	const Operator *writer = ownWriter(model, value);
	if (!writer || !isFloat(model.values[writer->inputs[0]].type))
		return std::nullopt;
	if (const auto *product = std::get_if<Elementwise>(&writer->kind)) {
		const bool isSquare = product->function == Function::Multiply &&
				      product->activation.isNone() &&
				      writer->inputs[0] == writer->inputs[1];
		return isSquare ? std::optional(Unary::Function::Square) : std::nullopt;
	}
	const auto *unary = std::get_if<Unary>(&writer->kind);
	if (!unary || *unary != Unary{ .function = unary->function })
		return std::nullopt;
	const ElementFunctionInfo &info = elementFunction(unary->function);
	if (info.hasParameter || (info.hasTables && unary->function != Unary::Function::Square))
		return std::nullopt;
	return unary->function;
}

/* Folds one operator into the function behind it; false if there is none to fold. */
bool foldOne(Model &model)
{
	for (Operator &operation : model.operators) {
		auto *unary = std::get_if<Unary>(&operation.kind);
		if (!unary || elementFunction(unary->function).hasTables ||
		    unary->inner != Unary::Function::Identity)
			continue;
		ValueId &input = operation.inputs[0];
		const auto line =
			ownWriter(model, input) ? lineThatWrites(model, input) : std::nullopt;
		if (line) {
			unary->shift += unary->scale * line->shift;
			unary->scale *= line->scale;
			input = line->of;
			return true;
		}
		if (const auto inner = innerThatWrites(model, input)) {
			unary->inner = *inner;
			input = model.writer(input)->inputs[0];
			return true;
		}
	}
	return false;
}

} /* namespace */

std::optional<Line> lineThatWrites(const Model &model, ValueId value)
{
	const Operator *writer = isFloat(model.values[value].type) ? model.writer(value) : nullptr;
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
	Line line{ writer->inputs[1 - at] };
	if (kind->function == Function::Multiply)
		line.scale = number;
	else if (kind->function == Function::Add)
		line.shift = number;
	else
		line = at == 0 ? Line{ line.of, -1, number } : Line{ line.of, 1, -number };
	return line;
}

bool foldAffine(Model &model, const Operator &operation)
{
	const auto *elementwise = std::get_if<Elementwise>(&operation.kind);
	if (!elementwise)
		return false;
	const bool first = model.values[operation.inputs[0]].isConstant;
	const ValueId from = operation.inputs[first ? 1 : 0], to = operation.outputs.front();
	const Value constant = model.values[operation.inputs[first ? 0 : 1]];
	Operator *conv = model.writer(from);

	if (!conv || !model.isReadOnce(from) || !traitsOf(conv->kind).takesFactors ||
	    !activationOf(conv->kind)->isNone() || !constant.isConstant ||
	    elementwise->function > Function::Multiply ||
	    (first && elementwise->function == Function::Subtract) ||
	    !isFloat(model.values[from].type) || !isFloat(model.values[to].type) ||
	    !isFloat(model.values[conv->inputs[0]].type) ||
	    !isFloat(model.values[conv->inputs[1]].type) ||
	    model.values[from].shape != model.values[to].shape)
		return false;
	const uint32_t kernels = model.values[conv->inputs[1]].shape.front();
	std::vector<double> numbers = perKernel(constant, kernels);
	if (numbers.empty())
		return false;
	if (elementwise->function == Function::Subtract)
		std::transform(numbers.begin(), numbers.end(), numbers.begin(), std::negate<>());
	std::vector<double> factors(kernels, 1), sums(kernels, 0);
	(elementwise->function == Function::Multiply ? factors : sums) = numbers;
	fold(model, *conv, factors, sums);
	*activationOf(conv->kind) = elementwise->activation;
	conv->outputs.front() = to;
	return true;
}

bool fuseActivation(Model &model, const Operator &operation)
{
	const auto *unary = std::get_if<Unary>(&operation.kind);
	if (!unary || unary->function != Unary::Function::Identity)
		return false;
	const ValueId from = operation.inputs.front(), to = operation.outputs.front();
	const Value &before = model.values[from], &after = model.values[to];
	Operator *writer = model.writer(from);
	Clamp *activation = writer ? activationOf(writer->kind) : nullptr;
	if (!activation || !activation->isNone() || !model.isReadOnce(from) ||
	    before.type != after.type || before.quantization != after.quantization)
		return false;
	*activation = unary->activation;
	writer->outputs.front() = to;
	return true;
}

void foldIntoFunctions(Model &model)
{
	/* A folded operator counts as a reader of its input, which prevents folding: remove it. */
	while (foldOne(model))
		removeUnused(model);
}

} /* namespace nvdla::compiler */
