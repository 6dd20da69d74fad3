/* SPDX-License-Identifier: MIT */
/*
 * Look-ups in SIMD vectors. The file is compiled once for each instruction set (Highway).
 */
#include "lut/lut_fast.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lut/lut_fast.cpp"
#include <hwy/foreach_target.h>
/* Headers that are included once for each instruction set must follow foreach_target.h. */
#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "lut/lut_narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

#if HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;
using BitsTag = hn::RebindToUnsigned<Tag>;

/** Lut::Position for a vector of inputs */
struct Positions {
	Mask hit;
	Mask underflow;
	Vector index;	 /* hit: index of the entry before the input */
	Vector fraction; /* hit: 0 at this entry, 1 at the next */

	HWY_INLINE Positions(const FastLut::Table &table, Vector x)
	{
		const Vector distance = hn::Sub(x, constant(table.start));

		if (table.exponential)
			exponential(table, distance);
		else
			linear(table, distance);
		hit = hn::AndNot(underflow, hn::Lt(index, constant(table.last)));
	}

private:
	HWY_INLINE void linear(const FastLut::Table &table, Vector distance)
	{
		const Vector steps = hn::Mul(distance, constant(table.indexScale));

		index = hn::Floor(steps);
		fraction = hn::Sub(steps, index);
		underflow = hn::Le(distance, hn::Zero(Tag()));
	}

	/* The index is log2 of the distance: its integer and fraction are the distance's exponent
	 * and mantissa. */
	HWY_INLINE void exponential(const FastLut::Table &table, Vector distance)
	{
		constexpr double two52 = 4503599627370496.0; /* 2^52: from here to 2^53, the lowest
							      * bit of a double is worth 1 */
		constexpr double bias = 1023.0;
		const auto bits = hn::BitCast(BitsTag(), distance);
		const auto exponent =
			hn::Or(hn::ShiftRight<52>(bits), hn::BitCast(BitsTag(), constant(two52)));
		const auto mantissa = hn::And(bits, hn::Set(BitsTag(), (uint64_t{ 1 } << 52) - 1));
		const Vector one = constant(1.0);

		index = hn::Sub(hn::BitCast(Tag(), exponent),
				constant(two52 + bias + table.indexOffset));
		fraction = hn::Sub(
			hn::BitCast(Tag(), hn::Or(mantissa, hn::BitCast(BitsTag(), one))), one);
		underflow =
			hn::Or(hn::Le(distance, hn::Zero(Tag())), hn::Lt(index, hn::Zero(Tag())));
	}
};

/** Selects for each lane a member of an edge: of LO or LE, for underflow or overflow */
struct Pick {
	Mask lo;
	Mask underflow;

	HWY_INLINE Vector operator()(const FastLut &lut, double FastLut::Edge::*member) const
	{
		const auto of = [&](const FastLut::Table &table) HWY_ATTR {
			return hn::IfThenElse(underflow, constant(table.underflow.*member),
					      constant(table.overflow.*member));
		};

		return hn::IfThenElse(lo, of(lut.lo), of(lut.le));
	}
};

HWY_INLINE Vector extrapolate(const FastLut &lut, const Pick &pick, Vector x)
{
	const Vector distance = hn::Sub(x, pick(lut, &FastLut::Edge::edge));
	const Vector rise = roundAway(hn::Mul(distance, pick(lut, &FastLut::Edge::slope)));
	const Vector y =
		hn::Add(pick(lut, &FastLut::Edge::entry), clip(rise, INT32_MIN, INT32_MAX));
	const double limit = std::ldexp(1.0, static_cast<int>(lut.rules.variant.outputBits) - 1);

	return clip(y, -limit, limit - 1);
}

HWY_INLINE Vector interpolate(const FastLut &lut, Mask hit, Mask lo, const Positions &leAt,
			      const Positions &loAt)
{
	const IntegerTag tag;
	const Vector fraction = hn::IfThenElse(lo, loAt.fraction, leAt.fraction);
	const Vector index =
		hn::IfThenElse(lo, hn::Add(loAt.index, constant(lut.lo.firstPair)), leAt.index);
	const auto pairs = hn::GatherIndex(tag, lut.pairs.data(),
					   hn::DemoteTo(tag, hn::IfThenElseZero(hit, index)));
	const Vector y0 = hn::PromoteTo(Tag(), hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)));
	const Vector y1 = hn::PromoteTo(Tag(), hn::ShiftRight<16>(pairs));

	if (lut.rules.variant.weighted)
		return roundAway(hn::MulAdd(hn::Sub(y1, y0), fraction, y0));
	/* CDP cuts the fraction to fewer bits than the vector has; SDP uses all of them. */
	const double one = static_cast<double>(uint64_t{ 1 } << lut.rules.variant.fractionBits);
	const Vector cut = hn::Mul(hn::Floor(hn::Mul(fraction, constant(one))), constant(1 / one));
	return hn::Add(y0, roundAway(hn::Mul(hn::Sub(y1, y0), cut)));
}

HWY_INLINE Vector load(const double *values)
{
	return hn::LoadU(Tag(), values);
}

/* \param values integers, as int32_t or as double */
template<typename Number>
void lookupWide(const FastLut &table, const Number *values, int32_t *results, size_t count,
		LutCounters &counters)
{
	const size_t lanes = hn::Lanes(Tag());
	LutCounters counted;

	for (size_t i = 0; i < count; i += lanes) {
		const Vector x = load(values + i);
		const Positions le(table.le, x);
		const Positions lo(table.lo, x);
		const lut::Outcomes<Tag> outcomes = { le.hit, le.underflow, lo.hit, lo.underflow };
		const Mask selectLo = outcomes.choose(table.rules);
		const Mask hit = outcomes.hit();
		Vector y = interpolate(table, hit, selectLo, le, lo);

		outcomes.countHits(table.rules, counted);
		if (!hn::AllTrue(Tag(), hit)) {
			const Pick pick = { selectLo, outcomes.underflow(selectLo) };
			outcomes.countMisses(table.rules, selectLo, counted);
			y = hn::IfThenElse(hit, y, extrapolate(table, pick, x));
		}
		store(y, results + i);
	}
	counters += counted;
}

void lookupOfTarget(const FastLut &table, int32_t *values, size_t count, LutCounters &counters)
{
	const size_t lanes = hn::Lanes(lut::NarrowTag());
	/* Local copies stay in registers: stores to the output cannot change them. */
	const FastLut::Rules rules = table.rules;
	const FastLut::NarrowTables narrow = table.narrow;
	LutCounters counted;

	if (!narrow.shift) {
		lookupWide(table, values, values, count, counters);
		return;
	}
	for (size_t i = 0; i < count; i += lanes) {
		if (!lut::lookupNarrow(table, rules, narrow, values + i, counted))
			lookupWide(table, values + i, values + i, lanes, counted);
	}
	counters += counted;
}

void lookupDoublesOfTarget(const FastLut &lut, const double *values, int32_t *results, size_t count,
			   LutCounters &counters)
{
	lookupWide(lut, values, results, count, counters);
}

bool hasVectorsOfTarget()
{
	return true;
}

#else /* without vectors of doubles */

void lookupOfTarget(const FastLut &, int32_t *, size_t, LutCounters &)
{
}

void lookupDoublesOfTarget(const FastLut &, const double *, int32_t *, size_t, LutCounters &)
{
}

bool hasVectorsOfTarget()
{
	return false;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(hasVectorsOfTarget);
HWY_EXPORT(lookupOfTarget);
HWY_EXPORT(lookupDoublesOfTarget);

bool FastLut::hasVectors()
{
	return HWY_DYNAMIC_DISPATCH(hasVectorsOfTarget)();
}

void FastLut::lookup(std::span<int32_t> values, LutCounters &counters) const
{
	HWY_DYNAMIC_DISPATCH(lookupOfTarget)(*this, values.data(), values.size(), counters);
}

void FastLut::lookup(std::span<const double> values, std::span<int32_t> results,
		     LutCounters &counters) const
{
	HWY_DYNAMIC_DISPATCH(lookupDoublesOfTarget)
	(*this, values.data(), results.data(), values.size(), counters);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
