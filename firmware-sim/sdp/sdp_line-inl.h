/* SPDX-License-Identifier: MIT */
/*
 * storeSdpLine() in vectors, for files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <hwy/highway.h>

#include "sdp/sdp_line.h"
#include "sdp/sdp_line_run-inl.h"
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

/** What a kernel has to do, known when it is compiled */
template<typename A, bool kHasElements, bool kIsClipped, bool kIsExact>
struct Kind {
	using Arithmetic = A;
	static constexpr size_t kLanes = hn::MaxLanes(typename A::Tag());
	static constexpr size_t kMaskBytes = (kLanes + 7) / 8;
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

	/** \brief Bits of numbers that are not certain, to \a open */
	HWY_INLINE void note(Vector off, uint8_t *open) const
	{
		hn::StoreMaskBits(kTag, hn::Ge(off, certain), open);
	}
};

/* Atoms whose bits of uncertain numbers are looked at together. */
constexpr size_t kAtomsAtOnce = 256;

/**
 * Some atoms' numbers of one vector of channels, or of two
 * \param at the first one of the first vector of the first atom \param end of all atoms
 * \param open gets bits of numbers that are not certain, in bytes of their own for each vector
 */
template<bool kTwo, typename K, typename Element, typename In>
void storeLanes(const Run<In> &run, size_t at, size_t end, Element *out, uint8_t *open)
{
	using A = typename K::Arithmetic;
	/* What is written may be anything: nothing is to be loaded again. */
	const In *in = run.in;
	const In *elements = run.elements;
	const size_t step = run.lanes;
	constexpr size_t kSecond = kTwo ? K::kLanes : 0;
	const Rounding<K, In> rounding = { .run = run };
	const Lanes<A> line(run.line, at % step);
	const Lanes<A> secondLine(run.line, at % step + kSecond);

	for (; at < end; at += step) {
		typename A::Vector off;
		const typename A::Numbers first =
			rounding.numbersOf(line.template valueOf<K>(in + at, elements + at), off);
		if constexpr (!K::kExact) {
			rounding.note(off, open);
			open += K::kMaskBytes;
		}
		if constexpr (!kTwo) {
			storeNumbers(out + at, first);
		} else {
			const size_t from = at + kSecond;
			const typename A::Numbers second = rounding.numbersOf(
				secondLine.template valueOf<K>(in + from, elements + from), off);
			if constexpr (!K::kExact) {
				rounding.note(off, open);
				open += K::kMaskBytes;
			}
			storeNumbers(out + at, first, second);
		}
	}
}

/** \brief Numbers that were noted, as the stages make them */
template<typename Element, typename In>
void storeUncertain(const Run<In> &run, const SdpUncertain &uncertain, Element *out)
{
	SdpPicked picked(run.op, run.stages, run.lanes);

	for (auto rest = uncertain.places(); !rest.empty();) {
		const auto some = rest.first(std::min(rest.size(), SdpPicked::kMost));
		for (const uint32_t at : some)
			run.pick(at, picked);
		const auto numbers = picked.compute();
		for (size_t i = 0; i < some.size(); i++)
			out[some[i]] = static_cast<Element>(numbers[i]);
		rest = rest.subspan(some.size());
	}
}

/** \return some of \a count bytes, which are more than none, are not zero */
inline bool areNonZero(const std::byte *bytes, size_t count)
{
	return bytes[0] != std::byte{ 0 } || std::memcmp(bytes, bytes + 1, count - 1) != 0;
}

/** \return false if too many numbers are not certain */
template<bool kTwo, typename K, typename Element, typename In>
bool storeLanesOf(const Run<In> &run, size_t lane, Element *out, SdpUncertain &uncertain)
{
	constexpr size_t kBytes = (1 + kTwo) * K::kMaskBytes; /* of an atom */
	/* Masks of two vectors are one where there are no bits between them. */
	constexpr size_t kMasks = K::kLanes == 8 * K::kMaskBytes ? 1 : 1 + kTwo;
	uint8_t open[kAtomsAtOnce * kBytes + sizeof(uint64_t)];

	for (size_t at = lane; at < run.count; at += kAtomsAtOnce * run.lanes) {
		const size_t end = std::min(at - lane + kAtomsAtOnce * run.lanes, run.count);
		const size_t atoms = (end - at + run.lanes - 1) / run.lanes;
		storeLanes<kTwo, K>(run, at, end, out, open);
		if (!K::kExact &&
		    !uncertain.addMasks<kMasks, (1 + kTwo) * K::kLanes / kMasks, kBytes / kMasks>(
			    open, atoms, at, run.lanes))
			return false;
	}
	return true;
}

template<typename K, typename Element, typename In>
bool storeOfKind(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	auto *out = reinterpret_cast<Element *>(bytes);
	SdpUncertain uncertain(run.count, 2 * (0.5 - run.certain));
	size_t lane = 0;

	for (; lane + 2 * K::kLanes <= run.lanes; lane += 2 * K::kLanes)
		if (!storeLanesOf<true, K>(run, lane, out, uncertain))
			return false;
	if (lane < run.lanes && !storeLanesOf<false, K>(run, lane, out, uncertain))
		return false;
	storeUncertain(run, uncertain, out);
	counters.nonZero = counters.nonZero || areNonZero(bytes, run.count * sizeof(Element));
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

/** A vector of channels behind the bend of their lines */
struct BentLanes {
	using Vector = Singles::Vector;
	using Numbers = Singles::Numbers;

	Vector factor;
	Numbers offset;
	Numbers low;
	Numbers high;

	HWY_INLINE BentLanes(const SdpLine &line, size_t lane)
		: factor(Singles::load(line.bendFactor + lane)),
		  offset(hn::LoadU(Singles::NumberTag(), line.bendOffset + lane)),
		  low(hn::LoadU(Singles::NumberTag(), line.bendLow + lane)),
		  high(hn::LoadU(Singles::NumberTag(), line.bendHigh + lane))
	{
	}
};

/** storeLanes() of one vector of channels whose lines bend */
template<typename K, typename Element>
void storeBentLanes(const Run<int32_t> &run, size_t at, size_t end, Element *out, uint8_t *open)
{
	const int32_t *in = run.in;
	const size_t step = run.lanes;
	const Rounding<K, int32_t> rounding = { .run = run };
	const Lanes<Singles> line(run.line, at % step);
	const BentLanes behind(run.line, at % step);

	for (; at < end; at += step, open += K::kMaskBytes) {
		const auto value = line.valueOf<K>(in + at, in + at);
		const auto number = hn::Sub(hn::Add(value, rounding.whole), rounding.whole);
		rounding.note(hn::Abs(hn::Sub(value, number)), open);
		/* Halves are moved away from zero, and nothing else over the edge. */
		const auto product = hn::Mul(number, behind.factor);
		const auto sum = hn::Add(hn::Add(product, hn::CopySign(rounding.nudge, product)),
					 rounding.whole);
		const auto result = hn::Add(Singles::numbersOf(sum, rounding.whole), behind.offset);
		storeNumbers(out + at, hn::Min(hn::Max(result, behind.low), behind.high));
	}
}

template<typename Element>
bool storeBent(const Run<int32_t> &run, std::byte *bytes, SdpCounters &counters)
{
	using K = Kind<Singles, false, true, false>;
	auto *out = reinterpret_cast<Element *>(bytes);
	SdpUncertain uncertain(run.count, 2 * (0.5 - run.certain));
	uint8_t open[kAtomsAtOnce * K::kMaskBytes + sizeof(uint64_t)];

	for (size_t lane = 0; lane < run.lanes; lane += K::kLanes) {
		for (size_t at = lane; at < run.count; at += kAtomsAtOnce * run.lanes) {
			const size_t end =
				std::min(at - lane + kAtomsAtOnce * run.lanes, run.count);
			const size_t atoms = (end - at + run.lanes - 1) / run.lanes;
			storeBentLanes<K>(run, at, end, out, open);
			if (!uncertain.addMasks<1, K::kLanes, K::kMaskBytes>(open, atoms, at,
									     run.lanes))
				return false;
		}
	}
	storeUncertain(run, uncertain, out);
	counters.nonZero = counters.nonZero || areNonZero(bytes, run.count * sizeof(Element));
	return true;
}

bool store(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages, size_t lanes,
	   std::span<const int32_t> in, double largest, std::byte *bytes, SdpCounters &counters)
{
	const int32_t *elements =
		line.elementStage < 0 ? nullptr : stages[line.elementStage].alu.data;
	Run<int32_t> run = { op, line, stages, lanes, in.data(), in.size(), elements, largest };

	if (!run.set())
		return false;
	if (line.bends)
		return op.out == Precision::Int8 ? storeBent<int8_t>(run, bytes, counters)
						 : storeBent<int16_t>(run, bytes, counters);
	return op.out == Precision::Int8 ? storeAs<int8_t>(run, bytes, counters)
					 : storeAs<int16_t>(run, bytes, counters);
}

} /* namespace line */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */
