/* SPDX-License-Identifier: MIT */
/*
 * Sums of an element and another one with factors, from bytes of memory to bytes of memory, for
 * files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <hwy/highway.h>

#include "arith/pairs-inl.h"
#include "core/bring_ahead.h"
#include "sdp/sdp_line_run-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_SDP_PAIRS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_PAIRS_INL_H
#undef NVDLA_SIM_SDP_PAIRS_INL_H
#else
#define NVDLA_SIM_SDP_PAIRS_INL_H
#endif

/* Vectors of a known size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace line
{

/* Vectors whose halves are made one again in the order that they were taken apart in. */
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

/** A vector of elements, as words with \a kWordBits zeroes behind them in pairs with others */
template<typename Element>
struct PairElements {
	using Tag = hn::CappedTag<Element, 64 / sizeof(Element)>;
	using Vector = hn::Vec<Tag>;
	static constexpr bool kIsByte = sizeof(Element) == 1;
	static constexpr int kWordBits = kIsByte ? 8 : 0; /* upper halves of words */
	static constexpr size_t kCount = hn::MaxLanes(Tag());
	/* What instructions put side by side are elements of 16 bytes. */
	static constexpr size_t kBlock = 16 / sizeof(Element);
	static constexpr size_t kPairs = 4; /* of each of them to a vector of pairs */
	static constexpr size_t kVectors = kBlock / kPairs;

	/** \return the element that is in \a pair of a vector of pairs */
	static constexpr size_t elementOf(size_t vector, size_t pair)
	{
		return pair / kPairs * kBlock + vector * kPairs + pair % kPairs;
	}
};

using PairNumbers = pairs::Pairs;
using PairWordTag = hn::CappedTag<int16_t, 32>;
using PairWords = hn::Vec<PairWordTag>;
constexpr size_t kPairNumbers = hn::MaxLanes(pairs::PairTag());

/**
 * \brief SdpLine of an element and another one, in fixed point
 *
 * Both are a pair, and so are their factors: one instruction has both products and their sum.
 * Factors have 16 bits, and another pair has what these leave out.
 */
template<typename Element>
struct PairLine {
	using Elements = PairElements<Element>;
	static constexpr int kBits = Elements::kIsByte ? 16 : 14; /* behind the point */
	static constexpr int kFactorBits = kBits - Elements::kWordBits;
	static constexpr int kRestBits = 15; /* more of them */

	/** Of each vector of pairs; of the offsets both words are one number */
	int16_t factors[Elements::kVectors][2 * kPairNumbers];
	int16_t rests[Elements::kVectors][2 * kPairNumbers];
	int32_t offsets[Elements::kVectors][kPairNumbers]; /* with a half, and with the margin */
	/** Rests behind the point below twice the margin are not certain */
	int32_t margin;

	/** \return false if numbers do not fit, or too many rests would not be certain */
	bool set(const Run<Element> &run);

	/* For Run::setUpTo(): set() knows the error, and exact sums are for single precision. */
	static constexpr double kRounding = 0;
	static constexpr double kMostRounding = 1;
	static constexpr int kWholeBits = Singles::kWholeBits;

private:
	static int16_t takeApart(double factor, int16_t &rest);
	void setPair(const SdpLine &line, size_t vector, size_t pair, size_t lane);
};

/** \return the nearest whole number, of less than 2^51, without a call of a library */
inline double nearestWhole(double number)
{
	constexpr double kWhole = 0x1.8p52; /* in a sum with it nothing is left behind the point */

	return number + kWhole - kWhole;
}

/** What is left of \a factor goes to \a rest \return whole steps */
template<typename Element>
int16_t PairLine<Element>::takeApart(double factor, int16_t &rest)
{
	const double scaled = factor * powerOfTwo(kFactorBits);
	const double whole = nearestWhole(scaled);

	rest = static_cast<int16_t>(nearestWhole((scaled - whole) * powerOfTwo(kRestBits)));
	return static_cast<int16_t>(whole);
}

template<typename Element>
void PairLine<Element>::setPair(const SdpLine &line, size_t vector, size_t pair, size_t lane)
{
	const double offset = line.offset[lane] * powerOfTwo(kBits);
	int16_t *factor = &factors[vector][2 * pair];
	int16_t *rest = &rests[vector][2 * pair];

	factor[0] = takeApart(line.factor[lane], rest[0]);
	factor[1] = takeApart(line.elementFactor[lane], rest[1]);
	offsets[vector][pair] =
		static_cast<int32_t>(nearestWhole(offset) + (1 << (kBits - 1)) + margin);
}

template<typename Element>
bool PairLine<Element>::set(const Run<Element> &run)
{
	/* Steps that a sum is off by: what is cut of the rests' sum, and roundings of numbers. */
	constexpr double kError = 1 + 0.5 + 2 * 0.5 + 1e-3;
	constexpr double kMostFactor = 32766.0 / (1 << 14);
	constexpr int32_t kMostMargin = (1 << kBits) / 128;
	const SdpLine &line = run.line;

	if (!run.elements || run.exact || run.clips != Clips::Nothing ||
	    std::max(line.largestFactor, line.largestElementFactor) > kMostFactor)
		return false;
	margin = static_cast<int32_t>(std::ceil(line.error * powerOfTwo(kBits) + kError));
	for (size_t vector = 0; vector < Elements::kVectors; vector++)
		for (size_t pair = 0; pair < kPairNumbers; pair++)
			setPair(line, vector, pair, Elements::elementOf(vector, pair) % run.lanes);
	return margin <= kMostMargin;
}

/** The line of one vector of pairs */
template<typename Element>
struct PairLanes {
	using Line = PairLine<Element>;

	PairLanes(const Line &line, size_t vector)
		: factors(load(line.factors[vector])), rests(load(line.rests[vector])),
		  offsets(hn::LoadU(pairs::PairTag(), line.offsets[vector]))
	{
	}

	static HWY_INLINE PairNumbers load(const int16_t *words)
	{
		return hn::BitCast(pairs::PairTag(), hn::LoadU(PairWordTag(), words));
	}

	HWY_INLINE PairNumbers sumsOf(PairNumbers elements) const
	{
		const auto sums = hn::Add(pairs::sumsOfProducts(elements, factors), offsets);
		const auto rest = pairs::sumsOfProducts(elements, rests);

		return hn::Add(sums, hn::ShiftRight<Line::kRestBits>(rest));
	}

	PairNumbers factors;
	PairNumbers rests;
	PairNumbers offsets;
};

/** Vectors of whole atoms, from bytes of memory to bytes of memory */
template<typename Element>
class PairVectors
{
public:
	using Elements = PairElements<Element>;
	using Tag = typename Elements::Tag;
	using Vector = typename Elements::Vector;
	using Line = PairLine<Element>;

	PairVectors(const Run<Element> &run, const Line &line)
		: PairVectors(run, line, std::make_index_sequence<Elements::kVectors>())
	{
	}

	/** \param budget vectors to repair \return false if there is none left */
	HWY_INLINE bool at(size_t at, size_t &budget, Vector &numbers) const
	{
		const Tag tag;
		const Vector in = hn::LoadU(tag, run_.in + at);
		const Vector others = hn::LoadU(tag, run_.elements + at);
		const Vector lower = hn::InterleaveLower(tag, in, others);
		const Vector upper = hn::InterleaveUpper(tag, in, others);

		bringAhead(run_.in + at);
		bringAhead(run_.elements + at);
		if constexpr (Elements::kIsByte) {
			const Vector none = hn::Zero(tag);
			const auto a = sumsOf<0>(hn::InterleaveLower(tag, none, lower));
			const auto b = sumsOf<1>(hn::InterleaveUpper(tag, none, lower));
			const auto c = sumsOf<2>(hn::InterleaveLower(tag, none, upper));
			const auto d = sumsOf<3>(hn::InterleaveUpper(tag, none, upper));
			numbers = bytesOf(numbersOf(a, b), numbersOf(c, d));
			return ensure(at, budget, numbers, a, b, c, d);
		} else {
			const auto a = sumsOf<0>(lower);
			const auto b = sumsOf<1>(upper);
			numbers = numbersOf(a, b);
			return ensure(at, budget, numbers, a, b);
		}
	}

private:
	static constexpr int32_t kBehind = (1 << Line::kBits) - 1;

	template<size_t... kIndex>
	PairVectors(const Run<Element> &run, const Line &line, std::index_sequence<kIndex...>)
		: run_(run), limit_(2 * line.margin), lanes_{ { line, kIndex }... }
	{
	}

	template<size_t kVector>
	HWY_INLINE PairNumbers sumsOf(Vector elements) const
	{
		return lanes_[kVector].sumsOf(hn::BitCast(pairs::PairTag(), elements));
	}

	static HWY_INLINE PairWords numbersOf(PairNumbers a, PairNumbers b)
	{
		return hn::ReorderDemote2To(PairWordTag(), hn::ShiftRight<Line::kBits>(a),
					    hn::ShiftRight<Line::kBits>(b));
	}

	/** \return bytes of both, block by block */
	static HWY_INLINE Vector bytesOf(PairWords a, PairWords b)
	{
#if HWY_TARGET <= HWY_AVX3
		return Vector{ _mm512_packs_epi16(a.raw, b.raw) };
#else
		return Vector{ _mm256_packs_epi16(a.raw, b.raw) };
#endif
	}

	static HWY_INLINE PairNumbers restsOf(PairNumbers sums)
	{
		return hn::And(sums, hn::Set(pairs::PairTag(), kBehind));
	}
	template<class... Sums>
	static HWY_INLINE PairNumbers restsOf(PairNumbers sums, Sums... others)
	{
		return hn::Min(restsOf(sums), restsOf(others...));
	}

	template<class... Sums>
	HWY_INLINE bool ensure(size_t at, size_t &budget, Vector &numbers, Sums... sums) const
	{
		const pairs::PairTag tag;

		if (HWY_LIKELY(hn::AllFalse(tag, hn::Lt(restsOf(sums...), hn::Set(tag, limit_)))))
			return true;
		if (budget-- == 0)
			return false;
		numbers = repaired(at, numbers, sums...);
		return true;
	}

	/** Those of the readable way, in the place of \a numbers that are not certain */
	template<class... Sums>
	HWY_NOINLINE Vector repaired(size_t at, Vector numbers, Sums... sums) const
	{
		Element all[Elements::kCount];
		size_t vector = 0;

		hn::StoreU(numbers, Tag(), all);
		(repair(at, sums, vector++, all), ...);
		return hn::LoadU(Tag(), all);
	}

	void repair(size_t at, PairNumbers sums, size_t vector, Element *all) const
	{
		int32_t numbers[kPairNumbers];

		hn::StoreU(sums, pairs::PairTag(), numbers);
		for (size_t pair = 0; pair < kPairNumbers; pair++) {
			const size_t element = Elements::elementOf(vector, pair);
			if ((numbers[pair] & kBehind) < limit_)
				all[element] = static_cast<Element>(run_.compute(at + element));
		}
	}

	const Run<Element> run_; /* a copy, which what is written cannot change */
	const int32_t limit_;
	const PairLanes<Element> lanes_[Elements::kVectors];
};

/** \return false if nothing is of use: there is another way */
template<typename Element>
bool storePairs(Run<Element> run, std::byte *bytes, SdpCounters &counters)
{
	using Elements = PairElements<Element>;
	const typename Elements::Tag tag;
	auto *out = reinterpret_cast<Element *>(bytes);
	const size_t count = run.count;
	size_t budget = count / SdpLine::kMostLanes / 4 + 4;
	PairLine<Element> line;

	if (count < Elements::kCount ||
	    !run.template setUpTo<PairLine<Element>>(Run<Element>::kWidest, run.widestElement()) ||
	    !line.set(run))
		return false;
	const PairVectors<Element> vectors(run, line);
	auto any = hn::Zero(tag);
	auto numbers = any;
	for (size_t at = 0; at < count; at += Elements::kCount) {
		/* The last atom of an odd number of them is there with the one before, again. */
		const size_t from = std::min(at, count - Elements::kCount);
		if (!vectors.at(from, budget, numbers))
			return false;
		any = hn::Or(any, numbers);
		hn::StoreU(numbers, tag, out + from);
	}
	counters.nonZero |= !hn::AllTrue(tag, hn::Eq(any, hn::Zero(tag)));
	return true;
}

#else

template<typename Element>
bool storePairs(const Run<Element> &, std::byte *, SdpCounters &)
{
	return false;
}

#endif

} /* namespace line */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */
