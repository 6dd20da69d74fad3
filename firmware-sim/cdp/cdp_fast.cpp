/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "cdp/cdp_fast.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cdp/cdp_fast.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

void squareSumsOfTarget(const int32_t *values, uint32_t radius, size_t count, int32_t *sums)
{
	const hn::CappedTag<int32_t, 16> tag;
	const auto squareAt = [&](const int32_t *at) HWY_ATTR {
		const auto value = hn::LoadU(tag, at);
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

/* Sums of 33 bits times 16 bits: exact until they are rounded. */
uint32_t outputOfTarget(const arith::Converter &converter, int32_t *results, const int32_t *factors,
			size_t count)
{
	const Vector scale = constant(std::ldexp(converter.scale, -converter.shift));
	const Vector offset = constant(converter.offset);
	size_t saturated = 0;

	for (size_t i = 0; i < count; i += hn::Lanes(Tag())) {
		Vector value = load(results + i);
		if (factors)
			value = hn::Mul(value, load(factors + i));
		const Vector scaled = hn::Mul(hn::Sub(value, offset), scale);
		/* What misses the range by one is clipped, but does not count. */
		const Mask counts = hn::Or(hn::Ge(scaled, constant(INT8_MAX + 2.0)),
					   hn::Lt(scaled, constant(INT8_MIN - 1.0)));
		saturated += hn::CountTrue(Tag(), counts);
		store(clip(roundAway(scaled), INT8_MIN, INT8_MAX), results + i);
	}
	return static_cast<uint32_t>(saturated);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(squareSumsOfTarget);
HWY_EXPORT(outputOfTarget);

void cdpSquareSums(const int32_t *values, uint32_t radius, size_t count, int32_t *sums)
{
	HWY_DYNAMIC_DISPATCH(squareSumsOfTarget)(values, radius, count, sums);
}

uint32_t cdpOutput(const arith::Converter &converter, int32_t *results, const int32_t *factors,
		   size_t count)
{
	return HWY_DYNAMIC_DISPATCH(outputOfTarget)(converter, results, factors, count);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
