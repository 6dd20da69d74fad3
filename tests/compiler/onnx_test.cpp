/* SPDX-License-Identifier: MIT */
/*
 * ONNX files: what the importer makes of operators, against numbers worked out by hand.
 */
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "core_run.h"
#include "onnx_builder.h"
#include "refused_file.h"

namespace nvdla::test
{

namespace
{

using compiler::importOnnx;

/* What the core makes of a file whose inputs and outputs are in the file's order. */
std::vector<Numbers> onCore(const OnnxBuilder &builder, const std::vector<Numbers> &inputs)
{
	auto run = CoreRun::of(importOnnx(builder.file()));
	if (!run) {
		ADD_FAILURE() << run.error().message();
		return {};
	}
	auto outputs = run->run(inputs);
	EXPECT_TRUE(outputs);
	return outputs ? *outputs : std::vector<Numbers>{};
}

/* 2 channels of 2 x 3; flattened they count columns first, then lines, then channels. */
const Numbers picture = { 1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60 };

TEST(Onnx, FlattenedPictureMeetsItsWeights)
{
	OnnxBuilder builder;
	std::vector<float> weights(12, 0);

	/* One output takes element 4 of channel 0, twice element 3 of channel 1. */
	weights[4] = 1;
	weights[6 + 3] = 2;
	builder.input("x", { 1, 2, 2, 3 });
	builder.floats("w", { 12, 1 }, weights);
	builder.floats("b", { 1 }, { 0.5f });
	builder.node("Flatten", { "x" }, "flat");
	builder.node("Relu", { "flat" }, "positive");
	builder.node("Gemm", { "positive", "w", "b" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], (Numbers{ 5 + 2 * 40 + 0.5 }));
}

/* In FP16, and in INT8 with a step of 60 / 255. */
TEST(Onnx, LargestAndSmallestOfAConstantAreLimits)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.floats("least", { 1 }, { 4 });
	builder.floats("most", { 1, 1, 1, 1 }, { 30 });
	builder.node("Max", { "x", "least" }, "large");
	builder.node("Min", { "most", "large" }, "y");
	builder.output("y");
	const Numbers wanted = { 4, 4, 4, 4, 5, 6, 10, 20, 30, 30, 30, 30 };
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], wanted);

	auto model = importOnnx(builder.file());
	ASSERT_TRUE(model) << model.error().message();
	Calibration calibration{ .samples = { { { picture.begin(), picture.end() } } } };
	auto compiled = compiler::compileInMemory(*model, { calibration });
	ASSERT_TRUE(compiled) << compiled.error().message();
	auto run = CoreRun::load(*model, compiled->loadable);
	ASSERT_TRUE(run) << run.error().message();
	auto integers = run->run({ picture });
	ASSERT_TRUE(integers) << integers.error().message();
	for (size_t i = 0; i < wanted.size(); i++)
		EXPECT_NEAR(integers->front()[i], wanted[i], 60.0 / 255);
}

TEST(Onnx, LimitsMayBeSeveralNumbers)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.floats("least", { 1, 2, 1, 1 }, { 4, 25 });
	builder.floats("most", { 1, 2, 2, 3 }, { 4, 5, 6, 3, 2, 1, 90, 80, 28, 45, 45, 45 });
	builder.node("Max", { "x", "least" }, "large");
	builder.node("Min", { "large", "most" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], (Numbers{ 4, 4, 4, 3, 2, 1, 25, 25, 28, 40, 45, 45 }));
}

/* Over lines, columns and both; with the axes that are left, or with an element in their place. */
TEST(Onnx, ReductionsOfPictures)
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
				const bool lines = axes.front() == 2 || axes.front() == -2;
				const bool columns = axes.back() == 3 || axes.back() == -1;
				builder.list("shape", { 1, 2, lines ? 1 : 2, columns ? 1 : 3 });
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

	OnnxBuilder channels;
	channels.input("x", { 1, 2, 2, 3 });
	OnnxBuilder::set(channels.node("ReduceMax", { "x" }, "y"), "axes", { 1 });
	channels.output("y");
	expectRefusedFile(channels.file(), { "ReduceMax 'y'", "axes: are not lines and columns" });
}

/* The only window has the first of two lines, and more channels than an atom. */
TEST(Onnx, PoolingOfOneElement)
{
	OnnxBuilder builder;
	Numbers numbers(2 * 17);

	for (size_t i = 0; i < numbers.size(); i++)
		numbers[i] = static_cast<double>(i);
	builder.input("x", { 1, 17, 2, 1 });
	onnx::Node *pool = builder.node("MaxPool", { "x" }, "y");
	OnnxBuilder::set(pool, "kernel_shape", { 1, 1 });
	OnnxBuilder::set(pool, "strides", { 2, 2 });
	builder.output("y");
	const auto outputs = onCore(builder, { numbers });
	ASSERT_EQ(outputs.size(), 1U);
	ASSERT_EQ(outputs[0].size(), 17U);
	for (size_t c = 0; c < 17; c++)
		EXPECT_EQ(outputs[0][c], numbers[2 * c]);
}

TEST(Onnx, ConstantPowers)
{
	for (const float exponent : { 1.0f, 2.0f, 3.0f, 2.5f }) {
		SCOPED_TRACE(exponent);
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 2, 3 });
		builder.floats("exponent", {}, { exponent });
		builder.node("Pow", { "x", "exponent" }, "power");
		builder.node("Relu", { "power" }, "y");
		builder.output("y");
		if (exponent == 2.5f) {
			expectRefusedFile(builder.file(), { "Pow 'power'", "exponent: is 2.5" });
			continue;
		}
		Numbers small = picture;
		for (double &number : small)
			number /= 4;
		const auto outputs = onCore(builder, { small });
		ASSERT_EQ(outputs.size(), 1U);
		for (size_t i = 0; i < small.size(); i++) {
			const double wanted = std::pow(small[i], exponent);
			EXPECT_NEAR(outputs[0][i], wanted, 0.002 * wanted);
		}
	}
}

/* Batches: what only counts elements takes them, a picture of more than one does not go. */
TEST(Onnx, InputsHaveAllTheirElements)
{
	OnnxBuilder builder;
	Numbers numbers(3 * 4 * 2 * 5);

	for (size_t i = 0; i < numbers.size(); i++)
		numbers[i] = static_cast<double>(i);
	builder.input("x", { 3, 4, 2, 5, 1 });
	builder.list("shape", { 1, 2, 60 });
	builder.node("Reshape", { "x", "shape" }, "rows");
	builder.node("Relu", { "rows" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { numbers });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], numbers);

	OnnxBuilder batch;
	batch.input("x", { 2, 3, 4, 5 });
	batch.node("Flatten", { "x" }, "flat");
	batch.node("Relu", { "flat" }, "y");
	batch.output("y");
	expectRefusedFile(batch.file(), { "input 'x'", "batches of 1" });
}

TEST(Onnx, DropoutIsForInference)
{
	for (const bool trains : { false, true }) {
		OnnxBuilder builder;

		builder.input("x", { 1, 2, 2, 3 });
		builder.floats("ratio", {}, { 0.5f });
		builder.integers("mode", {}, { trains }, onnx::BOOL);
		builder.node("Dropout", { "x", "ratio", "mode" }, "same");
		builder.node("Relu", { "same" }, "y");
		builder.output("y");
		if (trains) {
			expectRefusedFile(builder.file(), { "Dropout", "training_mode" });
			continue;
		}
		const auto outputs = onCore(builder, { picture });
		ASSERT_EQ(outputs.size(), 1U);
		EXPECT_EQ(outputs[0], picture);
	}
}

TEST(Onnx, TransposedPictureIsReshapedAsTheFileSays)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	OnnxBuilder::set(builder.node("Transpose", { "x" }, "last"), "perm", { 0, 2, 3, 1 });
	builder.list("shape", { 1, -1, 4 });
	builder.node("Reshape", { "last", "shape" }, "rows");
	builder.node("Add", { "rows", "rows" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], (Numbers{ 2, 20, 4, 40, 6, 60, 8, 80, 10, 100, 12, 120 }));
}

TEST(Onnx, NormalizationGoesIntoTheConvolution)
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

TEST(Onnx, WindowsThatGoBeyondTheEnd)
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

/* As channels are weighed against each other, and taken away from each other. */
TEST(Onnx, NumberForEachChannel)
{
	const Numbers averages = { 3.5, 35 };
	const std::vector<std::pair<std::vector<std::string>, double>> subtractions = {
		{ { "x", "average" }, 1 }, { { "average", "x" }, -1 }
	};

	for (const auto &[inputs, sign] : subtractions) {
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 2, 3 });
		builder.node("GlobalAveragePool", { "x" }, "average");
		builder.node("Sub", inputs, "apart");
		builder.node("Relu", { "apart" }, "y");
		builder.node("Mul", inputs, "z");
		builder.output("y");
		builder.output("z");
		const auto outputs = onCore(builder, { picture });
		ASSERT_EQ(outputs.size(), 2U);
		for (size_t i = 0; i < picture.size(); i++) {
			const double apart = picture[i] - averages[i / 6];
			EXPECT_EQ(outputs[0][i], std::max(0.0, sign * apart)) << i;
			EXPECT_EQ(outputs[1][i], picture[i] * averages[i / 6]) << i;
		}
	}
}

/* SAME_LOWER: what is odd comes first. */
TEST(Onnx, PaddingByName)
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

TEST(Onnx, QuantizedConvolutions)
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

/* Channels in two groups, of which one is taken in turn: as files have it, in three steps. */
TEST(Onnx, ChannelsAreShuffled)
{
	OnnxBuilder builder;
	Numbers x, wanted;

	for (int i = 0; i < 4 * 6; i++)
		x.push_back(i);
	for (const int channel : { 0, 2, 1, 3 })
		for (int i = 0; i < 6; i++)
			wanted.push_back(2 * (channel * 6 + i));
	builder.input("x", { 1, 4, 2, 3 });
	builder.list("groups", { 1, 2, 2, 2, 3 });
	builder.list("picture", { 1, 4, 2, 3 });
	builder.floats("w", { 4, 4, 1, 1 }, { 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2 });
	builder.node("Reshape", { "x", "groups" }, "five");
	OnnxBuilder::set(builder.node("Transpose", { "five" }, "turned"), "perm",
			 { 0, 2, 1, 3, 4 });
	builder.node("Reshape", { "turned", "picture" }, "shuffled");
	builder.node("Conv", { "shuffled", "w" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { x });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0], wanted);
}

TEST(Onnx, DepthBecomesSpaceAndBack)
{
	for (const bool crd : { false, true }) {
		OnnxBuilder builder;
		builder.input("x", { 1, 8, 1, 1 });
		onnx::Node *node = builder.node("DepthToSpace", { "x" }, "large");
		OnnxBuilder::set(node, "blocksize", { 2 });
		OnnxBuilder::setText(node, "mode", crd ? "CRD" : "DCR");
		builder.node("Relu", { "large" }, "y");
		OnnxBuilder::set(builder.node("SpaceToDepth", { "y" }, "z"), "blocksize", { 2 });
		builder.output("y");
		builder.output("z");
		/* DCR: channel (line * 2 + column) * 2 + c; CRD: (c * 2 + line) * 2 + column. */
		const Numbers x = { 0, 1, 2, 3, 4, 5, 6, 7 };
		const auto outputs = onCore(builder, { x });
		ASSERT_EQ(outputs.size(), 2U);
		EXPECT_EQ(outputs[0], crd ? x : (Numbers{ 0, 2, 4, 6, 1, 3, 5, 7 }));
		EXPECT_EQ(outputs[1], crd ? (Numbers{ 0, 4, 1, 5, 2, 6, 3, 7 }) : x);
	}
}

TEST(Onnx, FunctionsOfAllChannels)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 1, 2 });
	onnx::Node *lrn = builder.node("LRN", { "x" }, "response");
	OnnxBuilder::set(lrn, "size", { 3 });
	OnnxBuilder::set(builder.node("ArgMax", { "x" }, "largest"), "axis", { 1 });
	OnnxBuilder::set(builder.node("LpNormalization", { "x" }, "normal"), "axis", { 1 });
	builder.output("response");
	builder.output("largest", onnx::INT64);
	builder.output("normal");
	const auto outputs = onCore(builder, { { 3, 10, 4, -10 } });
	ASSERT_EQ(outputs.size(), 3U);
	const double first = std::pow(1 + 1e-4 / 3 * 25, -0.75);
	EXPECT_NEAR(outputs[0][0], 3 * first, 0.01);
	EXPECT_NEAR(outputs[0][2], 4 * first, 0.01);
	EXPECT_EQ(outputs[1], (Numbers{ 1, 0 }));
	EXPECT_NEAR(outputs[2][0], 0.6, 1e-3);
	EXPECT_NEAR(outputs[2][3], -std::sqrt(0.5), 1e-3);
}

/* What a partitioner asks for: one that is not known does not hide the others. */
TEST(Onnx, SaysWhichOperatorsAreSupported)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.node("Relu", { "x" }, "positive");
	builder.node("Einsum", { "positive" }, "mixed");
	builder.inside("mixed", { 1, 2, 2, 3 });
	OnnxBuilder::set(builder.node("Softmax", { "mixed" }, "y"), "axis", { 1 });
	builder.output("y");
	auto all = supportedOperators(builder.file());
	ASSERT_TRUE(all) << all.error().message();
	ASSERT_EQ(all->size(), 3U);
	EXPECT_EQ((*all)[0].reason, "");
	EXPECT_EQ((*all)[0].cpu, "");
	EXPECT_EQ((*all)[1].index, 1U);
	EXPECT_NE((*all)[1].reason.find("Einsum 'mixed'"), std::string::npos) << (*all)[1].reason;
	EXPECT_EQ((*all)[2].type, "Softmax");
	EXPECT_EQ((*all)[2].reason, "");
	EXPECT_NE((*all)[2].cpu, "");
	expectRefusedFile(builder.file(), { "Einsum 'mixed'", "replace it in the model" });
}

TEST(Onnx, WhatNothingReadsMayBeUnknown)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.node("Einsum", { "x" }, "mixed");
	builder.inside("mixed", { 1, 2, 2, 3 });
	builder.node("Add", { "x", "x" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 1U);
	EXPECT_EQ(outputs[0][11], 120);
}

TEST(Onnx, AllThatIsUnknownIsSaidAtOnce)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.node("Einsum", { "x" }, "mixed");
	builder.inside("mixed", { 1, 2, 2, 3 });
	builder.node("Det", { "mixed" }, "y");
	builder.inside("y", { 1, 2, 2, 3 });
	builder.output("y");
	expectRefusedFile(builder.file(), { "Einsum 'mixed'", "Det 'y'" });
}

/* One behind the other, beside each other, and what reads an unknown one. */
TEST(Onnx, AllThatCannotBeLoweredIsSaidAtOnce)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 40, 30 });
	OnnxBuilder::set(builder.node("MaxPool", { "x" }, "largest9"), "kernel_shape", { 9, 9 });
	builder.node("Relu", { "largest9" }, "above");
	OnnxBuilder::set(builder.node("MaxPool", { "above" }, "largest10"), "kernel_shape",
			 { 10, 10 });
	builder.node("Einsum", { "largest10" }, "mixed");
	builder.inside("mixed", { 1, 2, 23, 13 });
	OnnxBuilder::set(builder.node("MaxPool", { "mixed" }, "largest11"), "kernel_shape",
			 { 11, 11 });
	builder.output("largest11");
	auto compiled = compileModel(builder.file());
	ASSERT_FALSE(compiled);
	const std::string message = compiled.error().message();
	for (const char *part : { "Einsum 'mixed'", "MaxPool 'largest9'", "of 9 x 9",
				  "MaxPool 'largest10'", "of 10 x 10", "MaxPool 'largest11'" })
		EXPECT_NE(message.find(part), std::string::npos) << message;
	EXPECT_EQ(message.find("Relu"), std::string::npos) << message;
}

/* What is chosen is told with what else there was; what cannot be forced is an error. */
TEST(Onnx, StrategyIsChosenOrForced)
{
	OnnxBuilder builder;
	const std::vector<float> kernels(32 * 32 * 9, 0.25f);
	CompileOptions options;

	builder.input("x", { 1, 32, 10, 10 });
	builder.floats("w", { 32, 32, 3, 3 }, kernels);
	builder.node("Conv", { "x", "w" }, "y");
	builder.output("y");
	for (const Choice choice : { Choice::Always, Choice::Never }) {
		options.strategy = Strategy::all(Choice::Never);
		options.strategy->winograd = choice;
		auto compiled = compileModel(builder.file(), options);
		ASSERT_TRUE(compiled) << compiled.error().message();
		const auto &choices = compiled->report.layers.at(0).choices;
		ASSERT_EQ(choices.size(), choice == Choice::Always ? 1U : 0U);
		if (choice == Choice::Always) {
			EXPECT_EQ(choices[0].candidates.at(choices[0].chosen).what, "Winograd");
		}
	}
	options.strategy->fusedPooling = Choice::Always;
	auto refused = compileModel(builder.file(), options);
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().message().find("strategy, fused-pooling"), std::string::npos)
		<< refused.error().message();
}

/* Kernels of one channel each, at every second column: x[i] - x[i + 1], 2 * x[i] + 1. */
TEST(Onnx, ConvolutionAndPoolingAlongOneAxis)
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

/* Of two channels, each with a kernel of its own; by stride 2, with an element of the bias behind.
 */
TEST(Onnx, TransposedConvolutionInGroups)
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
TEST(Onnx, TransposedConvolutionOfASize)
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

TEST(Onnx, PadsWithElementsThatAreThere)
{
	const struct {
		std::string mode;
		std::vector<int64_t> pads;
		Numbers wanted; /* of the first line */
	} cases[] = {
		{ "edge", { 0, 0, 0, 2, 0, 0, 0, 1 }, { 1, 1, 1, 2, 3, 3 } },
		{ "reflect", { 0, 0, 0, 2, 0, 0, 0, 1 }, { 3, 2, 1, 2, 3, 2 } },
		{ "reflect", { 0, 0, 1, 0, 0, 0, 0, 0 }, { 4, 5, 6, 1, 2, 3, 4, 5, 6 } },
		{ "wrap", { 0, 0, 0, 2, 0, 0, 0, 1 }, { 2, 3, 1, 2, 3, 1 } },
		{ "edge", { 0, 1, 0, 0, 0, 0, 0, 0 }, { 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 10 } },
	};

	for (const auto &[mode, pads, wanted] : cases) {
		SCOPED_TRACE(mode);
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 2, 3 });
		builder.list("pads", pads);
		OnnxBuilder::setText(builder.node("Pad", { "x", "pads" }, "y"), "mode", mode);
		builder.output("y");
		auto outputs = onCore(builder, { picture });
		ASSERT_EQ(outputs.size(), 1U);
		ASSERT_GE(outputs[0].size(), wanted.size());
		outputs[0].resize(wanted.size());
		EXPECT_EQ(outputs[0], wanted);
	}
	OnnxBuilder builder;
	builder.input("x", { 1, 2, 2, 3 });
	builder.list("pads", { 0, 0, 0, 3, 0, 0, 0, 0 });
	OnnxBuilder::setText(builder.node("Pad", { "x", "pads" }, "y"), "mode", "reflect");
	builder.output("y");
	expectRefusedFile(builder.file(), { "Pad 'y', pads", "up to 2 are possible" });
}

TEST(Onnx, TensorsAreRepeated)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 1, 2 });
	builder.list("repeats", { 1, 2, 1, 2 });
	builder.list("shape", { 3, 1 });
	builder.node("Tile", { "x", "repeats" }, "tiles");
	builder.node("Expand", { "x", "shape" }, "lines");
	builder.output("tiles");
	builder.output("lines");
	const auto outputs = onCore(builder, { { 1, 2, 3, 4 } });
	ASSERT_EQ(outputs.size(), 2U);
	EXPECT_EQ(outputs[0], (Numbers{ 1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4 }));
	EXPECT_EQ(outputs[1], (Numbers{ 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4 }));

	OnnxBuilder many;
	many.input("x", { 1, 2, 1, 2 });
	many.list("repeats", { 1, 2, 65, 2 });
	many.node("Tile", { "x", "repeats" }, "y");
	many.output("y");
	expectRefusedFile(many.file(), { "Tile 'y', repeats", "65 times; up to 64" });
}

TEST(Onnx, SaysWhatItCannotDo)
{
	OnnxBuilder unknown;
	unknown.input("x", { 1, 2, 2, 3 });
	unknown.node("Einsum", { "x" }, "y");
	unknown.output("y");
	expectRefusedFile(unknown.file(), { "Einsum 'y'", "replace it in the model" });

	OnnxBuilder open;
	open.input("x", { 1, 2, -1, 3 });
	open.node("Relu", { "x" }, "y");
	open.output("y");
	expectRefusedFile(open.file(), { "input 'x'", "size of axis 2 open" });

	OnnxBuilder missing;
	missing.input("x", { 1, 2, 2, 3 });
	missing.node("Relu", { "z" }, "y");
	missing.output("y");
	expectRefusedFile(missing.file(), { "Relu 'y'", "is 'z', which nothing before it writes" });

	/* A number of inputs that ONNX leaves open is not none. */
	OnnxBuilder nothing;
	nothing.input("x", { 1, 2, 2, 3 });
	nothing.node("Concat", {}, "y");
	nothing.output("y");
	expectRefusedFile(nothing.file(), { "Concat 'y'", "input 0: is missing" });

	/* A few bytes that stand for more than there is memory. */
	OnnxBuilder large;
	large.input("x", { 1, 2, 2, 3 });
	large.list("shape", { 1 << 14, 1 << 14, 1 << 14 });
	large.node("ConstantOfShape", { "shape" }, "zeros");
	large.output("zeros");
	expectRefusedFile(large.file(), { "ConstantOfShape 'zeros'", "more elements than can be" });
}

} /* namespace */

} /* namespace nvdla::test */
