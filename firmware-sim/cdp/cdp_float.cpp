/* SPDX-License-Identifier: MIT */
/*
 * Squares of FP17 and sums of them are far from where FP32 ends: IEEE 754 gives what arith/float.h
 * defines. Vectors with a NaN go through the reference.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "cdp/cdp_float.h"

#include "arith/float.h"
#include "cdp/cdp_fast.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cdp/cdp_float.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/fp17-inl.h"
#include "lut/float_lut-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
/* The names here are others' as well. */
namespace cdp_float
{

using namespace float_bits;

constexpr size_t kLanes = atomChannels(Precision::Fp16);

void input(bool nanToZero, const std::byte *atoms, size_t count, int32_t *values, size_t step)
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

/* From the middle outwards, the pair on both sides first. */
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

	for (size_t i = 0; i < hn::Lanes(Tag()); i++) {
		int32_t numbers[window];
		for (size_t n = 0; n < window; n++)
			numbers[n] = static_cast<int32_t>(arith::fp32ToFp17(
				static_cast<uint32_t>(center[i + n - kCdpMargin])));
		out[i] = static_cast<uint16_t>(cdp.one(numbers + kCdpMargin));
	}
}

void position(CdpFloat &cdp, const int32_t *values, size_t count, std::byte *atoms, size_t step)
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

void cdpFloatInputOfTarget(bool nanToZero, const std::byte *atoms, size_t count, int32_t *values,
			   size_t step)
{
	cdp_float::input(nanToZero, atoms, count, values, step);
}

void cdpFloatPositionOfTarget(CdpFloat &cdp, const int32_t *values, size_t count, std::byte *atoms,
			      size_t step)
{
	cdp_float::position(cdp, values, count, atoms, step);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(cdpFloatInputOfTarget);
HWY_EXPORT(cdpFloatPositionOfTarget);

void cdpFloatInput(bool nanToZero, const std::byte *atoms, size_t count, int32_t *values,
		   size_t step)
{
	HWY_DYNAMIC_DISPATCH(cdpFloatInputOfTarget)(nanToZero, atoms, count, values, step);
}

void cdpFloatPosition(CdpFloat &cdp, const int32_t *values, size_t count, std::byte *atoms,
		      size_t step)
{
	HWY_DYNAMIC_DISPATCH(cdpFloatPositionOfTarget)(cdp, values, count, atoms, step);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
