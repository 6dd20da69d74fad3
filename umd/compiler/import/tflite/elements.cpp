/* SPDX-License-Identifier: MIT */
/*
 * Operators of TensorFlow Lite, from their published definitions: functions of elements, of two
 * tensors and over channels.
 */
#include <fmt/core.h>

#include "operator_reader.h"

namespace nvdla::compiler::tflite
{

namespace
{

using Binary = Elementwise::Function;
using Function = Unary::Function;

template<Binary function>
Tensor readExtreme(OperatorReader &reader)
{
	return legalize::elementwise(reader, { function, {} }, reader.input(0), reader.input(1));
}

/* A function of two tensors, with the fused activation in its options. */
template<Binary function, typename Options>
Tensor readElementwise(OperatorReader &reader)
{
	return legalize::elementwise(
		reader, { function, reader.clamp(reader.options<Options>().activation()) },
		reader.input(0), reader.input(1));
}

Tensor readDiv(OperatorReader &reader)
{
	return legalize::quotient(reader, reader.input(0), reader.input(1),
				  reader.clamp(reader.options<fb::DivOptions>().activation()));
}

Tensor overLastAxis(OperatorReader &reader, const Softmax &function)
{
	const Tensor x = reader.input(0);

	return legalize::softmax(reader, x, reader.axis(-1, x.shape.size(), "axis"), function);
}

template<Function function>
Tensor readUnary(OperatorReader &reader)
{
	return legalize::unary(reader, reader.input(0),
			       { function, function == Function::Elu ? 1.0 : 0.0, {} });
}

/* x to the power numerator / denominator. */
template<int numerator, int denominator>
Tensor readRoot(OperatorReader &reader)
{
	return legalize::unary(reader, reader.input(0),
			       { Function::Power, double{ numerator } / denominator, {} });
}

Tensor readGelu(OperatorReader &reader)
{
	return reader.options<fb::GeluOptions>(true).approximate()
		       ? readUnary<Function::GeluTanh>(reader)
		       : readUnary<Function::Gelu>(reader);
}

template<fb::Activation activation>
Tensor readActivation(OperatorReader &reader)
{
	return legalize::unary(reader, reader.input(0), { .activation = reader.clamp(activation) });
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

/* A selection by a constant condition. */
Tensor readSelect(OperatorReader &reader)
{
	return legalize::select(reader, reader.constant(0), reader.input(1), reader.input(2));
}

/* ArgMax or ArgMin; the axis is removed from the shape. */
template<bool ofSmallest>
Tensor readArgMax(OperatorReader &reader)
{
	const Tensor x = reader.input(0);
	const uint32_t axis = reader.axisOf(1, x);

	return reader.inOutputShape(legalize::argMax(reader, x, axis, ofSmallest));
}

Tensor readL2Normalization(OperatorReader &reader)
{
	const auto &options = reader.options<fb::L2NormOptions>();
	const Tensor x = reader.input(0);
	const uint32_t axis = reader.axis(-1, x.shape.size(), "axis");

	reader.support(reader.clamp(options.activation()).isNone(), "fused activation",
		       "is not known here; make it an operator of its own");
	return legalize::withNormOfOne(reader, x, axis);
}

Tensor readLocalResponse(OperatorReader &reader)
{
	const auto &options = reader.options<fb::LocalResponseNormalizationOptions>();
	constexpr int32_t mostRadius = 127;

	if (!reader.need(options.radius() >= 0 && options.radius() <= mostRadius, "radius",
			 fmt::format("is {}", options.radius())))
		return {};
	return legalize::localResponse(reader, reader.input(0),
				       2 * static_cast<uint32_t>(options.radius()) + 1,
				       options.bias(), options.alpha(), options.beta());
}

template<Pool::Method method>
Tensor readReduction(OperatorReader &reader)
{
	const Tensor x = reader.input(0);
	const legalize::Reduction over{
		reader.sortedAxes(reader.wholeNumbers(1), x.shape.size()),
		reader.output().shape.size() == x.shape.size(),
	};

	return legalize::reduced(reader, x, over, method, {});
}

using enum fb::BuiltinOperator;

} /* namespace */

const OperatorTable elementOperators = {
	{ ABS, readUnary<Function::Abs> },
	{ ADD, readElementwise<Binary::Add, fb::AddOptions> },
	{ ADD_N,
	  [](OperatorReader &r) { return legalize::several(r, Binary::Add, r.allInputs()); } },
	{ ARG_MAX, readArgMax<false> },
	{ ARG_MIN, readArgMax<true> },
	{ CEIL, readUnary<Function::Ceil> },
	{ COS, readUnary<Function::Cos> },
	{ DENSIFY, readDensify },
	{ DEQUANTIZE, readConversion },
	{ DIV, readDiv },
	{ ELU, readUnary<Function::Elu> },
	{ EXP, readUnary<Function::Exp> },
	{ FLOOR, readUnary<Function::Floor> },
	{ GELU, readGelu },
	{ HARD_SWISH, readUnary<Function::HardSwish> },
	{ L2_NORMALIZATION, readL2Normalization },
	{ LEAKY_RELU,
	  [](OperatorReader &r) {
		  const double slope = r.options<fb::LeakyReluOptions>().alpha();
		  return legalize::unary(r, r.input(0), { Function::LeakyRelu, slope, {} });
	  } },
	{ LOCAL_RESPONSE_NORMALIZATION, readLocalResponse },
	{ LOG, readUnary<Function::Log> },
	{ LOGISTIC, readUnary<Function::Logistic> },
	{ LOG_SOFTMAX,
	  [](OperatorReader &r) {
		  return overLastAxis(r, { 1, true });
	  } },
	{ MAXIMUM, readExtreme<Binary::Maximum> },
	{ MEAN, readReduction<Pool::Method::Average> },
	{ MINIMUM, readExtreme<Binary::Minimum> },
	{ MUL, readElementwise<Binary::Multiply, fb::MulOptions> },
	{ NEG, [](OperatorReader &r) { return legalize::negative(r, r.input(0)); } },
	{ POW, [](OperatorReader &r) { return legalize::power(r, r.input(0), r.scalar(1, 1)); } },
	{ PRELU, [](OperatorReader &r) { return legalize::prelu(r, r.input(0), r.constant(1)); } },
	{ QUANTIZE, readConversion },
	{ REDUCE_MAX, readReduction<Pool::Method::Max> },
	{ REDUCE_MIN, readReduction<Pool::Method::Min> },
	{ RELU, readActivation<fb::Activation::RELU> },
	{ RELU6, readActivation<fb::Activation::RELU6> },
	{ RELU_0_TO_1,
	  [](OperatorReader &r) {
		  return legalize::unary(r, r.input(0), { .activation = { 0, 1 } });
	  } },
	{ RELU_N1_TO_1, readActivation<fb::Activation::RELU_N1_TO_1> },
	{ ROUND, readUnary<Function::Round> },
	{ RSQRT, readRoot<-1, 2> },
	{ SELECT, readSelect },
	{ SELECT_V2, readSelect },
	{ SIGN, readUnary<Function::Sign> },
	{ SIN, readUnary<Function::Sin> },
	{ SOFTMAX,
	  [](OperatorReader &r) {
		  return overLastAxis(r, { r.options<fb::SoftmaxOptions>().beta() });
	  } },
	{ SQRT, readRoot<1, 2> },
	{ SQUARE, readUnary<Function::Square> },
	{ SQUARED_DIFFERENCE,
	  [](OperatorReader &r) {
		  return legalize::squaredDifference(r, r.input(0), r.input(1));
	  } },
	{ SUB, readElementwise<Binary::Subtract, fb::SubOptions> },
	{ SUM, readReduction<Pool::Method::Sum> },
	{ TANH, readUnary<Function::Tanh> },
};

ReadOperator *readerOf(const fb::OperatorCode &code)
{
	if (code.custom_code())
		return code.custom_code()->str() == "Convolution2DTransposeBias"
			       ? readConvolution2DTransposeBias
			       : nullptr;
	for (const OperatorTable *table : { &elementOperators, &moveOperators, &windowOperators }) {
		if (const auto found = table->find(builtinCode(code)); found != table->end())
			return found->second;
	}
	return nullptr;
}

} /* namespace nvdla::compiler::tflite */
