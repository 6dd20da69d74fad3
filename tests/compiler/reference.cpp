/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include "fixed_point.h"
#include "reference_operator.h"

namespace nvdla::test
{

using namespace compiler;

double OperatorReference::saturate(int64_t number, const Clamp &activation) const
{
	const IntegerLimits limits = limitsOf(out_.type);
	auto steps = [&](double bound, int64_t unlimited) -> int64_t {
		if (!std::isfinite(bound))
			return unlimited;
		const float q = static_cast<float>(bound) / static_cast<float>(scale(out_));
		return limits.saturate(zero(out_) + whole(std::floor(q + 0.5f)));
	};

	return static_cast<double>(std::clamp(number, steps(activation.low, limits.lowest),
					      steps(activation.high, limits.highest)));
}

double OperatorReference::finish(double sum, uint32_t k, const Clamp &activation) const
{
	if (isReal()) {
		const Value &weights = value(1);
		const double factor = weights.quantization.none() ? 1 : scale(weights, k);
		return std::clamp(sum * factor + bias(k), activation.low, activation.high);
	}
	const double input = scale(value(0)), weights = scale(value(1), k), output = scale(out_);
	if (roundsOnce())
		return nearest((sum + bias(k)) * input * weights / output, activation);
	/* uint8's kernels round the first product to float32. */
	const double product = out_.type == ElementType::UInt8
				       ? static_cast<double>(static_cast<float>(input) *
							     static_cast<float>(weights))
				       : input * weights;
	const RealFactor factor = realFactor(product / output);
	const int64_t total = whole(sum + bias(k));
	const int64_t steps = out_.type == ElementType::Int16 ? multiplyWide(total, factor)
							      : multiply(total, factor);

	return saturate(steps + zero(out_), activation);
}

Numbers OperatorReference::activations() const
{
	constexpr float most = 127;
	Numbers x = in(0);

	if (hybrid_ == Hybrid::Exact || !isReal() || isFloat(value(1).type))
		return x;
	float largest = 0;
	for (const double number : x)
		largest = std::max(largest, std::fabs(static_cast<float>(number)));
	if (largest == 0)
		return x;
	for (double &number : x)
		number = std::round(static_cast<float>(number) * (most / largest)) *
			 (largest / most);
	return x;
}

void evaluate(const Model &model, const Operator &operation, std::vector<Numbers> &values,
	      Hybrid hybrid)
{
	std::visit(OperatorReference(model, operation, values, hybrid), operation.kind);
}

std::vector<Numbers> evaluate(const Model &model, const std::vector<Numbers> &inputs, Hybrid hybrid)
{
	std::vector<Numbers> values(model.values.size());

	for (ValueId id = 0; id < values.size(); id++) {
		/* Float16 behind DEQUANTIZE: numbers. Kernels of hybrid models keep their scales.
		 */
		if (model.values[id].isConstant)
			values[id] = rawNumbers(model.values[id]);
	}
	for (size_t i = 0; i < model.inputs.size(); i++)
		values[model.inputs[i]] = inputs[i];
	for (const Operator &operation : model.operators)
		evaluate(model, operation, values, hybrid);
	return values;
}

} /* namespace nvdla::test */
