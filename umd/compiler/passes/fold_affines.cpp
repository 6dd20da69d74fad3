/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

namespace nvdla::compiler
{

namespace
{

/* One number for each kernel; none if the constant is not that. */
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

/* The convolution that writes what an affine function alone reads; nullptr if there is none. */
Operator *convolutionBefore(Model &model, ValueId value)
{
	Operator *writer = model.writer(value);

	if (!writer || model.readers(value).size() != 1 || model.isOutput(value))
		return nullptr;
	const bool convolves = std::holds_alternative<Convolution>(writer->kind) ||
			       std::holds_alternative<FullyConnected>(writer->kind);
	return convolves && activationOf(writer->kind)->isNone() ? writer : nullptr;
}

/* Kernels and bias times and plus numbers, one for each kernel. */
void fold(Model &model, Operator &conv, const std::vector<double> &factors,
	  const std::vector<double> &sums)
{
	const Value weights = model.values[conv.inputs[1]];
	const size_t kernel = elementCount(weights.shape) / weights.shape.front();
	std::vector<double> elements = realNumbers(weights);
	std::vector<double> bias = conv.inputs.size() > 2
					   ? realNumbers(model.values[conv.inputs[2]])
					   : std::vector<double>(weights.shape.front());

	for (size_t i = 0; i < elements.size(); i++)
		elements[i] *= factors[i / kernel];
	for (size_t k = 0; k < bias.size(); k++)
		bias[k] = bias[k] * factors[k] + sums[k];
	conv.inputs.resize(2);
	conv.inputs[1] = model.add(floatConstant(elements, weights.shape));
	conv.inputs.push_back(model.add(floatConstant(bias, { weights.shape.front() })));
}

bool foldOne(Model &model, const Operator &operation, const Elementwise &elementwise)
{
	using Function = Elementwise::Function;
	const bool first = model.values[operation.inputs[0]].isConstant;
	const ValueId from = operation.inputs[first ? 1 : 0], to = operation.outputs.front();
	const Value constant = model.values[operation.inputs[first ? 0 : 1]];
	Operator *conv = convolutionBefore(model, from);

	if (!conv || !constant.isConstant || elementwise.function > Function::Multiply ||
	    (first && elementwise.function == Function::Subtract) ||
	    !isFloat(model.values[from].type) || !isFloat(model.values[to].type) ||
	    !isFloat(model.values[conv->inputs[0]].type) ||
	    !isFloat(model.values[conv->inputs[1]].type) ||
	    model.values[from].shape != model.values[to].shape)
		return false;
	const uint32_t kernels = model.values[conv->inputs[1]].shape.front();
	std::vector<double> numbers = perKernel(constant, kernels);
	if (numbers.empty())
		return false;
	if (elementwise.function == Function::Subtract)
		std::transform(numbers.begin(), numbers.end(), numbers.begin(), std::negate<>());
	if (elementwise.function == Function::Multiply)
		fold(model, *conv, numbers, std::vector<double>(kernels, 0));
	else
		fold(model, *conv, std::vector<double>(kernels, 1), numbers);
	*activationOf(conv->kind) = elementwise.activation;
	conv->outputs.front() = to;
	return true;
}

} /* namespace */

void foldAffines(Model &model)
{
	for (size_t i = 0; i < model.operators.size(); i++) {
		const Operator operation = model.operators[i];
		const auto *elementwise = std::get_if<Elementwise>(&operation.kind);
		if (!elementwise || !foldOne(model, operation, *elementwise))
			continue;
		model.operators.erase(model.operators.begin() + static_cast<ptrdiff_t>(i));
		i--;
	}
}

} /* namespace nvdla::compiler */
