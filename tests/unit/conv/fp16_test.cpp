/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "conv/cacc.h"
#include "conv/fp16_cells.h"
#include "conv_support.h"
#include "each_target.h"

namespace nvdla::sim::test
{

namespace
{

constexpr uint16_t kInf = 0x7c00;

double value(const Fp16Sum &sum)
{
	return std::ldexp(static_cast<double>(sum.mantissa), static_cast<int>(sum.exponent) - 50);
}

double unit(const Fp16Sum &sum)
{
	return std::ldexp(1, static_cast<int>(sum.exponent) - 50);
}

Fp16Vector load(const std::vector<uint16_t> &bits)
{
	std::vector<int16_t> numbers(bits.begin(), bits.end());
	Fp16Vector vector;

	vector.load(numbers.data(), static_cast<uint32_t>(numbers.size()));
	return vector;
}

uint16_t randomHalf(Random &random, int lowExponent, int highExponent)
{
	return static_cast<uint16_t>(random(0, 1) << 15 | random(lowExponent, highExponent) << 10 |
				     random(0, 1023));
}

TEST(MacFp16Test, OneProductIsExact)
{
	Random random(1);

	for (int i = 0; i < 20000; i++) {
		const uint16_t a = randomHalf(random, 0, 30);
		const uint16_t b = randomHalf(random, 0, 30);
		ASSERT_EQ(value(macFp16(load({ a }), load({ b }))), halfValue(a) * halfValue(b))
			<< std::hex << a << " * " << b;
	}
}

TEST(MacFp16Test, InfinitiesAreOrdinaryNumbers)
{
	EXPECT_EQ(value(macFp16(load({ kInf }), load({ 0xbc00 }))), -65536.0);
	EXPECT_EQ(value(macFp16(load({ kInf }), load({ kInf }))), 65536.0 * 65536.0);
}

TEST(MacFp16Test, ZeroesOfEitherSignDoNotTakePartInTheAlignment)
{
	/* 65504 * 0 must not push 2^-24 * 2^-24 out. */
	const Fp16Sum sum = macFp16(load({ 0x7bff, 0x8000, 0x0001 }), load({ 0, 0x7bff, 0x0001 }));

	EXPECT_EQ(value(sum), std::ldexp(1, -48));
}

TEST(MacFp16Test, SumsOfNearbyExponentsAreExact)
{
	Random random(2);

	for (int i = 0; i < 500; i++) {
		std::vector<uint16_t> a(kMacLanes), b(kMacLanes);
		double exact = 0;
		for (size_t lane = 0; lane < kMacLanes; lane++) {
			a[lane] = randomHalf(random, 12, 15);
			b[lane] = randomHalf(random, 16, 19);
			exact += halfValue(a[lane]) * halfValue(b[lane]);
		}
		ASSERT_EQ(value(macFp16(load(a), load(b))), exact);
	}
}

TEST(MacFp16Test, AlignedProductIsWithinOneOfItsFloor)
{
	Random random(3);
	int off = 0;

	for (int i = 0; i < 20000; i++) {
		/* The second lane sets the exponent, the first is shifted. */
		const uint16_t a = randomHalf(random, 0, 15);
		const uint16_t b = randomHalf(random, 0, 15);
		const Fp16Sum sum = macFp16(load({ a, 0x4c00 }), load({ b, 0x4c00 }));
		const double product = halfValue(a) * halfValue(b);
		const double rest = (value(sum) - 256) / unit(sum);
		const double floor = std::floor(product / unit(sum));
		ASSERT_LE(rest, floor + 1) << std::hex << a << " * " << b;
		ASSERT_GE(rest, floor - 1) << std::hex << a << " * " << b;
		off += rest != floor;
	}
	EXPECT_GT(off, 0) << "the words are shifted one by one, which is seen now and then";
}

TEST(MacFp16Test, NaNOfTheWeightsComesFirstThenTheLowestLane)
{
	const uint16_t one = 0x3c00;
	FloatSum sum;

	sum.add(macFp16(load({ 0x7e01, one, 0x7e02 }), load({ one, 0xfe03, 0x7e04 })));
	EXPECT_EQ(sum.deliver(), 0xff800203U);
	sum = {};
	sum.add(macFp16(load({ one, 0x7d05, 0x7e06 }), load({ one, one, one })));
	EXPECT_EQ(sum.deliver(), 0x7f800105U);
	/* It stays, whatever comes. */
	sum.add(macFp16(load({ 0x7e07 }), load({ one })));
	EXPECT_EQ(sum.deliver(), 0x7f800105U);
}

TEST(MacFp16Test, WinogradTileEqualsItsSums)
{
	Random random(4);
	std::vector<uint16_t> a(kMacLanes), b(kMacLanes);
	double m[16] = {};

	for (size_t lane = 0; lane < kMacLanes; lane++) {
		a[lane] = halfBits(random(-30, 30));
		b[lane] = halfBits(random(-30, 30));
		m[lane / 4] += halfValue(a[lane]) * halfValue(b[lane]);
	}
	const std::array<Fp16Sum, 4> out = macFp16Winograd(load(a), load(b));
	const int at[2][4] = { { 1, 1, 1, 0 }, { 0, 1, -1, -1 } };
	for (size_t i = 0; i < 4; i++) {
		double expected = 0;
		for (size_t y = 0; y < 4; y++)
			for (size_t x = 0; x < 4; x++)
				expected += at[i / 2][y] * at[i % 2][x] * m[4 * y + x];
		/* Operands of up to 5 bits: nothing is cut off. */
		EXPECT_EQ(value(out[i]), expected);
	}
}

/* All low bytes and signs of both significands, of products that are shifted by 8 bits. */
TEST(StepFp16Test, EveryLostCarryIsTheMultipliers)
{
	constexpr uint32_t kLanes = 2;
	constexpr uint16_t kLarge = 0x4000; /* 2, whose square is 256 times what is near 1/8's */
	constexpr uint16_t kSmall = 0x3000;
	constexpr int kNumbers = 512;
	const auto small = [](int i) {
		return static_cast<int16_t>(kSmall | (i & 0xff) | (i >> 8) << 15);
	};

	if (!fp16Cells())
		GTEST_SKIP() << "no vectors";
	for (int group = 0; group < kNumbers; group += kFp16Kernels) {
		int16_t weights[kFp16Kernels * kLanes];
		for (size_t k = 0; k < kFp16Kernels; k++) {
			weights[k * kLanes] = kLarge;
			weights[k * kLanes + 1] = small(group + static_cast<int>(k));
		}
		std::vector<int16_t> data(size_t{ kNumbers } * kMacLanes);
		std::vector<const int16_t *> vectors;
		std::vector<uint32_t> expected;
		for (int i = 0; i < kNumbers; i++) {
			int16_t *vector = &data[static_cast<size_t>(i) * kMacLanes];
			vector[0] = kLarge;
			vector[1] = small(i);
			vectors.push_back(vector);
			Fp16Vector a, b;
			a.load(vector, kLanes);
			for (size_t k = 0; k < kFp16Kernels; k++) {
				FloatSum sum;
				b.load(&weights[k * kLanes], kLanes);
				sum.add(macFp16(a, b, kLanes));
				expected.push_back(sum.deliver());
			}
		}
		nvdla::test::forEachVectorTarget([&] {
			std::vector<Fp16Sums> sums(vectors.size());
			std::vector<int32_t> found(expected.size());
			Fp16Weights block;
			block.load(0, reinterpret_cast<const std::byte *>(weights), kFp16Kernels,
				   kLanes);
			block.takeApart();
			fp16Cells()->step(TowardZero(), block, vectors.data(), sums.size(),
					  sums.data());
			int32_t *const out[] = { found.data(), nullptr };
			fp16Cells()->deliver(sums.data(), sums.size(), out);
			EXPECT_TRUE(std::ranges::equal(found, expected, {}, [](int32_t bits) {
				return static_cast<uint32_t>(bits);
			})) << group;
		});
	}
}

/** An accumulator that holds \a number, built from one step */
void add(FloatSum &sum, double number)
{
	int exponent;
	const double fraction = std::frexp(number, &exponent);

	/* exponent - 50 - 37 is at least what the fraction needs for the numbers used here */
	sum.add({ static_cast<uint32_t>(exponent + 50 - 37),
		  static_cast<int64_t>(std::ldexp(fraction, 37)) });
}

double delivered(const FloatSum &sum)
{
	return floatValue(static_cast<int32_t>(sum.deliver()));
}

TEST(FloatSumTest, IntegersAddExactly)
{
	Random random(5);

	for (int i = 0; i < 200; i++) {
		FloatSum sum;
		double expected = 0;
		for (int j = 0; j < 50; j++) {
			const int number = random(-1000, 1000);
			if (number == 0)
				continue;
			add(sum, number);
			expected += number;
		}
		ASSERT_EQ(delivered(sum), expected);
	}
}

TEST(FloatSumTest, CancellationLeavesZero)
{
	FloatSum sum;

	add(sum, 12345);
	add(sum, -12345);
	EXPECT_EQ(sum.deliver(), 0U);
	add(sum, 0.5);
	EXPECT_EQ(delivered(sum), 0.5);
}

TEST(FloatSumTest, DeliveryRoundsHalfAwayFromZero)
{
	for (double sign : { 1.0, -1.0 }) {
		FloatSum sum;
		add(sum, sign * 16777216);
		add(sum, sign);
		EXPECT_EQ(delivered(sum), sign * 16777218) << "2^24 + 1 is halfway";
	}
}

TEST(FloatSumTest, AdditionRoundsHalfAwayFromZero)
{
	/* 2^20 is held to 2^-18; half of that is exactly in the middle. */
	for (double sign : { 1.0, -1.0 }) {
		FloatSum sum;
		add(sum, sign * 1048576);
		add(sum, sign * std::ldexp(1, -19));
		add(sum, -sign * 1048576);
		EXPECT_EQ(delivered(sum), sign * std::ldexp(1, -18));
	}
}

TEST(FloatSumTest, WhatIsTooSmallIsLost)
{
	FloatSum sum;

	add(sum, 1048576);
	add(sum, -std::ldexp(1, -22));
	add(sum, -1048576);
	EXPECT_EQ(delivered(sum), 0);
}

} /* namespace */

} /* namespace nvdla::sim::test */
