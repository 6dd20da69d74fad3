/* SPDX-License-Identifier: MIT */
/*
 * storeSdpLine() in vectors, for files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

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
template<typename A, bool kHasElements, Clips kClipped, bool kIsExact, bool kIsBent = false,
	 bool kIsBentClipped = false>
struct Kind {
	using Arithmetic = A;
	static constexpr size_t kLanes = hn::MaxLanes(typename A::Tag());
	static constexpr size_t kMaskBytes = (kLanes + 7) / 8;
	static constexpr bool kElements = kHasElements;
	static constexpr Clips kClips = kClipped;
	static constexpr bool kExact = kIsExact;
	static constexpr bool kBends = kIsBent;
	static constexpr bool kClipsBend = kIsBentClipped; /* once more, behind it */
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

	/** \param more added to all numbers */
	HWY_INLINE Lanes(const SdpLine &line, size_t lane, double more)
		: factor(A::load(line.factor + lane)), offset(A::load(line.offset + lane, more)),
		  low(A::load(line.low + lane, more)), high(A::load(line.high + lane, more)),
		  elementFactor(A::load(line.elementFactor + lane)),
		  lowSum(A::load(line.lowSum + lane, more)),
		  highSum(A::load(line.highSum + lane, more))
	{
	}

	template<typename K, typename In>
	HWY_INLINE Vector valueOf(const In *in, const In *elements) const
	{
		Vector value = hn::MulAdd(A::load(in), factor, offset);

		if constexpr (clipsBelow(K::kClips))
			value = hn::Max(value, low);
		if constexpr (clipsAbove(K::kClips))
			value = hn::Min(value, high);
		if constexpr (K::kElements)
			value = hn::MulAdd(A::load(elements), elementFactor, value);
		if constexpr (K::kElements && K::kClips == Clips::All)
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

/** A vector of channels behind the bend of their lines */
template<bool kClips>
struct BentLanes {
	using Vector = Singles::Vector;
	using Numbers = Singles::Numbers;

	Vector factor;
	Vector nudge;
	Numbers offset;
	Numbers low;
	Numbers high;

	HWY_INLINE BentLanes(const SdpLine &line, size_t lane, double halves)
		: factor(Singles::load(line.bendFactor + lane)),
		  nudge(hn::Set(Singles::Tag(), static_cast<float>(halves))),
		  offset(hn::LoadU(Singles::NumberTag(), line.bendOffset + lane)),
		  low(hn::LoadU(Singles::NumberTag(), line.bendLow + lane)),
		  high(hn::LoadU(Singles::NumberTag(), line.bendHigh + lane))
	{
#if HWY_NATIVE_FMA
		/* The next number: moves a product by less than it is far from the next one. */
		factor = hn::BitCast(Singles::Tag(),
				     hn::Add(hn::BitCast(tag(), factor), hn::Set(tag(), 1)));
		offset = hn::Sub(offset, hn::BitCast(tag(), point()));
#endif
	}

	/**
	 * Halves are moved away from zero, and nothing else over the edge
	 * \param whole numbers at the bend
	 */
	HWY_INLINE Numbers numbersOf(Vector whole) const
	{
#if HWY_NATIVE_FMA
		const Numbers rounded = hn::BitCast(tag(), hn::MulAdd(whole, factor, point()));
#else
		const Vector product = hn::Mul(whole, factor);
		const Numbers rounded =
			Singles::nearestOf(hn::Add(product, hn::CopySign(nudge, product)));
#endif
		const Numbers moved = hn::Add(rounded, offset);

		if constexpr (kClips)
			return hn::Min(hn::Max(moved, low), high);
		else
			return moved;
	}

private:
	static HWY_INLINE Singles::NumberTag tag()
	{
		return {};
	}
	static HWY_INLINE Vector point()
	{
		return hn::Set(Singles::Tag(), Singles::kWhole);
	}
};

/** Where lines do not bend */
struct NoBend {
	HWY_INLINE NoBend(const SdpLine &, size_t, double) {}
};

/**
 * Numbers of a vector of channels, rounded
 *
 * Those that are not exact are made larger by a half and the margin: what is cut off behind the
 * point then is less than two margins where the rounding is not certain.
 */
template<typename K, typename In>
class Follower
{
public:
	using A = typename K::Arithmetic;
	using Vector = typename A::Vector;
	using Numbers = typename A::Numbers;

	HWY_INLINE Follower(const Run<In> &run, size_t lane)
		: line_(run.line, lane, K::kExact ? 0 : 0.5 + run.margin),
		  bend_(run.line, lane, run.nudge), nudge_(set(run.nudge)),
		  uncertain_(set(2 * run.margin))
	{
	}

	/** \param open gets bits of numbers that are not certain, and is behind them afterwards */
	HWY_INLINE Numbers numbersOf(const In *in, const In *elements, uint8_t *&open) const
	{
		const Vector value = line_.template valueOf<K>(in, elements);

		if constexpr (K::kExact) {
			return A::nearestOf(hn::Add(value, hn::CopySign(nudge_, value)));
		} else {
			Vector rest;
			const Numbers numbers = A::floorOf(value, rest);
			hn::StoreMaskBits(Tag(), hn::Le(rest, uncertain_), open);
			open += K::kMaskBytes;
			if constexpr (K::kBends)
				return bend_.numbersOf(hn::Sub(value, rest));
			return numbers;
		}
	}

private:
	using Tag = typename A::Tag;

	static Vector set(double number)
	{
		return hn::Set(Tag(), static_cast<hn::TFromD<Tag>>(number));
	}

	const Lanes<A> line_;
	const std::conditional_t<K::kBends, BentLanes<K::kClipsBend>, NoBend> bend_;
	const Vector nudge_;
	const Vector uncertain_;
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
	/* What is written may be anything: nothing is to be loaded again. */
	const In *in = run.in;
	const In *elements = run.elements;
	const size_t step = run.lanes;
	constexpr size_t kSecond = kTwo ? K::kLanes : 0;
	const Follower<K, In> follower(run, at % step);
	const Follower<K, In> second(run, at % step + kSecond);

	for (; at < end; at += step) {
		const auto numbers = follower.numbersOf(in + at, elements + at, open);
		if constexpr (kTwo)
			storeNumbers(
				out + at, numbers,
				second.numbersOf(in + at + kSecond, elements + at + kSecond, open));
		else
			storeNumbers(out + at, numbers);
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
	SdpUncertain uncertain(run.count, 2 * run.margin);
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

template<typename A, bool kElements, Clips kClips, typename Element, typename In>
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
		return run.clips == Clips::Nothing
			       ? storeWith<A, true, Clips::Nothing, Element>(run, bytes, counters)
			       : storeWith<A, true, Clips::All, Element>(run, bytes, counters);
	switch (run.clips) {
	case Clips::Nothing:
		return storeWith<A, false, Clips::Nothing, Element>(run, bytes, counters);
	case Clips::Below:
		return storeWith<A, false, Clips::Below, Element>(run, bytes, counters);
	default:
		return storeWith<A, false, Clips::All, Element>(run, bytes, counters);
	}
}

template<typename Element>
bool storeBent(const Run<int32_t> &run, std::byte *bytes, SdpCounters &counters)
{
	using Above = Kind<Singles, false, Clips::Above, false, true>;
	using All = Kind<Singles, false, Clips::All, false, true>;
	using Behind = Kind<Singles, false, Clips::All, false, true, true>;

	if (run.line.clipsBend)
		return storeOfKind<Behind, Element>(run, bytes, counters);
	return run.clips == Clips::Above ? storeOfKind<Above, Element>(run, bytes, counters)
					 : storeOfKind<All, Element>(run, bytes, counters);
}

template<typename Element, typename In>
bool storeAs(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	if constexpr (std::is_same_v<In, int32_t>)
		if (run.line.bends)
			return storeBent<Element>(run, bytes, counters);
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
