/* SPDX-License-Identifier: MIT */
/*
 * Values are words of 16 bits. Of two neighbours one product of pairs has either's square, so that
 * windows are sums of few of these and their sums: those of the even channels of a vector, and of
 * the odd ones. Sums of INT8's squares have 20 bits, those of INT16 34, which doubles hold.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "cdp/cdp_pieces.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cdp/cdp_pieces.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "cdp/cdp_fast.h"
#include "cdp/cdp_words-inl.h"
#include "lut/lut_pieces-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
#if HWY_TARGET != HWY_SCALAR && HWY_HAVE_FLOAT64

/* The names here are others' as well. */
namespace cdp
{

/** \brief Two vectors: of the even channels, and of the odd ones */
template<class V>
struct Two {
	V even;
	V odd;
};

/**
 * \return sums of windows
 * \param even, \param odd, \param both squares of channels of a pair, \a n pairs further on
 */
template<class Even, class Odd, class Both>
HWY_INLINE auto windowsOf(uint32_t radius, Even even, Odd odd, Both both)
{
	using Result = Two<decltype(both(0))>;
	const auto middle = both(0);

	/* Not loops, which would be some for each vector. */
	if (radius == 1)
		return Result{ hn::Add(odd(-1), middle), hn::Add(middle, even(1)) };
	if (radius == 2)
		return Result{ hn::Add(hn::Add(both(-1), middle), even(1)),
			       hn::Add(odd(-1), hn::Add(middle, both(1))) };
	const auto three = hn::Add(hn::Add(both(-1), middle), both(1));
	if (radius == 3)
		return Result{ hn::Add(odd(-2), three), hn::Add(three, even(2)) };
	return Result{ hn::Add(hn::Add(both(-2), three), even(2)),
		       hn::Add(odd(-2), hn::Add(three, both(2))) };
}

/** \brief The places of a vector's channels in the table \tparam kOne of lut_pieces::Places */
template<typename Element, bool kOne>
class PlaceMaker
{
public:
	using V = Vectors<Element>;
	using Pairs = typename V::Pairs;

	explicit PlaceMaker(const CdpPieces &cdp)
		: places_(cdp.pieces), radius_(cdp.op.squareSumBypass ? 0 : cdp.op.radius),
		  toWide_(cdpLut.fractionBits - cdp.pieces.fractionBits),
		  shift_(static_cast<int>(std::log2(cdp.pieces.pieces[0].scale)) + toWide_),
		  offset_(hn::Set(typename V::PairTag(),
				  static_cast<int32_t>(std::ldexp(
					  kIsByte ? cdp.pieces.pieces[0].offset : 0, toWide_)))),
		  bias_((radius_ + 1) * 0x1p31)
	{
	}

	/** \return false if inputs are shifted to the right: kOne is not for them */
	static bool shifts(const LutPieces &pieces)
	{
		return !kIsByte || pieces.pieces[0].scale >= 1;
	}

	HWY_INLINE Two<Pairs> at(const int16_t *values, LutCounters &counters) const
	{
		if (HWY_UNLIKELY(radius_ == 0))
			return ofNumbers(values, counters);
		if constexpr (kIsByte) {
			const auto sums =
				windows(values, [](Pairs pairs) HWY_ATTR { return pairs; });
			return { placeOf(sums.even, counters), placeOf(sums.odd, counters) };
		} else if constexpr (V::kDoubles == 1) {
			const auto sums = windowsOfDoubles<0>(values);
			return { placeOf(sums.even, counters), placeOf(sums.odd, counters) };
		} else {
			const typename V::PairTag tag;
			const auto lower = windowsOfDoubles<0>(values);
			const auto upper = windowsOfDoubles<1>(values);
			const auto even = placeOf(lower.even, counters);
			const auto odd = placeOf(lower.odd, counters);
			return { hn::Combine(tag, placeOf(upper.even, counters), even),
				 hn::Combine(tag, placeOf(upper.odd, counters), odd) };
		}
	}

private:
	static constexpr bool kIsByte = sizeof(Element) == 1;
	using Number = std::conditional_t<kIsByte, typename V::SingleTag, typename V::DoubleTag>;

	static HWY_INLINE Pairs pairsAt(const int16_t *values)
	{
		return hn::BitCast(typename V::PairTag(), hn::LoadU(typename V::WordTag(), values));
	}

	/** \param convert called with sums of two squares, of 32 bits without a sign */
	template<class Convert>
	HWY_INLINE auto windows(const int16_t *values, Convert convert) const
	{
		const auto lower = hn::Set(typename V::PairTag(), 0xffff);
		const auto even = [&](int n) HWY_ATTR {
			const Pairs pairs = pairsAt(values + 2 * n);
			return convert(pairs::sumsOfProducts(pairs, hn::And(pairs, lower)));
		};
		const auto odd = [&](int n) HWY_ATTR {
			const Pairs pairs = pairsAt(values + 2 * n);
			return convert(pairs::sumsOfProducts(pairs, hn::AndNot(lower, pairs)));
		};
		const auto both = [&](int n) HWY_ATTR {
			const Pairs pairs = pairsAt(values + 2 * n);
			return convert(pairs::sumsOfProducts(pairs, pairs));
		};

		return windowsOf(radius_, even, odd, both);
	}

	template<size_t kIndex>
	HWY_INLINE auto windowsOfDoubles(const int16_t *values) const
	{
		/* As there is none without a sign, less by 2^31; a window has radius_ + 1 of them.
		 */
		auto sums = windows(values, [](Pairs pairs) HWY_ATTR {
			const auto moved =
				hn::Xor(pairs, hn::Set(typename V::PairTag(), INT32_MIN));
			return V::template toDoubles<kIndex>(moved);
		});
		const auto bias = hn::Set(typename V::DoubleTag(), bias_);

		sums.even = hn::Add(sums.even, bias);
		sums.odd = hn::Add(sums.odd, bias);
		return sums;
	}

	/** The values themselves */
	HWY_INLINE Two<Pairs> ofNumbers(const int16_t *values, LutCounters &counters) const
	{
		const Pairs pairs = pairsAt(values);
		const auto of = [&](Pairs numbers) HWY_ATTR {
			if constexpr (kIsByte) {
				return placeOf(numbers, counters);
			} else if constexpr (V::kDoubles == 1) {
				return placeOf(V::template toDoubles<0>(numbers), counters);
			} else {
				const auto lower =
					placeOf(V::template toDoubles<0>(numbers), counters);
				const auto upper =
					placeOf(V::template toDoubles<1>(numbers), counters);
				return hn::Combine(typename V::PairTag(), upper, lower);
			}
		};
		const Pairs even = of(hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)));

		return { even, of(hn::ShiftRight<16>(pairs)) };
	}

	/** \param input integers of INT8, doubles of INT16 \return with 16 bits of a fraction */
	template<class Input>
	HWY_INLINE auto placeOf(Input input, LutCounters &counters) const
	{
		if constexpr (!kIsByte)
			return hn::ShiftLeftSame(places_(input, counters), toWide_);
		else if constexpr (kOne)
			return hn::Add(hn::ShiftLeftSame(input, shift_), offset_);
		else
			return hn::ShiftLeftSame(
				places_(hn::ConvertTo(typename V::SingleTag(), input), counters),
				toWide_);
	}

	const lut_pieces::Places<Number, kOne> places_;
	const uint32_t radius_;
	const int toWide_; /* bits that a place's fraction lacks */
	const int shift_;  /* of INT8, if there is one piece */
	const Pairs offset_;
	const double bias_;
};

template<typename Element, class Word>
HWY_INLINE void storeWords(Word words, std::byte *out)
{
	const hn::DFromV<Word> tag;
	auto *elements = reinterpret_cast<int16_t *>(out);

	if constexpr (sizeof(Element) == 1) {
		const hn::RebindToUnsigned<decltype(tag)> bits;
		const hn::Rebind<uint8_t, decltype(tag)> bytes;
		hn::StoreU(hn::TruncateTo(bytes, hn::BitCast(bits, words)), bytes,
			   reinterpret_cast<uint8_t *>(out));
	} else {
		hn::StoreU(words, tag, elements);
	}
}

/** \return what the product of the table's results and values is between */
std::pair<double, double> productsOf(const CdpPieces &cdp)
{
	const LutPieces &pieces = cdp.pieces;
	const double lowest = cdp.op.mulBypass ? 1 : static_cast<double>(cdpValues(cdp.op).lowest);
	const double highest =
		cdp.op.mulBypass ? 1 : static_cast<double>(cdpValues(cdp.op).highest);

	return std::minmax({ lowest * pieces.lowest, lowest * pieces.highest,
			     highest * pieces.lowest, highest * pieces.highest });
}

/** \tparam kOne there is one linear piece, and nothing is counted \tparam kFew pairs */
template<typename Element, bool kOne, bool kFew>
void lookUp(CdpPieces &cdp, const CdpChunk<int16_t> &chunk)
{
	using WordTag = typename Vectors<Element>::WordTag;
	constexpr size_t kLanes = hn::MaxLanes(WordTag());
	constexpr size_t kAtom = atomBytes / sizeof(Element);
	const PlaceMaker<Element, kOne> places(cdp);
	const lut_pieces::Interpolation<WordTag, kFew> interpolation(cdp.pieces);
	const auto [lowest, highest] = productsOf(cdp);
	const WordOutput<Element> output(cdp.op.output, cdp.pieces.falls, lowest, highest);
	const auto one = hn::Set(WordTag(), 1);
	const bool multiplies = !cdp.op.mulBypass;
	const size_t channels = chunk.channels;
	const size_t surfaceBytes = chunk.surfaceBytes;
	LutCounters counters;
	uint32_t saturated = 0;

	for (size_t n = 0; n < chunk.positions; n++) {
		const int16_t *values = chunk.values + n * chunk.valueStep;
		std::byte *atom = chunk.atoms + n * atomBytes;
		for (size_t i = 0; i < channels; i += kAtom, atom += surfaceBytes) {
			for (size_t lane = 0; lane < kAtom; lane += kLanes) {
				const int16_t *from = values + i + lane;
				const auto place = places.at(from, counters);
				const auto words = output(
					interpolation(place.even, place.odd),
					multiplies ? hn::LoadU(WordTag(), from) : one, saturated);
				storeWords<Element>(words, atom + lane * sizeof(Element));
			}
		}
	}
	cdp.counters += counters;
	cdp.saturation += saturated;
}

template<typename Element>
void lookUpAll(CdpPieces &cdp, const CdpChunk<int16_t> &chunk)
{
	const LutPieces &pieces = cdp.pieces;
	const bool one = pieces.count == 1 && !pieces.exponential && !pieces.counts &&
			 PlaceMaker<Element, true>::shifts(pieces);
	const bool few = pieces.pairCount <= LutPieces::kFew;
	const auto lookUpOf =
		one ? (few ? lookUp<Element, true, true> : lookUp<Element, true, false>)
		    : (few ? lookUp<Element, false, true> : lookUp<Element, false, false>);

	lookUpOf(cdp, chunk);
}

} /* namespace cdp */

void cdpPiecesOfTarget(CdpPieces &cdp, const CdpChunk<int16_t> &chunk)
{
	if (cdp.op.precision == Precision::Int8)
		cdp::lookUpAll<int8_t>(cdp, chunk);
	else
		cdp::lookUpAll<int16_t>(cdp, chunk);
}

bool hasCdpPiecesOfTarget()
{
	return true;
}

#else

void cdpPiecesOfTarget(CdpPieces &, const CdpChunk<int16_t> &)
{
}

bool hasCdpPiecesOfTarget()
{
	return false;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(cdpPiecesOfTarget);
HWY_EXPORT(hasCdpPiecesOfTarget);

CdpValues cdpValues(const CdpOp &op)
{
	const auto converted = [&](int64_t element) {
		const int64_t value = op.input.apply(element);
		return op.precision == Precision::Int8 ? arith::saturate<9>(value)
						       : arith::saturate<17>(value);
	};
	const bool isInt8 = op.precision == Precision::Int8;
	const auto [lowest, highest] =
		std::minmax({ int64_t{ 0 }, converted(isInt8 ? INT8_MIN : INT16_MIN),
			      converted(isInt8 ? INT8_MAX : INT16_MAX) });

	return { lowest, highest };
}

LutPieces::Inputs cdpLutInputs(const CdpOp &op)
{
	const CdpValues values = cdpValues(op);
	const int64_t window = 2 * op.radius + 1;
	const int64_t square =
		std::max(values.lowest * values.lowest, values.highest * values.highest);

	return { .lowest = op.squareSumBypass ? values.lowest : 0,
		 .highest = op.squareSumBypass ? values.highest : window * square,
		 .single = op.precision == Precision::Int8,
		 .counts = op.countsLut };
}

bool CdpPieces::accepts(const CdpOp &op)
{
	constexpr int32_t kMostOffset = 1 << 30; /* a product has 31 bits as well */
	const CdpValues values = cdpValues(op);

	return values.lowest >= INT16_MIN && values.highest <= INT16_MAX &&
	       op.output.offset >= -kMostOffset && op.output.offset <= kMostOffset &&
	       HWY_DYNAMIC_DISPATCH(hasCdpPiecesOfTarget)();
}

void cdpPiecesChunk(CdpPieces &cdp, const CdpChunk<int16_t> &chunk)
{
	HWY_DYNAMIC_DISPATCH(cdpPiecesOfTarget)(cdp, chunk);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
