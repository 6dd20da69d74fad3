/* SPDX-License-Identifier: MIT */
/*
 * storeSdpLine() in vectors, for files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <hwy/highway.h>

#include "sdp/sdp_find_line-inl.h"
#include "sdp/sdp_line.h"
#include "sdp/sdp_steps-inl.h"

/* An include guard that lets the file be included once for each instruction set. */
#if defined(NVDLA_SIM_SDP_LINE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_LINE_INL_H
#undef NVDLA_SIM_SDP_LINE_INL_H
#else
#define NVDLA_SIM_SDP_LINE_INL_H
#endif

/* Only for targets whose vectors have a fixed size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace line
{

/* Vectors of single precision, of at most 16 lanes: as many as the smallest atom has numbers. */
using SingleTag = hn::CappedTag<float, 16>;
using NumberTag = hn::Rebind<int32_t, SingleTag>;
using Single = hn::Vec<SingleTag>;
using Numbers = hn::Vec<NumberTag>;
constexpr size_t kLanes = hn::MaxLanes(SingleTag());

/* Numbers in fixed point: the upper word is the integer part, the lower one the fraction.
 */
using WordTag = hn::Repartition<uint16_t, SingleTag>;
using ShortTag = hn::RebindToSigned<WordTag>;
constexpr int kPointBits = 16;
constexpr double kOne = 1 << kPointBits;

/* Relative error of a rounding to single precision. */
constexpr double kRounding = 0x1p-24;

HWY_INLINE Single loadSingles(const int32_t *numbers)
{
	return hn::ConvertTo(SingleTag(), hn::LoadU(NumberTag(), numbers));
}

/** Loads an array of SdpLine plus \a more, in fixed point */
HWY_INLINE Single loadFixed(const double *numbers, double more = 0)
{
	const hn::Rebind<float, Tag> halfTag;
	const auto moved = [&](const double *from) HWY_ATTR {
		const Vector sum = hn::Add(hn::LoadU(Tag(), from), constant(more));
		return hn::DemoteTo(halfTag, hn::Mul(sum, constant(kOne)));
	};

	return hn::Combine(SingleTag(), moved(numbers + hn::Lanes(Tag())), moved(numbers));
}

/** \return the nearest whole numbers, which must fit 32 bits */
HWY_INLINE Numbers nearestOf(Single values)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	return { _mm512_cvtps_epi32(values.raw) };
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	return { _mm256_cvtps_epi32(values.raw) };
#else
	return hn::NearestInt(values);
#endif
}

/** A run of atoms, and bounds of its numbers */
struct Run {
	const SdpOp &op;
	const SdpLine &line;
	std::span<const SdpStageRun> stages;
	size_t lanes;
	std::span<const int32_t> in;
	const int32_t *elements; /* operands per element, or null */
	double largest;		 /* bound of the inputs' magnitudes */
	/* Results of set(). */
	bool exact = false; /* all numbers are exact; halves round away from 0 */
	double margin = 0;  /* if not exact: results closer to a half than this are uncertain */

	/** \return false if numbers are too large, or a result may saturate */
	bool set();

private:
	bool setUpTo(double largestIn, double largestElement, double mostRounding);
	double largestInput() const;
	bool hasManyHalves() const;
};

/*
 * Returns whether results have so few fraction bits that many are exactly between two integers.
 * The rounding of these is uncertain, and repair() would take too long for so many.
 */
bool Run::hasManyHalves() const
{
	constexpr int kFewBits = 10;

	return line.endsRounded && line.error == 0 && line.fractionBits < kFewBits;
}

double Run::largestInput() const
{
	if (!op.flying && op.in == Precision::Int8)
		return -INT8_MIN;
	return std::min(sdp::largestOf(in.data(), in.size()), largest);
}

bool Run::set()
{
	constexpr double kLittle = 0x1p-10; /* larger errors: search for the largest input */
	constexpr double kMost = 0x1p-7;    /* larger errors: the stages are as fast as the line */
	const double element = elements ? sdp::largestOf(elements, in.size()) : 0;

	return (setUpTo(largest, element, kLittle) && (exact || !hasManyHalves())) ||
	       setUpTo(largestInput(), element, kMost);
}

bool Run::setUpTo(double largestIn, double largestElement, double mostRounding)
{
	constexpr double kSaturates = 65000; /* results of at least this magnitude may saturate */
	constexpr double kMostWhole = INT16_MAX - 1;
	constexpr double kMostExact = 1 << 24;
	constexpr int kWholeBits = 22;
	const double product = line.largestFactor * largestIn;
	const double element = line.largestElementFactor * largestElement;
	const double rest = line.largestOffset + element;
	const double most = std::max(product + line.largestOffset, line.nearestBound) + element;
	const double results = most * line.largestBendFactor + line.largestBendOffset;

	if (std::min(results, line.largestBound) > kSaturates ||
	    (line.bends && std::min(most, line.reach) > kMostWhole))
		return false;
	exact = !line.bends && line.endsRounded && line.error == 0 &&
		line.fractionBits <= kPointBits &&
		most * powerOfTwo(line.fractionBits) < powerOfTwo(kWholeBits);
	/*
	 * Bound of the numbers that are rounded. Without clipping, the product is at most the
	 * result plus the other terms; a half and the margin are added. Each of these is rounded
	 * once: factor and offset together, each sum, and inputs of more than 24 bits.
	 */
	const double terms =
		std::max(std::min(product, line.reach + 1 + rest), line.nearestBound) + rest + 1;
	const bool isExact = std::max(largestIn, largestElement) <= kMostExact;
	const double rounding =
		terms * kRounding * (2 + (elements != nullptr) + !isExact + !HWY_NATIVE_FMA);
	margin = line.error + rounding + 1 / kOne;
	return exact || (rounding < mostRounding && line.error < kMostError &&
			 !(line.bends && hasManyHalves()));
}

/** Last step of a line's numbers */
enum class End : uint8_t {
	Rounds,	 /**< rounded; some results are uncertain */
	IsExact, /**< rounded; all results are certain */
	Bends,	 /**< rounded, then processed by Y and the converter */
};

/**
 * Computes the line of a vector of channels
 *
 * A half and the margin are added to each number, and the fraction is cut off. The rounding is
 * uncertain if this fraction is less than two margins.
 */
template<bool kElements, End kEnd>
class Follower
{
public:
	HWY_INLINE Follower(const Run &run, size_t lane)
		: Follower(run.line, lane, 0.5 + (kEnd == End::IsExact ? 0 : run.margin))
	{
	}

	/**
	 * \return numbers, rounded in the upper words
	 * \param open set where the rounding is uncertain
	 */
	HWY_INLINE Numbers numbersOf(const int32_t *in, const int32_t *elements,
				     hn::Vec<WordTag> limits, hn::Mask<WordTag> &open) const
	{
		const Numbers fixed = nearestOf(valueOf(in, elements));

		/* Halves of negative numbers must round down, away from zero. */
		if constexpr (kEnd == End::IsExact)
			return hn::Add(fixed, hn::VecFromMask(NumberTag(), hn::Lt(fixed, half_)));
		open = hn::Lt(hn::BitCast(WordTag(), fixed), limits);
		return kEnd == End::Bends ? bent(hn::ShiftRight<kPointBits>(fixed)) : fixed;
	}

private:
	HWY_INLINE Follower(const SdpLine &line, size_t lane, double more)
		: factor_(loadFixed(line.factor + lane)),
		  offset_(loadFixed(line.offset + lane, more)),
		  low_(loadFixed(line.low + lane, more)), high_(loadFixed(line.high + lane, more)),
		  elementFactor_(loadFixed(line.elementFactor + lane)),
		  lowSum_(loadFixed(line.lowSum + lane, more)),
		  highSum_(loadFixed(line.highSum + lane, more)),
		  multiplier_(hn::LoadU(NumberTag(), line.bendMultiplier + lane)),
		  bendOffset_(hn::LoadU(NumberTag(), line.bendOffset + lane)),
		  bendLow_(hn::LoadU(NumberTag(), line.bendLow + lane)),
		  bendHigh_(hn::LoadU(NumberTag(), line.bendHigh + lane)),
		  half_(hn::Set(NumberTag(), kEnd == End::Bends ? 1 << line.bendShift >> 1
								: 1 << kPointBits >> 1)),
		  shift_(line.bendShift)
	{
	}

	HWY_INLINE Single valueOf(const int32_t *in, const int32_t *elements) const
	{
		const Single value = hn::Min(
			hn::Max(hn::MulAdd(loadSingles(in), factor_, offset_), low_), high_);

		if constexpr (!kElements)
			return value;
		else
			return hn::Min(
				hn::Max(hn::MulAdd(loadSingles(elements), elementFactor_, value),
					lowSum_),
				highSum_);
	}

	/** Applies Y and the converter to whole numbers; halves are rounded away from zero */
	HWY_INLINE Numbers bent(Numbers whole) const
	{
		const Numbers product = hn::Mul(whole, multiplier_);
		const Numbers sign = hn::ShiftRight<31>(product);
		const Numbers rounded =
			hn::ShiftRightSame(hn::Add(product, hn::Add(half_, sign)), shift_);

		return hn::ShiftLeft<kPointBits>(
			hn::Min(hn::Max(hn::Add(rounded, bendOffset_), bendLow_), bendHigh_));
	}

	const Single factor_;
	const Single offset_;
	const Single low_;
	const Single high_;
	const Single elementFactor_;
	const Single lowSum_;
	const Single highSum_;
	const Numbers multiplier_;
	const Numbers bendOffset_;
	const Numbers bendLow_;
	const Numbers bendHigh_;
	const Numbers half_;
	const int shift_;
};

/** Stores the upper words, the integer parts, of two successive vectors */
template<typename Element>
HWY_INLINE void storeUpper(Element *out, Numbers first, Numbers second)
{
	const ShortTag tag;
	const auto words = hn::ConcatOdd(tag, hn::BitCast(tag, second), hn::BitCast(tag, first));

	if constexpr (sizeof(Element) == sizeof(int16_t)) {
		hn::StoreU(words, tag, out);
	} else {
		const hn::Rebind<Element, ShortTag> byteTag;
		hn::StoreU(hn::DemoteTo(byteTag, words), byteTag, out);
	}
}

/**
 * \return the mask's bits, two for each number; only the one for the number's lower word may be set
 */
HWY_INLINE uint64_t bitsOf(hn::Mask<WordTag> mask)
{
	uint64_t bits = 0;

	hn::StoreMaskBits(WordTag(), mask, reinterpret_cast<uint8_t *>(&bits));
	return bits;
}

/** \return number of uncertain results, which are computed again; \a open: bitsOf() of them */
template<typename Element>
HWY_NOINLINE size_t repair(const Run &run, size_t at, uint64_t open, Element *out)
{
	const auto count = static_cast<size_t>(std::popcount(open));

	for (; open; open &= open - 1) {
		const size_t place = at + static_cast<size_t>(std::countr_zero(open)) / 2;
		out[place] = static_cast<Element>(
			sdpResultAt(run.op, run.stages, run.lanes, run.in, place));
	}
	return count;
}

/** \return false if so many results are uncertain that the stages are faster for all */
template<typename Element, bool kElements, End kEnd>
bool storeOf(const Run &run, Element *out)
{
	constexpr size_t kOneOf = 16;
	constexpr size_t kFew = 64; /* uncertain results that are always acceptable */
	constexpr size_t kPair = 2 * kLanes;
	constexpr size_t kPairWords = hn::MaxLanes(WordTag());
	/* Local copies: stores may alias members, which would be loaded again after each store. */
	const int32_t *in = run.in.data();
	const int32_t *elements = kElements ? run.elements : in; /* in: not used */
	const size_t count = run.in.size();
	const size_t lanes = run.lanes;
	const size_t step = std::max(lanes, kPair);
	const size_t most = count / kOneOf + kFew;
	const auto limit = static_cast<uint32_t>(2 * run.margin * kOne + 1);
	const auto limits =
		hn::BitCast(WordTag(), hn::Set(hn::RebindToUnsigned<NumberTag>(), limit));
	size_t repaired = 0;

	if (count < kPair) {
		repair(run, 0, UINT64_MAX / 3 >> (64 - 2 * count), out);
		return true;
	}
	for (size_t lane = 0; lane < lanes; lane += kPair) {
		const Follower<kElements, kEnd> first(run, lane);
		const Follower<kElements, kEnd> second(run, (lane + kLanes) % lanes);
		for (size_t next = lane; next < count; next += step) {
			/*
			 * The last atom of an odd number is computed together with the atom
			 * before.
			 */
			const size_t at = std::min(next, count - kPair);
			const size_t behind = at + kLanes;
			hn::Mask<WordTag> open, more;
			const Numbers lower = first.numbersOf(in + at, elements + at, limits, open);
			const Numbers upper =
				second.numbersOf(in + behind, elements + behind, limits, more);
			storeUpper(out + at, lower, upper);
			if constexpr (kEnd == End::IsExact)
				continue;
			if (HWY_LIKELY(hn::AllFalse(WordTag(), hn::Or(open, more))))
				continue;
			repaired += repair(run, at, bitsOf(open) | bitsOf(more) << kPairWords, out);
			if (repaired > most)
				return false;
		}
	}
	return true;
}

template<typename Element>
bool storeAs(const Run &run, std::byte *bytes)
{
	auto *out = reinterpret_cast<Element *>(bytes);

	if (run.line.bends)
		return storeOf<Element, false, End::Bends>(run, out);
	if (run.elements)
		return run.exact ? storeOf<Element, true, End::IsExact>(run, out)
				 : storeOf<Element, true, End::Rounds>(run, out);
	return run.exact ? storeOf<Element, false, End::IsExact>(run, out)
			 : storeOf<Element, false, End::Rounds>(run, out);
}

bool store(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages, size_t lanes,
	   std::span<const int32_t> in, double largest, std::span<std::byte> bytes,
	   SdpCounters &counters)
{
	const int32_t *elements =
		line.elementStage < 0 ? nullptr : stages[line.elementStage].alu.data;
	Run run = { op, line, stages, lanes, in, elements, largest };

	if (!run.set() || !(op.out == Precision::Int8 ? storeAs<int8_t>(run, bytes.data())
						      : storeAs<int16_t>(run, bytes.data())))
		return false;
	counters.nonZero = counters.nonZero || bytes[0] != std::byte{ 0 } ||
			   std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) != 0;
	return true;
}

} /* namespace line */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */
