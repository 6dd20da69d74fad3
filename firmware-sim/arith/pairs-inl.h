/* SPDX-License-Identifier: MIT */
/*
 * Pairs of numbers of 16 bits in vectors, for files that are compiled once for each instruction set
 * (Highway).
 */
#include <cstdint>

#include <hwy/highway.h>

/* Once for each instruction set. */
#if defined(NVDLA_SIM_ARITH_PAIRS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_ARITH_PAIRS_INL_H
#undef NVDLA_SIM_ARITH_PAIRS_INL_H
#else
#define NVDLA_SIM_ARITH_PAIRS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace pairs
{

namespace hn = hwy::HWY_NAMESPACE;

using PairTag = hn::CappedTag<int32_t, 16>;
using Pairs = hn::Vec<PairTag>;

/** \param a, \param b vectors of int32_t \return of their pairs of 16 bits the sums of products */
template<class V>
HWY_INLINE V sumsOfProducts(V a, V b)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if constexpr (sizeof(a.raw) == 64)
		return V{ _mm512_madd_epi16(a.raw, b.raw) };
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
	if constexpr (sizeof(a.raw) == 32)
		return V{ _mm256_madd_epi16(a.raw, b.raw) };
#endif
	const auto low = [](V pair)
				 HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(pair)); };
	const auto high = [](V pair) HWY_ATTR { return hn::ShiftRight<16>(pair); };

	return hn::Add(hn::Mul(low(a), low(b)), hn::Mul(high(a), high(b)));
}

} /* namespace pairs */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */
