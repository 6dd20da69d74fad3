/* SPDX-License-Identifier: MIT */
/*
 * Vector code of CDP. Squares of FP17 numbers and their sums are far from the limits of FP32, so
 * IEEE 754 gives the results of arith/float.h. For vectors with a NaN, CdpFloat::one() is called.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "cdp/cdp_fast.h"

#include <algorithm>
#include <cmath>

#include "arith/float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cdp/cdp_fast.cpp"
#include <hwy/foreach_target.h>
/* Headers that are included once for each instruction set must follow foreach_target.h. */
#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "arith/fp17-inl.h"
#include "core/bring_ahead.h"
#include "lut/float_lut-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
/* Avoids clashes with names of other files, which a unity build compiles as one. */
namespace cdp
{

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

/* At most 16 lanes: an atom of 16-bit elements has 16 channels. */
using NumberTag = hn::CappedTag<int32_t, 16>;
using Numbers = hn::Vec<NumberTag>;

template<typename Element>
void widenAtom(const Element *elements, size_t lanes, int32_t *values)
{
	const hn::Rebind<Element, NumberTag> tag;

	for (size_t i = 0; i < lanes; i += hn::Lanes(tag))
		hn::StoreU(hn::PromoteTo(NumberTag(), hn::LoadU(tag, elements + i)), NumberTag(),
			   values + i);
}

/* Products are exact in doubles: differences have 17 bits, scales 16. */
void convertAtom(const arith::Converter &converter, double highest, size_t lanes, int32_t *values)
{
	const Vector scale = constant(std::ldexp(converter.scale, -converter.shift));
	const Vector offset = constant(converter.offset);

	for (size_t i = 0; i < lanes; i += hn::Lanes(Tag())) {
		const Vector scaled = hn::Mul(hn::Sub(load(values + i), offset), scale);
		store(clip(roundAway(scaled), -highest - 1, highest), values + i);
	}
}

template<typename Element>
void inputOf(const arith::Converter &converter, const std::byte *atoms, size_t count,
	     int32_t *values, size_t step)
{
	constexpr size_t lanes = atomBytes / sizeof(Element);
	constexpr double highest = sizeof(Element) == 1 ? 255 : 65535;
	const bool converts = !converter.changesNothing();

	for (size_t atom = 0; atom < count; atom++, values += step) {
		const auto *elements = reinterpret_cast<const Element *>(atoms + atom * atomBytes);
		bringAhead(elements);
		widenAtom(elements, lanes, values);
		if (converts)
			convertAtom(converter, highest, lanes, values);
	}
}

HWY_INLINE Numbers loadAs(NumberTag tag, const int32_t *values)
{
	return hn::LoadU(tag, values);
}

HWY_INLINE Vector loadAs(Tag, const int32_t *values)
{
	return load(values);
}

/** \tparam D tag of the sums */
template<class D>
void sumSquares(const int32_t *values, uint32_t radius, size_t count, hn::TFromD<D> *sums)
{
	const D tag;
	const auto squareAt = [&](const int32_t *at) HWY_ATTR {
		const auto value = loadAs(tag, at);
		return hn::Mul(value, value);
	};

	for (size_t i = 0; i < count; i += hn::Lanes(tag)) {
		auto sum = squareAt(values + i);
		for (uint32_t n = 1; n <= radius; n++)
			sum = hn::Add(sum,
				      hn::Add(squareAt(values + i - n), squareAt(values + i + n)));
		hn::StoreU(sum, tag, sums + i);
	}
}

/* Products are exact in doubles: value - offset has 34 bits, scale 16. Only results are rounded. */
template<typename Element>
uint32_t outputOf(const arith::Converter &converter, const int32_t *results, const int32_t *factors,
		  size_t count, std::byte *atoms, size_t step)
{
	constexpr size_t lanes = atomBytes / sizeof(Element);
	constexpr double highest = sizeof(Element) == 1 ? INT8_MAX : INT16_MAX;
	const hn::Rebind<Element, Tag> tag;
	const Vector scale = constant(std::ldexp(converter.scale, -converter.shift));
	const Vector offset = constant(converter.offset);
	size_t saturated = 0;

	for (size_t i = 0; i < count; i += hn::Lanes(Tag())) {
		auto *out = reinterpret_cast<Element *>(atoms + i / lanes * step) + i % lanes;
		Vector value = load(results + i);
		if (factors)
			value = hn::Mul(value, load(factors + i));
		const Vector scaled = hn::Mul(hn::Sub(value, offset), scale);
		/* A number beyond the range by one is clipped, but does not count as saturated. */
		saturated += hn::CountTrue(Tag(), hn::Or(hn::Ge(scaled, constant(highest + 2)),
							 hn::Lt(scaled, constant(-highest - 2))));
		const Vector rounded = clip(roundAway(scaled), -highest - 1, highest);
		hn::StoreU(hn::DemoteTo(tag, hn::DemoteTo(IntegerTag(), rounded)), tag, out);
	}
	return static_cast<uint32_t>(saturated);
}

} /* namespace cdp */

void cdpInputOfTarget(const arith::Converter &converter, Precision precision,
		      const std::byte *atoms, size_t count, int32_t *values, size_t step)
{
	const auto input =
		precision == Precision::Int8 ? cdp::inputOf<int8_t> : cdp::inputOf<int16_t>;

	input(converter, atoms, count, values, step);
}

void squareSumsOfTarget(const int32_t *values, uint32_t radius, size_t count, int32_t *sums)
{
	cdp::sumSquares<cdp::NumberTag>(values, radius, count, sums);
}

void wideSquareSumsOfTarget(const int32_t *values, uint32_t radius, size_t count, double *sums)
{
	cdp::sumSquares<doubles::Tag>(values, radius, count, sums);
}

uint32_t cdpOutputOfTarget(const arith::Converter &converter, Precision precision,
			   const int32_t *results, const int32_t *factors, size_t count,
			   std::byte *atoms, size_t step)
{
	return precision == Precision::Int8
		       ? cdp::outputOf<int8_t>(converter, results, factors, count, atoms, step)
		       : cdp::outputOf<int16_t>(converter, results, factors, count, atoms, step);
}

namespace cdp_float
{

using namespace float_bits;

constexpr size_t kLanes = atomChannels(Precision::Fp16);

void floatInput(bool nanToZero, const std::byte *atoms, size_t count, int32_t *values, size_t step)
{
	const auto *halves = reinterpret_cast<const uint16_t *>(atoms);
	const bool finite = halvesAreBelow(halves, count * kLanes, 0x7c00);

	for (size_t atom = 0; atom < count; atom++) {
		for (size_t lane = 0; lane < kLanes; lane += hn::Lanes(Tag())) {
			const uint16_t *in = halves + atom * kLanes + lane;
			Bits value = finite ? widenFinite(in) : fp17::load(in);
			if (!finite && nanToZero)
				value = hn::IfThenZeroElse(fp17::isNan(value), value);
			hn::StoreU(value, Tag(), values + atom * step + lane);
		}
	}
}

/* Adds pairs from the middle outwards, and the centre to the first pair, as the hardware does. */
HWY_INLINE Bits squareSum(const int32_t *center, uint32_t radius)
{
	const auto square = [&](const int32_t *at) HWY_ATTR {
		const auto value = asFloat(load(at));
		return hn::Mul(value, value);
	};
	auto sum = hn::Add(hn::Add(square(center - 1), square(center + 1)), square(center));

	for (uint32_t i = 2; i <= radius; i++)
		sum = hn::Add(sum, hn::Add(square(center - i), square(center + i)));
	return asBits(sum);
}

void oneByOne(CdpFloat &cdp, const int32_t *center, uint16_t *out)
{
	constexpr size_t window = 2 * kCdpMargin + 1;
	const int32_t *first = center - kCdpMargin;

	for (size_t i = 0; i < hn::Lanes(Tag()); i++) {
		int32_t numbers[window];
		for (size_t n = 0; n < window; n++)
			numbers[n] = static_cast<int32_t>(
				arith::fp32ToFp17(static_cast<uint32_t>(first[i + n])));
		out[i] = static_cast<uint16_t>(cdp.one(numbers + kCdpMargin));
	}
}

void floatPosition(CdpFloat &cdp, const int32_t *values, size_t count, std::byte *atoms,
		   size_t step)
{
	const HalfTag tag;
	const uint32_t radius = cdp.radius;
	const bool squares = cdp.squares;
	const bool multiplies = cdp.multiplies;
	LutCounters counters;
	size_t saturated = 0;

	for (size_t i = 0; i < count; i += hn::Lanes(Tag())) {
		auto *out = reinterpret_cast<uint16_t *>(atoms + i / kLanes * step) + i % kLanes;
		const Bits x = load(values + i);
		const Bits sum = squares ? squareSum(values + i, radius) : x;
		if (HWY_UNLIKELY(!hn::AllFalse(Tag(), hn::Or(fp17::isNan(sum), fp17::isNan(x))))) {
			oneByOne(cdp, values + i, out);
			continue;
		}
		Bits result = float_lut::lookup<float_lut::OfCdp>(cdp.lut, sum, counters);
		if (multiplies)
			result = fp17::multiplyFinite(x, result);
		const auto halves = narrowFinite(result);
		const auto magnitude = hn::And(halves, hn::Set(tag, 0x7fff));
		saturated += hn::CountTrue(tag, hn::Eq(magnitude, hn::Set(tag, 0x7bff)));
		hn::StoreU(halves, tag, out);
	}
	cdp.counters += counters;
	cdp.saturation += static_cast<uint32_t>(saturated);
}

} /* namespace cdp_float */

using cdp_float::floatInput;
using cdp_float::floatPosition;

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(cdpInputOfTarget);
HWY_EXPORT(squareSumsOfTarget);
HWY_EXPORT(wideSquareSumsOfTarget);
HWY_EXPORT(cdpOutputOfTarget);
HWY_EXPORT(floatInput);
HWY_EXPORT(floatPosition);

void cdpInput(const arith::Converter &converter, Precision precision, const std::byte *atoms,
	      size_t count, int32_t *values, size_t step)
{
	HWY_DYNAMIC_DISPATCH(cdpInputOfTarget)(converter, precision, atoms, count, values, step);
}

void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(squareSumsOfTarget)(values, radius, count, sums);
}

void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, double *sums)
{
	HWY_DYNAMIC_DISPATCH(wideSquareSumsOfTarget)(values, radius, count, sums);
}

uint32_t cdpOutput(const arith::Converter &converter, Precision precision, const int32_t *results,
		   const int32_t *factors, size_t count, std::byte *atoms, size_t step)
{
	return HWY_DYNAMIC_DISPATCH(cdpOutputOfTarget)(converter, precision, results, factors,
						       count, atoms, step);
}

void cdpFloatInput(bool nanToZero, const std::byte *atoms, size_t count, int32_t *values,
		   size_t step)
{
	HWY_DYNAMIC_DISPATCH(floatInput)(nanToZero, atoms, count, values, step);
}

void cdpFloatPosition(CdpFloat &cdp, const int32_t *values, size_t count, std::byte *atoms,
		      size_t step)
{
	HWY_DYNAMIC_DISPATCH(floatPosition)(cdp, values, count, atoms, step);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
