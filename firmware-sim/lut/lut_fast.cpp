/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "lut/lut_fast.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lut/lut_fast.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

#if HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;
using BitsTag = hn::RebindToUnsigned<Tag>;

/** Lut::Position of a vector of inputs */
struct Positions {
	Mask hit;
	Mask underflow;
	Vector index;	 /* of a hit */
	Vector fraction; /* of a hit: 0 to 1 */

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

	/* Exponent and mantissa of a distance are those of its logarithm's index. */
	HWY_INLINE void exponential(const FastLut::Table &table, Vector distance)
	{
		constexpr double two52 = 4503599627370496.0; /* its low bits count ones */
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

/** One of four numbers for each lane */
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
	const double limit = std::ldexp(1.0, static_cast<int>(lut.variant.outputBits) - 1);

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

	if (lut.variant.weighted)
		return roundAway(hn::MulAdd(hn::Sub(y1, y0), fraction, y0));
	/* Fewer bits of the fraction, of which SDP's are all that there are. */
	const double one = static_cast<double>(uint64_t{ 1 } << lut.variant.fractionBits);
	const Vector cut = hn::Mul(hn::Floor(hn::Mul(fraction, constant(one))), constant(1 / one));
	return hn::Add(y0, roundAway(hn::Mul(hn::Sub(y1, y0), cut)));
}

/** Lut::choose(): true where LO answers */
HWY_INLINE Mask choose(const FastLut &lut, const Positions &le, const Positions &lo)
{
	Mask selectLo = lut.hybridSelectsLo ? hn::Not(hn::AndNot(lo.hit, le.hit))
					    : hn::AndNot(le.hit, lo.hit);

	if (lut.underflowDiffers)
		selectLo = hn::Xor(selectLo, hn::And(le.underflow, lo.underflow));
	if (lut.overflowDiffers)
		selectLo = hn::Xor(selectLo, hn::Not(hn::Or(hn::Or(le.hit, le.underflow),
							    hn::Or(lo.hit, lo.underflow))));
	return selectLo;
}

/* As many integers as two vectors of doubles are. */
using NarrowTag = hn::CappedTag<int32_t, 16>;
using NarrowVector = hn::Vec<NarrowTag>;

/** FastLut::Narrow's position of a vector of inputs */
struct NarrowPositions {
	hn::Mask<NarrowTag> hit;
	NarrowVector pair;
	NarrowVector fraction;

	HWY_INLINE NarrowPositions(const FastLut::Narrow &table, NarrowVector x)
	{
		const NarrowTag tag;
		const NarrowVector inside =
			hn::Min(hn::Max(x, hn::Set(tag, table.first)), hn::Set(tag, table.final));
		const NarrowVector distance = hn::Sub(inside, hn::Set(tag, table.start));
		const NarrowVector index = hn::ShiftRightSame(distance, table.shift);
		const NarrowVector rest = hn::Sub(distance, hn::ShiftLeftSame(index, table.shift));

		hit = hn::Eq(x, inside);
		pair = hn::Add(index, hn::Set(tag, table.firstPair));
		fraction = hn::ShiftLeftSame(rest, table.toCommon);
	}
};

/** Count \a hits inputs, each of which one of the tables hits, or both do */
HWY_INLINE void countHits(const FastLut &lut, uint32_t le, uint32_t lo, uint32_t hits,
			  LutCounters &counters)
{
	if (lut.variant.countsByResult) {
		counters.leHit += le;
		counters.loHit += lo;
		counters.hybrid += hits;
		return;
	}
	counters.leHit += hits - lo;
	counters.loHit += hits - le;
	counters.hybrid += le + lo - hits;
}

/** \return false if not all inputs are answered by tables that interpolate in 32 bits */
HWY_INLINE bool lookupNarrow(const FastLut &lut, int32_t *values, LutCounters &counters)
{
	const NarrowTag tag;
	const NarrowVector x = hn::LoadU(tag, values);
	const NarrowPositions le(lut.narrowLe, x);
	const NarrowPositions lo(lut.narrowLo, x);
	const auto selectLo = lut.hybridSelectsLo ? lo.hit : hn::Not(le.hit);

	if (!hn::AllTrue(tag, hn::Or(le.hit, lo.hit)) ||
	    (!lut.narrowLe.interpolates && !hn::AllTrue(tag, selectLo)) ||
	    (!lut.narrowLo.interpolates && !hn::AllFalse(tag, selectLo)))
		return false;

	const NarrowVector pairs =
		hn::GatherIndex(tag, lut.pairs.data(), hn::IfThenElse(selectLo, lo.pair, le.pair));
	const NarrowVector fraction = hn::IfThenElse(selectLo, lo.fraction, le.fraction);
	const NarrowVector y0 = hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs));
	const NarrowVector y1 = hn::ShiftRight<16>(pairs);
	const NarrowVector whole = hn::ShiftLeftSame(y0, lut.narrowShift);
	const NarrowVector rise = hn::Mul(hn::Sub(y1, y0), fraction);
	const NarrowVector sum = lut.variant.weighted ? hn::Add(whole, rise) : rise;
	/* Halves away from zero: those of negative numbers have to stay below. */
	const NarrowVector half = hn::Set(tag, 1 << (lut.narrowShift - 1));
	const NarrowVector rounded = hn::ShiftRightSame(
		hn::Add(hn::Add(sum, half), hn::BroadcastSignBit(sum)), lut.narrowShift);

	hn::StoreU(lut.variant.weighted ? rounded : hn::Add(y0, rounded), tag, values);
	countHits(lut, static_cast<uint32_t>(hn::CountTrue(tag, le.hit)),
		  static_cast<uint32_t>(hn::CountTrue(tag, lo.hit)),
		  static_cast<uint32_t>(hn::Lanes(tag)), counters);
	return true;
}

/* Where both tables miss by CDP's rules: at the same end, or at different ones. */
HWY_INLINE void countMissesByCase(const Positions &le, const Positions &lo, LutCounters &counters)
{
	const Mask hit = hn::Or(le.hit, lo.hit);
	const Mask either = hn::Or(le.underflow, lo.underflow);
	const Mask both = hn::And(le.underflow, lo.underflow);
	const auto count = [](Mask mask) HWY_ATTR {
		return static_cast<uint32_t>(hn::CountTrue(Tag(), mask));
	};

	counters.underflow += count(hn::AndNot(hit, both));
	counters.overflow += count(hn::Not(hn::Or(hit, either)));
	counters.hybrid += count(hn::AndNot(hn::Or(hit, both), either));
}

HWY_INLINE Vector load(const double *values)
{
	return hn::LoadU(Tag(), values);
}

/* \param values integers, or doubles that are whole */
template<typename Number>
void lookupWide(const FastLut &lut, const Number *values, int32_t *results, size_t count,
		LutCounters &counters)
{
	const auto lanes = static_cast<uint32_t>(hn::Lanes(Tag()));
	LutCounters counted;

	for (size_t i = 0; i < count; i += lanes) {
		const Vector x = load(values + i);
		const Positions le(lut.le, x);
		const Positions lo(lut.lo, x);
		const Mask selectLo = choose(lut, le, lo);
		const Mask hit = hn::Or(le.hit, lo.hit);
		Vector y = interpolate(lut, hit, selectLo, le, lo);

		const auto hits = static_cast<uint32_t>(hn::CountTrue(Tag(), hit));
		countHits(lut, static_cast<uint32_t>(hn::CountTrue(Tag(), le.hit)),
			  static_cast<uint32_t>(hn::CountTrue(Tag(), lo.hit)), hits, counted);
		if (hits != lanes) {
			const Pick pick = { selectLo, hn::Or(hn::And(selectLo, lo.underflow),
							     hn::AndNot(selectLo, le.underflow)) };
			const auto underflows = static_cast<uint32_t>(
				hn::CountTrue(Tag(), hn::AndNot(hit, pick.underflow)));
			if (lut.variant.countsByResult) {
				counted.underflow += underflows;
				counted.overflow += lanes - hits - underflows;
			} else {
				countMissesByCase(le, lo, counted);
			}
			y = hn::IfThenElse(hit, y, extrapolate(lut, pick, x));
		}
		store(y, results + i);
	}
	counters.leHit += counted.leHit;
	counters.loHit += counted.loHit;
	counters.hybrid += counted.hybrid;
	counters.underflow += counted.underflow;
	counters.overflow += counted.overflow;
}

void lookupOfTarget(const FastLut &lut, int32_t *values, size_t count, LutCounters &counters)
{
	const size_t lanes = hn::Lanes(NarrowTag());

	if (!lut.narrowShift) {
		lookupWide(lut, values, values, count, counters);
		return;
	}
	for (size_t i = 0; i < count; i += lanes)
		if (!lookupNarrow(lut, values + i, counters))
			lookupWide(lut, values + i, values + i, lanes, counters);
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

#else /* no vectors of doubles */

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
