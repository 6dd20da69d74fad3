/* SPDX-License-Identifier: MIT */
/*
 * storeSdpLine() in vectors, for files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <array>
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
	static constexpr bool kElements = kHasElements;
	static constexpr Clips kClips = kClipped;
	static constexpr bool kExact = kIsExact;
	static constexpr bool kBytes = std::is_same_v<A, Bytes>;
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

	/** Bytes are rounded where they are stored. */
	using Results = std::conditional_t<K::kBytes, Vector, Numbers>;

	HWY_INLINE Follower(const Run<In> &run, size_t lane)
		: line_(run.line, lane, moreOf(run)), bend_(run.line, lane, run.nudge),
		  nudge_(set(run.nudge)), uncertain_(set(2 * run.margin)),
		  behindPoint_(behindPointOf(run))
	{
	}

	/** \param open gets bits of numbers that are not certain */
	HWY_INLINE Results resultsOf(const In *in, const In *elements, uint64_t &open) const
	{
		const Vector value = line_.template valueOf<K>(in, elements);

		if constexpr (K::kBytes) {
			open = bitsOf(A::areZero(value, behindPoint_));
			return value;
		} else {
			return numbersOf(value, open);
		}
	}

private:
	using Tag = typename A::Tag;

	static double moreOf(const Run<In> &run)
	{
		if constexpr (K::kBytes)
			return A::kMoved + 0.5 + run.byteMargin;
		return K::kExact ? 0 : 0.5 + run.margin;
	}

	/** \return the bits that are not all zero where two margins or more are behind the point */
	static Numbers behindPointOf(const Run<In> &run)
	{
		constexpr double kPoint = 1 << Bytes::kPointBits;

		return hn::Set(typename A::NumberTag(),
			       static_cast<int32_t>(kPoint - 2 * run.byteMargin * kPoint));
	}

	HWY_INLINE Numbers numbersOf(Vector value, uint64_t &open) const
	{
		if constexpr (K::kExact) {
			open = 0;
			return A::nearestOf(hn::Add(value, hn::CopySign(nudge_, value)));
		} else {
			Vector rest;
			const Numbers numbers = A::floorOf(value, rest);
			open = bitsOf(hn::Le(rest, uncertain_));
			if constexpr (K::kBends)
				return bend_.numbersOf(hn::Sub(value, rest));
			return numbers;
		}
	}

	static Vector set(double number)
	{
		return hn::Set(Tag(), static_cast<hn::TFromD<Tag>>(number));
	}

	static HWY_INLINE uint64_t bitsOf(hn::Mask<Tag> mask)
	{
		using Bits = std::conditional_t<(K::kLanes > 8), uint16_t, uint8_t>;
		Bits bits;

		static_assert(K::kLanes <= 16);
		hn::StoreMaskBits(Tag(), mask, reinterpret_cast<uint8_t *>(&bits));
		return bits;
	}

	const Lanes<A> line_;
	const std::conditional_t<K::kBends, BentLanes<K::kClipsBend>, NoBend> bend_;
	const Vector nudge_;
	const Vector uncertain_;
	const Numbers behindPoint_;
};

/** Values of Bytes, rounded down */
template<typename... Values>
HWY_INLINE void storeFloors(int8_t *out, Values... values)
{
	storeNumbers(out, Bytes::numbersOf(values)...);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE void storeFloors(int8_t *out, Bytes::Vector first, Bytes::Vector second)
{
	alignas(64) static constexpr uint16_t kUpperWords[] = {
		1,  3,	5,  7,	9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
		33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63,
	};
	/* To where a byte begins. */
	constexpr unsigned int kUp = 16 - Bytes::kPointBits;
	const __m512i a = _mm512_slli_epi32(_mm512_castps_si512(first.raw), kUp);
	const __m512i b = _mm512_slli_epi32(_mm512_castps_si512(second.raw), kUp);
	const __m512i words = _mm512_permutex2var_epi16(a, _mm512_load_si512(kUpperWords), b);

	_mm256_storeu_si256(
		reinterpret_cast<__m256i *>(out),
		_mm256_xor_si256(_mm512_cvtepi16_epi8(words), _mm256_set1_epi8(INT8_MIN)));
}
#endif

/** What a Follower returns */
template<typename K, typename Element, typename... Results>
HWY_INLINE void storeResults(Element *out, Results... results)
{
	if constexpr (K::kBytes)
		storeFloors(out, results...);
	else
		storeNumbers(out, results...);
}

/**
 * One vector of channels of all atoms, or two
 * \param lane first of the channels
 * \return false if too many numbers are not certain
 */
template<bool kTwo, typename K, typename Element, typename In>
bool storeLanes(const Run<In> &run, size_t lane, Element *out, SdpUncertain &uncertain)
{
	/* What is written may be anything: nothing is to be loaded again. */
	const In *in = run.in;
	const In *elements = run.elements;
	const size_t count = run.count;
	const size_t step = run.lanes;
	constexpr size_t kSecond = kTwo ? K::kLanes : 0;
	const Follower<K, In> follower(run, lane);
	const Follower<K, In> second(run, lane + kSecond);
	SdpUncertain::Adder adder(uncertain);

	for (size_t at = lane; at < count; at += step) {
		uint64_t open, more = 0;
		const auto results = follower.resultsOf(in + at, elements + at, open);
		if constexpr (kTwo)
			storeResults<K>(
				out + at, results,
				second.resultsOf(in + at + kSecond, elements + at + kSecond, more));
		else
			storeResults<K>(out + at, results);
		if (!K::kExact && !adder.add(at, open | more << K::kLanes))
			return false;
	}
	return true;
}

/** \brief Numbers that were noted, as the stages make them */
template<typename Element, typename In>
void storeUncertain(const Run<In> &run, const SdpUncertain &uncertain, Element *out)
{
	SdpPicked picked(run.op, run.stages, run.lanes);
	std::array<uint32_t, SdpPicked::kMost> places;
	size_t count = 0;
	const auto computePicked = [&] {
		const auto numbers = picked.compute();
		for (size_t i = 0; i < count; i++)
			out[places[i]] = static_cast<Element>(numbers[i]);
		count = 0;
	};

	for (const uint32_t at : uncertain.places()) {
		if (const auto number = run.roundedInDoubles(at)) {
			out[at] = static_cast<Element>(*number);
			continue;
		}
		run.pick(at, picked);
		places[count++] = at;
		if (count == places.size())
			computePicked();
	}
	if (count > 0)
		computePicked();
}

/** \return some of \a count bytes, which are more than none, are not zero */
inline bool areNonZero(const std::byte *bytes, size_t count)
{
	return bytes[0] != std::byte{ 0 } || std::memcmp(bytes, bytes + 1, count - 1) != 0;
}

template<typename K, typename Element, typename In>
bool storeOfKind(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	auto *out = reinterpret_cast<Element *>(bytes);
	SdpUncertain uncertain(run.count);
	size_t lane = 0;

	for (; lane + 2 * K::kLanes <= run.lanes; lane += 2 * K::kLanes)
		if (!storeLanes<true, K>(run, lane, out, uncertain))
			return false;
	if (lane < run.lanes && !storeLanes<false, K>(run, lane, out, uncertain))
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

template<typename Element, typename In>
bool storeOfBytes(const Run<In> &run, std::byte *bytes, SdpCounters &counters)
{
	using Sums = Kind<Bytes, true, Clips::All, false>;
	using Products = Kind<Bytes, false, Clips::All, false>;

	return run.elements ? storeOfKind<Sums, Element>(run, bytes, counters)
			    : storeOfKind<Products, Element>(run, bytes, counters);
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
	if constexpr (sizeof(Element) == 1)
		if (!run.exact && run.byteMargin > 0)
			return storeOfBytes<Element>(run, bytes, counters);
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
