/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of one input whose results are concatenated, as one convolution.
 */
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <span>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "core_run.h"

namespace nvdla::test
{

namespace
{

using namespace compiler;

constexpr uint32_t lines = 9, columns = 7, channels = 21;

/* A convolution of a squared window that leaves the picture's size, but for the stride. */
struct Branch {
	uint32_t kernels;
	uint32_t taps = 1;
	uint32_t dilation = 1;
};

struct JoinedCase {
	const char *what;
	ElementType type;
	std::vector<Branch> branches;
	uint32_t stride = 1;
	Clamp activation = {};
	bool hasBias = true;
	bool other = false; /* a tensor of something else is put behind them */
};

class JoinedModel
{
public:
	JoinedModel(const JoinedCase &joined, uint32_t seed) : case_(joined), random_(seed)
	{
		const ValueId x = tensor("x", { 1, lines, columns, channels });
		const uint32_t h = (lines - 1) / joined.stride + 1;
		const uint32_t w = (columns - 1) / joined.stride + 1;
		std::vector<ValueId> parts;
		uint32_t c = 0;

		model.inputs = { x };
		for (const Branch &branch : joined.branches) {
			const std::string name = fmt::format("branch{}", parts.size());
			const ValueId part = tensor(name, { 1, h, w, branch.kernels });
			parts.push_back(part);
			c += branch.kernels;
			addConvolution(name, branch, x, part);
		}
		if (joined.other) {
			parts.push_back(tensor("other", { 1, h, w, 5 }));
			model.inputs.push_back(parts.back());
			c += 5;
		}
		const ValueId whole = tensor("whole", { 1, h, w, c });
		model.operators.push_back(
			{ "whole", "CONCATENATION", Concatenation{ 3, {} }, parts, { whole } });
		model.outputs = { whole };
		for (const ValueId id : model.inputs)
			inputs.push_back(numbers(id));
	}

	ValueId idOf(const std::string &name) const
	{
		return static_cast<ValueId>(std::ranges::find(model.values, name, &Value::name) -
					    model.values.begin());
	}

	Model model;
	std::vector<Numbers> inputs;

private:
	ValueId tensor(const std::string &name, const Extents &shape)
	{
		Value value;
		value.name = name;
		value.type = case_.type;
		value.shape = shape;
		if (case_.type == ElementType::Int8)
			value.quantization = name == "x" ? Quantization{ 1.0 / 50, 7 }
							 : Quantization{ 1.0 / 9, -11 };
		else if (case_.type == ElementType::Int16)
			value.quantization = Quantization{ 1.0 / 4000, 0 };
		return model.add(std::move(value));
	}
	void addConvolution(const std::string &name, const Branch &branch, ValueId x, ValueId y)
	{
		const uint32_t border = branch.taps / 2 * branch.dilation;
		Operator conv{ name,
			       "CONV_2D",
			       Convolution{ { case_.stride, case_.stride },
					    { branch.dilation, branch.dilation },
					    { border, border, border, border },
					    1,
					    case_.activation },
			       { x, kernels(name, branch) },
			       { y } };
		if (case_.hasBias)
			conv.inputs.push_back(bias(name, branch.kernels));
		model.operators.push_back(std::move(conv));
	}
	ValueId kernels(const std::string &name, const Branch &branch)
	{
		const Extents shape{ branch.kernels, channels, branch.taps, branch.taps };
		std::vector<Quantization> scales;
		std::vector<double> real;
		Value value;
		value.shape = shape;
		value.isConstant = true;
		value.type = ElementType::Int8;
		for (uint32_t k = 0; k < branch.kernels; k++)
			scales.push_back({ std::ldexp(1.0 / 150, -static_cast<int>(k % 5)), 0 });
		const size_t size = elementCount(shape) / branch.kernels;
		for (size_t i = 0; i < elementCount(shape); i++) {
			const int64_t integer = between(-127, 127);
			value.data.push_back(static_cast<std::byte>(integer));
			real.push_back(static_cast<double>(integer) * scales[i / size].scale);
		}
		value.quantization = TensorQuantization(std::move(scales));
		if (isFloat(case_.type))
			value = floatConstant(real, shape);
		value.name = name + " kernels";
		return model.add(std::move(value));
	}
	ValueId bias(const std::string &name, uint32_t count)
	{
		std::vector<double> numbers;
		Value value;
		for (uint32_t k = 0; k < count; k++) {
			const auto number = static_cast<int32_t>(between(-8000, 8000));
			const auto bytes = std::as_bytes(std::span(&number, 1));
			value.data.insert(value.data.end(), bytes.begin(), bytes.end());
			numbers.push_back(number / 4000.0);
		}
		value.type = ElementType::Int32;
		value.shape = { count };
		value.isConstant = true;
		if (isFloat(case_.type))
			value = floatConstant(numbers, { count });
		value.name = name + " bias";
		return model.add(std::move(value));
	}
	Numbers numbers(ValueId id)
	{
		Numbers all(elementCount(model.values[id].shape));
		for (double &number : all)
			number = isFloat(case_.type) ? static_cast<double>(between(-512, 512)) / 256
						     : static_cast<double>(between(-128, 127));
		return all;
	}
	int64_t between(int64_t low, int64_t high)
	{
		return std::uniform_int_distribution<int64_t>(low, high)(random_);
	}

	JoinedCase case_;
	std::mt19937 random_;
};

Result<CompiledModel> compileWith(const Model &model, Choice join, bool everyTensor = false)
{
	CompileOptions options{ .everyTensor = everyTensor };

	options.strategy->join = join;
	return compileInMemory(model, options);
}

std::vector<Numbers> resultsOf(const Model &model, const CompiledModel &compiled,
			       const std::vector<Numbers> &inputs)
{
	auto run = CoreRun::load(model, compiled.loadable);
	if (!run) {
		ADD_FAILURE() << run.error().message();
		return {};
	}
	auto outputs = run->run(inputs);
	EXPECT_TRUE(outputs) << outputs.error().message();
	return outputs ? *outputs : std::vector<Numbers>{};
}

/* Operations of the core, those that the graph has added as well. */
size_t operationsOf(const CompiledModel &compiled)
{
	size_t count = 0;

	for (const AssembledStep &step : compiled.report.steps)
		count += !step.operation.empty();
	return count;
}

const JoinedCase joinedCases[] = {
	{ "odd channels", ElementType::Int8, { { 20 }, { 11 }, { 33 } } },
	{ "ReLU", ElementType::Int8, { { 5 }, { 6 } }, 1, { 0, INFINITY } },
	{ "windows of two sizes", ElementType::Int8, { { 19 }, { 13, 3 } } },
	{ "the larger one first", ElementType::Int8, { { 7, 5 }, { 9, 3 }, { 3 } } },
	{ "steps of both", ElementType::Int8, { { 7, 3 }, { 9, 3 } }, 2 },
	{ "windows and steps", ElementType::Int8, { { 7 }, { 9, 3 } }, 2 },
	{ "dilation", ElementType::Int8, { { 7, 3, 2 }, { 9 }, { 10, 3, 2 } } },
	{ "no bias", ElementType::Int8, { { 7 }, { 9 } }, 1, {}, false },
	{ "something else behind", ElementType::Int8, { { 20 }, { 9 } }, 1, {}, true, true },
	{ "INT16", ElementType::Int16, { { 20 }, { 9, 3 } } },
	{ "FP16", ElementType::Float32, { { 20 }, { 9, 3 } } },
	{ "FP16, ReLU6", ElementType::Float32, { { 20 }, { 9 } }, 1, { 0, 6 } },
};

void checkJoined(const JoinedCase &one)
{
	const JoinedModel made(one, 1);
	const auto apart = compileWith(made.model, Choice::Never);
	const auto joined = compileWith(made.model, Choice::Always);
	ASSERT_TRUE(apart) << apart.error().message();
	ASSERT_TRUE(joined) << joined.error().message();
	EXPECT_EQ(joined->report.layers.size(), one.other ? 2U : 1U);
	EXPECT_LT(operationsOf(*joined), operationsOf(*apart));
	const Numbers got = resultsOf(made.model, *joined, made.inputs).at(0);
	const Numbers before = resultsOf(made.model, *apart, made.inputs).at(0);
	const Numbers wanted = evaluate(made.model, made.inputs)[made.model.outputs.front()];
	ASSERT_EQ(got.size(), wanted.size());
	if (isFloat(one.type)) {
		EXPECT_EQ(got, before);
		return;
	}
	/* What is nearly a tie may be rounded otherwise. */
	size_t off = 0;
	for (size_t i = 0; i < got.size(); i++) {
		EXPECT_LE(std::fabs(got[i] - wanted[i]), 1);
		off += got[i] != wanted[i];
	}
	EXPECT_LE(off, got.size() / 1000);
}

} /* namespace */

TEST(Joined, MakesTheSame)
{
	for (const JoinedCase &one : joinedCases) {
		SCOPED_TRACE(one.what);
		checkJoined(one);
	}
}

/* All tensors as outputs change no number. */
TEST(Joined, PartsCanBeSeen)
{
	const JoinedModel made({ "", ElementType::Int8, { { 20 }, { 11, 3 } } }, 2);
	const auto joined = compileWith(made.model, Choice::Always);
	const auto all = compileWith(made.model, Choice::Always, true);
	ASSERT_TRUE(joined) << joined.error().message();
	ASSERT_TRUE(all) << all.error().message();
	Model shown = made.model;
	shown.outputs = { made.idOf("whole"), made.idOf("branch0"), made.idOf("branch1") };
	const Numbers whole = resultsOf(made.model, *joined, made.inputs).at(0);
	const auto outputs = resultsOf(shown, *all, made.inputs);
	ASSERT_EQ(outputs.size(), 3U);
	EXPECT_EQ(outputs[0], whole);
	for (size_t i = 0; i < lines * columns; i++) {
		for (size_t c = 0; c < 20; c++)
			EXPECT_EQ(outputs[1][i * 20 + c], whole[i * 31 + c]);
		for (size_t c = 0; c < 11; c++)
			EXPECT_EQ(outputs[2][i * 11 + c], whole[i * 31 + 20 + c]);
	}
}

/* The report says what each way would take, and the faster one is taken. */
TEST(Joined, IsChosenByTime)
{
	for (const uint32_t taps : { 1U, 11U }) {
		const JoinedModel made({ "", ElementType::Int8, { { 70 }, { 5, taps } } }, 3);
		const auto compiled = compileWith(made.model, Choice::Auto);
		ASSERT_TRUE(compiled) << compiled.error().message();
		const auto &layers = compiled->report.layers;
		ASSERT_FALSE(layers.empty());
		ASSERT_FALSE(layers.back().choices.empty());
		const LayerChoice &choice = layers.back().choices.front();
		ASSERT_EQ(choice.candidates.size(), 2U);
		EXPECT_EQ(choice.candidates[1].what, "one convolution for 2");
		EXPECT_EQ(choice.chosen,
			  choice.candidates[1].cycles < choice.candidates[0].cycles ? 1U : 0U);
		EXPECT_EQ(choice.chosen, taps == 1 ? 1U : 0U);
		EXPECT_EQ(layers.size(), taps == 1 ? 1U : 3U);
	}
}

TEST(Joined, StaysApartWhereItIsNeeded)
{
	const JoinedCase plain{ "", ElementType::Int8, { { 20 }, { 11 } } };
	const auto staysApart = [](const JoinedModel &made) {
		const auto compiled = compileWith(made.model, Choice::Auto);
		EXPECT_TRUE(compiled) << compiled.error().message();
		const auto refused = compileWith(made.model, Choice::Always);
		return compiled && compiled->report.layers.size() == made.model.operators.size() &&
		       !refused &&
		       refused.error().message().find("strategy, join") != std::string::npos;
	};
	const auto changed = [&](const std::function<void(JoinedModel &)> &change) {
		JoinedModel made(plain, 4);
		change(made);
		return staysApart(made);
	};
	const auto convOf = [](JoinedModel &made, size_t i) -> Convolution & {
		return std::get<Convolution>(made.model.operators[i].kind);
	};

	EXPECT_FALSE(changed([](JoinedModel &) {}));
	EXPECT_TRUE(changed(
		[](JoinedModel &made) { made.model.outputs.push_back(made.idOf("branch1")); }));
	EXPECT_TRUE(changed([&](JoinedModel &made) { convOf(made, 1).activation.low = 0; }));
	EXPECT_TRUE(changed([](JoinedModel &made) {
		made.model.values[made.idOf("branch0")].quantization = Quantization{ 1.0 / 7, 0 };
	}));
	EXPECT_TRUE(changed([](JoinedModel &made) { made.model.operators[1].inputs.pop_back(); }));
	/* Scales of one layer have the same shift. */
	EXPECT_TRUE(changed([](JoinedModel &made) {
		std::vector<Quantization> small(11, { 1.0 / 150 / 4096, 0 });
		made.model.values[made.idOf("branch1 kernels")].quantization =
			TensorQuantization(small);
	}));
}

} /* namespace nvdla::test */
