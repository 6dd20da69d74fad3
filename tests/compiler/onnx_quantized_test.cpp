/* SPDX-License-Identifier: MIT */
/*
 * Operators of ONNX between QuantizeLinear and DequantizeLinear, over random shapes and parameters:
 * what the core makes in integers has to be what the reference makes of the float model.
 */
#include <cmath>
#include <cstdlib>
#include <functional>

#include <gtest/gtest.h>

#include "compiler/import/import.h"
#include "onnx_quantized.h"

namespace nvdla::test
{

namespace
{

/* Elements in N, C, H, W order, in N, H, W, C order, or the other way round. */
Numbers turned(const Numbers &numbers, const compiler::Extents &nhwc, bool toChannelsLast)
{
	const size_t plane = size_t{ nhwc[1] } * nhwc[2];
	Numbers result(numbers.size());

	for (size_t i = 0; i < numbers.size(); i++) {
		const size_t last = i % plane * nhwc[3] + i / plane;
		(toChannelsLast ? result[last] : result[i]) = numbers[toChannelsLast ? i : last];
	}
	return result;
}

/* What the reference makes of a float model, in the file's order. */
Numbers defined(const compiler::Model &model, const Numbers &input)
{
	const compiler::Extents &in = model.values[model.inputs.front()].shape;
	const compiler::Extents &out = model.values[model.outputs.front()].shape;
	const bool turnsIn = model.inputOrders.front() == ElementOrder::Nchw;
	const bool turnsOut = model.outputOrders.front() == ElementOrder::Nchw;
	const auto values =
		evaluate(model, { turnsIn && in.size() == 4 ? turned(input, in, true) : input });
	const Numbers &result = values[model.outputs.front()];

	return turnsOut && out.size() == 4 ? turned(result, out, false) : result;
}

/* A range of integers for numbers, of which some may be cut off. */
QdqQuantization quantizationOf(const Numbers &numbers)
{
	const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
	const double range = std::max(*high, 0.0) - std::min(*low, 0.0);
	const auto scale = static_cast<float>(std::max(range, 1e-3) / 250);

	return { scale, static_cast<int32_t>(std::lround(-128 - std::min(*low, 0.0) / scale)) };
}

/* As isWithinAStep() of random_operator_test.cpp, in steps of the output. */
void expectWithinAStep(const Numbers &got, const Numbers &wanted, const QdqQuantization &steps)
{
	size_t beyond = 0;
	double largest = 0;

	ASSERT_EQ(got.size(), wanted.size());
	for (size_t i = 0; i < wanted.size(); i++) {
		const double held = std::clamp(std::nearbyint(wanted[i] / steps.scale),
					       -128.0 - steps.zero, 127.0 - steps.zero);
		const double distance = std::fabs(got[i] / steps.scale - held);
		beyond += distance > 1.01;
		/* Written so that a NaN counts. */
		if (!(distance <= largest))
			largest = distance;
	}
	EXPECT_LE(beyond, wanted.size() / 100);
	EXPECT_LE(largest, 2.01);
}

using Make = std::function<void(QdqModel &)>;

void check(const Make &make, uint32_t seed)
{
	QdqModel real(seed, {});
	make(real);
	SCOPED_TRACE("NVDLA_OPERATOR_SEED=" + std::to_string(seed) + ", " + real.description());
	auto model = compiler::importOnnx(real.builder.file());
	ASSERT_TRUE(model) << model.error().message();
	const Numbers wanted = defined(*model, real.numbers());
	const QdqQuantization steps =
		real.movesElements() ? real.inputSteps() : quantizationOf(wanted);

	QdqModel integers(seed, steps);
	make(integers);
	const auto outputs = onCore(integers.builder, { integers.numbers() });
	ASSERT_EQ(outputs.size(), 1U);
	expectWithinAStep(outputs[0], wanted, steps);
}

/* NVDLA_OPERATOR_SEED runs one seed alone. */
void checkAll(const Make &make)
{
	constexpr uint32_t seeds = 25;
	const char *only = std::getenv("NVDLA_OPERATOR_SEED");

	if (only) {
		check(make, static_cast<uint32_t>(std::strtoul(only, nullptr, 10)));
		return;
	}
	for (uint32_t seed = 1; seed <= seeds; seed++)
		check(make, seed);
}

void convolutionOfALine(QdqModel &model)
{
	const int64_t groups = model.from(1, 3), s = model.from(1, 5);
	const int64_t c = groups * model.from(1, 12), k = groups * model.from(1, 12);
	const int64_t dilation = model.from(1, 2), w = (s - 1) * dilation + model.from(1, 20);

	model.input({ 1, c, w });
	model.weights({ k, c / groups, s }, 0);
	model.bias(k);
	onnx::Node *node = model.node("Conv");
	OnnxBuilder::set(node, "group", { groups });
	OnnxBuilder::set(node, "strides", { model.from(1, 3) });
	OnnxBuilder::set(node, "dilations", { dilation });
	if (model.chance(0.3))
		OnnxBuilder::setText(node, "auto_pad",
				     model.chance(0.5) ? "SAME_UPPER" : "SAME_LOWER");
	else
		OnnxBuilder::set(node, "pads", { model.from(0, s - 1), model.from(0, s - 1) });
}

void poolingOfALine(QdqModel &model)
{
	const int64_t s = model.from(1, 6);
	const bool largest = model.chance(0.4);

	model.input({ 1, model.from(1, 40), s + model.from(0, 20) });
	onnx::Node *node = model.node(largest ? "MaxPool" : "AveragePool");
	model.movesElements(largest);
	OnnxBuilder::set(node, "kernel_shape", { s });
	OnnxBuilder::set(node, "strides", { model.from(1, 3) });
	OnnxBuilder::set(node, "pads", { model.from(0, s / 2), model.from(0, s / 2) });
	if (model.chance(0.3))
		OnnxBuilder::set(node, "ceil_mode", { 1 });
	else if (!largest && model.chance(0.5))
		OnnxBuilder::set(node, "count_include_pad", { 1 });
}

void transposedConvolution(QdqModel &model)
{
	const bool line = model.chance(0.3);
	const int64_t groups = model.from(1, 3), r = line ? 1 : model.from(1, 4);
	const int64_t s = model.from(1, 4), c = groups * model.from(1, 8);
	const int64_t k = groups * model.from(1, 8), strideY = line ? 1 : model.from(1, 3);
	const int64_t h = model.from(1, 6), w = model.from(1, 6), stride = model.from(1, 3);
	const int64_t dilation = model.from(1, 2);
	auto both = [line](int64_t y, int64_t x) {
		return line ? std::vector{ x } : std::vector{ y, x };
	};

	model.input(line ? std::vector{ int64_t{ 1 }, c, w }
			 : std::vector{ int64_t{ 1 }, c, h, w });
	model.weights(line ? std::vector{ c, k / groups, s } : std::vector{ c, k / groups, r, s },
		      groups == 1 ? 1 : -1);
	model.bias(k);
	onnx::Node *node = model.node("ConvTranspose");
	OnnxBuilder::set(node, "group", { groups });
	OnnxBuilder::set(node, "strides", both(strideY, stride));
	OnnxBuilder::set(node, "dilations", both(line ? 1 : dilation, dilation));
	const int64_t tallest = (line ? 1 : dilation) * (r - 1) + 1;
	const int64_t widest = dilation * (s - 1) + 1;
	if (model.chance(0.3)) {
		OnnxBuilder::setText(node, "auto_pad",
				     model.chance(0.5) ? "SAME_UPPER" : "SAME_LOWER");
	} else if (model.chance(0.4)) {
		const int64_t y = (h - 1) * strideY + tallest, x = (w - 1) * stride + widest;
		OnnxBuilder::set(node, "output_shape",
				 both(model.from((y + 1) / 2, y), model.from((x + 1) / 2, x)));
	} else {
		OnnxBuilder::set(node, "output_padding",
				 both(model.from(0, strideY - 1), model.from(0, stride - 1)));
	}
}

void padding(QdqModel &model)
{
	const int64_t c = model.from(1, 40), h = model.from(2, 8), w = model.from(2, 8);
	const std::string modes[] = { "reflect", "edge", "wrap" };

	model.input({ 1, c, h, w });
	model.list("pads", { 0, 0, model.from(0, h - 1), model.from(0, w - 1), 0, 0,
			     model.from(0, h - 1), model.from(0, w - 1) });
	OnnxBuilder::setText(model.node("Pad"), "mode",
			     modes[static_cast<size_t>(model.from(0, 2))]);
	model.movesElements(true);
}

void tile(QdqModel &model)
{
	model.input({ 1, model.from(1, 40), model.from(1, 6), model.from(1, 6) });
	model.list("repeats", { 1, model.from(1, 3), model.from(1, 3), model.from(1, 3) });
	model.node("Tile");
	model.movesElements(true);
}

void expand(QdqModel &model)
{
	const int64_t c = model.from(1, 40);
	const bool lines = model.chance(0.5), columns = model.chance(0.5);

	model.input({ 1, c, lines ? 1 : model.from(1, 5), columns ? 1 : model.from(1, 5) });
	model.list("shape", { 1, lines ? model.from(1, 5) : 1, columns ? model.from(1, 5) : 1 });
	model.node("Expand");
	model.movesElements(true);
}

void power(QdqModel &model)
{
	const float exponents[] = { 1, 2, 3, 0.5f, -0.5f, -1 };
	const float exponent = exponents[model.from(0, 5)];

	model.positive(exponent < 1);
	model.input({ 1, model.from(1, 40), model.from(1, 6), model.from(1, 6) });
	model.builder.floats("exponent", {}, { exponent });
	model.extra("exponent");
	model.node("Pow");
	model.movesElements(exponent == 1);
}

void reduction(QdqModel &model)
{
	const std::vector<int64_t> choices[] = { { 2 }, { 3 }, { 2, 3 } };
	const std::vector<int64_t> axes = choices[model.from(0, 2)];
	const bool sum = model.chance(0.5);

	model.input({ 1, model.from(1, 40), model.from(1, 8), model.from(1, 8) });
	if (sum)
		model.list("axes", axes);
	onnx::Node *node = model.node(sum ? "ReduceSum" : "ReduceMax");
	if (!sum)
		OnnxBuilder::set(node, "axes", axes);
	OnnxBuilder::set(node, "keepdims", { model.chance(0.7) });
	model.movesElements(!sum);
}

TEST(OnnxQuantized, ConvolutionOfALine)
{
	checkAll(convolutionOfALine);
}

TEST(OnnxQuantized, PoolingOfALine)
{
	checkAll(poolingOfALine);
}

TEST(OnnxQuantized, TransposedConvolution)
{
	checkAll(transposedConvolution);
}

TEST(OnnxQuantized, Pad)
{
	checkAll(padding);
}

TEST(OnnxQuantized, Tile)
{
	checkAll(tile);
}

TEST(OnnxQuantized, Expand)
{
	checkAll(expand);
}

TEST(OnnxQuantized, Pow)
{
	checkAll(power);
}

TEST(OnnxQuantized, Reductions)
{
	checkAll(reduction);
}

} /* namespace */

} /* namespace nvdla::test */
