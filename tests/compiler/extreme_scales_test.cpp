/* SPDX-License-Identifier: MIT */
/*
 * Scales of 8 bits that are 0, next to nothing, or far too large, as exporters write them for
 * cells that never fire.
 */
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <gtest/gtest.h>

#include "onnx_on_core.h"

namespace nvdla::test::extremeScales
{

namespace
{

/* Numbers of all kinds, two channels of four. */
const Numbers elements = { -128, -5, 0, 1, 2, 3, 64, 127 };

double quantized(double real, double scale, int zero)
{
	return std::clamp(std::nearbyint(real / scale) + zero, -128.0, 127.0);
}

void scaleAndZero(OnnxBuilder &builder, const std::string &name, std::vector<float> scales,
		  int zero)
{
	const std::vector<int64_t> shape =
		scales.size() > 1 ? std::vector<int64_t>{ static_cast<int64_t>(scales.size()) }
				  : std::vector<int64_t>{};
	const std::vector<int32_t> zeros(scales.size(), zero);

	builder.floats(name + "_scale", shape, scales);
	builder.integers(name + "_zero", shape, zeros);
}

OnnxBuilder ofInt8()
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 2, 2 }, onnx::INT8);
	builder.output("y", onnx::INT8);
	return builder;
}

void expectElements(const OnnxBuilder &builder, const std::vector<Numbers> &inputs,
		    const Numbers &wanted)
{
	const auto outputs = onCore(builder, inputs);

	ASSERT_EQ(outputs.size(), 1U);
	ASSERT_EQ(outputs[0].size(), wanted.size());
	for (size_t i = 0; i < wanted.size(); i++)
		EXPECT_NEAR(outputs[0][i], wanted[i], 1) << i;
}

/* The second input has no zero point, so that SDP's X2 may add it and apply the ReLU. */
void expectRelu(const std::string &type, const float (&s)[3])
{
	const Numbers other = { 7, -128, 0, 0, 1, -1, 127, 30 };
	OnnxBuilder builder = ofInt8();
	Numbers wanted;

	builder.input("z", { 1, 2, 2, 2 }, onnx::INT8);
	scaleAndZero(builder, "x", { s[0] }, 2);
	scaleAndZero(builder, "z", { s[1] }, 0);
	scaleAndZero(builder, "y", { s[2] }, -3);
	for (const std::string name : { "x", "z" })
		builder.node("DequantizeLinear", { name, name + "_scale", name + "_zero" },
			     name + " real");
	builder.node(type, { "x real", "z real" }, "made");
	builder.node("Relu", { "made" }, "positive");
	builder.node("QuantizeLinear", { "positive", "y_scale", "y_zero" }, "y");
	for (size_t i = 0; i < elements.size(); i++) {
		const double a = (elements[i] - 2) * double{ s[0] };
		const double b = other[i] * double{ s[1] };
		const double made = type == "Add" ? a + b : std::max(a, b);
		wanted.push_back(quantized(std::max(made, 0.0), s[2], -3));
	}
	expectElements(builder, { elements, other }, wanted);
}

constexpr float scales[] = { 0, 1e-35f, 1e-12f, 1e-6f, 0.01f, 1, 1e6f, 1e20f };

} /* namespace */

TEST(ExtremeScales, OfKernels)
{
	for (const float first : scales) {
		for (const float second : { 0.01f, first }) {
			SCOPED_TRACE(testing::Message() << first << " " << second);
			const float s[] = { first, second };
			const int w[2][2] = { { 3, -2 }, { 1, 5 } }, b[] = { 40, -7 };
			OnnxBuilder builder = ofInt8();
			scaleAndZero(builder, "x", { 0.5f }, 2);
			scaleAndZero(builder, "w", { first, second }, 0);
			scaleAndZero(builder, "y", { 0.5f }, 3);
			builder.integers("w", { 2, 2, 1, 1 }, { 3, -2, 1, 5 });
			builder.integers("b", { 2 }, { 40, -7 }, onnx::INT32);
			builder.node("QLinearConv",
				     { "x", "x_scale", "x_zero", "w", "w_scale", "w_zero",
				       "y_scale", "y_zero", "b" },
				     "y");
			Numbers wanted;
			for (int k = 0; k < 2; k++) {
				for (size_t i = 0; i < 4; i++) {
					const double sum = w[k][0] * (elements[i] - 2) +
							   w[k][1] * (elements[4 + i] - 2) + b[k];
					wanted.push_back(quantized(sum * 0.5 * s[k], 0.5, 3));
				}
			}
			expectElements(builder, { elements }, wanted);
		}
	}
}

/* Calls check(type, scales) for two inputs and an output, one of which has an extreme scale. */
template<typename Check>
void eachExtreme(std::initializer_list<const char *> types, const Check &check)
{
	for (const char *type : types) {
		for (const float extreme : scales) {
			for (const int place : { 0, 1, 2 }) {
				if (extreme == 0)
					continue;
				SCOPED_TRACE(testing::Message()
					     << type << " " << extreme << " " << place);
				float s[] = { 0.5f, 0.25f, 0.5f };
				s[place] = extreme;
				check(type, s);
			}
		}
	}
}

/* Operators whose inputs or output have such a scale: one of the three tensors at a time. */
TEST(ExtremeScales, OfActivations)
{
	const Numbers other = { 7, -128, 0, 0, 1, -1, 127, 30 };

	eachExtreme({ "QLinearAdd", "QLinearMul" }, [&](const char *type, const float(&s)[3]) {
		const int z[] = { 2, 0, -3 };
		OnnxBuilder builder = ofInt8();
		builder.input("z", { 1, 2, 2, 2 }, onnx::INT8);
		scaleAndZero(builder, "x", { s[0] }, z[0]);
		scaleAndZero(builder, "z", { s[1] }, z[1]);
		scaleAndZero(builder, "y", { s[2] }, z[2]);
		onnx::Node *node = builder.node(
			type,
			{ "x", "x_scale", "x_zero", "z", "z_scale", "z_zero", "y_scale", "y_zero" },
			"y");
		node->set_domain("com.microsoft");
		Numbers wanted;
		for (size_t i = 0; i < elements.size(); i++) {
			const double a = (elements[i] - z[0]) * double{ s[0] };
			const double b = (other[i] - z[1]) * double{ s[1] };
			wanted.push_back(quantized(type[7] == 'A' ? a + b : a * b, s[2], z[2]));
		}
		expectElements(builder, { elements, other }, wanted);
	});
}

TEST(ExtremeScales, BeforeARelu)
{
	eachExtreme({ "Add", "Max" },
		    [](const char *type, const float(&s)[3]) { expectRelu(type, s); });
}

TEST(ExtremeScales, OfLeakyRelus)
{
	for (const float in : scales) {
		if (in == 0)
			continue;
		SCOPED_TRACE(in);
		OnnxBuilder builder = ofInt8();
		scaleAndZero(builder, "x", { in }, 1);
		scaleAndZero(builder, "y", { 0.25f }, 5);
		onnx::Node *node = builder.node(
			"QLinearLeakyRelu", { "x", "x_scale", "x_zero", "y_scale", "y_zero" }, "y");
		node->set_domain("com.microsoft");
		OnnxBuilder::setReal(node, "alpha", 0.125f);
		Numbers wanted;
		for (const double element : elements) {
			const double x = (element - 1) * in;
			wanted.push_back(quantized(x < 0 ? x / 8 : x, 0.25, 5));
		}
		expectElements(builder, { elements }, wanted);
	}
}

} /* namespace nvdla::test::extremeScales */
