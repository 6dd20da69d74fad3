/* SPDX-License-Identifier: MIT */
/*
 * QuantizeLinear and DequantizeLinear around operators, and operators with quantizations of their
 * own: what integers stand for becomes a part of values.
 */
#include <cmath>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

ElementType typeOfZeroPoint(NodeReader &reader, size_t zeroPoint)
{
	if (reader.hasInput(zeroPoint))
		return reader.value(zeroPoint).type;
	return reader.integer("output_dtype", pb::UINT8) == pb::INT8 ? ElementType::Int8
								     : ElementType::UInt8;
}

/* Halves to the even one. */
Value quantized(NodeReader &reader, const Value &from, ElementType type,
		const TensorQuantization &quantization, uint32_t axis)
{
	const std::vector<double> numbers = realNumbers(from);
	const bool isSigned = type == ElementType::Int8;
	const IntegerLimits limits = isSigned ? integerLimits(8U) : IntegerLimits{ 0, UINT8_MAX };
	Value value;
	size_t inner = 1;

	reader.support(isSigned || type == ElementType::UInt8, "zero point",
		       fmt::format("is {}; int8 and uint8 are known", elementTypeName(type)));
	if (reader.failed())
		return value;
	for (size_t i = axis + size_t{ 1 }; i < from.shape.size(); i++)
		inner *= from.shape[i];
	const size_t extent = from.shape.empty() ? 1 : from.shape[axis];
	for (size_t i = 0; i < numbers.size(); i++) {
		const Quantization one =
			quantization.channel(static_cast<uint32_t>(i / inner % extent));
		const double steps = std::nearbyint(numbers[i] / one.scale) + one.zeroPoint;
		const double most = static_cast<double>(limits.highest);
		const double least = static_cast<double>(limits.lowest);
		/* Written so that a NaN is a number. */
		const double held = steps > least ? std::min(steps, most) : least;
		value.data.push_back(static_cast<std::byte>(static_cast<int>(held)));
	}
	value.type = type;
	value.shape = from.shape;
	return value;
}

/* The axis that several scales go along, held against a shape; 0 for one scale. */
uint32_t axisOf(NodeReader &reader, const TensorQuantization &quantization, const Extents &shape)
{
	const size_t scales = quantization.values().size();

	if (scales <= 1 || reader.failed())
		return 0;
	const uint32_t axis = reader.axis(reader.integer("axis", 1), shape.size(), "axis");
	if (!reader.failed())
		reader.need(shape[axis] == scales, "scale",
			    fmt::format("has {} numbers for {} of {}", scales, shape[axis],
					toString(shape)));
	return reader.failed() ? 0 : axis;
}

Tensor readQuantize(NodeReader &reader)
{
	const Tensor x = reader.input(0);
	const Value from = reader.value(x);
	const TensorQuantization quantization = quantizationOf(reader, 1, 2);
	const ElementType type = typeOfZeroPoint(reader, 2);

	if (reader.failed() || (from.type == type && from.quantization == quantization))
		return x;
	if (!from.isConstant)
		return reader.make(Unary{}, { x.id }, { type, quantization }, x);
	const uint32_t axis = axisOf(reader, quantization, from.shape);
	return reader.constantTensor(quantized(reader, from, type, quantization, axis));
}

Tensor readDequantize(NodeReader &reader)
{
	const Tensor x = reader.input(0);
	const TensorQuantization quantization = quantizationOf(reader, 1, 2);

	if (reader.failed())
		return {};
	if (!reader.isConstant(x)) {
		reader.quantize(x, quantization);
		return x;
	}
	Value constant = reader.value(x);
	constant.quantizedAxis = axisOf(reader, quantization, constant.shape);
	constant.quantization = quantization;
	return reader.constantTensor(std::move(constant));
}

/* An input that its scale and zero point follow. */
Tensor withQuantization(NodeReader &reader, size_t index)
{
	const Tensor tensor = reader.input(index);

	reader.quantize(tensor, quantizationOf(reader, index + 1, index + 2));
	return tensor;
}

/* A constant matrix or kernel that its scale and zero point follow. */
Value quantizedWeights(NodeReader &reader, size_t index, size_t axis)
{
	Value weights = reader.constant(index);
	const TensorQuantization quantization = quantizationOf(reader, index + 1, index + 2);
	const size_t scales = quantization.values().size();

	reader.need(reader.failed() || scales <= 1 ||
			    (axis < weights.shape.size() && weights.shape[axis] == scales),
		    fmt::format("input {}", index + 1),
		    fmt::format("has {} numbers for {}", scales, toString(weights.shape)));
	weights.quantization = quantization;
	weights.quantizedAxis = static_cast<uint32_t>(axis);
	return weights;
}

/* A result whose scale and zero point are these inputs. */
void setResult(NodeReader &reader, size_t scale)
{
	reader.setResults(
		{ typeOfZeroPoint(reader, scale + 1), quantizationOf(reader, scale, scale + 1) });
}

Tensor readQLinearConv(NodeReader &reader)
{
	withQuantization(reader, 0);
	setResult(reader, 6);
	const Value weights = quantizedWeights(reader, 3, 0);
	return addConvolution(reader, { weights, reader.biasOf(8) });
}

Tensor readQLinearMatMul(NodeReader &reader)
{
	const Tensor x = withQuantization(reader, 0);

	setResult(reader, 6);
	return legalize::product(reader, x,
				 { matrixOf(reader, quantizedWeights(reader, 3, 1)), {} }, {});
}

/* ONNX Runtime's own: a, b, bias, result. */
Tensor readQGemm(NodeReader &reader)
{
	const Tensor x = withQuantization(reader, 0);
	const bool isTurned = reader.integer("transB", 0) != 0;
	const Value weights = quantizedWeights(reader, 3, isTurned ? 0 : 1);

	setResult(reader, 7);
	reader.support(reader.number("alpha", 1) == 1, "alpha", "is not 1");
	return legalize::product(reader, x, { matrixOf(reader, weights), reader.biasOf(6) }, {});
}

template<Elementwise::Function function>
Tensor readQLinearElementwise(NodeReader &reader)
{
	const Tensor a = withQuantization(reader, 0), b = withQuantization(reader, 3);

	setResult(reader, 6);
	return legalize::elementwise(reader, { function, {} }, a, b);
}

/* Input 0, of an operator whose result's scale is input 3. */
Tensor inputOfPool(NodeReader &reader)
{
	const Tensor x = withQuantization(reader, 0);

	setResult(reader, 3);
	reader.support(reader.integer("channels_last", 0) == 0, "channels_last", "is not 0");
	return x;
}

Tensor readQLinearAveragePool(NodeReader &reader)
{
	inputOfPool(reader);
	return addPool(reader, Pool::Method::Average);
}

/* The result's scale and zero point come first. */
Tensor readQLinearConcat(NodeReader &reader)
{
	std::vector<Tensor> tensors;

	for (size_t i = 2; i < reader.inputs() && !reader.failed(); i += 3)
		tensors.push_back(withQuantization(reader, i));
	setResult(reader, 0);
	return legalize::concatenation(reader, tensors, reader.integer("axis", 1), {});
}

template<Unary::Function function>
Tensor readQLinearUnary(NodeReader &reader)
{
	const Tensor x = withQuantization(reader, 0);
	const bool isLeaky = function == Unary::Function::LeakyRelu;

	setResult(reader, 3);
	return legalize::unary(reader, x,
			       { function, isLeaky ? reader.number("alpha", 0.01) : 0, {} });
}

} /* namespace */

TensorQuantization quantizationOf(NodeReader &reader, size_t scale, size_t zeroPoint)
{
	const std::vector<double> scales = rawNumbers(reader.constant(scale));
	const std::vector<int64_t> zeroPoints = reader.wholeNumbers(zeroPoint);
	std::vector<Quantization> values;

	reader.need(reader.failed() || (!scales.empty() && (zeroPoints.size() == scales.size() ||
							    !reader.hasInput(zeroPoint))),
		    fmt::format("input {}", scale),
		    fmt::format("has {} scales, and {} zero points go with them", scales.size(),
				zeroPoints.size()));
	for (size_t i = 0; i < scales.size() && !reader.failed(); i++) {
		const int64_t zero = zeroPoints.empty() ? 0 : zeroPoints[i];
		/* A channel without weights may have a scale of 0. */
		reader.need(std::isfinite(scales[i]) && scales[i] >= 0 && zero >= INT16_MIN &&
				    zero <= UINT16_MAX,
			    fmt::format("input {}", scale),
			    fmt::format("has scale {} with zero point {}", scales[i], zero));
		values.push_back({ scales[i], static_cast<int32_t>(zero) });
	}
	return reader.failed() ? TensorQuantization{} : TensorQuantization(std::move(values));
}

const NodeTable quantizedNodes = {
	{ "DequantizeLinear", readDequantize },
	{ "QGemm", readQGemm },
	{ "QLinearAdd", readQLinearElementwise<Elementwise::Function::Add> },
	{ "QLinearAveragePool", readQLinearAveragePool },
	{ "QLinearConcat", readQLinearConcat },
	{ "QLinearConv", readQLinearConv },
	{ "QLinearGlobalAveragePool",
	  [](NodeReader &r) {
		  return legalize::poolAll(r, Pool::Method::Average, inputOfPool(r));
	  } },
	{ "QLinearLeakyRelu", readQLinearUnary<Unary::Function::LeakyRelu> },
	{ "QLinearMatMul", readQLinearMatMul },
	{ "QLinearMul", readQLinearElementwise<Elementwise::Function::Multiply> },
	{ "QLinearSigmoid", readQLinearUnary<Unary::Function::Logistic> },
	{ "QuantizeLinear", readQuantize },
};

} /* namespace nvdla::compiler::onnx */
