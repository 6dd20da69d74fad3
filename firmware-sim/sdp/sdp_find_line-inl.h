/* SPDX-License-Identifier: MIT */
/*
 * findSdpLine() in vectors, for files that are compiled once for each instruction set (Highway).
 */
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "sdp/sdp_line.h"
#include "sdp/sdp_steps-inl.h"

/* An include guard that lets the file be included once for each instruction set. */
#if defined(NVDLA_SIM_SDP_FIND_LINE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_FIND_LINE_INL_H
#undef NVDLA_SIM_SDP_FIND_LINE_INL_H
#else
#define NVDLA_SIM_SDP_FIND_LINE_INL_H
#endif

/* Only for targets whose vectors have a fixed size, with doubles. */
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

/* Stands for infinity: larger than all numbers of SDP; products with it are finite. */
constexpr double kUnbounded = 0x1p100;

inline double powerOfTwo(int exponent)
{
	return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}

/** Lower and upper bounds of real numbers, for a vector of channels */
struct Bounds {
	Vector low = constant(-kUnbounded);
	Vector high = constant(kUnbounded);

	HWY_INLINE Bounds() {} /* an implicit one would be compiled without vectors */

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

	/** \return the smallest magnitude within the bounds */
	HWY_INLINE Vector nearest() const
	{
		return hn::Max(hn::Max(low, hn::Neg(high)), hn::Zero(Tag()));
	}
};

/** Lines of a vector of channels up to some stage: the members of SdpLine, in doubles */
struct Channels {
	Vector factor = constant(1);
	Vector offset = constant(0);
	Vector offsets = constant(0); /* sum of the magnitudes that add up to the offset */
	Vector elementFactor = constant(0);
	Bounds first;
	Bounds second; /* bounds after the elements are added */
	bool hasElements = false;
	Vector error = constant(0);
	Vector lastError = constant(0); /* error of the last rounding, until multiply() adds it */
	Vector moved = constant(0);	/* nonzero if a stage adds after rounding */
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

	HWY_INLINE void addElements()
	{
		hasElements = true;
		elementFactor = constant(1);
		moved = hn::Add(moved, lastError);
	}

	/** Multiplies by \a by, which includes 2 ^ -shift, and rounds. Channels with a factor of 1
	 * do not change */
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

/** A stage's operands for a vector of channels */
HWY_INLINE Vector operandsOf(const SdpOperandRun &run, size_t lane)
{
	return load(run.data + lane);
}

HWY_INLINE void applyAlu(const SdpStageRun &run, size_t lane, Channels &channels)
{
	if (run.stage->alu.bypass)
		return;
	if (run.alu.atomStride) {
		channels.addElements();
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
	case SdpAlu::Equal: /* X has no compare mode: the code of Equal selects the sum */
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

/** \return false if the stage is not linear; sets \a hasElements if the stage adds elements */
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
	return hasElements = true;
}

/** Maxima of SdpLine over all channels, a vector with one channel in each lane */
struct Extremes {
	Vector largestFactor = constant(0);
	Vector largestOffset = constant(0);
	Vector largestElementFactor = constant(0);
	Vector largestBound = constant(0);
	Vector nearestBound = constant(0);
	Vector error = constant(0);
	Vector moved = constant(0);

	HWY_INLINE Extremes() {} /* an implicit one would be compiled without vectors */
};

HWY_INLINE void raise(Vector &largest, Vector values)
{
	largest = hn::Max(largest, values);
}

HWY_INLINE double largestOf(Vector values)
{
	return hn::GetLane(hn::MaxOfLanes(Tag(), values));
}

/** \return the largest number that an output element can hold */
double highestOf(const SdpOp &op)
{
	return op.out == Precision::Int8 ? INT8_MAX : INT16_MAX;
}

struct Range {
	double low;
	double high;

	/** \brief Set a bound below which (\a isLow) or above which there is no number */
	void limit(bool isLow, double bound)
	{
		low = isLow ? std::max(low, bound) : std::min(low, bound);
		high = isLow ? std::max(high, bound) : std::min(high, bound);
	}
};

/* Largest error, in steps of the result, with which few enough results of a line are uncertain. */
constexpr double kMostError = 1.0 / 96;

/** \return true if the line should end before Y: Y has the last multiplier, and the rounding before
 * Y would leave too many results uncertain */
bool mayBend(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes)
{
	constexpr int kMostShift = 30; /* largest shift of products of 32 bits */
	if (stages.empty() || op.converter.scale != 1 || op.converter.shift != 0)
		return false;
	const SdpStageRun &last = stages.back();
	if (!last.isY || last.stage->mul.bypass || last.stage->mulShift == 0 ||
	    last.stage->mulShift > kMostShift)
		return false;
	const double factor = *std::max_element(last.mul.data, last.mul.data + lanes) *
			      powerOfTwo(-last.stage->mulShift);
	return 0.5 * factor >= kMostError;
}

/**
 * \brief Let the line end before Y, whose input is then rounded to whole numbers
 * \return false if Y's products do not fit 32 bits
 */
bool bend(const SdpOp &op, const SdpStageRun &last, size_t lanes, SdpLine &line)
{
	constexpr double kMostProduct = 1 << 30; /* including the half that is added for rounding */
	constexpr double kMostOffset = 1 << 30;
	const double highest = highestOf(op);
	const bool adds = last.stage->algorithm == SdpAlu::Sum;
	double mostProduct = 0;

	line.reach = line.largestBound = line.largestBendFactor = line.largestBendOffset = 0;
	line.bendShift = last.stage->mulShift;
	for (size_t lane = 0; lane < lanes; lane++) {
		const double multiplier = last.mul.data[lane];
		const double factor = multiplier * powerOfTwo(-line.bendShift);
		const double operand = last.stage->alu.bypass ? 0 : last.alu.data[lane];
		const double offset = (last.stage->alu.bypass || adds ? operand : 0) -
				      static_cast<double>(op.converter.offset);
		Range bounds = { line.low[lane] * factor, line.high[lane] * factor };
		Range results = { -highest - 1, highest };

		if (multiplier <= 0)
			return false;
		if (!last.stage->alu.bypass && !adds) {
			const bool isLow = last.stage->algorithm == SdpAlu::Max;
			bounds.limit(isLow, operand);
			results.limit(isLow, std::clamp(operand + offset, -highest - 1, highest));
		}
		/* Numbers beyond these limits are clipped to the bounds of results anyway. */
		const double lowest =
			std::floor((std::min(results.low - offset, 0.0) - 1) / factor);
		const double most = std::ceil((std::max(results.high - offset, 0.0) + 1) / factor);
		line.low[lane] = std::clamp(line.low[lane], lowest, most);
		line.high[lane] = std::clamp(line.high[lane], lowest, most);
		const double reach = std::max(std::abs(line.low[lane]), std::abs(line.high[lane]));
		line.bendMultiplier[lane] = last.mul.data[lane];
		line.bendOffset[lane] =
			static_cast<int32_t>(std::clamp(offset, -kMostOffset, kMostOffset));
		line.bendLow[lane] = static_cast<int32_t>(results.low);
		line.bendHigh[lane] = static_cast<int32_t>(results.high);
		line.reach = std::max(line.reach, reach);
		mostProduct = std::max(mostProduct, reach * multiplier);
		line.largestBound = std::max({ line.largestBound, std::abs(bounds.low + offset),
					       std::abs(bounds.high + offset) });
		line.largestBendFactor = std::max(line.largestBendFactor, factor);
		line.largestBendOffset = std::max(line.largestBendOffset, std::abs(offset));
	}
	return mostProduct < kMostProduct;
}

/** \param converts true if the output converter is part of the line */
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
	if (converts)
		channels.clip(-highestOf(op) - 1, highestOf(op));

	hn::StoreU(channels.factor, Tag(), line.factor + lane);
	hn::StoreU(channels.offset, Tag(), line.offset + lane);
	hn::StoreU(channels.first.low, Tag(), line.low + lane);
	hn::StoreU(channels.first.high, Tag(), line.high + lane);
	hn::StoreU(channels.elementFactor, Tag(), line.elementFactor + lane);
	hn::StoreU(channels.second.low, Tag(), line.lowSum + lane);
	hn::StoreU(channels.second.high, Tag(), line.highSum + lane);
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
	line.error = largestOf(extremes.error);
	line.reach = highestOf(op) + 1;
	line.largestBendFactor = 1;
	line.largestBendOffset = 0;
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
