/* SPDX-License-Identifier: MIT */
#include "onnx_quantized.h"

#include <cmath>
#include <numeric>

#include <fmt/ranges.h>

namespace nvdla::test
{

namespace
{

int64_t countOf(const std::vector<int64_t> &shape)
{
	return std::accumulate(shape.begin(), shape.end(), int64_t{ 1 }, std::multiplies<>());
}

} /* namespace */

QdqModel::QdqModel(uint32_t seed, std::optional<QdqQuantization> result)
	: random_(seed), result_(result)
{
}

void QdqModel::describe(const std::string &name, const std::vector<int64_t> &shape)
{
	description_ += fmt::format(" {} {}", name, fmt::join(shape, "x"));
}

void QdqModel::input(const std::vector<int64_t> &shape)
{
	const std::string name = "x" + std::to_string(numbers_.size());
	const int64_t low = least_ ? -128 + *least_ : -128;
	Numbers numbers;

	steps_ = { scale(-6, -3), least_ ? -128 : static_cast<int32_t>(from(-128, 127)) };
	for (int64_t i = countOf(shape); i > 0; i--)
		numbers.push_back(static_cast<double>(steps_.scale) *
				  static_cast<double>(from(low, 127) - steps_.zero));
	numbers_.push_back(std::move(numbers));
	builder.input(name, shape);
	operands_.push_back(result_ ? name + "_real" : name);
	describe(name, shape);
	if (!result_)
		return;
	const std::vector<std::string> steps = { name + "_scale", name + "_zero" };
	builder.floats(steps[0], {}, { steps_.scale });
	builder.integers(steps[1], {}, { steps_.zero });
	builder.node("QuantizeLinear", { name, steps[0], steps[1] }, name + "_integers");
	builder.node("DequantizeLinear", { name + "_integers", steps[0], steps[1] },
		     name + "_real");
}

void QdqModel::constant(const std::string &name, const std::vector<int64_t> &shape,
			const std::vector<int32_t> &integers, int32_t type,
			const std::vector<float> &scales, int64_t axis)
{
	operands_.push_back(name);
	describe(name, shape);
	if (result_) {
		builder.integers(name + "_integers", shape, integers, type);
		builder.floats(name + "_scale",
			       axis < 0 ? std::vector<int64_t>{}
					: std::vector{ static_cast<int64_t>(scales.size()) },
			       scales);
		onnx::Node *node = builder.node("DequantizeLinear",
						{ name + "_integers", name + "_scale" }, name);
		OnnxBuilder::set(node, "axis", { std::max<int64_t>(axis, 0) });
		return;
	}
	const int64_t inner = axis < 0 ? countOf(shape)
				       : std::accumulate(shape.begin() + axis + 1, shape.end(),
							 int64_t{ 1 }, std::multiplies<>());
	std::vector<float> numbers;
	for (size_t i = 0; i < integers.size(); i++)
		numbers.push_back(static_cast<float>(integers[i]) *
				  scales[static_cast<size_t>(static_cast<int64_t>(i) / inner) %
					 scales.size()]);
	builder.floats(name, shape, numbers);
}

void QdqModel::weights(const std::vector<int64_t> &shape, int64_t axis)
{
	std::vector<int32_t> integers;

	for (int64_t i = countOf(shape); i > 0; i--)
		integers.push_back(static_cast<int32_t>(from(-127, 127)));
	weightScales_.clear();
	for (int64_t k = axis < 0 ? 1 : shape[static_cast<size_t>(axis)]; k > 0; k--)
		weightScales_.push_back(scale(-9, -6));
	constant("weights", shape, integers, onnx::INT8, weightScales_, axis);
}

void QdqModel::bias(int64_t count)
{
	std::vector<int32_t> integers;
	std::vector<float> scales;

	for (int64_t k = 0; k < count; k++) {
		integers.push_back(static_cast<int32_t>(from(-2000, 2000)));
		scales.push_back(steps_.scale *
				 weightScales_[static_cast<size_t>(k) % weightScales_.size()]);
	}
	constant("bias", { count }, integers, onnx::INT32, scales, 0);
}

void QdqModel::list(const std::string &name, const std::vector<int64_t> &numbers)
{
	builder.list(name, numbers);
	operands_.push_back(name);
	describe(name, numbers);
}

onnx::Node *QdqModel::node(const std::string &type)
{
	onnx::Node *node = builder.node(type, operands_, result_ ? "y_real" : "y");

	description_ = type + description_;
	if (result_) {
		const QdqQuantization &steps = *result_;
		builder.floats("y_scale", {}, { steps.scale });
		builder.integers("y_zero", {}, { steps.zero });
		builder.node("QuantizeLinear", { "y_real", "y_scale", "y_zero" }, "y_integers");
		builder.node("DequantizeLinear", { "y_integers", "y_scale", "y_zero" }, "y");
	}
	builder.output("y");
	return node;
}

} /* namespace nvdla::test */
