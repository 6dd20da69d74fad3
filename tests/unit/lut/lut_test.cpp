/* SPDX-License-Identifier: MIT */
#include "lut/lut.h"

#include <bit>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "arith/float.h"

using namespace nvdla::sim;
using namespace nvdla::sim::arith;

namespace
{

/* Entries that tell by their value which table and which entry they are. */
LutTables rampTables()
{
	LutTables tables;

	for (size_t i = 0; i < tables.le.size(); i++)
		tables.le[i] = static_cast<int16_t>(1000 + 100 * i);
	for (size_t i = 0; i < tables.lo.size(); i++)
		tables.lo[i] = static_cast<int16_t>(-20 * static_cast<int>(i));
	return tables;
}

/* LE: 64 steps of 16 from -100. LO: 256 steps of 1 from 0. */
LutConfig linearConfig()
{
	LutConfig config;

	config.le = { .indexSelect = 4, .start = -100, .end = -100 + 64 * 16 };
	config.lo = { .indexSelect = 0, .start = 0, .end = 256 };
	return config;
}

int64_t roundHalfAway(double value)
{
	return std::llround(value);
}

uint32_t bitsOf(float value)
{
	return std::bit_cast<uint32_t>(value);
}

int16_t halfOf(float value)
{
	return static_cast<int16_t>(fp32ToFp16(bitsOf(value)));
}

float fp17Value(uint32_t bits)
{
	return std::bit_cast<float>(fp17ToFp32(bits));
}

struct LutTest : testing::TestWithParam<LutVariant> {
	int64_t at(const LutConfig &config, const LutTables &tables, int64_t x)
	{
		counters = {};
		return Lut(GetParam(), config, tables).lookup(x, counters);
	}

	LutCounters counters;
};

} /* namespace */

TEST_P(LutTest, OneTableHitInterpolates)
{
	const LutTables tables = rampTables();
	const LutConfig config = linearConfig();

	for (int x = -99; x <= 0; x++) {
		const double expected = 1000 + 100.0 * (x + 100) / 16;
		EXPECT_EQ(at(config, tables, x), roundHalfAway(expected)) << x;
		EXPECT_EQ(counters.leHit, 1u);
		EXPECT_EQ(counters.loHit, 0u);
	}
}

TEST_P(LutTest, BothHitGoesByHybridPriority)
{
	const LutTables tables = rampTables();
	LutConfig config = linearConfig();

	EXPECT_EQ(at(config, tables, 92), 1000 + 100 * 12);
	config.hybridSelectsLo = true;
	EXPECT_EQ(at(config, tables, 92), -20 * 92);
	EXPECT_EQ(counters.hybrid, 1u);
	EXPECT_EQ(counters.leHit, GetParam().countsByResult ? 1u : 0u);
	EXPECT_EQ(counters.loHit, GetParam().countsByResult ? 1u : 0u);
}

TEST_P(LutTest, StartItselfMisses)
{
	const LutTables tables = rampTables();
	LutConfig config = linearConfig();

	config.lo.start = -100;
	config.le.underflow = { 1, 0 };
	EXPECT_EQ(at(config, tables, -100), 1000);
	EXPECT_EQ(counters.underflow, 1u);
	EXPECT_EQ(at(config, tables, -107), 1000 - 7);
	config.underflowSelectsLo = true;
	config.lo.underflow = { 3, 1 };
	EXPECT_EQ(at(config, tables, -107), -11); /* -10.5 away from zero */
	EXPECT_EQ(counters.underflow, 1u);
	EXPECT_EQ(counters.hybrid, 0u);
}

TEST_P(LutTest, BothOverflowGoesByOverflowPriority)
{
	const LutTables tables = rampTables();
	LutConfig config = linearConfig();
	const int64_t x = 924 + 8; /* LE ends at 924, LO at 256 */

	config.le.overflow = { 5, -1 };
	config.lo.overflow = { -1, 2 };
	EXPECT_EQ(at(config, tables, x), 1000 + 6400 + 8 * 5 * 2);
	EXPECT_EQ(counters.overflow, 1u);
	config.overflowSelectsLo = true;
	EXPECT_EQ(at(config, tables, x), -5120 - (x - 256) / 4);
	EXPECT_EQ(counters.overflow, 1u);
}

TEST_P(LutTest, MissesAtDifferentEndsGoByHybridPriority)
{
	const LutTables tables = rampTables();
	LutConfig config = linearConfig();

	config.lo.start = 2000;
	config.lo.end = 2256;
	EXPECT_EQ(at(config, tables, 1000), 1000 + 6400);
	EXPECT_EQ(counters.overflow, GetParam().countsByResult ? 1u : 0u);
	EXPECT_EQ(counters.hybrid, GetParam().countsByResult ? 0u : 1u);
	config.hybridSelectsLo = true;
	EXPECT_EQ(at(config, tables, 1000), 0);
	EXPECT_EQ(counters.underflow, GetParam().countsByResult ? 1u : 0u);
}

TEST_P(LutTest, NegativeSelectSpreadsTheIndex)
{
	const LutTables tables = rampTables();
	LutConfig config = linearConfig();

	config.le.indexSelect = -3;
	config.le.end = -100 + 8;
	config.lo.start = 1000;
	EXPECT_EQ(at(config, tables, -95), 1000 + 100 * 40);
	EXPECT_EQ(at(config, tables, -92), 1000 + 6400);
	EXPECT_EQ(counters.leHit, 0u);
}

TEST_P(LutTest, ExponentialIndexIsALogarithm)
{
	const LutTables tables = rampTables();
	LutConfig config = linearConfig();

	config.le = { .exponential = true, .indexOffset = 2, .start = 10 };
	config.le.underflow = { 2, 0 };
	config.lo.start = 1 << 20;
	config.lo.end = (1 << 20) + 256;
	for (int64_t distance = 4; distance < 5000; distance++) {
		const int top = std::bit_width(static_cast<uint64_t>(distance)) - 1;
		const double part = std::ldexp(static_cast<double>(distance), -top) - 1;
		ASSERT_EQ(at(config, tables, 10 + distance),
			  roundHalfAway(1000 + 100 * (top - 2 + part)))
			<< distance;
	}
	/* Below the first power of two, the slope starts from that power. */
	EXPECT_EQ(at(config, tables, 10 + 3), 1000 - 2);
	EXPECT_EQ(at(config, tables, 10), 1000 - 8);
	config.le.indexOffset = -60;
	config.le.end = 26;
	config.le.overflow = { 1, 0 };
	EXPECT_EQ(at(config, tables, 10 + 16), 1000 + 6400);
	config.le.indexOffset = -59;
	EXPECT_EQ(at(config, tables, 10 + 16), 1000 + 6300);
}

TEST_P(LutTest, ResultIsClipped)
{
	LutTables tables = rampTables();
	LutConfig config = linearConfig();
	const int64_t limit = int64_t{ 1 } << (GetParam().outputBits - 1);

	config.le.overflow = { INT16_MAX, -16 };
	config.hybridSelectsLo = false;
	EXPECT_EQ(at(config, tables, INT32_MAX), limit - 1);
	tables.le.back() = -1;
	config.le.overflow = { INT16_MIN, -16 };
	EXPECT_EQ(at(config, tables, INT32_MAX), -limit);
}

TEST_P(LutTest, AnyRegistersGiveAResult)
{
	std::mt19937_64 random(7);
	LutTables tables;

	for (int16_t &entry : tables.le)
		entry = static_cast<int16_t>(random());
	for (int16_t &entry : tables.lo)
		entry = static_cast<int16_t>(random());
	const int64_t limit = int64_t{ 1 } << (GetParam().outputBits - 1);

	for (int i = 0; i < 200000; i++) {
		const auto edge = [&] {
			return static_cast<int64_t>(random()) >> (26 + random() % 38);
		};
		const auto table = [&](bool exponential) {
			return LutTableConfig{
				.exponential = exponential,
				.indexOffset = static_cast<int8_t>(random()),
				.indexSelect = static_cast<int8_t>(random()),
				.start = edge(),
				.end = edge(),
				.underflow = { static_cast<int16_t>(random()),
					       static_cast<int8_t>(random() % 32 - 16) },
				.overflow = { static_cast<int16_t>(random()),
					      static_cast<int8_t>(random() % 32 - 16) },
			};
		};
		const LutConfig config = {
			.le = table(random() & 1),
			.lo = table(false),
			.underflowSelectsLo = (random() & 1) != 0,
			.overflowSelectsLo = (random() & 1) != 0,
			.hybridSelectsLo = (random() & 1) != 0,
		};
		const int64_t result = at(config, tables, edge());
		ASSERT_GE(result, -limit);
		ASSERT_LT(result, limit);

		LutCounters counted;
		const uint32_t bits =
			Lut(GetParam(), config, tables)
				.lookupFloat(static_cast<uint32_t>(random()), counted);
		ASSERT_LT(bits, 1u << 17);
		if (GetParam().countsByResult)
			ASSERT_EQ(counted.hybrid + counted.underflow + counted.overflow, 1u);
		else
			ASSERT_EQ(counted.hybrid + counted.underflow + counted.overflow +
					  counted.leHit + counted.loHit,
				  1u);
	}
}

TEST_P(LutTest, FloatHitsInterpolate)
{
	LutTables tables;
	for (size_t i = 0; i < tables.le.size(); i++)
		tables.le[i] = halfOf(static_cast<float>(i));
	LutConfig config;
	config.le = { .indexSelect = -2, .start = bitsOf(-4.0f), .end = bitsOf(12.0f) };
	config.lo = { .indexSelect = 0, .start = bitsOf(1e6f), .end = bitsOf(1e6f + 256) };
	const Lut lut(GetParam(), config, tables);

	for (float x = -3.9375f; x < 12; x += 0.0625f) {
		LutCounters counted;
		/* 11 bits of mantissa hold every one of these results. */
		ASSERT_EQ(fp17Value(lut.lookupFloat(bitsOf(x), counted)), (x + 4) * 4) << x;
		ASSERT_EQ(counted.leHit, 1u);
	}
}

TEST_P(LutTest, FloatEdgesUseTheirSlopes)
{
	LutTables tables;
	tables.le.front() = halfOf(10);
	tables.le.back() = halfOf(20);
	LutConfig config;
	config.le = { .indexSelect = 0, .start = bitsOf(0.0f), .end = bitsOf(64.0f) };
	config.le.underflow.scale = halfOf(0.5f);
	config.le.overflow.scale = halfOf(-2.0f);
	config.lo = config.le;
	config.lo.indexSelect = -2;
	const Lut lut(GetParam(), config, tables);
	LutCounters counted;

	EXPECT_EQ(fp17Value(lut.lookupFloat(bitsOf(-8.0f), counted)), 6.0f);
	/* A NaN misses like a small number, and stays one. */
	EXPECT_TRUE(Fp17::isNan(lut.lookupFloat(0x7f800001, counted)));
	EXPECT_EQ(fp17Value(lut.lookupFloat(bitsOf(70.0f), counted)), 8.0f);
	EXPECT_EQ(counted.underflow, 2u);
	EXPECT_EQ(counted.overflow, 1u);
}

TEST(LutVariants, RoundHalvesDifferently)
{
	LutTables tables;
	tables.le[3] = -1;
	LutConfig config;
	config.le = { .indexSelect = 1, .start = 0, .end = 128 };
	config.lo = { .indexSelect = 0, .start = 1000, .end = 1256 };
	LutCounters counters;

	/* Half way from -1 to 0: SDP rounds -0.5, CDP adds the rounded +0.5. */
	EXPECT_EQ(Lut(sdpLut, config, tables).lookup(7, counters), -1);
	EXPECT_EQ(Lut(cdpLut, config, tables).lookup(7, counters), 0);
}

INSTANTIATE_TEST_SUITE_P(Units, LutTest, testing::Values(sdpLut, cdpLut),
			 [](const testing::TestParamInfo<LutVariant> &info) {
				 return info.param.weighted ? "Sdp" : "Cdp";
			 });
