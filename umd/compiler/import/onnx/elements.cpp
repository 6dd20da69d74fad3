/* SPDX-License-Identifier: MIT */
/*
 * Functions of single elements, of two tensors, and softmax.
 */
#include <algorithm>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

using Binary = Elementwise::Function;
using Function = Unary::Function;

template<Function function>
Tensor readUnary(NodeReader &reader)
{
	return legalize::unary(reader, reader.input(0), { function, 0, {} });
}

/* x to the power numerator / denominator. */
template<int numerator, int denominator = 1>
Tensor readRoot(NodeReader &reader)
{
	return legalize::unary(reader, reader.input(0),
			       { Function::Power, double{ numerator } / denominator, {} });
}

/* Old versions of Clip have the limits as attributes, newer ones as inputs. */
Tensor readClip(NodeReader &reader)
{
	Clamp clamp;

	clamp.low = reader.attribute("min") ? reader.number("min", 0) : reader.scalar(1, clamp.low);
	clamp.high =
		reader.attribute("max") ? reader.number("max", 0) : reader.scalar(2, clamp.high);
	return legalize::unary(reader, reader.input(0), { .activation = clamp });
}

/* The default of alpha is \a usual hundredths. */
template<Function function, int usual>
Tensor readWithAlpha(NodeReader &reader)
{
	return legalize::unary(reader, reader.input(0),
			       { function, reader.number("alpha", usual / 100.0), {} });
}

Tensor readCelu(NodeReader &reader)
{
	const double alpha = reader.number("alpha", 1);

	reader.support(alpha != 0, "alpha", "is 0");
	return legalize::scaledUnary(reader, 1 / alpha, reader.input(0), { Function::Elu, 1, {} },
				     alpha);
}

/* The definition's defaults. */
constexpr double seluAlpha = 1.67326319217681884765625;
constexpr double seluGamma = 1.05070102214813232421875;

Tensor readSelu(NodeReader &reader)
{
	return legalize::scaledUnary(reader, 1, reader.input(0),
				     { Function::Elu, reader.number("alpha", seluAlpha), {} },
				     reader.number("gamma", seluGamma));
}

Tensor readGelu(NodeReader &reader)
{
	const std::string approximate = reader.text("approximate", "none");

	reader.support(approximate == "none" || approximate == "tanh", "approximate",
		       "is " + approximate + "; none and tanh are known");
	return approximate == "tanh" ? readUnary<Function::GeluTanh>(reader)
				     : readUnary<Function::Gelu>(reader);
}

/* The second operand; before version 7 it lies along the axes of the first one from `axis` on. */
Tensor secondOf(NodeReader &reader, const Tensor &first)
{
	const Tensor tensor = reader.input(1);
	const size_t rank = first.shape.size(), own = tensor.shape.size();

	if (reader.failed() || !reader.isBeforeBroadcasting() || own == 0 || own >= rank)
		return tensor;
	if (!reader.need(reader.integer("broadcast", 0) != 0, "inputs",
			 fmt::format("are {} and {}, without broadcast", toString(first.shape),
				     toString(tensor.shape))))
		return {};
	const uint32_t axis = reader.axisOf("axis", static_cast<int64_t>(rank - own));
	if (reader.failed() ||
	    !reader.need(axis + own <= rank, "axis",
			 fmt::format("is {}, for {} and {}", axis, toString(first.shape),
				     toString(tensor.shape))))
		return {};
	Extents shape(rank, 1);
	std::copy(tensor.shape.begin(), tensor.shape.end(), shape.begin() + axis);
	return reader.reshaped(tensor, shape);
}

template<Binary function>
Tensor readElementwise(NodeReader &reader)
{
	const Tensor a = reader.input(0);

	return legalize::elementwise(reader, { function, {} }, a, secondOf(reader, a));
}

Tensor readDiv(NodeReader &reader)
{
	const Tensor a = reader.input(0);

	return legalize::quotient(reader, a, secondOf(reader, a), {});
}

template<Binary function>
Tensor readSeveral(NodeReader &reader)
{
	return legalize::several(reader, function, reader.allInputs());
}

/* Casts between float types change nothing here; constants can be cast to any number type. */
Tensor readCast(NodeReader &reader)
{
	const Tensor x = reader.input(0);
	const auto to = static_cast<int32_t>(reader.integer("to", pb::UNDEFINED));
	const auto type = elementTypeOf(to);

	if (reader.isConstant(x) && to == pb::INT64 && !isFloat(reader.value(x).type))
		return reader.constantTensor(wholeConstant(wholeNumbers(reader.value(x)), x.shape));
	if (reader.isConstant(x) && type && *type != ElementType::Bool)
		return reader.make(Unary{}, { x.id }, { *type, {} }, x);
	reader.support(!reader.failed() && isFloat(reader.value(x).type) &&
			       (to == pb::FLOAT || to == pb::FLOAT16),
		       "to", fmt::format("is {}; from float to float or float16 is known", to));
	return x;
}

/* Before version 7 there is one slope for each channel. */
Tensor readPRelu(NodeReader &reader)
{
	const Tensor x = reader.input(0);
	Value slopes = reader.constant(1);

	const auto count = static_cast<uint32_t>(elementCount(slopes.shape));

	if (reader.isBeforeBroadcasting() && count > 1 && x.shape.size() > 1) {
		slopes.shape.assign(x.shape.size() - 1, 1);
		slopes.shape.front() = count;
	}
	return legalize::prelu(reader, x, slopes);
}

/* Before version 13 softmax works on all axes from `axis` on as one. */
template<bool isLogarithm>
Tensor readSoftmax(NodeReader &reader)
{
	constexpr int64_t oneAxis = 13;
	const Tensor x = reader.input(0);
	const bool all = reader.version() < oneAxis;
	const uint32_t axis = reader.axisOf("axis", all ? 1 : -1);
	const auto several = legalize::severalOf(x.shape, legalize::asInFile(x.shape.size()));

	reader.support(!all || std::none_of(several.begin(), several.end(),
					    [&](uint32_t one) { return one > axis; }),
		       "axis", "and those behind it have several elements");
	return legalize::softmax(reader, x, axis, { 1, isLogarithm });
}

/* Operators without effect once a network is trained. */
Tensor readIdentity(NodeReader &reader)
{
	return reader.input(0);
}

/* Dropout zeroes random elements in training only. */
Tensor readDropout(NodeReader &reader)
{
	constexpr size_t trainingMode = 2;

	if (reader.hasInput(trainingMode))
		reader.support(reader.scalar(trainingMode, 0) == 0, "training_mode",
			       "is set; export the model for inference");
	return readIdentity(reader);
}

} /* namespace */

const NodeTable elementNodes = {
	{ "Abs", readUnary<Function::Abs> },
	{ "Acos", readUnary<Function::Acos> },
	{ "Acosh", readUnary<Function::Acosh> },
	{ "Add", readElementwise<Binary::Add> },
	{ "Asin", readUnary<Function::Asin> },
	{ "Asinh", readUnary<Function::Asinh> },
	{ "Atan", readUnary<Function::Atan> },
	{ "Atanh", readUnary<Function::Atanh> },
	{ "Cast", readCast },
	{ "Ceil", readUnary<Function::Ceil> },
	{ "Celu", readCelu },
	{ "Clip", readClip },
	{ "Cos", readUnary<Function::Cos> },
	{ "Cosh", readUnary<Function::Cosh> },
	{ "Div", readDiv },
	{ "Dropout", readDropout },
	{ "Elu", readWithAlpha<Function::Elu, 100> },
	{ "Erf", readUnary<Function::Erf> },
	{ "Exp", readUnary<Function::Exp> },
	{ "Floor", readUnary<Function::Floor> },
	{ "Gelu", readGelu },
	{ "HardSigmoid",
	  [](NodeReader &r) {
		  return legalize::hardSigmoid(r, r.input(0), r.number("alpha", 0.2),
					       r.number("beta", 0.5));
	  } },
	{ "HardSwish", readUnary<Function::HardSwish> },
	{ "Identity", readIdentity },
	{ "LeakyRelu", readWithAlpha<Function::LeakyRelu, 1> },
	{ "Log", readUnary<Function::Log> },
	{ "LogSoftmax", readSoftmax<true> },
	{ "Max", readSeveral<Binary::Maximum> },
	{ "Mean", [](NodeReader &r) { return legalize::mean(r, r.allInputs()); } },
	{ "Min", readSeveral<Binary::Minimum> },
	{ "Mish", readUnary<Function::Mish> },
	{ "Mul", readElementwise<Binary::Multiply> },
	{ "Neg", [](NodeReader &r) { return legalize::negative(r, r.input(0)); } },
	{ "PRelu", readPRelu },
	{ "Pow", [](NodeReader &r) { return legalize::power(r, r.input(0), r.scalar(1, 1)); } },
	{ "Reciprocal", readRoot<-1> },
	{ "Relu",
	  [](NodeReader &r) {
		  return legalize::unary(r, r.input(0), { .activation = { .low = 0 } });
	  } },
	{ "Round", readUnary<Function::Round> },
	{ "Selu", readSelu },
	{ "Shrink",
	  [](NodeReader &r) {
		  return legalize::shrink(r, r.input(0), r.number("lambd", 0.5),
					  r.number("bias", 0));
	  } },
	{ "Sigmoid", readUnary<Function::Logistic> },
	{ "Sign", readUnary<Function::Sign> },
	{ "Sin", readUnary<Function::Sin> },
	{ "Sinh", readUnary<Function::Sinh> },
	{ "Softmax", readSoftmax<false> },
	{ "Softplus", readUnary<Function::Softplus> },
	{ "Softsign", readUnary<Function::Softsign> },
	{ "Sqrt", readRoot<1, 2> },
	{ "Sub", readElementwise<Binary::Subtract> },
	{ "Sum", readSeveral<Binary::Add> },
	{ "Tan", readUnary<Function::Tan> },
	{ "Tanh", readUnary<Function::Tanh> },
	{ "ThresholdedRelu", readWithAlpha<Function::ThresholdedRelu, 100> },
	{ "Where",
	  [](NodeReader &r) {
		  return legalize::select(r, r.constant(0), r.input(1), r.input(2));
	  } },
};

} /* namespace nvdla::compiler::onnx */
