/* SPDX-License-Identifier: MIT */
/*
 * Vector instructions that multiply units of operands with weights. For files that are compiled
 * once for each instruction set (Highway).
 */
#include <algorithm>

#include <hwy/highway.h>

#include "conv/conv_tile.h"

/* Include guard that works once per instruction set: HWY_TARGET_TOGGLE changes with each. */
#if defined(NVDLA_SIM_CONV_TILE_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_TILE_PRODUCTS_INL_H
#undef NVDLA_SIM_CONV_TILE_PRODUCTS_INL_H
#else
#define NVDLA_SIM_CONV_TILE_PRODUCTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<int32_t>;
using Vector = hn::Vec<Tag>;

/* Most positions for which registers hold the sums (two vectors of columns each) and the
 * pointers. */
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr size_t kPositions = 12;
#elif HWY_ARCH_X86
constexpr size_t kPositions = 5;
#else
constexpr size_t kPositions = 10;
#endif
constexpr size_t kFewPositions = 4;

/** Shape of a tile whose sums are in registers: vectors of columns, and positions */
struct TwoVectors {
	static constexpr size_t kVectors = 2;
	static constexpr size_t kMostPositions = kPositions;
	static constexpr size_t kUnitsAtOnce = 2;
};

/* Shape with one vector of columns. Registers hold more positions, but not all of their pointers:
 * each pointer is loaded once for several units. */
struct OneVector {
	static constexpr size_t kVectors = 1;
	static constexpr size_t kMostPositions = 2 * kPositions;
	static constexpr size_t kUnitsAtOnce = 4;
};

#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
/* Shape of a whole panel: needs fewer broadcasts of operands for the same products, but reads
 * weights from memory. */
struct FourVectors {
	static constexpr size_t kVectors = 4;
	static constexpr size_t kMostPositions = 3;
	static constexpr size_t kUnitsAtOnce = 1;
};
#endif

struct Pairs {
	using Number = int32_t;
	using Tag = HWY_NAMESPACE::Tag;
	using Vector = HWY_NAMESPACE::Vector;

	static HWY_INLINE Vector spread(Number unit) { return hn::Set(Tag(), unit); }

	static HWY_INLINE Vector multiply(Vector data, Vector weights)
	{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
		return Vector{ _mm512_madd_epi16(data.raw, weights.raw) };
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
		return Vector{ _mm256_madd_epi16(data.raw, weights.raw) };
#else
		const Vector low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(data)),
					   hn::ShiftRight<16>(hn::ShiftLeft<16>(weights)));
		const Vector high = hn::Mul(hn::ShiftRight<16>(data), hn::ShiftRight<16>(weights));
		return hn::Add(low, high);
#endif
	}

	static HWY_INLINE Vector add(Vector sum, Vector data, Vector weights)
	{
		sum = hn::Add(sum, multiply(data, weights));
		/* Keeps GCC from adding products to each other first, which needs more
		 * registers. */
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
		asm("" : "+v"(sum.raw));
#endif
		return sum;
	}

	static HWY_INLINE Vector start(const int32_t *sums)
	{
		return hn::LoadU(Tag(), sums);
	}

	static HWY_INLINE void store(Vector sum, int32_t *out)
	{
		hn::StoreU(sum, Tag(), out);
	}
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/* Assembly: a host with VNNI may lack other instructions of Highway's target with VNNI. */
struct Quads : Pairs {
	static HWY_INLINE Vector add(Vector sum, Vector data, Vector weights)
	{
		asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(data.raw), "v"(weights.raw));
		return sum;
	}
};

struct VnniPairs : Pairs {
	static HWY_INLINE Vector add(Vector sum, Vector data, Vector weights)
	{
		asm("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(data.raw), "v"(weights.raw));
		return sum;
	}
};
#endif

#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
/*
 * For hosts without VNNI: bytes need three instructions where 16-bit numbers need four, and half as
 * many loads. The multiplication takes unsigned data and adds two products in 16 bits. Data of at
 * most 127 cannot overflow that: the extreme is 2 * 127 * -128.
 */
struct PositiveBytes : Pairs {
	static HWY_INLINE Vector add(Vector sum, Vector data, Vector weights)
	{
		const __m256i twos = _mm256_maddubs_epi16(data.raw, weights.raw);

		sum = hn::Add(sum, Vector{ _mm256_madd_epi16(twos, _mm256_set1_epi16(1)) });
#if HWY_COMPILER_GCC_ACTUAL /* for the reason given in Pairs::add() */
		asm("" : "+v"(sum.raw));
#endif
		return sum;
	}
};
#endif

struct Floats {
	using Number = float;
	using Tag = hn::CappedTag<float, kFewColumns>;
	using Vector = hn::Vec<Tag>;

	static HWY_INLINE Vector spread(Number number) { return hn::Set(Tag(), number); }

	static HWY_INLINE Vector add(Vector sum, Vector data, Vector weights)
	{
		return hn::MulAdd(data, weights, sum);
	}

	static HWY_INLINE Vector start(const int32_t *) { return hn::Zero(Tag()); }

	static HWY_INLINE void store(Vector sum, int32_t *out)
	{
		const hn::RebindToSigned<Tag> bitsTag;
		const auto nan = hn::RebindMask(bitsTag, hn::IsNaN(sum));
		hn::StoreU(
			hn::IfThenElse(nan, hn::Set(bitsTag, kFloatNan), hn::BitCast(bitsTag, sum)),
			bitsTag, out);
	}
};

HWY_INLINE bool hasVnni()
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	return __builtin_cpu_supports("avx512vnni");
#else
	return false;
#endif
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
