/* SPDX-License-Identifier: MIT */
/*
 * Functions that a convolution's own SDP operation computes.
 */
#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "core_run.h"

namespace nvdla::test
{

namespace
{

using namespace compiler;

constexpr uint32_t channels = 24, height = 4, width = 7;

/* y = function(convolution(x)); the convolution's results reach far beyond 8 bits. */
struct Behind {
	Model model;
	Numbers input;

	Behind(ElementType type, const Kind &function, uint32_t seed) : random_(seed)
	{
		model.roundingOf8Bits = ScaleRounding::Once;
		const bool isReal = isFloat(type);
		const Extents shape{ 1, height, width, channels };
		const ValueId x = tensor("x", type, shape, { 1.0 / 16, 3 });
		const ValueId w = weights(isReal);
		const ValueId product = tensor("product", type, shape, { 1.0 / 12, -9 });
		const ValueId y = tensor("y", type, shape, { 1.0 / 20, 5 });
		std::vector<ValueId> inputs{ product };

		if (std::holds_alternative<PRelu>(function))
			inputs.push_back(slopes());
		model.operators = { { "product", "CONV_2D", Convolution{}, { x, w }, { product } },
				    { "y", "FUNCTION", function, inputs, { y } } };
		model.inputs = { x };
		model.outputs = { y };
		for (size_t i = 0; i < elementCount(shape); i++)
			input.push_back(isReal ? between(-512, 512) / 128 : between(-128, 127));
	}

	/* The same with an operation for each, because the application sees both results. */
	Model apart() const
	{
		Model seen = model;

		seen.outputs.push_back(model.operators[0].outputs[0]);
		return seen;
	}

	/* Of an operator's result. */
	Quantization quantization(size_t layer) const
	{
		return model.values[model.operators[layer].outputs[0]].quantization.channel(0);
	}

private:
	double between(int low, int high)
	{
		return std::uniform_int_distribution<>(low, high)(random_);
	}
	ValueId tensor(const char *name, ElementType type, const Extents &shape,
		       const Quantization &quantization)
	{
		Value value;

		value.name = name;
		value.type = type;
		value.shape = shape;
		if (!isFloat(type))
			value.quantization = quantization;
		return model.add(std::move(value));
	}
	ValueId weights(bool isReal)
	{
		std::vector<double> numbers(size_t{ channels } * channels);
		for (double &number : numbers)
			number = between(-127, 127);
		Value value = floatConstant(numbers, { channels, channels, 1, 1 });
		if (!isReal) {
			value.type = ElementType::Int8;
			value.quantization = Quantization{ 1.0 / 64, 0 };
			std::vector<std::byte> elements;
			for (const double number : numbers)
				elements.push_back(
					static_cast<std::byte>(static_cast<int8_t>(number)));
			value.data = std::move(elements);
		}
		value.name = "w";
		return model.add(std::move(value));
	}
	ValueId slopes()
	{
		std::vector<double> numbers(channels);
		for (double &number : numbers)
			number = between(-16, 16) / 16;
		return model.add(floatConstant(numbers, { channels }));
	}

	std::mt19937 random_;
};

struct Computed {
	bool isFused;
	std::vector<Numbers> outputs;
};

Computed compute(const Model &model, const Numbers &input)
{
	const auto compiled = compileInMemory(model, {});
	if (!compiled) {
		ADD_FAILURE() << compiled.error().message();
		return {};
	}
	const auto &layers = compiled->report.layers;
	auto run = CoreRun::load(model, compiled->loadable);
	auto outputs = run ? run->run({ input }) : forward(run);
	EXPECT_TRUE(outputs) << outputs.error().message();
	return { layers[1].operations == std::vector{ layers[0].operations.back() },
		 outputs ? *outputs : std::vector<Numbers>{} };
}

/* The model, and the same with an operation for each operator. */
struct Both {
	Computed fused, apart;

	explicit Both(const Behind &made)
		: fused(compute(made.model, made.input)), apart(compute(made.apart(), made.input))
	{
		EXPECT_TRUE(fused.isFused);
		EXPECT_FALSE(apart.isFused);
	}
	bool isComputed() const { return !fused.outputs.empty() && !apart.outputs.empty(); }
};

std::vector<Unary> functions()
{
	using enum Unary::Function;
	std::vector<Unary> all;

	for (const auto function : { Logistic, Tanh, HardSwish, Gelu, Silu, Elu })
		all.push_back({ .function = function, .parameter = 1 });
	all.push_back({ .function = LeakyRelu, .parameter = 0.1 });
	all.push_back(
		{ .function = Logistic, .activation = { .low = 0.25 }, .scale = 3, .shift = -1 });
	return all;
}

} /* namespace */

TEST(FunctionBehind, IsThatOfTheConvolutionsIntegers)
{
	uint32_t seed = 0;

	for (const Unary &function : functions()) {
		SCOPED_TRACE(fmt::format("function {}, seed {}",
					 static_cast<int>(function.function), ++seed));
		const Behind made(ElementType::Int8, function, seed);
		const Both both(made);
		ASSERT_TRUE(both.isComputed());
		const Quantization product = made.quantization(0), y = made.quantization(1);
		for (size_t i = 0; i < made.input.size(); i++) {
			const double real = product.real(both.apart.outputs[1][i]);
			EXPECT_EQ(both.fused.outputs[0][i],
				  y.quantize(function(real), integerLimits(8U)))
				<< real;
		}
		/* Else nothing would have to saturate before the function. */
		EXPECT_TRUE(std::ranges::count(both.apart.outputs[1], 127.0));
		EXPECT_TRUE(std::ranges::count(both.apart.outputs[1], -128.0));
	}
}

TEST(FunctionBehind, IsAsExactAsApartInHalf)
{
	std::vector<Kind> kinds{ PRelu{} };
	uint32_t seed = 100;

	for (const Unary &function : functions())
		kinds.emplace_back(function);
	for (const Kind &kind : kinds) {
		SCOPED_TRACE(fmt::format("seed {}", ++seed));
		const Behind made(ElementType::Float32, kind, seed);
		const Both both(made);
		ASSERT_TRUE(both.isComputed());
		for (size_t i = 0; i < made.input.size(); i++) {
			/* Apart, the convolution's result is rounded to 11 bits. */
			const double wanted = both.apart.outputs[0][i];
			EXPECT_NEAR(both.fused.outputs[0][i], wanted,
				    0x1p-9 * std::fabs(wanted) + 1e-3)
				<< both.apart.outputs[1][i];
		}
	}
}

/* On cores without unit Y, for TFLite, which rounds twice, or because the caller wants it. */
TEST(FunctionBehind, StaysApartWhereItWouldDiffer)
{
	const Unary sigmoid{ .function = Unary::Function::Logistic };
	const Behind made(ElementType::Int8, sigmoid, 1);
	const auto isFused = [](const Model &model, const CompileOptions &options) {
		const auto compiled = compileInMemory(model, options);
		EXPECT_TRUE(compiled) << compiled.error().message();
		const auto &layers = compiled->report.layers;
		return layers[1].operations == std::vector{ layers[0].operations.back() };
	};
	Model twice = made.model;

	EXPECT_TRUE(isFused(made.model, {}));
	EXPECT_FALSE(isFused(made.model, { .core = *findCoreVariant("nv_small") }));
	EXPECT_FALSE(isFused(made.model, { .everyTensor = true }));
	const Behind half(ElementType::Float32, sigmoid, 1);
	EXPECT_TRUE(isFused(half.model, {}));
	EXPECT_FALSE(isFused(half.model, { .foldSums = FoldSums::Never }));
	twice.roundingOf8Bits = ScaleRounding::Twice;
	EXPECT_FALSE(isFused(twice, {}));
}

} /* namespace nvdla::test */
