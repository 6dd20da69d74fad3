/* SPDX-License-Identifier: MIT */
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nvdla/half.h>

namespace nvdla
{

TEST(Half, EveryNumberComesBack)
{
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		const float value = halfToFloat(static_cast<uint16_t>(bits));
		if ((bits & 0x7fff) > 0x7c00) {
			EXPECT_TRUE(std::isnan(value)) << bits;
			EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(value)))) << bits;
		} else {
			ASSERT_EQ(floatToHalf(value), bits);
		}
	}
}

TEST(Half, RoundsToTheNearestTiesToEven)
{
	/* Between each pair of neighbours: below, at and above the middle. */
	for (uint32_t bits = 0; bits < 0x7bff; bits++) {
		const float low = halfToFloat(static_cast<uint16_t>(bits));
		const float high = halfToFloat(static_cast<uint16_t>(bits + 1));
		const float middle = low + (high - low) / 2;
		ASSERT_EQ(floatToHalf(std::nextafter(middle, low)), bits);
		ASSERT_EQ(floatToHalf(middle), bits + (bits & 1));
		ASSERT_EQ(floatToHalf(std::nextafter(middle, high)), bits + 1);
		ASSERT_EQ(floatToHalf(-middle), 0x8000 | (bits + (bits & 1)));
	}
}

TEST(Half, OverflowsToInfinity)
{
	EXPECT_EQ(floatToHalf(65504.0f), 0x7bff);
	EXPECT_EQ(floatToHalf(std::nextafter(65520.0f, 0.0f)), 0x7bff);
	EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);
	EXPECT_EQ(floatToHalf(-1e30f), 0xfc00);
	EXPECT_EQ(floatToHalf(std::numeric_limits<float>::infinity()), 0x7c00);
}

} /* namespace nvdla */
