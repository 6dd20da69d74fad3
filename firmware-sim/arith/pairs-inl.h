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

/** \return of the pairs of 16 bits in \a a and \a b the sums of their products */
HWY_INLINE Pairs sumsOfProducts(Pairs a, Pairs b)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	return Pairs{ _mm512_madd_epi16(a.raw, b.raw) };
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
	return Pairs{ _mm256_madd_epi16(a.raw, b.raw) };
#else
	const auto low = [](Pairs pair) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(pair)); };
	const auto high = [](Pairs pair) { return hn::ShiftRight<16>(pair); };

	return hn::Add(hn::Mul(low(a), low(b)), hn::Mul(high(a), high(b)));
#endif
}

} /* namespace pairs */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */
