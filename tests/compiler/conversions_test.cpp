/* SPDX-License-Identifier: MIT */
/*
 * Networks that change between integers and real numbers in their midst.
 */
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "compiler/import/import.h"
#include "core_run.h"
#include "onnx_builder.h"

namespace nvdla::test
{

namespace
{

constexpr double inScale = 0.5, outScale = 1.0 / 128;
constexpr int32_t inZero = 3, outZero = -10;

/* What is between QuantizeLinear and DequantizeLinear, with one of two quantizations. */
void quantize(OnnxBuilder &builder, const std::string &from, const std::string &to, bool first)
{
	const std::string scale = to + " scale", zero = to + " zero";

	builder.floats(scale, {}, { static_cast<float>(first ? inScale : outScale) });
	builder.integers(zero, {}, { first ? inZero : outZero });
	builder.node("QuantizeLinear", { from, scale, zero }, to + " q");
	builder.node("DequantizeLinear", { to + " q", scale, zero }, to);
}

double sigmoid(double x)
{
	return 1 / (1 + std::exp(-x));
}

const Numbers given = { -3, -2.5, -1, 0, 0.5, 1, 1.5, 2, 4, 5, 6, 7.5 };

std::vector<std::string> typesOnCpu(const OnnxBuilder &builder)
{
	std::vector<std::string> types;
	auto compiled = compileModel(builder.file());

	EXPECT_TRUE(compiled) << compiled.error().message();
	if (!compiled)
		return types;
	for (const LayerReport &layer : compiled->report.layers) {
		if (!layer.cpu.empty())
			types.push_back(layer.type);
	}
	return types;
}

Numbers resultOf(const OnnxBuilder &builder)
{
	auto run = CoreRun::of(compiler::importOnnx(builder.file()));
	EXPECT_TRUE(run) << run.error().message();
	if (!run)
		return {};
	auto outputs = run->run({ given });
	EXPECT_TRUE(outputs) << outputs.error().message();
	return outputs ? outputs->front() : Numbers{};
}

TEST(Conversions, IntegersBecomeFloat)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 1, 3, 4 });
	quantize(builder, "x", "held", true);
	builder.node("Sigmoid", { "held" }, "y");
	builder.output("y");
	EXPECT_EQ(typesOnCpu(builder), (std::vector<std::string>{ "(as float)" }));
	const Numbers got = resultOf(builder);
	ASSERT_EQ(got.size(), given.size());
	for (size_t i = 0; i < got.size(); i++)
		EXPECT_NEAR(got[i], sigmoid(given[i]), 2e-3);
}

/* Sigmoid and Tanh are an island of real numbers, a maximum of integers follows. */
TEST(Conversions, FloatsBetweenIntegers)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 1, 3, 4 });
	quantize(builder, "x", "held", true);
	builder.node("Sigmoid", { "held" }, "s");
	builder.node("Tanh", { "s" }, "t");
	quantize(builder, "t", "again", false);
	OnnxBuilder::set(builder.node("MaxPool", { "again" }, "y"), "kernel_shape", { 1, 2 });
	builder.output("y");
	EXPECT_EQ(typesOnCpu(builder),
		  (std::vector<std::string>{ "(as float)", "QuantizeLinear" }));
	const Numbers got = resultOf(builder);
	ASSERT_EQ(got.size(), 9U);
	for (size_t i = 0; i < got.size(); i++) {
		const double wanted = std::tanh(sigmoid(given[i / 3 * 4 + i % 3 + 1]));
		EXPECT_NEAR(got[i], wanted, 1.5 * outScale);
	}
}

/* What two operators read is converted once; one of them goes on in integers. */
TEST(Conversions, IntegersGoOnBesideFloats)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 1, 3, 4 });
	quantize(builder, "x", "held", true);
	builder.node("Sigmoid", { "held" }, "s");
	builder.node("Add", { "s", "held" }, "y");
	builder.node("Relu", { "held" }, "r");
	quantize(builder, "r", "z", true);
	builder.output("y");
	builder.output("z");
	EXPECT_EQ(typesOnCpu(builder), (std::vector<std::string>{ "(as float)" }));
	auto run = CoreRun::of(compiler::importOnnx(builder.file()));
	ASSERT_TRUE(run) << run.error().message();
	auto outputs = run->run({ given });
	ASSERT_TRUE(outputs) << outputs.error().message();
	for (size_t i = 0; i < given.size(); i++) {
		EXPECT_NEAR((*outputs)[0][i], given[i] + sigmoid(given[i]), 1e-2);
		EXPECT_NEAR((*outputs)[1][i], std::max(given[i], 0.0), 1e-6);
	}
}

} /* namespace */

} /* namespace nvdla::test */
