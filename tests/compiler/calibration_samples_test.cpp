/* SPDX-License-Identifier: MIT */
/*
 * How often calibration runs the float model with a sample: that takes most of its time.
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

} /* namespace nvdla::test */
