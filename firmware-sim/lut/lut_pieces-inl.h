/* SPDX-License-Identifier: MIT */
/*
 * LutPieces' look-up, for files that are compiled once for each instruction set (Highway).
 */
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "arith/pairs-inl.h"
#include "lut/lut_pieces.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_LUT_LUT_PIECES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_LUT_LUT_PIECES_INL_H
#undef NVDLA_SIM_LUT_LUT_PIECES_INL_H
#else
#define NVDLA_SIM_LUT_LUT_PIECES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace lut_pieces
{

namespace hn = hwy::HWY_NAMESPACE;

/**
 * \brief Where inputs are in the pairs: index and fraction
 *
 * A copy of what LutPieces says, which nothing that is written can change.
 *
 * \tparam D tag of float or double \tparam kOne there is one linear piece, and nothing is counted
 */
template<class D, bool kOne>
class Places
{
public:
	using Number = hn::TFromD<D>;
	using Vector = hn::Vec<D>;
	using Mask = hn::Mask<D>;
	using IntegerTag = hn::Rebind<int32_t, D>;

	explicit HWY_INLINE Places(const LutPieces &pieces)
		: pieces_(pieces), whole_(kSingle && pieces.fractionBits == LutPieces::kNarrow),
		  scale_(set(pieces.pieces[0].scale)),
		  offset_(set(pieces.pieces[0].offset + (whole_ ? kOnes : 0)))
	{
		for (size_t i = 0; i < pieces.count && !kOne; i++) {
			numbers_[i].first = static_cast<Number>(pieces.pieces[i].first);
			numbers_[i].start = static_cast<Number>(pieces.pieces[i].start);
			numbers_[i].scale = static_cast<Number>(pieces.pieces[i].scale);
			numbers_[i].offset =
				static_cast<Number>(pieces.pieces[i].offset + (whole_ ? kOnes : 0));
		}
	}

	HWY_INLINE hn::Vec<IntegerTag> operator()(Vector x, LutCounters &counters) const
	{
		if constexpr (kOne)
			return integerOf(hn::MulAdd(x, scale_, offset_));
		else
			return ofMany(x, counters);
	}

private:
	static constexpr bool kSingle = sizeof(Number) == sizeof(float);

	/** LutPieces::Piece's */
	struct Numbers {
		Number first;
		Number start;
		Number scale;
		Number offset;
	};

	static HWY_INLINE Vector set(double value)
	{
		return hn::Set(D(), static_cast<Number>(value));
	}

	HWY_INLINE hn::Vec<IntegerTag> integerOf(Vector place) const
	{
		const IntegerTag tag;

		if constexpr (!kSingle)
			return hn::DemoteTo(tag, place);
		else if (HWY_LIKELY(whole_))
			return hn::Sub(hn::BitCast(tag, place), hn::BitCast(tag, set(kOnes)));
		else
			return hn::ConvertTo(tag, place);
	}

	HWY_INLINE hn::Vec<IntegerTag> ofMany(Vector x, LutCounters &counters) const
	{
		Vector scale = scale_;
		Vector offset = offset_;

		for (size_t i = 1; i < pieces_.count; i++) {
			const Mask inside = reach(x, i);
			scale = hn::IfThenElse(inside, hn::Set(D(), numbers_[i].scale), scale);
			offset = hn::IfThenElse(inside, hn::Set(D(), numbers_[i].offset), offset);
		}
		Vector place = hn::MulAdd(x, scale, offset);
		if (pieces_.exponential)
			place = withExponential(x, place);
		if (pieces_.counts)
			count(x, counters);
		return integerOf(place);
	}

	HWY_INLINE Mask reach(Vector x, size_t piece) const
	{
		return hn::Ge(x, hn::Set(D(), numbers_[piece].first));
	}

	/** \param linear places of inputs that are in no exponential piece */
	HWY_INLINE Vector withExponential(Vector x, Vector linear) const
	{
		Vector all = linear;

		for (size_t i = 0; i < pieces_.count; i++) {
			const Numbers &piece = numbers_[i];
			const Vector distance = hn::Sub(x, hn::Set(D(), piece.start));
			const Vector place =
				pieces_.pieces[i].exponential
					? hn::Add(logarithm(distance), hn::Set(D(), piece.offset))
					: linear;
			all = hn::IfThenElse(reach(x, i), place, all);
		}
		return all;
	}

	/** \return exponent and mantissa of what is above zero; the exponent has its bias */
	HWY_INLINE Vector logarithm(Vector distance) const
	{
		const hn::RebindToUnsigned<D> bits;
		const auto raw = hn::BitCast(bits, distance);

		if constexpr (kSingle) {
			const auto upper = hn::ShiftRightSame(raw, 23 - pieces_.fractionBits);
			return hn::ConvertTo(D(), hn::BitCast(IntegerTag(), upper));
		} else {
			const Vector two52 = set(0x1p52);
			const auto upper = hn::ShiftRightSame(raw, 52 - pieces_.fractionBits);
			return hn::Sub(hn::BitCast(D(), hn::Or(upper, hn::BitCast(bits, two52))),
				       two52);
		}
	}

	/** All that reach a piece are counted there, but for those that reach the next one, too */
	HWY_INLINE void count(Vector x, LutCounters &counters) const
	{
		counters.*pieces_.pieces[0].counter += static_cast<uint32_t>(hn::Lanes(D()));
		for (size_t i = 1; i < pieces_.count; i++) {
			const auto reached = static_cast<uint32_t>(hn::CountTrue(D(), reach(x, i)));
			counters.*pieces_.pieces[i - 1].counter -= reached;
			counters.*pieces_.pieces[i].counter += reached;
		}
	}

	/* Whole numbers from it on are in its low bits. */
	static constexpr double kOnes = 0x1p23;

	const LutPieces &pieces_;
	const bool whole_;   /* places are, and kOnes is a part of offsets */
	const Vector scale_; /* the first one's */
	const Vector offset_;
	Numbers numbers_[LutPieces::kMost];
};

using namespace pairs;

/** \brief The pairs, out of registers or gathered */
template<bool kFew>
class PairTable
{
public:
	explicit HWY_INLINE PairTable(const LutPieces &pieces) : pairs_(pieces.pairs.data()) {}

	/** \param place what the index is the upper part of */
	HWY_INLINE Pairs at(Pairs index, Pairs) const
	{
		return hn::GatherIndex(PairTag(), pairs_, index);
	}

private:
	const int32_t *pairs_;
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/* Faster than gathered. */
template<>
class PairTable<true>
{
public:
	explicit HWY_INLINE PairTable(const LutPieces &pieces)
		: first_{ load(pieces, 0), load(pieces, 16) }, second_{ load(pieces, 32),
									load(pieces, 48) },
		  upper_(_mm512_set1_epi32(32 << pieces.fractionBits))
	{
	}

	HWY_INLINE Pairs at(Pairs index, Pairs place) const
	{
		const __m512i i = index.raw;
		const __mmask16 upper = _mm512_test_epi32_mask(place.raw, upper_);

		return Pairs{ _mm512_mask_mov_epi32(
			_mm512_permutex2var_epi32(first_[0], i, first_[1]), upper,
			_mm512_permutex2var_epi32(second_[0], i, second_[1])) };
	}

private:
	static HWY_INLINE __m512i load(const LutPieces &pieces, size_t first)
	{
		return _mm512_loadu_si512(pieces.pairs.data() + first);
	}

	__m512i first_[2];
	__m512i second_[2];
	__m512i upper_; /* the bit of a place whose index is in the second two */
};

#endif

/** \brief The function of places, 16 bits \tparam kFew there are at most LutPieces::kFew pairs */
template<bool kFew>
class Interpolation
{
public:
	explicit HWY_INLINE Interpolation(const LutPieces &pieces)
		: table_(pieces), bits_(pieces.fractionBits), mixed_(pieces.rises && pieces.falls),
		  one_(hn::Set(PairTag(), 1 << bits_)), part_(hn::Set(PairTag(), (1 << bits_) - 1)),
		  narrowPart_(hn::ShiftLeft<16>(part_)),
		  half_(hn::Set(PairTag(), (1 << (bits_ - 1)) - (pieces.rises ? 0 : 1)))
	{
	}

	HWY_INLINE Pairs operator()(Pairs place) const
	{
		return HWY_LIKELY(bits_ == LutPieces::kNarrow) ? narrow(place) : wide(place);
	}

private:
	static constexpr int kWide = cdpLut.fractionBits;

	/** Halves away from zero: those of what falls have to stay below */
	HWY_INLINE Pairs halfOf(Pairs pair) const
	{
		return mixed_ ? hn::Add(half_, hn::BroadcastSignBit(pair)) : half_;
	}

	HWY_INLINE Pairs narrow(Pairs place) const
	{
		const Pairs pair = table_.at(hn::ShiftRight<LutPieces::kNarrow>(place), place);
		const Pairs part = hn::And(hn::ShiftLeft<16>(place), narrowPart_);
		const Pairs sum = sumsOfProducts(pair, hn::Or(part, one_));

		return hn::ShiftRight<LutPieces::kNarrow>(hn::Add(sum, halfOf(pair)));
	}

	HWY_INLINE Pairs wide(Pairs place) const
	{
		const Pairs pair = table_.at(hn::ShiftRight<kWide>(place), place);
		const Pairs part = hn::And(place, part_);
		const Pairs entry = hn::ShiftRight<16>(hn::ShiftLeft<16>(pair));
		const Pairs rise = hn::Mul(hn::ShiftRight<16>(pair), part);

		return hn::Add(entry, hn::ShiftRight<kWide>(hn::Add(rise, halfOf(pair))));
	}

	const PairTable<kFew> table_;
	const int bits_;
	const bool mixed_; /* falls here, rises there */
	/* In registers, not made anew of numbers. */
	const Pairs one_;
	const Pairs part_;
	const Pairs narrowPart_;
	const Pairs half_;
};

} /* namespace lut_pieces */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */
