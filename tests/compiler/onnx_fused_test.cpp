/* SPDX-License-Identifier: MIT */
/*
 * ONNX files that ONNX Runtime's optimizer has saved: operators that it makes of several.
 */
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "onnx_builder.h"
#include "onnx_on_core.h"

namespace nvdla::test
{

TEST(OnnxFused, ConvolutionsWithFunctionsBehindThem)
{
	const struct {
		const char *activation;
		std::vector<float> parameters;
		double (*function)(double);
	} cases[] = {
		{ "Relu", {}, [](double x) { return std::max(x, 0.0); } },
		{ "LeakyRelu", { 0.25 }, [](double x) { return x < 0 ? x / 4 : x; } },
		{ "Clip", { -2, 3 }, [](double x) { return std::clamp(x, -2.0, 3.0); } },
		{ "Sigmoid", {}, [](double x) { return 1 / (1 + std::exp(-x)); } },
		{ "Tanh", {}, [](double x) { return std::tanh(x); } },
	};
	const Numbers x{ -4, -3, -1, 0, 1, 2, 3, 5 }, more{ 1, -1, 2, -2, 3, -3, 4, -4 };

	for (const auto &[activation, parameters, function] : cases) {
		for (const bool adds : { false, true }) {
			SCOPED_TRACE(activation + std::to_string(adds));
			OnnxBuilder builder;
			std::vector<std::string> inputs{ "x", "w", "b" };
			builder.input("x", { 1, 1, 2, 4 });
			builder.floats("w", { 1, 1, 1, 1 }, { 0.5 });
			builder.floats("b", { 1 }, { 1 });
			if (adds)
				builder.input("more", { 1, 1, 2, 4 });
			if (adds)
				inputs.emplace_back("more");
			onnx::Node *node = builder.node("FusedConv", inputs, "y");
			node->set_domain("com.microsoft");
			OnnxBuilder::setText(node, "activation", activation);
			OnnxBuilder::setReals(node, "activation_params", parameters);
			builder.output("y");
			const auto outputs =
				adds ? onCore(builder, { x, more }) : onCore(builder, { x });
			ASSERT_EQ(outputs.size(), 1U);
			for (size_t i = 0; i < x.size(); i++)
				EXPECT_NEAR(outputs[0][i],
					    function(x[i] / 2 + 1 + (adds ? more[i] : 0)), 2e-3);
		}
	}
}

TEST(OnnxFused, MatrixProductsTimesANumber)
{
	OnnxBuilder builder;

	builder.input("x", { 2, 2 });
	builder.floats("w", { 2, 2 }, { 1, 2, 3, 4 });
	onnx::Node *node = builder.node("FusedMatMul", { "x", "w" }, "y");
	node->set_domain("com.microsoft");
	OnnxBuilder::setReal(node, "alpha", 0.5);
	OnnxBuilder::set(node, "transB", { 1 });
	builder.output("y");
	EXPECT_EQ(onCore(builder, { { 2, 4, 6, 8 } }), (std::vector<Numbers>{ { 5, 11, 11, 25 } }));
}

} /* namespace nvdla::test */
