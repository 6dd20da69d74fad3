/* SPDX-License-Identifier: MIT */
/*
 * FastLut against Lut, which is its definition.
 */
#include "lut/lut_fast.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "each_target.h"

namespace nvdla::sim
{

namespace
{

using nvdla::test::forEachTarget;

class Random
{
public:
	explicit Random(uint32_t seed) : engine_(seed) { std::printf("seed %u\n", seed); }

	/** \return a number from \a low to \a high */
	int64_t operator()(int64_t low, int64_t high)
	{
		return std::uniform_int_distribution<int64_t>(low, high)(engine_);
	}

	/** \return a number of 32 bits, as often small as large */
	int32_t magnitude() { return static_cast<int32_t>(engine_()) >> (*this)(0, 31); }

	bool coin() { return (*this)(0, 1); }

	LutTables tables()
	{
		LutTables tables;

		for (int16_t &entry : tables.le)
			entry = static_cast<int16_t>((*this)(INT16_MIN, INT16_MAX));
		for (int16_t &entry : tables.lo)
			entry = static_cast<int16_t>((*this)(INT16_MIN, INT16_MAX));
		return tables;
	}

	LutConfig config()
	{
		flat_ = coin();
		return { .le = table(coin()),
			 .lo = table(false),
			 .underflowSelectsLo = coin(),
			 .overflowSelectsLo = coin(),
			 .hybridSelectsLo = coin() };
	}

	/** \return inputs all over, and around the places where something changes */
	std::vector<int32_t> inputs(const LutConfig &config, size_t count)
	{
		std::vector<int32_t> values(count);
		const bool mostlyHits = coin();
		const bool mostlyLo = coin();

		for (int32_t &value : values) {
			const bool lo = mostlyLo && (*this)(0, 7);
			const LutTableConfig &table = lo ? config.lo : config.le;
			const int64_t edge = coin() ? table.start : table.end;
			const int64_t steps = lo ? FastLut::loPairs : FastLut::lePairs;
			const int64_t range = steps << std::max<int>(table.indexSelect, 0);
			const int64_t kind = (*this)(0, 31);

			if (mostlyHits && kind > 1)
				value = static_cast<int32_t>(table.start + (*this)(1, range));
			else if (kind % 2)
				value = static_cast<int32_t>(edge + magnitude());
			else
				value = static_cast<int32_t>(edge + (*this)(-3, 3));
		}
		return values;
	}

private:
	LutSlope slope()
	{
		const int64_t scale = (*this)(INT16_MIN, INT16_MAX);

		return { static_cast<int16_t>(flat_ ? 0 : scale),
			 static_cast<int8_t>((*this)(-16, 15)) };
	}

	LutTableConfig table(bool exponential)
	{
		return { .exponential = exponential,
			 .indexOffset = static_cast<int8_t>((*this)(-64, 33)),
			 .indexSelect = static_cast<int8_t>((*this)(-12, coin() ? 14 : 35)),
			 .start = magnitude(),
			 .end = magnitude(),
			 .underflow = slope(),
			 .overflow = slope() };
	}

	std::mt19937 engine_;
	bool flat_ = false; /* functions have no slopes beyond their edges */
};

bool operator==(const LutCounters &a, const LutCounters &b)
{
	return a.underflow == b.underflow && a.overflow == b.overflow && a.hybrid == b.hybrid &&
	       a.leHit == b.leHit && a.loHit == b.loHit;
}

} /* namespace */

TEST(FastLut, IsTheReference)
{
	Random random(401);
	LutCounters all;

	for (int round = 0; round < 2000; round++) {
		const LutConfig config = random.config();
		const LutTables tables = random.tables();
		const LutVariant &variant = random.coin() ? sdpLut : cdpLut;
		const Lut lut(variant, config, tables);
		const auto inputs = random.inputs(config, 32 * static_cast<size_t>(random(1, 8)));
		std::vector<int32_t> expected;
		LutCounters expectedCounters;

		for (int32_t x : inputs)
			expected.push_back(static_cast<int32_t>(lut.lookup(x, expectedCounters)));
		forEachTarget([&] {
			if (!FastLut::accepts(config))
				return;
			auto values = inputs;
			LutCounters counters;
			FastLut(variant, config, tables, true).lookup(values, counters);
			ASSERT_EQ(values, expected);
			ASSERT_TRUE(counters == expectedCounters);
			all.underflow += counters.underflow;
			all.overflow += counters.overflow;
			all.leHit += counters.leHit;
			all.loHit += counters.loHit;
		});
	}
	/* All ways through were gone. */
	for (uint32_t count : { all.underflow, all.overflow, all.leHit, all.loHit })
		EXPECT_GT(count, 10000U);
}

TEST(FastLut, RefusesWhatDoublesDoNotHold)
{
	LutConfig config;

	config.lo.indexSelect = 36;
	EXPECT_FALSE(FastLut::accepts(config));
	config.lo.indexSelect = 35;
	config.le.start = (int64_t{ 1 } << 34) + 1;
	EXPECT_FALSE(FastLut::accepts(config));
	config.le.start = 0;
	config.le.exponential = true;
	config.le.indexOffset = 35;
	EXPECT_FALSE(FastLut::accepts(config));
}

} /* namespace nvdla::sim */
