/* SPDX-License-Identifier: MIT */
/*
 * Constants that FP16 does not have: cured by powers of two, folded into a function of the CPU, or
 * named in the report.
 */
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "onnx_on_core.h"

namespace nvdla::test::halfConstants
{

namespace
{

struct Made {
	Numbers numbers;
	std::vector<std::string> inexact; /* of all layers */
};

Made made(const OnnxBuilder &builder, const Numbers &x)
{
	auto model = compiler::importOnnx(builder.file());
	if (!model) {
		ADD_FAILURE() << model.error().message();
		return {};
	}
	auto compiled = compiler::compileInMemory(*model, {});
	if (!compiled) {
		ADD_FAILURE() << compiled.error().message();
		return {};
	}
	Made result;
	for (const LayerReport &layer : compiled->report.layers)
		result.inexact.insert(result.inexact.end(), layer.inexact.begin(),
				      layer.inexact.end());
	auto run = CoreRun::load(*model, compiled->loadable);
	auto outputs = run ? run->run({ x }) : forward(run);
	if (outputs)
		result.numbers = outputs->front();
	else
		ADD_FAILURE() << outputs.error().message();
	return result;
}

OnnxBuilder ofInput(const Numbers &x)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 1, 1, static_cast<int64_t>(x.size()) });
	builder.output("y");
	return builder;
}

void expectNear(const Numbers &got, const Numbers &wanted, double relative, double absolute)
{
	ASSERT_EQ(got.size(), wanted.size());
	for (size_t i = 0; i < got.size(); i++)
		EXPECT_NEAR(got[i], wanted[i], relative * std::fabs(wanted[i]) + absolute) << i;
}

const Numbers some = { 0, 1e-4, -0.001, 0.02, -0.3, 1, 3, -10 };

} /* namespace */

TEST(HalfConstants, LogarithmOfPowers)
{
	OnnxBuilder builder = ofInput(some);
	Numbers wanted;

	builder.floats("least", {}, { 1e-10f });
	builder.node("Mul", { "x", "x" }, "power");
	builder.node("Add", { "power", "least" }, "sum");
	builder.node("Log", { "sum" }, "y");
	for (const double x : some)
		wanted.push_back(std::log(x * x + 1e-10));
	const Made result = made(builder, some);
	expectNear(result.numbers, wanted, 0x1p-10, 0.002);
	EXPECT_TRUE(result.inexact.empty());
}

TEST(HalfConstants, LogarithmOfExponentials)
{
	const Numbers x = { -20, -8, 0, 5, 11, 12, 50, 300 };
	OnnxBuilder builder = ofInput(x);
	Numbers wanted;

	builder.floats("one", {}, { 1 });
	builder.node("Exp", { "x" }, "power");
	builder.node("Add", { "one", "power" }, "sum");
	builder.node("Log", { "sum" }, "y");
	for (const double number : x)
		wanted.push_back(std::max(number, 0.0) + std::log1p(std::exp(-std::fabs(number))));
	expectNear(made(builder, x).numbers, wanted, 0x1p-10, 0x1p-24);
}

TEST(HalfConstants, ReciprocalRootsOfSmallSums)
{
	const Numbers x = { 0, 1e-4, 0.01, 1, 4, 100 };
	OnnxBuilder builder = ofInput(x);
	Numbers wanted;

	builder.floats("least", {}, { 1e-8f });
	builder.floats("factor", {}, { 1e-3f });
	builder.floats("half", {}, { -0.5f });
	builder.node("Mul", { "factor", "x" }, "scaled");
	builder.node("Add", { "scaled", "least" }, "sum");
	builder.node("Pow", { "sum", "half" }, "y");
	for (const double number : x)
		wanted.push_back(1 / std::sqrt(number * 1e-3 + 1e-8));
	expectNear(made(builder, x).numbers, wanted, 0.004, 0);
}

/* Numbers whose squares differ by less than FP16 has for them. */
TEST(HalfConstants, VarianceOfLargeNumbers)
{
	OnnxBuilder builder;
	Numbers x, wanted;

	for (int i = 0; i < 64; i++)
		x.push_back(30 + 0.5 * std::sin(i));
	double mean = 0, variance = 0;
	for (const double number : x)
		mean += number / 64;
	for (const double number : x)
		variance += (number - mean) * (number - mean) / 64;
	builder.input("x", { 1, 1, 8, 8 });
	builder.output("y");
	builder.node("Mul", { "x", "x" }, "squares");
	builder.node("GlobalAveragePool", { "squares" }, "meanOfSquares");
	builder.node("GlobalAveragePool", { "x" }, "mean");
	builder.node("Mul", { "mean", "mean" }, "squareOfMean");
	builder.node("Sub", { "meanOfSquares", "squareOfMean" }, "y");
	expectNear(made(builder, x).numbers, { variance }, 0.02, 0);
}

TEST(HalfConstants, KernelsBeyondTheRange)
{
	for (const float factor : { 1e-9f, 1e-6f, 1e6f }) {
		SCOPED_TRACE(factor);
		const Numbers x = { 1, 2, 3, 4 };
		const double large = factor < 1 ? 8000 : 1e-3;
		OnnxBuilder builder;
		builder.input("x", { 1, 2, 1, 2 });
		builder.output("y");
		builder.floats("w", { 3, 2, 1, 1 },
			       { factor, 3 * factor, 0.25f, -0.5f, -factor, factor / 2 });
		builder.floats("b", { 3 }, { 0.5f * std::min(factor, 8.0f), 1, 0 });
		builder.node("Conv", { "x", "w", "b" }, "y");
		Numbers scaled = x, wanted;
		for (double &number : scaled)
			number *= large;
		for (int k = 0; k < 3; k++) {
			const double w0 = k == 0 ? factor : k == 1 ? 0.25 : -factor;
			const double w1 = k == 0 ? 3 * factor : k == 1 ? -0.5 : factor / 2;
			const double b = k == 0 ? 0.5 * std::min(factor, 8.0f) : k == 1 ? 1 : 0;
			for (int i = 0; i < 2; i++)
				wanted.push_back(w0 * scaled[i] + w1 * scaled[2 + i] + b);
		}
		const Made result = made(builder, scaled);
		expectNear(result.numbers, wanted, 0x1p-9, 0x1p-24);
		EXPECT_TRUE(result.inexact.empty());
	}
}

/* Results are FP16's, operands are not. */
TEST(HalfConstants, SumsAndFactorsBeyondTheRange)
{
	const struct {
		const char *type;
		float operand;
		Numbers x;
	} cases[] = {
		{ "Add", 1e5f, { -60000, -65000, -40000 } },
		{ "Sub", 9e4f, { 60000, 40000, 65000 } },
		{ "Mul", 1e6f, { 0, 1e-3, -0.05 } },
		{ "Mul", 3e-7f, { 0, 60000, -20000 } },
	};

	for (const auto &[type, operand, x] : cases) {
		for (const float least : { -HUGE_VALF, 0.0f, 0.0078125f }) {
			SCOPED_TRACE(testing::Message() << type << " " << operand << " " << least);
			OnnxBuilder builder = ofInput(x);
			builder.floats("operand", {}, { operand });
			builder.floats("least", {}, { least });
			builder.node(type, { "x", "operand" }, std::isinf(least) ? "y" : "line");
			if (!std::isinf(least))
				builder.node("Clip", { "line", "least" }, "y");
			Numbers wanted;
			for (const double number : x) {
				const double y = *type == 'A'	? number + operand
						 : *type == 'S' ? number - operand
								: number * operand;
				wanted.push_back(std::max<double>(least, y));
			}
			const Made result = made(builder, x);
			expectNear(result.numbers, wanted, 0x1p-9, 0x1p-24);
			EXPECT_TRUE(result.inexact.empty());
		}
	}
}

TEST(HalfConstants, WhatIsLostIsInTheReport)
{
	OnnxBuilder builder = ofInput(some);

	builder.floats("least", {}, { 1e-10f });
	builder.node("Add", { "x", "least" }, "y");
	EXPECT_EQ(made(builder, some).inexact, std::vector<std::string>{ "1e-10 is 0 in FP16" });
	OnnxBuilder limits = ofInput(some);
	limits.floats("limits", { 8 }, { 1e5f, 1, 1, 1, 1, 1, 1, 2 });
	limits.node("Min", { "x", "limits" }, "y");
	EXPECT_EQ(made(limits, some).inexact,
		  std::vector<std::string>{ "1e+05 is 6.55e+04 in FP16" });
}

} /* namespace nvdla::test::halfConstants */
