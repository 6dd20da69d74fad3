/* SPDX-License-Identifier: MIT */
#include <random>

#include <gtest/gtest.h>

#include "base/number/requantization.h"

namespace nvdla::test
{

TEST(Requantization, MakesTheIntegersOfTheOtherQuantization)
{
	const IntegerLimits limits = integerLimits(8U);
	std::mt19937 random(1);
	std::uniform_real_distribution<double> scale(0.01, 1);
	std::uniform_int_distribution<int32_t> zero(-128, 127);
	unsigned int found = 0;

	for (int round = 0; round < 1000; round++) {
		const Quantization from{ scale(random), zero(random) };
		const Quantization to{ scale(random), zero(random) };
		const auto made = requantization(from, to);
		if (!made)
			continue;
		found++;
		for (int64_t q = limits.lowest; q <= limits.highest; q++)
			EXPECT_EQ((*made)(q),
				  to.quantize(from.real(static_cast<double>(q)), limits))
				<< "round " << round << ", " << q;
	}
	/* Others have a product next to a half. */
	EXPECT_GE(found, 950U);
}

TEST(Requantization, TakesFewBits)
{
	const auto half = requantization({ 0.25, -128 }, { 0.5, 3 });
	ASSERT_TRUE(half);
	EXPECT_EQ(half->multiply, 1);
	EXPECT_EQ(half->shift, 1);
	const auto same = requantization({ 0.25, -128 }, { 0.25, 3 });
	ASSERT_TRUE(same);
	EXPECT_EQ(same->multiply, 1);
	EXPECT_EQ(same->shift, 0);
}

/* 0.4999 has one zero behind the point: halves are what the first rounding leaves. */
TEST(Requantization, RoundsTwice)
{
	EXPECT_EQ(multipliedTwice(1, 0.4999), 1);
	EXPECT_EQ(multipliedTwice(2, 0.4999), 1);
	EXPECT_EQ(multipliedTwice(-3, 0.4999), -2);
	EXPECT_EQ(multipliedTwice(3, -0.4999), -2);
	EXPECT_EQ(multipliedTwice(1, 0.5001), 1);
	EXPECT_EQ(multipliedTwice(255, 1e300), INT64_MAX >> 2);
	EXPECT_EQ(roundedTwice(0.375, 1), 1);
	EXPECT_EQ(roundedTwice(0.374, 1), 1);
	EXPECT_EQ(roundedTwice(0.249, 1), 0);
}

} /* namespace nvdla::test */
