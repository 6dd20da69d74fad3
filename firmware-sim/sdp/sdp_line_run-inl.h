/* SPDX-License-Identifier: MIT */
/*
 * What is known of the numbers of a run that a line is followed for, in files that are compiled
 * once for each instruction set (Highway).
 */
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include <hwy/highway.h>

#include "sdp/sdp_find_line-inl.h"
#include "sdp/sdp_line.h"
#include "sdp/sdp_steps-inl.h"
#include "sdp/sdp_uncertain.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_SDP_LINE_RUN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_LINE_RUN_INL_H
#undef NVDLA_SIM_SDP_LINE_RUN_INL_H
#else
#define NVDLA_SIM_SDP_LINE_RUN_INL_H
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
	/* Four roundings, on the way from the largest operand to the last sum. */
	static constexpr double kRounding = 0x1p-22;
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

	/** A line's numbers, each \a more */
	static HWY_INLINE Vector load(const double *numbers, double more = 0)
	{
		const doubles::Tag tag;
		const hn::Rebind<float, doubles::Tag> halfTag;
		const auto moved = [&](const double *from) {
			return hn::DemoteTo(halfTag,
					    hn::Add(hn::LoadU(tag, from), hn::Set(tag, more)));
		};

		return hn::Combine(Tag(), moved(numbers + hn::Lanes(tag)), moved(numbers));
	}

	/** \return the nearest whole numbers, of 22 bits */
	static HWY_INLINE Numbers nearestOf(Vector values)
	{
		const NumberTag tag;
		const Vector whole = hn::Set(Tag(), kWhole);

		return hn::Sub(hn::BitCast(tag, hn::Add(values, whole)), hn::BitCast(tag, whole));
	}

	/** \return whole numbers of 31 bits not above values, of which \a rest is left */
	static HWY_INLINE Numbers floorOf(Vector values, Vector &rest)
	{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
		constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
		rest = Vector{ _mm512_reduce_ps(values.raw, kDown) };
		return { _mm512_cvt_roundps_epi32(values.raw, kDown) };
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
		const Vector floor = hn::Floor(values);
		rest = hn::Sub(values, floor);
		return { _mm256_cvttps_epi32(floor.raw) };
#else
		const Vector floor = hn::Floor(values);
		rest = hn::Sub(values, floor);
		return hn::ConvertTo(NumberTag(), floor);
#endif
	}
};

/**
 * Results of eight bits in single precision, moved to between 256 and 512: the upper eight bits of
 * the significand are the result, and those below are what is behind its point
 */
struct Bytes : Singles {
	static constexpr double kMoved = 384;
	static constexpr int kPointBits = 15;

	/** \return the \a bits of values are all zero */
	static HWY_INLINE hn::Mask<Tag> areZero(Vector values, Numbers bits)
	{
		const NumberTag tag;

		return hn::RebindMask(
			Tag(), hn::Eq(hn::And(hn::BitCast(tag, values), bits), hn::Zero(tag)));
	}

	/** \return results, rounded down */
	static HWY_INLINE Numbers numbersOf(Vector values)
	{
		constexpr int kByteBits = 8;
		constexpr int kBits = 32;
		const NumberTag tag;
		const Numbers sign = hn::Set(tag, 1 << (kPointBits + kByteBits - 1));
		const Numbers bits = hn::Xor(hn::BitCast(tag, values), sign);

		return hn::ShiftRight<kBits - kByteBits>(
			hn::ShiftLeft<kBits - kByteBits - kPointBits>(bits));
	}
};

/** The same in double precision */
struct Doubles {
	using Tag = doubles::Tag;
	using NumberTag = doubles::IntegerTag;
	using Vector = hn::Vec<Tag>;
	using Numbers = hn::Vec<NumberTag>;
	static constexpr double kRounding = 0x1p-50; /* the line's own are as large */
	static constexpr double kMostRounding = 1;
	static constexpr int kWholeBits = 51;
	static constexpr double kWhole = 0x1.8p52;

	static HWY_INLINE Vector load(const int32_t *numbers) { return doubles::load(numbers); }

	static HWY_INLINE Vector load(const double *numbers, double more = 0)
	{
		return hn::Add(hn::LoadU(Tag(), numbers), hn::Set(Tag(), more));
	}

	static HWY_INLINE Vector load(const int16_t *numbers)
	{
		const hn::Rebind<int16_t, Tag> tag;

		return hn::PromoteTo(Tag(), hn::PromoteTo(NumberTag(), hn::LoadU(tag, numbers)));
	}

	static HWY_INLINE Numbers nearestOf(Vector values)
	{
		const Vector whole = hn::Set(Tag(), kWhole);

		return hn::DemoteTo(NumberTag(), hn::Sub(hn::Add(values, whole), whole));
	}

	static HWY_INLINE Numbers floorOf(Vector values, Vector &rest)
	{
		const Vector floor = hn::Floor(values);

		rest = hn::Sub(values, floor);
		return hn::DemoteTo(NumberTag(), floor);
	}
};

/** Results of this magnitude, or more, may count as saturated. */
constexpr double kSaturates = 65000;

/** Which of a line's bounds numbers may meet, besides those of the output's width */
enum class Clips : uint8_t { Nothing, Below, Above, All };

constexpr bool clipsBelow(Clips clips)
{
	return clips == Clips::Below || clips == Clips::All;
}

constexpr bool clipsAbove(Clips clips)
{
	return clips == Clips::Above || clips == Clips::All;
}

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
	Clips clips = Clips::Nothing;
	bool exact = false;    /* all numbers are, and halves are rounded away from zero */
	bool isDouble = false; /* single precision is not enough */
	double nudge = 0;      /* exact: takes halves, and nothing else, over the edge */
	double margin = 0;     /* else: closer to a half the rounding is not certain */
	double byteMargin = 0; /* the same of Bytes, a power of two; 0: there are none */

	/** \return false if numbers are too large, or something may saturate */
	bool set();
	/** \brief set() for an arithmetic where inputs and elements are no larger than that */
	template<typename Arithmetic>
	bool setUpTo(double largestIn, double largestOfElements);
	/** \brief Find byteMargin \param terms that results are sums of, without signs */
	void setBytes(double terms);
	/** \brief setUpTo() of a line that bends */
	bool setBend(double product);
	/** \return clipsUpTo() of a line that bends */
	Clips clipsBendUpTo(double most) const;
	/** \return the bounds that numbers no larger than \a most may meet */
	Clips clipsUpTo(double most) const;
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
	/** \brief Take the number at \a at out of the run, with its operands */
	void pick(size_t at, SdpPicked &picked) const
	{
		picked.add(at, in[at], elements ? static_cast<int16_t>(elements[at]) : 0);
	}
	/** \return what one number is rounded to, if that is certain in double precision */
	std::optional<int32_t> roundedInDoubles(size_t at) const;
	/** \return what the stages make of one number */
	int32_t compute(size_t at) const
	{
		SdpPicked picked(op, stages, lanes);

		pick(at, picked);
		return picked.compute().front();
	}
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
std::optional<int32_t> Run<In>::roundedInDoubles(size_t at) const
{
	if (isDouble || line.bends)
		return {};
	const size_t lane = at & (lanes - 1);
	const double product = in[at] * line.factor[lane];
	double value = std::clamp(product + line.offset[lane], line.low[lane], line.high[lane]);
	double largest = std::abs(product) + line.largestOffset + 1;
	if (elements) {
		const double element = elements[at] * line.elementFactor[lane];
		value = std::clamp(value + element, line.lowSum[lane], line.highSum[lane]);
		largest += std::abs(element);
	}
	const double error = line.error + largest * Doubles::kRounding;
	value += 0.5 + error;
	const double whole = std::floor(value);
	if (value - whole <= 2 * error)
		return {};
	return static_cast<int32_t>(whole);
}

template<typename In>
bool Run<In>::hasManyHalves() const
{
	constexpr int kFewBits = 10;

	return line.endsRounded && line.error == 0 && line.fractionBits < kFewBits;
}

template<typename In>
Clips Run<In>::clipsUpTo(double most) const
{
	constexpr double kNumbers = 1 << 30; /* fit 32 bits, with what is added to round */

	if (most < line.idleBound)
		return Clips::Nothing;
	return !elements && most < kNumbers && line.lowestHigh >= highestOf(op) ? Clips::Below
										: Clips::All;
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
Clips Run<In>::clipsBendUpTo(double most) const
{
	constexpr double kProducts = 1 << 22; /* that single precision rounds as it should */

	return most * line.largestBendFactor < kProducts && !line.showsLow ? Clips::Above
									   : Clips::All;
}

template<typename In>
bool Run<In>::setBend(double product)
{
	constexpr double kRounding = Singles::kRounding;
	constexpr double kMostRounding = 0x1p-7; /* the stages take longer here */
	const double rest = line.largestOffset;
	const double most = std::max(product + rest, line.nearestBound) * line.largestBendFactor +
			    line.largestBendOffset;

	if (std::min(most, line.largestBound + 1) > kSaturates)
		return false;
	/* With the half and the margin that are added. */
	const double rounding = (std::min(product, line.reach + 2 + rest) + rest + 1) * kRounding;
	clips = clipsBendUpTo(std::max(product + rest, line.nearestBound) + 1);
	exact = false;
	nudge = powerOfTwo(-line.bendShift - 1);
	margin = line.error + rounding + kRounding;
	return rounding < kMostRounding && line.error < kMostError && !hasManyHalves();
}

template<typename In>
void Run<In>::setBytes(double terms)
{
	constexpr double kMostMargin = 0x1p-8; /* the next larger one leaves too much open */
	/* Product and offset are each rounded once or twice, and so is the sum, which is below 512
	 * where it is not clipped. */
	const double rounding = (terms + Bytes::kMoved + 128) * 0x1p-23;
	const double error = line.error + (elements ? 2 * rounding : rounding);
	const double larger = powerAbove(error);

	byteMargin = larger <= kMostMargin ? larger : 0;
}

template<typename In>
template<typename Arithmetic>
bool Run<In>::setUpTo(double largestIn, double largestOfElements)
{
	constexpr int kWholeBits = Arithmetic::kWholeBits;
	const double product = line.largestFactor * largestIn;
	if (line.bends)
		return std::is_same_v<In, int32_t> && std::is_same_v<Arithmetic, Singles> &&
		       setBend(product);
	const double element = line.largestElementFactor * largestOfElements;
	const double most = std::max(product + line.largestOffset, line.nearestBound) + element;

	if (std::min(most, line.largestBound) > kSaturates)
		return false;
	clips = clipsUpTo(most);
	exact = line.endsRounded && line.error == 0 && line.fractionBits < kWholeBits &&
		most * powerOfTwo(line.fractionBits) < powerOfTwo(kWholeBits);
	nudge = exact && line.fractionBits > 0 ? powerOfTwo(-line.fractionBits - 1) : 0;
	/* Where a result is not clipped, the product is no larger than it and the rest together; a
	 * half and the margin are added. */
	const double rest = line.largestOffset + element;
	const double terms = std::min(product, highestOf(op) + 2 + rest) + rest;
	const double rounding = (terms + 1) * Arithmetic::kRounding;
	const double error = line.error + rounding;
	margin = error + Arithmetic::kRounding;
	if constexpr (std::is_same_v<Arithmetic, Singles>)
		setBytes(terms);
	return exact || (rounding < Arithmetic::kMostRounding && error < kMostError);
}

} /* namespace line */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */
