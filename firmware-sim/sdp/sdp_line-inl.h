/* SPDX-License-Identifier: MIT */
/*
 * sdp_line.h in vectors, for files that are compiled once for each instruction set (Highway).
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

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

/* No number of SDP is as large, and its product with any multiplier is finite. */
constexpr double kUnbounded = 0x1p100;

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
};

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

	HWY_INLINE void addElements()
	{
		hasElements = true;
		elementFactor = constant(1);
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
	return true;
}

double powerOfTwo(int exponent)
{
	return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}

HWY_INLINE void storeSingle(Vector values, float *to)
{
	const hn::Rebind<float, Tag> tag;

	hn::StoreU(hn::DemoteTo(tag, values), tag, to);
}

HWY_INLINE void raise(double &largest, Vector values)
{
	largest = std::max(largest, hn::GetLane(hn::MaxOfLanes(Tag(), values)));
}

/** \return the largest number of an element of the output */
double highestOf(const SdpOp &op)
{
	return op.out == Precision::Int8 ? INT8_MAX : INT16_MAX;
}

void findOfLanes(const SdpOp &op, std::span<const SdpStageRun> stages, const double *scales,
		 size_t lane, SdpLine &line)
{
	Channels channels;
	double moved = 0;

	for (size_t i = 0; i < stages.size(); i++)
		applyStage(stages[i], lane, scales[i], channels);
	channels.add(constant(-static_cast<double>(op.converter.offset)));
	channels.multiply(constant(op.converter.scale * powerOfTwo(-op.converter.shift)),
			  op.converter.shift);
	raise(line.largestBound, channels.bounds().largest());
	raise(line.nearestBound, channels.first.nearest());
	raise(line.nearestBound, channels.second.nearest());
	channels.clip(-highestOf(op) - 1, highestOf(op));

	storeSingle(channels.factor, line.factor + lane);
	storeSingle(channels.offset, line.offset + lane);
	storeSingle(channels.first.low, line.low + lane);
	storeSingle(channels.first.high, line.high + lane);
	storeSingle(channels.elementFactor, line.elementFactor + lane);
	storeSingle(channels.second.low, line.lowSum + lane);
	storeSingle(channels.second.high, line.highSum + lane);
	raise(line.largestFactor, hn::Abs(channels.factor));
	raise(line.largestOffset, channels.offsets);
	raise(line.largestElementFactor, hn::Abs(channels.elementFactor));
	raise(line.error, channels.error);
	raise(moved, channels.moved);
	line.fractionBits = channels.fractionBits;
	line.endsRounded &= moved == 0;
}

bool find(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes, SdpLine &line)
{
	double scales[sdp::kMostStages];
	bool hasElements = false;

	line.elementStage = -1;
	line.endsRounded = true;
	line.largestFactor = line.largestOffset = line.largestElementFactor = 0;
	line.largestBound = line.nearestBound = line.error = 0;
	for (size_t i = 0; i < stages.size(); i++) {
		const bool before = hasElements;
		if (!isStraight(stages[i], hasElements))
			return false;
		if (hasElements != before)
			line.elementStage = static_cast<int>(i);
		scales[i] = powerOfTwo(-stages[i].stage->mulShift);
	}
	for (size_t lane = 0; lane < lanes; lane += sdp::kLanes)
		findOfLanes(op, stages, scales, lane, line);
	return true;
}

/* Single precision. The smallest atom has one of the largest vectors. */
using SingleTag = hn::CappedTag<float, 16>;
using NumberTag = hn::Rebind<int32_t, SingleTag>;
using Single = hn::Vec<SingleTag>;
using Numbers = hn::Vec<NumberTag>;
constexpr size_t kSingles = hn::MaxLanes(SingleTag());

/** What is known of the numbers of a run */
struct Run {
	const SdpOp &op;
	const SdpLine &line;
	std::span<const SdpStageRun> stages;
	size_t lanes;
	std::span<const int32_t> in;
	const int32_t *elements; /* null: none */
	bool exact;		 /* all numbers are, and halves are rounded away from zero */
	float nudge;		 /* exact: takes halves, and nothing else, over the edge */
	float certain;		 /* else: farther from a whole number the rounding is not certain */

	/** \return false if numbers are too large, or something may saturate */
	bool set();
	/** \return what no input is larger than */
	double largestInput() const;
	/** \return the same of the elements; 0 without any */
	double largestElement() const;
	/** The readable way for one number */
	int32_t compute(size_t at) const;
};

double Run::largestInput() const
{
	/* Of bytes the largest is close to what networks have. */
	if (!op.flying && op.in == Precision::Int8)
		return -INT8_MIN;
	return sdp::largestOf(in.data(), in.size());
}

double Run::largestElement() const
{
	if (!elements)
		return 0;
	const SdpStageRun &run = stages[line.elementStage];
	const SdpOperand &alu = run.stage->alu;
	if (!alu.fromMemory || run.stage->read.twoBytes)
		return sdp::largestOf(elements, in.size());
	if (!run.isY)
		return std::min(-INT8_MIN * powerOfTwo(run.stage->aluShift), sdp::kBits32);
	if (alu.converterBypass)
		return -INT8_MIN;
	const double moved = std::abs(static_cast<double>(alu.converter.offset)) - INT8_MIN;
	const double scale = std::abs(alu.converter.scale) * powerOfTwo(-alu.converter.shift);
	return std::min(moved * scale + 1, sdp::kBits32);
}

bool Run::set()
{
	constexpr double kSaturates = 65000;  /* and more */
	constexpr double kRounding = 0x1p-21; /* eight roundings of single precision */
	constexpr double kWholeNumbers = 0x1p23;
	constexpr double kMostError = 1.0 / 96;
	const double product = line.largestFactor * largestInput();
	const double element = line.largestElementFactor * largestElement();
	const double largest = std::max(product + line.largestOffset, line.nearestBound) + element;

	if (std::min(largest, line.largestBound) > kSaturates)
		return false;
	exact = line.endsRounded && line.error == 0 && line.fractionBits < 23 &&
		largest * powerOfTwo(line.fractionBits) < kWholeNumbers;
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

int32_t Run::compute(size_t at) const
{
	SdpCounters none; /* nothing saturates */
	const auto operandAt = [&](const SdpOperandRun &run) {
		const size_t index = run.atomStride ? at : at % lanes;
		return SdpOperandRun{ run.data ? run.data + index : nullptr, 0 };
	};
	int32_t value = in[at];

	for (const SdpStageRun &run : stages)
		(run.isY ? applySdpY : applySdpX)(*run.stage, op.proc, { &value, 1 }, 1,
						  operandAt(run.alu), operandAt(run.mul));
	convertSdpOutput(op, { &value, 1 }, none);
	return value;
}

HWY_INLINE Single clipped(Single value, Single low, Single high)
{
	return hn::Min(hn::Max(value, low), high);
}

/* Those of the readable way, in the place of the numbers whose rounding is not certain */
Numbers repaired(const Run &run, size_t at, Numbers numbers, hn::Mask<SingleTag> wrong)
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

/** \return false if too many numbers were repaired; \a lane: first one of a vector of channels */
template<typename Element>
bool storeLanes(const Run &run, size_t lane, Element *out, Numbers &any)
{
	const SingleTag tag;
	const NumberTag numberTag;
	const hn::Rebind<Element, SingleTag> elementTag;
	const SdpLine &line = run.line;
	const Single factor = hn::LoadU(tag, line.factor + lane);
	const Single offset = hn::LoadU(tag, line.offset + lane);
	const Single low = hn::LoadU(tag, line.low + lane);
	const Single high = hn::LoadU(tag, line.high + lane);
	const Single elementFactor = hn::LoadU(tag, line.elementFactor + lane);
	const Single lowSum = hn::LoadU(tag, line.lowSum + lane);
	const Single highSum = hn::LoadU(tag, line.highSum + lane);
	const Single nudge = hn::Set(tag, run.nudge);
	const Single certain = hn::Set(tag, run.certain);
	/* In a sum with it numbers of 22 bits are whole, its low bits theirs. */
	const Single whole = hn::Set(tag, 0x1.8p23F);
	const Numbers wholeBits = hn::BitCast(numberTag, whole);
	Numbers all = any;
	size_t budget = run.in.size() / run.lanes / 4 + 4; /* vectors to repair */

	for (size_t at = lane; at < run.in.size(); at += run.lanes) {
		const Single in = hn::ConvertTo(tag, hn::LoadU(numberTag, &run.in[at]));
		Single value = clipped(hn::MulAdd(in, factor, offset), low, high);
		if (run.elements) {
			const Single element =
				hn::ConvertTo(tag, hn::LoadU(numberTag, run.elements + at));
			value = clipped(hn::MulAdd(element, elementFactor, value), lowSum, highSum);
		}
		if (run.exact)
			value = hn::Add(value, hn::CopySign(nudge, value));
		const Single sum = hn::Add(value, whole);
		Numbers numbers = hn::Sub(hn::BitCast(numberTag, sum), wholeBits);
		if (!run.exact) {
			const auto wrong =
				hn::Ge(hn::Abs(hn::Sub(value, hn::Sub(sum, whole))), certain);
			if (HWY_UNLIKELY(!hn::AllFalse(tag, wrong))) {
				if (budget-- == 0)
					return false;
				numbers = repaired(run, at, numbers, wrong);
			}
		}
		all = hn::Or(all, numbers);
		hn::StoreU(hn::DemoteTo(elementTag, numbers), elementTag, out + at);
	}
	any = all;
	return true;
}

template<typename Element>
bool storeAs(const Run &run, std::byte *bytes, SdpCounters &counters)
{
	const NumberTag tag;
	Numbers any = hn::Zero(tag);

	for (size_t lane = 0; lane < run.lanes; lane += kSingles)
		if (!storeLanes(run, lane, reinterpret_cast<Element *>(bytes), any))
			return false;
	counters.nonZero |= !hn::AllTrue(tag, hn::Eq(any, hn::Zero(tag)));
	return true;
}

bool store(const SdpOp &op, const SdpLine &line, std::span<const SdpStageRun> stages, size_t lanes,
	   std::span<const int32_t> in, std::byte *bytes, SdpCounters &counters)
{
	const int32_t *elements =
		line.elementStage < 0 ? nullptr : stages[line.elementStage].alu.data;
	Run run = { op, line, stages, lanes, in, elements, false, 0, 0 };

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
