/* SPDX-License-Identifier: MIT */
/*
 * What the multiplier's words lose where products are shifted by 8 bits, for files that are
 * compiled once for each instruction set (Highway).
 */
#include "conv/fp16_lanes-inl.h"
#include "conv/fp16_multiplier-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_CONV_FP16_CARRIES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_FP16_CARRIES_INL_H
#undef NVDLA_SIM_CONV_FP16_CARRIES_INL_H
#else
#define NVDLA_SIM_CONV_FP16_CARRIES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;

/* The distance that the table is for. */
constexpr int32_t kTabledDistance = 8;

/**
 * \brief Products shifted right by 8 bits: whether the multiplier's words give one less than the
 * floor
 *
 * They do where their low bytes add up to a carry, which depends on the low bytes of both
 * significands and on their signs.
 */
class LostCarries
{
public:
	/* Bits of the significand that say which word of a row: 5 to 7, and the sign. */
	static constexpr size_t kRowWords = 16;

	LostCarries()
	{
		for (uint32_t number = 0; number < kRows; number++)
			for (uint32_t weight = 0; weight < kRowWords * 32; weight += kLanes)
				fill(number, weight);
	}

	/** \return the rows for data of these significands */
	static HWY_INLINE Integers rowIndex(Integers significand)
	{
		const Integers sign = hn::And(hn::ShiftRight<31>(significand), constant(0x100));
		return hn::Or(hn::And(significand, constant(0xff)), sign);
	}

	/** \param index rowIndex() of the data's significand \return words for the weights */
	HWY_INLINE const int32_t *row(uint32_t index) const { return words_[index]; }

	/** Where lost() finds the bits of weights */
	struct Places {
		Row word; /* of the data's row: of 16 bits with AVX-512, else of 8 */
		Row bit;

		HWY_INLINE explicit Places(Row significands)
		{
			constexpr int kBits = kIsWide ? 4 : 3;
			constexpr int16_t kInByte = 0xff >> kBits;
			const Row inByte =
				hn::And(hn::ShiftRight<kBits>(significands), rowOf(kInByte));
			const Row sign =
				hn::And(hn::ShiftRight<15>(significands), rowOf(kInByte + 1));

			word = hn::Or(inByte, sign);
			bit = bitOf(significands);
		}
	};

	/** \return a bit that is set, by the lowest bits of numbers */
	static HWY_INLINE Row bitOf(Row numbers)
	{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
		return Row{ _mm512_sllv_epi16(rowOf(1).raw, hn::And(numbers, rowOf(15)).raw) };
#else
		return powerOfTwo(hn::Or(hn::And(numbers, rowOf(7)), rowOf(INT16_MIN)));
#endif
	}

	/**
	 * \param words and \a bits of the weights, as Places has them
	 * \return where of \a isTabled something is lost
	 */
	static HWY_INLINE hn::Mask<RowTag> lost(const int32_t *row, Row words, Row bits,
						hn::Mask<RowTag> isTabled)
	{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
		const __m512i word = _mm512_permutexvar_epi16(words.raw, _mm512_load_si512(row));
		return { _mm512_mask_test_epi16_mask(isTabled.raw, word, bits.raw) };
#else
		const RowTag tag;
		return hn::And(isTabled, hn::Gt(hn::And(byteOf(row, words), bits), hn::Zero(tag)));
#endif
	}

private:
	static constexpr uint32_t kRows = 512;
	static constexpr bool kIsWide = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3;

#if !HWY_ARCH_X86 || HWY_TARGET > HWY_AVX3
	/** \return the byte of each, and anything above it */
	static HWY_INLINE Row byteOf(const int32_t *row, Row words)
	{
		const hn::Repartition<uint8_t, RowTag> tag;
		const auto *bytes = reinterpret_cast<const uint8_t *>(row);
		auto index = hn::BitCast(tag, words);
#if !HWY_ARCH_X86
		index = hn::And(index, hn::Set(tag, 0xf)); /* x86 looks at no other bits */
#endif
		const auto part = [&](size_t i) HWY_ATTR {
			const auto table = hn::LoadDup128(tag, bytes + 16 * i);
			return hn::BitCast(RowTag(), hn::TableLookupBytes(table, index));
		};
		return choose<5>(words, choose<4>(words, part(3), part(2)),
				 choose<4>(words, part(1), part(0)));
	}

	/** \return the low byte of \a yes where that bit is set, of \a no elsewhere */
	template<int kBit>
	static HWY_INLINE Row choose(Row bits, Row yes, Row no)
	{
#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
		/* Of each byte nothing but the highest bit counts. */
		return Row{ _mm256_blendv_epi8(no.raw, yes.raw,
					       hn::ShiftLeft<7 - kBit>(bits).raw) };
#else
		return hn::IfThenElse(hn::TestBit(bits, rowOf(1 << kBit)), yes, no);
#endif
	}
#endif

	/* Numbers are a low byte and above it a sign. */
	static HWY_INLINE Integers magnitude(Integers number)
	{
		const Integers negative =
			hn::Sub(hn::Zero(IntegerTag()), hn::ShiftRight<8>(number));
		return hn::And(hn::Sub(hn::Xor(number, negative), negative), constant(0xff));
	}

	HWY_INLINE void fill(uint32_t number, uint32_t firstWeight)
	{
		const IntegerTag tag;
		const UnsignedTag bitsTag;
		const Integers data = constant(static_cast<int32_t>(number));
		const Integers weight = hn::Iota(tag, static_cast<int32_t>(firstWeight));
		const Integers negate =
			hn::Sub(hn::Zero(tag), hn::ShiftRight<8>(hn::Xor(data, weight)));
		const Integers product = hn::Mul(magnitude(data), magnitude(weight));
		const Integers floor =
			hn::ShiftRight<kTabledDistance>(hn::Sub(hn::Xor(product, negate), negate));
		const Integers aligned = fp16::alignedProduct(
			hn::BitCast(bitsTag, magnitude(data)),
			hn::BitCast(bitsTag, magnitude(weight)), hn::BitCast(bitsTag, negate),
			hn::Set(bitsTag, kTabledDistance));
		const uint32_t lost = bitsOf(tag, hn::Ne(aligned, floor));

		words_[number][firstWeight / 32] |= static_cast<int32_t>(lost << firstWeight % 32);
	}

	alignas(64) int32_t words_[kRows][kRowWords] = {};
};

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
