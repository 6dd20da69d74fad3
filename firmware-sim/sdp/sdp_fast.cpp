/* SPDX-License-Identifier: MIT */
/*
 * Integers in vectors of doubles. Sums have 33 bits, products 49 (Y: 53), and a shift only
 * changes the exponent: every number is exact until it is rounded. A block of an atom stays in
 * registers from the first stage to the last.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "sdp/sdp_fast.h"

#include <algorithm>
#include <cmath>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_fast.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/doubles-inl.h"

#ifndef NVDLA_SIM_SDP_FAST_ONCE
#define NVDLA_SIM_SDP_FAST_ONCE

namespace nvdla::sim
{

/* Lanes of the largest atom. */
constexpr size_t kMostLanes = 32;
constexpr int32_t kNoOperands[kMostLanes] = {};
constexpr size_t kMostStages = 3;

} /* namespace nvdla::sim */

#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Vectors of a known size, with doubles. */
#if HWY_HAVE_FLOAT64 && !HWY_HAVE_SCALABLE

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

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

	/** \param out called for each vector, with its place in the block */
	template<typename Output>
	HWY_INLINE void put(Output &out, size_t at) const
	{
		(out(values[kIndex], at + kIndex * kLanes), ...);
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

struct PutIntegers {
	int32_t *out;

	HWY_INLINE void operator()(Vector value, size_t at) const { store(value, out + at); }
};

bool applyOfTarget(std::span<const SdpStageRun> stages, size_t lanes, std::span<const int32_t> in,
		   std::span<int32_t> out)
{
	Steps steps = { .lanes = lanes, .in = in };
	PutIntegers put = { out.data() };

	if (!prepare(stages, steps))
		return false;
	forEachBlock(steps, put);
	return true;
}

/** The output converter */
struct Converter {
	explicit Converter(const SdpOp &op)
		: offset(op.converter.offset),
		  scale(std::ldexp(op.converter.scale, -op.converter.shift)),
		  highest(op.out == Precision::Int8 ? INT8_MAX : INT16_MAX)
	{
	}

	HWY_INLINE hn::Vec<IntegerTag> operator()(Vector value)
	{
		const Vector scaled = hn::Mul(hn::Sub(value, constant(offset)), constant(scale));
		/* Behind one beyond 17 bits, what is clipped counts. */
		const auto out = hn::Or(hn::Ge(scaled, constant(65537.0)),
					hn::Lt(scaled, constant(-65537.0)));

		saturated += static_cast<uint32_t>(hn::CountTrue(Tag(), out));
		/* What is behind the point is cut off in the end. */
		const Vector rounded = hn::Add(scaled, hn::CopySign(constant(0.5), scaled));
		return hn::DemoteTo(IntegerTag(), clip(rounded, -highest - 1, highest));
	}

	double offset;
	double scale;
	double highest;
	uint32_t saturated = 0; /* words so far */
};

bool convertOfTarget(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters)
{
	Converter convert(op);

	if (values.size() % kLanes)
		return false;
	for (size_t i = 0; i < values.size(); i += kLanes)
		hn::StoreU(convert(load(&values[i])), IntegerTag(), &values[i]);
	counters.saturation += convert.saturated;
	return true;
}

template<typename Element>
struct PutElements {
	HWY_INLINE void operator()(Vector value, size_t at)
	{
		const hn::Rebind<Element, IntegerTag> tag;
		const auto result = convert(value);

		hn::StoreU(hn::DemoteTo(tag, result), tag, out + at);
		bits = hn::Or(bits, result);
	}

	Element *out;
	Converter convert;
	hn::Vec<IntegerTag> bits = hn::Zero(IntegerTag()); /* that a result had */
};

template<typename Element>
void storeAs(const SdpOp &op, const Steps &steps, std::byte *bytes, SdpCounters &counters)
{
	PutElements<Element> put = { reinterpret_cast<Element *>(bytes), Converter(op) };

	forEachBlock(steps, put);
	counters.saturation += put.convert.saturated;
	counters.nonZero |= !hn::AllTrue(IntegerTag(), hn::Eq(put.bits, hn::Zero(IntegerTag())));
}

bool storeOfTarget(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		   std::span<const int32_t> in, std::byte *bytes, SdpCounters &counters)
{
	Steps steps = { .lanes = lanes, .in = in };

	if (!prepare(stages, steps))
		return false;
	if (op.out == Precision::Int8)
		storeAs<int8_t>(op, steps, bytes, counters);
	else
		storeAs<int16_t>(op, steps, bytes, counters);
	return true;
}

size_t operandsOfTarget(const arith::Converter &converter, std::span<int32_t> values)
{
	const size_t whole = values.size() / kLanes * kLanes;
	const double scale = std::ldexp(converter.scale, -converter.shift);

	for (size_t i = 0; i < whole; i += kLanes) {
		const Vector moved = hn::Sub(load(&values[i]), constant(converter.offset));
		store(roundAway(hn::Mul(moved, constant(scale))), &values[i]);
	}
	return whole;
}

#else

bool applyOfTarget(std::span<const SdpStageRun>, size_t, std::span<const int32_t>,
		   std::span<int32_t>)
{
	return false;
}

bool convertOfTarget(const SdpOp &, std::span<int32_t>, SdpCounters &)
{
	return false;
}

bool storeOfTarget(const SdpOp &, std::span<const SdpStageRun>, size_t, std::span<const int32_t>,
		   std::byte *, SdpCounters &)
{
	return false;
}

size_t operandsOfTarget(const arith::Converter &, std::span<int32_t>)
{
	return 0;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(applyOfTarget);
HWY_EXPORT(convertOfTarget);
HWY_EXPORT(storeOfTarget);
HWY_EXPORT(operandsOfTarget);

bool applySdpFast(std::span<const SdpStageRun> stages, size_t lanes, std::span<const int32_t> in,
		  std::span<int32_t> out)
{
	return HWY_DYNAMIC_DISPATCH(applyOfTarget)(stages, lanes, in, out);
}

bool convertSdpOutputFast(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters)
{
	if (op.proc == Precision::Fp16 || op.out == Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(convertOfTarget)(op, values, counters);
}

bool storeSdpFast(const SdpOp &op, std::span<const SdpStageRun> stages, size_t lanes,
		  std::span<const int32_t> in, std::span<std::byte> bytes, SdpCounters &counters)
{
	if (op.proc == Precision::Fp16 || op.out == Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(storeOfTarget)(op, stages, lanes, in, bytes.data(), counters);
}

void convertSdpOperandsFast(const arith::Converter &converter, std::span<int32_t> values)
{
	const size_t done = HWY_DYNAMIC_DISPATCH(operandsOfTarget)(converter, values);

	for (int32_t &value : values.subspan(done))
		value = static_cast<int32_t>(arith::saturate<32>(converter.apply(value)));
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
