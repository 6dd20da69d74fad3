/* SPDX-License-Identifier: MIT */
/*
 * FloatPieces' look-up, for files that are compiled once for each instruction set (Highway).
 */
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "arith/fp17-inl.h"
#include "lut/float_pieces.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_LUT_FLOAT_PIECES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_LUT_FLOAT_PIECES_INL_H
#undef NVDLA_SIM_LUT_FLOAT_PIECES_INL_H
#else
#define NVDLA_SIM_LUT_FLOAT_PIECES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace float_pieces
{

using namespace float_bits;

using Single = hn::Vec<FloatTag>;

/** \param value within 32 bits \return without its fraction */
HWY_INLINE Bits truncated(Single value)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	return Bits{ _mm512_cvttps_epi32(value.raw) };
#else
	return hn::ConvertTo(Tag(), value);
#endif
}

/** \brief Numbers of pairs, out of registers or gathered \tparam kFew there are at most kFew */
template<bool kFew>
class Numbers
{
public:
	explicit HWY_INLINE Numbers(const float *numbers) : numbers_(numbers) {}

	HWY_INLINE Single at(Bits index) const
	{
		return hn::GatherIndex(FloatTag(), numbers_, index);
	}
	/** \return at() if no index is behind FloatPieces::kFew */
	HWY_INLINE Single ofTables(Bits index) const { return at(index); }

private:
	const float *numbers_;
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/* Faster than gathered. */
template<>
class Numbers<true>
{
public:
	explicit HWY_INLINE Numbers(const float *numbers)
		: first_{ _mm512_loadu_ps(numbers), _mm512_loadu_ps(numbers + 16) },
		  second_{ _mm512_loadu_ps(numbers + 32), _mm512_loadu_ps(numbers + 48) },
		  behind_(_mm512_loadu_ps(numbers + FloatPieces::kFew))
	{
	}

	HWY_INLINE Single ofTables(Bits index) const
	{
		const __m512i i = index.raw;
		const __mmask16 upper = _mm512_test_epi32_mask(i, _mm512_set1_epi32(32));

		return Single{ _mm512_mask_mov_ps(
			_mm512_permutex2var_ps(first_[0], i, first_[1]), upper,
			_mm512_permutex2var_ps(second_[0], i, second_[1])) };
	}

	HWY_INLINE Single at(Bits index) const
	{
		const __m512i i = index.raw;
		const __mmask16 behind = _mm512_test_epi32_mask(
			i, _mm512_set1_epi32(static_cast<int>(FloatPieces::kFew)));

		return Single{ _mm512_mask_permutexvar_ps(ofTables(index).raw, behind, i,
							  behind_) };
	}

private:
	__m512 first_[2];
	__m512 second_[2];
	__m512 behind_;
};

#endif

/**
 * \brief The function at vectors of inputs
 * \tparam kPieces as many as there are, or more \tparam kFew there are at most FloatPieces::kFew
 *	   pairs of tables
 */
template<size_t kPieces, bool kFew>
class Function
{
public:
	explicit HWY_INLINE Function(const FloatPieces &pieces)
		: pieces_(pieces), entries_(pieces.entries.data()), rises_(pieces.rises.data())
	{
	}

	/** \param x FP32, from zero on to the highest input \return FP17, as FP32 bits */
	HWY_INLINE Bits operator()(Single x) const
	{
		constexpr int32_t kPart = (1 << FloatPieces::kFraction) - 1;
		const Bits place = placeOf(x);
		const Bits index = hn::ShiftRight<FloatPieces::kFraction>(place);
		const Single part = hn::ConvertTo(FloatTag(), hn::And(place, constant(kPart)));
		const Single rounded = asFloat(fp17::roundedMantissa(asBits(part)));
		/* Of what is always the same no part is taken. */
		const Single rise =
			hn::Mul(kFew ? rises_.ofTables(index) : rises_.at(index), rounded);
		const Single entry =
			pieces_.hasSame ? entries_.at(index) : entries_.ofTables(index);

		return fp17::roundedMantissa(
			asBits(hn::Add(asFloat(fp17::roundedMantissa(asBits(rise))), entry)));
	}

private:
	/** FloatPieces::Piece's, of each input */
	struct Choice {
		Single start;
		Single scale;
		Bits offset;
		Bits exponential;
	};

	static HWY_INLINE Single set(float number) { return hn::Set(FloatTag(), number); }

	template<size_t kPiece>
	HWY_INLINE void choose(Single x, Choice &choice) const
	{
		if constexpr (kPiece < kPieces) {
			const FloatPieces::Piece &piece = pieces_.pieces[kPiece];
			const auto inside = hn::Ge(x, set(piece.first));
			const Mask bits = hn::RebindMask(Tag(), inside);

			choice.start = hn::IfThenElse(inside, set(piece.start), choice.start);
			choice.scale = hn::IfThenElse(inside, set(piece.scale), choice.scale);
			choice.offset = hn::IfThenElse(bits, constant(piece.offset), choice.offset);
			if (pieces_.exponential)
				choice.exponential = hn::IfThenElse(
					bits, constant(-piece.exponential), choice.exponential);
		}
	}

	HWY_INLINE Bits placeOf(Single x) const
	{
		constexpr int kBelow = arith::Fp32::kMantissaBits - FloatPieces::kFraction;
		const FloatPieces::Piece &first = pieces_.pieces[0];
		Choice choice = { set(first.start), set(first.scale), constant(first.offset),
				  constant(-first.exponential) };

		choose<1>(x, choice);
		choose<2>(x, choice);
		choose<3>(x, choice);
		choose<4>(x, choice);
		const Single distance = hn::Sub(x, choice.start);
		Bits place = truncated(hn::Mul(distance, choice.scale));
		/* Exponent and mantissa; the exponent has its bias. */
		if (pieces_.exponential)
			place = hn::IfThenElse(hn::MaskFromVec(choice.exponential),
					       hn::ShiftRight<kBelow>(asBits(distance)), place);
		return hn::Add(place, choice.offset);
	}

	static_assert(FloatPieces::kMost == 5);

	const FloatPieces &pieces_;
	const Numbers<kFew> entries_;
	const Numbers<kFew> rises_;
};

} /* namespace float_pieces */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */
