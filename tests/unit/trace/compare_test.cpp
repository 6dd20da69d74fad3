/* SPDX-License-Identifier: MIT */
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "trace/compare.h"

using namespace nvdla::sim;

namespace
{

std::vector<std::byte> halves(std::initializer_list<uint16_t> values)
{
	std::vector<std::byte> bytes;
	for (const uint16_t value : values) {
		bytes.push_back(static_cast<std::byte>(value));
		bytes.push_back(static_cast<std::byte>(value >> 8));
	}
	return bytes;
}

bool passes(uint16_t expected, uint16_t got, const Tolerance &tolerance)
{
	return !compare(halves({ expected }), halves({ got }), tolerance);
}

constexpr Tolerance pooling = { .kind = Tolerance::Kind::Pooling,
				.absolute = 0.0001,
				.relative = 0.001 };

TEST(HalfValue, CoversEveryKindOfNumber)
{
	EXPECT_EQ(halfValue(0x0000), 0.0);
	EXPECT_TRUE(std::signbit(halfValue(0x8000)));
	EXPECT_EQ(halfValue(0x3c00), 1.0);
	EXPECT_EQ(halfValue(0xc000), -2.0);
	EXPECT_EQ(halfValue(0x7bff), 65504.0);
	EXPECT_EQ(halfValue(0x0400), std::ldexp(1.0, -14));
	EXPECT_EQ(halfValue(0x0001), std::ldexp(1.0, -24));
	EXPECT_EQ(halfValue(0xfc00), -INFINITY);
	EXPECT_TRUE(std::isnan(halfValue(0x7e00)));
}

TEST(Compare, ExactFindsTheFirstByte)
{
	const auto expected = halves({ 1, 2, 3 });
	auto got = expected;
	EXPECT_FALSE(compare(expected, got, {}));
	got[3] = std::byte{ 0x80 };
	got[5] = std::byte{ 0x80 };
	const auto difference = compare(expected, got, {});
	ASSERT_TRUE(difference);
	EXPECT_EQ(difference->offset, 3U);
	EXPECT_EQ(difference->expected, "0x00");
	EXPECT_EQ(difference->got, "0x80");
}

TEST(Compare, PoolingNeedsBothThresholds)
{
	/* One step of 2^-4 is 2^-14 (6.1e-5, relative 9.8e-4). */
	EXPECT_TRUE(passes(0x2c00, 0x2c01, pooling));
	EXPECT_FALSE(passes(0x2c00, 0x2c02, pooling));
	/* One step of 1.0 is small, but not small enough. */
	EXPECT_FALSE(passes(0x3c00, 0x3c01, pooling));
	/* Denormals: the absolute error is nothing, the relative one is not. */
	EXPECT_FALSE(passes(0x0001, 0x0002, pooling));
	EXPECT_FALSE(passes(0x0000, 0x8001, pooling));
}

TEST(Compare, ConvolutionAllowsOneStepOfTheResultPlusTheProductsShare)
{
	Tolerance tolerance = { .kind = Tolerance::Kind::Convolution,
				.products = 1,
				.maxExponent = -24 };
	EXPECT_TRUE(passes(0x3c00, 0x3c01, tolerance));
	EXPECT_FALSE(passes(0x3c00, 0x3c02, tolerance));
	/* 2^(11 - 20) * 1 * 2 = 2^-8: four steps of 2^-10, and the one of the result. */
	tolerance.maxExponent = 11;
	EXPECT_TRUE(passes(0x3c00, 0x3c05, tolerance));
	EXPECT_FALSE(passes(0x3c00, 0x3c06, tolerance));
}

TEST(Compare, SpecialValuesMustBeEqual)
{
	EXPECT_TRUE(passes(0x7e00, 0x7e00, pooling));
	EXPECT_FALSE(passes(0x7e00, 0x7e01, pooling));
	EXPECT_FALSE(passes(0x7bff, 0x7c00, pooling));
	EXPECT_FALSE(passes(0x7c00, 0x7bff, pooling));
}

TEST(Compare, OffsetOfAnElementIsInBytes)
{
	const auto difference =
		compare(halves({ 0x3c00, 0x3c00 }), halves({ 0x3c00, 0x4000 }), pooling);
	ASSERT_TRUE(difference);
	EXPECT_EQ(difference->offset, 2U);
	EXPECT_EQ(difference->expected, "1 (0x3c00)");
	EXPECT_EQ(difference->got, "2 (0x4000)");
}

} /* namespace */
