/* SPDX-License-Identifier: MIT */
/*
 * QuantizeLinear and DequantizeLinear around operators, and operators whose scales and zero points
 * are inputs: scale and zero point become a part of the value that they describe.
 */
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

TensorQuantization quantizationOf(NodeReader &reader, size_t scale, size_t zeroPoint)
{
	const std::vector<double> scales = rawNumbers(reader.constant(scale));
	const std::vector<int64_t> zeroPoints = reader.wholeNumbers(zeroPoint);
	const auto quantization = quantizationFrom(scales, zeroPoints);
	const std::string where = fmt::format("input {}", scale);

	reader.need(!scales.empty() &&
			    (zeroPoints.size() == scales.size() || !reader.hasInput(zeroPoint)),
		    where,
		    fmt::format("has {} scales, and {} zero points go with them", scales.size(),
				zeroPoints.size()));
	reader.need(quantization.has_value(), where,
		    fmt::format("has scales {} with zero points {}", fmt::join(scales, ", "),
				fmt::join(zeroPoints, ", ")));
	return *quantization;
}

ElementType typeOfZeroPoint(NodeReader &reader, size_t zeroPoint)
{
	if (reader.hasInput(zeroPoint))
		return reader.value(zeroPoint).type;
	return reader.integer("output_dtype", pb::UINT8) == pb::INT8 ? ElementType::Int8
								     : ElementType::UInt8;
}

/* The axis of the scales, checked against the shape and their number; 0 for a single scale. */
uint32_t axisOf(NodeReader &reader, const TensorQuantization &quantization, const Extents &shape,
		int64_t given)
{
	const size_t scales = quantization.values().size();

	if (scales <= 1)
		return 0;
	const uint32_t axis = reader.axis(given, shape.size(), "axis");
	reader.need(
		shape[axis] == scales, "scale",
		fmt::format("has {} numbers for {} of {}", scales, shape[axis], toString(shape)));
	return axis;
}

Tensor readQuantize(NodeReader &reader)
{
	const Tensor x = reader.input(0);
	const Value from = reader.value(x);
	const TensorQuantization quantization = quantizationOf(reader, 1, 2);
	const ElementType type = typeOfZeroPoint(reader, 2);

	if (from.type == type && from.quantization == quantization)
		return x;
	if (!from.isConstant)
		return reader.make(Unary{}, { x.id }, { type, quantization }, x);
	reader.support(type == ElementType::Int8 || type == ElementType::UInt8, "zero point",
		       fmt::format("is {}; int8 and uint8 are known", elementTypeName(type)));
	Value made{ .type = type, .shape = from.shape, .quantization = quantization };
	made.quantizedAxis = axisOf(reader, quantization, from.shape, reader.integer("axis", 1));
	made = quantizedConstant(realNumbers(from), std::move(made));
	made.quantization = {};
	made.quantizedAxis = 0;
	return reader.constantTensor(std::move(made));
}

Tensor readDequantize(NodeReader &reader)
{
	const Tensor x = reader.input(0);
	const TensorQuantization quantization = quantizationOf(reader, 1, 2);

	if (!reader.isConstant(x)) {
		reader.quantize(x, quantization);
		return x;
	}
	Value constant = reader.value(x);
	constant.quantizedAxis =
		axisOf(reader, quantization, constant.shape, reader.integer("axis", 1));
	constant.quantization = quantization;
	return reader.constantTensor(std::move(constant));
}

/* Places of an operator's tensors among its inputs; scale and zero point follow each operand. */
struct Places {
	std::vector<int> operands; /* indices; empty: every third input, from input 2 on */
	size_t result;		   /* input with the result's scale, which its zero point follows */
	std::optional<int> bias = {};
};

/* The standard has QLinearConv and QLinearMatMul; the others are ONNX Runtime's own. */
const std::map<std::string, Places> quantizedOperators = {
	{ "QGemm", { { 0, 3 }, 7, 6 } },	{ "QLinearAdd", { { 0, 3 }, 6 } },
	{ "QLinearAveragePool", { { 0 }, 3 } }, { "QLinearConcat", { {}, 0 } },
	{ "QLinearConv", { { 0, 3 }, 6, 8 } },	{ "QLinearGlobalAveragePool", { { 0 }, 3 } },
	{ "QLinearLeakyRelu", { { 0 }, 3 } },	{ "QLinearMatMul", { { 0, 3 }, 6 } },
	{ "QLinearMul", { { 0, 3 }, 6 } },	{ "QLinearSigmoid", { { 0 }, 3 } },
};

/* Sets an operand's quantization. Scales of kernels are along the first axis, those of a matrix
 * along the axis of the product's columns. */
void quantizeOperand(NodeReader &reader, size_t index)
{
	const Tensor tensor = reader.input(index);
	const TensorQuantization quantization = quantizationOf(reader, index + 1, index + 2);
	const bool isMatrix = tensor.shape.size() == 2 && reader.integer("transB", 0) == 0;

	reader.quantize(tensor, quantization,
			axisOf(reader, quantization, tensor.shape, isMatrix ? 1 : 0));
}

/* Reads a quantized operator like the one on real numbers that its name contains: QLinearConv is
 * read like Conv. */
std::optional<Tensor> readQuantized(NodeReader &reader)
{
	const Places &places = quantizedOperators.at(reader.type());
	const std::string plain =
		reader.type().substr(reader.type().starts_with("QLinear") ? 7 : 1);
	std::vector<int> operands = places.operands;

	for (int i = 2; places.operands.empty() && i < static_cast<int>(reader.inputs()); i += 3)
		operands.push_back(i);
	for (const int operand : operands)
		quantizeOperand(reader, static_cast<size_t>(operand));
	reader.setResults({ typeOfZeroPoint(reader, places.result + 1),
			    quantizationOf(reader, places.result, places.result + 1) });
	reader.support(reader.integer("channels_last", 0) == 0, "channels_last", "is not 0");
	if (places.bias)
		operands.push_back(*places.bias);
	reader.showInputs(std::move(operands));
	return readNode(reader, plain);
}

} /* namespace */

std::optional<Tensor> readNode(NodeReader &reader, const std::string &type)
{
	for (const NodeTable *table :
	     { &constantNodes, &elementNodes, &recurrentNodes, &windowNodes }) {
		if (const auto found = table->find(type); found != table->end())
			return found->second(reader);
	}
	if (type == "QuantizeLinear" || type == "DequantizeLinear")
		return type == "QuantizeLinear" ? readQuantize(reader) : readDequantize(reader);
	if (quantizedOperators.contains(type))
		return readQuantized(reader);
	return readCommon(reader, type);
}

} /* namespace nvdla::compiler::onnx */
