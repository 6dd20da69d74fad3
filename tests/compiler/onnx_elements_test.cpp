/* SPDX-License-Identifier: MIT */
/*
 * ONNX files: functions of elements, of two tensors and of channels.
 */
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "core_run.h"
#include "onnx_builder.h"
#include "onnx_on_core.h"
#include "refused_file.h"

namespace nvdla::test
{

namespace
{

Numbers negated(Numbers numbers)
{
	for (double &number : numbers)
		number = -number;
	return numbers;
}

/* In FP16, and in INT8 with a step of 60 / 255. */
TEST(OnnxElements, LargestAndSmallestOfAConstantAreLimits)
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

	auto model = compiler::importOnnx(builder.file());
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

TEST(OnnxElements, LimitsMayBeSeveralNumbers)
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

/* Each element of a tensor of 1 x 2 x 2 x 3, from a constant that is broadcast to it. */
Numbers broadcastToPicture(const std::vector<int64_t> &shape, const std::vector<float> &numbers)
{
	const std::vector<int64_t> whole = { 1, 2, 2, 3 };
	Numbers all;

	for (int64_t i = 0; i < 12; i++) {
		int64_t rest = i, place = 0, step = 1;
		for (size_t axis = whole.size(); axis-- > 0; rest /= whole[axis]) {
			if (axis + shape.size() < whole.size())
				continue;
			const int64_t extent = shape[axis + shape.size() - whole.size()];
			place += extent == 1 ? 0 : rest % whole[axis] * step;
			step *= extent;
		}
		all.push_back(numbers[static_cast<size_t>(place)]);
	}
	return all;
}

/* Exporters compute shapes with constants of any two ranks, scalars among them. */
TEST(OnnxElements, TwoConstantsOfAnyRanks)
{
	const std::vector<std::vector<int64_t>> shapes = {
		{},	     { 1 },	  { 3 },	  { 1, 3 },	 { 2, 1 },
		{ 2, 1, 1 }, { 2, 2, 3 }, { 1, 1, 1, 1 }, { 1, 2, 2, 3 }
	};

	for (const auto &one : shapes) {
		for (const auto &two : shapes) {
			std::vector<float> ones(12), twos(12);
			std::iota(ones.begin(), ones.end(), 1.0F);
			std::iota(twos.begin(), twos.end(), 20.0F);
			OnnxBuilder builder;
			builder.input("x", { 1, 2, 2, 3 });
			ones.resize(compiler::elementCount({ one.begin(), one.end() }));
			twos.resize(compiler::elementCount({ two.begin(), two.end() }));
			builder.floats("one", one, ones);
			builder.floats("two", two, twos);
			builder.node("Sub", { "one", "two" }, "both");
			builder.node("Add", { "x", "both" }, "y");
			builder.output("y");
			Numbers wanted = broadcastToPicture(one, ones);
			const Numbers less = broadcastToPicture(two, twos);
			for (size_t i = 0; i < wanted.size(); i++)
				wanted[i] += picture[i] - less[i];
			SCOPED_TRACE(fmt::format("[{}] - [{}]", fmt::join(one, ", "),
						 fmt::join(two, ", ")));
			const auto outputs = onCore(builder, { picture });
			ASSERT_EQ(outputs.size(), 1U);
			EXPECT_EQ(outputs[0], wanted);
		}
	}
}

TEST(OnnxElements, DropoutIsForInference)
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

/* As channels are weighed against each other, and taken away from each other. */
TEST(OnnxElements, NumberForEachChannel)
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

/* Of rows, as files had it before there was an operator for it: one step of the CPU. */
TEST(OnnxElements, StandardizationInManyOperators)
{
	for (const bool divides : { false, true }) {
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 4 });
		builder.floats("epsilon", {}, { 0.5f });
		builder.floats("two", {}, { 2 });
		OnnxBuilder::set(builder.node("ReduceMean", { "x" }, "mean"), "axes", { -1 });
		builder.node("Sub", { "x", "mean" }, "centered");
		if (divides)
			builder.node("Pow", { "centered", "two" }, "squares");
		else
			builder.node("Mul", { "centered", "centered" }, "squares");
		OnnxBuilder::set(builder.node("ReduceMean", { "squares" }, "variance"), "axes",
				 { -1 });
		builder.node("Add", { "variance", "epsilon" }, "more");
		builder.node("Sqrt", { "more" }, "width");
		if (!divides)
			builder.node("Reciprocal", { "width" }, "factor");
		builder.node(divides ? "Div" : "Mul", { "centered", divides ? "width" : "factor" },
			     "y");
		builder.output("y");
		auto compiled = compileModel(builder.file());
		ASSERT_TRUE(compiled) << compiled.error().message();
		EXPECT_EQ(compiled->report.layers.size(), 1U);
		const auto outputs = onCore(builder, { { 1, 2, 3, 6, -5, -5, -5, -5 } });
		ASSERT_EQ(outputs.size(), 1U);
		/* Squares of -2, -1, 0 and 3 are 3.5 in the mean. */
		const Numbers wanted = { -1, -0.5, 0, 1.5, 0, 0, 0, 0 };
		for (size_t i = 0; i < wanted.size(); i++)
			EXPECT_NEAR(outputs[0][i], wanted[i], 2e-3) << i;
	}
}

/* As exporters spell it before there was an operator for it: one table. */
TEST(OnnxElements, GeluInManyOperators)
{
	for (const char *where : { "behind", "before", "beside", "inside", "tanh" }) {
		SCOPED_TRACE(where);
		const auto is = [&](const char *which) { return std::string(where) == which; };
		const std::string x = is("before") ? "halved" : "x";
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 4 });
		builder.floats("half", {}, { 0.5f });
		builder.floats("one", {}, { 1 });
		builder.floats("root", {}, { 1.41421354f });
		builder.floats("three", {}, { 3 });
		builder.floats("cubic", {}, { 0.044715f });
		builder.floats("steep", {}, { 0.797884583f });
		if (is("before"))
			builder.node("Mul", { "x", "half" }, "halved");
		if (is("tanh")) {
			builder.node("Pow", { "x", "three" }, "cube");
			builder.node("Mul", { "cubic", "cube" }, "small");
			builder.node("Add", { "x", "small" }, "bent");
			builder.node("Mul", { "steep", "bent" }, "argument");
			builder.node("Tanh", { "argument" }, "function");
		} else {
			builder.node("Div", { "x", "root" }, "argument");
			builder.node("Erf", { "argument" }, "function");
		}
		if (is("inside")) {
			builder.node("Mul", { "function", "half" }, "smaller");
			builder.node("Add", { "half", "smaller" }, "gate");
		} else {
			builder.node("Add", { "function", "one" }, "sum");
			builder.node(is("beside") ? "Mul" : "Identity",
				     is("beside") ? std::vector<std::string>{ "sum", "half" }
						  : std::vector<std::string>{ "sum" },
				     "gate");
		}
		const bool isBehind = is("behind") || is("tanh");
		builder.node("Mul", { x, "gate" }, isBehind ? "twice" : "y");
		if (isBehind)
			builder.node("Mul", { "twice", "half" }, "y");
		builder.output("y");
		auto compiled = compileModel(builder.file());
		ASSERT_TRUE(compiled) << compiled.error().message();
		EXPECT_EQ(compiled->report.layers.size(), 1U);
		const Numbers numbers = { -3, -1, -0.5, 0, 0.25, 1, 2, 5 };
		const auto outputs = onCore(builder, { numbers });
		ASSERT_EQ(outputs.size(), 1U);
		for (size_t i = 0; i < numbers.size(); i++)
			EXPECT_NEAR(outputs[0][i],
				    numbers[i] * (1 + std::erf(numbers[i] * std::sqrt(0.5))) / 2,
				    is("tanh") ? 2e-3 : 1e-3)
				<< i;
	}
}

/* SiLU, and what is none: another factor behind it, and the sigmoid of something else. */
TEST(OnnxElements, SiluInTwoOperators)
{
	for (const char *what : { "first", "second", "steeper", "twice", "other" }) {
		SCOPED_TRACE(what);
		const auto is = [&](const char *which) { return std::string(what) == which; };
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 4 });
		builder.floats("two", {}, { 2 });
		builder.node("Mul", { "x", "two" }, "double");
		builder.node("Abs", { "x" }, "positive");
		builder.node("Sigmoid",
			     { is("steeper") ? "double"
			       : is("other") ? "positive"
					     : "x" },
			     "gate");
		builder.node("Mul",
			     is("first") ? std::vector<std::string>{ "gate", "x" }
					 : std::vector<std::string>{ is("twice") ? "double" : "x",
								     "gate" },
			     "y");
		builder.output("y");
		auto compiled = compileModel(builder.file());
		ASSERT_TRUE(compiled) << compiled.error().message();
		EXPECT_EQ(compiled->report.layers.size(), is("twice") || is("other") ? 3U : 1U);
		const Numbers numbers = { -3, -1, -0.5, 0, 0.25, 1, 2, 5 };
		const auto outputs = onCore(builder, { numbers });
		ASSERT_EQ(outputs.size(), 1U);
		for (size_t i = 0; i < numbers.size(); i++) {
			const double x = numbers[i];
			const double of = is("steeper") ? 2 * x : is("other") ? std::fabs(x) : x;
			EXPECT_NEAR(outputs[0][i], (is("twice") ? 2 * x : x) / (1 + std::exp(-of)),
				    4e-3)
				<< i;
		}
	}
}

/* The same with numbers that have more axes than the tensor, which the result then has as well. */
TEST(OnnxElements, GeluWithNumbersOfMoreAxes)
{
	for (const char *large : { "half", "one", "root" }) {
		SCOPED_TRACE(large);
		const auto axesOf = [&](const std::string &name) {
			return name == large ? std::vector<int64_t>{ 1, 1, 1 }
					     : std::vector<int64_t>{};
		};
		OnnxBuilder builder;
		builder.input("x", { 2, 4 });
		builder.floats("half", axesOf("half"), { 0.5f });
		builder.floats("one", axesOf("one"), { 1 });
		builder.floats("root", axesOf("root"), { 1.41421354f });
		builder.node("Div", { "x", "root" }, "argument");
		builder.node("Erf", { "argument" }, "function");
		builder.node("Add", { "function", "one" }, "sum");
		builder.node("Mul", { "x", "half" }, "halved");
		builder.node("Mul", { "halved", "sum" }, "y");
		builder.output("y");
		const Numbers numbers = { -3, -1, -0.5, 0, 0.25, 1, 2, 5 };
		const auto outputs = onCore(builder, { numbers });
		ASSERT_EQ(outputs.size(), 1U);
		ASSERT_EQ(outputs[0].size(), numbers.size());
		for (size_t i = 0; i < numbers.size(); i++)
			EXPECT_NEAR(outputs[0][i],
				    numbers[i] * (1 + std::erf(numbers[i] * std::sqrt(0.5))) / 2,
				    2e-3)
				<< i;
	}
}

/* Channels are the last axis between two transposes, of which nothing is left. */
TEST(OnnxElements, LayerNormalizationOfPictures)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 3 });
	builder.floats("scale", { 2 }, { 2, -3 });
	builder.floats("shift", { 2 }, { 0.5f, 1 });
	OnnxBuilder::set(builder.node("Transpose", { "x" }, "last"), "perm", { 0, 2, 3, 1 });
	builder.node("LayerNormalization", { "last", "scale", "shift" }, "normal");
	OnnxBuilder::set(builder.node("Transpose", { "normal" }, "y"), "perm", { 0, 3, 1, 2 });
	OnnxBuilder::set(builder.node("ReduceMax", { "last" }, "largest"), "axes", { -1 });
	builder.output("y");
	builder.output("largest");
	auto compiled = compileModel(builder.file());
	ASSERT_TRUE(compiled) << compiled.error().message();
	EXPECT_EQ(compiled->report.layers.size(), 4U);
	const auto outputs = onCore(builder, { picture });
	ASSERT_EQ(outputs.size(), 2U);
	/* Of two numbers one is 1 above the mean, the other 1 below. */
	for (size_t i = 0; i < 6; i++) {
		EXPECT_NEAR(outputs[0][i], -2 + 0.5, 4e-3);
		EXPECT_NEAR(outputs[0][6 + i], -3 + 1, 4e-3);
		EXPECT_EQ(outputs[1][i], picture[6 + i]);
	}
	builder.node("LayerNormalization", { "x", "scale" }, "lines");
	builder.output("lines");
	expectRefusedFile(builder.file(), { "LayerNormalization 'lines'", "for 3 channels" });
}

/* All of a row, a line or a picture as one. */
TEST(OnnxElements, LayerNormalizationOverSeveralAxes)
{
	const Numbers wanted = { -1, -0.5, 0, 1.5, -1, -0.5, 0, 1.5 };

	for (const int64_t axis : { 1, 2 }) {
		SCOPED_TRACE(axis);
		OnnxBuilder builder;
		std::vector<float> scale, shift;
		const size_t count = axis == 1 ? 8 : 4;
		for (size_t i = 0; i < count; i++) {
			scale.push_back(i % 2 ? 2 : 1);
			shift.push_back(static_cast<float>(i));
		}
		builder.input("x", { 1, 2, 2, 2 });
		builder.floats("scale",
			       axis == 1 ? std::vector<int64_t>{ 2, 2, 2 }
					 : std::vector<int64_t>{ 2, 2 },
			       scale);
		builder.floats("shift", { static_cast<int64_t>(count) }, shift);
		onnx::Node *node =
			builder.node("LayerNormalization", { "x", "scale", "shift" }, "y");
		OnnxBuilder::set(node, "axis", { axis });
		onnx::Attribute *epsilon = node->add_attribute();
		epsilon->set_name("epsilon");
		epsilon->set_f(0.5f);
		builder.output("y");
		const auto outputs = onCore(builder, { { 1, 2, 3, 6, 1, 2, 3, 6 } });
		ASSERT_EQ(outputs.size(), 1U);
		for (size_t i = 0; i < wanted.size(); i++)
			EXPECT_NEAR(outputs[0][i],
				    wanted[i] * scale[i % count] + static_cast<double>(i % count),
				    8e-3)
				<< i;
	}
}

/* Each of a picture's channels, and all channels of a group. */
TEST(OnnxElements, NormalizationOfChannelsAndGroups)
{
	OnnxBuilder builder(21);
	builder.input("x", { 1, 4, 1, 2 });
	builder.floats("scale", { 4 }, { 1, 2, 1, 2 });
	builder.floats("shift", { 4 }, { 0, 0, 5, 0 });
	builder.node("InstanceNormalization", { "x", "scale", "shift" }, "channels");
	onnx::Node *node = builder.node("GroupNormalization", { "x", "scale", "shift" }, "groups");
	OnnxBuilder::set(node, "num_groups", { 2 });
	OnnxBuilder::setReal(node, "epsilon", 0.5f);
	builder.output("channels");
	builder.output("groups");
	const auto outputs = onCore(builder, { { 1, 2, 3, 6, 10, 14, -3, -3 } });
	ASSERT_EQ(outputs.size(), 2U);
	const Numbers channels = { -1, 1, -2, 2, 4, 6, 0, 0 };
	/* 10, 14, -3, -3 are 4.5 in the mean, and their squares from there 58.25. */
	const double width = std::sqrt(58.25 + 0.5);
	const Numbers groups = { -1,	      -0.5,	  0, 3, 5.5 / width + 5, 9.5 / width + 5,
				 -15 / width, -15 / width };
	for (size_t i = 0; i < channels.size(); i++) {
		EXPECT_NEAR(outputs[0][i], channels[i], 8e-3) << i;
		EXPECT_NEAR(outputs[1][i], groups[i], 8e-3) << i;
	}

	OnnxBuilder old(18);
	old.input("x", { 1, 4, 1, 2 });
	old.floats("few", { 2 }, { 1, 2 });
	OnnxBuilder::set(old.node("GroupNormalization", { "x", "few", "few" }, "y"), "num_groups",
			 { 2 });
	old.output("y");
	expectRefusedFile(old.file(), { "GroupNormalization 'y'", "is 2 for 4 channels" });
}

/* Of each sample, straight from the network's input. */
TEST(OnnxElements, PartsOfABatch)
{
	OnnxBuilder builder;
	builder.input("x", { 2, 1, 2, 3 });
	builder.list("pads", { 0, 0, 0, 1, 0, 0, 1, 0 });
	OnnxBuilder::setText(builder.node("Pad", { "x", "pads" }, "y"), "mode", "reflect");
	builder.output("y");
	EXPECT_EQ(onCore(builder, { picture }),
		  (std::vector<Numbers>{ { 2,  1,  2,  3,  5,  4,  5,  6,  2,  1,  2,  3,
					   20, 10, 20, 30, 50, 40, 50, 60, 20, 10, 20, 30 } }));
}

TEST(OnnxElements, MeanOfSeveral)
{
	OnnxBuilder builder;
	builder.input("x", { 1, 2, 2, 3 });
	builder.input("z", { 1, 2, 2, 3 });
	builder.node("Relu", { "x" }, "same");
	builder.node("Mean", { "x", "z", "same", "x" }, "y");
	builder.output("y");
	const auto outputs = onCore(builder, { picture, Numbers(12, -4) });
	ASSERT_EQ(outputs.size(), 1U);
	for (size_t i = 0; i < picture.size(); i++)
		EXPECT_NEAR(outputs[0][i], picture[i] * 0.75 - 1, 0.02);
}

/* Files from training have the mean and the deviation, too: the host computes them. */
TEST(OnnxElements, LayerNormalizationWithMoments)
{
	OnnxBuilder builder;
	builder.input("x", { 1, 2, 2, 2 });
	builder.floats("scale", { 2, 2 }, { 1, 1, 1, 2 });
	onnx::Node *node = builder.node("LayerNormalization", { "x", "scale" }, "y");
	node->add_output("mean");
	node->add_output("width");
	OnnxBuilder::set(node, "axis", { 2 });
	OnnxBuilder::setReal(node, "epsilon", 0.5f);
	builder.output("y");
	const auto outputs = onCore(builder, { { 1, 2, 3, 6, 0, 0, 0, 0 } });
	ASSERT_EQ(outputs.size(), 1U);
	const Numbers wanted = { -1, -0.5, 0, 3, 0, 0, 0, 0 };
	for (size_t i = 0; i < wanted.size(); i++)
		EXPECT_NEAR(outputs[0][i], wanted[i], 4e-3) << i;
	builder.output("mean");
	expectRefusedFile(builder.file(), { "output 'mean'", "a result of LayerNormalization" });
}

/* One step of the CPU. */
TEST(OnnxElements, SoftmaxInManyOperators)
{
	for (const bool subtracts : { false, true }) {
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 3 });
		OnnxBuilder::set(builder.node("ReduceMax", { "x" }, "most"), "axes", { -1 });
		builder.node("Sub", { "x", "most" }, "less");
		builder.node("Exp", { subtracts ? "less" : "x" }, "exponentials");
		OnnxBuilder::set(builder.node("ReduceSum", { "exponentials" }, "sum"), "axes",
				 { -1 });
		builder.node("Div", { "exponentials", "sum" }, "y");
		builder.output("y");
		auto compiled = compileModel(builder.file());
		ASSERT_TRUE(compiled) << compiled.error().message();
		EXPECT_EQ(compiled->report.layers.size(), 1U);
		const auto outputs = onCore(builder, { { 1, 1, 1, 0, 0, std::log(2.0) } });
		ASSERT_EQ(outputs.size(), 1U);
		const Numbers wanted = { 1.0 / 3, 1.0 / 3, 1.0 / 3, 0.25, 0.25, 0.5 };
		for (size_t i = 0; i < wanted.size(); i++)
			EXPECT_NEAR(outputs[0][i], wanted[i], 1e-3) << i;
	}
}

TEST(OnnxElements, LargestAndSmallestOfSeveral)
{
	OnnxBuilder builder;
	builder.input("x", { 1, 2, 2, 3 });
	builder.input("z", { 1, 2, 2, 3 });
	builder.floats("five", {}, { 5 });
	builder.node("Relu", { "x" }, "same");
	builder.node("Max", { "x", "z", "same" }, "most");
	builder.node("Min", { "x", "same", "five" }, "least");
	builder.node("Max", { "z" }, "alone");
	builder.node("Relu", { "alone" }, "none");
	OnnxBuilder::set(builder.node("ArgMin", { "x" }, "first"), "axis", { 1 });
	for (const char *name : { "most", "least", "none" })
		builder.output(name);
	builder.output("first", onnx::INT64);
	const auto outputs = onCore(builder, { picture, negated(picture) });
	ASSERT_EQ(outputs.size(), 4U);
	EXPECT_EQ(outputs[0], picture);
	for (size_t i = 0; i < picture.size(); i++) {
		EXPECT_EQ(outputs[1][i], std::min(5.0, picture[i]));
		EXPECT_EQ(outputs[2][i], 0);
	}
	EXPECT_EQ(outputs[3], Numbers(6, 0));
}

/* What is computed and read by nothing else, twice. */
TEST(OnnxElements, ConcatenatedWithItself)
{
	OnnxBuilder builder;
	Numbers twice = picture;

	twice.insert(twice.end(), picture.begin(), picture.end());
	builder.input("x", { 1, 2, 2, 3 });
	builder.node("Relu", { "x" }, "one");
	OnnxBuilder::set(builder.node("Concat", { "one", "one" }, "y"), "axis", { 1 });
	builder.output("y");
	EXPECT_EQ(onCore(builder, { picture }), (std::vector<Numbers>{ twice }));
}

TEST(OnnxElements, ChosenByAConstant)
{
	OnnxBuilder builder;
	builder.input("x", { 1, 2, 2, 3 });
	builder.input("z", { 1, 2, 2, 3 });
	builder.integers("columns", { 3 }, { 1, 0, 1 }, onnx::BOOL);
	builder.integers("channels", { 1, 2, 1, 1 }, { 0, 1 }, onnx::BOOL);
	builder.floats("infinite", {}, { -HUGE_VALF });
	builder.floats("seven", {}, { 7 });
	builder.node("Where", { "columns", "x", "z" }, "some");
	builder.node("Where", { "channels", "seven", "some" }, "y");
	builder.node("Where", { "columns", "x", "infinite" }, "masked");
	builder.output("y");
	builder.output("masked");
	const auto outputs = onCore(builder, { picture, negated(picture) });
	ASSERT_EQ(outputs.size(), 2U);
	EXPECT_EQ(outputs[0], (Numbers{ 1, -2, 3, 4, -5, 6, 7, 7, 7, 7, 7, 7 }));
	/* What is beyond FP16 is its lowest number. */
	for (size_t i = 0; i < picture.size(); i++)
		EXPECT_EQ(outputs[1][i], i % 3 == 1 ? -65504 : picture[i]);
}

TEST(OnnxElements, FunctionsOfAllChannels)
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

} /* namespace */

} /* namespace nvdla::test */
