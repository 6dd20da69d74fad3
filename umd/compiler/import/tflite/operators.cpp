/* SPDX-License-Identifier: MIT */
/*
 * Operators of TensorFlow Lite, from their published definitions.
 */
#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/core.h>

#include "operators.h"

namespace nvdla::compiler::tflite
{

namespace
{

void readPRelu(OperatorReader &reader)
{
	reader.constant(1);
	reader.add(PRelu{}, { reader.input(0), reader.input(1) }, { reader.output(0) });
}

void addElementwise(OperatorReader &reader, Elementwise::Function function, Clamp activation)
{
	reader.add(Elementwise{ function, activation }, { reader.input(0), reader.input(1) },
		   { reader.output(0) });
}

/* With an activation, which options of its own have. */
template<Elementwise::Function function, auto asKind>
void readElementwise(OperatorReader &reader)
{
	if (const auto *options = reader.options(asKind))
		addElementwise(reader, function, reader.clamp(options->activation()));
}

/* The square of what the difference's own integers would have to be wide enough for. */
void readSquaredDifference(OperatorReader &reader)
{
	const ValueId output = reader.output(0);

	reader.supportFloat(output);
	const ValueId difference = reader.addBetween(output, reader.value(output).shape);
	reader.add(Elementwise{ Elementwise::Function::Subtract, {} },
		   { reader.input(0), reader.input(1) }, { difference });
	reader.add(Unary{ .function = Unary::Function::Square }, { difference }, { output });
}

/* One after the other. */
void readAddN(OperatorReader &reader)
{
	const ValueId output = reader.output(0);
	ValueId sum = reader.input(0);

	reader.supportFloat(output);
	if (reader.inputs() == 1)
		reader.add(Unary{}, { sum }, { output });
	for (size_t i = 1; i < reader.inputs() && !reader.failed(); i++) {
		const ValueId made =
			i + 1 == reader.inputs()
				? output
				: reader.addBetween(output, reader.value(output).shape);
		reader.add(Elementwise{ Elementwise::Function::Add, {} }, { sum, reader.input(i) },
			   { made });
		sum = made;
	}
}

/* By a constant: a product. */
void readDiv(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_DivOptions);
	const ValueId second = reader.input(1);

	if (!reader.failed() && !reader.value(second).isConstant) {
		addElementwise(reader, Elementwise::Function::Divide,
			       reader.clamp(options->activation()));
		return;
	}
	const Value divisor = reader.constant(1);
	const std::vector<double> factors = reader.reciprocals(divisor, "input 1");

	if (reader.failed())
		return;
	const ValueId factor = reader.addConstant(floatConstant(factors, divisor.shape));
	reader.add(
		Elementwise{ Elementwise::Function::Multiply, reader.clamp(options->activation()) },
		{ reader.input(0), factor }, { reader.output(0) });
}

template<Elementwise::Function function>
void readExtreme(OperatorReader &reader)
{
	addElementwise(reader, function, {});
}

void readReshape(OperatorReader &reader)
{
	const Value &in = reader.value(reader.input(0));
	const Value &out = reader.value(reader.output(0));

	reader.need(elementCount(in.shape) == elementCount(out.shape), "shape",
		    fmt::format("{} becomes {}", toString(in.shape), toString(out.shape)));
	reader.add(Reshape{});
}

void readPad(OperatorReader &reader)
{
	const Value &in = reader.value(reader.input(0));
	const std::vector<int64_t> numbers = reader.numbers(1);
	const Value fill = reader.hasInput(2) ? reader.constant(2) : Value{};
	Pad pad;

	if (!reader.need(
		    numbers.size() == 2 * in.shape.size(), "paddings",
		    fmt::format("are {} numbers for {} axes", numbers.size(), in.shape.size())))
		return;
	for (size_t i = 0; i < numbers.size(); i++) {
		reader.need(numbers[i] >= 0 && numbers[i] < 1 << 20, "paddings",
			    fmt::format("{} elements", numbers[i]));
		(i % 2 ? pad.after : pad.before).push_back(static_cast<uint32_t>(numbers[i]));
	}
	if (!fill.data.empty())
		pad.value = realNumbers(fill).front();
	reader.add(std::move(pad));
}

void readConcatenation(OperatorReader &reader)
{
	const auto *options =
		reader.options(&fb::Operator::builtin_options_as_ConcatenationOptions);
	std::vector<ValueId> inputs;

	for (size_t i = 0; i < reader.inputs(); i++)
		inputs.push_back(reader.input(i));
	const size_t rank = reader.value(reader.output(0)).shape.size();
	if (reader.failed())
		return;
	reader.add(Concatenation{ reader.axis(options->axis(), rank, "axis"),
				  reader.clamp(options->activation()) },
		   std::move(inputs), { reader.output(0) });
}

/* Parts that follow each other along an axis, one an output. */
template<size_t input, size_t axisInput>
void readParts(OperatorReader &reader)
{
	const Extents shape = reader.value(reader.input(input)).shape;
	const std::vector<int64_t> given = reader.numbers(axisInput);
	if (!reader.need(given.size() == 1, "axis", "is not one number"))
		return;
	const uint32_t axis = reader.axis(given.front(), shape.size(), "axis");
	Slice slice{ Extents(shape.size(), 0), Extents(shape.size(), 1) };

	/* Without axes there is none to look at. */
	if (reader.failed())
		return;
	for (size_t i = 0; i < reader.outputs() && !reader.failed(); i++) {
		const Extents &part = reader.value(reader.output(i)).shape;
		if (!reader.need(part.size() == shape.size(), "outputs", "have other axes"))
			return;
		reader.add(slice, { reader.input(input) }, { reader.output(i) });
		slice.begin[axis] += part[axis];
	}
	reader.need(slice.begin[axis] == shape[axis], "outputs",
		    fmt::format("have {} of {} elements", slice.begin[axis], shape[axis]));
}

void readSlice(OperatorReader &reader)
{
	const Extents shape = reader.value(reader.input(0)).shape;
	const std::vector<int64_t> begin = reader.numbers(1);
	Slice slice{ {}, Extents(shape.size(), 1) };

	reader.need(begin.size() == shape.size(), "begin", "is not one number for each axis");
	for (size_t i = 0; i < begin.size() && !reader.failed(); i++) {
		reader.need(begin[i] >= 0 && begin[i] < shape[i], "begin",
			    fmt::format("{} of {}", begin[i], shape[i]));
		slice.begin.push_back(static_cast<uint32_t>(begin[i]));
	}
	reader.add(std::move(slice));
}

void readSoftmax(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_SoftmaxOptions);
	if (options)
		reader.add(Softmax{ options->beta() });
}

void readLogSoftmax(OperatorReader &reader)
{
	reader.add(Softmax{ 1, true });
}

void readNeg(OperatorReader &reader)
{
	const ValueId factor = reader.addConstant(floatConstant({ -1 }, { 1 }));

	reader.add(Elementwise{ Elementwise::Function::Multiply, {} }, { reader.input(0), factor },
		   { reader.output(0) });
}

void readRelu0To1(OperatorReader &reader)
{
	reader.add(Unary{ .activation = { 0, 1 } });
}

template<Unary::Function function>
void readUnary(OperatorReader &reader)
{
	Unary unary;

	unary.function = function;
	if (function == Unary::Function::Elu)
		unary.parameter = 1;
	reader.add(unary);
}

/* To the power of a fraction. */
template<int numerator, int denominator>
void readRoot(OperatorReader &reader)
{
	reader.add(Unary{ Unary::Function::Power, double{ numerator } / denominator, {} });
}

/* To a constant power. */
void readPow(OperatorReader &reader)
{
	const Value exponents = reader.constant(1);

	if (reader.failed() ||
	    !reader.support(elementCount(exponents.shape) == 1, "exponent",
			    fmt::format("is {}; one number is known", toString(exponents.shape))))
		return;
	const double exponent = realNumbers(exponents).front();
	reader.support(std::isfinite(exponent), "exponent", "is infinite or no number");
	const Unary power = exponent == 1   ? Unary{}
			    : exponent == 2 ? Unary{ .function = Unary::Function::Square }
					    : Unary{ Unary::Function::Power, exponent, {} };
	reader.add(power);
}

/* Older files have no options. */
void readGelu(OperatorReader &reader)
{
	const auto *options = reader.optionsIfAny(&fb::Operator::builtin_options_as_GeluOptions);
	const bool approximate = options && options->approximate();

	reader.add(Unary{ approximate ? Unary::Function::GeluTanh : Unary::Function::Gelu, 0, {} });
}

template<fb::Activation activation>
void readActivation(OperatorReader &reader)
{
	Unary unary;

	unary.activation = reader.clamp(activation);
	reader.add(unary);
}

void readLeakyRelu(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_LeakyReluOptions);
	if (options)
		reader.add(Unary{ Unary::Function::LeakyRelu, options->alpha(), {} });
}

void readConversion(OperatorReader &reader)
{
	const Value in = reader.value(reader.input(0));
	const ValueId output = reader.output(0);

	if (reader.failed())
		return;
	if (in.isConstant && isFloat(reader.value(output).type))
		reader.alias(output, in);
	else
		reader.add(Unary{}, { reader.input(0) }, { output });
}

using enum fb::BuiltinOperator;

/* The constant has all of its elements already. */
void readDensify(OperatorReader &reader)
{
	reader.alias(reader.output(0), reader.constant(0));
}

const OperatorTable elementOperators = {
	{ ADD, readElementwise<Elementwise::Function::Add,
			       &fb::Operator::builtin_options_as_AddOptions> },
	{ CONCATENATION, readConcatenation },
	{ DENSIFY, readDensify },
	{ DEQUANTIZE, readConversion },
	{ FLOOR, readUnary<Unary::Function::Floor> },
	{ LOGISTIC, readUnary<Unary::Function::Logistic> },
	{ MUL, readElementwise<Elementwise::Function::Multiply,
			       &fb::Operator::builtin_options_as_MulOptions> },
	{ RELU, readActivation<fb::Activation::RELU> },
	{ RELU_N1_TO_1, readActivation<fb::Activation::RELU_N1_TO_1> },
	{ RELU6, readActivation<fb::Activation::RELU6> },
	{ RESHAPE, readReshape },
	{ SOFTMAX, readSoftmax },
	{ TANH, readUnary<Unary::Function::Tanh> },
	{ PAD, readPad },
	{ SUB, readElementwise<Elementwise::Function::Subtract,
			       &fb::Operator::builtin_options_as_SubOptions> },
	{ DIV, readDiv },
	{ SQUEEZE, readReshape },
	{ EXP, readUnary<Unary::Function::Exp> },
	{ SPLIT, readParts<1, 0> },
	{ LOG_SOFTMAX, readLogSoftmax },
	{ PRELU, readPRelu },
	{ MAXIMUM, readExtreme<Elementwise::Function::Maximum> },
	{ MINIMUM, readExtreme<Elementwise::Function::Minimum> },
	{ NEG, readNeg },
	{ PADV2, readPad },
	{ SLICE, readSlice },
	{ SIN, readUnary<Unary::Function::Sin> },
	{ EXPAND_DIMS, readReshape },
	{ LOG, readUnary<Unary::Function::Log> },
	{ SQRT, readRoot<1, 2> },
	{ RSQRT, readRoot<-1, 2> },
	{ POW, readPow },
	{ SQUARE, readUnary<Unary::Function::Square> },
	{ LEAKY_RELU, readLeakyRelu },
	{ SQUARED_DIFFERENCE, readSquaredDifference },
	{ ABS, readUnary<Unary::Function::Abs> },
	{ SPLIT_V, readParts<0, 2> },
	{ CEIL, readUnary<Unary::Function::Ceil> },
	{ ADD_N, readAddN },
	{ COS, readUnary<Unary::Function::Cos> },
	{ ELU, readUnary<Unary::Function::Elu> },
	{ QUANTIZE, readConversion },
	{ ROUND, readUnary<Unary::Function::Round> },
	{ HARD_SWISH, readUnary<Unary::Function::HardSwish> },
	{ GELU, readGelu },
	{ RELU_0_TO_1, readRelu0To1 },
	{ SIGN, readUnary<Unary::Function::Sign> },
};

} /* namespace */

ReadOperator *readerOf(const fb::OperatorCode &code)
{
	if (code.custom_code())
		return code.custom_code()->str() == "Convolution2DTransposeBias"
			       ? readConvolution2DTransposeBias
			       : nullptr;
	for (const OperatorTable *table : { &axisOperators, &channelOperators, &elementOperators,
					    &partOperators, &windowOperators }) {
		if (const auto found = table->find(builtinCode(code)); found != table->end())
			return found->second;
	}
	return nullptr;
}

} /* namespace nvdla::compiler::tflite */
