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

#include "core/bring_ahead.h"
#include "sdp/sdp_line-inl.h"
#include "sdp/sdp_pairs-inl.h"

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

	if (!run.exact || run.clips != Clips::Nothing)
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

HWY_INLINE void storeNumbers(int8_t *out, Short numbers)
{
	const hn::Rebind<int8_t, ShortTag> tag;

	hn::StoreU(hn::DemoteTo(tag, numbers), tag, out);
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
