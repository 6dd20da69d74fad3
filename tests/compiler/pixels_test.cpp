/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of inputs of few channels, as pixels and as they are otherwise.
 */
#include <algorithm>
#include <iostream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "core_run.h"
#include "fuzz_rounds.h"
#include "random_generator.h"

namespace nvdla::test
{

namespace
{

using namespace compiler;

/* One or two convolutions of an input, of any windows and quantizations. */
class PixelModel
{
public:
	explicit PixelModel(uint32_t seed) : random_(seed)
	{
		const bool wide = chance(20);

		type_ = wide ? ElementType::Int16 : ElementType::Int8;
		n_ = chance(25) ? from(2, 3) : 1;
		c_ = from(1, 4);
		h_ = from(1, 40);
		w_ = from(1, chance(10) ? 300 : 60);
		x_ = add("x", { n_, h_, w_, c_ }, quantization());
		model.inputs = { x_ };
		if (chance(50))
			model.roundingOf8Bits = ScaleRounding::Once;
		for (uint32_t i = from(1, 2); i-- > 0;)
			addConvolution(fmt::format("{}", i));
	}

	/* Elements of the input. */
	Numbers numbers()
	{
		const int most = type_ == ElementType::Int8 ? 127 : 32767;
		Numbers elements(size_t{ n_ } * c_ * h_ * w_);

		std::ranges::generate(elements, [&] { return integer(-most - 1, most); });
		return elements;
	}

	Model model;
	std::string text;

private:
	uint32_t from(uint32_t low, uint32_t high)
	{
		return std::uniform_int_distribution<uint32_t>(low, high)(random_);
	}
	int integer(int low, int high)
	{
		return std::uniform_int_distribution<int>(low, high)(random_);
	}
	bool chance(uint32_t percent) { return from(1, 100) <= percent; }
	Quantization quantization()
	{
		return type_ == ElementType::Int16
			       ? Quantization{ from(1, 100) / 8192.0, 0 }
			       : Quantization{ from(1, 100) / 512.0, integer(-128, 127) };
	}
	ValueId add(const std::string &name, const Extents &shape, const Quantization &quantization)
	{
		Value value;

		value.name = name;
		value.type = type_;
		value.shape = shape;
		value.batch = n_;
		value.quantization = quantization;
		return model.add(std::move(value));
	}
	ValueId addKernels(const Extents &shape)
	{
		Value value;
		std::vector<Quantization> scales;

		value.name = "kernels";
		value.type = ElementType::Int8;
		value.shape = shape;
		value.isConstant = true;
		for (uint32_t k = 0; k < shape.front(); k++)
			scales.push_back({ from(1, 20) / 4096.0, 0 });
		value.quantization = TensorQuantization(std::move(scales));
		std::vector<std::byte> elements;
		for (uint64_t i = elementCount(shape); i-- > 0;)
			store<int8_t>(elements, integer(-127, 127));
		value.data = std::move(elements);
		return model.add(std::move(value));
	}
	void addConvolution(const std::string &name)
	{
		const uint32_t k = from(1, 40);
		const uint32_t r = from(1, std::min(h_, 11U)), s = from(1, std::min(w_, 11U));
		Convolution conv{ .stride = { from(1, 4), from(1, 4) },
				  .padding = { from(0, s - 1), from(0, s - 1), from(0, r - 1),
					       from(0, r - 1) } };
		const uint32_t lines =
			(h_ + conv.padding.top + conv.padding.bottom - r) / conv.stride.y + 1;
		const uint32_t columns =
			(w_ + conv.padding.left + conv.padding.right - s) / conv.stride.x + 1;
		if (chance(30))
			conv.activation = { 0, 6 };
		const ValueId kernels = addKernels({ k, c_, r, s });
		const ValueId y = add("y" + name, { n_, lines, columns, k }, quantization());
		model.operators.push_back(
			{ "conv" + name, "CONV_2D", conv, { x_, kernels }, { y } });
		model.outputs.push_back(y);
		text += fmt::format("{} {} x {} x {} x {}, {} kernels of {} x {}, stride {} x {}, "
				    "padding {} {} {} {}\n",
				    elementTypeName(type_), n_, c_, h_, w_, k, s, r, conv.stride.x,
				    conv.stride.y, conv.padding.left, conv.padding.right,
				    conv.padding.top, conv.padding.bottom);
	}

	std::mt19937 random_;
	ElementType type_;
	uint32_t n_, c_, h_, w_;
	ValueId x_;
};

/* The outputs, and the input's format. */
struct PixelRun {
	std::vector<Numbers> outputs;
	PixelFormat format = PixelFormat::Feature;
};

Result<PixelRun> runWith(Choice pixels, const Model &model, const Numbers &input)
{
	CompileOptions options;

	options.strategy = Strategy{ .pixels = pixels };
	auto compiled = compileInMemory(model, options);
	if (!compiled)
		return forward(compiled);
	auto run = CoreRun::load(model, compiled->loadable);
	if (!run)
		return forward(run);
	auto outputs = run->run({ input });
	if (!outputs)
		return forward(outputs);
	return PixelRun{ std::move(*outputs), compiled->loadable.inputs()->front().format };
}

} /* namespace */

TEST(Pixels, AreTheSameNumbers)
{
	constexpr uint32_t first = 1;
	const auto last = static_cast<uint32_t>(first + 150 * fuzzRounds());
	size_t taken = 0, batches = 0;

	std::cout << "seeds " << first << " to " << last - 1 << '\n';
	for (uint32_t seed = first; seed < last; seed++) {
		PixelModel made(seed);
		const Numbers input = made.numbers();
		SCOPED_TRACE(fmt::format("seed {}: {}", seed, made.text));
		const auto plain = runWith(Choice::Never, made.model, input);
		const auto chosen = runWith(Choice::Auto, made.model, input);
		ASSERT_TRUE(plain) << plain.error().message();
		ASSERT_TRUE(chosen) << chosen.error().message();
		EXPECT_EQ(plain->format, PixelFormat::Feature);
		taken += chosen->format != PixelFormat::Feature;
		batches += chosen->format != PixelFormat::Feature &&
			   made.model.values.front().batch > 1;
		EXPECT_EQ(plain->outputs, chosen->outputs);
	}
	EXPECT_GT(taken, (last - first) / 2);
	EXPECT_GT(batches, (last - first) / 20);
}

/* What cannot be read as pixels is not, and is an error if it is to be. */
TEST(Pixels, AreNotForced)
{
	PixelModel made(1);
	EXPECT_TRUE(runWith(Choice::Always, made.model, made.numbers()));

	Model model;
	for (const auto &[name, side] : { std::pair("x", 8U), std::pair("y", 4U) }) {
		Value value;
		value.name = name;
		value.type = ElementType::Int8;
		value.shape = { 1, side, side, 3 };
		value.quantization = Quantization{ 0.5, 0 };
		model.add(std::move(value));
	}
	model.operators = { { "pool",
			      "MAX_POOL_2D",
			      Pool{ .kernel = { 2, 2 }, .stride = { 2, 2 } },
			      { 0 },
			      { 1 } } };
	model.inputs = { 0 };
	model.outputs = { 1 };
	const auto forced = runWith(Choice::Always, model, Numbers(8 * 8 * 3));
	ASSERT_FALSE(forced);
	EXPECT_NE(forced.error().message().find("strategy, pixels"), std::string::npos)
		<< forced.error().message();
}

} /* namespace nvdla::test */
