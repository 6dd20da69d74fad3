/* SPDX-License-Identifier: MIT */
/*
 * FastLut's look-up in 32-bit integers, for files that are compiled once for each instruction set
 * (Highway).
 */
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "lut/lut_fast.h"

/* Include guard that works once per instruction set: HWY_TARGET_TOGGLE changes with each. */
#if defined(NVDLA_SIM_LUT_NARROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_LUT_NARROW_INL_H
#undef NVDLA_SIM_LUT_NARROW_INL_H
#else
#define NVDLA_SIM_LUT_NARROW_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace lut
{

namespace hn = hwy::HWY_NAMESPACE;

/** For each table: masks of the inputs that hit it, and of those that are below its range */
template<typename Tag>
struct Outcomes {
	using Mask = hn::Mask<Tag>;

	Mask leHit;
	Mask leUnderflow;
	Mask loHit;
	Mask loUnderflow;

	HWY_INLINE Mask hit() const { return hn::Or(leHit, loHit); }

	/** \return mask of the inputs that use LO; same rules as Lut::choose() */
	HWY_INLINE Mask choose(const FastLut::Rules &rules) const
	{
		Mask selectLo = rules.hybridSelectsLo ? hn::Not(hn::AndNot(loHit, leHit))
						      : hn::AndNot(leHit, loHit);

		if (rules.underflowDiffers)
			selectLo = hn::Xor(selectLo, hn::And(leUnderflow, loUnderflow));
		if (rules.overflowDiffers)
			selectLo = hn::Xor(selectLo, hn::Not(hn::Or(hn::Or(leHit, leUnderflow),
								    hn::Or(loHit, loUnderflow))));
		return selectLo;
	}

	/** \return mask of the inputs that are below the range of the chosen table */
	HWY_INLINE Mask underflow(Mask selectLo) const
	{
		return hn::Or(hn::And(selectLo, loUnderflow), hn::AndNot(selectLo, leUnderflow));
	}

	static HWY_INLINE uint32_t count(Mask mask)
	{
		return static_cast<uint32_t>(hn::CountTrue(Tag(), mask));
	}

	/** Counts inputs that hit at least one table */
	HWY_INLINE void countHits(const FastLut::Rules &rules, LutCounters &counters) const
	{
		if (!rules.counts)
			return;
		const uint32_t le = count(leHit), lo = count(loHit), hits = count(hit());

		if (rules.variant.countsByResult) {
			counters.leHit += le;
			counters.loHit += lo;
			counters.hybrid += hits;
			return;
		}
		counters.leHit += hits - lo;
		counters.loHit += hits - le;
		counters.hybrid += le + lo - hits;
	}

	/* Counts inputs that miss both tables: at the same end, or (hybrid) at different ends. */
	HWY_INLINE void countMisses(const FastLut::Rules &rules, Mask selectLo,
				    LutCounters &counters) const
	{
		if (!rules.counts)
			return;
		const Mask either = hn::Or(leUnderflow, loUnderflow);
		const Mask both = hn::And(leUnderflow, loUnderflow);

		if (rules.variant.countsByResult) {
			const uint32_t below = count(hn::AndNot(hit(), underflow(selectLo)));
			counters.underflow += below;
			counters.overflow += count(hn::Not(hit())) - below;
			return;
		}
		counters.underflow += count(hn::AndNot(hit(), both));
		counters.overflow += count(hn::Not(hn::Or(hit(), either)));
		counters.hybrid += count(hn::AndNot(hn::Or(hit(), both), either));
	}
};

/* Twice as many lanes as a vector of doubles, at most 16. */
using NarrowTag = hn::CappedTag<int32_t, 16>;
using NarrowVector = hn::Vec<NarrowTag>;
using NarrowMask = hn::Mask<NarrowTag>;

/** Hits, pairs of entries and fractions of a vector of inputs, for one table */
struct NarrowPositions {
	NarrowMask hit;
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

/** Look-up of a vector of inputs in both tables */
struct NarrowLookup {
	NarrowVector x;
	Outcomes<NarrowTag> outcomes;
	NarrowMask hit;
	NarrowMask selectLo;
	NarrowVector pair;
	NarrowVector fraction;
	bool allHit;

	/**
	 * \return false if an input needs doubles: its table cannot be interpolated in 32 bits, or
	 * a slope continues the function beyond an edge
	 */
	HWY_INLINE bool locate(const FastLut::Rules &rules, const FastLut::NarrowTables &narrow,
			       const int32_t *values)
	{
		const NarrowTag tag;
		x = hn::LoadU(tag, values);
		const NarrowPositions le(narrow.le, x);
		const NarrowPositions lo(narrow.lo, x);

		outcomes = { le.hit, hn::Lt(x, hn::Set(tag, narrow.le.first)), lo.hit,
			     hn::Lt(x, hn::Set(tag, narrow.lo.first)) };
		hit = outcomes.hit();
		allHit = hn::AllTrue(tag, hit);
		if (!allHit && !rules.flatEdges)
			return false;
		selectLo = outcomes.choose(rules);
		if ((!narrow.le.interpolates && !hn::AllFalse(tag, hn::AndNot(selectLo, hit))) ||
		    (!narrow.lo.interpolates && !hn::AllFalse(tag, hn::And(selectLo, hit))))
			return false;
		pair = hn::IfThenElseZero(hit, hn::IfThenElse(selectLo, lo.pair, le.pair));
		fraction = hn::IfThenElse(selectLo, lo.fraction, le.fraction);
		return true;
	}

	/**
	 * \param y0 entries before the inputs, where they hit
	 * \param y1 entries after the inputs, where they hit
	 */
	HWY_INLINE void finish(const FastLut &lut, const FastLut::Rules &rules,
			       const FastLut::NarrowTables &narrow, NarrowVector y0,
			       NarrowVector y1, int32_t *values, LutCounters &counters) const
	{
		const NarrowTag tag;
		const NarrowVector whole = hn::ShiftLeftSame(y0, narrow.shift);
		const NarrowVector rise = hn::Mul(hn::Sub(y1, y0), fraction);
		const NarrowVector sum = rules.variant.weighted ? hn::Add(whole, rise) : rise;
		/* Rounds halves away from zero: negative numbers get one less than half added. */
		const NarrowVector half = hn::Set(tag, 1 << (narrow.shift - 1));
		const NarrowVector rounded = hn::ShiftRightSame(
			hn::Add(hn::Add(sum, half), hn::BroadcastSignBit(sum)), narrow.shift);
		NarrowVector y = rules.variant.weighted ? rounded : hn::Add(y0, rounded);

		outcomes.countHits(rules, counters);
		if (!allHit) {
			outcomes.countMisses(rules, selectLo, counters);
			y = hn::IfThenElse(hit, y, edges(lut));
		}
		hn::StoreU(y, tag, values);
	}

private:
	/** \return the results of misses: the first or the last entry of the chosen table */
	HWY_INLINE NarrowVector edges(const FastLut &lut) const
	{
		const NarrowMask below = outcomes.underflow(selectLo);
		const auto of = [&](const FastLut::Table &table) HWY_ATTR {
			const NarrowTag tag;
			return hn::IfThenElse(
				below, hn::Set(tag, static_cast<int32_t>(table.underflow.entry)),
				hn::Set(tag, static_cast<int32_t>(table.overflow.entry)));
		};

		return hn::IfThenElse(selectLo, of(lut.lo), of(lut.le));
	}
};

HWY_INLINE bool lookupNarrow(const FastLut &lut, const FastLut::Rules &rules,
			     const FastLut::NarrowTables &narrow, int32_t *values,
			     LutCounters &counters)
{
	const NarrowTag tag;
	NarrowLookup lookup;

	if (!lookup.locate(rules, narrow, values))
		return false;
	const NarrowVector pairs = hn::GatherIndex(tag, lut.pairs.data(), lookup.pair);
	lookup.finish(lut, rules, narrow, hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)),
		      hn::ShiftRight<16>(pairs), values, counters);
	return true;
}

} /* namespace lut */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */
