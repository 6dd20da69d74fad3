/* SPDX-License-Identifier: MIT */
/*
 * storeSdpLine() in vectors, for files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include <hwy/highway.h>

#include "sdp/sdp_find_line-inl.h"
#include "sdp/sdp_line.h"
#include "sdp/sdp_steps-inl.h"
#include "sdp/sdp_uncertain.h"

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

/** A line is followed in single precision: the smallest atom has one of the largest vectors */
struct Singles {
	using Tag = hn::CappedTag<float, 16>;
	using NumberTag = hn::Rebind<int32_t, Tag>;
	using Vector = hn::Vec<Tag>;
	using Numbers = hn::Vec<NumberTag>;
	static constexpr double kRounding = 0x1p-21; /* eight roundings */
	/* Above that, computing numbers again takes longer than double precision. */
	static constexpr double kMostRounding = 0x1p-8;
	static constexpr int kWholeBits = 23;
	static constexpr float kWhole = 0x1.8p23F; /* a sum with it has nothing behind the point */

	static HWY_INLINE Vector load(const int32_t *numbers)
	{
		return hn::ConvertTo(Tag(), hn::LoadU(NumberTag(), numbers));
	}

	/** Elements of 8 or 16 bits */
	template<typename Element>
	static HWY_INLINE Vector load(const Element *numbers)
	{
		const hn::Rebind<Element, Tag> tag;

		return hn::ConvertTo(Tag(), hn::PromoteTo(NumberTag(), hn::LoadU(tag, numbers)));
	}

	/** A line's numbers */
	static HWY_INLINE Vector load(const double *numbers)
	{
		const doubles::Tag tag;
		const hn::Rebind<float, doubles::Tag> halfTag;
		const auto lower = hn::DemoteTo(halfTag, hn::LoadU(tag, numbers));

		return hn::Combine(Tag(),
				   hn::DemoteTo(halfTag, hn::LoadU(tag, numbers + hn::Lanes(tag))),
				   lower);
	}

	/** \param sum a number of 22 bits and \a whole, whose low bits are the number's then */
	static HWY_INLINE Numbers numbersOf(Vector sum, Vector whole)
	{
		const NumberTag tag;

		return hn::Sub(hn::BitCast(tag, sum), hn::BitCast(tag, whole));
	}
};

/** The same in double precision */
struct Doubles {
	using Tag = doubles::Tag;
	using NumberTag = doubles::IntegerTag;
	using Vector = hn::Vec<Tag>;
	using Numbers = hn::Vec<NumberTag>;
	static constexpr double kRounding = 0x1p-50;
	static constexpr double kMostRounding = 1;
	static constexpr int kWholeBits = 51;
	static constexpr double kWhole = 0x1.8p52;

	static HWY_INLINE Vector load(const int32_t *numbers) { return doubles::load(numbers); }
	static HWY_INLINE Vector load(const double *numbers) { return hn::LoadU(Tag(), numbers); }

	static HWY_INLINE Vector load(const int16_t *numbers)
	{
		const hn::Rebind<int16_t, Tag> tag;

		return hn::PromoteTo(Tag(), hn::PromoteTo(NumberTag(), hn::LoadU(tag, numbers)));
	}

	static HWY_INLINE Numbers numbersOf(Vector sum, Vector whole)
	{
		return hn::DemoteTo(NumberTag(), hn::Sub(sum, whole));
	}
};

/** What is known of the numbers of a run: integers of 32 bits, or elements as they are in memory */
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
	bool clips = false;    /* more than the output's width does */
	bool exact = false;    /* all numbers are, and halves are rounded away from zero */
	bool isDouble = false; /* single precision is not enough */
	double nudge = 0;      /* exact: takes halves, and nothing else, over the edge */
	double certain = 0;    /* else: farther from a whole number the rounding is not certain */

	/** \return false if numbers are too large, or something may saturate */
	bool set();
	/** \brief set() for an arithmetic where inputs and elements are no larger than that */
	template<typename Arithmetic>
	bool setUpTo(double largestIn, double largestOfElements);
	/** \return halves are too many for all of them to be computed again */
	bool hasManyHalves() const;
	/** \return what no input is larger than */
	double largestInput() const;
	/** \return the same of the elements, without a look at those of memory; 0 without any */
	double widestElement() const;
	double largestOperand() const;
	/** What largestInput() and widestElement() are of any elements */
	static constexpr double kWidest = -static_cast<double>(std::numeric_limits<In>::min());
	/** INT8 is close to what networks have, and has no need of double precision. */
	static constexpr bool kIsByte = sizeof(In) == 1;
};

template<typename In>
double Run<In>::largestInput() const
{
	if constexpr (!kIsByte)
		if (op.flying || op.in != Precision::Int8)
			return std::min(sdp::largestOf(in, count), largest);
	return -INT8_MIN;
}

template<typename In>
double Run<In>::widestElement() const
{
	if (!elements)
		return 0;
	if constexpr (std::is_same_v<In, int32_t>)
		return largestOperand();
	return kWidest;
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
	double element = widestElement();

	if (setUpTo<Singles>(largest, element) && (exact || !hasManyHalves()))
		return true;
	const double found = largestInput();
	if constexpr (std::is_same_v<In, int16_t>)
		if (elements)
			element = sdp::largestOf(elements, count);
	if (setUpTo<Singles>(found, element))
		return true;
	isDouble = !kIsByte;
	return isDouble && setUpTo<Doubles>(found, element);
}

template<typename In>
template<typename Arithmetic>
bool Run<In>::setUpTo(double largestIn, double largestOfElements)
{
	constexpr double kSaturates = 65000; /* and more */
	constexpr double kMostError = 1.0 / 96;
	constexpr int kWholeBits = Arithmetic::kWholeBits;
	const double product = line.largestFactor * largestIn;
	const double element = line.largestElementFactor * largestOfElements;
	const double most = std::max(product + line.largestOffset, line.nearestBound) + element;

	if (std::min(most, line.largestBound) > kSaturates)
		return false;
	clips = most >= line.idleBound;
	exact = line.endsRounded && line.error == 0 && line.fractionBits < kWholeBits &&
		most * powerOfTwo(line.fractionBits) < powerOfTwo(kWholeBits);
	nudge = exact && line.fractionBits > 0 ? powerOfTwo(-line.fractionBits - 1) : 0;
	/* Where a result is not clipped, the product is no larger than it and the rest together. */
	const double rest = line.largestOffset + element;
	const double rounding =
		(std::min(product, highestOf(op) + 2 + rest) + rest) * Arithmetic::kRounding;
	const double error = line.error + rounding;
	certain = 0.5 - error - Arithmetic::kRounding;
	return exact || (rounding < Arithmetic::kMostRounding && error < kMostError);
}

/** The bits of a mask of up to 64 lanes */
template<typename Tag>
HWY_INLINE uint64_t bitsOf(Tag tag, hn::Mask<Tag> mask)
{
	uint8_t bytes[sizeof(uint64_t)] = {};
	uint64_t bits;

	hn::StoreMaskBits(tag, mask, bytes);
	std::memcpy(&bits, bytes, sizeof(bits));
	return bits;
}

/** What a kernel has to do, known when it is compiled */
template<typename A, bool kHasElements, bool kIsClipped, bool kIsExact>
struct Kind {
	using Arithmetic = A;
	static constexpr size_t kLanes = hn::MaxLanes(typename A::Tag());
	static constexpr bool kElements = kHasElements;
	static constexpr bool kClips = kIsClipped;
	static constexpr bool kExact = kIsExact;
};

/** The line of a vector of channels */
template<typename A>
struct Lanes {
	using Vector = typename A::Vector;

	Vector factor;
	Vector offset;
	Vector low;
	Vector high;
	Vector elementFactor;
	Vector lowSum;
	Vector highSum;

	HWY_INLINE Lanes(const SdpLine &line, size_t lane)
		: factor(A::load(line.factor + lane)), offset(A::load(line.offset + lane)),
		  low(A::load(line.low + lane)), high(A::load(line.high + lane)),
		  elementFactor(A::load(line.elementFactor + lane)),
		  lowSum(A::load(line.lowSum + lane)), highSum(A::load(line.highSum + lane))
	{
	}

	template<typename K, typename In>
	HWY_INLINE Vector valueOf(const In *in, const In *elements) const
	{
		Vector value = hn::MulAdd(A::load(in), factor, offset);

		if constexpr (K::kClips)
			value = hn::Min(hn::Max(value, low), high);
		if constexpr (K::kElements)
			value = hn::MulAdd(A::load(elements), elementFactor, value);
		if constexpr (K::kElements && K::kClips)
			value = hn::Min(hn::Max(value, lowSum), highSum);
		return value;
	}
};

/** Numbers to elements, clipped to them */
template<typename Element, typename Numbers>
HWY_INLINE void storeNumbers(Element *out, Numbers numbers)
{
	const hn::Rebind<Element, hn::DFromV<Numbers>> tag;

	hn::StoreU(hn::DemoteTo(tag, numbers), tag, out);
}

/** The same of two vectors that follow each other */
template<typename Element, typename Numbers>
HWY_INLINE void storeNumbers(Element *out, Numbers first, Numbers second)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	constexpr size_t kBytes = sizeof(first.raw);
	if constexpr (kBytes == 64 && sizeof(Element) == 1) {
		/* Each quarter has four of the first and four of the second. */
		const __m512i pairs = _mm512_packs_epi32(first.raw, second.raw);
		const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
		_mm256_storeu_si256(
			reinterpret_cast<__m256i *>(out),
			_mm256_permutevar8x32_epi32(_mm512_cvtsepi16_epi8(pairs), order));
		return;
	}
	if constexpr (kBytes == 32 && sizeof(Element) == 2) {
		/* So has each half. */
		const __m256i pairs = _mm256_packs_epi32(first.raw, second.raw);
		constexpr int kOrder = 0xd8;
		_mm256_storeu_si256(reinterpret_cast<__m256i *>(out),
				    _mm256_permute4x64_epi64(pairs, kOrder));
		return;
	}
#endif
	storeNumbers(out, first);
	storeNumbers(out + hn::MaxLanes(hn::DFromV<Numbers>()), second);
}

/** What numbers are rounded with, for all channels */
template<typename K, typename In>
struct Rounding {
	using A = typename K::Arithmetic;
	using Vector = typename A::Vector;
	using Numbers = typename A::Numbers;
	using Lane = hn::TFromD<typename A::Tag>;
	static constexpr typename A::Tag kTag = {};

	const Run<In> &run;
	Vector nudge = hn::Set(kTag, static_cast<Lane>(run.nudge));
	Vector certain = hn::Set(kTag, static_cast<Lane>(run.certain));
	/* In a sum with it nothing is left behind the point. */
	Vector whole = hn::Set(
		kTag, static_cast<Lane>(sizeof(Lane) == sizeof(float) ? 0x1.8p23 : 0x1.8p52));

	/** \param off how far values are from their numbers */
	HWY_INLINE Numbers numbersOf(Vector value, Vector &off) const
	{
		if constexpr (K::kExact)
			value = hn::Add(value, hn::CopySign(nudge, value));
		const Vector sum = hn::Add(value, whole);
		off = hn::Abs(hn::Sub(value, hn::Sub(sum, whole)));
		return A::numbersOf(sum, whole);
	}

	HWY_INLINE bool areCertain(Vector off) const
	{
		return K::kExact || hn::AllFalse(kTag, hn::Ge(off, certain));
	}

	/**
	 * \brief Note those at \a at that are not certain, with zeros for them meanwhile
	 * \return false if they are too many
	 */
	HWY_INLINE bool note(size_t at, Vector value, Vector off, Numbers &numbers,
			     SdpUncertain &uncertain) const
	{
		const auto open = hn::Ge(off, certain);

		numbers = A::numbersOf(hn::Add(hn::IfThenZeroElse(open, value), whole), whole);
		return uncertain.add(at, bitsOf(kTag, open));
	}
};

/**
 * Numbers of one vector of channels, or of two
 * \param lane the first one of the first vector
 * \param any with the bits that a number has
 * \return false if too many are not certain
 */
template<bool kTwo, typename K, typename Element, typename In>
bool storeLanes(const Run<In> &run, size_t lane, Element *out, SdpUncertain &uncertain,
		typename K::Arithmetic::Numbers &any)
{
	using A = typename K::Arithmetic;
	/* What is written may be anything: nothing is to be loaded again. */
	const In *in = run.in;
	const In *elements = run.elements;
	const size_t count = run.count;
	const size_t step = run.lanes;
	constexpr size_t kSecond = kTwo ? K::kLanes : 0;
	const Rounding<K, In> rounding = { .run = run };
	const Lanes<A> line(run.line, lane);
	const Lanes<A> secondLine(run.line, lane + kSecond);
	typename A::Numbers all = any;

	for (size_t at = lane; at < count; at += step) {
		const typename A::Vector value = line.template valueOf<K>(in + at, elements + at);
		typename A::Vector off;
		typename A::Numbers first = rounding.numbersOf(value, off);
		if constexpr (!kTwo) {
			if (HWY_UNLIKELY(!rounding.areCertain(off)) &&
			    !rounding.note(at, value, off, first, uncertain))
				return false;
			all = hn::Or(all, first);
			storeNumbers(out + at, first);
		} else {
			const size_t from = at + kSecond;
			const typename A::Vector secondValue =
				secondLine.template valueOf<K>(in + from, elements + from);
			typename A::Vector secondOff;
			typename A::Numbers second = rounding.numbersOf(secondValue, secondOff);
			if (HWY_UNLIKELY(!rounding.areCertain(hn::Max(off, secondOff))) &&
			    !(rounding.note(at, value, off, first, uncertain) &&
			      rounding.note(from, secondValue, secondOff, second, uncertain)))
				return false;
			all = hn::Or(all, hn::Or(first, second));
			storeNumbers(out + at, first, second);
		}
	}
	any = all;
	return true;
}

/**
 * Numbers that were noted, as the stages make them
 * \return with the bits that a number has
 */
template<typename Element, typename In>
int32_t storeUncertain(const Run<In> &run, const SdpUncertain &uncertain, Element *out)
{
	SdpPicked picked(run.op, run.stages, run.lanes);
	int32_t any = 0;

	for (auto rest = uncertain.places(); !rest.empty();) {
		const auto some = rest.first(std::min(rest.size(), SdpPicked::kMost));
		for (const uint32_t at : some)
			picked.add(at, run.in[at],
				   run.elements ? static_cast<int16_t>(run.elements[at]) : 0);
		const auto numbers = picked.compute();
		for (size_t i = 0; i < some.size(); i++) {
			out[some[i]] = static_cast<Element>(numbers[i]);
			any |= numbers[i];
		}
		rest = rest.subspan(some.size());
	}
	return any;
}

template<typename K, typename Element, typename In>
bool storeOfKind(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	const typename K::Arithmetic::NumberTag tag;
	auto any = hn::Zero(tag);

	auto *out = reinterpret_cast<Element *>(bytes);
	SdpUncertain uncertain(run.count);
	size_t lane = 0;

	for (; lane + 2 * K::kLanes <= run.lanes; lane += 2 * K::kLanes)
		if (!storeLanes<true, K>(run, lane, out, uncertain, any))
			return false;
	if (lane < run.lanes && !storeLanes<false, K>(run, lane, out, uncertain, any))
		return false;
	counters.nonZero |= !hn::AllTrue(tag, hn::Eq(any, hn::Zero(tag)));
	counters.nonZero |= storeUncertain(run, uncertain, out) != 0;
	return true;
}

template<typename A, bool kElements, bool kClips, typename Element, typename In>
bool storeWith(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	return run.exact ? storeOfKind<Kind<A, kElements, kClips, true>, Element>(run, bytes,
										  counters)
			 : storeOfKind<Kind<A, kElements, kClips, false>, Element>(run, bytes,
										   counters);
}

template<typename A, typename Element, typename In>
bool storeIn(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	if (run.elements)
		return run.clips ? storeWith<A, true, true, Element>(run, bytes, counters)
				 : storeWith<A, true, false, Element>(run, bytes, counters);
	return run.clips ? storeWith<A, false, true, Element>(run, bytes, counters)
			 : storeWith<A, false, false, Element>(run, bytes, counters);
}

template<typename Element, typename In>
bool storeAs(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	if constexpr (!Run<In>::kIsByte)
		if (run.isDouble)
			return storeIn<Doubles, Element>(run, bytes, counters);
	return storeIn<Singles, Element>(run, bytes, counters);
}

bool store(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages, size_t lanes,
	   std::span<const int32_t> in, double largest, std::byte *bytes, SdpCounters &counters)
{
	const int32_t *elements =
		line.elementStage < 0 ? nullptr : stages[line.elementStage].alu.data;
	Run<int32_t> run = { op, line, stages, lanes, in.data(), in.size(), elements, largest };

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
