/* SPDX-License-Identifier: MIT */
/*
 * storeSdpLine() in vectors, for files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <hwy/highway.h>

#include "sdp/sdp_find_line-inl.h"
#include "sdp/sdp_line.h"
#include "sdp/sdp_operands.h"
#include "sdp/sdp_steps-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_SDP_LINE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_LINE_INL_H
#undef NVDLA_SIM_SDP_LINE_INL_H
#else
#define NVDLA_SIM_SDP_LINE_INL_H
#endif

/* Vectors of a known size, with doubles. */
#if HWY_HAVE_FLOAT64 && !HWY_HAVE_SCALABLE

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace line
{

/* Single precision. The smallest atom has one of the largest vectors. */
using SingleTag = hn::CappedTag<float, 16>;
using NumberTag = hn::Rebind<int32_t, SingleTag>;
using Single = hn::Vec<SingleTag>;
using Numbers = hn::Vec<NumberTag>;
constexpr size_t kSingles = hn::MaxLanes(SingleTag());

/** What is known of the numbers of a run: integers of 32 bits, or bytes as they are in memory */
template<typename In>
struct Run {
	const SdpOp &op;
	const SdpLine &line;
	std::span<const SdpStageRun> stages;
	size_t lanes;
	const In *in;
	size_t count;
	const In *elements; /* null: none */
	double largest;	    /* no input is larger; the least that is known without a look */
	/* What set() finds. */
	bool clips = false; /* more than the output's width does */
	bool exact = false; /* all numbers are, and halves are rounded away from zero */
	float nudge = 0;    /* exact: takes halves, and nothing else, over the edge */
	float certain = 0;  /* else: farther from a whole number the rounding is not certain */

	/** \return false if numbers are too large, or something may saturate */
	bool set();
	/** \brief set() where inputs and elements are no larger than that */
	bool setUpTo(double largestIn, double largestOfElements);
	/** \return halves are too many for all of them to be computed again */
	bool hasManyHalves() const;
	/** \return what no input is larger than */
	double largestInput() const;
	/** \return the same of the elements; 0 without any */
	double largestElement() const;
	double largestOperand() const;
	/** The readable way for one number */
	int32_t compute(size_t at) const;
};

template<typename In>
double Run<In>::largestInput() const
{
	/* Of bytes the largest is close to what networks have. */
	if constexpr (std::is_same_v<In, int32_t>)
		if (op.flying || op.in != Precision::Int8)
			return std::min(sdp::largestOf(in, count), largest);
	return -INT8_MIN;
}

template<typename In>
double Run<In>::largestElement() const
{
	if (!elements)
		return 0;
	if constexpr (std::is_same_v<In, int32_t>)
		return largestOperand();
	return -INT8_MIN;
}

template<typename In>
double Run<In>::largestOperand() const
{
	const SdpStageRun &run = stages[line.elementStage];
	const SdpOperand &alu = run.stage->alu;
	if (!alu.fromMemory || run.stage->read.twoBytes)
		return sdp::largestOf(elements, count);
	if (!run.isY)
		return std::min(-INT8_MIN * powerOfTwo(run.stage->aluShift), sdp::kBits32);
	if (alu.converterBypass)
		return -INT8_MIN;
	const double moved = std::abs(static_cast<double>(alu.converter.offset)) - INT8_MIN;
	const double scale = std::abs(alu.converter.scale) * powerOfTwo(-alu.converter.shift);
	return std::min(moved * scale + 1, sdp::kBits32);
}

template<typename In>
bool Run<In>::hasManyHalves() const
{
	constexpr int kFewBits = 10;

	return line.endsRounded && line.error == 0 && line.fractionBits < kFewBits;
}

template<typename In>
bool Run<In>::set()
{
	const double element = largestElement();

	if (setUpTo(largest, element) && (exact || !hasManyHalves()))
		return true;
	return setUpTo(largestInput(), element);
}

template<typename In>
bool Run<In>::setUpTo(double largestIn, double largestOfElements)
{
	constexpr double kSaturates = 65000;  /* and more */
	constexpr double kRounding = 0x1p-21; /* eight roundings of single precision */
	constexpr double kWholeNumbers = 0x1p23;
	constexpr double kMostError = 1.0 / 96;
	const double product = line.largestFactor * largestIn;
	const double element = line.largestElementFactor * largestOfElements;
	const double most = std::max(product + line.largestOffset, line.nearestBound) + element;

	if (std::min(most, line.largestBound) > kSaturates)
		return false;
	clips = most >= line.idleBound;
	exact = line.endsRounded && line.error == 0 && line.fractionBits < 23 &&
		most * powerOfTwo(line.fractionBits) < kWholeNumbers;
	nudge = exact && line.fractionBits > 0
			? static_cast<float>(powerOfTwo(-line.fractionBits - 1))
			: 0;
	/* Where a result is not clipped, the product is no larger than it and the rest together. */
	const double rest = line.largestOffset + element;
	const double error =
		line.error + (std::min(product, highestOf(op) + 2 + rest) + rest) * kRounding;
	certain = static_cast<float>(0.5 - error - kRounding);
	return exact || error < kMostError;
}

template<typename In>
int32_t Run<In>::compute(size_t at) const
{
	SdpCounters none; /* nothing saturates */
	const size_t lane = at % lanes;
	const auto operandAt = [&](const SdpOperandRun &run) {
		const size_t index = run.atomStride ? at : lane;
		return SdpOperandRun{ run.data ? run.data + index : nullptr, 0 };
	};
	int32_t value = in[at];

	for (const SdpStageRun &run : stages) {
		const int32_t element =
			run.aluBytes ? sdpIntegerOperand(*run.stage, run.isY, true,
							 static_cast<int8_t>(run.aluBytes[at]))
				     : 0;
		(run.isY ? applySdpY : applySdpX)(*run.stage, op.proc, { &value, 1 }, 1,
						  run.aluBytes ? SdpOperandRun{ &element, 0 }
							       : operandAt(run.alu),
						  operandAt(run.mul));
	}
	convertSdpOutput(op, { &value, 1 }, none);
	return value;
}

HWY_INLINE Single clipped(Single value, Single low, Single high)
{
	return hn::Min(hn::Max(value, low), high);
}

/* Those of the readable way, in the place of the numbers whose rounding is not certain */
template<typename In>
Numbers repaired(const Run<In> &run, size_t at, Numbers numbers, hn::Mask<SingleTag> wrong)
{
	const NumberTag tag;
	int32_t all[kSingles];
	int32_t which[kSingles];

	hn::StoreU(numbers, tag, all);
	hn::StoreU(hn::VecFromMask(tag, hn::RebindMask(tag, wrong)), tag, which);
	for (size_t i = 0; i < kSingles; i++)
		if (which[i])
			all[i] = run.compute(at + i);
	return hn::LoadU(tag, all);
}

HWY_INLINE Single loadSingles(const int32_t *numbers)
{
	return hn::ConvertTo(SingleTag(), hn::LoadU(NumberTag(), numbers));
}

HWY_INLINE Single loadSingles(const int8_t *numbers)
{
	const hn::Rebind<int8_t, SingleTag> tag;

	return hn::ConvertTo(SingleTag(), hn::PromoteTo(NumberTag(), hn::LoadU(tag, numbers)));
}

/** What a kernel has to do, known when it is compiled */
template<bool kHasElements, bool kIsClipped, bool kIsExact>
struct Kind {
	static constexpr bool kElements = kHasElements;
	static constexpr bool kClips = kIsClipped;
	static constexpr bool kExact = kIsExact;
};

/** The line of a vector of channels */
struct Lanes {
	Single factor;
	Single offset;
	Single low;
	Single high;
	Single elementFactor;
	Single lowSum;
	Single highSum;

	HWY_INLINE Lanes(const SdpLine &line, size_t lane)
		: factor(hn::LoadU(SingleTag(), line.factor + lane)),
		  offset(hn::LoadU(SingleTag(), line.offset + lane)),
		  low(hn::LoadU(SingleTag(), line.low + lane)),
		  high(hn::LoadU(SingleTag(), line.high + lane)),
		  elementFactor(hn::LoadU(SingleTag(), line.elementFactor + lane)),
		  lowSum(hn::LoadU(SingleTag(), line.lowSum + lane)),
		  highSum(hn::LoadU(SingleTag(), line.highSum + lane))
	{
	}

	template<typename K, typename In>
	HWY_INLINE Single valueOf(const In *in, const In *elements) const
	{
		Single value = hn::MulAdd(loadSingles(in), factor, offset);

		if constexpr (K::kClips)
			value = clipped(value, low, high);
		if constexpr (K::kElements)
			value = hn::MulAdd(loadSingles(elements), elementFactor, value);
		if constexpr (K::kElements && K::kClips)
			value = clipped(value, lowSum, highSum);
		return value;
	}
};

/** Numbers to elements, clipped to them */
template<typename Element>
HWY_INLINE void storeNumbers(Element *out, Numbers numbers)
{
	const hn::Rebind<Element, SingleTag> tag;

	hn::StoreU(hn::DemoteTo(tag, numbers), tag, out);
}

/** The same of two vectors that follow each other */
template<typename Element>
HWY_INLINE void storeNumbers(Element *out, Numbers first, Numbers second)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if constexpr (sizeof(Element) == 1) {
		/* Each quarter has four of the first and four of the second. */
		const __m512i pairs = _mm512_packs_epi32(first.raw, second.raw);
		const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
		_mm256_storeu_si256(
			reinterpret_cast<__m256i *>(out),
			_mm256_permutevar8x32_epi32(_mm512_cvtsepi16_epi8(pairs), order));
		return;
	}
#endif
	storeNumbers(out, first);
	storeNumbers(out + kSingles, second);
}

/** What numbers are rounded with, for all channels */
template<typename K, typename In>
struct Rounding {
	const Run<In> &run;
	Single nudge = hn::Set(SingleTag(), run.nudge);
	Single certain = hn::Set(SingleTag(), run.certain);
	/* In a sum with it numbers of 22 bits are whole, its low bits theirs. */
	Single whole = hn::Set(SingleTag(), 0x1.8p23F);
	Numbers wholeBits = hn::BitCast(NumberTag(), whole);
	size_t budget; /* vectors to repair */

	/** \param off how far values are from their numbers */
	HWY_INLINE Numbers numbersOf(Single value, Single &off) const
	{
		if constexpr (K::kExact)
			value = hn::Add(value, hn::CopySign(nudge, value));
		const Single sum = hn::Add(value, whole);
		off = hn::Abs(hn::Sub(value, hn::Sub(sum, whole)));
		return hn::Sub(hn::BitCast(NumberTag(), sum), wholeBits);
	}

	HWY_INLINE bool areCertain(Single off) const
	{
		return K::kExact || hn::AllFalse(SingleTag(), hn::Ge(off, certain));
	}

	/** \brief Those at \a at that are not certain; false if they were too many */
	bool repair(size_t at, Single off, Numbers &numbers)
	{
		if (areCertain(off))
			return true;
		if (budget-- == 0)
			return false;
		numbers = repaired(run, at, numbers, hn::Ge(off, certain));
		return true;
	}
};

/**
 * Numbers of one vector of channels, or of two
 * \param lane the first one of the first vector
 * \return false if too many were repaired
 */
template<bool kTwo, typename K, typename Element, typename In>
bool storeLanes(const Run<In> &run, size_t lane, Element *out, Numbers &any)
{
	/* What is written may be anything: nothing is to be loaded again. */
	const In *in = run.in;
	const In *elements = run.elements;
	const size_t count = run.count;
	const size_t step = run.lanes;
	constexpr size_t kSecond = kTwo ? kSingles : 0;
	Rounding<K, In> rounding = { .run = run, .budget = (1 + kTwo) * (count / step / 4 + 4) };
	const Lanes line(run.line, lane);
	const Lanes secondLine(run.line, lane + kSecond);
	Numbers all = any;

	for (size_t at = lane; at < count; at += step) {
		Single off;
		Numbers first =
			rounding.numbersOf(line.template valueOf<K>(in + at, elements + at), off);
		if constexpr (!kTwo) {
			if (HWY_UNLIKELY(!rounding.areCertain(off)) &&
			    !rounding.repair(at, off, first))
				return false;
			all = hn::Or(all, first);
			storeNumbers(out + at, first);
		} else {
			Single secondOff;
			const size_t from = at + kSecond;
			Numbers second = rounding.numbersOf(
				secondLine.template valueOf<K>(in + from, elements + from),
				secondOff);
			if (HWY_UNLIKELY(!rounding.areCertain(hn::Max(off, secondOff))) &&
			    !(rounding.repair(at, off, first) &&
			      rounding.repair(from, secondOff, second)))
				return false;
			all = hn::Or(all, hn::Or(first, second));
			storeNumbers(out + at, first, second);
		}
	}
	any = all;
	return true;
}

template<typename K, typename Element, typename In>
bool storeOfKind(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	const NumberTag tag;
	Numbers any = hn::Zero(tag);

	auto *out = reinterpret_cast<Element *>(bytes);
	size_t lane = 0;

	for (; lane + 2 * kSingles <= run.lanes; lane += 2 * kSingles)
		if (!storeLanes<true, K>(run, lane, out, any))
			return false;
	if (lane < run.lanes && !storeLanes<false, K>(run, lane, out, any))
		return false;
	counters.nonZero |= !hn::AllTrue(tag, hn::Eq(any, hn::Zero(tag)));
	return true;
}

template<bool kElements, bool kClips, typename Element, typename In>
bool storeWith(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	return run.exact
		       ? storeOfKind<Kind<kElements, kClips, true>, Element>(run, bytes, counters)
		       : storeOfKind<Kind<kElements, kClips, false>, Element>(run, bytes, counters);
}

template<typename Element, typename In>
bool storeAs(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	if (run.elements)
		return run.clips ? storeWith<true, true, Element>(run, bytes, counters)
				 : storeWith<true, false, Element>(run, bytes, counters);
	return run.clips ? storeWith<false, true, Element>(run, bytes, counters)
			 : storeWith<false, false, Element>(run, bytes, counters);
}

bool store(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages, size_t lanes,
	   std::span<const int32_t> in, double largest, std::byte *bytes, SdpCounters &counters)
{
	const int32_t *elements =
		line.elementStage < 0 ? nullptr : stages[line.elementStage].alu.data;
	Run<int32_t> run = { op,	line,	   stages,   lanes,
			     in.data(), in.size(), elements, largest };

	if (!run.set())
		return false;
	return op.out == Precision::Int8 ? storeAs<int8_t>(run, bytes, counters)
					 : storeAs<int16_t>(run, bytes, counters);
}

} /* namespace line */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */
