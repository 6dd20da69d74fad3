/* SPDX-License-Identifier: MIT */
/*
 * Converts tables and their registers to the number types of the vector code.
 */
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "arith/float.h"
#include "lut/lut_fast.h"

namespace nvdla::sim
{

using namespace arith;

namespace
{

/* With larger edges or steps, a distance would not be exact in a double. */
constexpr int64_t largestEdge = int64_t{ 1 } << 34;
constexpr int largestSelect = 35;
/* 32 bits hold the product of an entry and a distance within a step of at most 2^14. */
constexpr int largestNarrowShift = 14;

bool acceptsTable(const LutTableConfig &table)
{
	return std::abs(table.start) <= largestEdge && std::abs(table.end) <= largestEdge &&
	       std::abs(table.underflowEdge()) <= largestEdge &&
	       (table.exponential || table.indexSelect <= largestSelect);
}

FastLut::Edge edgeOf(int64_t edge, const LutSlope &slope, int16_t entry)
{
	return { .edge = static_cast<double>(edge),
		 .slope = std::ldexp(slope.scale, -slope.shift),
		 .entry = static_cast<double>(entry) };
}

template<size_t entryCount>
FastLut::Table tableOf(const LutTableConfig &config, const std::array<int16_t, entryCount> &entries,
		       size_t firstPair)
{
	return { .exponential = config.exponential,
		 .start = static_cast<double>(config.start),
		 .indexOffset = static_cast<double>(config.indexOffset),
		 .indexScale = std::ldexp(1.0, -config.indexSelect),
		 .last = static_cast<double>(entryCount - 1),
		 .firstPair = static_cast<double>(firstPair),
		 .underflow = edgeOf(config.underflowEdge(), config.underflow, entries.front()),
		 .overflow = edgeOf(config.end, config.overflow, entries.back()) };
}

bool isFlat(const LutTableConfig &config)
{
	return config.underflow.scale == 0 && config.overflow.scale == 0;
}

template<size_t entryCount>
void putPairs(const std::array<int16_t, entryCount> &entries, int32_t *pairs)
{
	for (size_t i = 0; i + 1 < entryCount; i++)
		pairs[i] = static_cast<uint16_t>(entries[i]) | entries[i + 1] * 0x10000;
}

/* Range of the distances from the table's start that hit the table. */
struct Distances {
	int64_t first;
	int64_t end;
};

Distances distancesThatHit(const LutTableConfig &config, int64_t steps)
{
	/* Clips a shift to 40 bits: no distance has more. */
	const auto bits = [](int64_t count) { return std::clamp<int64_t>(count, 0, 40); };

	if (config.exponential)
		return { int64_t{ 1 } << bits(config.indexOffset),
			 int64_t{ 1 } << bits(config.indexOffset + steps) };
	if (config.indexSelect < 0)
		return { 1, ((steps - 1) >> bits(-config.indexSelect)) + 1 };
	return { 1, steps << config.indexSelect };
}

/* \return true if an input of 32 bits can hit a table */
bool canHit(const LutTableConfig &config, int64_t steps)
{
	const Distances distances = distancesThatHit(config, steps);

	return distances.first < distances.end && config.start + distances.first <= INT32_MAX &&
	       config.start + distances.end > INT32_MIN;
}

bool interpolatesNarrow(const LutTableConfig &config)
{
	return !config.exponential && config.indexSelect >= 0 &&
	       config.indexSelect <= largestNarrowShift;
}

/* \return bits of a distance within a step, for both tables; 0 if 32 bits do not suffice */
int narrowShiftOf(const LutConfig &config)
{
	int shift = 0;

	if (!canHit(config.le, FastLut::lePairs) || !canHit(config.lo, FastLut::loPairs))
		return 0;
	for (const LutTableConfig *table : { &config.le, &config.lo })
		if (interpolatesNarrow(*table))
			shift = std::max<int>({ shift, table->indexSelect, 1 });
	return shift;
}

FastLut::Narrow narrowOf(const LutTableConfig &config, size_t steps, size_t firstPair,
			 int narrowShift)
{
	const Distances distances = distancesThatHit(config, static_cast<int64_t>(steps));
	const bool interpolates = interpolatesNarrow(config);
	const auto clipped = [](int64_t x) {
		return static_cast<int32_t>(std::clamp<int64_t>(x, INT32_MIN, INT32_MAX));
	};

	return { .interpolates = interpolates,
		 .first = clipped(config.start + distances.first),
		 .final = clipped(config.start + distances.end - 1),
		 .start = static_cast<int32_t>(config.start),
		 .shift = interpolates ? config.indexSelect : 0,
		 .toCommon = interpolates ? narrowShift - config.indexSelect : 0,
		 .firstPair = static_cast<int32_t>(firstPair) };
}

FastLut::NarrowTables narrowTablesOf(const LutConfig &config)
{
	const int shift = narrowShiftOf(config);

	return { .shift = shift,
		 .le = narrowOf(config.le, FastLut::lePairs, 0, shift),
		 .lo = narrowOf(config.lo, FastLut::loPairs, FastLut::lePairs, shift) };
}

constexpr int largestFloatSelect = 60;

bool isOrdinaryFp32(int64_t fp32Bits)
{
	const auto bits = static_cast<uint32_t>(fp32Bits);

	return Fp32::isZero(bits) ||
	       (Fp32::exponent(bits) != 0 && Fp32::exponent(bits) != Fp32::kExponentMax);
}

bool isFiniteHalf(int16_t half)
{
	return Fp16::exponent(static_cast<uint16_t>(half)) != Fp16::kExponentMax;
}

/* Conversion without rounding: FP32 (and FP17) contain all numbers of FP16. */
int32_t fp32OfHalf(int16_t half)
{
	return static_cast<int32_t>(fp16ToFp32(static_cast<uint16_t>(half)));
}

template<size_t count>
bool acceptsFloatTable(const LutTableConfig &table, const std::array<int16_t, count> &entries)
{
	return isOrdinaryFp32(table.start) && isOrdinaryFp32(table.end) &&
	       isOrdinaryFp32(table.underflowEdgeFloat()) && isFiniteHalf(table.underflow.scale) &&
	       isFiniteHalf(table.overflow.scale) &&
	       std::abs(table.indexSelect) <= largestFloatSelect &&
	       std::ranges::all_of(entries, isFiniteHalf);
}

template<size_t count>
FloatLut::Table floatTableOf(const LutTableConfig &config,
			     const std::array<int16_t, count> &entries, size_t firstPair)
{
	return { .exponential = config.exponential,
		 .start = static_cast<int32_t>(config.start),
		 .indexOffset = config.indexOffset,
		 .indexScale = std::ldexp(1.F, -config.indexSelect),
		 .last = static_cast<int32_t>(count - 1),
		 .firstPair = static_cast<int32_t>(firstPair),
		 .underflow = { static_cast<int32_t>(config.underflowEdgeFloat()),
				fp32OfHalf(config.underflow.scale), fp32OfHalf(entries.front()) },
		 .overflow = { static_cast<int32_t>(config.end), fp32OfHalf(config.overflow.scale),
			       fp32OfHalf(entries.back()) } };
}

} /* namespace */

bool FastLut::accepts(const LutConfig &config)
{
	return acceptsTable(config.le) && acceptsTable(config.lo) && hasVectors();
}

FastLut::Rules FastLut::rulesOf(const LutVariant &variant, const LutConfig &config, bool counts)
{
	return { .variant = variant,
		 .counts = counts,
		 .flatEdges = isFlat(config.le) && isFlat(config.lo),
		 .hybridSelectsLo = config.hybridSelectsLo,
		 .underflowDiffers = config.underflowSelectsLo != config.hybridSelectsLo,
		 .overflowDiffers = config.overflowSelectsLo != config.hybridSelectsLo };
}

LutPairs lutPairs(const LutTables &tables)
{
	LutPairs pairs;

	putPairs(tables.le, pairs.data());
	putPairs(tables.lo, pairs.data() + FastLut::lePairs);
	return pairs;
}

FastLut::FastLut(const LutVariant &variant, const LutConfig &config, const LutTables &tables,
		 bool counts)
	: rules(rulesOf(variant, config, counts)), le(tableOf(config.le, tables.le, 0)),
	  lo(tableOf(config.lo, tables.lo, lePairs)), narrow(narrowTablesOf(config)),
	  pairs(lutPairs(tables))
{
}

bool FloatLut::accepts(const LutConfig &config, const LutTables &tables)
{
	return acceptsFloatTable(config.le, tables.le) && acceptsFloatTable(config.lo, tables.lo);
}

FloatLut::FloatLut(const LutVariant &variant, const LutConfig &config, const LutTables &tables,
		   bool counts)
	: rules(FastLut::rulesOf(variant, config, counts)),
	  le(floatTableOf(config.le, tables.le, 0)),
	  lo(floatTableOf(config.lo, tables.lo, FastLut::lePairs))
{
	const LutPairs pairs = lutPairs(tables);

	for (size_t i = 0; i < pairs.size(); i++) {
		const uint32_t entry = fp16ToFp32(static_cast<uint16_t>(pairs[i]));
		const uint32_t next = fp16ToFp32(static_cast<uint16_t>(pairs[i] >> 16));
		const uint32_t rise = fp17ToFp32(fp32ToFp17(subtract<Fp32>(next, entry)));
		entries[i] = static_cast<int32_t>(entry);
		nexts[i] = static_cast<int32_t>(variant.weighted ? next : rise);
	}
}

} /* namespace nvdla::sim */
