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
#include <optional>
#include <span>
#include <type_traits>

#include <hwy/highway.h>

#include "sdp/sdp_find_line-inl.h"
#include "sdp/sdp_line.h"
#include "sdp/sdp_steps-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_SDP_LINE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_LINE_INL_H
#undef NVDLA_SIM_SDP_LINE_INL_H
#else
#define NVDLA_SIM_SDP_LINE_INL_H
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

/* A line is followed in single precision: the smallest atom has one of the largest vectors. */
using SingleTag = hn::CappedTag<float, 16>;
using NumberTag = hn::Rebind<int32_t, SingleTag>;
using Single = hn::Vec<SingleTag>;
using Numbers = hn::Vec<NumberTag>;
constexpr size_t kLanes = hn::MaxLanes(SingleTag());

/* Four roundings, on the way from the largest operand to the last sum: of both precisions. */
constexpr double kRounding = 0x1p-22;
constexpr double kRoundingOfDoubles = 0x1p-50; /* the line's own are as large */
constexpr float kWhole = 0x1.8p23F;	       /* a sum with it has nothing behind the point */

HWY_INLINE Single single(double number)
{
	return hn::Set(SingleTag(), static_cast<float>(number));
}

HWY_INLINE Single loadSingles(const int32_t *numbers)
{
	return hn::ConvertTo(SingleTag(), hn::LoadU(NumberTag(), numbers));
}

/** A line's numbers, each \a more */
HWY_INLINE Single loadSingles(const double *numbers, double more = 0)
{
	const hn::Rebind<float, Tag> halfTag;
	const auto moved = [&](const double *from) HWY_ATTR {
		return hn::DemoteTo(halfTag, hn::Add(hn::LoadU(Tag(), from), constant(more)));
	};

	return hn::Combine(SingleTag(), moved(numbers + hn::Lanes(Tag())), moved(numbers));
}

/** \return the nearest whole numbers, of 22 bits */
HWY_INLINE Numbers nearestOf(Single values)
{
	const Single whole = hn::Set(SingleTag(), kWhole);

	return hn::Sub(hn::BitCast(NumberTag(), hn::Add(values, whole)),
		       hn::BitCast(NumberTag(), whole));
}

/** A run of atoms, and what is known of its numbers */
struct Run {
	const SdpOp &op;
	const SdpLine &line;
	std::span<const SdpStageRun> stages;
	size_t lanes;
	std::span<const int32_t> in;
	const int32_t *elements; /* null: none */
	double largest;		 /* no input is larger; the least that is known without a look */
	/* What set() finds. */
	bool exact = false; /* all numbers are, and halves are rounded away from zero */
	double margin = 0;  /* else: closer to a half the rounding is not certain */

	/** \return false if numbers are too large, or something may saturate */
	bool set();
	/** \return a result as the stages make it */
	int32_t resultAt(size_t at) const;

private:
	bool setUpTo(double largestIn, double largestElement);
	double largestInput() const;
	std::optional<double> wholeInDoubles(size_t at) const;
	bool hasManyHalves() const;
};

/* Halves are too many for all of them to be computed again. */
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
	const double element = elements ? sdp::largestOf(elements, in.size()) : 0;

	return (setUpTo(largest, element) && (exact || !hasManyHalves())) ||
	       setUpTo(largestInput(), element);
}

bool Run::setUpTo(double largestIn, double largestElement)
{
	constexpr double kSaturates = 65000; /* results of this magnitude, or more, may */
	constexpr double kMostRounding = 0x1p-8;
	constexpr int kWholeBits = 22;
	const double product = line.largestFactor * largestIn;
	const double element = line.largestElementFactor * largestElement;
	const double rest = line.largestOffset + element;
	const double most = std::max(product + line.largestOffset, line.nearestBound) + element;
	const double results = most * line.largestBendFactor + line.largestBendOffset;

	if (std::min(results, line.largestBound) > kSaturates)
		return false;
	exact = !line.bends && line.endsRounded && line.error == 0 &&
		line.fractionBits < kWholeBits &&
		most * powerOfTwo(line.fractionBits) < powerOfTwo(kWholeBits);
	/* Where a number is not clipped, the product is no larger than it and the rest together; a
	 * half and the margin are added. */
	const double terms = std::min(product, line.reach + 1 + rest) + rest;
	const double rounding = (terms + 1) * kRounding;
	const double error = line.error + rounding;
	margin = error + kRounding;
	return exact ||
	       (rounding < kMostRounding && error < kMostError && !(line.bends && hasManyHalves()));
}

/* What a number is rounded to, if that is certain in double precision. */
std::optional<double> Run::wholeInDoubles(size_t at) const
{
	const size_t lane = at & (lanes - 1);
	const double product = in[at] * line.factor[lane];
	double value = std::clamp(product + line.offset[lane], line.low[lane], line.high[lane]);
	double terms = std::abs(product) + line.largestOffset + 1;

	if (elements) {
		const double element = elements[at] * line.elementFactor[lane];
		value = std::clamp(value + element, line.lowSum[lane], line.highSum[lane]);
		terms += std::abs(element);
	}
	const double error = line.error + terms * kRoundingOfDoubles;
	value += 0.5 + error;
	const double whole = std::floor(value);
	if (value - whole <= 2 * error)
		return {};
	return whole;
}

int32_t Run::resultAt(size_t at) const
{
	const std::optional<double> whole = wholeInDoubles(at);

	if (!whole)
		return sdpResultAt(op, stages, lanes, in, at);
	if (!line.bends)
		return static_cast<int32_t>(*whole);
	const size_t lane = at & (lanes - 1);
	const double product = *whole * line.bendFactor[lane];
	const auto rounded = static_cast<int32_t>(product + std::copysign(0.5, product));
	return std::clamp(rounded + line.bendOffset[lane], line.bendLow[lane], line.bendHigh[lane]);
}

/** What becomes of a line's numbers */
enum class End : uint8_t {
	Rounds,	 /**< they are rounded; some are not certain */
	IsExact, /**< the same, and all are certain */
	Bends,	 /**< they are rounded, and go through Y and the converter */
};

/**
 * The line of a vector of channels
 *
 * Numbers that are not exact are made larger by a half and the margin: what is cut off behind the
 * point then is less than two margins where the rounding is not certain.
 */
template<bool kElements, End kEnd>
class Follower
{
public:
	HWY_INLINE Follower(const Run &run, size_t lane)
		: Follower(run.line, lane, kEnd == End::IsExact ? 0 : 0.5 + run.margin)
	{
		const int bits = kEnd == End::Bends ? run.line.bendShift : run.line.fractionBits;

		uncertain_ = single(2 * run.margin);
		nudge_ = single(kEnd == End::Rounds || bits == 0 ? 0 : powerOfTwo(-bits - 1));
	}

	/** \param open gets bits of numbers that are not certain */
	HWY_INLINE Numbers numbersOf(const int32_t *in, const int32_t *elements,
				     uint64_t &open) const
	{
		const Single value = valueOf(in, elements);

		if constexpr (kEnd == End::IsExact)
			return nearestOf(awayFromZero(value));
		const Single floor = hn::Floor(value);
		open = bitsOf(hn::Le(hn::Sub(value, floor), uncertain_));
		return kEnd == End::Bends ? bent(floor) : nearestOf(floor);
	}

private:
	HWY_INLINE Follower(const SdpLine &line, size_t lane, double more)
		: factor_(loadSingles(line.factor + lane)),
		  offset_(loadSingles(line.offset + lane, more)),
		  low_(loadSingles(line.low + lane, more)),
		  high_(loadSingles(line.high + lane, more)),
		  elementFactor_(loadSingles(line.elementFactor + lane)),
		  lowSum_(loadSingles(line.lowSum + lane, more)),
		  highSum_(loadSingles(line.highSum + lane, more)),
		  bendFactor_(loadSingles(line.bendFactor + lane)),
		  bendOffset_(hn::LoadU(NumberTag(), line.bendOffset + lane)),
		  bendLow_(hn::LoadU(NumberTag(), line.bendLow + lane)),
		  bendHigh_(hn::LoadU(NumberTag(), line.bendHigh + lane))
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

	/** Halves are moved over the edge, and nothing else is */
	HWY_INLINE Single awayFromZero(Single value) const
	{
		return hn::Add(value, hn::CopySign(nudge_, value));
	}

	HWY_INLINE Numbers bent(Single whole) const
	{
		const Numbers rounded = nearestOf(awayFromZero(hn::Mul(whole, bendFactor_)));

		return hn::Min(hn::Max(hn::Add(rounded, bendOffset_), bendLow_), bendHigh_);
	}

	static HWY_INLINE uint64_t bitsOf(hn::Mask<SingleTag> mask)
	{
		using Bits = std::conditional_t<(kLanes > 8), uint16_t, uint8_t>;
		Bits bits;

		hn::StoreMaskBits(SingleTag(), mask, reinterpret_cast<uint8_t *>(&bits));
		return bits;
	}

	const Single factor_;
	const Single offset_;
	const Single low_;
	const Single high_;
	const Single elementFactor_;
	const Single lowSum_;
	const Single highSum_;
	const Single bendFactor_;
	const Numbers bendOffset_;
	const Numbers bendLow_;
	const Numbers bendHigh_;
	Single uncertain_;
	Single nudge_;
};

/** \return how many of the numbers from \a at on, whose bits are set, were not certain */
template<typename Element>
HWY_NOINLINE size_t repair(const Run &run, size_t at, uint64_t open, Element *out)
{
	const auto count = static_cast<size_t>(std::popcount(open));

	for (; open; open &= open - 1) {
		const size_t place = at + static_cast<size_t>(std::countr_zero(open));
		out[place] = static_cast<Element>(run.resultAt(place));
	}
	return count;
}

/** \return false if so many numbers are not certain that the stages take less for all of them */
template<typename Element, bool kElements, End kEnd>
bool storeOf(const Run &run, Element *out)
{
	constexpr size_t kOneOf = 32;
	constexpr size_t kFew = 64; /* always worth it */
	const hn::Rebind<Element, NumberTag> tag;
	/* What is written may be anything: nothing is to be loaded again. */
	const int32_t *in = run.in.data();
	const int32_t *elements = run.elements;
	const size_t count = run.in.size();
	const size_t step = run.lanes;
	const size_t most = count / kOneOf + kFew;
	size_t repaired = 0;

	for (size_t lane = 0; lane < step; lane += kLanes) {
		const Follower<kElements, kEnd> follower(run, lane);
		for (size_t at = lane; at < count; at += step) {
			uint64_t open = 0;
			const Numbers numbers = follower.numbersOf(
				in + at, kElements ? elements + at : nullptr, open);
			hn::StoreU(hn::DemoteTo(tag, numbers), tag, out + at);
			if (HWY_UNLIKELY(open != 0)) {
				repaired += repair(run, at, open, out);
				if (repaired > most)
					return false;
			}
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
