/* SPDX-License-Identifier: MIT */
/*
 * Programming guide, "Limitation", LUT; the rules of hits, misses and slopes are those of
 * Documentation/device-model/lut.md.
 */
#include "lut_format.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>

#include <nvdla/half.h>
#include <nvdla/rounding.h>

namespace nvdla
{

namespace
{

constexpr int minSlopeShift = -16, maxSlopeShift = 15;

uint64_t edgeBits(const LutHalf &table, double value)
{
	if (table.half)
		return std::bit_cast<uint32_t>(
			static_cast<float>(std::clamp<double>(value, -FLT_MAX, FLT_MAX)));
	/* The end of an exponential table is beyond every register. */
	if (table.exponential)
		value = std::min<double>(value, INT32_MAX);
	return static_cast<uint64_t>(static_cast<int64_t>(value));
}

double edgeValue(bool half, uint64_t bits)
{
	if (half)
		return std::bit_cast<float>(static_cast<uint32_t>(bits));
	return static_cast<double>(static_cast<int64_t>(bits));
}

double gradientOf(const nvdla_lut_slope &slope, bool half)
{
	if (half)
		return halfToFloat(static_cast<uint16_t>(slope.field.scale));
	return std::ldexp(slope.field.scale, -slope.field.shifter);
}

} /* namespace */

double LutHalf::distance(size_t index) const
{
	const auto i = static_cast<int>(index);

	return exponential ? std::ldexp(1, step + i) : std::ldexp(i, step);
}

double LutHalf::entry(size_t index) const
{
	const int16_t bits = entries[index];

	return half ? halfToFloat(static_cast<uint16_t>(bits)) : bits;
}

bool LutHalf::underflows(double x) const
{
	return exponential ? x - start < distance(0) : x <= start;
}

bool LutHalf::hits(double x) const
{
	return !underflows(x) && x - start < distance(steps());
}

double LutHalf::value(double x) const
{
	const double way = x - start;

	if (underflows(x))
		return entry(0) + (way - distance(0)) * underflow.gradient;
	if (!hits(x))
		return entry(steps()) + (way - distance(steps())) * overflow.gradient;

	const double scaled = std::ldexp(way, -step);
	const auto index = static_cast<size_t>(exponential ? std::ilogb(scaled) : scaled);
	const double from = distance(index), to = distance(index + 1);
	const double fraction = (way - from) / (to - from);
	return entry(index) * (1 - fraction) + entry(index + 1) * fraction;
}

LutEdge LutHalf::edge(double gradient) const
{
	LutEdge edge;
	const IntegerLimits limits = integerLimits(16U);

	if (!std::isfinite(gradient))
		gradient = 0;
	if (half) {
		edge.slope.field.scale = static_cast<int16_t>(
			floatToHalf(static_cast<float>(std::clamp(gradient, -65504.0, 65504.0))));
	} else {
		int shift = maxSlopeShift;
		while (shift > minSlopeShift && std::fabs(roundReal(std::ldexp(gradient, shift))) >
							static_cast<double>(limits.highest))
			shift--;
		edge.slope.field.shifter = static_cast<int8_t>(shift);
		edge.slope.field.scale =
			static_cast<int16_t>(limits.saturate(std::ldexp(gradient, shift)));
	}
	edge.gradient = gradientOf(edge.slope, half);
	return edge;
}

void LutHalf::fill(const std::function<double(double)> &function, double low, double high)
{
	for (size_t i = 0; i < entries.size(); i++) {
		double y = function(input(i));
		if (!std::isfinite(y))
			y = function(std::clamp(input(i), low, high));
		entries[i] = half ? static_cast<int16_t>(floatToHalf(
					    static_cast<float>(std::clamp(y, -65504.0, 65504.0))))
				  : static_cast<int16_t>(integerLimits(16U).saturate(y));
	}

	/* The slope is that of the function beyond the edge; steps may be too small for it. */
	const double width = std::max(distance(1), (high - low) * 0x1p-12);
	const double first = input(0), last = input(steps());
	underflow = edge((function(first) - function(first - width)) / width);
	overflow = edge((function(last + width) - function(last)) / width);
}

LutHalf lutHalf(const nvdla_lut_desc &desc, DataType type, bool lo)
{
	LutHalf table;

	table.half = type == DataType::Half;
	table.exponential = !lo && desc.method == NVDLA_LUT_EXPONENTIAL;
	table.step = (lo ? desc.lo_offset : desc.le_offset).field.value;
	table.start = edgeValue(table.half, lo ? desc.lo_start : desc.le_start);
	if (lo)
		table.entries.assign(std::begin(desc.lo_table), std::end(desc.lo_table));
	else
		table.entries.assign(std::begin(desc.le_table), std::end(desc.le_table));
	table.underflow.slope = lo ? desc.lo_underflow : desc.le_underflow;
	table.overflow.slope = lo ? desc.lo_overflow : desc.le_overflow;
	table.underflow.gradient = gradientOf(table.underflow.slope, table.half);
	table.overflow.gradient = gradientOf(table.overflow.slope, table.half);
	return table;
}

nvdla_lut_desc lutDescriptor(const LutHalf &le, const LutHalf &lo)
{
	nvdla_lut_desc desc = {};

	std::copy(le.entries.begin(), le.entries.end(), desc.le_table);
	std::copy(lo.entries.begin(), lo.entries.end(), desc.lo_table);
	desc.method = le.exponential ? NVDLA_LUT_EXPONENTIAL : NVDLA_LUT_LINEAR;
	desc.le_offset.field.value = static_cast<int8_t>(le.step);
	desc.lo_offset.field.value = static_cast<int8_t>(lo.step);
	desc.le_start = edgeBits(le, le.start);
	desc.lo_start = edgeBits(lo, lo.start);
	desc.le_end = edgeBits(le, le.input(le.steps()));
	desc.lo_end = edgeBits(lo, lo.input(lo.steps()));
	desc.le_underflow = le.underflow.slope;
	desc.le_overflow = le.overflow.slope;
	desc.lo_underflow = lo.underflow.slope;
	desc.lo_overflow = lo.overflow.slope;
	desc.hybrid_priority = NVDLA_LUT_PRIORITY_LO;
	desc.underflow_priority = NVDLA_LUT_PRIORITY_LE;
	desc.overflow_priority = NVDLA_LUT_PRIORITY_LE;
	return desc;
}

} /* namespace nvdla */
