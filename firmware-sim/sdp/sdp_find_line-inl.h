/* SPDX-License-Identifier: MIT */
/*
 * findSdpLine() in vectors, for files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "sdp/sdp_line.h"
#include "sdp/sdp_steps-inl.h"

/* Once for each instruction set. */
#if defined(NVDLA_SIM_SDP_FIND_LINE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_FIND_LINE_INL_H
#undef NVDLA_SIM_SDP_FIND_LINE_INL_H
#else
#define NVDLA_SIM_SDP_FIND_LINE_INL_H
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

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

/* No number of SDP is as large, and its product with any multiplier is finite. */
constexpr double kUnbounded = 0x1p100;

inline double powerOfTwo(int exponent)
{
	return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}

/** \return the smallest power of two that is larger than a positive \a number */
inline double powerAbove(double number)
{
	constexpr int kFraction = 52;

	return std::bit_cast<double>(((std::bit_cast<uint64_t>(number) >> kFraction) + 1)
				     << kFraction);
}

/** Two bounds, real numbers */
struct Bounds {
	Vector low = constant(-kUnbounded);
	Vector high = constant(kUnbounded);

	HWY_INLINE Bounds() {} /* an implicit one has no vectors */

	HWY_INLINE void clip(Vector lowest, Vector highest)
	{
		low = hn::Min(hn::Max(low, lowest), highest);
		high = hn::Min(hn::Max(high, lowest), highest);
	}

	HWY_INLINE void move(Vector by)
	{
		low = hn::Add(low, by);
		high = hn::Add(high, by);
	}

	HWY_INLINE void scale(Vector by)
	{
		const Vector a = hn::Mul(low, by);
		const Vector b = hn::Mul(high, by);
		low = hn::Min(a, b);
		high = hn::Max(a, b);
	}

	HWY_INLINE Vector largest() const { return hn::Max(hn::Abs(low), hn::Abs(high)); }

	/** \return how far from zero they keep numbers */
	HWY_INLINE Vector nearest() const
	{
		return hn::Max(hn::Max(low, hn::Neg(high)), hn::Zero(Tag()));
	}

	/** \return what numbers of a smaller magnitude are not clipped */
	HWY_INLINE Vector idle() const { return hn::Min(high, hn::Neg(low)); }
};

/** What an operand in memory becomes: itself times a scale, and an offset */
struct ElementLine {
	double scale = 1;
	double offset = 0;
	bool isExact = true; /* whatever the operand is */
};

inline ElementLine elementLine(const SdpStageRun &run)
{
	const SdpOperand &alu = run.stage->alu;
	const int shift = run.stage->aluShift;
	const double widest = run.stage->read.twoBytes ? -INT16_MIN : -INT8_MIN;
	const int mostShift = run.stage->read.twoBytes ? 31 - 15 : 31 - 7;

	if (!run.aluBytes)
		return {};
	if (!run.isY)
		return { powerOfTwo(std::min(shift, mostShift)), 0, shift <= mostShift };
	if (alu.converterBypass)
		return {};
	const arith::Converter &converter = alu.converter;
	const double scale = converter.scale;
	const double offset = -static_cast<double>(converter.offset) * scale;
	const double largest = std::abs(offset) + widest * std::abs(scale);
	return { scale, offset, converter.shift == 0 && largest < INT32_MAX };
}

/** A vector of channels on its way through the stages: what SdpLine says, in doubles */
struct Channels {
	Vector factor = constant(1);
	Vector offset = constant(0);
	Vector offsets = constant(0); /* of the sums that make the offset, without signs */
	Vector elementFactor = constant(0);
	Bounds first;
	Bounds second; /* behind the elements */
	bool hasElements = false;
	Vector error = constant(0);
	Vector lastError = constant(0); /* of the last rounding, as long as nothing scales it */
	Vector moved = constant(0);	/* not zero: something was added to what was rounded */
	int fractionBits = 0;

	HWY_INLINE Channels() {}

	HWY_INLINE Bounds &bounds() { return hasElements ? second : first; }

	HWY_INLINE void add(Vector operand)
	{
		offset = hn::Add(offset, operand);
		offsets = hn::Add(offsets, hn::Abs(operand));
		moved = hn::MulAdd(lastError, hn::Abs(operand), moved);
		first.move(operand);
		if (hasElements)
			second.move(operand);
	}

	/** What is added to all elements is moved to the front of the first bounds, with these. */
	HWY_INLINE void addElements(const ElementLine &elements)
	{
		add(constant(elements.offset));
		hasElements = true;
		elementFactor = constant(elements.scale);
		moved = hn::Add(moved, lastError);
	}

	/** Multiplier times 2 ^ -shift, and rounding: nothing where that is one */
	HWY_INLINE void multiply(Vector by, int shift)
	{
		const Mask changes = hn::Ne(by, constant(1));
		const Vector magnitude = hn::Abs(by);

		error = hn::IfThenElse(changes, hn::Mul(hn::Add(error, lastError), magnitude),
				       error);
		lastError = hn::IfThenElse(changes, constant(shift > 0 ? 0.5 : 0), lastError);
		factor = hn::Mul(factor, by);
		offset = hn::Mul(offset, by);
		offsets = hn::Mul(offsets, magnitude);
		elementFactor = hn::Mul(elementFactor, by);
		first.scale(by);
		if (hasElements)
			second.scale(by);
		fractionBits += shift;
	}

	HWY_INLINE void clip(double lowest, double highest)
	{
		bounds().clip(constant(lowest), constant(highest));
	}
};

/** A stage's or the converter's numbers for a vector of channels */
HWY_INLINE Vector operandsOf(const SdpOperandRun &run, size_t lane)
{
	return load(run.data + lane);
}

HWY_INLINE void applyAlu(const SdpStageRun &run, size_t lane, Channels &channels)
{
	if (run.stage->alu.bypass)
		return;
	if (run.alu.atomStride) {
		channels.addElements(elementLine(run));
		return;
	}
	const Vector operands = operandsOf(run.alu, lane);
	switch (run.stage->algorithm) {
	case SdpAlu::Max:
		channels.bounds().clip(operands, constant(kUnbounded));
		break;
	case SdpAlu::Min:
		channels.bounds().clip(constant(-kUnbounded), operands);
		break;
	case SdpAlu::Sum:
	case SdpAlu::Equal: /* X has no comparison: its code means the sum */
		channels.add(operands);
		break;
	}
}

HWY_INLINE void applyMultiplier(const SdpStageRun &run, size_t lane, double scale,
				Channels &channels)
{
	const SdpStage &stage = *run.stage;

	if (!stage.mul.bypass)
		channels.multiply(hn::Mul(operandsOf(run.mul, lane), constant(scale)),
				  stage.mulShift);
	else if (!run.isY && stage.mulShift)
		channels.multiply(constant(scale), stage.mulShift);
	channels.clip(INT32_MIN, INT32_MAX);
}

HWY_INLINE void applyStage(const SdpStageRun &run, size_t lane, double scale, Channels &channels)
{
	if (run.isY) {
		applyMultiplier(run, lane, scale, channels);
		applyAlu(run, lane, channels);
		channels.clip(INT32_MIN, INT32_MAX);
		return;
	}
	applyAlu(run, lane, channels);
	applyMultiplier(run, lane, scale, channels);
	if (!run.stage->reluBypass)
		channels.clip(0, kUnbounded);
}

/** \return false if the stage bends the line; \a hasElements: one in front adds elements */
bool isStraight(const SdpStageRun &run, bool &hasElements)
{
	const SdpStage &stage = *run.stage;

	if (!stage.mul.bypass && (stage.prelu || run.mul.atomStride))
		return false;
	if (stage.alu.bypass)
		return true;
	if (run.isY && stage.algorithm == SdpAlu::Equal)
		return false;
	if (!run.alu.atomStride)
		return true;
	if (hasElements || (stage.algorithm != SdpAlu::Sum && stage.algorithm != SdpAlu::Equal))
		return false;
	hasElements = true;
	return elementLine(run).isExact;
}

/** What SdpLine says of all channels, of a vector of them for each lane */
struct Extremes {
	Vector largestFactor = constant(0);
	Vector largestOffset = constant(0);
	Vector largestElementFactor = constant(0);
	Vector largestBound = constant(0);
	Vector nearestBound = constant(0);
	Vector idleBound = constant(kUnbounded);
	Vector lowestHigh = constant(kUnbounded);
	Vector error = constant(0);
	Vector moved = constant(0);

	HWY_INLINE Extremes() {} /* an implicit one has no vectors */
};

HWY_INLINE void raise(Vector &largest, Vector values)
{
	largest = hn::Max(largest, values);
}

HWY_INLINE void lower(Vector &smallest, Vector values)
{
	smallest = hn::Min(smallest, values);
}

HWY_INLINE double largestOf(Vector values)
{
	return hn::GetLane(hn::MaxOfLanes(Tag(), values));
}

HWY_INLINE double smallestOf(Vector values)
{
	return hn::GetLane(hn::MinOfLanes(Tag(), values));
}

/** \return the largest number of an element of the output */
double highestOf(const SdpOp &op)
{
	return op.out == Precision::Int8 ? INT8_MAX : INT16_MAX;
}

/* A straight line that roundings move by more than that leaves too many numbers open. */
constexpr double kMostError = 1.0 / 96;

/** \return straight the line leaves too much open, and Y's product is the last one */
bool mayBend(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes)
{
	if (stages.empty() || op.converter.scale != 1 || op.converter.shift != 0)
		return false;
	const SdpStageRun &last = stages.back();
	if (!last.isY || last.stage->mul.bypass || last.stage->mulShift == 0)
		return false;
	const double factor = *std::max_element(last.mul.data, last.mul.data + lanes) *
			      powerOfTwo(-last.stage->mulShift);
	return 0.5 * factor >= kMostError;
}

/** What Y and the converter do with a channel's whole numbers */
struct Bend {
	double factor;
	double offset; /* of the output */
	double low;
	double high;
	/* The same with what the output clips, which may count as saturation. */
	double lowest;
	double highest;

	/** \param low, high bounds of the line in front */
	Bend(const SdpOp &op, const SdpStageRun &run, size_t lane, double lineLow, double lineHigh)
		: factor(run.mul.data[lane] * powerOfTwo(-run.stage->mulShift)),
		  offset(-static_cast<double>(op.converter.offset)), low(-highestOf(op) - 1),
		  high(highestOf(op)), lowest(lineLow * factor), highest(lineHigh * factor)
	{
		const double operand = run.stage->alu.bypass ? 0 : run.alu.data[lane];

		if (run.stage->alu.bypass || run.stage->algorithm == SdpAlu::Sum) {
			offset += operand;
		} else if (run.stage->algorithm == SdpAlu::Min) {
			lowest = std::min(lowest, operand);
			highest = std::min(highest, operand);
			high = std::clamp(operand + offset, low, high);
		} else {
			lowest = std::max(lowest, operand);
			highest = std::max(highest, operand);
			low = std::clamp(operand + offset, low, high);
		}
		lowest += offset;
		highest += offset;
	}

	/** \return whole numbers have the same results */
	bool isAlike(const Bend &other) const
	{
		return factor == other.factor && offset == other.offset && low == other.low &&
		       high == other.high;
	}

	/** Halves are rounded away from zero. */
	double resultOf(double whole) const
	{
		const double product = whole * factor;
		return std::trunc(product + std::copysign(0.5, product)) + offset;
	}

	/** \return the lowest number whose result is not below the upper bound */
	double wholeHigh() const { return lowestFor(high - offset); }
	/** \return the highest number whose result is not above the lower bound */
	double wholeLow() const { return -lowestFor(offset - low); }

private:
	/** \return the lowest number whose product is not below a whole number when it is rounded;
	 * whether the quotient is whole is exact, as numbers have 32 bits at most */
	double lowestFor(double rounded) const
	{
		const double least = (rounded - 0.5) / factor;
		return rounded > 0 ? std::ceil(least) : std::floor(least) + 1;
	}
};

/** The line's whole numbers beyond which a channel's results are its bounds */
struct BendEnds {
	double low = 0;
	double high = 0;
	bool hasLow = false; /* the lower bound is above the output's */
	bool clips = false;  /* there are bounds other than the results of the ends */

	/** \param highest of the output */
	static BendEnds of(const Bend &bend, double highest)
	{
		BendEnds ends;

		ends.high = bend.wholeHigh();
		ends.low = std::min(bend.wholeLow(), ends.high);
		ends.hasLow = bend.low > -highest - 1;
		ends.clips = (ends.hasLow && bend.resultOf(ends.low) != bend.low) ||
			     (bend.high < highest && bend.resultOf(ends.high) != bend.high);
		return ends;
	}
};

/** \return a whole number not below what a line makes of its lower bound, which is 0 if that is */
double wholeBound(double bound)
{
	return bound == 0 ? 0 : std::ceil(bound + kMostError);
}

/** \return false if Y's numbers are not exact in single precision */
bool bend(const SdpOp &op, const SdpStageRun &last, size_t lanes, SdpLine &line)
{
	constexpr double kMostProduct = 1 << 23; /* with a bit behind the point for halves */
	const double highest = highestOf(op);
	std::optional<Bend> before; /* most channels are like the one before */
	BendEnds ends;
	int32_t largest = 0;

	line.reach = line.largestBound = line.largestBendFactor = line.largestBendOffset = 0;
	line.showsLow = line.clipsBend = false;
	line.bendShift = last.stage->mulShift;
	for (size_t lane = 0; lane < lanes; lane++) {
		if (last.mul.data[lane] <= 0)
			return false;
		const Bend bend(op, last, lane, line.low[lane], line.high[lane]);
		if (!before || !bend.isAlike(*before))
			ends = BendEnds::of(bend, highest);
		before = bend;
		line.clipsBend |= ends.clips;
		line.showsLow |=
			ends.hasLow || bend.resultOf(wholeBound(line.low[lane])) > -highest - 1;
		line.low[lane] = std::clamp(line.low[lane], ends.low, ends.high);
		line.high[lane] = std::clamp(line.high[lane], ends.low, ends.high);
		line.reach = std::max(
			{ line.reach, std::abs(line.low[lane]), std::abs(line.high[lane]) });
		line.bendFactor[lane] = bend.factor;
		line.bendOffset[lane] = static_cast<int32_t>(
			std::clamp<double>(bend.offset, INT32_MIN / 2, INT32_MAX / 2));
		line.bendLow[lane] = static_cast<int32_t>(bend.low);
		line.bendHigh[lane] = static_cast<int32_t>(bend.high);
		line.largestBound = std::max(
			{ line.largestBound, std::abs(bend.lowest), std::abs(bend.highest) });
		line.largestBendFactor = std::max(line.largestBendFactor, bend.factor);
		line.largestBendOffset = std::max(line.largestBendOffset, std::abs(bend.offset));
		largest = std::max(largest, last.mul.data[lane]);
	}
	return line.reach * largest < kMostProduct;
}

/** \param converts the output converter is part of the line */
HWY_INLINE void findOfLanes(const SdpOp &op, std::span<const SdpStageRun> stages,
			    const double *scales, size_t lane, bool converts, SdpLine &line,
			    Extremes &extremes)
{
	Channels channels;

	for (size_t i = 0; i < stages.size(); i++)
		applyStage(stages[i], lane, scales[i], channels);
	if (converts) {
		channels.add(constant(-static_cast<double>(op.converter.offset)));
		channels.multiply(constant(op.converter.scale * powerOfTwo(-op.converter.shift)),
				  op.converter.shift);
	}
	raise(extremes.largestBound, channels.bounds().largest());
	raise(extremes.nearestBound, channels.first.nearest());
	raise(extremes.nearestBound, channels.second.nearest());
	lower(extremes.idleBound, hn::Min(channels.first.idle(), channels.second.idle()));
	if (converts)
		channels.clip(-highestOf(op) - 1, highestOf(op));

	hn::StoreU(channels.factor, Tag(), line.factor + lane);
	hn::StoreU(channels.offset, Tag(), line.offset + lane);
	hn::StoreU(channels.first.low, Tag(), line.low + lane);
	hn::StoreU(channels.first.high, Tag(), line.high + lane);
	hn::StoreU(channels.elementFactor, Tag(), line.elementFactor + lane);
	hn::StoreU(channels.second.low, Tag(), line.lowSum + lane);
	hn::StoreU(channels.second.high, Tag(), line.highSum + lane);
	lower(extremes.lowestHigh, channels.first.high);
	raise(extremes.largestFactor, hn::Abs(channels.factor));
	raise(extremes.largestOffset, channels.offsets);
	raise(extremes.largestElementFactor, hn::Abs(channels.elementFactor));
	raise(extremes.error, channels.error);
	raise(extremes.moved, channels.moved);
	line.fractionBits = channels.fractionBits;
}

void findOfStages(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes, bool converts,
		  SdpLine &line)
{
	double scales[sdp::kMostStages];
	Extremes extremes;

	for (size_t i = 0; i < stages.size(); i++)
		scales[i] = powerOfTwo(-stages[i].stage->mulShift);
	for (size_t lane = 0; lane < lanes; lane += sdp::kLanes)
		findOfLanes(op, stages, scales, lane, converts, line, extremes);
	line.endsRounded = largestOf(extremes.moved) == 0;
	line.largestFactor = largestOf(extremes.largestFactor);
	line.largestOffset = largestOf(extremes.largestOffset);
	line.largestElementFactor = largestOf(extremes.largestElementFactor);
	line.largestBound = largestOf(extremes.largestBound);
	line.nearestBound = largestOf(extremes.nearestBound);
	line.idleBound = smallestOf(extremes.idleBound);
	line.lowestHigh = smallestOf(extremes.lowestHigh);
	line.error = largestOf(extremes.error);
}

bool find(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes, SdpLine &line)
{
	bool hasElements = false;

	line.elementStage = -1;
	for (size_t i = 0; i < stages.size(); i++) {
		const bool before = hasElements;
		if (!isStraight(stages[i], hasElements))
			return false;
		if (hasElements != before)
			line.elementStage = static_cast<int>(i);
	}
	line.bends = !hasElements && mayBend(op, stages, lanes);
	if (line.bends) {
		findOfStages(op, stages.first(stages.size() - 1), lanes, false, line);
		line.bends = bend(op, stages.back(), lanes, line);
	}
	if (!line.bends)
		findOfStages(op, stages, lanes, true, line);
	return true;
}

} /* namespace line */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */
