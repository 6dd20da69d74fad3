/* SPDX-License-Identifier: MIT */
/*
 * Random ONNX files on the core against ONNX Runtime: what is accepted is right, and what is
 * refused is not called invalid.
 *
 * NVDLA_RANDOM_MODELS is the number of files of each kind; NVDLA_RANDOM_SEED the first one's seed.
 */
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "compiler/import/import.h"
#include "core_run.h"
#include "random_onnx.h"
#include "session.h"

namespace nvdla::test
{

namespace
{

unsigned long numberOf(const char *variable, unsigned long usual)
{
	const char *text = std::getenv(variable);

	return text ? std::strtoul(text, nullptr, 10) : usual;
}

class RandomModels : public testing::Test
{
protected:
	using Make = RandomOnnx (*)(std::mt19937_64 &);

	void check(Make make, unsigned long usualCount);

	Runtime runtime;
	std::map<std::string, unsigned> refusals;
	unsigned right = 0;

private:
	void checkOne(const RandomOnnx &made);
	void compare(const RandomOnnx &made, size_t output, const Numbers &got,
		     const Numbers &wanted, Session &session);
};

double largestDifference(const Numbers &one, const Numbers &other)
{
	double largest = 0;

	for (size_t i = 0; i < one.size(); i++) {
		const double distance = std::fabs(one[i] - other[i]);
		/* Written so that a NaN counts. */
		if (!(distance <= largest))
			largest = distance;
	}
	return largest;
}

std::vector<Array> arraysOf(const RandomOnnx &made, double factor = 1)
{
	std::vector<Array> arrays;

	for (const Numbers &numbers : made.inputs) {
		arrays.push_back({ "<f4", numbers });
		for (size_t i = 0; i < numbers.size(); i++)
			arrays.back().numbers[i] *= i % 2 ? factor : 1 / factor;
	}
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
	constexpr double halfRounding = 1 + 0x1p-11;
	ASSERT_EQ(got.size(), wanted.size());
	const double step = made.steps[output];
	const double largest = largestDifference(got, wanted);
	const auto [low, high] = std::minmax_element(wanted.begin(), wanted.end());
	const double range = std::max(*high, 0.0) - std::min(*low, 0.0);
	double allowed = step > 0 ? step * 1.01 : std::max(range, 1e-3) * 0.01;

	if (step == 0 && largest > allowed) {
		const std::vector<Array> rounded = session.run(arraysOf(made, halfRounding));
		allowed = std::max(allowed, 4 * largestDifference(rounded[output].numbers, wanted));
	}
	EXPECT_LE(largest, allowed) << "output " << output << " of a range of " << range;
}

void RandomModels::checkOne(const RandomOnnx &made)
{
	Session session(runtime, made.file, nullptr, false);
	ASSERT_EQ(session.error(), "");
	const std::vector<Array> wanted = session.run(arraysOf(made));

	EXPECT_TRUE(supportedOperators(made.file));
	auto model = compiler::importOnnx(made.file);
	ASSERT_TRUE(model) << model.error().message();
	auto run = CoreRun::of(*model);
	if (!run) {
		EXPECT_NE(run.error().code, ErrorCode::InvalidFile) << run.error().message();
		refusals[run.error().why.substr(0, 90)]++;
		return;
	}
	const auto got = run->run(made.inputs);
	ASSERT_TRUE(got) << got.error().message();
	ASSERT_EQ(got->size(), wanted.size());
	for (size_t i = 0; i < wanted.size(); i++) {
		EXPECT_EQ(compiler::elementCount(model->outputShapes[i]), wanted[i].numbers.size());
		compare(made, i, (*got)[i], wanted[i].numbers, session);
	}
	right++;
}

void RandomModels::check(Make make, unsigned long usualCount)
{
	const unsigned long count = numberOf("NVDLA_RANDOM_MODELS", usualCount);
	const unsigned long first = numberOf("NVDLA_RANDOM_SEED", 1);

	for (unsigned long seed = first; seed < first + count; seed++) {
		std::mt19937_64 random(seed);
		const RandomOnnx made = make(random);
		SCOPED_TRACE(fmt::format("NVDLA_RANDOM_SEED={}: {}", seed, made.description));
		checkOne(made);
	}
	for (const auto &[why, times] : refusals)
		std::cout << times << " refused: " << why << '\n';
	std::cout << right << " of " << count << " were compared\n";
	/* A generator of what is refused tests nothing. */
	EXPECT_GT(right, count * 7 / 10);
}

TEST_F(RandomModels, FloatsAreOnnxRuntimes)
{
	check(randomOnnx, 300);
}

TEST_F(RandomModels, QuantizedOnesAreOnnxRuntimes)
{
	check(randomQuantizedOnnx, 100);
}

} /* namespace */

} /* namespace nvdla::test */
