/* SPDX-License-Identifier: MIT */
/*
 * Vectors of the kernels of FP16 groups, for files that are compiled once for each instruction
 * set (Highway).
 *
 * A row is a vector of 16 bits for each kernel. What needs 32 bits is in two vectors, of the row's
 * even kernels and of its odd ones, and what needs 64 in their halves.
 */
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <hwy/highway.h>

#include "conv/fp16_cells.h"

/* Once for each instruction set. */
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

/* Vectors with doubles. */
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
/* Rows that are worked on together: what they have in common is loaded once, and bytes of both fill
 * a vector.
 */
constexpr size_t kTogether = kRowLanes < kFp16Columns ? 2 : 1;

HWY_INLINE Integers constant(int32_t value)
{
	return hn::Set(IntegerTag(), value);
}

HWY_INLINE Row rowOf(int16_t value)
{
	return hn::Set(RowTag(), value);
}

/** Calls with the first kernel of rows that are worked on together, and an index for each */
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

/** Numbers for the even and the odd kernels of a row */
struct EvenOdd {
	Integers even;
	Integers odd;
};

/** \return the numbers of a row, with their signs */
HWY_INLINE EvenOdd widened(Row row)
{
	const auto pairs = hn::BitCast(IntegerTag(), row);
	return { hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)), hn::ShiftRight<16>(pairs) };
}

/** \return the same of numbers without signs */
HWY_INLINE EvenOdd widenedUnsigned(Row row)
{
	const auto pairs = hn::BitCast(UnsignedTag(), row);
	return { hn::BitCast(IntegerTag(), hn::And(pairs, hn::Set(UnsignedTag(), 0xffff))),
		 hn::BitCast(IntegerTag(), hn::ShiftRight<16>(pairs)) };
}

#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2

/** \return bytes of the numbers of two rows, those of each 128 bits beside each other, as
 *	    interleaving takes them apart; of other numbers the nearest bytes
 */
HWY_INLINE hn::Vec<BytesTag> packed(Row row, Row next)
{
	return hn::Vec<BytesTag>{ _mm256_packs_epi16(row.raw, next.raw) };
}

/** \return the same of numbers that become bytes without signs */
HWY_INLINE hn::Vec<BytesTag> packedUnsigned(Row row, Row next)
{
	return hn::Vec<BytesTag>{ _mm256_packus_epi16(row.raw, next.raw) };
}

#elif !HWY_ARCH_X86 || HWY_TARGET > HWY_AVX2

/** \return bytes of the numbers of two rows of 128 bits; of other numbers the nearest bytes */
HWY_INLINE hn::Vec<BytesTag> packed(Row row, Row next)
{
	const hn::RebindToSigned<BytesTag> tag;
	const hn::Half<decltype(tag)> half;
	return hn::BitCast(BytesTag(),
			   hn::Combine(tag, hn::DemoteTo(half, next), hn::DemoteTo(half, row)));
}

/** \return the same of numbers that become bytes without signs */
HWY_INLINE hn::Vec<BytesTag> packedUnsigned(Row row, Row next)
{
	const BytesTag tag;
	const hn::Half<BytesTag> half;
	return hn::Combine(tag, hn::DemoteTo(half, next), hn::DemoteTo(half, row));
}

#endif

/** \return a row times numbers that are in the lower halves of \a even, the upper ones of \a odd,
 *	    with zeroes beside them
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

/* Of two, by the exponent. */
alignas(16) constexpr uint8_t kPowers[16] = { 1, 2, 4, 8, 16, 32, 64, 128 };

/** \return two to the power of numbers from 0 to 7, which have their highest bit set besides */
HWY_INLINE Row powerOfTwo(Row numbers)
{
	const hn::Repartition<uint8_t, RowTag> tag;
	/* That of the upper byte is zero then. */
	const auto index = hn::BitCast(tag, numbers);

	return hn::BitCast(RowTag(), hn::TableLookupBytesOr0(hn::LoadDup128(tag, kPowers), index));
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/** \return numbers of \a table, kRowLanes, by the five lowest bits of \a index */
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
