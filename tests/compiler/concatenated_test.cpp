/* SPDX-License-Identifier: MIT */
/*
 * Convolutions that write into a concatenation whose integers stand for something else than theirs.
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

constexpr uint32_t partLines = 5, partColumns = 6, readChannels = 12, partKernels = 40;

struct ConcatenatedCase {
	const char *what;
	Quantization part; /* of what the convolution makes */
	Quantization whole;
	Clamp activation;
	bool behind; /* the convolution's SDP operation makes the whole's integers */
};

Value int8Tensor(const std::string &name, const Extents &shape, const Quantization &quantization)
{
	Value value;

	value.name = name;
	value.type = ElementType::Int8;
	value.shape = shape;
	value.quantization = quantization;
	return value;
}

/* "conv" of x and another input, one behind the other; large sums saturate. */
struct ConcatenatedModel {
	explicit ConcatenatedModel(const ConcatenatedCase &one)
	{
		std::mt19937 random(1);
		std::uniform_int_distribution<int> integers(-128, 127);
		const auto some = [&](size_t count) {
			std::vector<double> numbers(count);
			std::ranges::generate(numbers, [&] { return integers(random); });
			return numbers;
		};

		Value weights = int8Tensor("kernels", { partKernels, readChannels, 1, 1 },
					   { 1.0 / 200, 0 });
		weights.isConstant = true;
		std::vector<std::byte> elements;
		for (const double number : some(partKernels * readChannels))
			elements.push_back(static_cast<std::byte>(static_cast<int8_t>(number)));
		weights.data = std::move(elements);
		const ValueId x = model.add(int8Tensor(
			"x", { 1, partLines, partColumns, readChannels }, { 1.0 / 30, 5 }));
		const ValueId other =
			model.add(int8Tensor("other", { 1, partLines, partColumns, 9 }, one.whole));
		part = model.add(
			int8Tensor("part", { 1, partLines, partColumns, partKernels }, one.part));
		const ValueId whole = model.add(int8Tensor(
			"whole", { 1, partLines, partColumns, partKernels + 9 }, one.whole));
		model.operators = { { "conv",
				      "CONV_2D",
				      Convolution{ .activation = one.activation },
				      { x, model.add(std::move(weights)) },
				      { part } },
				    { "whole",
				      "CONCATENATION",
				      Concatenation{ 3, {} },
				      { part, other },
				      { whole } } };
		model.inputs = { x, other };
		model.outputs = { whole };
		model.roundingOf8Bits = ScaleRounding::Once;
		inputs = { some(partLines * partColumns * readChannels),
			   some(partLines * partColumns * 9) };
	}

	Model model;
	ValueId part;
	std::vector<Numbers> inputs;
};

struct ConcatenatedRun {
	std::vector<Numbers> outputs;
	size_t operations; /* of the concatenation */
};

ConcatenatedRun runConcatenated(const Model &model, const std::vector<Numbers> &inputs)
{
	ConcatenatedRun made{ std::vector<Numbers>(model.outputs.size()), 0 };
	const auto compiled = compileInMemory(model);

	if (!compiled) {
		ADD_FAILURE() << compiled.error().message();
		return made;
	}
	made.operations = compiled->report.layers.back().operations.size();
	auto run = CoreRun::load(model, compiled->loadable);
	auto outputs = run ? run->run(inputs) : forward(run);
	EXPECT_TRUE(outputs) << outputs.error().message();
	if (outputs)
		made.outputs = *outputs;
	return made;
}

constexpr Clamp positive{ .low = 0 };

const ConcatenatedCase concatenatedCases[] = {
	{ "larger steps, ReLU", { 1.0 / 60, -128 }, { 1.0 / 41.7, -128 }, positive, true },
	{ "a half", { 1.0 / 64, -128 }, { 1.0 / 32, -128 }, positive, true },
	{ "a third", { 1.0 / 90, -128 }, { 1.0 / 30.1, -128 }, positive, true },
	{ "zero in the middle, ReLU", { 1.0 / 60, -3 }, { 1.0 / 41.7, 6 }, positive, true },
	{ "smaller steps", { 1.0 / 71, 3 }, { 1.0 / 115.3, -1 }, {}, true },
	{ "one end", { 1.0 / 71, 3 }, { 1.0 / 72.3, -30 }, {}, true },
	{ "both ends", { 1.0 / 60, 3 }, { 1.0 / 41.7, -1 }, {}, false },
	{ "two limits", { 1.0 / 20, 3 }, { 1.0 / 33.1, -1 }, { -1, 2 }, false },
	{ "ReLU1", { 1.0 / 60, -128 }, { 1.0 / 41.7, -128 }, { 0, 1 }, true },
};

} /* namespace */

/* Whether the part is seen, and has an operation of its own then, changes no number. */
TEST(Concatenated, IntegersAreThoseOfTheResult)
{
	for (const ConcatenatedCase &one : concatenatedCases) {
		SCOPED_TRACE(one.what);
		ConcatenatedModel made(one);
		const ConcatenatedRun whole = runConcatenated(made.model, made.inputs);
		made.model.outputs.push_back(made.part);
		const ConcatenatedRun both = runConcatenated(made.model, made.inputs);
		EXPECT_EQ(whole.operations, one.behind ? 1U : 2U);
		EXPECT_EQ(both.operations, 2U);
		EXPECT_EQ(whole.outputs[0], both.outputs[0]);
		Numbers expected;
		for (size_t i = 0; i < partLines * partColumns; i++) {
			for (size_t k = 0; k < partKernels; k++)
				expected.push_back(static_cast<double>(one.whole.quantize(
					one.part.real(both.outputs[1][i * partKernels + k]),
					integerLimits(8U))));
			for (size_t k = 0; k < 9; k++)
				expected.push_back(made.inputs[1][i * 9 + k]);
		}
		EXPECT_EQ(whole.outputs[0], expected);
		/* Both ends of the part's integers are there, or the limit of the activation. */
		const auto [lowest, highest] = std::ranges::minmax(both.outputs[1]);
		EXPECT_LE(lowest, one.part.zeroPoint);
		EXPECT_EQ(highest, one.part.quantize(one.activation.high, integerLimits(8U)));
	}
}

/* TensorFlow Lite's convolutions round twice, with Y. */
TEST(Concatenated, ResultsThatAreRoundedTwiceHaveAnOperationOfTheirOwn)
{
	ConcatenatedModel made(concatenatedCases[0]);

	made.model.roundingOf8Bits = ScaleRounding::Twice;
	EXPECT_EQ(runConcatenated(made.model, made.inputs).operations, 2U);
}

} /* namespace nvdla::test */
