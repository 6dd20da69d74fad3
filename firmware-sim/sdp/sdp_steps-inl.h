/* SPDX-License-Identifier: MIT */
/*
 * SDP's integer stages on vectors of doubles, for files that are compiled once for each
 * instruction set (Highway). A block of values (several atoms on hosts with many registers) stays
 * in registers from the first stage to the last.
 */
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "sdp/sdp_fast.h"

#ifndef NVDLA_SIM_SDP_STEPS_ONCE
#define NVDLA_SIM_SDP_STEPS_ONCE

namespace nvdla::sim
{

/* The most values of a block: whole atoms, or a part of the smallest atom. */
inline constexpr size_t kMostOfBlock = 64;
/* Most magnitude bits of a multiplier with exact products. Only Y's multiplier may have more. */
inline constexpr unsigned kMultiplierBits = 20;

} /* namespace nvdla::sim */

#endif

/* An include guard that lets the file be included once for each instruction set. */
#if defined(NVDLA_SIM_SDP_STEPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_STEPS_INL_H
#undef NVDLA_SIM_SDP_STEPS_INL_H
#else
#define NVDLA_SIM_SDP_STEPS_INL_H
#endif

/* Only for targets whose vectors have a fixed size, with doubles. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && HWY_HAVE_FLOAT64

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
namespace sdp
{

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

constexpr size_t kMostStages = 3;
constexpr double kBits32 = 2147483648.0;
constexpr size_t kLanes = hn::MaxLanes(Tag());

/*
 * Operations of the ALU and the multiplier, as types for templates.
 */
struct Maximum {
	static HWY_INLINE Vector apply(Vector value, Vector operand)
	{
		return hn::Max(value, operand);
	}
};

struct Minimum {
	static HWY_INLINE Vector apply(Vector value, Vector operand)
	{
		return hn::Min(value, operand);
	}
};

struct Sum {
	static HWY_INLINE Vector apply(Vector value, Vector operand)
	{
		return hn::Add(value, operand);
	}
};

struct Unequal {
	static HWY_INLINE Vector apply(Vector value, Vector operand)
	{
		return hn::IfThenElseZero(hn::Ne(value, operand), constant(1.0));
	}
};

struct Multiply {
	static HWY_INLINE Vector apply(Vector value, Vector factor)
	{
		return roundAway(hn::Mul(value, factor));
	}
};

/* Multiplies negative numbers only. */
struct Prelu {
	static HWY_INLINE Vector apply(Vector value, Vector factor)
	{
		return hn::IfThenElse(hn::Lt(value, hn::Zero(Tag())),
				      clip(Multiply::apply(value, factor), INT32_MIN, INT32_MAX),
				      value);
	}
};

/** \return the lower 32 bits, as a signed number, of a non-negative sum of 33 bits */
HWY_INLINE Vector wrapped(Vector value)
{
	return hn::IfThenElse(hn::Gt(value, constant(INT32_MAX)),
			      hn::Sub(value, constant(4294967296.0)), value);
}

/** \return the largest magnitude of \a count values, whole atoms */
template<typename Value>
double largestOf(const Value *values, size_t count)
{
	const hn::CappedTag<int32_t, 16> tag;
	const hn::Rebind<Value, decltype(tag)> valueTag;
	auto highest = hn::Zero(tag);
	auto lowest = hn::Zero(tag);

	for (size_t i = 0; i < count; i += hn::Lanes(tag)) {
		const auto raw = hn::LoadU(valueTag, values + i);
		hn::Vec<decltype(tag)> value;
		if constexpr (sizeof(Value) < sizeof(int32_t))
			value = hn::PromoteTo(tag, raw);
		else
			value = raw;
		highest = hn::Max(highest, value);
		lowest = hn::Min(lowest, value);
	}
	return std::max<double>(hn::GetLane(hn::MaxOfLanes(tag, highest)),
				-static_cast<double>(hn::GetLane(hn::MinOfLanes(tag, lowest))));
}

/** Operands of a stage: doubles for each channel, or integers for each element */
struct StepOperands {
	double channels[kMostOfBlock]; /* repeated for each atom of a block */
	const int32_t *elements = nullptr;
	double scale = 1; /* factor for the integers; channels[] include it */
	double largest;	  /* largest magnitude of the operands */

	/** \param values number of values of the run */
	void set(const SdpOperandRun &run, size_t lanes, size_t values, double scaleOf)
	{
		scale = scaleOf;
		if (run.atomStride) {
			elements = run.data;
			largest = scale * largestOf(elements, values);
			return;
		}
		Vector most = hn::Zero(Tag());
		for (size_t lane = 0; lane < lanes; lane += kLanes) {
			const Vector value = hn::Mul(load(run.data + lane), constant(scale));
			for (size_t at = lane; at < kMostOfBlock; at += lanes)
				hn::StoreU(value, Tag(), channels + at);
			most = hn::Max(most, hn::Abs(value));
		}
		largest = hn::GetLane(hn::MaxOfLanes(Tag(), most));
	}

	void setAll(double value)
	{
		std::fill(std::begin(channels), std::end(channels), value);
		largest = value;
	}
};

/** An ALU or multiplier operation of a stage, and the clipping of its results */
struct Step {
	enum class Unit : uint8_t { None, Maximum, Minimum, Sum, Unequal, Multiply, Prelu };

	Unit unit = Unit::None;
	bool clips = false;
	bool relu = false;
	bool wraps = false; /* PReLU: numbers that are not multiplied wrap to 32 bits */
	StepOperands operands;
};

/** Some vectors of values, which stay in registers */
template<size_t... kIndex>
struct Block {
	static constexpr size_t kVectors = sizeof...(kIndex);

	Vector values[kVectors];
	Vector operands[kVectors];

	HWY_INLINE explicit Block(const int32_t *in) : values{ load(in + kIndex * kLanes)... } {}

	template<typename Function>
	HWY_INLINE void each()
	{
		((values[kIndex] = Function::apply(values[kIndex], operands[kIndex])), ...);
	}

	HWY_INLINE void take(const StepOperands &from, size_t at)
	{
		if (!from.elements) {
			const double *channels = from.channels + at % kMostOfBlock;
			((operands[kIndex] = hn::LoadU(Tag(), channels + kIndex * kLanes)), ...);
			return;
		}
		const int32_t *elements = from.elements + at;
		((operands[kIndex] =
			  hn::Mul(load(elements + kIndex * kLanes), constant(from.scale))),
		 ...);
	}

	/** \param at index of the block's first value in the run */
	HWY_INLINE void apply(const Step &step, size_t at)
	{
		if (step.unit != Step::Unit::None)
			take(step.operands, at);
		switch (step.unit) {
		case Step::Unit::None:
			break;
		case Step::Unit::Maximum:
			each<Maximum>();
			break;
		case Step::Unit::Minimum:
			each<Minimum>();
			break;
		case Step::Unit::Sum:
			each<Sum>();
			break;
		case Step::Unit::Unequal:
			each<Unequal>();
			break;
		case Step::Unit::Multiply:
			each<Multiply>();
			break;
		case Step::Unit::Prelu:
			each<Prelu>();
			break;
		}
		if (step.clips)
			((values[kIndex] = clip(values[kIndex], INT32_MIN, INT32_MAX)), ...);
		if (step.relu)
			((values[kIndex] = hn::Max(values[kIndex], hn::Zero(Tag()))), ...);
		if (step.wraps)
			((values[kIndex] = wrapped(values[kIndex])), ...);
	}

	/** \param out called with the index of the block's first value, and the vectors */
	template<typename Output>
	HWY_INLINE void put(Output &out, size_t at) const
	{
		out(at, values[kIndex]...);
	}
};

/** The ALU and multiplier operations of all stages, in order, and their input */
class Steps
{
public:
	Steps(size_t lanes, std::span<const int32_t> in) : lanes_(lanes), in_(in) {}

	/** \return false if vectors do not support the stages */
	bool set(std::span<const SdpStageRun> stages)
	{
		const auto isEach = [&](const SdpOperandRun &operands) {
			return operands.atomStride == 0 || operands.atomStride == lanes_;
		};
		if (lanes_ % (2 * kLanes))
			return false;
		largest_ = largestOf(in_.data(), in_.size());
		for (const SdpStageRun &run : stages) {
			if (!isEach(run.alu) || !isEach(run.mul) || !multiplierFits(run))
				return false;
			add(run);
		}
		return true;
	}

	std::span<const int32_t> in() const { return in_; }

	template<typename Block>
	HWY_INLINE void apply(Block &block, size_t at) const
	{
		for (size_t i = 0; i < count_; i++)
			block.apply(steps_[i], at);
	}

private:
	/* Adds ALU and multiplier of a stage. Results are clipped if they may exceed 32 bits. */
	void add(const SdpStageRun &run)
	{
		Step &first = steps_[count_++];
		Step &second = steps_[count_++];

		if (run.isY) {
			setMultiplier(first, run);
			setAlu(second, run);
			second.clips = clips();
		} else {
			setAlu(first, run);
			setMultiplier(second, run);
			second.relu = !run.stage->reluBypass;
		}
	}

	/** \return true if numbers may exceed 32 bits; they fit after the clipping */
	bool clips()
	{
		const bool out = largest_ > INT32_MAX;
		largest_ = std::min(largest_, kBits32);
		return out;
	}

	void setAlu(Step &step, const SdpStageRun &run)
	{
		if (run.stage->alu.bypass)
			return;
		step.unit = aluOf(run);
		step.operands.set(run.alu, lanes_, in_.size(), 1);
		largest_ += step.operands.largest;
	}

	static Step::Unit aluOf(const SdpStageRun &run)
	{
		switch (run.stage->algorithm) {
		case SdpAlu::Max:
			return Step::Unit::Maximum;
		case SdpAlu::Min:
			return Step::Unit::Minimum;
		case SdpAlu::Equal:
			/* X has no compare mode: there, the code of Equal selects the sum. */
			return run.isY ? Step::Unit::Unequal : Step::Unit::Sum;
		case SdpAlu::Sum:
			break;
		}
		return Step::Unit::Sum;
	}

	/* X truncates even if its multiplier is bypassed. */
	void setMultiplier(Step &step, const SdpStageRun &run)
	{
		const SdpStage &stage = *run.stage;
		const double scale = std::ldexp(1.0, -stage.mulShift);

		if (!stage.mul.bypass) {
			step.unit = stage.prelu ? Step::Unit::Prelu : Step::Unit::Multiply;
			step.operands.set(run.mul, lanes_, in_.size(), scale);
		} else if (!run.isY && stage.mulShift) {
			step.unit = Step::Unit::Multiply;
			step.operands.setAll(scale);
		}
		if (step.unit == Step::Unit::Prelu) {
			/* PReLU clips its products itself. */
			step.wraps = largest_ > INT32_MAX;
			largest_ = kBits32;
			return;
		}
		if (step.unit != Step::Unit::None)
			largest_ = largest_ * step.operands.largest + 1;
		step.clips = clips();
	}

	/** \return true if the multiplier's products with 32-bit numbers are exact in doubles */
	bool multiplierFits(const SdpStageRun &run) const
	{
		const size_t count = run.mul.atomStride ? in_.size() : lanes_;
		uint32_t all = 0;

		if (!run.isY || run.stage->mul.bypass || in_.empty())
			return true;
		for (size_t i = 0; i < count; i++)
			all |= static_cast<uint32_t>(run.mul.data[i] ^ (run.mul.data[i] >> 31));
		return all >> kMultiplierBits == 0;
	}

	Step steps_[2 * kMostStages];
	size_t count_ = 0;
	const size_t lanes_;
	const std::span<const int32_t> in_;
	double largest_ = 0; /* bound of the numbers' magnitudes after the last step added */
};

/* Number of vectors of a block; the host's other vector registers are for operands. */
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr size_t kBlockVectors = 8;
#else
constexpr size_t kBlockVectors = 4;
#endif

/**
 * Processes whole blocks of as many vectors as \a kIndex has, from value \a at on.
 * \return the index of the first value after them
 */
template<typename Output, size_t... kIndex>
size_t blocksFrom(size_t at, const Steps &steps, Output &out, std::index_sequence<kIndex...>)
{
	constexpr size_t kValues = sizeof...(kIndex) * kLanes;

	for (; at + kValues <= steps.in().size(); at += kValues) {
		Block<kIndex...> block(&steps.in()[at]);
		steps.apply(block, at);
		block.put(out, at);
	}
	return at;
}

template<typename Output>
void forEachBlock(const Steps &steps, Output &out)
{
	const size_t rest = blocksFrom(0, steps, out, std::make_index_sequence<kBlockVectors>());

	/* No values remain after blocks of two vectors: even the smallest atom fills two. */
	blocksFrom(rest, steps, out, std::make_index_sequence<2>());
}

} /* namespace sdp */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */
