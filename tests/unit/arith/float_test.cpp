/* SPDX-License-Identifier: MIT */
#include "arith/float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

using namespace nvdla::sim::arith;

namespace
{

constexpr double kMaxFp16 = 65504;

/* The number that finite bits stand for, with IEEE's denormals. */
template<typename F>
double valueOf(uint32_t bits)
{
	const int exponent = F::exponent(bits);
	const double mantissa = F::mantissa(bits);
	const double one = exponent ? std::ldexp(1.0, F::kMantissaBits) : 0;
	const double magnitude =
		std::ldexp(mantissa + one, (exponent ? exponent : 1) - F::kBias -
						   static_cast<int>(F::kMantissaBits));

	return F::sign(bits) ? -magnitude : magnitude;
}

/* Nearest number of a format, ties to even; a double holds every operand exactly. */
template<typename F>
double nearest(double value)
{
	const double largest = valueOf<F>(F::kMax);
	const int lowest = 1 - F::kBias;
	int exponent;

	std::frexp(value, &exponent);
	exponent = std::max(exponent - 1, lowest);
	const double unit = std::ldexp(1.0, exponent - static_cast<int>(F::kMantissaBits));
	const double rounded = std::nearbyint(value / unit) * unit;

	return std::clamp(rounded, -largest, largest);
}

float toFloat(uint32_t bits)
{
	return std::bit_cast<float>(bits);
}

uint32_t toBits(float value)
{
	return std::bit_cast<uint32_t>(value);
}

/* What IEEE arithmetic on the host gives, brought to the rules of the datapath. */
uint32_t limited(float value)
{
	const uint32_t bits = toBits(value);

	if (Fp32::isInf(bits))
		return Fp32::sign(bits) | Fp32::kMax;
	if (Fp32::exponent(bits) == 0)
		return Fp32::sign(bits);
	return bits;
}

/* A finite number without denormals; exponents close enough for sums to interact. */
uint32_t randomFp32(std::mt19937_64 &random, bool close)
{
	const uint32_t low = static_cast<uint32_t>(random());
	const uint32_t exponent = close ? 100 + (random() % 60) : random() % 255;

	if (exponent == 0)
		return low & Fp32::kSignMask;
	return Fp32::pack(low & Fp32::kSignMask, static_cast<int>(exponent), low);
}

} /* namespace */

TEST(Float, EveryFp16WidensExactly)
{
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		const auto half = static_cast<uint16_t>(bits);
		const uint32_t fp32 = fp16ToFp32(half);
		const uint32_t fp17 = fp16ToFp17(half);

		if (Fp16::isNan(half)) {
			EXPECT_TRUE(Fp32::isNan(fp32));
			EXPECT_TRUE(Fp17::isNan(fp17));
			EXPECT_EQ(Fp32::mantissa(fp32), Fp16::mantissa(half));
		} else if (Fp16::isInf(half)) {
			EXPECT_EQ(fp32 & Fp32::kMagnitudeMask, 0x7f7fffffu);
			EXPECT_EQ(fp17 & Fp17::kMagnitudeMask, Fp17::kMax);
		} else {
			ASSERT_EQ(toFloat(fp32), valueOf<Fp16>(half)) << std::hex << bits;
			ASSERT_EQ(valueOf<Fp17>(fp17), valueOf<Fp16>(half)) << std::hex << bits;
		}
		EXPECT_EQ(fp32 >> 31, bits >> 15);
		EXPECT_EQ(fp17 >> 16, bits >> 15);
	}
}

TEST(Float, EveryFp16SurvivesTheWayThere)
{
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		const auto half = static_cast<uint16_t>(bits);
		const uint16_t expected = Fp16::isInf(half) ? (half & 0x8000) | 0x7bff : half;

		ASSERT_EQ(fp32ToFp16(fp16ToFp32(half)), expected) << std::hex << bits;
		ASSERT_EQ(fp17ToFp16(fp16ToFp17(half)), expected) << std::hex << bits;
		if (!Fp16::isInf(half)) {
			ASSERT_EQ(fp17ToFp32(fp16ToFp17(half)), fp16ToFp32(half))
				<< std::hex << bits;
		}
	}
}

TEST(Float, EveryFp17RoundsToFp16)
{
	for (uint32_t bits = 0; bits < 0x20000; bits++) {
		const bool denormal = Fp17::exponent(bits) == 0 && !Fp17::isZero(bits);
		if (Fp17::exponent(bits) == Fp17::kExponentMax || denormal)
			continue;
		const uint16_t half = fp17ToFp16(bits);
		ASSERT_EQ(valueOf<Fp16>(half), nearest<Fp16>(valueOf<Fp17>(bits)))
			<< std::hex << bits;
		ASSERT_EQ(half >> 15, static_cast<int>(bits >> 16));
	}
}

TEST(Float, Fp32NarrowsToNearestEven)
{
	std::mt19937_64 random(2);

	for (int i = 0; i < 300000; i++) {
		/* Around FP16's range, with few or many mantissa bits so that ties occur. */
		const uint32_t exponent = 95 + random() % 55;
		const uint32_t mantissa =
			static_cast<uint32_t>(random()) & (~0u << (random() % 23));
		const uint32_t bits = Fp32::pack((i & 1) ? Fp32::kSignMask : 0,
						 static_cast<int>(exponent), mantissa);
		ASSERT_EQ(valueOf<Fp16>(fp32ToFp16(bits)), nearest<Fp16>(toFloat(bits)))
			<< std::hex << bits;
	}
	EXPECT_EQ(fp32ToFp16(toBits(65520.0f)), 0x7bff);
	EXPECT_EQ(fp32ToFp16(toBits(-1e30f)), 0xfbff);
	EXPECT_EQ(fp32ToFp16(0x7f800000), 0x7bff);
	EXPECT_EQ(fp32ToFp16(0x7f800123), 0x7d23 & 0x7fff);
	EXPECT_EQ(fp32ToFp16(0x80000000), 0x8000);
	EXPECT_EQ(fp32ToFp16(toBits(0x1p-25f)), 0);
	EXPECT_EQ(fp32ToFp16(toBits(0x1.000002p-25f)), 1);
}

TEST(Float, Fp32ToFp17HasNoDenormals)
{
	std::mt19937_64 random(3);
	const double smallest = std::ldexp(1.0, -30);

	for (int i = 0; i < 200000; i++) {
		const uint32_t exponent = 85 + random() % 80;
		const uint32_t mantissa =
			static_cast<uint32_t>(random()) & (~0u << (random() % 23));
		const uint32_t bits = Fp32::pack(0, static_cast<int>(exponent), mantissa);
		const double expected = nearest<Fp17>(toFloat(bits));
		ASSERT_EQ(valueOf<Fp17>(fp32ToFp17(bits)), expected < smallest ? 0 : expected)
			<< std::hex << bits;
	}
}

TEST(Float, SumAndProductMatchTheHost)
{
	std::mt19937_64 random(4);

	for (int i = 0; i < 500000; i++) {
		const uint32_t a = randomFp32(random, i & 1);
		const uint32_t b = randomFp32(random, i & 1);
		ASSERT_EQ(multiply<Fp32>(a, b), limited(toFloat(a) * toFloat(b)))
			<< std::hex << a << " * " << b;
		/* The datapath gives a cancelled sum the first operand's sign, IEEE plus. */
		const uint32_t expected = limited(toFloat(a) + toFloat(b));
		const uint32_t mask = Fp32::isZero(expected) ? Fp32::kMagnitudeMask : ~0u;
		ASSERT_EQ(add<Fp32>(a, b) & mask, expected & mask) << std::hex << a << " + " << b;
		ASSERT_EQ(subtract<Fp32>(a, b), add<Fp32>(a, b ^ Fp32::kSignMask));
	}
}

TEST(Float, Fp17SumAndProductRoundOnce)
{
	std::mt19937_64 random(5);
	const double smallest = std::ldexp(1.0, 1 - Fp17::kBias);

	for (int i = 0; i < 300000; i++) {
		const uint32_t a = fp16ToFp17(static_cast<uint16_t>(random() & 0xfbff));
		const uint32_t b = fp16ToFp17(static_cast<uint16_t>(random() & 0xfbff));
		const double sum = valueOf<Fp17>(a) + valueOf<Fp17>(b);
		const double product = valueOf<Fp17>(a) * valueOf<Fp17>(b);
		ASSERT_EQ(valueOf<Fp17>(add<Fp17>(a, b)),
			  std::fabs(sum) < smallest ? 0 : nearest<Fp17>(sum));
		/* Far below the normal range no rounding can bring it back. */
		if (std::fabs(product) < smallest && std::fabs(product) >= smallest / 2)
			continue;
		ASSERT_EQ(valueOf<Fp17>(multiply<Fp17>(a, b)),
			  std::fabs(product) < smallest ? 0 : nearest<Fp17>(product))
			<< std::hex << a << " * " << b;
	}
}

TEST(Float, SpecialOperands)
{
	const uint32_t nan = 0x7f800155, other = 0xffc00000, one = toBits(1.0f);

	EXPECT_EQ(add<Fp32>(nan, other), nan);
	EXPECT_EQ(add<Fp32>(one, other), other);
	EXPECT_EQ(multiply<Fp32>(other, nan), other);
	EXPECT_EQ(multiply<Fp32>(0, nan), nan);
	EXPECT_EQ(maximum<Fp32>(one, nan), nan);
	EXPECT_EQ(minimum<Fp32>(nan, one), nan);
	EXPECT_EQ(add<Fp32>(one, toBits(-1.0f)), 0u);
	EXPECT_EQ(add<Fp32>(toBits(-1.0f), one), 0x80000000u);
	EXPECT_EQ(add<Fp32>(Fp32::kMax, Fp32::kMax), Fp32::kMax);
	EXPECT_EQ(multiply<Fp32>(Fp32::kMax, toBits(-2.0f)), Fp32::kSignMask | Fp32::kMax);
	EXPECT_EQ(maximum<Fp32>(0x80000000, 0), 0u);
	EXPECT_EQ(minimum<Fp32>(0, 0x80000000), 0x80000000u);
	EXPECT_EQ(maximum<Fp32>(toBits(-2.0f), toBits(-1.0f)), toBits(-1.0f));
	EXPECT_EQ(minimum<Fp32>(toBits(-2.0f), toBits(1.0f)), toBits(-2.0f));
}

TEST(Float, EveryInt17RoundsToFp16)
{
	for (int32_t value = -65536; value <= 65535; value++) {
		const uint16_t half = int17ToFp16(value);
		ASSERT_EQ(valueOf<Fp16>(half), nearest<Fp16>(value)) << value;
	}
	EXPECT_EQ(valueOf<Fp16>(int17ToFp16(-65536)), -kMaxFp16);
	EXPECT_EQ(int17ToFp16(0), 0);
}

TEST(Float, EveryFp16RoundsToInt16)
{
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		const auto half = static_cast<uint16_t>(bits);
		if (Fp16::isInf(half))
			continue;
		const double expected =
			Fp16::isNan(half)
				? INT16_MIN
				: std::clamp(std::round(valueOf<Fp16>(half)), -32768.0, 32767.0);
		ASSERT_EQ(fp16ToInt16(half), expected) << std::hex << bits;
	}
}

TEST(Float, FractionsRound)
{
	constexpr unsigned kBits = 16;

	for (uint64_t fraction = 0; fraction < (1u << kBits); fraction++) {
		const double value = std::ldexp(static_cast<double>(fraction), -16);
		ASSERT_EQ(valueOf<Fp17>(fractionToFloat<Fp17, kBits>(fraction)),
			  nearest<Fp17>(value));
	}
	EXPECT_EQ((fractionToFloat<Fp17, 35>(31)), 0u);
	EXPECT_EQ((fractionToFloat<Fp17, 35>(32)), 1u << 10);
	EXPECT_EQ((fractionToFloat<Fp17, 35>((uint64_t{ 1 } << 35) - 1)), Fp17::kOne);
}
