/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include <nvdla/half.h>

#include "reference.h"

namespace nvdla::test
{

namespace
{

constexpr int sdpFractionBits = 35;
constexpr int cdpFractionBits = 16;

enum class Outcome { Hit, Underflow, Overflow };

/* Where an input falls in one table. */
struct Position {
	Outcome outcome = Outcome::Hit;
	size_t index = 0;
	double fraction = 0; /* exact: of at most 35 bits */
};

/* One of the two tables, as numbers. */
struct Table {
	std::span<const int16_t> entries;
	size_t last;
	bool exponential;
	int offset; /* exponent of the first step, or of all steps */
	double start;
	double end;
	LutSlope underflow;
	LutSlope overflow;
};

double edge(int64_t bits, bool isFloat)
{
	if (isFloat)
		return std::bit_cast<float>(static_cast<uint32_t>(bits));
	return static_cast<double>(bits);
}

Table exponentialOrLinear(const Lut &lut, bool isFloat)
{
	return { lut.le.entries,
		 lut.le.entries.size() - 1,
		 lut.exponential,
		 lut.le.step,
		 edge(lut.le.start, isFloat),
		 edge(lut.le.end, isFloat),
		 lut.le.underflow,
		 lut.le.overflow };
}

Table linearOnly(const Lut &lut, bool isFloat)
{
	return { lut.lo.entries,
		 lut.lo.entries.size() - 1,
		 false,
		 lut.lo.step,
		 edge(lut.lo.start, isFloat),
		 edge(lut.lo.end, isFloat),
		 lut.lo.underflow,
		 lut.lo.overflow };
}

/* x <= start underflows, also the start itself. \a distance is x - start. */
Position locate(const Table &table, double distance, int fractionBits)
{
	if (!(distance > 0))
		return { Outcome::Underflow };

	const int top = std::ilogb(distance);
	const double step = std::ldexp(1.0, table.exponential ? top : table.offset);
	const double place =
		table.exponential ? top - table.offset + distance / step - 1 : distance / step;
	if (place < 0)
		return { Outcome::Underflow };
	if (place >= static_cast<double>(table.last))
		return { Outcome::Overflow };
	const double scaled = std::ldexp(place - std::floor(place), fractionBits);
	return { Outcome::Hit, static_cast<size_t>(place),
		 std::ldexp(std::floor(scaled), -fractionBits) };
}

/* Which table answers: true for the linear one. */
bool selectsLinear(const Lut &lut, const Position &le, const Position &lo)
{
	const bool leHit = le.outcome == Outcome::Hit;
	const bool loHit = lo.outcome == Outcome::Hit;

	if (leHit != loHit)
		return loHit;
	if (leHit || le.outcome != lo.outcome)
		return lut.hybridSelectsLo;
	return le.outcome == Outcome::Underflow ? lut.underflowSelectsLo : lut.overflowSelectsLo;
}

/* An exponential table's first entry stands a power of two behind its start. */
double underflowBias(const Table &table, bool isFloat)
{
	if (!table.exponential || (!isFloat && table.offset < 0))
		return 0;
	return std::ldexp(1.0, table.offset);
}

int64_t interpolate(const Table &table, const Position &position, LutUnit unit)
{
	const auto y0 = static_cast<int64_t>(table.entries[position.index]);
	const auto y1 = static_cast<int64_t>(table.entries[position.index + 1]);
	const int bits = unit == LutUnit::Sdp ? sdpFractionBits : cdpFractionBits;
	const auto fraction = static_cast<int64_t>(std::ldexp(position.fraction, bits));

	if (unit == LutUnit::Sdp)
		return shiftRight(y0 * ((int64_t{ 1 } << bits) - fraction) + y1 * fraction, bits);
	return y0 + shiftRight((y1 - y0) * fraction, bits);
}

int64_t extrapolate(const Table &table, bool below, double x)
{
	const LutSlope &slope = below ? table.underflow : table.overflow;
	const double from = below ? table.start + underflowBias(table, false) : table.end;
	const auto product = static_cast<int64_t>(x - from) * slope.scale;
	const int shift = slope.shift;
	const int64_t rise = shift >= 0 ? shiftRight(product, shift)
					: saturate(product * (int64_t{ 1 } << -shift), 33);

	return table.entries[below ? 0 : table.last] + saturate(rise, 32);
}

double half(int bits)
{
	return halfToFloat(static_cast<uint16_t>(bits));
}

} /* namespace */

int64_t lookUp(const Lut &lut, LutUnit unit, int64_t x)
{
	const Table tables[] = { exponentialOrLinear(lut, false), linearOnly(lut, false) };
	const int bits = unit == LutUnit::Sdp ? sdpFractionBits : cdpFractionBits;
	const auto value = static_cast<double>(x);
	const Position le = locate(tables[0], value - tables[0].start, bits);
	const Position lo = locate(tables[1], value - tables[1].start, bits);
	const bool linear = selectsLinear(lut, le, lo);
	const Position &position = linear ? lo : le;
	const Table &table = tables[linear];
	const int64_t y =
		position.outcome == Outcome::Hit
			? interpolate(table, position, unit)
			: extrapolate(table, position.outcome == Outcome::Underflow, value);

	return saturate(y, unit == LutUnit::Sdp ? 32 : 16);
}

double lookUpFloat(const Lut &lut, LutUnit unit, double x)
{
	const Table tables[] = { exponentialOrLinear(lut, true), linearOnly(lut, true) };
	const int bits = unit == LutUnit::Sdp ? sdpFractionBits : cdpFractionBits;
	const Position le = locate(tables[0], roundTo(x - tables[0].start, fp32Bits), bits);
	const Position lo = locate(tables[1], roundTo(x - tables[1].start, fp32Bits), bits);
	const bool linear = selectsLinear(lut, le, lo);
	const Position &position = linear ? lo : le;
	const Table &table = tables[linear];

	if (position.outcome == Outcome::Hit) {
		const double y0 = half(table.entries[position.index]);
		const double y1 = half(table.entries[position.index + 1]);
		const double f = roundTo(position.fraction, fp17Bits);
		if (unit == LutUnit::Cdp) {
			const double rise = roundTo(roundTo(y1 - y0, fp32Bits), fp17Bits);
			return roundTo(roundTo(rise * f, fp17Bits) + y0, fp17Bits);
		}
		const double g = roundTo(1 - position.fraction, fp17Bits);
		return roundTo(roundTo(g * y0, fp17Bits) + roundTo(f * y1, fp17Bits), fp17Bits);
	}
	const bool below = position.outcome == Outcome::Underflow;
	const double from =
		below ? roundTo(table.start + underflowBias(table, true), fp32Bits) : table.end;
	const double distance = roundTo(roundTo(x - from, fp32Bits), fp17Bits);
	const double slope = half((below ? table.underflow : table.overflow).scale);
	return roundTo(roundTo(distance * slope, fp17Bits) +
			       half(table.entries[below ? 0 : table.last]),
		       fp17Bits);
}

} /* namespace nvdla::test */
