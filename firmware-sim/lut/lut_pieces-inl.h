/* SPDX-License-Identifier: MIT */
/*
 * LutPieces' look-up, for files that are compiled once for each instruction set (Highway).
 */
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

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

/** \brief Vectors of words of 16 bits, and of as many bits in pairs of them */
template<class WordTag>
struct Words {
	using BitsTag = hn::RebindToUnsigned<WordTag>;
	using PairTag = hn::RepartitionToWide<WordTag>;
	using Vector = hn::Vec<WordTag>;
	using Bits = hn::Vec<BitsTag>;
	using Pairs = hn::Vec<PairTag>;

	/** \return low halves of both, in turns */
	static HWY_INLINE Vector lower(Pairs even, Pairs odd)
	{
		const WordTag tag;

		return hn::OddEven(hn::BitCast(tag, hn::ShiftLeft<16>(odd)),
				   hn::BitCast(tag, even));
	}

	/** \return high halves of both, in turns */
	static HWY_INLINE Vector upper(Pairs even, Pairs odd)
	{
		const WordTag tag;

		return hn::OddEven(hn::BitCast(tag, odd),
				   hn::BitCast(tag, hn::ShiftRight<16>(even)));
	}
};

/** \brief Entries and what the next ones are larger by, out of registers or gathered */
template<class WordTag, bool kFew>
class PairTable
{
public:
	using W = Words<WordTag>;

	explicit HWY_INLINE PairTable(const LutPieces &pieces) : pairs_(pieces.pairs.data()) {}

	/** \param even, \param odd indices in upper halves */
	HWY_INLINE void get(typename W::Pairs even, typename W::Pairs odd,
			    typename W::Vector &entries, typename W::Vector &rises) const
	{
		const auto evenPairs = at(even);
		const auto oddPairs = at(odd);

		entries = W::lower(evenPairs, oddPairs);
		rises = W::upper(evenPairs, oddPairs);
	}

private:
	HWY_INLINE typename W::Pairs at(typename W::Pairs place) const
	{
		return hn::GatherIndex(typename W::PairTag(), pairs_, hn::ShiftRight<16>(place));
	}

	const int32_t *pairs_;
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/* Faster than gathered. */
template<class WordTag>
class PairTable<WordTag, true>
{
public:
	using W = Words<WordTag>;

	explicit HWY_INLINE PairTable(const LutPieces &pieces)
	{
		for (size_t i = 0; i < 2; i++) {
			const auto *pairs = pieces.pairs.data() + 32 * i;
			const __m512i first = _mm512_loadu_si512(pairs);
			const __m512i second = _mm512_loadu_si512(pairs + 16);
			const auto halves = [](__m512i a, __m512i b) HWY_ATTR {
				return _mm512_inserti64x4(
					_mm512_castsi256_si512(_mm512_cvtepi32_epi16(a)),
					_mm512_cvtepi32_epi16(b), 1);
			};
			entries_[i] = halves(first, second);
			rises_[i] =
				halves(_mm512_srli_epi32(first, 16), _mm512_srli_epi32(second, 16));
		}
	}

	HWY_INLINE void get(typename W::Pairs even, typename W::Pairs odd,
			    typename W::Vector &entries, typename W::Vector &rises) const
	{
		const auto index = W::upper(even, odd);

		entries = at(entries_, index);
		rises = at(rises_, index);
	}

private:
	static HWY_INLINE typename W::Vector at(const __m512i (&table)[2], typename W::Vector index)
	{
		if constexpr (sizeof(index.raw) == sizeof(__m512i)) {
			return { _mm512_permutex2var_epi16(table[0], index.raw, table[1]) };
		} else {
			return { _mm512_castsi512_si256(_mm512_permutex2var_epi16(
				table[0], _mm512_castsi256_si512(index.raw), table[1])) };
		}
	}

	__m512i entries_[2];
	__m512i rises_[2];
};

#endif

/** \brief The function of places, 16 bits \tparam kFew there are at most LutPieces::kFew pairs */
template<class WordTag, bool kFew>
class Interpolation
{
public:
	using W = Words<WordTag>;

	explicit HWY_INLINE Interpolation(const LutPieces &pieces)
		: climbs_(pieces.climbs), narrow_(pieces.fractionBits == LutPieces::kNarrow),
		  table_(pieces)
	{
	}

	/** \return results of both vectors of places, with 16 bits of a fraction, in turns */
	HWY_INLINE typename W::Vector operator()(typename W::Pairs even,
						 typename W::Pairs odd) const
	{
		typename W::Vector entries;
		typename W::Vector rises;
		table_.get(even, odd, entries, rises);
		const auto fraction = hn::BitCast(typename W::BitsTag(), W::lower(even, odd));

		/* The fraction's last bit is zero, and nothing is below zero. */
		if (climbs_ && narrow_)
			return hn::Add(entries,
				       hn::MulFixedPoint15(
					       rises, hn::BitCast(WordTag(),
								  hn::ShiftRight<1>(fraction))));
		if (climbs_)
			return hn::Add(entries, partOfMagnitude(rises, fraction));
		const auto sign = hn::BroadcastSignBit(rises);
		const auto part = partOfMagnitude(hn::Abs(rises), fraction);
		return hn::Add(entries, hn::Sub(hn::Xor(part, sign), sign));
	}

private:
	static_assert(cdpLut.fractionBits == 16);

	/** \param fraction of 16 bits \return of \a rises that are not below zero, rounded */
	static HWY_INLINE typename W::Vector partOfMagnitude(typename W::Vector rises,
							     typename W::Bits fraction)
	{
		const auto magnitude = hn::BitCast(typename W::BitsTag(), rises);
		const auto half = hn::ShiftRight<15>(hn::Mul(magnitude, fraction));

		return hn::BitCast(WordTag(), hn::Add(hn::MulHigh(magnitude, fraction), half));
	}

	const bool climbs_;
	const bool narrow_; /* fractions have fewer bits */
	const PairTable<WordTag, kFew> table_;
};

} /* namespace lut_pieces */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* once for each instruction set */
