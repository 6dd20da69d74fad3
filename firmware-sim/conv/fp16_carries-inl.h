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
	HWY_INLINE const int32_t *row(int32_t index) const { return words_[index]; }

	/** \return the word of a row for weights of these significands */
	static HWY_INLINE Integers wordIndex(Integers significand)
	{
#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
		/* The sign stays where the blend looks for it. */
		return hn::ShiftRight<5>(significand);
#else
		const Integers sign = hn::And(hn::ShiftRight<31>(significand), constant(8));
		return hn::Or(hn::And(hn::ShiftRight<5>(significand), constant(7)), sign);
#endif
	}

	/** \return 1 where something is lost: bit \a significands % 32 of the word at \a index */
	static HWY_INLINE Integers lost(const int32_t *row, Integers index, Integers significands)
	{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
		const __m512i word = _mm512_permutexvar_epi32(index.raw, _mm512_load_si512(row));
		return hn::And(Integers{ _mm512_rorv_epi32(word, significands.raw) }, constant(1));
#else
		const Integers bit = hn::And(significands, constant(31));
		return hn::And(hn::Shr(word(row, index), bit), constant(1));
#endif
	}

private:
	static constexpr uint32_t kRows = 512;

#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	static HWY_INLINE Integers word(const int32_t *row, Integers index)
	{
		const auto *halves = reinterpret_cast<const __m256i *>(row);
		const __m256i positive = _mm256_permutevar8x32_epi32(halves[0], index.raw);
		const __m256i negative = _mm256_permutevar8x32_epi32(halves[1], index.raw);
		return Integers{ _mm256_castps_si256(_mm256_blendv_ps(
			_mm256_castsi256_ps(positive), _mm256_castsi256_ps(negative),
			_mm256_castsi256_ps(index.raw))) };
	}
#else
	static HWY_INLINE Integers word(const int32_t *row, Integers index)
	{
		return hn::GatherIndex(IntegerTag(), row, index);
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
		const uint32_t lost = bitsOf(hn::Ne(aligned, floor));

		words_[number][firstWeight / 32] |= static_cast<int32_t>(lost << firstWeight % 32);
	}

	alignas(64) int32_t words_[kRows][kRowWords] = {};
};

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
