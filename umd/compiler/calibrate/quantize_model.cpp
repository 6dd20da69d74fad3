/* SPDX-License-Identifier: MIT */
#include "quantize_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace nvdla::compiler
{

namespace
{

/* Of values that are 0 throughout; any would do. */
constexpr double scaleOfNothing = 1.0 / 128;

/* Whether the integers of the result are those of the inputs. */
bool movesElements(const Kind &kind)
{
	const auto *pool = std::get_if<Pool>(&kind);
	const auto *concatenation = std::get_if<Concatenation>(&kind);

	return std::holds_alternative<Reshape>(kind) || std::holds_alternative<Pad>(kind) ||
	       std::holds_alternative<Slice>(kind) || std::holds_alternative<Transpose>(kind) ||
	       (pool && isExtreme(pool->method)) ||
	       (concatenation && concatenation->activation.isNone());
}

/* Values that have one range: each knows another one, the last one itself. */
class Groups
{
public:
	explicit Groups(size_t count) : next_(count)
	{
		std::iota(next_.begin(), next_.end(), ValueId{ 0 });
	}
	ValueId of(ValueId id)
	{
		while (next_[id] != id)
			id = next_[id] = next_[next_[id]];
		return id;
	}
	void join(ValueId a, ValueId b) { next_[of(a)] = of(b); }

private:
	std::vector<ValueId> next_;
};

/* 256 steps from the lowest to the highest, of which 0 is one, as formats define it. */
Range limitsOf(const Operator &operation, const Range &seen)
{
	constexpr double steps = 256;
	const auto *unary = std::get_if<Unary>(&operation.kind);
	const auto *softmax = std::get_if<Softmax>(&operation.kind);

	if ((softmax && !softmax->isLogarithm) ||
	    (unary && unary->function == Unary::Function::Logistic))
		return { 0, (steps - 1) / steps };
	if (unary && unary->function == Unary::Function::Tanh)
		return { -1, (steps - 2) / steps };
	return seen;
}

Quantization quantizationFor(const Range &range, DataType type)
{
	const auto zeroPoint = type == DataType::Int8 ? ZeroPoint::Free : ZeroPoint::Zero;
	auto quantization = quantizationOf(range.low, range.high, type, zeroPoint);

	return quantization ? *quantization : Quantization{ scaleOfNothing, 0 };
}

ElementType elementTypeOf(DataType type)
{
	return type == DataType::Int8 ? ElementType::Int8 : ElementType::Int16;
}

/* A step of a kernel; with it the bias, in steps of the sums, has to fit 30 bits. */
double kernelStep(std::span<const double> kernel, double bias, double inputStep, double most)
{
	constexpr int biasBits = 30;
	double largest = 0;

	for (const double element : kernel)
		largest = std::max(largest, std::fabs(element));
	const double step =
		std::max(largest / most, std::ldexp(std::fabs(bias) / inputStep, -biasBits));
	return step > 0 ? step : 1 / most;
}

/* Integers for a kernel tensor, with a scale for each output channel. */
Value integerKernels(const Value &weights, const std::vector<double> &bias, double inputStep,
		     DataType type)
{
	const auto most = static_cast<double>(integerLimits(type).highest);
	const std::vector<double> numbers = realNumbers(weights);
	const size_t kernel = numbers.size() / weights.shape.front();
	const size_t bytes = elementBytes(elementTypeOf(type));
	std::vector<Quantization> scales;
	Value value = weights;

	value.type = elementTypeOf(type);
	value.quantizedAxis = 0;
	value.data.assign(numbers.size() * bytes, std::byte{});
	for (size_t k = 0; k < weights.shape.front(); k++) {
		const auto elements = std::span(numbers).subspan(k * kernel, kernel);
		const Quantization scale{
			kernelStep(elements, bias.empty() ? 0 : bias[k], inputStep, most), 0
		};
		scales.push_back(scale);
		for (size_t i = 0; i < kernel; i++) {
			const auto element =
				static_cast<int16_t>(scale.quantize(elements[i], type));
			/* Little endian: the low byte is first. */
			std::memcpy(&value.data[(k * kernel + i) * bytes], &element, bytes);
		}
	}
	value.quantization = TensorQuantization(std::move(scales));
	return value;
}

} /* namespace */

void settleRanges(const Model &model, std::vector<Range> &ranges)
{
	Groups groups(model.values.size());

	for (const Operator &operation : model.operators) {
		const ValueId output = operation.outputs.front();
		ranges[output] = limitsOf(operation, ranges[output]);
		for (const ValueId input : operation.inputs) {
			if (movesElements(operation.kind) && !model.values[input].isConstant)
				groups.join(input, output);
		}
	}
	for (ValueId id = 0; id < ranges.size(); id++)
		ranges[groups.of(id)].include(ranges[id]);
	for (ValueId id = 0; id < ranges.size(); id++)
		ranges[id] = ranges[groups.of(id)];
}

void quantizeModel(Model &model, const std::vector<Range> &ranges, DataType type)
{
	for (ValueId id = 0; id < model.values.size(); id++) {
		Value &value = model.values[id];
		if (value.isConstant || !isFloat(value.type))
			continue;
		value.type = elementTypeOf(type);
		value.quantization = quantizationFor(ranges[id], type);
	}
	for (Operator &operation : model.operators) {
		/* Kernels of hybrid models are integers. */
		if (!hasKernels(operation.kind) || !isFloat(model.values[operation.inputs[1]].type))
			continue;
		const Value &weights = model.values[operation.inputs[1]];
		const double step = model.values[operation.inputs[0]].quantization.channel(0).scale;
		const std::vector<double> bias =
			operation.inputs.size() > 2 ? realNumbers(model.values[operation.inputs[2]])
						    : std::vector<double>{};
		/* Kernels may be those of several operators, with other biases. */
		operation.inputs[1] = model.add(integerKernels(weights, bias, step, type));
	}
	/* No other kernels have to be met: one rounding is nearer to the float model. */
	model.roundingOf8Bits = ScaleRounding::Once;
}

} /* namespace nvdla::compiler */
