/* SPDX-License-Identifier: MIT */
/*
 * ONNX files: convolutions, poolings and reductions.
 */
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <nvdla/compiler.h>

#include "onnx_builder.h"
#include "onnx_on_core.h"
#include "refused_file.h"

namespace nvdla::test
{

namespace
{

/* Over lines, columns and both; with the axes that are left, or with an element in their place. */
TEST(OnnxWindows, ReductionsOfPictures)
{
	const struct {
		std::string type;
		std::vector<int64_t> axes;
		Numbers wanted;
	} cases[] = {
		{ "ReduceSum", { 2, 3 }, { 21, 210 } },
		{ "ReduceSum", { -1 }, { 6, 15, 60, 150 } },
		{ "ReduceMax", { -2 }, { 4, 5, 6, 40, 50, 60 } },
		{ "ReduceMax", { 2, 3 }, { 6, 60 } },
		{ "ReduceMean", { 2 }, { 2.5, 3.5, 4.5, 25, 35, 45 } },
		{ "ReduceMean", { 3 }, { 2, 5, 20, 50 } },
		{ "ReduceMax", { 1, 2 }, { 40, 50, 60 } },
		{ "ReduceMean", { 1, -1 }, { 11, 27.5 } },
		{ "ReduceSum", { 1, 2, 3 }, { 231 } },
		{ "ReduceMin", { 3 }, { 1, 4, 10, 40 } },
		{ "ReduceMin", { 2, 3 }, { 1, 10 } },
		{ "ReduceMin", { 1 }, { 1, 2, 3, 4, 5, 6 } },
		{ "ReduceL1", { 3 }, { 6, 15, 60, 150 } },
		{ "ReduceL2", { 1, 2, 3 }, { std::sqrt(9191.0) } },
		{ "ReduceSumSquare", { 2 }, { 17, 29, 45, 1700, 2900, 4500 } },
		{ "ReduceLogSum", { 2, 3 }, { std::log(21.0), std::log(210.0) } },
		/* Exponentials of 60 are far beyond FP16. */
		{ "ReduceLogSumExp", { 2, 3 }, { 6.456193, 60.0000454 } },
		{ "ReduceLogSumExp", { 3 }, { 3.407606, 6.407606, 30.0000454, 60.0000454 } },
	};

	for (const auto &[type, axes, wanted] : cases) {
		for (const int64_t keeps : { 0, 1 }) {
			SCOPED_TRACE(type + std::to_string(axes.size()) + std::to_string(keeps));
			OnnxBuilder builder;
			builder.input("x", { 1, 2, 2, 3 });
			std::vector<std::string> inputs{ "x" };
			if (type == "ReduceSum") {
				builder.list("axes", axes);
				inputs.push_back("axes");
			}
			onnx::Node *node = builder.node(type, inputs, keeps ? "y" : "fewer");
			if (type != "ReduceSum")
				OnnxBuilder::set(node, "axes", axes);
			OnnxBuilder::set(node, "keepdims", { keeps });
			if (!keeps) {
				std::vector<int64_t> shape{ 1, 2, 2, 3 };
				for (const int64_t axis : axes)
					shape[static_cast<size_t>(axis & 3)] = 1;
				builder.list("shape", shape);
				builder.node("Reshape", { "fewer", "shape" }, "y");
			}
			builder.output("y");
			const auto outputs = onCore(builder, { picture });
			ASSERT_EQ(outputs.size(), 1U);
			ASSERT_EQ(outputs[0].size(), wanted.size());
			for (size_t i = 0; i < wanted.size(); i++)
				EXPECT_NEAR(outputs[0][i], wanted[i], 0.002 * wanted[i]);
		}
	}

	OnnxBuilder nothing;
	nothing.input("x", { 1, 2, 2, 3 });
	OnnxBuilder::set(nothing.node("ReduceMax", { "x" }, "y"), "noop_with_empty_axes", { 1 });
	nothing.output("y");
	expectRefusedFile(nothing.file(), { "ReduceMax 'y'", "axes: are none; leave" });
}

/* One window over a picture and some of its padding, which counts. */
TEST(OnnxWindows, AverageOverPaddingAndAll)
{
	constexpr size_t channels = 40;
	OnnxBuilder builder;
	Numbers x, wanted(channels, 0);

	builder.input("x", { 1, channels, 4, 4 });
	onnx::Node *node = builder.node("AveragePool", { "x" }, "y");
	OnnxBuilder::set(node, "kernel_shape", { 4, 4 });
	OnnxBuilder::set(node, "strides", { 4, 4 });
	OnnxBuilder::set(node, "pads", { 1, 1, 1, 1 });
	OnnxBuilder::set(node, "count_include_pad", { 1 });
	builder.output("y");
	for (size_t i = 0; i < channels * 16; i++) {
		x.push_back(static_cast<double>(i % 23));
		if (i % 4 < 3 && i % 16 < 12)
			wanted[i / 16] += x.back() / 16;
	}
	const auto outputs = onCore(builder, { x });
	ASSERT_EQ(outputs.size(), 1U);
	ASSERT_EQ(outputs[0].size(), wanted.size());
	for (size_t i = 0; i < wanted.size(); i++)
		EXPECT_NEAR(outputs[0][i], wanted[i], 0.01) << "channel " << i;
}

TEST(OnnxWindows, NormalizationGoesIntoTheConvolution)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.floats("w", { 1, 2, 1, 1 }, { 1, 0.5f });
	builder.node("Conv", { "x", "w" }, "sums");
	for (const auto &[name, number] :
	     { std::pair{ "scale", 3.0f }, { "shift", 1.0f }, { "mean", 4.0f }, { "var", 4.0f } })
		builder.floats(name, { 1 }, { number });
	builder.node("BatchNormalization", { "sums", "scale", "shift", "mean", "var" }, "normal");
	builder.node("Relu", { "normal" }, "y");
	builder.output("y");
	auto compiled = compileModel(builder.file());
	ASSERT_TRUE(compiled) << compiled.error().message();
	EXPECT_EQ(compiled->report.layers.size(), 1U);
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 1U);
	for (size_t i = 0; i < 6; i++) {
		const double sum = picture[i] + 0.5 * picture[6 + i];
		EXPECT_NEAR(outputs[0][i], std::max(0.0, (sum - 4) * 1.5 + 1), 0.03);
	}
}

TEST(OnnxWindows, WindowsThatGoBeyondTheEnd)
{
	for (const bool ceil : { false, true }) {
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 2, 3 });
		onnx::Node *pool = builder.node("MaxPool", { "x" }, "y");
		OnnxBuilder::set(pool, "kernel_shape", { 2, 2 });
		OnnxBuilder::set(pool, "strides", { 2, 2 });
		OnnxBuilder::set(pool, "ceil_mode", { ceil });
		builder.output("y");
		const auto outputs = onCore(builder, { picture });
		ASSERT_EQ(outputs.size(), 1U);
		EXPECT_EQ(outputs[0], ceil ? (Numbers{ 5, 6, 50, 60 }) : (Numbers{ 5, 50 }));
	}
}

/* The largest number of each window that lies in the picture. */
Numbers largest(const Numbers &in, int64_t side, int64_t kernel, int64_t stride, int64_t pad)
{
	const int64_t out = (side + 2 * pad - kernel) / stride + 1;
	Numbers all;

	for (int64_t i = 0; i < out * out; i++) {
		const int64_t y = i / out * stride - pad, x = i % out * stride - pad;
		double most = -HUGE_VAL;
		for (int64_t at = 0; at < side * side; at++) {
			const int64_t down = at / side - y, across = at % side - x;
			if (down >= 0 && down < kernel && across >= 0 && across < kernel)
				most = std::max(most, in[static_cast<size_t>(at)]);
		}
		all.push_back(most);
	}
	return all;
}

/* Max poolings as in spatial pyramids, over whole pictures, and with a stride. */
TEST(OnnxWindows, LargestOfLongWindows)
{
	const struct {
		int64_t side, kernel, stride, pad;
	} cases[] = { { 13, 9, 1, 4 }, { 13, 13, 1, 6 }, { 5, 13, 1, 6 },    { 40, 40, 40, 0 },
		      { 30, 9, 9, 0 }, { 31, 20, 3, 9 }, { 30, 15, 15, 14 }, { 90, 65, 4, 0 } };
	std::mt19937 random(7);

	for (const auto &[side, kernel, stride, pad] : cases) {
		SCOPED_TRACE(std::to_string(side) + ' ' + std::to_string(kernel));
		OnnxBuilder builder;
		Numbers numbers(static_cast<size_t>(side * side));
		for (double &number : numbers)
			number = static_cast<double>(random() % 4001) - 2000;
		builder.input("x", { 1, 1, side, side });
		onnx::Node *pool = builder.node("MaxPool", { "x" }, "y");
		OnnxBuilder::set(pool, "kernel_shape", { kernel, kernel });
		OnnxBuilder::set(pool, "strides", { stride, stride });
		OnnxBuilder::set(pool, "pads", { pad, pad, pad, pad });
		builder.output("y");
		const auto outputs = onCore(builder, { numbers });
		ASSERT_EQ(outputs.size(), 1U);
		EXPECT_EQ(outputs[0], largest(numbers, side, kernel, stride, pad));
	}
}

/* SAME_LOWER: what is odd comes first. */
TEST(OnnxWindows, PaddingByName)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 1, 1, 3 });
	builder.floats("w", { 1, 1, 1, 2 }, { 1, 10 });
	OnnxBuilder::setText(builder.node("Conv", { "x", "w" }, "y"), "auto_pad", "SAME_LOWER");
	builder.output("y");
	const auto outputs = onCore(builder, { { 1, 2, 3 } });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], (Numbers{ 10, 21, 32 }));
}

void addQuantization(OnnxBuilder &builder, const std::string &name, float scale, int32_t zero,
		     int32_t type)
{
	builder.floats(name + "_scale", {}, { scale });
	builder.integers(name + "_zero", {}, { zero }, type);
}

TEST(OnnxWindows, QuantizedConvolutions)
{
	const Numbers pixels = { 128, 130, 132, 140, 0, 255 };
	/* (q - 128) * 0.5 for a pixel, weights 3 * 0.25, bias 5 * 0.125, results in steps of 1. */
	const Numbers wanted = { 11, 11, 12, 15, 0, 58 };

	OnnxBuilder operators;
	addQuantization(operators, "x", 0.5f, 128, onnx::UINT8);
	addQuantization(operators, "w", 0.25f, 0, onnx::INT8);
	addQuantization(operators, "y", 1, 10, onnx::UINT8);
	operators.integers("w", { 1, 1, 1, 1 }, { 3 });
	operators.integers("b", { 1 }, { 5 }, onnx::INT32);
	OnnxBuilder pairs = operators;

	operators.input("x", { 1, 1, 2, 3 }, onnx::UINT8);
	operators.node(
		"QLinearConv",
		{ "x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero", "b" },
		"y");
	operators.output("y", onnx::UINT8);
	auto outputs = onCore(operators, { pixels });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], wanted);

	/* The same with a step before and behind: the model's own input and output are float. */
	pairs.floats("b_scale", {}, { 0.125f });
	pairs.input("real", { 1, 1, 2, 3 });
	pairs.node("QuantizeLinear", { "real", "x_scale", "x_zero" }, "xq");
	pairs.node("DequantizeLinear", { "xq", "x_scale", "x_zero" }, "xr");
	pairs.node("DequantizeLinear", { "w", "w_scale", "w_zero" }, "wr");
	pairs.node("DequantizeLinear", { "b", "b_scale" }, "br");
	pairs.node("Conv", { "xr", "wr", "br" }, "sums");
	pairs.node("QuantizeLinear", { "sums", "y_scale", "y_zero" }, "yq");
	pairs.node("DequantizeLinear", { "yq", "y_scale", "y_zero" }, "y");
	pairs.output("y");
	Numbers reals = pixels, realsWanted = wanted;
	for (double &number : reals)
		number = (number - 128) * 0.5;
	for (double &number : realsWanted)
		number -= 10;
	outputs = onCore(pairs, { reals });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], realsWanted);
}

/* Nothing quantizes what it makes, so it is made of real numbers: the bias is one, too. */
TEST(OnnxWindows, QuantizedConvolutionThatMakesRealNumbers)
{
	OnnxBuilder builder;

	addQuantization(builder, "x", 0.5f, 3, onnx::INT8);
	addQuantization(builder, "w", 0.25f, 0, onnx::INT8);
	builder.floats("b_scale", {}, { 0.125f });
	builder.integers("w", { 1, 1, 1, 1 }, { 3 });
	builder.integers("b", { 1 }, { 5 }, onnx::INT32);
	builder.input("x", { 1, 1, 1, 3 });
	builder.node("QuantizeLinear", { "x", "x_scale", "x_zero" }, "xq");
	builder.node("DequantizeLinear", { "xq", "x_scale", "x_zero" }, "xr");
	builder.node("DequantizeLinear", { "w", "w_scale", "w_zero" }, "wr");
	builder.node("DequantizeLinear", { "b", "b_scale" }, "br");
	builder.node("Conv", { "xr", "wr", "br" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { { -1, 0, 2.5 } });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], (Numbers{ -0.125, 0.625, 2.5 }));
}

/* Sets of groups of both layers have the same numbers, but not the same channels between them. */
TEST(OnnxWindows, GroupsOfOneAndTwoKernels)
{
	constexpr int64_t channels = 34;
	OnnxBuilder builder;
	Numbers numbers;
	std::vector<float> twice, factors;

	for (int i = 0; i < channels; i++) {
		numbers.push_back(i);
		twice.insert(twice.end(), { 1, 2 });
		factors.insert(factors.end(), { 3, -1 });
	}
	builder.input("x", { 1, channels, 1, 1 });
	builder.floats("w", { 2 * channels, 1, 1, 1 }, twice);
	builder.floats("v", { 2 * channels, 1, 1, 1 }, factors);
	OnnxBuilder::set(builder.node("Conv", { "x", "w" }, "sums"), "group", { channels });
	OnnxBuilder::set(builder.node("Conv", { "sums", "v" }, "y"), "group", { 2 * channels });
	builder.output("y");
	const auto outputs = onCore(builder, { numbers });
	ASSERT_EQ(outputs.size(), 1U);
	ASSERT_EQ(outputs[0].size(), 2U * channels);
	for (size_t k = 0; k < outputs[0].size(); k++)
		EXPECT_EQ(outputs[0][k], numbers[k / 2] * (k % 2 ? -2 : 3)) << k;
}

/* Kernels of one channel each, at every second column: x[i] - x[i + 1], 2 * x[i] + 1. */
TEST(OnnxWindows, ConvolutionAndPoolingAlongOneAxis)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 6 });
	builder.floats("w", { 2, 1, 2 }, { 1, -1, 2, 0 });
	builder.floats("b", { 2 }, { 0, 1 });
	onnx::Node *conv = builder.node("Conv", { "x", "w", "b" }, "sums");
	OnnxBuilder::set(conv, "group", { 2 });
	OnnxBuilder::set(conv, "strides", { 2 });
	OnnxBuilder::set(conv, "pads", { 1, 1 });
	OnnxBuilder::set(builder.node("MaxPool", { "sums" }, "y"), "kernel_shape", { 2 });
	builder.output("sums");
	builder.output("y");
	builder.node("GlobalAveragePool", { "sums" }, "mean");
	builder.output("mean");
	const auto outputs = onCore(builder, { { 5, 3, 8, 1, 2, 4, 1, 2, 3, 4, 5, 6 } });
	ASSERT_EQ(outputs.size(), 3U);
	EXPECT_EQ(outputs[0], (Numbers{ -5, -5, -1, 4, 1, 5, 9, 13 }));
	EXPECT_EQ(outputs[1], (Numbers{ -5, -1, 4, 5, 9, 13 }));
	EXPECT_EQ(outputs[2], (Numbers{ -1.75, 7 }));
}

/* First and last elements stay at the ends. */
TEST(OnnxWindows, LargerPicturesWithCornersInPlace)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.input("z", { 1, 2, 1, 1 });
	builder.integers("sizes", { 4 }, { 1, 2, 3, 5 });
	builder.integers("others", { 4 }, { 1, 2, 2, 2 });
	onnx::Node *node = builder.node("Resize", { "x", "", "", "sizes" }, "y");
	OnnxBuilder::setText(node, "mode", "linear");
	OnnxBuilder::setText(node, "coordinate_transformation_mode", "align_corners");
	node = builder.node("Resize", { "z", "", "", "others" }, "same");
	OnnxBuilder::setText(node, "mode", "linear");
	OnnxBuilder::setText(node, "coordinate_transformation_mode", "align_corners");
	builder.output("y");
	builder.output("same");
	const auto outputs = onCore(builder, { picture, { 3, 5 } });
	ASSERT_EQ(outputs.size(), 2U);
	const Numbers first = { 1, 1.5, 2, 2.5, 3, 2.5, 3, 3.5, 4, 4.5, 4, 4.5, 5, 5.5, 6 };
	for (size_t i = 0; i < first.size(); i++) {
		EXPECT_EQ(outputs[0][i], first[i]);
		EXPECT_EQ(outputs[0][first.size() + i], 10 * first[i]);
	}
	EXPECT_EQ(outputs[1], (Numbers{ 3, 3, 3, 3, 5, 5, 5, 5 }));
}

/* They count, whether the pooling has them or not, but for windows that go beyond them. */
TEST(OnnxWindows, AveragesOfZerosAround)
{
	for (const int64_t ceil : { 0, 1 }) {
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 2, 3 });
		builder.list("pads", { 0, 0, 1, 1, 0, 0, 1, ceil });
		builder.node("Pad", { "x", "pads" }, "padded");
		onnx::Node *node = builder.node("AveragePool", { "padded" }, "y");
		OnnxBuilder::set(node, "kernel_shape", { 2, 2 });
		OnnxBuilder::set(node, "strides", { 2, 2 });
		OnnxBuilder::set(node, "ceil_mode", { ceil });
		builder.output("y");
		/* Five columns with ceil, of which the last one is zeros alone. */
		const Numbers first = ceil ? Numbers{ 0.25, 1.25, 0, 1, 2.75, 0 }
					   : Numbers{ 0.25, 1.25, 1, 2.75 };
		Numbers wanted = first;
		for (const double number : first)
			wanted.push_back(10 * number);
		EXPECT_EQ(onCore(builder, { picture }), (std::vector<Numbers>{ wanted })) << ceil;
	}
}

/* Where a kernel meets nothing but padding, it does not matter how far that is away. */
TEST(OnnxWindows, DilationsLargerThanThePicture)
{
	const int64_t dilations[][2] = { { 36, 36 }, { 36, 1 }, { 2, 40 }, { 5, 2 } };
	Numbers x, kernel;

	for (int i = 0; i < 2 * 5 * 4; i++)
		x.push_back(i * 7 % 11 - 5);
	for (int i = 0; i < 2 * 9; i++)
		kernel.push_back(i * 5 % 7 - 3);
	for (const auto &[high, wide] : dilations) {
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 5, 4 });
		builder.floats("w", { 1, 2, 3, 3 }, { kernel.begin(), kernel.end() });
		onnx::Node *node = builder.node("Conv", { "x", "w" }, "y");
		OnnxBuilder::set(node, "dilations", { high, wide });
		OnnxBuilder::set(node, "pads", { high, wide, high, wide });
		builder.output("y");
		Numbers wanted;
		for (int64_t i = 0; i < 5 * 4; i++) {
			double sum = 0;
			for (int64_t tap = 0; tap < 2 * 9; tap++) {
				const int64_t line = i / 4 + (tap % 9 / 3 - 1) * high;
				const int64_t column = i % 4 + (tap % 3 - 1) * wide;
				if (line >= 0 && line < 5 && column >= 0 && column < 4)
					sum += x[tap / 9 * 20 + line * 4 + column] * kernel[tap];
			}
			wanted.push_back(sum);
		}
		EXPECT_EQ(onCore(builder, { x }), (std::vector<Numbers>{ wanted }))
			<< high << " x " << wide;
	}
}

/* Scales and sizes may be those of some axes. */
TEST(OnnxWindows, LargerAlongNamedAxes)
{
	OnnxBuilder builder(18);

	builder.input("x", { 1, 2, 2, 3 });
	builder.list("columns", { 6 });
	builder.floats("turned", { 2 }, { 1, 2 });
	OnnxBuilder::set(builder.node("Resize", { "x", "", "", "columns" }, "wide"), "axes",
			 { -1 });
	OnnxBuilder::set(builder.node("Resize", { "x", "", "turned" }, "high"), "axes", { 3, 2 });
	builder.output("wide");
	builder.output("high");
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 2U);
	for (size_t i = 0; i < 24; i++) {
		EXPECT_EQ(outputs[0][i], picture[i / 2]) << i;
		EXPECT_EQ(outputs[1][i], picture[i / 6 * 3 + i % 3]) << i;
	}

	OnnxBuilder more(18);
	more.input("x", { 1, 2, 2, 3 });
	more.list("sizes", { 6 });
	OnnxBuilder::set(more.node("Resize", { "x", "", "", "sizes" }, "y"), "axes", { 2, 3 });
	more.output("y");
	expectRefusedFile(more.file(), { "Resize 'y', scales", "are 1 numbers for 2 axes" });
	OnnxBuilder kept(18);
	kept.input("x", { 1, 2, 2, 3 });
	kept.list("sizes", { 1, 2, 4, 4 });
	OnnxBuilder::setText(kept.node("Resize", { "x", "", "", "sizes" }, "y"),
			     "keep_aspect_ratio_policy", "not_larger");
	kept.output("y");
	expectRefusedFile(kept.file(), { "keep_aspect_ratio_policy", "is not_larger" });
}

/* Of two channels, each with a kernel of its own; by stride 2, with an element of the bias behind.
 */
TEST(OnnxWindows, TransposedConvolutionInGroups)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 1, 2 });
	builder.floats("w", { 2, 1, 1, 2 }, { 1, 10, 2, 20 });
	builder.floats("b", { 2 }, { 0, 0.5f });
	onnx::Node *node = builder.node("ConvTranspose", { "x", "w", "b" }, "y");
	OnnxBuilder::set(node, "group", { 2 });
	OnnxBuilder::set(node, "strides", { 1, 2 });
	OnnxBuilder::set(node, "output_padding", { 0, 1 });
	builder.output("y");
	const auto outputs = onCore(builder, { { 1, 2, 3, 4 } });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], (Numbers{ 1, 10, 2, 20, 0, 6.5, 60.5, 8.5, 80.5, 0.5 }));
}

/* 1 10 and 2 20 overlap by one: of the sums 1, 12, 20 one is cut off, at the end or at the start.
 */
TEST(OnnxWindows, TransposedConvolutionOfASize)
{
	for (const bool upper : { false, true }) {
		OnnxBuilder builder;
		builder.input("x", { 1, 1, 2 });
		builder.floats("w", { 1, 1, 2 }, { 1, 10 });
		onnx::Node *node = builder.node("ConvTranspose", { "x", "w" }, "y");
		OnnxBuilder::setText(node, "auto_pad", upper ? "SAME_UPPER" : "SAME_LOWER");
		builder.output("y");
		const auto outputs = onCore(builder, { { 1, 2 } });
		ASSERT_EQ(outputs.size(), 1U);
		EXPECT_EQ(outputs[0], upper ? (Numbers{ 1, 12 }) : (Numbers{ 12, 20 }));
	}
}

} /* namespace */

} /* namespace nvdla::test */
