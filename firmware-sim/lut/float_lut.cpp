/* SPDX-License-Identifier: MIT */
#include "lut/float_lut.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "arith/float.h"

namespace nvdla::sim
{

using namespace arith;

namespace
{

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

/* FP32 and FP17 have all numbers of FP16. */
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
