/* SPDX-License-Identifier: MIT */
#include "evaluator.h"

#include <algorithm>
#include <cmath>

#include "base/tensor/number_kernels.h"

namespace nvdla::compiler
{

namespace
{

void clampAll(RealNumbers &numbers, const Clamp &clamp)
{
	const auto low = static_cast<float>(clamp.low), high = static_cast<float>(clamp.high);

	for (float &number : numbers)
		number = std::min(std::max(number, low), high);
}

/* Rounds numbers as if they were written as integers. */
void quantizeAll(RealNumbers &numbers, const Value &value)
{
	const Quantization quantization = value.quantization.channel(0);
	const double scale = quantization.scale;
	const IntegerLimits limits =
		value.type == ElementType::UInt8
			? IntegerLimits{ 0, UINT8_MAX }
			: integerLimits(static_cast<unsigned>(8 * elementBytes(value.type)));
	const auto low = static_cast<double>(limits.lowest - quantization.zeroPoint);
	const auto high = static_cast<double>(limits.highest - quantization.zeroPoint);

	/* Quantization::quantize(), without calls in the loop. */
	for (float &number : numbers) {
		double steps = std::isnan(number) ? 0 : number / scale;
		steps = std::min(std::max(steps, low), high);
		const auto rounded = static_cast<int32_t>(steps + std::copysign(nearlyHalf, steps));
		number = static_cast<float>(scale * rounded);
	}
}

} /* namespace */

Evaluator::Evaluator(const Model &model) : model_(model), constants_(model.values.size())
{
	for (ValueId id = 0; id < model.values.size(); id++) {
		if (!model.values[id].isConstant)
			continue;
		const std::vector<double> numbers = realNumbers(model.values[id]);
		constants_[id].assign(numbers.begin(), numbers.end());
	}
}

RealNumbers Evaluator::evaluate(const Operator &operation, const std::vector<RealNumbers> &values,
				RealNumbers result) const
{
	const Value &output = model_.values[operation.outputs.front()];
	RealStep step{ model_, operation, {}, result };

	result.assign(elementCount(output.shape), 0);
	for (const ValueId id : operation.inputs)
		step.inputs.push_back(model_.values[id].isConstant ? &constants_[id] : &values[id]);
	std::visit([&](const auto &kind) { compute(step, kind); }, operation.kind);
	if (const Clamp *clamp = activationOf(operation.kind); clamp && !clamp->isNone())
		clampAll(result, *clamp);
	if (!isFloat(output.type) && !output.quantization.none())
		quantizeAll(result, output);
	return result;
}

std::vector<RealNumbers> Evaluator::run(std::span<const RealNumbers> inputs,
					std::vector<RealNumbers> values) const
{
	values.resize(model_.values.size());
	for (size_t i = 0; i < model_.inputs.size(); i++) {
		const ValueId id = model_.inputs[i];
		values[id] = inputs[i];
		if (!isFloat(model_.values[id].type))
			quantizeAll(values[id], model_.values[id]);
	}
	for (const Operator &operation : model_.operators) {
		RealNumbers &result = values[operation.outputs.front()];
		result = evaluate(operation, values, std::move(result));
	}
	return values;
}

} /* namespace nvdla::compiler */
