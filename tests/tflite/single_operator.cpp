/* SPDX-License-Identifier: MIT */
/*
 * What all operators of a file are made of, and those that work element by element.
 */
#include "single_operator.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace nvdla::test
{

namespace
{

constexpr int32_t add = 0, mul = 18, sub = 41;
constexpr int32_t minimum = 57, maximum = 55;

double reluOf(double x)
{
	return std::max(x, 0.0);
}
double relu6Of(double x)
{
	return std::clamp(x, 0.0, 6.0);
}
double reluN1Of(double x)
{
	return std::clamp(x, -1.0, 1.0);
}
double relu0To1Of(double x)
{
	return std::clamp(x, 0.0, 1.0);
}
double hardSwishOf(double x)
{
	return x * std::clamp(x + 3, 0.0, 6.0) / 6;
}
double eluOf(double x)
{
	return x < 0 ? std::expm1(x) : x;
}
double geluOf(double x)
{
	return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
}
double absOf(double x)
{
	return std::fabs(x);
}
double expOf(double x)
{
	return std::exp(x);
}

} /* namespace */

SingleOperator::SingleOperator(const Kind &kind, uint64_t seed) : RandomFile(seed)
{
	description = fmt::format("{}, NVDLA_RANDOM_SEED={}:", kind.name, seed);
	(this->*kind.make)();
}

Shape SingleOperator::picture()
{
	Shape shape;

	while (shape.empty() || elementsIn(shape) < 64 || elementsIn(shape) > 2000)
		shape = { 1, static_cast<int32_t>(from(1, 12)), static_cast<int32_t>(from(1, 12)),
			  static_cast<int32_t>(from(1, 40)) };
	return shape;
}

Shape SingleOperator::anyShape()
{
	const Shape shape = picture();

	if (chance(0.7))
		return shape;
	return chance(0.5) ? Shape{ 1, static_cast<int32_t>(elementsIn(shape)) }
			   : Shape{ 1, shape[1] * shape[2], shape[3] };
}

Steps SingleOperator::steps()
{
	const int64_t zero = chance(0.2) ? -128 : chance(0.1) ? 0 : int64_t{ from(0, 255) } - 128;

	return { static_cast<float>(std::exp2(real(-8, -2))), zero };
}

Steps SingleOperator::stepsFor(double low, double high)
{
	low = std::min(low, 0.0);
	high = std::max(high, 0.0);
	const double scale = std::max(high - low, 1e-3) / 255 * std::exp2(real(-1, 3));
	const double zero = chance(0.6) ? std::clamp(std::round(-128 - low / scale), -128.0, 127.0)
					: std::round(real(-128, 127));

	return { static_cast<float>(scale), static_cast<int64_t>(zero) };
}

fb::Activation SingleOperator::activation()
{
	if (chance(0.5))
		return fb::Activation::NONE;
	return static_cast<fb::Activation>(from(1, 3));
}

int32_t SingleOperator::input(const Shape &shape, const Steps &steps)
{
	Array &array = inputs.emplace_back();

	array.type = "|i1";
	for (size_t i = 0; i < elementsIn(shape); i++)
		array.numbers.push_back(static_cast<double>(from(0, 255)) - 128);
	description += fmt::format(" [{}] {} {},", fmt::join(shape, ", "), steps.scale, steps.zero);
	return builder_.integers(shape, steps.scale, steps.zero);
}

int32_t SingleOperator::output(const Shape &shape, const Steps &steps)
{
	description +=
		fmt::format(" -> [{}] {} {}", fmt::join(shape, ", "), steps.scale, steps.zero);
	return builder_.integers(shape, steps.scale, steps.zero);
}

std::vector<int8_t> SingleOperator::integers(size_t count, int32_t lowest)
{
	std::vector<int8_t> made;

	while (made.size() < count)
		made.push_back(static_cast<int8_t>(
			std::uniform_int_distribution<int32_t>(lowest, 127)(random_)));
	return made;
}

int32_t SingleOperator::constant(const Shape &shape, const Steps &steps)
{
	description += fmt::format(" constant [{}] {} {},", fmt::join(shape, ", "), steps.scale,
				   steps.zero);
	return builder_.integers(shape, steps.scale, steps.zero, integers(elementsIn(shape), -128));
}

/* Two tensors of one shape or the second one a number for each channel, or a constant. */
template<int32_t code>
void SingleOperator::arithmetic(bool withConstant)
{
	const Shape shape = anyShape();
	const Steps a = steps();
	Steps b = steps();
	/* A sum of scales that are very different is one of them. */
	if (code != mul)
		b.scale = a.scale * static_cast<float>(std::exp2(real(-3, 3)));
	Shape channels(shape.size(), 1);
	channels.back() = shape.back();
	const Shape other = withConstant ? repeatable(shape) : chance(0.8) ? shape : channels;
	const int32_t x = input(shape, a);
	const int32_t y = withConstant ? constant(other, b) : input(other, b);
	const bool isFirst = withConstant && chance(0.3);
	const double corners[] = { a.low() * b.low(), a.low() * b.high(), a.high() * b.low(),
				   a.high() * b.high() };
	const Steps out = code == mul	? stepsFor(*std::ranges::min_element(corners),
						   *std::ranges::max_element(corners))
			  : code == add ? stepsFor(a.low() + b.low(), a.high() + b.high())
					: stepsFor(a.low() - b.high(), a.high() - b.low());
	const int32_t result = output(shape, out);
	const fb::Activation clamp = activation();
	const Shape operands = isFirst ? Shape{ y, x } : Shape{ x, y };

	description += fmt::format(" activation {}{}", static_cast<int>(clamp),
				   isFirst ? ", constant first" : "");
	if constexpr (code == add)
		builder_.node(code, operands, { result }, fb::BuiltinOptions::AddOptions,
			      fb::CreateAddOptions(builder_.flat, clamp));
	else if constexpr (code == sub)
		builder_.node(code, operands, { result }, fb::BuiltinOptions::SubOptions,
			      fb::CreateSubOptions(builder_.flat, clamp));
	else
		builder_.node(code, operands, { result }, fb::BuiltinOptions::MulOptions,
			      fb::CreateMulOptions(builder_.flat, clamp));
	Shape ins{ x };
	if (!withConstant)
		ins.push_back(y);
	file = builder_.file(ins, { result });
}

template<int32_t code>
void SingleOperator::tensors()
{
	arithmetic<code>(false);
}

template<int32_t code>
void SingleOperator::withConstant()
{
	arithmetic<code>(true);
}

template<int32_t code, SingleOperator::Function function>
void SingleOperator::unary()
{
	const Shape shape = anyShape();
	const Steps in = steps();
	const int32_t x = input(shape, in);
	double low = 0, high = 0;

	for (int i = -128; i < 128; i++) {
		low = std::min(low, function(in.real(i)));
		high = std::max(high, function(in.real(i)));
	}
	const int32_t result = output(shape, stepsFor(low, high));
	builder_.node(code, { x }, { result });
	file = builder_.file({ x }, { result });
}

/* Of numbers that are not negative. */
void SingleOperator::reciprocalRoot()
{
	const Shape shape = anyShape();
	const Steps in{ steps().scale, -128 };
	const int32_t x = input(shape, in);
	const int32_t result = output(shape, stepsFor(0, 1 / std::sqrt(in.real(-127))));

	builder_.node(76, { x }, { result });
	file = builder_.file({ x }, { result });
}

void SingleOperator::leakyRelu()
{
	const Shape shape = anyShape();
	const Steps in = steps();
	const int32_t x = input(shape, in);
	const auto alpha = static_cast<float>(real(-0.5, 1.5));
	const int32_t result = output(shape, stepsFor(std::min(in.low() * alpha, in.low() / 8),
						      std::max(in.high(), in.low() * alpha)));

	description += fmt::format(" alpha {}", alpha);
	builder_.node(98, { x }, { result }, fb::BuiltinOptions::LeakyReluOptions,
		      fb::CreateLeakyReluOptions(builder_.flat, alpha));
	file = builder_.file({ x }, { result });
}

void SingleOperator::prelu()
{
	const Shape shape = picture();
	const Steps in = steps();
	const Steps slopes{ static_cast<float>(real(0.2, 1.5) / 128), steps().zero };
	const int32_t x = input(shape, in);
	const int32_t y = constant(repeatable(shape), slopes);
	const int32_t result = output(shape, stepsFor(in.low(), in.high()));

	builder_.node(54, { x, y }, { result });
	file = builder_.file({ x }, { result });
}

/* Both operands and the result have one quantization; the second operand is a constant or
 * another tensor. */
template<int32_t code>
void SingleOperator::limits()
{
	const Shape shape = anyShape();
	const Steps all = steps();
	const bool isConstant = chance(0.5);
	const int32_t x = input(shape, all);
	const int32_t y = isConstant ? constant(repeatable(shape), all) : input(shape, all);
	const int32_t result = output(shape, all);

	builder_.node(code, { x, y }, { result });
	file = builder_.file(isConstant ? Shape{ x } : Shape{ x, y }, { result });
}

/* Functions whose results have the range that the format says. */
void SingleOperator::fixedRange(int32_t code, fb::BuiltinOptions kind,
				flatbuffers::Offset<void> options, const Steps &out)
{
	const Shape shape = anyShape();
	const Steps in = steps();
	const int32_t x = input(shape, in);
	const int32_t result = output(shape, out);

	builder_.node(code, { x }, { result }, kind, options);
	file = builder_.file({ x }, { result });
}

void SingleOperator::logistic()
{
	fixedRange(14, fb::BuiltinOptions::NONE, 0, { 1.0f / 256, -128 });
}

void SingleOperator::tanh()
{
	fixedRange(28, fb::BuiltinOptions::NONE, 0, { 1.0f / 128, 0 });
}

void SingleOperator::softmax()
{
	const auto beta = static_cast<float>(chance(0.7) ? 1 : real(0.2, 2));

	fixedRange(25, fb::BuiltinOptions::SoftmaxOptions,
		   fb::CreateSoftmaxOptions(builder_.flat, beta).Union(), { 1.0f / 256, -128 });
}

void SingleOperator::logSoftmax()
{
	fixedRange(50, fb::BuiltinOptions::NONE, 0, { 16.0f / 256, 127 });
}

void SingleOperator::l2Normalization()
{
	fixedRange(11, fb::BuiltinOptions::L2NormOptions,
		   fb::CreateL2NormOptions(builder_.flat).Union(), { 1.0f / 128, 0 });
}

/* From one quantization to another. */
void SingleOperator::quantize()
{
	const Shape shape = anyShape();
	const Steps in = steps();
	const int32_t x = input(shape, in);
	const int32_t result = output(shape, stepsFor(in.low(), in.high()));

	builder_.node(114, { x }, { result });
	file = builder_.file({ x }, { result });
}

void SingleOperator::concatenation()
{
	Shape shape = picture();
	const Steps all = steps();
	const auto axis = from(1, 3);
	const int32_t a = input(shape, all);
	int32_t extent = shape[axis];

	shape[axis] = static_cast<int32_t>(from(1, 12));
	const int32_t b = input(shape, all);
	extent += shape[axis];
	shape[axis] = extent;
	const int32_t result = output(shape, all);
	builder_.node(2, { a, b }, { result }, fb::BuiltinOptions::ConcatenationOptions,
		      fb::CreateConcatenationOptions(builder_.flat, static_cast<int32_t>(axis)));
	file = builder_.file({ a, b }, { result });
}

void SingleOperator::transpose()
{
	const Shape shape = picture();
	const Steps all = steps();
	std::vector<int32_t> order{ 0, 1, 2, 3 };
	std::shuffle(order.begin() + 1, order.end(), random_);
	Shape made;

	for (const int32_t axis : order)
		made.push_back(shape[static_cast<size_t>(axis)]);
	const int32_t x = input(shape, all), list = builder_.list(order);
	const int32_t result = output(made, all);
	builder_.node(39, { x, list }, { result });
	file = builder_.file({ x }, { result });
}

std::span<const SingleOperator::Kind> SingleOperator::elementKinds()
{
	using Self = SingleOperator;
	static const Kind kinds[] = {
		{ "ADD", &Self::tensors<add> },
		{ "ADD_constant", &Self::withConstant<add> },
		{ "SUB", &Self::tensors<sub> },
		{ "SUB_constant", &Self::withConstant<sub> },
		{ "MUL", &Self::tensors<mul> },
		{ "MUL_constant", &Self::withConstant<mul> },
		{ "MINIMUM", &Self::limits<minimum> },
		{ "MAXIMUM", &Self::limits<maximum> },
		{ "PRELU", &Self::prelu },
		{ "LEAKY_RELU", &Self::leakyRelu },
		{ "RELU", &Self::unary<19, reluOf> },
		{ "RELU6", &Self::unary<21, relu6Of> },
		{ "RELU_N1_TO_1", &Self::unary<20, reluN1Of> },
		{ "RELU_0_TO_1", &Self::unary<152, relu0To1Of> },
		{ "HARD_SWISH", &Self::unary<117, hardSwishOf> },
		{ "ELU", &Self::unary<111, eluOf> },
		{ "GELU", &Self::unary<150, geluOf> },
		{ "EXP", &Self::unary<47, expOf> },
		{ "ABS", &Self::unary<101, absOf> },
		{ "RSQRT", &Self::reciprocalRoot },
		{ "LOGISTIC", &Self::logistic },
		{ "TANH", &Self::tanh },
		{ "SOFTMAX", &Self::softmax },
		{ "LOG_SOFTMAX", &Self::logSoftmax },
		{ "L2_NORMALIZATION", &Self::l2Normalization },
		{ "QUANTIZE", &Self::quantize },
		{ "CONCATENATION", &Self::concatenation },
		{ "TRANSPOSE", &Self::transpose },
	};

	return kinds;
}

} /* namespace nvdla::test */
