/* SPDX-License-Identifier: MIT */
#include "arith/integer.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

using namespace nvdla::sim::arith;

namespace
{

/* Wide enough for every operand and what is done with it. */
__extension__ typedef __int128 Wide;

/* Rounding by the definition. */
Wide divideHalfAway(Wide value, unsigned shift)
{
	const Wide divisor = Wide{ 1 } << shift;
	const Wide magnitude = value < 0 ? -value : value;
	const Wide rounded = (2 * magnitude + divisor) / (2 * divisor);

	return value < 0 ? -rounded : rounded;
}

Wide clip(Wide value, unsigned bits)
{
	const Wide limit = Wide{ 1 } << (bits - 1);

	return value >= limit ? limit - 1 : (value < -limit ? -limit : value);
}

} /* namespace */

TEST(Integer, SaturateAtTheEdges)
{
	EXPECT_EQ(saturate<8>(127), 127);
	EXPECT_EQ(saturate<8>(128), 127);
	EXPECT_EQ(saturate<8>(-128), -128);
	EXPECT_EQ(saturate<8>(-129), -128);
	EXPECT_EQ(saturate<17>(65536), 65535);
	EXPECT_EQ(saturate<64>(INT64_MIN), INT64_MIN);
	EXPECT_FALSE(overflows<16>(32767));
	EXPECT_TRUE(overflows<16>(32768));
	EXPECT_TRUE(overflows<16>(-32769));
}

TEST(Integer, SignExtendTakesLowBits)
{
	EXPECT_EQ(signExtend<5>(0x1f), -1);
	EXPECT_EQ(signExtend<5>(0x0f), 15);
	EXPECT_EQ(signExtend<5>(0x30), -16);
	EXPECT_EQ(signExtend<38>(uint64_t{ 1 } << 37), -(int64_t{ 1 } << 37));
}

TEST(Integer, ShiftRightRoundsHalvesAwayFromZero)
{
	EXPECT_EQ(shiftRightRound(3, 1), 2);
	EXPECT_EQ(shiftRightRound(-3, 1), -2);
	EXPECT_EQ(shiftRightRound(5, 2), 1);
	EXPECT_EQ(shiftRightRound(6, 2), 2);
	EXPECT_EQ(shiftRightRound(-6, 2), -2);
	EXPECT_EQ(shiftRightRound(-5, 2), -1);
	EXPECT_EQ(shiftRightRound(INT64_MIN, 63), -1);
	EXPECT_EQ(shiftRightRound(INT64_MIN, 64), -1);
	EXPECT_EQ(shiftRightRound(INT64_MAX, 64), 0);
	EXPECT_EQ(shiftRightRound(INT64_MIN, 65), 0);
	EXPECT_EQ(shiftRightRound(INT64_MIN, 1023), 0);
}

TEST(Integer, ShiftsMatchTheDefinition)
{
	std::mt19937_64 random(1);

	for (int i = 0; i < 200000; i++) {
		const auto wide = static_cast<int64_t>(random()) >> (random() % 63);
		const unsigned shift = random() % 65;
		const Wide exact = shift == 0 ? wide : divideHalfAway(wide, shift);
		ASSERT_EQ(static_cast<Wide>(shiftRightRound(wide, shift)), exact)
			<< wide << " >> " << shift;
		ASSERT_EQ(static_cast<Wide>(truncate<17>(wide, shift)), clip(exact, 17));

		const auto narrow = static_cast<int16_t>(random());
		const unsigned left = random() % 64;
		ASSERT_EQ(static_cast<Wide>(shiftLeftSaturate<32>(narrow, left)),
			  clip(static_cast<Wide>(narrow) * (Wide{ 1 } << left), 32))
			<< narrow << " << " << left;
	}
}

TEST(Integer, SignedShiftGoesBothWays)
{
	EXPECT_EQ(truncateSigned<32>(5, 1), 3);
	EXPECT_EQ(truncateSigned<32>(5, -1), 10);
	EXPECT_EQ(truncateSigned<32>(INT32_MAX, -16), INT32_MAX);
	EXPECT_EQ(truncateSigned<32>(INT32_MIN, -1), INT32_MIN);
	EXPECT_EQ(truncateSigned<32>(0, -16), 0);
}

TEST(Integer, ConverterSubtractsScalesThenShifts)
{
	EXPECT_EQ((Converter{ .offset = 3, .scale = 5, .shift = 1 }.apply(6)), 8);
	EXPECT_EQ((Converter{ .offset = INT32_MIN, .scale = 1, .shift = 0 }.apply(INT32_MAX)),
		  int64_t{ UINT32_MAX });
	EXPECT_EQ((Converter{ .offset = INT32_MAX, .scale = INT16_MIN, .shift = 63 }.apply(0)), 0);
	EXPECT_EQ((Converter{}.apply(-77)), -77);
}
