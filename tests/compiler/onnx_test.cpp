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

void expectRefusal(const OnnxBuilder &builder, const std::vector<std::string> &parts)
{
	auto compiled = compileModel(builder.file());

	ASSERT_FALSE(compiled);
	for (const std::string &part : parts)
		EXPECT_NE(compiled.error().message().find(part), std::string::npos)
			<< compiled.error().message();
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

TEST(Onnx, MaximaOfSeveralConstantsAreRefused)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.floats("least", { 1, 2, 1, 1 }, { 4, 5 });
	builder.node("Max", { "x", "least" }, "y");
	builder.output("y");
	expectRefusal(builder, { "Max 'y'", "constant of several numbers" });
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
	expectRefusal(batch, { "input 'x'", "batches of 1" });
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
			expectRefusal(builder, { "Dropout", "training_mode" });
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
	expectRefusal(builder, { "Einsum 'mixed'", "replace it in the model" });
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
	expectRefusal(builder, { "Einsum 'mixed'", "Det 'y'" });
}

TEST(Onnx, SaysWhatItCannotDo)
{
	OnnxBuilder unknown;
	unknown.input("x", { 1, 2, 2, 3 });
	unknown.node("Einsum", { "x" }, "y");
	unknown.output("y");
	expectRefusal(unknown, { "Einsum 'y'", "replace it in the model" });

	OnnxBuilder open;
	open.input("x", { 1, 2, -1, 3 });
	open.node("Relu", { "x" }, "y");
	open.output("y");
	expectRefusal(open, { "input 'x'", "size of axis 2 open" });

	OnnxBuilder missing;
	missing.input("x", { 1, 2, 2, 3 });
	missing.node("Relu", { "z" }, "y");
	missing.output("y");
	expectRefusal(missing, { "Relu 'y'", "is 'z', which nothing before it writes" });

	/* A few bytes that stand for more than there is memory. */
	OnnxBuilder large;
	large.input("x", { 1, 2, 2, 3 });
	large.list("shape", { 1 << 14, 1 << 14, 1 << 14 });
	large.node("ConstantOfShape", { "shape" }, "zeros");
	large.output("zeros");
	expectRefusal(large, { "ConstantOfShape 'zeros'", "more elements than can be" });
}

} /* namespace */

} /* namespace nvdla::test */
