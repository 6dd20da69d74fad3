/* SPDX-License-Identifier: MIT */
/*
 * MAC cells for FP16, a vector of lanes at a time.
 *
 * Compiled once for each instruction set (Highway), by fp16_simd.cpp.
 */
#include "conv/cmac.h"

#include <hwy/highway.h>

#include "conv/fp16_multiplier-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

using namespace fp16;

constexpr uint32_t kFractionBits = 10;
/* Quarter (see Fp16Vector) of a zero: a sum with it is negative, so the lane is ignored. */
constexpr uint32_t kAbsent = static_cast<uint32_t>(-64);

/** \return the largest exponent of a step's products in units of four, at least 0 */
HWY_INLINE Vector largestQuarter(const Fp16Vector &data, const Fp16Vector &weights, uint32_t lanes)
{
	const SignedTag tag;
	hn::Vec<SignedTag> largest = hn::Zero(tag);

	for (size_t i = 0; i < lanes; i += hn::Lanes(tag)) {
		const auto sum = hn::Add(hn::Load(tag, data.quarter + i),
					 hn::Load(tag, weights.quarter + i));
		largest = hn::Max(largest, sum);
	}
	return hn::BitCast(Tag(), hn::MaxOfLanes(tag, largest));
}

/** Calls use(first lane, products) for all lanes of a step; \return the products' exponent */
template<typename Use>
HWY_INLINE uint32_t alignedProducts(const Fp16Vector &data, const Fp16Vector &weights,
				    uint32_t lanes, Use use)
{
	const Tag tag;
	const Vector largest = largestQuarter(data, weights, lanes);
	const auto *dataQuarter = reinterpret_cast<const uint32_t *>(data.quarter);
	const auto *weightQuarter = reinterpret_cast<const uint32_t *>(weights.quarter);

	for (size_t i = 0; i < lanes; i += hn::Lanes(tag)) {
		/*
		 * In a lane with a zero this sum is below -50, while \a largest is at least 0: the
		 * shift removes the lane's product.
		 */
		const Vector quarter =
			hn::Add(hn::Load(tag, dataQuarter + i), hn::Load(tag, weightQuarter + i));
		const Vector negate = hn::Xor(hn::Load(tag, data.negative + i),
					      hn::Load(tag, weights.negative + i));
		use(i, alignedProduct(hn::Load(tag, data.significand + i),
				      hn::Load(tag, weights.significand + i), negate,
				      hn::ShiftLeft<2>(hn::Sub(largest, quarter))));
	}
	return hn::GetLane(largest) * 4;
}

/** \return the sum of all products of a step */
Fp16Sum productSum(const Fp16Vector &data, const Fp16Vector &weights, uint32_t lanes)
{
	const SignedTag tag;
	/* The sum may exceed 32 bits: upper and lower halves are summed separately. */
	auto high = hn::Zero(tag);
	auto low = hn::Zero(tag);
	Fp16Sum sum;

	sum.exponent = alignedProducts(data, weights, lanes, [&](size_t, auto product) HWY_ATTR {
		high = hn::Add(high, hn::ShiftRight<16>(product));
		low = hn::Add(low, hn::And(product, hn::Set(tag, 0xffff)));
	});
	sum.mantissa = int64_t{ hn::GetLane(hn::SumOfLanes(tag, high)) } * 65536 +
		       hn::GetLane(hn::SumOfLanes(tag, low));
	return sum;
}

/** Computes the products of a step without adding them; \return their common exponent */
uint32_t products(const Fp16Vector &data, const Fp16Vector &weights, int32_t *out)
{
	return alignedProducts(data, weights, kMacLanes, [&](size_t i, auto product) HWY_ATTR {
		hn::Store(product, SignedTag(), out + i);
	});
}

/** Splits FP16 numbers into the members of Fp16Vector; \return true if there is a NaN */
bool split(const int16_t *numbers, Fp16Vector &out)
{
	const Tag tag;
	const hn::Rebind<uint16_t, Tag> halfTag;
	bool nan = false;

	for (size_t i = 0; i < kMacLanes; i += hn::Lanes(tag)) {
		const auto *half = reinterpret_cast<const uint16_t *>(numbers) + i;
		const Vector bits = hn::PromoteTo(tag, hn::Load(halfTag, half));
		const Vector magnitude = hn::And(bits, constant(0x7fff));
		const Vector exponent = hn::ShiftRight<kFractionBits>(magnitude);
		const Vector fraction = hn::And(bits, constant(0x3ff));
		const auto denormal = hn::Eq(exponent, constant(0));

		/* A denormal has no implied one and counts as exponent 1. */
		const Vector significand = hn::Or(
			fraction, hn::IfThenZeroElse(denormal, constant(1U << kFractionBits)));
		const Vector shift =
			hn::And(hn::IfThenElse(denormal, constant(1), exponent), constant(3));
		hn::Store(hn::Shl(significand, shift), tag, out.significand + i);
		hn::Store(hn::IfThenElse(hn::Eq(magnitude, constant(0)), constant(kAbsent),
					 hn::ShiftRight<2>(exponent)),
			  tag, reinterpret_cast<uint32_t *>(out.quarter) + i);
		hn::Store(hn::Sub(constant(0), hn::ShiftRight<15>(bits)), tag, out.negative + i);
		nan |= !hn::AllFalse(tag, hn::Gt(magnitude, constant(0x7c00)));
	}
	return nan;
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>

namespace nvdla::sim
{

HWY_EXPORT(productSum);
HWY_EXPORT(products);
HWY_EXPORT(split);

namespace
{

/** \return the NaN of a step: the weights' first NaN, else the data's; exponent 0: no NaN */
Fp16Sum nanOf(const Fp16Vector &data, const Fp16Vector &weights)
{
	const uint32_t bits = weights.nan ? weights.nan : data.nan;
	Fp16Sum sum;

	if (bits == 0)
		return sum;
	/* Puts sign and fraction, without the exponent between them, into the top bits. */
	const int64_t signAndFraction =
		static_cast<int64_t>(bits & 0x3ff) - (bits >> 15 ? 0x400 : 0);
	sum.exponent = Fp16Sum::kNan;
	sum.mantissa = signAndFraction * (int64_t{ 1 } << (Fp16Sum::kMantissaBits - 11));
	return sum;
}

} /* namespace */

void Fp16Vector::load(const int16_t *numbers, uint32_t lanes)
{
	alignas(64) int16_t padded[kMacLanes] = {};

	std::copy_n(numbers, lanes, padded);
	nan = HWY_DYNAMIC_DISPATCH(split)(padded, *this) ? firstNan(padded, lanes) : 0;
}

uint16_t firstNan(const int16_t *numbers, size_t count)
{
	const auto *first = std::find_if(numbers, numbers + count,
					 [](int16_t number) { return (number & 0x7fff) > 0x7c00; });

	return first == numbers + count ? 0 : static_cast<uint16_t>(*first);
}

Fp16Sum macFp16(const Fp16Vector &data, const Fp16Vector &weights, uint32_t lanes)
{
	const Fp16Sum nan = nanOf(data, weights);

	if (nan.exponent == Fp16Sum::kNan)
		return nan;
	return HWY_DYNAMIC_DISPATCH(productSum)(data, weights, lanes);
}

std::array<Fp16Sum, 4> macFp16Winograd(const Fp16Vector &data, const Fp16Vector &weights)
{
	alignas(64) int32_t product[kMacLanes];
	std::array<int64_t, 16> m;
	std::array<Fp16Sum, 4> sums;

	sums.fill(nanOf(data, weights));
	if (sums[0].exponent == Fp16Sum::kNan)
		return sums;

	const uint32_t exponent = HWY_DYNAMIC_DISPATCH(products)(data, weights, product);
	for (size_t i = 0; i < m.size(); i++)
		m[i] = int64_t{ product[4 * i] } + product[4 * i + 1] + product[4 * i + 2] +
		       product[4 * i + 3];
	const std::array<int64_t, 4> out = winogradOutput(m);
	for (size_t i = 0; i < out.size(); i++)
		sums[i] = { exponent, out[i] };
	return sums;
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
