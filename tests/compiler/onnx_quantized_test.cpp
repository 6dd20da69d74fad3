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
Numbers defined(const compiler::Model &model, std::vector<Numbers> inputs)
{
	auto turns = [&](compiler::ValueId id, ElementOrder order) {
		return order == ElementOrder::Nchw && model.values[id].shape.size() == 4;
	};
	const compiler::ValueId output = model.outputs.front();

	for (size_t i = 0; i < inputs.size(); i++) {
		if (turns(model.inputs[i], model.inputsInFile[i].order))
			inputs[i] = turned(inputs[i], model.values[model.inputs[i]].shape, true);
	}
	const Numbers result = evaluate(model, inputs)[output];
	return turns(output, model.outputsInFile.front().order)
		       ? turned(result, model.values[output].shape, false)
		       : result;
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
	EXPECT_LE(beyond, wanted.size() / 100) << wanted.size();
	EXPECT_LE(largest, 2.01);
}

void expectWithinAHundredth(const Numbers &got, const Numbers &wanted)
{
	const auto [low, high] = std::minmax_element(wanted.begin(), wanted.end());
	const double range = std::max(*high, 0.0) - std::min(*low, 0.0);
	double largest = 0;

	ASSERT_EQ(got.size(), wanted.size());
	for (size_t i = 0; i < wanted.size(); i++) {
		const double distance = std::fabs(got[i] - wanted[i]);
		/* Written so that a NaN counts. */
		if (!(distance <= largest))
			largest = distance;
	}
	EXPECT_LE(largest, 0.01 * std::max(range, 1e-3));
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
	const auto outputs = onCore(integers.builder, integers.numbers());
	ASSERT_EQ(outputs.size(), 1U);
	expectWithinAStep(outputs[0], wanted, steps);

	if (real.needsIntegers())
		return;
	const auto halves = onCore(real.builder, real.numbers());
	ASSERT_EQ(halves.size(), 1U);
	expectWithinAHundredth(halves[0], wanted);
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

	if (exponent < 1)
		model.atLeast(4);
	model.needsIntegers(exponent < 1);
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
	onnx::Node *node = model.node(sum		  ? "ReduceSum"
				      : model.chance(0.5) ? "ReduceMin"
							  : "ReduceMax");
	if (!sum)
		OnnxBuilder::set(node, "axes", axes);
	OnnxBuilder::set(node, "keepdims", { model.chance(0.7) });
	model.movesElements(!sum);
}

void quotient(QdqModel &model)
{
	const int64_t c = model.from(1, 40), h = model.from(1, 6), w = model.from(1, 6);

	model.input({ 1, c, h, w });
	model.atLeast(8);
	if (model.chance(0.3))
		model.input({ 1, c, 1, 1 });
	else
		model.input({ 1, c, h, w });
	model.node("Div");
}

void channelReduction(QdqModel &model)
{
	const std::string types[] = { "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin" };
	const std::string type = types[model.from(0, 3)];
	const bool rows = model.chance(0.4), sum = type == "ReduceSum";

	if (rows)
		model.input({ 1, model.from(1, 8), model.from(1, 90) });
	else
		model.input({ 1, model.from(1, 90), model.from(1, 8), model.from(1, 8) });
	if (sum)
		model.list("axes", { rows ? -1 : 1 });
	onnx::Node *node = model.node(type);
	if (!sum)
		OnnxBuilder::set(node, "axes", { rows ? -1 : 1 });
	OnnxBuilder::set(node, "keepdims", { model.chance(0.7) });
	model.movesElements(type == "ReduceMax" || type == "ReduceMin");
}

void manyElements(QdqModel &model)
{
	const std::vector<int64_t> choices[] = { { 2 }, { 3 }, { 2, 3 } };
	const std::vector<int64_t> axes = choices[model.from(0, 2)];
	const bool sum = model.chance(0.5);

	model.input({ 1, model.from(1, 40), model.from(20, 70), model.from(20, 70) });
	if (sum)
		model.list("axes", axes);
	onnx::Node *node = model.node(sum ? "ReduceSum" : "ReduceMean");
	if (!sum)
		OnnxBuilder::set(node, "axes", axes);
	OnnxBuilder::set(node, "keepdims", { model.chance(0.7) });
}

void layerNormalization(QdqModel &model)
{
	const int64_t c = model.from(2, 90);

	model.input({ 1, model.from(1, 8), c });
	model.weights({ c }, -1);
	if (model.chance(0.7))
		model.bias(c);
	model.node("LayerNormalization");
}

void logSoftmax(QdqModel &model)
{
	const bool rows = model.chance(0.5);

	if (rows)
		model.input({ 1, model.from(1, 8), model.from(2, 40) });
	else
		model.input({ 1, model.from(2, 40), model.from(1, 6), model.from(1, 6) });
	OnnxBuilder::set(model.node("LogSoftmax"), "axis", { rows ? 2 : 1 });
}

void smallerPicture(QdqModel &model)
{
	const int64_t y = model.from(1, 4), x = model.from(1, 4);
	const int64_t h = y * model.from(1, 5), w = x * model.from(1, 5);
	const bool nearest = model.chance(0.5), centers = model.chance(0.6);
	const int64_t c = model.from(1, 40);

	model.input({ 1, c, h, w });
	model.extra("");
	model.extra("");
	model.list("sizes", { 1, c, h / y, w / x });
	onnx::Node *node = model.node("Resize");
	OnnxBuilder::setText(node, "mode", nearest ? "nearest" : "linear");
	OnnxBuilder::setText(node, "coordinate_transformation_mode",
			     centers ? "half_pixel" : "asymmetric");
	if (!centers || nearest)
		OnnxBuilder::setText(node, "nearest_mode",
				     centers ? "round_prefer_floor" : "floor");
	model.movesElements(true);
}

TEST(OnnxQuantized, QuotientOfTensors)
{
	checkAll(quotient);
}

TEST(OnnxQuantized, ReductionsOfChannels)
{
	checkAll(channelReduction);
}

TEST(OnnxQuantized, ReductionsOfManyElements)
{
	checkAll(manyElements);
}

TEST(OnnxQuantized, LayerNormalization)
{
	checkAll(layerNormalization);
}

TEST(OnnxQuantized, LogSoftmax)
{
	checkAll(logSoftmax);
}

TEST(OnnxQuantized, SmallerPicture)
{
	checkAll(smallerPicture);
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
