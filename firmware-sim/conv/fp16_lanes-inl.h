/* SPDX-License-Identifier: MIT */
/*
 * Vectors of the kernels of FP16 groups, for files that are compiled once for each instruction
 * set (Highway).
 *
 * A row is a vector with 16 bits for each kernel. Its 32-bit values take two vectors, one for even
 * and one for odd kernels; its 64-bit values take a vector for each half of these.
 */
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <hwy/highway.h>

#include "conv/fp16_cells.h"

/* Include guard that works once per instruction set: HWY_TARGET_TOGGLE changes with each. */
#if defined(NVDLA_SIM_CONV_FP16_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_FP16_LANES_INL_H
#undef NVDLA_SIM_CONV_FP16_LANES_INL_H
#else
#define NVDLA_SIM_CONV_FP16_LANES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Only for targets with vectors of doubles. */
#if HWY_TARGET != HWY_SCALAR && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;

using RowTag = hn::CappedTag<int16_t, kFp16Columns>;
using Row = hn::Vec<RowTag>;
using IntegerTag = hn::RepartitionToWide<RowTag>;
using Integers = hn::Vec<IntegerTag>;
using UnsignedTag = hn::RebindToUnsigned<IntegerTag>;
using HalfTag = hn::Half<IntegerTag>;
using BytesTag = hn::Repartition<uint8_t, RowTag>;
using DoubleTag = hn::Rebind<double, HalfTag>;
using BitsTag = hn::RebindToSigned<DoubleTag>;
using Doubles = hn::Vec<DoubleTag>;

constexpr size_t kRowLanes = hn::MaxLanes(RowTag());
constexpr size_t kLanes = kRowLanes / 2;
constexpr size_t kDoubleLanes = kLanes / 2;
/* Number of rows computed together: each operand is loaded only once for them, and their bytes fill
 * a vector. */
constexpr size_t kTogether = kRowLanes < kFp16Columns ? 2 : 1;

HWY_INLINE Integers constant(int32_t value)
{
	return hn::Set(IntegerTag(), value);
}

HWY_INLINE Row rowOf(int16_t value)
{
	return hn::Set(RowTag(), value);
}

/** Calls \a call for each set of rows computed together, with their first kernel and their
 * indices */
template<typename Call>
HWY_INLINE void forRowsTogether(size_t kernels, Call call)
{
	for (size_t first = 0; first < kernels; first += kTogether * kRowLanes) {
		if (kernels - first > (kTogether - 1) * kRowLanes)
			call(first, std::make_index_sequence<kTogether>());
		else
			call(first, std::make_index_sequence<1>());
	}
}

/** Values of 32 bits for the even and the odd kernels of a row */
struct EvenOdd {
	Integers even;
	Integers odd;
};

/** \return a row sign-extended to 32 bits */
HWY_INLINE EvenOdd widened(Row row)
{
	const auto pairs = hn::BitCast(IntegerTag(), row);
	return { hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)), hn::ShiftRight<16>(pairs) };
}

/** \return a row zero-extended to 32 bits */
HWY_INLINE EvenOdd widenedUnsigned(Row row)
{
	const auto pairs = hn::BitCast(UnsignedTag(), row);
	return { hn::BitCast(IntegerTag(), hn::And(pairs, hn::Set(UnsignedTag(), 0xffff))),
		 hn::BitCast(IntegerTag(), hn::ShiftRight<16>(pairs)) };
}

#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2

/** \return two rows saturated to bytes, interleaved in blocks of 128 bits
 */
HWY_INLINE hn::Vec<BytesTag> packed(Row row, Row next)
{
	return hn::Vec<BytesTag>{ _mm256_packs_epi16(row.raw, next.raw) };
}

/** \return like packed(), saturated to unsigned bytes */
HWY_INLINE hn::Vec<BytesTag> packedUnsigned(Row row, Row next)
{
	return hn::Vec<BytesTag>{ _mm256_packus_epi16(row.raw, next.raw) };
}

#elif !HWY_ARCH_X86 || HWY_TARGET > HWY_AVX2

/** \return two rows of 128 bits saturated to bytes */
HWY_INLINE hn::Vec<BytesTag> packed(Row row, Row next)
{
	const hn::RebindToSigned<BytesTag> tag;
	const hn::Half<decltype(tag)> half;
	return hn::BitCast(BytesTag(),
			   hn::Combine(tag, hn::DemoteTo(half, next), hn::DemoteTo(half, row)));
}

/** \return like packed(), saturated to unsigned bytes */
HWY_INLINE hn::Vec<BytesTag> packedUnsigned(Row row, Row next)
{
	const BytesTag tag;
	const hn::Half<BytesTag> half;
	return hn::Combine(tag, hn::DemoteTo(half, next), hn::DemoteTo(half, row));
}

#endif

/** \return a row times numbers in the lower halves of \a even and the upper halves of \a odd; the
 *	    other halves must be zero
 */
HWY_INLINE EvenOdd products(Row row, Integers even, Integers odd)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	return { Integers{ _mm512_madd_epi16(row.raw, even.raw) },
		 Integers{ _mm512_madd_epi16(row.raw, odd.raw) } };
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
	return { Integers{ _mm256_madd_epi16(row.raw, even.raw) },
		 Integers{ _mm256_madd_epi16(row.raw, odd.raw) } };
#else
	const EvenOdd numbers = widened(row);
	const Integers factor = hn::ShiftRight<16>(odd);
	return { hn::Mul(numbers.even, factor), hn::Mul(numbers.odd, factor) };
#endif
}

alignas(16) constexpr uint8_t kPowers[16] = { 1, 2, 4, 8, 16, 32, 64, 128 };

/** \return 2^n for n = the low bits of \a numbers, 0 to 7; their highest bit must be set */
HWY_INLINE Row powerOfTwo(Row numbers)
{
	const hn::Repartition<uint8_t, RowTag> tag;
	/* The highest bit makes the lookup return zero for upper bytes. */
	const auto index = hn::BitCast(tag, numbers);

	return hn::BitCast(RowTag(), hn::TableLookupBytesOr0(hn::LoadDup128(tag, kPowers), index));
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/** \return elements of \a table (kRowLanes elements) selected by the five lowest bits of \a
 * index */
HWY_INLINE Row lookedUp(const int16_t *table, Row index)
{
	return Row{ _mm512_permutexvar_epi16(index.raw, _mm512_load_si512(table)) };
}

#endif

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
