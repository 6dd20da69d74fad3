/* SPDX-License-Identifier: MIT */
/*
 * The multiplier of a MAC cell for FP16 and its alignment, for files that are compiled once for
 * each instruction set (Highway).
 *
 * Exact bits need a model of the structure of the multiplier in nvdlav1's RTL and C model: radix-4
 * Booth recoding of the weight gives eight partial products, carry-save adders reduce them to two
 * words, and the alignment shifts those two words one by one before they are added. The shift drops
 * the fractions of each word and of the offset described below, instead of the product's fraction,
 * so a product can differ by one unit from its floor.
 *
 * Adding 2^16 makes every partial product positive. The sum of these offsets is kOffset, whose
 * shifted value is subtracted at the end.
 */
#include <cstdint>

#include <hwy/highway.h>

#include "conv/csc.h"

/* An include guard that lets the file be included once for each instruction set. */
#if defined(NVDLA_SIM_CONV_FP16_MULTIPLIER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_FP16_MULTIPLIER_INL_H
#undef NVDLA_SIM_CONV_FP16_MULTIPLIER_INL_H
#else
#define NVDLA_SIM_CONV_FP16_MULTIPLIER_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace fp16
{

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<uint32_t, kMacLanes>;
using SignedTag = hn::RebindToSigned<Tag>;
using Vector = hn::Vec<Tag>;

constexpr uint32_t kOffset = 0x55550000;
/* Both words are below 2^31, so this shift makes them and the offset zero. */
constexpr uint32_t kShiftOut = 31;

HWY_INLINE Vector constant(uint32_t value)
{
	return hn::Set(Tag(), value);
}

/** Output of a carry-save adder: the sum of three words as two */
struct SumCarry {
	Vector sum;
	Vector carry;
};

HWY_INLINE SumCarry compress(Vector a, Vector b, Vector c)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	/* One instruction computes any function of three bits, given its truth table as a
	 * constant. */
	const Vector sum{ _mm512_ternarylogic_epi32(a.raw, b.raw, c.raw, 0x96) };
	const Vector carry{ _mm512_ternarylogic_epi32(a.raw, b.raw, c.raw, 0xe8) };

	return { sum, hn::ShiftLeft<1>(carry) };
#else
	const Vector half = hn::Xor(a, b);

	return { hn::Xor(half, c), hn::ShiftLeft<1>(hn::Or(hn::And(a, b), hn::And(half, c))) };
#endif
}

/** Reduces five words to two */
HWY_INLINE SumCarry compress5(Vector a, Vector b, Vector c, Vector d, Vector e)
{
	const SumCarry first = compress(a, b, c);
	const SumCarry second = compress(first.sum, first.carry, d);
	return compress(second.sum, second.carry, e);
}

/** The eight Booth digits of each weight: digit i is at bit 2 * i of each member */
struct Digits {
	Vector low; /* the lowest of the three bits of each digit */
	Vector once;
	Vector twice;
	Vector negative;

	/** \param negate all ones where the product is to be negated */
	HWY_INLINE Digits(Vector weight, Vector negate)
	{
		const Vector even = constant(0x5555);
		/* The complement of the recoded digits negates the product. */
		low = hn::Xor(hn::ShiftLeft<1>(weight), negate);
		const Vector middle = hn::ShiftRight<1>(low);
		const Vector high = hn::ShiftRight<2>(low);

		once = hn::And(hn::Xor(low, middle), even);
		twice = hn::AndNot(once, hn::And(hn::Xor(middle, high), even));
		negative = hn::And(hn::AndNot(hn::And(low, middle), high), even);
	}
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

/*
 * Booth digits, indexed by three bits; a negative digit has -1 in its upper half. An index has more
 * bits: AVX2's permutation ignores them, AVX-512's uses a fourth, so the table is repeated.
 */
alignas(64) constexpr uint32_t kDigitTable[] = {
	0, 1, 1, 2, 0xfffffffe, 0xffffffff, 0xffffffff, 0,
	0, 1, 1, 2, 0xfffffffe, 0xffffffff, 0xffffffff, 0,
};

/** \return digit \a kDigit times \a data, minus one if the digit is negative */
template<int kDigit>
HWY_INLINE Vector digitProduct(const Digits &digits, Vector data)
{
	const Vector index = hn::ShiftRight<2 * kDigit>(digits.low);
	const Vector table = hn::Load(Tag(), kDigitTable);
	/* The instruction adds the products of both halves; the upper one subtracts one for
	 * negative digits. */
	const Vector halves = hn::Or(data, constant(0x10000));

#if HWY_TARGET <= HWY_AVX3
	return Vector{ _mm512_madd_epi16(halves.raw,
					 _mm512_permutexvar_epi32(index.raw, table.raw)) };
#else
	return Vector{ _mm256_madd_epi16(halves.raw,
					 _mm256_permutevar8x32_epi32(table.raw, index.raw)) };
#endif
}

#else

/** \return digit \a kDigit times \a data, minus one if the digit is negative */
template<int kDigit>
HWY_INLINE Vector digitProduct(const Digits &digits, Vector data)
{
	const Vector bit = constant(1U << (2 * kDigit));
	const Vector magnitude =
		hn::Or(hn::IfThenElseZero(hn::TestBit(digits.once, bit), data),
		       hn::IfThenElseZero(hn::TestBit(digits.twice, bit), hn::ShiftLeft<1>(data)));
	const Vector sign =
		hn::IfThenElseZero(hn::TestBit(digits.negative, bit), constant(0xffffffff));

	return hn::Xor(magnitude, sign);
}

#endif

/** \return digitProduct() shifted to the digit's place, plus 2^16 */
template<int kDigit>
HWY_INLINE Vector partialProduct(const Digits &digits, Vector data)
{
	const Vector product = digitProduct<kDigit>(digits, data);
	return hn::ShiftLeft<2 * kDigit>(hn::Add(product, constant(0x10000)));
}

/** \return a partial product, plus the 1 that digitProduct() subtracted for the previous digit */
template<int kDigit>
HWY_INLINE Vector withCarry(const Digits &digits, Vector data)
{
	return hn::Or(partialProduct<kDigit>(digits, data),
		      hn::And(digits.negative, constant(1U << (2 * kDigit - 2))));
}

/** \return +-(data * weight) >> shift, with the hardware's rounding */
HWY_INLINE hn::Vec<SignedTag> alignedProduct(Vector data, Vector weight, Vector negate,
					     Vector shift)
{
	const Digits digits(weight, negate);
	const SumCarry lower =
		compress5(partialProduct<0>(digits, data), withCarry<1>(digits, data),
			  withCarry<2>(digits, data), withCarry<3>(digits, data),
			  hn::And(digits.negative, constant(1U << 6)));
	const SumCarry upper =
		compress5(partialProduct<4>(digits, data), withCarry<5>(digits, data),
			  withCarry<6>(digits, data), withCarry<7>(digits, data),
			  hn::And(digits.negative, constant(1U << 14)));
	const SumCarry half = compress(lower.sum, lower.carry, upper.sum);
	const SumCarry whole = compress(half.sum, half.carry, upper.carry);

	const Vector by = hn::Min(shift, constant(kShiftOut));
	const Vector sum = hn::Add(hn::Shr(whole.sum, by), hn::Shr(whole.carry, by));
	return hn::BitCast(SignedTag(), hn::Sub(sum, hn::Shr(constant(kOffset), by)));
}

} /* namespace fp16 */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
