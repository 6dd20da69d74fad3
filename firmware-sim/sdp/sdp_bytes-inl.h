/* SPDX-License-Identifier: MIT */
/*
 * storeSdpLineOfBytes() in vectors, for files that are compiled once for each instruction set
 * (Highway).
 */
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <hwy/highway.h>

#include "arith/pairs-inl.h"
#include "core/bring_ahead.h"
#include "sdp/sdp_line-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_SDP_BYTES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_BYTES_INL_H
#undef NVDLA_SIM_SDP_BYTES_INL_H
#else
#define NVDLA_SIM_SDP_BYTES_INL_H
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

/*
 * Sums with few bits behind the point fit 16 bits: twice as many to a vector as in single
 * precision, and no way there and back.
 */
using ShortTag = hn::CappedTag<int16_t, 32>;
using Short = hn::Vec<ShortTag>;
constexpr size_t kShorts = hn::MaxLanes(ShortTag());

/** SdpLine in 16 bits, times 2 ^ fractionBits */
struct ShortLine {
	static constexpr size_t kLanes = SdpLine::kMostLanes;

	int16_t factor[kLanes];
	int16_t elementFactor[kLanes];
	int16_t offset[kLanes];
	int fractionBits;

	/** \return false if numbers do not fit */
	bool set(const Run<int8_t> &run);
};

bool ShortLine::set(const Run<int8_t> &run)
{
	const SdpLine &line = run.line;
	const double one = powerOfTwo(line.fractionBits);
	double largest = 0;

	if (!run.exact || run.clips)
		return false;
	for (size_t i = 0; i < kLanes; i++) {
		const double in = line.factor[i] * one;
		const double element = run.elements ? line.elementFactor[i] * one : 0;
		const double added = line.offset[i] * one;
		largest = std::max(largest, (std::abs(in) + std::abs(element)) * -INT8_MIN +
						    std::abs(added) + one);
		if (largest > INT16_MAX)
			return false;
		factor[i] = static_cast<int16_t>(in);
		elementFactor[i] = static_cast<int16_t>(element);
		offset[i] = static_cast<int16_t>(added);
	}
	fractionBits = line.fractionBits;
	return true;
}

HWY_INLINE Short loadShorts(const int8_t *numbers)
{
	const hn::Rebind<int8_t, ShortTag> tag;

	return hn::PromoteTo(ShortTag(), hn::LoadU(tag, numbers));
}

HWY_INLINE Short loadShorts(const int16_t *numbers)
{
	return hn::LoadU(ShortTag(), numbers);
}

HWY_INLINE void storeNumbers(int8_t *out, Short numbers)
{
	const hn::Rebind<int8_t, ShortTag> tag;

	hn::StoreU(hn::DemoteTo(tag, numbers), tag, out);
}

HWY_INLINE void storeNumbers(int16_t *out, Short numbers)
{
	hn::StoreU(numbers, ShortTag(), out);
}

template<bool kElements>
void storeShortLanes(const Run<int8_t> &run, const ShortLine &line, size_t lane, int8_t *out,
		     Short &any)
{
	const ShortTag tag;
	const Short factor = hn::LoadU(tag, line.factor + lane);
	const Short elementFactor = hn::LoadU(tag, line.elementFactor + lane);
	const auto half = static_cast<int16_t>((1 << line.fractionBits) >> 1);
	const Short offset = hn::Add(hn::LoadU(tag, line.offset + lane), hn::Set(tag, half));
	/* Halves of negative numbers have to stay below. */
	const Short down = hn::Set(tag, half ? -1 : 0);
	const Short halves = hn::Set(tag, half);
	const int8_t *in = run.in;
	const int8_t *elements = run.elements;
	const size_t count = run.count;
	const int shift = line.fractionBits;
	Short all = any;

	for (size_t at = lane; at < count; at += ShortLine::kLanes) {
		bringAhead(in + at);
		if constexpr (kElements)
			bringAhead(elements + at);
		Short value = hn::Add(hn::Mul(loadShorts(in + at), factor), offset);
		if constexpr (kElements)
			value = hn::Add(value, hn::Mul(loadShorts(elements + at), elementFactor));
		const Short less = hn::And(hn::VecFromMask(tag, hn::Lt(value, halves)), down);
		const Short numbers = hn::ShiftRightSame(hn::Add(value, less), shift);
		all = hn::Or(all, numbers);
		storeNumbers(out + at, numbers);
	}
	any = all;
}

void storeShorts(const Run<int8_t> &run, const ShortLine &line, std::byte *bytes,
		 SdpCounters &counters)
{
	const ShortTag tag;
	Short any = hn::Zero(tag);

	for (size_t lane = 0; lane < ShortLine::kLanes; lane += kShorts) {
		auto *out = reinterpret_cast<int8_t *>(bytes);
		if (run.elements)
			storeShortLanes<true>(run, line, lane, out, any);
		else
			storeShortLanes<false>(run, line, lane, out, any);
	}
	counters.nonZero |= !hn::AllTrue(tag, hn::Eq(any, hn::Zero(tag)));
}

/* Vectors whose halves are made one again in the order that they were taken apart in. */
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

/**
 * \brief SdpLine of an element and another one, in fixed point
 *
 * Both are a pair, and so are their factors: one instruction has both products and their sum.
 * Factors have 16 bits, and another pair has what these leave out. The lanes of two atoms of INT16
 * are as many as one of INT8 has.
 */
struct PairLine {
	static constexpr size_t kLanes = SdpLine::kMostLanes;
	static constexpr int kBits = 14;     /* behind the point */
	static constexpr int kRestBits = 15; /* more of them */

	int16_t factor[kLanes];
	int16_t elementFactor[kLanes];
	int16_t factorRest[kLanes];
	int16_t elementRest[kLanes];
	/* With a half, and with the margin. */
	int16_t offsetLow[kLanes];
	int16_t offsetHigh[kLanes];
	/** Rests behind the point below twice the margin are not certain */
	int32_t margin;

	/** \return false if numbers do not fit, or too many rests would not be certain */
	template<typename Element>
	bool set(const Run<Element> &run);

	/* For Run::setUpTo(): set() knows the error, and exact sums are for single precision. */
	static constexpr double kRounding = 0;
	static constexpr double kMostRounding = 1;
	static constexpr int kWholeBits = Singles::kWholeBits;
};

/** \return the nearest whole number, of less than 2^51, without a call of a library */
inline double nearestWhole(double number)
{
	constexpr double kWhole = 0x1.8p52; /* in a sum with it nothing is left behind the point */

	return number + kWhole - kWhole;
}

/** What is left of \a factor goes to \a rest \return whole steps */
inline int16_t takeApart(double factor, int16_t &rest)
{
	const double scaled = factor * powerOfTwo(PairLine::kBits);
	const double whole = nearestWhole(scaled);

	rest = static_cast<int16_t>(
		nearestWhole((scaled - whole) * powerOfTwo(PairLine::kRestBits)));
	return static_cast<int16_t>(whole);
}

template<typename Element>
bool PairLine::set(const Run<Element> &run)
{
	/* Steps that a sum is off by: what is cut of the rests' sum, and roundings of numbers. */
	constexpr double kError =
		1 + 0.5 + 2 * Run<Element>::kWidest * 0.5 / (1 << kRestBits) + 1e-3;
	constexpr double kMostFactor = 32766.0 / (1 << kBits);
	constexpr int32_t kMostMargin = (1 << kBits) / 128;
	const SdpLine &line = run.line;

	if (!run.elements || run.exact || run.clips ||
	    std::max(line.largestFactor, line.largestElementFactor) > kMostFactor)
		return false;
	margin = static_cast<int32_t>(std::ceil(line.error * powerOfTwo(kBits) + kError));
	for (size_t i = 0; i < kLanes; i++) {
		const size_t lane = i % run.lanes;
		factor[i] = takeApart(line.factor[lane], factorRest[i]);
		elementFactor[i] = takeApart(line.elementFactor[lane], elementRest[i]);
		const auto offset =
			static_cast<int32_t>(nearestWhole(line.offset[lane] * powerOfTwo(kBits)) +
					     (1 << (kBits - 1)) + margin);
		offsetLow[i] = static_cast<int16_t>(offset);
		offsetHigh[i] = static_cast<int16_t>(offset >> 16);
	}
	return margin <= kMostMargin;
}

using PairNumbers = pairs::Pairs;

/** The line of half of a vector's channels */
struct PairLanes {
	PairNumbers factors;
	PairNumbers rests;
	PairNumbers offsets;

	HWY_INLINE PairNumbers sumsOf(PairNumbers elements) const
	{
		const auto sums = hn::Add(pairs::sumsOfProducts(elements, factors), offsets);
		const auto rest = pairs::sumsOfProducts(elements, rests);

		return hn::Add(sums, hn::ShiftRight<PairLine::kRestBits>(rest));
	}
};

/** Pairs of \a a and \a b: some of a vector's in \a lower, the others in \a upper */
HWY_INLINE void pairUp(Short a, Short b, PairNumbers &lower, PairNumbers &upper)
{
	lower = hn::BitCast(pairs::PairTag(), hn::InterleaveLower(ShortTag(), a, b));
	upper = hn::BitCast(pairs::PairTag(), hn::InterleaveUpper(ShortTag(), a, b));
}

/** Those of the readable way, in the place of \a numbers that are not certain */
template<typename Element>
HWY_NOINLINE Short repairedShorts(const Run<Element> &run, size_t at, Short numbers, Short wrong)
{
	int16_t all[kShorts];
	int16_t which[kShorts];

	hn::StoreU(numbers, ShortTag(), all);
	hn::StoreU(wrong, ShortTag(), which);
	for (size_t i = 0; i < kShorts; i++)
		if (which[i])
			all[i] = static_cast<int16_t>(run.compute(at + i));
	return hn::LoadU(ShortTag(), all);
}

/** Vectors of the same lanes of each atom, or of two */
template<typename Element>
class PairVectors
{
public:
	PairVectors(const Run<Element> &run, const PairLine &line, size_t lane)
		: run_(run), limit_(hn::Set(pairs::PairTag(), 2 * line.margin))
	{
		const auto constants = [&](const int16_t *numbers) HWY_ATTR {
			return hn::LoadU(ShortTag(), numbers + lane);
		};

		pairUp(constants(line.factor), constants(line.elementFactor), lower_.factors,
		       upper_.factors);
		pairUp(constants(line.factorRest), constants(line.elementRest), lower_.rests,
		       upper_.rests);
		pairUp(constants(line.offsetLow), constants(line.offsetHigh), lower_.offsets,
		       upper_.offsets);
	}

	/** \param budget vectors to repair \return false if there is none left */
	HWY_INLINE bool at(size_t at, size_t &budget, Short &numbers) const
	{
		bringAhead(run_.in + at);
		bringAhead(run_.elements + at);
		const ShortTag tag;
		const pairs::PairTag pairTag;
		const auto part = hn::Set(pairTag, (1 << PairLine::kBits) - 1);
		PairNumbers a;
		PairNumbers b;

		pairUp(loadShorts(run_.in + at), loadShorts(run_.elements + at), a, b);
		a = lower_.sumsOf(a);
		b = upper_.sumsOf(b);
		const auto restA = hn::And(a, part);
		const auto restB = hn::And(b, part);
		numbers = hn::ReorderDemote2To(tag, hn::ShiftRight<PairLine::kBits>(a),
					       hn::ShiftRight<PairLine::kBits>(b));
		if (HWY_LIKELY(hn::AllFalse(pairTag, hn::Lt(hn::Min(restA, restB), limit_))))
			return true;
		if (budget-- == 0)
			return false;
		numbers = repairedShorts(
			run_, at, numbers,
			hn::ReorderDemote2To(tag, hn::VecFromMask(pairTag, hn::Lt(restA, limit_)),
					     hn::VecFromMask(pairTag, hn::Lt(restB, limit_))));
		return true;
	}

private:
	const Run<Element> run_; /* a copy, which what is written cannot change */
	const PairNumbers limit_;
	PairLanes lower_;
	PairLanes upper_;
};

/** \return false if too many were repaired */
template<typename Element>
bool storePairLanes(const Run<Element> &run, const PairLine &line, size_t lane, Element *out,
		    Short &any)
{
	const PairVectors<Element> vectors(run, line, lane);
	const size_t count = run.count;
	size_t budget = count / PairLine::kLanes / 4 + 4;
	Short all = any;
	Short numbers;

	for (size_t at = lane; at < count; at += PairLine::kLanes) {
		/* The last atom of an odd number of them is there with the one before, again. */
		const size_t from = std::min(at, count - kShorts);
		if (!vectors.at(from, budget, numbers))
			return false;
		all = hn::Or(all, numbers);
		storeNumbers(out + from, numbers);
	}
	any = all;
	return true;
}

/** \return false if nothing is of use: there is another way */
template<typename Element>
bool storePairs(Run<Element> run, std::byte *bytes, SdpCounters &counters)
{
	const ShortTag tag;
	Short any = hn::Zero(tag);
	PairLine line;

	if (run.count < kShorts ||
	    !run.template setUpTo<PairLine>(Run<Element>::kWidest, run.widestElement()) ||
	    !line.set(run))
		return false;
	for (size_t lane = 0; lane < PairLine::kLanes; lane += kShorts)
		if (!storePairLanes(run, line, lane, reinterpret_cast<Element *>(bytes), any))
			return false;
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

template<typename Element>
bool storeElements(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages,
		   std::span<const std::byte> in, std::byte *bytes, SdpCounters &counters)
{
	const auto *elements = reinterpret_cast<const Element *>(
		line.elementStage < 0 ? nullptr : stages[line.elementStage].aluBytes);
	Run<Element> run = { .op = op,
			     .line = line,
			     .stages = stages,
			     .lanes = atomBytes / sizeof(Element),
			     .in = reinterpret_cast<const Element *>(in.data()),
			     .count = in.size() / sizeof(Element),
			     .elements = elements,
			     .largest = Run<Element>::kWidest };

	if constexpr (Run<Element>::kIsByte) {
		ShortLine shortLine;
		if (run.set() && shortLine.set(run)) {
			storeShorts(run, shortLine, bytes, counters);
			return true;
		}
	}
	return storePairs(run, bytes, counters) ||
	       (run.set() && storeAs<Element>(run, bytes, counters));
}

bool storeBytes(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages,
		std::span<const std::byte> in, std::byte *bytes, SdpCounters &counters)
{
	const auto storeOf =
		op.out == Precision::Int8 ? storeElements<int8_t> : storeElements<int16_t>;

	return storeOf(op, line, stages, in, bytes, counters);
}

} /* namespace line */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */
