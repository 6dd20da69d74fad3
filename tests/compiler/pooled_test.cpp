/* SPDX-License-Identifier: MIT */
/*
 * Poolings of what was concatenated, as a concatenation of what was pooled.
 */
#include <algorithm>
#include <functional>
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

constexpr uint32_t lines = 13, columns = 11, channels = 8;

struct PooledCase {
	const char *what;
	ElementType type = ElementType::Int8;
	std::vector<uint32_t> kernels = { 40, 32 }; /* of the convolutions */
	uint32_t other = 0; /* channels of a part that no convolution makes */
	Pool pool = { .kernel = { 3, 3 }, .stride = { 2, 2 } };
	bool alike = false; /* the parts' integers are the concatenation's */
};

/* Convolutions of one input, concatenated, pooled. */
class PooledModel
{
public:
	PooledModel(const PooledCase &one, uint32_t seed) : case_(one), random_(seed)
	{
		const ValueId x =
			tensor("x", { 1, lines, columns, channels }, Quantization{ 1.0 / 30, 5 });
		std::vector<ValueId> parts;
		uint32_t c = one.other;

		model.inputs = { x };
		for (const uint32_t kernels : one.kernels) {
			const auto number = static_cast<double>(parts.size());
			const std::string name = fmt::format("part{}", parts.size());
			const Quantization own = { 1.0 / (55 + 9 * number), -128 };
			parts.push_back(tensor(name, { 1, lines, columns, kernels },
					       one.alike ? whole_ : own));
			c += kernels;
			convolve(name, x, parts.back(), kernels);
		}
		if (one.other) {
			parts.push_back(tensor("other", { 1, lines, columns, one.other }, whole_));
			model.inputs.push_back(parts.back());
		}
		const ValueId whole = tensor("whole", { 1, lines, columns, c }, whole_);
		const Pool &pool = one.pool;
		const auto windows = [](uint32_t in, uint32_t before, uint32_t after, uint32_t size,
					uint32_t stride) {
			return (in + before + after - size) / stride + 1;
		};
		const ValueId pooled =
			tensor("pooled",
			       { 1,
				 windows(lines, pool.padding.top, pool.padding.bottom,
					 pool.kernel.y, pool.stride.y),
				 windows(columns, pool.padding.left, pool.padding.right,
					 pool.kernel.x, pool.stride.x),
				 c },
			       whole_);
		model.operators.push_back(
			{ "whole", "Concat", Concatenation{ 3, {} }, parts, { whole } });
		model.operators.push_back({ "pooled", "MaxPool", pool, { whole }, { pooled } });
		model.outputs = { pooled };
		model.roundingOf8Bits = ScaleRounding::Once;
		for (const ValueId id : model.inputs)
			inputs.push_back(numbers(elementCount(model.values[id].shape)));
	}

	ValueId idOf(const std::string &name) const
	{
		return static_cast<ValueId>(std::ranges::find(model.values, name, &Value::name) -
					    model.values.begin());
	}

	Model model;
	std::vector<Numbers> inputs;

private:
	ValueId tensor(const std::string &name, const Extents &shape,
		       const Quantization &quantization)
	{
		Value value;

		value.name = name;
		value.type = case_.type;
		value.shape = shape;
		if (!isFloat(case_.type))
			value.quantization = quantization;
		return model.add(std::move(value));
	}
	void convolve(const std::string &name, ValueId x, ValueId y, uint32_t kernels)
	{
		const Extents shape{ kernels, channels, 1, 1 };
		const Numbers all = numbers(elementCount(shape));
		const Clamp activation = model.operators.empty() ? Clamp{ .low = 0 } : Clamp{};
		Value weights;

		weights.name = name + " kernels";
		weights.type = ElementType::Int8;
		weights.shape = shape;
		weights.isConstant = true;
		weights.quantization = Quantization{ 1.0 / 200, 0 };
		std::vector<std::byte> elements;
		for (const double number : all)
			elements.push_back(static_cast<std::byte>(static_cast<int8_t>(number)));
		weights.data = std::move(elements);
		if (isFloat(case_.type))
			weights = floatConstant(all, shape);
		model.operators.push_back({ name,
					    "Conv",
					    Convolution{ .activation = activation },
					    { x, model.add(std::move(weights)) },
					    { y } });
	}
	Numbers numbers(size_t count)
	{
		std::uniform_int_distribution<int> integers(-128, 127);
		const double step = isFloat(case_.type) ? 1.0 / 64 : 1;
		Numbers all(count);

		std::ranges::generate(all, [&] { return integers(random_) * step; });
		return all;
	}

	static constexpr Quantization whole_{ 1.0 / 41.7, -128 };

	PooledCase case_;
	std::mt19937 random_;
};

struct PooledRun {
	std::vector<Numbers> outputs;
	std::vector<LayerReport> layers;
};

PooledRun runPooled(const PooledModel &made)
{
	const auto compiled = compileInMemory(made.model);

	if (!compiled) {
		ADD_FAILURE() << compiled.error().message();
		return {};
	}
	auto run = CoreRun::load(made.model, compiled->loadable);
	auto outputs = run ? run->run(made.inputs) : forward(run);
	EXPECT_TRUE(outputs) << outputs.error().message();
	return { outputs ? *outputs : std::vector<Numbers>{}, compiled->report.layers };
}

size_t poolingsOf(const PooledRun &run)
{
	return static_cast<size_t>(std::ranges::count(run.layers, "MaxPool", &LayerReport::type));
}

const PooledCase pooledCases[] = {
	{ "other integers" },
	{ .what = "the same integers", .alike = true },
	{ .what = "parts within atoms", .kernels = { 20, 9, 40 } },
	{ .what = "something else behind", .kernels = { 40 }, .other = 32 },
	{ .what = "padding", .pool = { Pool::Method::Max, { 3, 3 }, { 2, 2 }, { 1, 1, 1, 1 } } },
	{ .what = "least", .pool = { Pool::Method::Min, { 2, 2 }, { 1, 1 }, {} } },
	{ .what = "FP16", .type = ElementType::Float32, .kernels = { 16, 40 } },
};

} /* namespace */

/* With all tensors to be seen, what was concatenated is there as well. */
TEST(Pooled, PartsMakeTheSame)
{
	for (const PooledCase &one : pooledCases) {
		SCOPED_TRACE(one.what);
		PooledModel made(one, 1);
		const PooledRun apart = runPooled(made);
		CompileOptions options;
		options.everyTensor = true;
		const auto all = compileInMemory(made.model, options);
		ASSERT_TRUE(all) << all.error().message();
		EXPECT_EQ(std::ranges::count(all->report.layers, "Concat", &LayerReport::type), 2);
		made.model.outputs.push_back(made.idOf("whole"));
		const PooledRun whole = runPooled(made);
		EXPECT_EQ(poolingsOf(whole), 1U);
		EXPECT_EQ(poolingsOf(apart), one.kernels.size() + (one.other > 0));
		EXPECT_EQ(apart.outputs[0], whole.outputs[0]);
	}
}

TEST(Pooled, StaysBehindWhereItIsNeeded)
{
	const auto poolings = [](const std::function<void(PooledModel &)> &change) {
		PooledModel made({ "" }, 3);
		change(made);
		return poolingsOf(runPooled(made));
	};
	const auto poolOf = [](PooledModel &made) -> Pool & {
		return std::get<Pool>(made.model.operators.back().kind);
	};

	EXPECT_EQ(poolings([](PooledModel &) {}), 2U);
	EXPECT_EQ(poolings([](PooledModel &made) {
			  made.model.outputs.push_back(made.idOf("whole"));
		  }),
		  1U);
	EXPECT_EQ(poolings([&](PooledModel &made) { poolOf(made).activation.low = 1; }), 1U);
	EXPECT_EQ(poolings([&](PooledModel &made) { poolOf(made).method = Pool::Method::Average; }),
		  1U);
	EXPECT_EQ(poolings([](PooledModel &made) {
			  for (const char *part : { "part0", "part1" })
				  made.model.outputs.push_back(made.idOf(part));
		  }),
		  1U);
}

} /* namespace nvdla::test */
