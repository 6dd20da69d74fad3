/* SPDX-License-Identifier: MIT */
/*
 * FloatLut's look-up, for files that are compiled once for each instruction set (Highway).
 */
#include <cstdint>

#include <hwy/highway.h>

#include "arith/fp17-inl.h"
#include "lut/lut_narrow-inl.h"

/* Include guard that works once per instruction set: HWY_TARGET_TOGGLE changes with each. */
#if defined(NVDLA_SIM_LUT_FLOAT_LUT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_LUT_FLOAT_LUT_INL_H
#undef NVDLA_SIM_LUT_FLOAT_LUT_INL_H
#else
#define NVDLA_SIM_LUT_FLOAT_LUT_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace float_lut
{

using namespace float_bits;

using Single = hn::Vec<FloatTag>;

HWY_INLINE Single single(float value)
{
	return hn::Set(FloatTag(), value);
}

/**
 * \return a - b; a zero result has the sign of \a a; overflow gives the largest finite number
 */
HWY_INLINE Bits difference(Bits a, Bits b)
{
	const Bits result = asBits(hn::Sub(asFloat(a), asFloat(b)));
	const Mask equal = hn::Eq(magnitudeOf(result), hn::Zero(Tag()));

	return hn::IfThenElse(equal, signOf(a), hn::Min(result, constant(kLargest)));
}

/** SDP's and CDP's steps of a look-up; LutVariant describes the differences */
struct OfSdp {
	static constexpr float kOne = 0x1p35F; /* 2^n: a fraction has n bits */

	/** \return 1 - fraction, rounded only once: FP32 cannot hold a large weight exactly */
	static HWY_INLINE Bits weightOfFirst(Single fraction)
	{
		/* Adding kLarge rounds a weight of a half or more to FP17's last bit. */
		constexpr float kLarge = 0x1.8p12F;
		const Single large = hn::Sub(single(kLarge + 1), fraction);
		const Bits small = fp17::roundedMantissa(asBits(hn::Sub(single(1), fraction)));

		return asBits(hn::IfThenElse(hn::Le(fraction, single(0.5F)),
					     hn::Sub(large, single(kLarge)), asFloat(small)));
	}

	static HWY_INLINE Bits between(Bits entry, Bits next, Single fraction)
	{
		const Mask none = hn::Lt(asBits(fraction), constant(fp17::kLeast));
		const Bits part = hn::IfThenZeroElse(none, asBits(fraction));

		return fp17::addFinite(fp17::multiplyFinite(weightOfFirst(fraction), entry),
				       fp17::multiplyFinite(fp17::roundedMantissa(part), next));
	}

	static HWY_INLINE Bits beyond(Bits entry, Bits rise)
	{
		return fp17::addFinite(entry, rise);
	}
	static HWY_INLINE Bits beyondFlat(Bits entry, Bits) { return entry; }
};

struct OfCdp {
	static constexpr float kOne = 0x1p16F;

	static HWY_INLINE Bits between(Bits entry, Bits rise, Single fraction)
	{
		const Bits part = fp17::roundedMantissa(asBits(fraction));

		return fp17::addFinite(fp17::multiplyFinite(rise, part), entry);
	}

	static HWY_INLINE Bits beyond(Bits entry, Bits rise)
	{
		return fp17::addFinite(rise, entry);
	}
	/* CDP adds slope times distance, also if the slope is zero. A zero with the distance's sign
	 * changes the sum only if the entry is a zero. */
	static HWY_INLINE Bits beyondFlat(Bits entry, Bits distance)
	{
		return hn::IfThenElse(hn::Eq(magnitudeOf(entry), hn::Zero(Tag())), signOf(distance),
				      entry);
	}
};

/** Hits, indices and fractions of a vector of inputs, for one table */
struct Positions {
	Mask hit;
	Mask underflow;
	Bits index;	 /* hit: index of the entry before the input */
	Single fraction; /* hit: 0 at this entry, 1 at the next */

	/** \param one 2^n; the fraction is cut off to n bits */
	HWY_INLINE Positions(const FloatLut::Table &table, Bits x, float one)
	{
		const Bits distance = difference(x, constant(table.start));

		/* Distances that are negative, zero or denormal underflow. */
		underflow = hn::Lt(distance, constant(kSmallest));
		if (table.exponential)
			exponential(table, distance);
		else
			linear(table, distance);
		hit = hn::AndNot(underflow, hn::Lt(index, constant(table.last)));
		index = hn::IfThenElseZero(hit, index);
		fraction = hn::Mul(hn::Floor(hn::Mul(fraction, single(one))), single(1 / one));
	}

private:
	HWY_INLINE void linear(const FloatLut::Table &table, Bits distance)
	{
		const Single steps = hn::Mul(asFloat(distance), single(table.indexScale));
		const Single whole = hn::Floor(hn::Min(steps, single(1024)));

		index = hn::ConvertTo(Tag(), hn::Max(whole, single(0)));
		fraction = hn::Sub(steps, whole);
	}

	HWY_INLINE void exponential(const FloatLut::Table &table, Bits distance)
	{
		constexpr int32_t bias = 127;
		const Bits mantissa = hn::And(distance, constant(0x7fffff));
		const Bits exponent = hn::ShiftRight<23>(distance);

		index = hn::Sub(exponent, constant(bias + table.indexOffset));
		underflow = hn::Or(underflow, hn::Lt(index, hn::Zero(Tag())));
		fraction = hn::Sub(asFloat(hn::Or(mantissa, asBits(single(1)))), single(1));
	}
};

/**
 * \return numbers[index] for each lane
 * \param le true if all indices are in LE: its 64 numbers fit into registers
 */
HWY_INLINE Bits numbersAt(const int32_t *numbers, Bits index, bool le)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	/* Permuting registers is faster than a gather from memory. */
	if (HWY_LIKELY(le)) {
		const auto two = [&](const int32_t *first) HWY_ATTR {
			return _mm512_permutex2var_epi32(_mm512_loadu_si512(first), index.raw,
							 _mm512_loadu_si512(first + 16));
		};
		const __mmask16 upper = _mm512_test_epi32_mask(index.raw, _mm512_set1_epi32(32));
		return Bits{ _mm512_mask_mov_epi32(two(numbers), upper, two(numbers + 32)) };
	}
#else
	static_cast<void>(le);
#endif
	return hn::GatherIndex(Tag(), numbers, index);
}

template<class Variant>
HWY_INLINE Bits interpolate(const FloatLut &lut, Mask lo, const Positions &leAt,
			    const Positions &loAt)
{
	const bool le = hn::AllFalse(Tag(), lo);
	const Bits index =
		hn::IfThenElse(lo, hn::Add(loAt.index, constant(lut.lo.firstPair)), leAt.index);
	const Single fraction =
		hn::IfThenElse(hn::RebindMask(FloatTag(), lo), loAt.fraction, leAt.fraction);
	const Bits entry = numbersAt(lut.entries.data(), index, le);
	const Bits next = numbersAt(lut.nexts.data(), index, le);

	return Variant::between(entry, next, fraction);
}

template<class Variant>
HWY_INLINE Bits extrapolate(const FloatLut &lut, Mask lo, Mask underflow, Bits x)
{
	const auto pick = [&](int32_t FloatLut::Edge::*member) HWY_ATTR {
		const auto of = [&](const FloatLut::Table &table) HWY_ATTR {
			return hn::IfThenElse(underflow, constant(table.underflow.*member),
					      constant(table.overflow.*member));
		};
		return hn::IfThenElse(lo, of(lut.lo), of(lut.le));
	};
	const Bits distance = difference(x, pick(&FloatLut::Edge::edge));
	const Bits entry = pick(&FloatLut::Edge::entry);

	if (lut.rules.flatEdges)
		return Variant::beyondFlat(entry, distance);
	return Variant::beyond(entry, fp17::multiplyFinite(fp17::ofSingles(distance),
							   pick(&FloatLut::Edge::slope)));
}

/**
 * \tparam Variant OfSdp or OfCdp
 * \param x zeroes and normal numbers
 * \return FP17, as FP32 bits
 */
template<class Variant>
HWY_INLINE Bits lookup(const FloatLut &lut, Bits x, LutCounters &counters)
{
	const Positions le(lut.le, x, Variant::kOne);
	const Positions lo(lut.lo, x, Variant::kOne);
	const lut::Outcomes<Tag> outcomes = { le.hit, le.underflow, lo.hit, lo.underflow };
	const Mask selectLo = outcomes.choose(lut.rules);
	const Mask hit = outcomes.hit();
	const Bits inside = interpolate<Variant>(lut, hn::And(selectLo, hit), le, lo);

	outcomes.countHits(lut.rules, counters);
	if (hn::AllTrue(Tag(), hit))
		return inside;
	outcomes.countMisses(lut.rules, selectLo, counters);
	return hn::IfThenElse(hit, inside,
			      extrapolate<Variant>(lut, selectLo, outcomes.underflow(selectLo), x));
}

} /* namespace float_lut */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */
