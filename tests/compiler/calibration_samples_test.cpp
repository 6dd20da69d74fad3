/* SPDX-License-Identifier: MIT */
/*
 * How often calibration runs the float model with a sample: that takes most of its time. Copies of
 * constants would take most of its memory.
 */
#include <limits>

#include <gtest/gtest.h>

#include "compiler/compile.h"

namespace nvdla::test
{

namespace
{

using compiler::Extents;
using compiler::Model;

/* One function of an input of \a shape. */
Model sigmoidOf(const Extents &shape)
{
	Model model;
	compiler::Value value;

	value.name = "x";
	value.shape = shape;
	model.inputs = { model.add(value) };
	value.name = "y";
	model.outputs = { model.add(value) };
	model.operators.push_back({ "y", "LOGISTIC",
				    compiler::Unary{ compiler::Unary::Function::Logistic },
				    model.inputs, model.outputs });
	return model;
}

} /* namespace */

/* For the ranges and for the errors of layers; a histogram needs the ranges first. */
TEST(CalibrationSamples, AreReadTwice)
{
	for (const auto &[method, times] :
	     { std::pair(RangeMethod::MinMax, 2U), std::pair(RangeMethod::PowersOfTwo, 2U),
	       std::pair(RangeMethod::Percentile, 3U), std::pair(RangeMethod::Entropy, 3U) }) {
		Model model = sigmoidOf({ 1, 2, 2, 1 });
		size_t reads = 0;
		const Calibration calibration{ .samples = { {}, {}, {} }, .method = method };
		auto errors = calibrate(model, calibration, [&](size_t sample) {
			reads++;
			const std::vector<float> x = { static_cast<float>(sample), 1, -2, 3 };
			return std::vector<std::vector<float>>{ x };
		});
		ASSERT_TRUE(errors) << errors.error().message();
		EXPECT_EQ(reads, 3 * times);
	}
}

/* The samples of a model that no ranges make possible, which the host may have to compute. */
TEST(CalibrationSamples, AreNotReadOfARefusedModel)
{
	const float nan = std::numeric_limits<float>::quiet_NaN();
	const std::vector<float> spoilt(2 * 2 * 2 * 2 * 2, nan);
	auto compiled = compiler::compileInMemory(
		sigmoidOf({ 2, 2, 2, 2, 2 }),
		{ .calibration = Calibration{ .samples = { { spoilt } } } });

	ASSERT_FALSE(compiled);
	EXPECT_EQ(compiled.error().code, ErrorCode::Unsupported) << compiled.error().message();
}

/* Of the float model and the integer model. */
TEST(CalibrationSamples, ModelsShareConstants)
{
	const Model real{ .values = { { .shape = { 1, 2 } },
				      compiler::floatConstant({ 3, 4 }, { 1, 2 }),
				      { .shape = { 1, 1 } } },
			  .operators = { { "y", "", compiler::FullyConnected{}, { 0, 1 }, { 2 } } },
			  .inputs = { 0 },
			  .outputs = { 2 } };
	Model integers = real;

	ASSERT_TRUE(calibrate(integers, { .samples = { { { 1, 2 } } } }));
	EXPECT_EQ(integers.values[1].data.data(), real.values[1].data.data());
	EXPECT_NE(integers.operators[0].inputs[1], 1U);
	EXPECT_EQ(realNumbers(real.values[1]), (std::vector<double>{ 3, 4 }));
}

} /* namespace nvdla::test */
