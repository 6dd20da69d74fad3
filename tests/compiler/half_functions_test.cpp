/* SPDX-License-Identifier: MIT */
/*
 * Functions in FP16 over all 65536 numbers, infinities and NaNs included.
 */
#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>
#include <nvdla/half.h>

#include "onnx_on_core.h"

namespace nvdla::test::halfFunctions
{

namespace
{

using Real = std::function<double(double)>;

constexpr double mostOfHalf = 65504;

/* The core has no infinity: it takes and makes the largest number instead. */
double saturated(double y)
{
	return std::isnan(y) ? y : std::clamp(y, -mostOfHalf, mostOfHalf);
}

/* What may be off: a share of the result, and something beside that. */
struct Bound {
	double relative;
	double absolute;
};

/* A table: three roundings to 11 bits, and the bend between two of its entries. */
constexpr Bound byTable{ 0x1p-9, 5e-4 };
/* A step of the CPU rounds once; what is below FP16's smallest numbers is 0. */
constexpr Bound onCpu{ 0x1p-11, 0x1p-25 };
/* Sums and products of the core round once for each operation. */
constexpr Bound byCore{ 0x1p-10, 0x1p-24 };

struct Case {
	const char *name;
	std::function<void(OnnxBuilder &)> build; /* y of x */
	Real function;
	Bound bound = byTable;
};

auto node(const char *type, std::vector<std::pair<const char *, float>> attributes = {})
{
	return [=](OnnxBuilder &builder) {
		onnx::Node *node = builder.node(type, { "x" }, "y");
		for (const auto &[name, number] : attributes)
			OnnxBuilder::setReal(node, name, number);
	};
}

void geluByTangent(OnnxBuilder &builder)
{
	OnnxBuilder::setText(builder.node("Gelu", { "x" }, "y"), "approximate", "tanh");
}

/* x * sigmoid(factor * x), as files have it: any rest of the sigmoid's tail is multiplied. */
auto timesSigmoid(float factor)
{
	return [=](OnnxBuilder &builder) {
		builder.floats("factor", {}, { factor });
		builder.node("Mul", { "x", "factor" }, "scaled");
		builder.node("Sigmoid", { "scaled" }, "gate");
		builder.node("Mul", { "x", "gate" }, "y");
	};
}

void timesTangentOfSoftplus(OnnxBuilder &builder)
{
	builder.node("Softplus", { "x" }, "plus");
	builder.node("Tanh", { "plus" }, "gate");
	builder.node("Mul", { "x", "gate" }, "y");
}

void power(OnnxBuilder &builder, float exponent)
{
	builder.floats("exponent", {}, { exponent });
	builder.node("Pow", { "x", "exponent" }, "y");
}

double softplus(double x)
{
	return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

double elu(double x, double alpha)
{
	return x < 0 ? alpha * std::expm1(x) : x;
}

/* x * gate, which is 0 at minus infinity. */
double gated(double x, double gate)
{
	return gate == 0 ? 0 : x * gate;
}

double sigmoid(double x)
{
	return 1 / (1 + std::exp(-x));
}

double normal(double x)
{
	return (1 + std::erf(x / std::sqrt(2.0))) / 2;
}

const std::vector<Case> &cases()
{
	static const double pi = std::acos(-1.0);
	static const std::vector<Case> all = {
		{ "Sigmoid", node("Sigmoid"), sigmoid },
		{ "Tanh", node("Tanh"), [](double x) { return std::tanh(x); } },
		{ "Erf", node("Erf"), [](double x) { return std::erf(x); } },
		{ "Softplus", node("Softplus"), softplus },
		{ "Mish", node("Mish"), [](double x) { return gated(x, std::tanh(softplus(x))); } },
		{ "MishOfParts",
		  timesTangentOfSoftplus,
		  [](double x) { return gated(x, std::tanh(softplus(x))); },
		  { 0x1p-8, 2e-3 } },
		{ "SiLU", timesSigmoid(1), [](double x) { return gated(x, sigmoid(x)); } },
		{ "SiLU1.702", timesSigmoid(1.702f),
		  [](double x) { return gated(x, sigmoid(1.702 * x)); } },
		{ "HardSwish", node("HardSwish"),
		  [](double x) { return gated(x, std::clamp(x / 6 + 0.5, 0.0, 1.0)); } },
		{ "HardSigmoid",
		  node("HardSigmoid"),
		  [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); },
		  { 0x1p-10, 5e-4 } },
		{ "Elu", node("Elu"), [](double x) { return elu(x, 1); } },
		{ "Elu20",
		  node("Elu", { { "alpha", 20.0f } }),
		  [](double x) { return elu(x, 20); },
		  { 0x1p-9, 20 * 5e-4 } },
		{ "Celu2",
		  node("Celu", { { "alpha", 2.0f } }),
		  [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; },
		  { 0x1p-9, 1e-3 } },
		{ "Selu",
		  node("Selu"),
		  [](double x) { return 1.0507009873554805 * elu(x, 1.6732632423543772); },
		  { 0x1p-9, 1e-3 } },
		{ "Gelu", node("Gelu"), [](double x) { return gated(x, normal(x)); } },
		{ "GeluByTangent", geluByTangent,
		  [](double x) {
			  const double inner = std::sqrt(2 / pi) * (x + 0.044715 * x * x * x);
			  return gated(x, sigmoid(2 * inner));
		  } },
		{ "Abs", node("Abs"), [](double x) { return std::fabs(x); } },
		{ "LeakyRelu", node("LeakyRelu", { { "alpha", 0.125f } }),
		  [](double x) { return x < 0 ? x / 8 : x; }, byCore },
		{ "ThresholdedRelu", node("ThresholdedRelu"),
		  [](double x) { return x > 1 ? x : 0; }, onCpu },
		{ "Square", [](OnnxBuilder &builder) { power(builder, 2); },
		  [](double x) { return x * x; }, byCore },
		{ "Cube",
		  [](OnnxBuilder &builder) { power(builder, 3); },
		  [](double x) { return x * x * x; },
		  { 0x1p-9, 0x1p-23 } },
		{ "Exp", node("Exp"), [](double x) { return std::exp(x); }, onCpu },
		{ "Log", node("Log"), [](double x) { return std::log(x); }, onCpu },
		{ "Sqrt", node("Sqrt"), [](double x) { return std::sqrt(x); }, onCpu },
		{ "Reciprocal", node("Reciprocal"), [](double x) { return 1 / x; }, onCpu },
		{ "ReciprocalRoot", [](OnnxBuilder &builder) { power(builder, -0.5f); },
		  [](double x) { return std::pow(x, -0.5); }, onCpu },
		{ "Softsign", node("Softsign"),
		  [](double x) {
			  return std::isinf(x) ? std::copysign(1, x) : x / (1 + std::fabs(x));
		  },
		  onCpu },
		{ "Sin", node("Sin"), [](double x) { return std::sin(x); }, onCpu },
		{ "Cos", node("Cos"), [](double x) { return std::cos(x); }, onCpu },
		{ "Atan", node("Atan"), [](double x) { return std::atan(x); }, onCpu },
		{ "Asinh", node("Asinh"), [](double x) { return std::asinh(x); }, onCpu },
		{ "Sinh", node("Sinh"), [](double x) { return std::sinh(x); }, onCpu },
		{ "Floor", node("Floor"), [](double x) { return std::floor(x); }, onCpu },
		{ "Round", node("Round"), [](double x) { return std::nearbyint(x); }, onCpu },
		{ "Sign", node("Sign"),
		  [](double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }, onCpu },
	};
	return all;
}

class HalfFunctions : public testing::TestWithParam<size_t>
{
};

} /* namespace */

TEST_P(HalfFunctions, OfEveryNumber)
{
	const Case &one = cases()[GetParam()];
	OnnxBuilder builder(20);
	Numbers all(1 << 16);

	for (size_t i = 0; i < all.size(); i++)
		all[i] = halfToFloat(static_cast<uint16_t>(i));
	builder.input("x", { 1, 16, 64, 64 });
	one.build(builder);
	builder.output("y");
	const auto outputs = onCore(builder, { all });
	ASSERT_EQ(outputs.size(), 1U);
	ASSERT_EQ(outputs[0].size(), all.size());

	size_t wrong = 0, worst = 0;
	double most = 0;
	for (size_t i = 0; i < all.size(); i++) {
		const double wanted = saturated(one.function(all[i]));
		const double got = saturated(outputs[0][i]);
		const bool isNan = std::isnan(wanted);
		const double allowed = one.bound.relative * std::fabs(wanted) + one.bound.absolute;
		const double off =
			isNan == std::isnan(got) ? isNan ? 0 : std::fabs(got - wanted) : HUGE_VAL;
		wrong += off > allowed;
		if (off / allowed > most) {
			most = off / allowed;
			worst = i;
		}
	}
	EXPECT_EQ(wrong, 0U) << "of " << one.name << "(" << all[worst]
			     << ") = " << outputs[0][worst] << ", not " << one.function(all[worst]);
	RecordProperty("share_of_bound", std::to_string(most));
	printf("%-16s %5.3f of its bound, at %g\n", one.name, most, all[worst]);
}

INSTANTIATE_TEST_SUITE_P(Of, HalfFunctions, testing::Range<size_t>(0, cases().size()),
			 [](const auto &info) {
				 std::string name = cases()[info.param].name;
				 std::erase(name, '.');
				 return name;
			 });

} /* namespace nvdla::test::halfFunctions */
