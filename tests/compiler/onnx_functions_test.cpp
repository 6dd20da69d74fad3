/* SPDX-License-Identifier: MIT */
/*
 * ONNX files: functions of one number, by tables and on the CPU.
 */
#include <algorithm>
#include <cmath>
#include <functional>

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

using Real = std::function<double(double)>;

/* What a file makes of \a x, calibrated with it if integers are asked for. */
struct Ran {
	Numbers numbers;
	std::string cpu; /* why the first layer runs there */
};

Ran ran(const OnnxBuilder &builder, const Numbers &x, std::optional<DataType> type)
{
	auto model = compiler::importOnnx(builder.file());
	if (!model) {
		ADD_FAILURE() << model.error().message();
		return {};
	}
	CompileOptions options;
	if (type)
		options.calibration =
			Calibration{ .samples = { { { x.begin(), x.end() } } }, .type = *type };
	auto compiled = compiler::compileInMemory(*model, options);
	if (!compiled) {
		ADD_FAILURE() << compiled.error().message();
		return {};
	}
	auto run = CoreRun::load(*model, compiled->loadable);
	auto outputs = run ? run->run({ x }) : forward(run);
	if (!outputs) {
		ADD_FAILURE() << outputs.error().message();
		return {};
	}
	return { outputs->front(), compiled->report.layers.front().cpu };
}

OnnxBuilder oneNode(const std::string &type, size_t elements)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 1, 1, static_cast<int64_t>(elements) });
	builder.node(type, { "x" }, "y");
	builder.output("y");
	return builder;
}

OnnxBuilder threesBy(size_t numbers)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 1, 1, 6 });
	builder.floats("threes", { static_cast<int64_t>(numbers) }, std::vector<float>(numbers, 3));
	builder.node("Div", { "threes", "x" }, "y");
	builder.output("y");
	return builder;
}

/* One number divided by a tensor is a function of this tensor; the host divides several. */
TEST(OnnxFunctions, NumbersDividedByATensor)
{
	const Numbers x = { 1.25, 1.5, 2, 3, 4, 7 };

	for (const DataType type : { DataType::Half, DataType::Int8, DataType::Int16 }) {
		const Ran made = ran(threesBy(1), x,
				     type == DataType::Half ? std::nullopt : std::optional(type));
		ASSERT_EQ(made.numbers.size(), x.size());
		for (size_t i = 0; i < x.size(); i++)
			EXPECT_NEAR(made.numbers[i], 3 / x[i],
				    type == DataType::Int8 ? 0.04 : 0.003);
	}
	const auto refused = compileModel(threesBy(6).file(), { .host = HostUse::Never });
	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().why, "is a constant of several numbers");
}

/* In FP16 and INT16, with the clamp behind the maximum as its activation. */
TEST(OnnxFunctions, SeveralLimitsBeforeAClamp)
{
	const Numbers x = { 1.25, 1.5, 2, 3, 4, 7 }, wanted = { 2, 3, 2, 3, 5, 5 };
	OnnxBuilder builder;

	builder.input("x", { 1, 1, 1, 6 });
	builder.floats("least", { 6 }, { 2, 3, 1, 2, 6, 0 });
	builder.floats("low", {}, { 1 });
	builder.floats("high", {}, { 5 });
	builder.node("Max", { "x", "least" }, "large");
	builder.node("Clip", { "large", "low", "high" }, "y");
	builder.output("y");
	for (const bool integers : { false, true }) {
		const Ran made =
			ran(builder, x, integers ? std::optional(DataType::Int16) : std::nullopt);
		ASSERT_EQ(made.numbers.size(), wanted.size());
		for (size_t i = 0; i < wanted.size(); i++)
			EXPECT_NEAR(made.numbers[i], wanted[i], 0.001);
	}
}

/* The function of what each element becomes in FP16; of INT16 a step more. */
TEST(OnnxFunctions, OnTheCpuOfWideTypes)
{
	const Numbers near = { -0.9, -0.5, -0.3, 0.2, 0.4, 0.8 };
	const Numbers above = { 1.25, 1.5, 2, 3, 4, 7 };
	const struct {
		const char *type;
		Real function;
		Numbers numbers;
	} cases[] = {
		{ "Acos", [](double x) { return std::atan2(std::sqrt(1 - x * x), x); }, near },
		{ "Acosh", [](double x) { return std::log(x + std::sqrt(x * x - 1)); }, above },
		{ "Asin", [](double x) { return std::atan2(x, std::sqrt(1 - x * x)); }, near },
		{ "Asinh", [](double x) { return std::log(x + std::sqrt(x * x + 1)); }, near },
		{ "Atan", [](double x) { return std::atan2(x, 1); }, above },
		{ "Atanh", [](double x) { return std::log((1 + x) / (1 - x)) / 2; }, near },
		{ "Cos", [](double x) { return 1 - 2 * std::pow(std::sin(x / 2), 2); }, above },
		{ "Cosh", [](double x) { return (std::exp(x) + std::exp(-x)) / 2; }, near },
		{ "Exp", [](double x) { return std::pow(std::exp(1.0), x); }, above },
		{ "Log", [](double x) { return std::log2(x) / std::log2(std::exp(1.0)); }, above },
		{ "Reciprocal", [](double x) { return 1 / x; }, above },
		{ "Sin", [](double x) { return 2 * std::sin(x / 2) * std::cos(x / 2); }, above },
		{ "Sinh", [](double x) { return (std::exp(x) - std::exp(-x)) / 2; }, near },
		{ "Softsign", [](double x) { return x < 0 ? x / (1 - x) : x / (1 + x); }, near },
		{ "Sqrt", [](double x) { return std::exp(std::log(x) / 2); }, above },
		{ "Tan", [](double x) { return std::sin(x) / std::cos(x); }, near },
	};

	for (const auto &[type, function, numbers] : cases) {
		for (const bool integers : { false, true }) {
			SCOPED_TRACE(testing::Message() << type << " " << integers);
			const Ran made =
				ran(oneNode(type, numbers.size()), numbers,
				    integers ? std::optional(DataType::Int16) : std::nullopt);
			EXPECT_NE(made.cpu, "");
			ASSERT_EQ(made.numbers.size(), numbers.size());
			const double step = std::fabs(function(numbers.back())) / INT16_MAX;
			for (size_t i = 0; i < numbers.size(); i++) {
				const double wanted = function(numbers[i]);
				EXPECT_NEAR(made.numbers[i], wanted,
					    0.002 * std::fabs(wanted) + 0.001 + step);
			}
		}
	}
}

/* Steps are where they belong, and halves go to the even neighbour. */
TEST(OnnxFunctions, Steps)
{
	const Numbers numbers = { -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 3 };
	const std::pair<const char *, Numbers> cases[] = {
		{ "Ceil", { -2, -1, 0, 0, 1, 2, 3, 3 } },
		{ "Floor", { -3, -2, -1, 0, 0, 1, 2, 3 } },
		{ "Round", { -2, -2, 0, 0, 0, 2, 2, 3 } },
		{ "Sign", { -1, -1, -1, 0, 1, 1, 1, 1 } },
	};

	for (const auto &[type, wanted] : cases) {
		SCOPED_TRACE(type);
		EXPECT_EQ(ran(oneNode(type, numbers.size()), numbers, {}).numbers, wanted);
	}
}

/* Where a function is not defined FP16 has NaN, and infinity where it has no bound. */
TEST(OnnxFunctions, BeyondTheirDomain)
{
	const Ran logarithms = ran(oneNode("Log", 2), { -1, 0 }, {});

	EXPECT_TRUE(std::isnan(logarithms.numbers.at(0)));
	EXPECT_EQ(logarithms.numbers.at(1), -HUGE_VAL);
	/* Integers have neither: they are as for the nearest number. */
	const Ran cosines = ran(oneNode("Acos", 4), { -2, -1, 1, 2 }, DataType::Int16);
	const double pi = std::acos(-1.0);
	const Numbers wanted = { pi, pi, 0, 0 };
	for (size_t i = 0; i < wanted.size(); i++)
		EXPECT_NEAR(cosines.numbers.at(i), wanted[i], 0.001);
}

/* With what they have as attributes, and what is usual. */
TEST(OnnxFunctions, WithParameters)
{
	const Numbers numbers = { -3, -1.75, -1, -0.25, 0, 0.25, 1, 1.75, 3 };
	auto shrunk = [](double x, double threshold, double bias) {
		return x < -threshold ? x + bias : x > threshold ? x - bias : 0;
	};
	auto elu = [](double x, double alpha) { return x < 0 ? alpha * (std::exp(x) - 1) : x; };
	const struct {
		const char *type;
		std::vector<std::pair<const char *, float>> attributes;
		Real function;
	} cases[] = {
		{ "Celu", {}, [&](double x) { return elu(x, 1); } },
		{ "Celu", { { "alpha", 2 } }, [&](double x) { return 2 * elu(x / 2, 1); } },
		{ "Selu", {}, [&](double x) { return 1.0507 * elu(x, 1.67326); } },
		{ "Selu",
		  { { "alpha", 2 }, { "gamma", 3 } },
		  [&](double x) { return 3 * elu(x, 2); } },
		{ "Shrink", {}, [&](double x) { return shrunk(x, 0.5, 0); } },
		{ "Shrink",
		  { { "lambd", 1.5f }, { "bias", 1.5f } },
		  [&](double x) { return shrunk(x, 1.5, 1.5); } },
		{ "ThresholdedRelu", {}, [](double x) { return x > 1 ? x : 0; } },
		{ "ThresholdedRelu", { { "alpha", 2 } }, [](double x) { return x > 2 ? x : 0; } },
	};

	for (const auto &[type, attributes, function] : cases) {
		SCOPED_TRACE(type);
		OnnxBuilder builder;
		builder.input("x", { 1, 1, 1, static_cast<int64_t>(numbers.size()) });
		onnx::Node *node = builder.node(type, { "x" }, "y");
		for (const auto &[name, number] : attributes)
			OnnxBuilder::setReal(node, name, number);
		builder.output("y");
		const Ran made = ran(builder, numbers, {});
		ASSERT_EQ(made.numbers.size(), numbers.size());
		for (size_t i = 0; i < numbers.size(); i++)
			EXPECT_NEAR(made.numbers[i], function(numbers[i]), 0.006) << numbers[i];
	}

	OnnxBuilder builder;
	builder.input("x", { 1, 1, 1, 4 });
	OnnxBuilder::setReal(builder.node("Shrink", { "x" }, "y"), "bias", 0.25f);
	builder.output("y");
	expectRefusedFile(builder.file(), { "Shrink 'y'", "bias: is 0.25; 0 and lambd, 0.5" });
}

TEST(OnnxFunctions, GeluByATangent)
{
	OnnxBuilder builder;
	const Numbers numbers = { -3, -2, -1, -0.25, 0, 0.25, 1, 2, 3 };

	builder.input("x", { 1, 1, 1, static_cast<int64_t>(numbers.size()) });
	OnnxBuilder::setText(builder.node("Gelu", { "x" }, "y"), "approximate", "tanh");
	builder.output("y");
	const Ran made = ran(builder, numbers, {});
	ASSERT_EQ(made.numbers.size(), numbers.size());
	for (size_t i = 0; i < numbers.size(); i++) {
		const double x = numbers[i];
		const double inner = 0.7978845608 * (x + 0.044715 * x * x * x);
		EXPECT_NEAR(made.numbers[i], x / (1 + std::exp(-2 * inner)), 0.003) << x;
	}
}

TEST(OnnxFunctions, ConstantPowers)
{
	for (const float exponent : { 1.0f, 2.0f, 3.0f, 2.5f, 0.5f, -2.0f, HUGE_VALF }) {
		SCOPED_TRACE(exponent);
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 2, 3 });
		builder.floats("exponent", {}, { exponent });
		builder.node("Pow", { "x", "exponent" }, "power");
		builder.node("Relu", { "power" }, "y");
		builder.output("y");
		if (std::isinf(exponent)) {
			expectRefusedFile(builder.file(),
					  { "Pow 'power'", "exponent: is infinite" });
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

/* A clamp behind a step of the CPU is the core's, if the type does not do it. */
TEST(OnnxFunctions, Clamped)
{
	const double most = 0.9 * std::sqrt(60.0);

	for (const bool integers : { false, true }) {
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 2, 3 });
		builder.node("Sqrt", { "x" }, "root");
		builder.floats("least", {}, { 1.5f });
		builder.floats("most", {}, { static_cast<float>(most) });
		builder.node("Clip", { "root", "least", "most" }, "y");
		builder.output("y");
		const Ran made = ran(builder, picture,
				     integers ? std::optional(DataType::Int16) : std::nullopt);
		ASSERT_EQ(made.numbers.size(), picture.size());
		for (size_t i = 0; i < picture.size(); i++)
			EXPECT_NEAR(made.numbers[i], std::clamp(std::sqrt(picture[i]), 1.5, most),
				    0.01);
	}
}

} /* namespace */

} /* namespace nvdla::test */
