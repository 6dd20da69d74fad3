/* SPDX-License-Identifier: MIT */
/*
 * SDP's integer stages on vectors of doubles, for files that are compiled once for each
 * instruction set (Highway). A block of an atom stays in registers from the first stage to the
 * last.
 */
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <hwy/highway.h>

#include "arith/doubles-inl.h"
#include "sdp/sdp_fast.h"

#ifndef NVDLA_SIM_SDP_STEPS_ONCE
#define NVDLA_SIM_SDP_STEPS_ONCE

namespace nvdla::sim
{

/* What a stage without operands points at: as many as the largest atom has lanes. */
inline constexpr int32_t kNoOperands[32] = {};

} /* namespace nvdla::sim */

#endif

/* Once for each instruction set. */
#if defined(NVDLA_SIM_SDP_STEPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_SDP_STEPS_INL_H
#undef NVDLA_SIM_SDP_STEPS_INL_H
#else
#define NVDLA_SIM_SDP_STEPS_INL_H
#endif

/* Vectors of a known size, with doubles. */
#if HWY_HAVE_FLOAT64 && !HWY_HAVE_SCALABLE

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
constexpr size_t kLanes = hn::MaxLanes(Tag());

/*
 * The ALU, as a type.
 */
struct Maximum {
	static HWY_INLINE Vector apply(Vector value, const int32_t *operand)
	{
		return hn::Max(value, load(operand));
	}
};

struct Minimum {
	static HWY_INLINE Vector apply(Vector value, const int32_t *operand)
	{
		return hn::Min(value, load(operand));
	}
};

struct Sum {
	static HWY_INLINE Vector apply(Vector value, const int32_t *operand)
	{
		return hn::Add(value, load(operand));
	}
};

struct Unequal {
	static HWY_INLINE Vector apply(Vector value, const int32_t *operand)
	{
		return hn::IfThenElseZero(hn::Ne(value, load(operand)), constant(1.0));
	}
};

/** What comes behind the ALU of X, or in front of that of Y */
struct Scaling {
	double scale;  /* 2 ^ -shift */
	double lowest; /* of the result: 0 with ReLU */

	HWY_INLINE Vector clipped(Vector value) const { return clip(value, lowest, INT32_MAX); }
	HWY_INLINE Vector rounded(Vector value) const
	{
		return clipped(roundAway(hn::Mul(value, constant(scale))));
	}
};

struct Clip {
	static HWY_INLINE Vector apply(Vector value, const int32_t *, const Scaling &scaling)
	{
		return scaling.clipped(value);
	}
};

struct Shift {
	static HWY_INLINE Vector apply(Vector value, const int32_t *, const Scaling &scaling)
	{
		return scaling.rounded(value);
	}
};

struct Multiply {
	static HWY_INLINE Vector apply(Vector value, const int32_t *operand, const Scaling &scaling)
	{
		return scaling.rounded(hn::Mul(value, load(operand)));
	}
};

/* A sum that is not negative stays as it is, of its 33 bits the lower 32. Y's have no more. */
struct Prelu {
	static HWY_INLINE Vector apply(Vector value, const int32_t *operand, const Scaling &scaling)
	{
		const Vector wrapped =
			hn::IfThenElse(hn::Gt(value, constant(INT32_MAX)),
				       hn::Sub(value, constant(4294967296.0)), value);
		return hn::IfThenElse(hn::Lt(value, hn::Zero(Tag())),
				      Multiply::apply(value, operand, scaling), wrapped);
	}
};

/** A stage, ready for vectors */
struct Step {
	enum class Alu : uint8_t { None, Maximum, Minimum, Sum, Unequal };
	enum class Multiplier : uint8_t { None, Clip, Shift, Multiply, Prelu };

	bool isY = false;
	Alu alu = Alu::None;
	Multiplier multiplier = Multiplier::None;
	SdpOperandRun aluRun = { kNoOperands, 0 };
	SdpOperandRun mulRun = { kNoOperands, 0 };
	Scaling scaling = {};

	Step() = default;

	explicit Step(const SdpStageRun &run) : isY(run.isY)
	{
		const SdpStage &stage = *run.stage;

		if (!stage.alu.bypass) {
			alu = aluOf(stage.algorithm);
			aluRun = run.alu;
		}
		if (!stage.mul.bypass) {
			multiplier = stage.prelu ? Multiplier::Prelu : Multiplier::Multiply;
			mulRun = run.mul;
		} else if (!isY) {
			multiplier = stage.mulShift ? Multiplier::Shift : Multiplier::Clip;
		}
		scaling = { std::ldexp(1.0, -stage.mulShift),
			    isY || stage.reluBypass ? INT32_MIN : 0.0 };
	}

	Alu aluOf(SdpAlu algorithm) const
	{
		switch (algorithm) {
		case SdpAlu::Max:
			return Alu::Maximum;
		case SdpAlu::Min:
			return Alu::Minimum;
		case SdpAlu::Equal:
			/* X has no comparison: its code means the sum. */
			return isY ? Alu::Unequal : Alu::Sum;
		case SdpAlu::Sum:
			break;
		}
		return Alu::Sum;
	}
};

/** Some vectors of an atom, in registers: indices are constants once inlined */
template<size_t... kIndex>
struct Block {
	static constexpr size_t kVectors = sizeof...(kIndex);

	Vector values[kVectors];

	HWY_INLINE explicit Block(const int32_t *in) : values{ load(in + kIndex * kLanes)... } {}

	template<typename Alu>
	HWY_INLINE void compute(const int32_t *operands)
	{
		((values[kIndex] = Alu::apply(values[kIndex], operands + kIndex * kLanes)), ...);
	}

	template<typename Multiplier>
	HWY_INLINE void scale(const int32_t *operands, const Scaling &scaling)
	{
		((values[kIndex] =
			  Multiplier::apply(values[kIndex], operands + kIndex * kLanes, scaling)),
		 ...);
	}

	HWY_INLINE void compute(Step::Alu alu, const int32_t *operands)
	{
		switch (alu) {
		case Step::Alu::None:
			break;
		case Step::Alu::Maximum:
			compute<Maximum>(operands);
			break;
		case Step::Alu::Minimum:
			compute<Minimum>(operands);
			break;
		case Step::Alu::Sum:
			compute<Sum>(operands);
			break;
		case Step::Alu::Unequal:
			compute<Unequal>(operands);
			break;
		}
	}

	HWY_INLINE void scale(Step::Multiplier multiplier, const int32_t *operands,
			      const Scaling &scaling)
	{
		switch (multiplier) {
		case Step::Multiplier::None:
			break;
		case Step::Multiplier::Clip:
			scale<Clip>(operands, scaling);
			break;
		case Step::Multiplier::Shift:
			scale<Shift>(operands, scaling);
			break;
		case Step::Multiplier::Multiply:
			scale<Multiply>(operands, scaling);
			break;
		case Step::Multiplier::Prelu:
			scale<Prelu>(operands, scaling);
			break;
		}
	}

	/** \param atom number of the atom \param lane of its first value */
	HWY_INLINE void apply(const Step &step, size_t atom, size_t lane)
	{
		const int32_t *alu = step.aluRun.data + atom * step.aluRun.atomStride + lane;
		const int32_t *mul = step.mulRun.data + atom * step.mulRun.atomStride + lane;

		if (step.isY) {
			scale(step.multiplier, mul, step.scaling);
			compute(step.alu, alu);
			scale<Clip>(mul, step.scaling);
		} else {
			compute(step.alu, alu);
			scale(step.multiplier, mul, step.scaling);
		}
	}

	/** \param out called with the place of the block and its vectors */
	template<typename Output>
	HWY_INLINE void put(Output &out, size_t at) const
	{
		out(at, values[kIndex]...);
	}
};

struct Steps {
	Step steps[kMostStages];
	size_t count = 0;
	size_t lanes;
	std::span<const int32_t> in;
};

template<typename Output, size_t... kIndex>
void forEachBlock(const Steps &steps, Output &out, std::index_sequence<kIndex...>)
{
	for (size_t i = 0, atom = 0; i < steps.in.size(); i += steps.lanes, atom++) {
		for (size_t lane = 0; lane < steps.lanes; lane += sizeof...(kIndex) * kLanes) {
			Block<kIndex...> block(&steps.in[i + lane]);
			for (size_t step = 0; step < steps.count; step++)
				block.apply(steps.steps[step], atom, lane);
			block.put(out, i + lane);
		}
	}
}

template<typename Output>
void forEachBlock(const Steps &steps, Output &out)
{
	/* The smallest atom has two of the largest vectors. */
	if (steps.lanes % (4 * kLanes) == 0)
		forEachBlock(steps, out, std::make_index_sequence<4>());
	else
		forEachBlock(steps, out, std::make_index_sequence<2>());
}

/** \return true if the products with 32 bits are exact */
bool multipliersFit(const SdpStageRun &run, size_t lanes, size_t values)
{
	constexpr unsigned bits = 20;
	const size_t count = run.mul.atomStride ? values : lanes;
	uint32_t all = 0;

	if (!run.isY || run.stage->mul.bypass || values == 0)
		return true;
	for (size_t i = 0; i < count; i++)
		all |= static_cast<uint32_t>(run.mul.data[i] ^ (run.mul.data[i] >> 31));
	return all >> bits == 0;
}

/** \return false if they are not for vectors */
bool prepare(std::span<const SdpStageRun> stages, Steps &steps)
{
	if (steps.lanes % (2 * kLanes))
		return false;
	for (const SdpStageRun &run : stages) {
		if (!multipliersFit(run, steps.lanes, steps.in.size()))
			return false;
		steps.steps[steps.count++] = Step(run);
	}
	return true;
}

} /* namespace sdp */
} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif /* vectors of a known size, with doubles */

#endif /* once for each instruction set */
