/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow Lite's operators, as published: functions of elements, of two tensors, over channels.
 */
#include <fmt/core.h>

#include "operator_reader.h"

namespace nvdla::compiler::tflite
{

namespace
{

using Function = Unary::Function;

Tensor overLastAxis(OperatorReader &reader, const Softmax &function)
{
	const Tensor x = reader.input(0);

	return legalize::softmax(reader, x, reader.axis(-1, x.shape.size(), "axis"), function);
}

Tensor readGelu(OperatorReader &reader)
{
	const bool approximate = reader.options<fb::GeluOptions>(true).approximate();

	return legalize::unary(reader, reader.input(0),
			       { approximate ? Function::GeluTanh : Function::Gelu });
}

Tensor readConversion(OperatorReader &reader)
{
	const Tensor x = reader.input(0);

	return reader.isConstant(x) && isFloat(reader.output().type)
		       ? x
		       : legalize::unary(reader, x, {});
}

/* Sparse constants are expanded when they are read, so nothing is left to do. */
Tensor readDensify(OperatorReader &reader)
{
	reader.constant(0);
	return reader.input(0);
}

Tensor readLocalResponse(OperatorReader &reader)
{
	const auto &options = reader.options<fb::LocalResponseNormalizationOptions>();
	constexpr int32_t mostRadius = 127;

	reader.need(options.radius() >= 0 && options.radius() <= mostRadius, "radius",
		    fmt::format("is {}", options.radius()));
	return legalize::localResponse(reader, reader.input(0),
				       2 * static_cast<uint32_t>(options.radius()) + 1,
				       options.bias(), options.alpha(), options.beta());
}

using enum fb::BuiltinOperator;

} /* namespace */

const OperatorTable elementOperators = {
	{ DENSIFY, readDensify },
	{ DEQUANTIZE, readConversion },
	{ GELU, readGelu },
	{ LEAKY_RELU,
	  [](OperatorReader &r) {
		  const double slope = r.options<fb::LeakyReluOptions>().alpha();
		  return legalize::unary(r, r.input(0), { Function::LeakyRelu, slope, {} });
	  } },
	{ LOCAL_RESPONSE_NORMALIZATION, readLocalResponse },
	{ LOG_SOFTMAX,
	  [](OperatorReader &r) {
		  return overLastAxis(r, { 1, true });
	  } },
	{ PRELU, [](OperatorReader &r) { return legalize::prelu(r, r.input(0), r.constant(1)); } },
	{ QUANTIZE, readConversion },
	{ SOFTMAX,
	  [](OperatorReader &r) {
		  return overLastAxis(r, { r.options<fb::SoftmaxOptions>().beta() });
	  } },
};

std::optional<Tensor> readOperator(OperatorReader &reader, const fb::OperatorCode &code)
{
	/* Operators that have another name elsewhere. */
	static const std::map<fb::BuiltinOperator, const char *> names = {
		{ ADD_N, "Sum" },
		{ BROADCAST_TO, "Expand" },
		{ L2_NORMALIZATION, "LpNormalization" },
		{ MAXIMUM, "Max" },
		{ MEAN, "ReduceMean" },
		{ MINIMUM, "Min" },
		{ SELECT, "Where" },
		{ SELECT_V2, "Where" },
		{ SUM, "ReduceSum" },
		{ WHERE, "NonZero" },
	};
	const fb::BuiltinOperator builtin = builtinCode(code);

	if (code.custom_code())
		return code.custom_code()->str() == "Convolution2DTransposeBias"
			       ? std::optional(readConvolution2DTransposeBias(reader))
			       : std::nullopt;
	for (const OperatorTable *table : { &elementOperators, &moveOperators, &windowOperators }) {
		if (const auto found = table->find(builtin); found != table->end())
			return found->second(reader);
	}
	const auto name = names.find(builtin);
	return readCommon(reader, name == names.end() ? reader.type() : name->second);
}

} /* namespace nvdla::compiler::tflite */
