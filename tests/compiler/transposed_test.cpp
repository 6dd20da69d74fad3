/* SPDX-License-Identifier: MIT */
/*
 * Transposed convolutions of few lines and columns, some of whose phases are single elements, or
 * read one.
 */
#include <random>

#include <gtest/gtest.h>

#include "core_run.h"

namespace nvdla::test
{

namespace
{

using namespace compiler;

/* Sizes along an axis. */
struct SmallAxis {
	uint32_t in, kernel, stride, before, after;

	uint32_t sums() const { return (in - 1) * stride + kernel; }
	uint32_t out() const { return sums() - before - after; }
};

SmallAxis smallAxis(std::mt19937_64 &random)
{
	auto from = [&](uint32_t low, uint32_t high) {
		return std::uniform_int_distribution<uint32_t>(low, high)(random);
	};
	SmallAxis axis{ from(1, 3), from(1, 4), from(1, 3), 0, 0 };

	axis.before = from(0, axis.sums() - 1);
	axis.after = from(0, axis.sums() - 1 - axis.before);
	return axis;
}

Value smallNumbers(const Extents &shape, std::mt19937_64 &random)
{
	std::vector<double> numbers;

	for (uint64_t i = 0; i < elementCount(shape); i++)
		numbers.push_back(std::uniform_int_distribution<int>(-8, 8)(random));
	return floatConstant(numbers, shape);
}

TEST(TransposedConvolution, OfFewElements)
{
	for (uint32_t seed = 1; seed <= 300; seed++) {
		std::mt19937_64 random(seed);
		const SmallAxis y = smallAxis(random), x = smallAxis(random);
		const uint32_t c = seed % 40 + 1, k = seed % 23 + 1;
		SCOPED_TRACE(testing::Message()
			     << "seed " << seed << ", lines: " << y.in << " by " << y.kernel
			     << ", stride " << y.stride << ", less " << y.before << " and "
			     << y.after << "; columns: " << x.in << " by " << x.kernel
			     << ", stride " << x.stride << ", less " << x.before << " and "
			     << x.after);
		Model model;
		Value input = smallNumbers({ 1, y.in, x.in, c }, random);
		const Numbers numbers = rawNumbers(input);
		input.isConstant = false;
		input.data = {};
		input.name = "x";
		model.values = { input, smallNumbers({ k, c, y.kernel, x.kernel }, random), {} };
		model.values[2].name = "y";
		model.values[2].shape = { 1, y.out(), x.out(), k };
		model.operators.push_back(
			{ "y",
			  "TRANSPOSE_CONV",
			  compiler::TransposedConvolution{ { x.stride, y.stride },
							   { x.before, x.after, y.before, y.after },
							   {} },
			  { 0, 1 },
			  { 2 } });
		model.inputs = { 0 };
		model.outputs = { 2 };
		auto run = CoreRun::of(model);
		if (!run) {
			ADD_FAILURE() << run.error().message();
			continue;
		}
		const auto outputs = run->run({ numbers });
		ASSERT_TRUE(outputs) << outputs.error().message();
		const Numbers wanted = evaluate(model, { numbers })[2];
		ASSERT_EQ(outputs->front().size(), wanted.size());
		/* Whole numbers up to 4096, of which FP16 rounds the last bit. */
		for (size_t i = 0; i < wanted.size(); i++)
			EXPECT_NEAR(outputs->front()[i], wanted[i], 1);
	}
}

} /* namespace */

} /* namespace nvdla::test */
