/* SPDX-License-Identifier: MIT */
/*
 * Follows NVDLA's programming guide, "Limitation", LUT. Documentation/device-model/lut.md has the
 * rules of hits, misses and slopes.
 */
#include "lut_format.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>

#include <nvdla/half.h>
#include <nvdla/rounding.h>

#include "half_range.h"

namespace nvdla
{

namespace
{

constexpr int minSlopeShift = -16, maxSlopeShift = 15;

int64_t edgeBits(const LutHalf &table, double value)
{
	if (table.half)
		return std::bit_cast<uint32_t>(
			static_cast<float>(std::clamp<double>(value, -FLT_MAX, FLT_MAX)));
	/* The end of an exponential table may be larger than its register can hold: clip it. */
	if (table.exponential)
		value = std::min<double>(value, INT32_MAX);
	return static_cast<int64_t>(value);
}

double edgeValue(bool half, int64_t bits)
{
	if (half)
		return std::bit_cast<float>(static_cast<uint32_t>(bits));
	return static_cast<double>(bits);
}

LutEdge edgeOf(const LutSlope &slope, bool half)
{
	return { slope, half ? halfToFloat(static_cast<uint16_t>(slope.scale))
			     : std::ldexp(slope.scale, -slope.shift) };
}

template<size_t count>
LutHalf halfOf(const LutEntries<count> &table, DataType type)
{
	LutHalf half;

	half.half = type == DataType::Half;
	half.step = table.step;
	half.start = edgeValue(half.half, table.start);
	half.entries.assign(table.entries.begin(), table.entries.end());
	half.underflow = edgeOf(table.underflow, half.half);
	half.overflow = edgeOf(table.overflow, half.half);
	return half;
}

template<size_t count>
LutEntries<count> entriesOf(const LutHalf &half)
{
	LutEntries<count> table;

	std::copy(half.entries.begin(), half.entries.end(), table.entries.begin());
	table.step = static_cast<int8_t>(half.step);
	table.start = edgeBits(half, half.start);
	table.end = edgeBits(half, half.input(half.steps()));
	table.underflow = half.underflow.slope;
	table.overflow = half.overflow.slope;
	return table;
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
	LutSlope slope;
	const IntegerLimits limits = integerLimits(16U);

	if (!std::isfinite(gradient))
		gradient = 0;
	if (half) {
		slope.scale = static_cast<int16_t>(floatToHalf(
			static_cast<float>(std::clamp(gradient, -largestHalf, largestHalf))));
	} else {
		int shift = maxSlopeShift;
		while (shift > minSlopeShift && std::fabs(roundReal(std::ldexp(gradient, shift))) >
							static_cast<double>(limits.highest))
			shift--;
		slope.shift = static_cast<int8_t>(shift);
		slope.scale = static_cast<int16_t>(limits.saturate(std::ldexp(gradient, shift)));
	}
	return edgeOf(slope, half);
}

void LutHalf::fill(const std::function<double(double)> &function, double low, double high)
{
	for (size_t i = 0; i < entries.size(); i++) {
		double y = function(input(i));
		if (!std::isfinite(y))
			y = function(std::clamp(input(i), low, high));
		entries[i] = half ? static_cast<int16_t>(floatToHalf(static_cast<float>(
					    std::clamp(y, -largestHalf, largestHalf))))
				  : static_cast<int16_t>(integerLimits(16U).saturate(y));
	}

	/* Measure the slope of the function beyond the edge over a minimum width, because a step
	 * may be too small for that. */
	const double width = std::max(distance(1), (high - low) * 0x1p-12);
	const double first = input(0), last = input(steps());
	underflow = edge((function(first) - function(first - width)) / width);
	overflow = edge((function(last + width) - function(last)) / width);
}

void LutHalf::straighten(const std::function<double(double)> &function)
{
	auto gradientTo = [&](double end, size_t index) {
		return (function(end) - entry(index)) / (end - input(index));
	};

	underflow = edge(gradientTo(-largestHalf, 0));
	overflow = edge(gradientTo(largestHalf, steps()));
}

LutHalf leHalf(const Lut &lut, DataType type)
{
	LutHalf half = halfOf(lut.le, type);

	half.exponential = lut.exponential;
	return half;
}

LutHalf loHalf(const Lut &lut, DataType type)
{
	return halfOf(lut.lo, type);
}

Lut lutOf(const LutHalf &le, const LutHalf &lo)
{
	return { .le = entriesOf<Lut::leCount>(le),
		 .lo = entriesOf<Lut::loCount>(lo),
		 .exponential = le.exponential,
		 .hybridSelectsLo = true };
}

} /* namespace nvdla */
