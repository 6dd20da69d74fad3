/* SPDX-License-Identifier: MIT */
#include "lut/lut.h"

#include <algorithm>
#include <bit>

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "arith/integer.h"

namespace nvdla::sim
{

using namespace arith;

/* SDP and CDP have the same fields in these registers. */
static_assert(NVDLA_SDP_S_LUT_CFG__LUT_LE_FUNCTION == NVDLA_CDP_S_LUT_CFG__LUT_LE_FUNCTION);
static_assert(NVDLA_SDP_S_LUT_CFG__LUT_UFLOW_PRIORITY == NVDLA_CDP_S_LUT_CFG__LUT_UFLOW_PRIORITY);
static_assert(NVDLA_SDP_S_LUT_CFG__LUT_OFLOW_PRIORITY == NVDLA_CDP_S_LUT_CFG__LUT_OFLOW_PRIORITY);
static_assert(NVDLA_SDP_S_LUT_CFG__LUT_HYBRID_PRIORITY == NVDLA_CDP_S_LUT_CFG__LUT_HYBRID_PRIORITY);
static_assert(NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_OFFSET ==
	      NVDLA_CDP_S_LUT_INFO__LUT_LE_INDEX_OFFSET);
static_assert(NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_SELECT ==
	      NVDLA_CDP_S_LUT_INFO__LUT_LE_INDEX_SELECT);
static_assert(NVDLA_SDP_S_LUT_INFO__LUT_LO_INDEX_SELECT ==
	      NVDLA_CDP_S_LUT_INFO__LUT_LO_INDEX_SELECT);
static_assert(NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_OFLOW_SHIFT ==
	      NVDLA_CDP_S_LUT_LO_SLOPE_SHIFT__LUT_LO_SLOPE_OFLOW_SHIFT);
static_assert(NVDLA_SDP_S_LUT_LE_SLOPE_SCALE__LUT_LE_SLOPE_OFLOW_SCALE ==
	      NVDLA_CDP_S_LUT_LO_SLOPE_SCALE__LUT_LO_SLOPE_OFLOW_SCALE);

namespace
{

constexpr uint32_t lastOfLe = LutTables::leEntries - 1;
constexpr uint32_t lastOfLo = LutTables::loEntries - 1;

/* Larger shifts give the same results: inputs have at most 40 bits. */
constexpr int maxBiasShift = 40;

/* \return the low \a bits of a distance, as a fraction of \a fractionBits bits */
uint64_t toFraction(uint64_t distance, int bits, unsigned fractionBits)
{
	if (bits <= 0)
		return 0;

	const int drop = bits - static_cast<int>(fractionBits);
	const uint64_t part = bits < 64 ? distance & ((uint64_t{ 1 } << bits) - 1) : distance;
	if (drop >= 64)
		return 0;
	return drop >= 0 ? part >> drop : part << -drop;
}

uint32_t underflowBiasFloat(const LutTableConfig &table)
{
	if (!table.exponential || table.indexOffset <= -Fp32::kBias)
		return 0;
	return Fp32::pack(0, table.indexOffset + Fp32::kBias, 0);
}

} /* namespace */

LutConfig decodeLut(uint32_t config, uint32_t info)
{
	LutConfig lut;

	lut.le.exponential = NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_CFG__LUT_LE_FUNCTION, config) ==
			     NVDLA_SDP_S_LUT_CFG__LUT_LE_FUNCTION__EXPONENT;
	lut.underflowSelectsLo = config & NVDLA_SDP_S_LUT_CFG__LUT_UFLOW_PRIORITY;
	lut.overflowSelectsLo = config & NVDLA_SDP_S_LUT_CFG__LUT_OFLOW_PRIORITY;
	lut.hybridSelectsLo = config & NVDLA_SDP_S_LUT_CFG__LUT_HYBRID_PRIORITY;
	lut.le.indexOffset = static_cast<int8_t>(
		NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_OFFSET, info));
	lut.le.indexSelect = static_cast<int8_t>(
		NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_SELECT, info));
	lut.lo.indexSelect = static_cast<int8_t>(
		NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_INFO__LUT_LO_INDEX_SELECT, info));
	return lut;
}

void decodeLutSlopes(LutTableConfig &table, uint32_t scale, uint32_t shift)
{
	const uint32_t low =
		NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_UFLOW_SHIFT, shift);
	const uint32_t high =
		NVDLA_FIELD_GET(NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_OFLOW_SHIFT, shift);

	table.underflow.scale = static_cast<int16_t>(scale);
	table.overflow.scale = static_cast<int16_t>(scale >> 16);
	table.underflow.shift = static_cast<int8_t>(arith::signExtend<5>(low));
	table.overflow.shift = static_cast<int8_t>(arith::signExtend<5>(high));
}

/* The first entry of an exponential table is for the input start + 2^indexOffset. */
int64_t LutTableConfig::underflowEdge() const
{
	if (!exponential || indexOffset < 0)
		return start;
	return start + (int64_t{ 1 } << std::min<int>(indexOffset, maxBiasShift));
}

uint32_t LutTableConfig::underflowEdgeFloat() const
{
	const auto edge = static_cast<uint32_t>(start);

	return exponential ? add<Fp32>(edge, underflowBiasFloat(*this)) : edge;
}

Lut::Position Lut::locate(const LutTableConfig &table, uint32_t last, int64_t x) const
{
	if (x <= table.start)
		return { .outcome = Outcome::Underflow };

	const auto distance = static_cast<uint64_t>(x - table.start);
	const int top = 63 - std::countl_zero(distance);
	int64_t index;
	int fractionBits;

	if (table.exponential) {
		index = top - table.indexOffset;
		fractionBits = top;
		if (index < 0)
			return { .outcome = Outcome::Underflow };
	} else {
		const int select = table.indexSelect;
		fractionBits = select;
		if (select >= 0)
			index = select < 64 ? static_cast<int64_t>(distance >> select) : 0;
		else /* an index of 9 bits or more is beyond every table */
			index = top - select < 9 ? static_cast<int64_t>(distance << -select) : last;
	}

	if (index >= last)
		return { .outcome = Outcome::Overflow };
	return { .index = static_cast<uint32_t>(index),
		 .fraction = toFraction(distance, fractionBits, variant_.fractionBits) };
}

Lut::Position Lut::locateFloat(const LutTableConfig &table, uint32_t last, uint32_t x) const
{
	const uint32_t distance = subtract<Fp32>(x, static_cast<uint32_t>(table.start));

	if (Fp32::sign(distance) || Fp32::isZero(distance) || Fp32::isNan(distance))
		return { .outcome = Outcome::Underflow };

	const int exponent = Fp32::exponent(distance) - Fp32::kBias;
	const uint64_t significand = Fp32::significand(distance);
	const int mantissaBits = Fp32::kMantissaBits;

	if (table.exponential) {
		const int index = exponent - table.indexOffset;
		if (index < 0)
			return { .outcome = Outcome::Underflow };
		if (index >= static_cast<int>(last))
			return { .outcome = Outcome::Overflow };
		return { .index = static_cast<uint32_t>(index),
			 .fraction = toFraction(significand, mantissaBits, variant_.fractionBits) };
	}

	/* Number of the significand's low bits that weigh less than one step of the index. */
	const int below = mantissaBits - (exponent - table.indexSelect);
	uint64_t index;
	if (below > mantissaBits)
		index = 0;
	else if (below >= mantissaBits - 9)
		index = below >= 0 ? significand >> below : significand << -below;
	else
		index = last;
	if (index >= last)
		return { .outcome = Outcome::Overflow };
	return { .index = static_cast<uint32_t>(index),
		 .fraction = toFraction(significand, below, variant_.fractionBits) };
}

void Lut::count(const Position &le, const Position &lo, Outcome used, LutCounters &counters) const
{
	const bool leHit = le.outcome == Outcome::Hit;
	const bool loHit = lo.outcome == Outcome::Hit;

	if (variant_.countsByResult) {
		counters.leHit += leHit;
		counters.loHit += loHit;
		counters.hybrid += used == Outcome::Hit;
		counters.underflow += used == Outcome::Underflow;
		counters.overflow += used == Outcome::Overflow;
	} else if (leHit != loHit) {
		counters.leHit += leHit;
		counters.loHit += loHit;
	} else if (leHit || le.outcome != lo.outcome) {
		counters.hybrid++;
	} else if (le.outcome == Outcome::Underflow) {
		counters.underflow++;
	} else {
		counters.overflow++;
	}
}

Lut::Choice Lut::choose(const Position &le, const Position &lo, LutCounters &counters) const
{
	const bool leHit = le.outcome == Outcome::Hit;
	const bool loHit = lo.outcome == Outcome::Hit;
	bool selectLo;

	if (leHit != loHit)
		selectLo = loHit;
	else if (leHit || le.outcome != lo.outcome)
		selectLo = config_.hybridSelectsLo;
	else if (le.outcome == Outcome::Underflow)
		selectLo = config_.underflowSelectsLo;
	else
		selectLo = config_.overflowSelectsLo;

	count(le, lo, selectLo ? lo.outcome : le.outcome, counters);
	if (selectLo)
		return { &config_.lo, tables_.lo.data(), lastOfLo, lo };
	return { &config_.le, tables_.le.data(), lastOfLe, le };
}

int64_t Lut::clip(int64_t value) const
{
	const int64_t limit = int64_t{ 1 } << (variant_.outputBits - 1);

	return std::clamp(value, -limit, limit - 1);
}

int64_t Lut::extrapolate(const Choice &choice, int64_t x) const
{
	const LutTableConfig &table = *choice.config;
	const bool below = choice.position.outcome == Outcome::Underflow;
	const LutSlope &slope = below ? table.underflow : table.overflow;
	const int64_t edge = below ? table.underflowEdge() : table.end;
	const int64_t entry = choice.entries[below ? 0 : choice.last];

	/* CDP keeps 56 bits of the product, not 32. Its sum is clipped to 16 bits, so the results
	 * are equal. */
	return clip(entry + truncateSigned<32>((x - edge) * slope.scale, slope.shift));
}

int64_t Lut::interpolate(const Choice &choice) const
{
	const unsigned bits = variant_.fractionBits;
	const auto fraction = static_cast<int64_t>(choice.position.fraction);
	const int64_t y0 = choice.entries[choice.position.index];
	const int64_t y1 = choice.entries[choice.position.index + 1];

	if (variant_.weighted) {
		const int64_t one = int64_t{ 1 } << bits;
		return clip(shiftRightRound(y0 * (one - fraction) + y1 * fraction, bits));
	}
	return clip(y0 + shiftRightRound((y1 - y0) * fraction, bits));
}

int64_t Lut::lookup(int64_t x, LutCounters &counters) const
{
	const Choice choice =
		choose(locate(config_.le, lastOfLe, x), locate(config_.lo, lastOfLo, x), counters);

	return choice.position.outcome == Outcome::Hit ? interpolate(choice)
						       : extrapolate(choice, x);
}

uint32_t Lut::extrapolateFloat(const Choice &choice, uint32_t x) const
{
	const LutTableConfig &table = *choice.config;
	const bool below = choice.position.outcome == Outcome::Underflow;
	const LutSlope &slope = below ? table.underflow : table.overflow;
	const uint32_t edge = below ? table.underflowEdgeFloat() : static_cast<uint32_t>(table.end);
	const uint32_t distance = fp32ToFp17(subtract<Fp32>(x, edge));
	const uint32_t scale = fp16ToFp17(static_cast<uint16_t>(slope.scale));
	const uint32_t entry =
		fp16ToFp17(static_cast<uint16_t>(choice.entries[below ? 0 : choice.last]));
	const uint32_t rise = multiply<Fp17>(distance, scale);

	return variant_.weighted ? add<Fp17>(entry, rise) : add<Fp17>(rise, entry);
}

uint32_t Lut::interpolateFloat(const Choice &choice) const
{
	const auto y0 = static_cast<uint16_t>(choice.entries[choice.position.index]);
	const auto y1 = static_cast<uint16_t>(choice.entries[choice.position.index + 1]);
	const uint64_t fraction = choice.position.fraction;

	if (!variant_.weighted) {
		const uint32_t rise = fp32ToFp17(subtract<Fp32>(fp16ToFp32(y1), fp16ToFp32(y0)));
		const uint32_t part = fractionToFloat<Fp17, cdpLut.fractionBits>(fraction);
		return add<Fp17>(multiply<Fp17>(rise, part), fp16ToFp17(y0));
	}

	constexpr unsigned bits = sdpLut.fractionBits;
	const uint32_t weight0 =
		fraction == 0 ? Fp17::kOne
			      : fractionToFloat<Fp17, bits>((uint64_t{ 1 } << bits) - fraction);
	const uint32_t weight1 = fractionToFloat<Fp17, bits>(fraction);
	return add<Fp17>(multiply<Fp17>(weight0, fp16ToFp17(y0)),
			 multiply<Fp17>(weight1, fp16ToFp17(y1)));
}

uint32_t Lut::lookupFloat(uint32_t x, LutCounters &counters) const
{
	const Choice choice = choose(locateFloat(config_.le, lastOfLe, x),
				     locateFloat(config_.lo, lastOfLo, x), counters);

	return choice.position.outcome == Outcome::Hit ? interpolateFloat(choice)
						       : extrapolateFloat(choice, x);
}

} /* namespace nvdla::sim */
