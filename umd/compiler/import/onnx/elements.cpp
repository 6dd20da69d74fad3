/* SPDX-License-Identifier: MIT */
/*
 * Functions of single elements, of two tensors, and softmax.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

using Function = Elementwise::Function;

void addUnary(NodeReader &reader, const Unary &unary)
{
	const FileTensor x = reader.computedInput();

	reader.add(unary, { x.id }, reader.computed(x), x);
}

template<Unary::Function function>
void readUnary(NodeReader &reader)
{
	addUnary(reader, { function, 0, {} });
}

/* To the power of a fraction. */
template<int numerator, int denominator = 1>
void readRoot(NodeReader &reader)
{
	addUnary(reader, { Unary::Function::Power, double{ numerator } / denominator, {} });
}

/* outer * function(inner * x); what multiplies by 1 is left out. */
void addScaledUnary(NodeReader &reader, double inner, const Unary &unary, double outer)
{
	FileTensor x = reader.computedInput();
	const ElementKind elements = reader.computed(x);

	if (inner != 1)
		x = reader.addBetween(Elementwise{ Function::Multiply, {} },
				      { x.id, reader.addNumber(inner) }, elements, x);
	if (outer == 1) {
		reader.add(unary, { x.id }, elements, x);
		return;
	}
	x = reader.addBetween(unary, { x.id }, elements, x);
	reader.add(Elementwise{ Function::Multiply, {} }, { x.id, reader.addNumber(outer) },
		   elements, x);
}

void readRelu(NodeReader &reader)
{
	addUnary(reader, { .activation = { .low = 0 } });
}

/* Limits were attributes once. */
void readClip(NodeReader &reader)
{
	Clamp clamp;

	clamp.low = reader.attribute("min") ? reader.number("min", 0) : reader.scalar(1, clamp.low);
	clamp.high =
		reader.attribute("max") ? reader.number("max", 0) : reader.scalar(2, clamp.high);
	addUnary(reader, { .activation = clamp });
}

/* Alpha is so many hundredths, if it is not given. */
template<Unary::Function function, int usual>
void readWithAlpha(NodeReader &reader)
{
	addUnary(reader, { function, reader.number("alpha", usual / 100.0), {} });
}

void readCelu(NodeReader &reader)
{
	const double alpha = reader.number("alpha", 1);

	if (reader.support(alpha != 0, "alpha", "is 0"))
		addScaledUnary(reader, 1 / alpha, { Unary::Function::Elu, 1, {} }, alpha);
}

/* What the definition has for numbers that it does not give. */
constexpr double seluAlpha = 1.67326319217681884765625;
constexpr double seluGamma = 1.05070102214813232421875;

void readSelu(NodeReader &reader)
{
	addScaledUnary(reader, 1, { Unary::Function::Elu, reader.number("alpha", seluAlpha), {} },
		       reader.number("gamma", seluGamma));
}

void readGelu(NodeReader &reader)
{
	const std::string approximate = reader.text("approximate", "none");

	reader.support(approximate == "none" || approximate == "tanh", "approximate",
		       "is " + approximate + "; none and tanh are known");
	addUnary(reader,
		 { approximate == "tanh" ? Unary::Function::GeluTanh : Unary::Function::Gelu,
		   0,
		   {} });
}

/* What is near 0 becomes 0; what is not stays (bias 0), or comes as near (a bias of lambd). */
void readShrink(NodeReader &reader)
{
	const double threshold = reader.number("lambd", 0.5), bias = reader.number("bias", 0);
	const FileTensor x = reader.input(0);
	const ElementKind elements = reader.computed(x);

	if (bias == 0) {
		addUnary(reader, { Unary::Function::HardShrink, threshold, {} });
		return;
	}
	reader.support(bias == threshold && threshold > 0, "bias",
		       fmt::format("is {}; 0 and lambd, {}, are known", bias, threshold));
	reader.support(reader.failed() || !reader.value(x).isConstant, "input 0", "is a constant");
	const FileTensor near = reader.addBetween(Unary{ .activation = { -threshold, threshold } },
						  { x.id }, elements, x);
	reader.add(Elementwise{ Function::Subtract, {} }, { x.id, near.id }, elements, x);
}

/* clamp(alpha * x + beta, 0, 1) */
void readHardSigmoid(NodeReader &reader)
{
	const FileTensor x = reader.input(0);
	const ElementKind elements = reader.computed(x);
	const ValueId alpha = reader.addNumber(reader.number("alpha", 0.2));
	const ValueId beta = reader.addNumber(reader.number("beta", 0.5));
	const FileTensor product = reader.addBetween(Elementwise{ Function::Multiply, {} },
						     { x.id, alpha }, elements, x);

	reader.add(Elementwise{ Function::Add, { 0, 1 } }, { product.id, beta }, elements, x);
}

/* The second operand; before version 7 it lies along the axes of the first one from `axis` on. */
FileTensor secondOf(NodeReader &reader, const FileTensor &first)
{
	const FileTensor tensor = reader.input(1);
	const size_t rank = first.shape.size(), own = tensor.shape.size();

	if (reader.failed() || !reader.isBeforeBroadcasting() || own == 0 || own >= rank)
		return tensor;
	if (!reader.need(reader.integer("broadcast", 0) != 0, "inputs",
			 fmt::format("are {} and {}, without broadcast", toString(first.shape),
				     toString(tensor.shape))))
		return {};
	const auto usual = static_cast<int64_t>(rank - own);
	const uint32_t axis = reader.axis(reader.integer("axis", usual), rank, "axis");
	if (reader.failed() ||
	    !reader.need(axis + own <= rank, "axis",
			 fmt::format("is {}, for {} and {}", axis, toString(first.shape),
				     toString(tensor.shape))))
		return {};
	Extents shape(rank, 1);
	std::copy(tensor.shape.begin(), tensor.shape.end(), shape.begin() + axis);
	return reshaped(reader, tensor, shape);
}

template<Function function>
void readElementwise(NodeReader &reader)
{
	const FileTensor a = reader.input(0), b = secondOf(reader, a);

	addElementwise(reader, function, a, b, reader.computed(reader.value(a).isConstant ? b : a));
}

template<Function function>
void addSeveral(NodeReader &reader, const FileTensor &so, size_t next)
{
	const FileTensor other = reader.input(next);

	if (reader.failed())
		return;
	if (next + 1 == reader.inputs()) {
		addElementwise(reader, function, so, other,
			       reader.computed(reader.value(so).isConstant ? other : so));
		return;
	}
	if (!reader.support(so.shape == other.shape && !reader.value(so).isConstant &&
				    !reader.value(other).isConstant,
			    "inputs", "are more than two, and constants or of several shapes"))
		return;
	const FileTensor first = so.places == other.places ? so : reader.plain(so);
	const FileTensor same = reader.arranged(other, first);
	const FileTensor more = reader.addBetween(
		Elementwise{ function, {} }, { first.id, same.id }, reader.computed(first), first);
	addSeveral<function>(reader, more, next + 1);
}

/* Of one tensor or more. */
template<Function function>
void readSeveral(NodeReader &reader)
{
	if (reader.inputs() == 1)
		reader.alias(reader.input(0));
	else
		addSeveral<function>(reader, reader.input(0), 1);
}

/* Their sum, and that times a constant. */
void readMean(NodeReader &reader)
{
	FileTensor sum = reader.plainInput(0);
	const double share = 1.0 / static_cast<double>(std::max<size_t>(reader.inputs(), 1));
	const ElementKind elements = reader.computed(sum);

	if (reader.inputs() == 1) {
		reader.alias(sum);
		return;
	}
	for (size_t i = 1; i < reader.inputs() && !reader.failed(); i++) {
		const FileTensor other = reader.inOrder(reader.input(i), sum.order);
		if (!reader.support(sum.shape == other.shape && !reader.value(sum).isConstant &&
					    !reader.value(other).isConstant,
				    "inputs", "are constants or of several shapes"))
			return;
		sum = reader.addBetween(Elementwise{ Function::Add, {} }, { sum.id, other.id },
					elements, sum);
	}
	reader.add(Elementwise{ Function::Multiply, {} }, { sum.id, reader.addNumber(share) },
		   elements, sum);
}

void readNeg(NodeReader &reader)
{
	const FileTensor x = reader.computedInput();

	reader.add(Elementwise{ Function::Multiply, {} }, { x.id, reader.addNumber(-1) },
		   reader.computed(x), x);
}

/* Between the widths of real numbers, which are all one here. */
void readCast(NodeReader &reader)
{
	const FileTensor x = reader.input(0);
	const int64_t to = reader.integer("to", pb::UNDEFINED);

	reader.support(!reader.failed() && isFloat(reader.value(x).type) &&
			       (to == pb::FLOAT || to == pb::FLOAT16),
		       "to", fmt::format("is {}; from float to float or float16 is known", to));
	reader.alias(x);
}

/* By a constant: a product. */
void readDiv(NodeReader &reader)
{
	const FileTensor x = reader.input(0);

	if (!reader.isConstant(1)) {
		readElementwise<Function::Divide>(reader);
		return;
	}
	FileTensor factor = secondOf(reader, x);
	const std::vector<double> factors = reader.reciprocals(reader.value(factor), "input 1");

	if (reader.failed())
		return;
	factor.id = reader.addConstant(floatConstant(factors, factor.shape));
	addElementwise(reader, Function::Multiply, x, factor, reader.computed(x));
}

/* To a constant power: products, if that is all there is to do. */
void readPow(NodeReader &reader)
{
	const FileTensor x = reader.input(0);
	const double exponent = reader.scalar(1, 1);
	const ElementKind elements = reader.computed(x);
	const Unary square{ Unary::Function::Square, 0, {} };

	if (reader.failed())
		return;
	if (exponent == 1) {
		reader.alias(x);
	} else if (exponent == 2) {
		addUnary(reader, square);
	} else if (exponent == 3) {
		reader.support(!reader.value(x).isConstant, "input 0", "is a constant");
		const FileTensor squared = reader.addBetween(square, { x.id }, elements, x);
		reader.add(Elementwise{ Function::Multiply, {} }, { x.id, squared.id }, elements,
			   x);
	} else {
		reader.support(std::isfinite(exponent), "exponent", "is infinite or no number");
		addUnary(reader, { Unary::Function::Power, exponent, {} });
	}
}

/* Slopes are broadcast to the input; before version 7 there is one for each channel. */
void readPRelu(NodeReader &reader)
{
	const FileTensor x = reader.input(0);
	const Value &slopes = reader.constant(1);

	if (reader.failed())
		return;
	const bool perChannel = reader.isBeforeBroadcasting() && elementCount(slopes.shape) > 1;
	const ValueId met = perChannel ? reader.addAlong(x, 1, realNumbers(slopes))
				       : reader.addMeeting(x, slopes);
	reader.add(PRelu{}, { x.id, met }, reader.computed(x), x);
}

/* Before version 13 all axes from this one on count as one. */
template<bool isLogarithm>
void readSoftmax(NodeReader &reader)
{
	constexpr int64_t oneAxis = 13;
	FileTensor x = reader.input(0);
	const bool all = reader.version() < oneAxis;
	const uint32_t axis =
		reader.axis(reader.integer("axis", all ? 1 : -1), x.shape.size(), "axis");

	if (reader.failed())
		return;
	const auto several = severalOf(x.shape, asInFile(x.shape.size()));
	reader.support(!all || std::none_of(several.begin(), several.end(),
					    [&](uint32_t one) { return one > axis; }),
		       "axis", "and those behind it have several elements");
	x = withAxisLast(reader, axis);
	reader.add(Softmax{ 1, isLogarithm }, { x.id }, reader.computed(x), x);
}

/* What does nothing once a network is trained. */
void readIdentity(NodeReader &reader)
{
	reader.alias(reader.input(0));
}

/* While a network is trained, elements fall away at random. */
void readDropout(NodeReader &reader)
{
	constexpr size_t trainingMode = 2;

	if (reader.hasInput(trainingMode))
		reader.support(reader.scalar(trainingMode, 0) == 0, "training_mode",
			       "is set; export the model for inference");
	readIdentity(reader);
}

} /* namespace */

void addElementwise(NodeReader &reader, Elementwise::Function function, FileTensor a, FileTensor b,
		    const ElementKind &elements)
{
	const bool first = reader.value(a).isConstant, second = reader.value(b).isConstant;

	if (reader.failed() ||
	    !reader.support(!first || !second, "inputs", "are constants, both of them"))
		return;
	const size_t rank = std::max(a.shape.size(), b.shape.size());
	/* Axes that one lacks are of one element, and in front; constants get them when they meet.
	 */
	for (FileTensor *one : { &a, &b }) {
		Extents shape(rank - one->shape.size(), 1);
		shape.insert(shape.end(), one->shape.begin(), one->shape.end());
		if (shape != one->shape && !reader.value(*one).isConstant)
			*one = reshaped(reader, *one, shape);
	}
	FileTensor &larger =
		first || (!second && elementCount(a.shape) < elementCount(b.shape)) ? b : a;
	FileTensor &other = &larger == &a ? b : a;
	if (reader.failed())
		return;
	const size_t lacks = rank - other.shape.size();
	FileTensor like = larger;
	for (size_t axis = lacks; axis < rank; axis++) {
		const uint32_t one = larger.shape[axis], two = other.shape[axis - lacks];
		if (!reader.need(one == two || one == 1 || two == 1, "inputs",
				 fmt::format("of {} and {} do not go together: trailing axes have "
					     "to be alike, or of one element",
					     toString(a.shape), toString(b.shape))))
			return;
		like.shape[axis] = one == 1 ? two : one;
	}
	/* One number for each row goes with any order of its elements. */
	const bool otherOrder =
		!first && !second && a.places != b.places && other.shape.back() != 1;
	if (otherOrder || like.shape != larger.shape) {
		const Extents shape = like.shape;
		like = larger = reader.plain(larger);
		like.shape = shape;
	}
	if (first || second)
		other.id = reader.addMeeting(larger, reader.value(other));
	else
		other = reader.arranged(other, larger);
	reader.add(Elementwise{ function, {} }, { a.id, b.id }, elements, like);
}

const NodeTable elementNodes = {
	{ "Abs", readUnary<Unary::Function::Abs> },
	{ "Acos", readUnary<Unary::Function::Acos> },
	{ "Acosh", readUnary<Unary::Function::Acosh> },
	{ "Add", readElementwise<Function::Add> },
	{ "Asin", readUnary<Unary::Function::Asin> },
	{ "Asinh", readUnary<Unary::Function::Asinh> },
	{ "Atan", readUnary<Unary::Function::Atan> },
	{ "Atanh", readUnary<Unary::Function::Atanh> },
	{ "Cast", readCast },
	{ "Ceil", readUnary<Unary::Function::Ceil> },
	{ "Celu", readCelu },
	{ "Clip", readClip },
	{ "Cos", readUnary<Unary::Function::Cos> },
	{ "Cosh", readUnary<Unary::Function::Cosh> },
	{ "Div", readDiv },
	{ "Dropout", readDropout },
	{ "Elu", readWithAlpha<Unary::Function::Elu, 100> },
	{ "Erf", readUnary<Unary::Function::Erf> },
	{ "Exp", readUnary<Unary::Function::Exp> },
	{ "Floor", readUnary<Unary::Function::Floor> },
	{ "Gelu", readGelu },
	{ "HardSigmoid", readHardSigmoid },
	{ "HardSwish", readUnary<Unary::Function::HardSwish> },
	{ "Identity", readIdentity },
	{ "LeakyRelu", readWithAlpha<Unary::Function::LeakyRelu, 1> },
	{ "Log", readUnary<Unary::Function::Log> },
	{ "LogSoftmax", readSoftmax<true> },
	{ "Max", readSeveral<Function::Maximum> },
	{ "Mean", readMean },
	{ "Min", readSeveral<Function::Minimum> },
	{ "Mish", readUnary<Unary::Function::Mish> },
	{ "Mul", readElementwise<Function::Multiply> },
	{ "Neg", readNeg },
	{ "PRelu", readPRelu },
	{ "Pow", readPow },
	{ "Reciprocal", readRoot<-1> },
	{ "Relu", readRelu },
	{ "Round", readUnary<Unary::Function::Round> },
	{ "Selu", readSelu },
	{ "Shrink", readShrink },
	{ "Sigmoid", readUnary<Unary::Function::Logistic> },
	{ "Sign", readUnary<Unary::Function::Sign> },
	{ "Sin", readUnary<Unary::Function::Sin> },
	{ "Sinh", readUnary<Unary::Function::Sinh> },
	{ "Softmax", readSoftmax<false> },
	{ "Softplus", readUnary<Unary::Function::Softplus> },
	{ "Softsign", readUnary<Unary::Function::Softsign> },
	{ "Sqrt", readRoot<1, 2> },
	{ "Sub", readElementwise<Function::Subtract> },
	{ "Sum", readSeveral<Function::Add> },
	{ "Tan", readUnary<Unary::Function::Tan> },
	{ "Tanh", readUnary<Unary::Function::Tanh> },
	{ "ThresholdedRelu", readWithAlpha<Unary::Function::ThresholdedRelu, 100> },
};

} /* namespace nvdla::compiler::onnx */
