/* SPDX-License-Identifier: MIT */
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>

#include <gtest/gtest.h>

#include "core_run.h"
#include "random_operator.h"

namespace nvdla::test
{

namespace
{

using compiler::ElementType;

constexpr uint32_t firstSeed = 1;

/* NVDLA_OPERATOR_SEED runs one seed alone. */
void checkSeeds(ElementType type, uint32_t count,
		const std::function<void(const Numbers &, const Numbers &)> &compare)
{
	const char *only = std::getenv("NVDLA_OPERATOR_SEED");
	const auto first =
		only ? static_cast<uint32_t>(std::strtoul(only, nullptr, 10)) : firstSeed;
	const uint32_t last = only ? first : firstSeed + count - 1;

	std::cout << "seeds " << first << " to " << last << '\n';
	for (uint32_t seed = first; seed <= last; seed++) {
		std::mt19937_64 random(seed);
		const RandomOperator made = randomOperator(random, type);
		const compiler::Model &model = made.model;
		std::string shapes;
		for (const compiler::Value &value : model.values)
			shapes += value.name + " " + compiler::toString(value.shape) + "; ";
		SCOPED_TRACE("NVDLA_OPERATOR_SEED=" + std::to_string(seed) + ", kind " +
			     std::to_string(model.operators.front().kind.index()) + ", " + shapes);
		auto loadable = compile(model);
		ASSERT_TRUE(loadable) << loadable.error().message();
		auto run = CoreRun::load(model, *loadable);
		ASSERT_TRUE(run) << run.error().message();
		auto outputs = run->run(made.inputs);
		ASSERT_TRUE(outputs) << outputs.error().message();
		const auto wanted = evaluate(model, made.inputs)[model.outputs.front()];
		ASSERT_EQ(outputs->front().size(), wanted.size());
		compare(outputs->front(), wanted);
	}
}

TEST(RandomOperator, Int8IsWithinAStep)
{
	checkSeeds(ElementType::Int8, 250, [](const Numbers &got, const Numbers &wanted) {
		size_t beyond = 0;
		double largest = 0;
		for (size_t i = 0; i < wanted.size(); i++) {
			const double distance = std::fabs(got[i] - wanted[i]);
			beyond += distance > 1;
			largest = std::max(largest, distance);
		}
		EXPECT_LE(beyond, wanted.size() / 100);
		EXPECT_LE(largest, 2);
	});
}

TEST(RandomOperator, Int16IsWithinAThousandthOfTheRange)
{
	checkSeeds(ElementType::Int16, 150, [](const Numbers &got, const Numbers &wanted) {
		double largest = 0;
		for (size_t i = 0; i < wanted.size(); i++)
			largest = std::max(largest, std::fabs(got[i] - wanted[i]));
		EXPECT_LE(largest, 65536 * 1e-3);
	});
}

TEST(RandomOperator, FloatIsWithinAHundredthOfTheRange)
{
	checkSeeds(ElementType::Float32, 150, [](const Numbers &got, const Numbers &wanted) {
		double largest = 0, low = 0, high = 0;
		for (size_t i = 0; i < wanted.size(); i++) {
			const double distance = std::fabs(got[i] - wanted[i]);
			/* Written so that a NaN counts. */
			if (!(distance <= largest))
				largest = distance;
			low = std::min(low, wanted[i]);
			high = std::max(high, wanted[i]);
		}
		EXPECT_LE(largest, std::max(high - low, 1e-3) * 0.01);
	});
}

} /* namespace */

} /* namespace nvdla::test */
