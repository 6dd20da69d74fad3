/* SPDX-License-Identifier: MIT */
/*
 * Random ONNX files on the core against ONNX Runtime: what is accepted is right, and what is
 * refused is not called invalid.
 *
 * NVDLA_RANDOM_MODELS is the number of files of each kind; NVDLA_RANDOM_SEED the first one's seed.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "agreement.h"
#include "compiler/import/import.h"
#include "core_run.h"
#include "onnx_builder.h"
#include "random_files.h"
#include "random_onnx.h"
#include "session.h"

namespace nvdla::test
{

namespace
{

/* 15680 inputs: a kernel group exceeds the convolution buffer. */
RandomOnnx largeProduct(std::mt19937_64 &random, bool isQuantized)
{
	constexpr int64_t channels = 320, kernels = 40, inputs = channels * 7 * 7;
	constexpr float step = 0.03125f, weight = 0.0078125f, made = 4.0f;
	OnnxBuilder model;
	std::uniform_int_distribution<int> any(-127, 127);
	std::vector<int32_t> weights(kernels * inputs);
	std::vector<float> reals, bias;
	RandomOnnx all{ {}, { Numbers() }, "large product", { isQuantized ? made : 0 } };

	for (int32_t &number : weights)
		reals.push_back(static_cast<float>(number = any(random)) * weight);
	for (int64_t k = 0; k < kernels; k++)
		bias.push_back(static_cast<float>(any(random)) * 0.25f);
	for (int64_t i = 0; i < inputs; i++)
		all.inputs[0].push_back(any(random) * step);
	model.input("x", { 1, channels, 7, 7 });
	model.floats("bias", { kernels }, bias);
	model.floats("step", {}, { step });
	model.floats("weight", {}, { weight });
	model.floats("made", {}, { made });
	model.integers("zero", {}, { 3 });
	model.integers("none", {}, { 0 });
	if (isQuantized) {
		model.integers("integers", { kernels, inputs }, weights);
		model.node("QuantizeLinear", { "x", "step", "zero" }, "q");
		model.node("DequantizeLinear", { "q", "step", "zero" }, "r");
		model.node("DequantizeLinear", { "integers", "weight", "none" }, "kernels");
	} else {
		model.floats("kernels", { kernels, inputs }, reals);
	}
	model.node("Flatten", { isQuantized ? "r" : "x" }, "flat");
	OnnxBuilder::setInteger(model.node("Gemm", { "flat", "kernels", "bias" }, "sums"), "transB",
				1);
	if (isQuantized) {
		model.node("QuantizeLinear", { "sums", "made", "zero" }, "p");
		model.node("DequantizeLinear", { "p", "made", "zero" }, "y");
	}
	model.output(isQuantized ? "y" : "sums");
	all.file = model.file();
	return all;
}

class RandomModels : public testing::Test
{
protected:
	using Make = RandomOnnx (*)(std::mt19937_64 &);

	void check(Make make, unsigned long usualCount);
	void checkOne(const RandomOnnx &made, RandomFiles &files);

	Runtime runtime;

private:
	void compare(const RandomOnnx &made, size_t output, const Numbers &got,
		     const Numbers &wanted, Session &session);
};

std::vector<Array> arraysOf(const RandomOnnx &made)
{
	std::vector<Array> arrays;

	for (const Numbers &numbers : made.inputs)
		arrays.push_back({ "<f4", numbers });
	return arrays;
}

/*
 * Quantized: a step, as rounding may go either way. Float: a hundredth of the range; of what nearly
 * cancels out, eight times what FP16's rounding of the inputs alone makes of it, as constants and
 * results are rounded, too.
 */
void RandomModels::compare(const RandomOnnx &made, size_t output, const Numbers &got,
			   const Numbers &wanted, Session &session)
{
	ASSERT_EQ(got.size(), wanted.size());
	const double step = made.steps[output];
	const double largest =
		difference(got, step > 0 ? wanted : saturatedAsHalf(wanted), 0).largest;
	const double range = rangeOf(wanted);
	double allowed = step > 0 ? step * 1.01 : std::max(range, 1e-3) * 0.01;

	if (step == 0 && largest > allowed) {
		std::vector<Array> inputs = arraysOf(made);
		for (Array &input : inputs)
			moveByHalfRounding(input.numbers);
		const std::vector<Array> rounded = session.run(inputs);
		allowed = std::max(allowed,
				   4 * difference(rounded[output].numbers, wanted, 0).largest);
	}
	EXPECT_LE(largest, allowed) << "output " << output << " of a range of " << range;
}

void RandomModels::checkOne(const RandomOnnx &made, RandomFiles &files)
{
	Session session(runtime, made.file, nullptr, false);
	ASSERT_EQ(session.error(), "");
	const std::vector<Array> wanted = session.run(arraysOf(made));

	EXPECT_TRUE(supportedOperators(made.file));
	auto model = compiler::importOnnx(made.file);
	ASSERT_TRUE(model) << model.error().message();
	auto run = CoreRun::of(*model);
	if (!run) {
		files.refuse(run.error());
		return;
	}
	const auto got = run->run(made.inputs);
	ASSERT_TRUE(got) << got.error().message();
	ASSERT_EQ(got->size(), wanted.size());
	for (size_t i = 0; i < wanted.size(); i++) {
		EXPECT_EQ(compiler::elementCount(model->outputsInFile[i].shape),
			  wanted[i].numbers.size());
		compare(made, i, (*got)[i], wanted[i].numbers, session);
	}
	files.compared++;
}

void RandomModels::check(Make make, unsigned long usualCount)
{
	RandomFiles files(usualCount);

	for (unsigned long seed = files.first; seed < files.first + files.count; seed++) {
		std::mt19937_64 random(seed);
		const RandomOnnx made = make(random);
		SCOPED_TRACE(fmt::format("NVDLA_RANDOM_SEED={}: {}", seed, made.description));
		checkOne(made, files);
	}
	files.report();
}

TEST_F(RandomModels, FloatsAreOnnxRuntimes)
{
	check(randomOnnx, 300);
}

TEST_F(RandomModels, LargeProductsAreOnnxRuntimes)
{
	for (const bool isQuantized : { false, true }) {
		RandomFiles files(1);
		std::mt19937_64 random(files.first);
		checkOne(largeProduct(random, isQuantized), files);
		EXPECT_EQ(files.compared, 1U) << "refused";
	}
}

TEST_F(RandomModels, QuantizedOnesAreOnnxRuntimes)
{
	check(randomQuantizedOnnx, 100);
}

} /* namespace */

} /* namespace nvdla::test */
