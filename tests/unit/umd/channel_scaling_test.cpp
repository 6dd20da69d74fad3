/* SPDX-License-Identifier: MIT */
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <nvdla/rounding.h>

#include "base/number/channel_scaling.h"
#include "base/number/requantization.h"

namespace nvdla::test
{

namespace
{

/* (x + add << addShift) * multiply >> shift, as a unit of SDP computes it. */
int64_t carryOut(const ChannelScaling::Unit &unit, size_t channel, int64_t x)
{
	const double sum = static_cast<double>(x) + std::ldexp(unit.add[channel], unit.addShift);

	return static_cast<int64_t>(
		integerLimits(32U).saturate(std::ldexp(sum * unit.multiply[channel], -unit.shift)));
}

/* Scales of 16 channels that are up to 64 times as large as each other. */
std::vector<double> scalesOf(std::mt19937 &random, double largest)
{
	std::uniform_real_distribution<double> exponent(-6, 0);
	std::vector<double> scales;

	for (int i = 0; i < 16; i++)
		scales.push_back(largest * std::exp2(exponent(random)));
	return scales;
}

/* What is rounded is the exact product, but for a few millionths of a step. */
TEST(ChannelScaling, ResultsOf8BitsAreThoseOfExactProducts)
{
	constexpr double slack = 4e-6;
	std::mt19937 random(1);
	std::uniform_real_distribution<double> result(-128, 128), largest(-12, -1);

	for (int round = 0; round < 300; round++) {
		const std::vector<double> scales = scalesOf(random, std::exp2(largest(random)));
		std::vector<double> biases;
		for (const double scale : scales)
			biases.push_back(std::round(result(random) / scale));
		const auto scaling = scaleChannels(scales, biases, ScaleRounding::Once, 8);
		ASSERT_TRUE(scaling) << scaling.error().message();
		for (size_t i = 0; i < scales.size(); i++) {
			const auto x = static_cast<int64_t>(std::round(result(random) / scales[i]));
			const double exact = (static_cast<double>(x) + biases[i]) * scales[i];
			const auto got = static_cast<double>(
				carryOut(scaling->x2, i, carryOut(scaling->x1, i, x)));
			EXPECT_LE(std::fabs(got - exact), 0.5 + slack)
				<< "round " << round << ", scale " << scales[i];
		}
	}
}

/* Kernels that are all but zero have such scales. */
TEST(ChannelScaling, TinyScalesLeaveTheOthersTheirSecondRounding)
{
	const std::vector<double> usual{ 0.712345678 / 256, 0.908765432 / 64 };
	std::vector<double> scales = usual;
	scales.push_back(std::ldexp(0.6, -40));
	const std::vector<double> biases(scales.size());
	const auto scaling = scaleChannels(scales, biases, ScaleRounding::Twice, 8, {}, 9000);
	ASSERT_TRUE(scaling) << scaling.error().message();
	ASSERT_EQ(scaling->y.multiply.size(), scales.size());

	for (int64_t x = -9000; x < 9000; x++) {
		for (size_t i = 0; i < scales.size(); i++) {
			int exponent = 0;
			const double fraction = std::frexp(scales[i], &exponent);
			const double product = static_cast<double>(x) * fraction;
			const double once = roundReal(product);
			if (std::fabs(product - once) > 0.5 - 0x1p-10)
				continue;
			const double wanted = roundReal(std::ldexp(once, exponent));
			const auto fine = static_cast<double>(
				carryOut(scaling->x2, i, carryOut(scaling->x1, i, x)));
			const double got = roundReal(
				std::ldexp(fine * scaling->y.multiply[i], -scaling->y.shift));
			EXPECT_EQ(got, wanted) << x << " * " << scales[i];
		}
	}
}

/*
 * Sums of known magnitude lose nothing to a channel with a far smaller scale than the others. Those
 * within 2^-10 of a tie of the first rounding may be rounded either way.
 */
TEST(ChannelScaling, KnownSumsAreRoundedAsTensorFlowLiteDoes)
{
	constexpr double largest = 1 << 18;
	std::mt19937 random(3);
	std::uniform_real_distribution<double> exponent(-18, -5), number(-largest / 2, largest / 2);

	for (int round = 0; round < 100; round++) {
		std::vector<double> scales, biases;
		for (int i = 0; i < 16; i++) {
			scales.push_back(std::exp2(exponent(random)));
			biases.push_back(std::round(number(random)));
		}
		const auto scaling =
			scaleChannels(scales, biases, ScaleRounding::Twice, 8, {}, largest);
		ASSERT_TRUE(scaling) << scaling.error().message();
		for (size_t i = 0; i < 16 * 200; i++) {
			const size_t k = i % 16;
			const auto x = static_cast<int64_t>(number(random));
			const int64_t sum = x + static_cast<int64_t>(biases[k]);
			int power = 0;
			const double product =
				static_cast<double>(sum) * std::frexp(scales[k], &power);
			if (std::fabs(std::fabs(product - std::floor(product)) - 0.5) < 0x1p-10)
				continue;
			const auto fine = static_cast<double>(
				carryOut(scaling->x2, k, carryOut(scaling->x1, k, x)));
			const double got = roundReal(
				std::ldexp(fine * scaling->y.multiply[k], -scaling->y.shift));
			EXPECT_EQ(static_cast<int64_t>(got), multipliedTwice(sum, scales[k]))
				<< "round " << round << ": " << sum << " * " << scales[k];
		}
	}
}

/* The largest numbers saturate behind the multipliers, not within them. */
TEST(ChannelScaling, SumsThatAreTooLargeStayLarge)
{
	for (const unsigned bits : { 8U, 16U }) {
		const double scale = std::ldexp(1, -8), highest = std::ldexp(1, bits - 1) - 1;
		const auto scaling = scaleChannels(std::vector{ scale }, std::vector{ 0.0 },
						   ScaleRounding::Once, bits);
		ASSERT_TRUE(scaling);
		for (const int64_t x : { INT32_MAX, INT32_MIN }) {
			const auto got = static_cast<double>(
				carryOut(scaling->x2, 0, carryOut(scaling->x1, 0, x)));
			EXPECT_GE(std::fabs(got), highest) << bits;
			EXPECT_EQ(got < 0, x < 0);
		}
	}
}

} /* namespace */

} /* namespace nvdla::test */
