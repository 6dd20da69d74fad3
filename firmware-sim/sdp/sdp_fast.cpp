/* SPDX-License-Identifier: MIT */
/*
 * Integers in vectors of doubles. Sums have 33 bits, products 49 (Y: 53), and a shift only
 * changes the exponent: every number is exact until it is rounded.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "sdp/sdp_fast.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_fast.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

#if HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;
using namespace doubles;

/*
 * The ALU, as a type, so that the loops have no branches.
 */
struct NoAlu {
	static HWY_INLINE Vector apply(Vector value, const int32_t *) { return value; }
};

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
};

HWY_INLINE Vector rounded(Vector value, const Scaling &scaling)
{
	return hn::Max(roundAway(hn::Mul(value, constant(scaling.scale))),
		       constant(scaling.lowest));
}

struct XShift {
	static HWY_INLINE Vector apply(Vector value, const int32_t *, const Scaling &scaling)
	{
		return rounded(value, scaling);
	}
};

struct XMultiply {
	static HWY_INLINE Vector apply(Vector value, const int32_t *operand, const Scaling &scaling)
	{
		return rounded(hn::Mul(value, load(operand)), scaling);
	}
};

/* A sum that is not negative stays as it is, of its 33 bits the lower 32. */
struct XPrelu {
	static HWY_INLINE Vector apply(Vector value, const int32_t *operand, const Scaling &scaling)
	{
		const Vector wrapped =
			hn::IfThenElse(hn::Gt(value, constant(INT32_MAX)),
				       hn::Sub(value, constant(4294967296.0)), value);
		return hn::IfThenElse(hn::Lt(value, hn::Zero(Tag())),
				      XMultiply::apply(value, operand, scaling), wrapped);
	}
};

struct NoMultiplier {
	static HWY_INLINE Vector apply(Vector value, const int32_t *, const Scaling &)
	{
		return value;
	}
};

struct YMultiply {
	static HWY_INLINE Vector apply(Vector value, const int32_t *operand, const Scaling &scaling)
	{
		return hn::Min(rounded(hn::Mul(value, load(operand)), scaling),
			       constant(INT32_MAX));
	}
};

struct YPrelu {
	static HWY_INLINE Vector apply(Vector value, const int32_t *operand, const Scaling &scaling)
	{
		return hn::IfThenElse(hn::Lt(value, hn::Zero(Tag())),
				      YMultiply::apply(value, operand, scaling), value);
	}
};

/** The values and operands of a stage; those that it does not use may be null */
struct Run {
	std::span<int32_t> values;
	size_t lanes;
	SdpOperandRun alu;
	SdpOperandRun mul;
};

template<typename Function>
HWY_INLINE void forEachVector(const Run &run, Function function)
{
	for (size_t i = 0, atom = 0; i < run.values.size(); atom++) {
		const int32_t *alu =
			run.alu.data ? run.alu.data + atom * run.alu.atomStride : &run.values[i];
		const int32_t *mul =
			run.mul.data ? run.mul.data + atom * run.mul.atomStride : &run.values[i];

		for (size_t lane = 0; lane < run.lanes; lane += hn::Lanes(Tag()))
			store(function(load(&run.values[i + lane]), alu + lane, mul + lane),
			      &run.values[i + lane]);
		i += run.lanes;
	}
}

template<typename Alu, typename Multiplier>
void runX(const Run &run, const Scaling &scaling)
{
	forEachVector(run, [&](Vector value, const int32_t *alu, const int32_t *mul) HWY_ATTR {
		return Multiplier::apply(Alu::apply(value, alu), mul, scaling);
	});
}

template<typename Alu, typename Multiplier>
void runY(const Run &run, const Scaling &scaling)
{
	forEachVector(run, [&](Vector value, const int32_t *alu, const int32_t *mul) HWY_ATTR {
		return Alu::apply(Multiplier::apply(value, mul, scaling), alu);
	});
}

template<typename Alu>
void runXWith(const SdpStage &stage, const Run &run, const Scaling &scaling)
{
	if (stage.mul.bypass)
		runX<Alu, XShift>(run, scaling);
	else if (stage.prelu)
		runX<Alu, XPrelu>(run, scaling);
	else
		runX<Alu, XMultiply>(run, scaling);
}

template<typename Alu>
void runYWith(const SdpStage &stage, const Run &run, const Scaling &scaling)
{
	if (stage.mul.bypass)
		runY<Alu, NoMultiplier>(run, scaling);
	else if (stage.prelu)
		runY<Alu, YPrelu>(run, scaling);
	else
		runY<Alu, YMultiply>(run, scaling);
}

bool xOfTarget(const SdpStage &stage, std::span<int32_t> values, size_t lanes,
	       const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	const Run run = { values, lanes, alu, mul };
	const Scaling scaling = { std::ldexp(1.0, -stage.mulShift),
				  stage.reluBypass ? INT32_MIN : 0.0 };

	if (lanes % hn::Lanes(Tag()))
		return false;
	/* X has no comparison: its code means the sum. */
	if (stage.alu.bypass)
		runXWith<NoAlu>(stage, run, scaling);
	else if (stage.algorithm == SdpAlu::Max)
		runXWith<Maximum>(stage, run, scaling);
	else if (stage.algorithm == SdpAlu::Min)
		runXWith<Minimum>(stage, run, scaling);
	else
		runXWith<Sum>(stage, run, scaling);
	return true;
}

/** \return true if the products with 32 bits are exact */
bool multipliersFit(const SdpStage &stage, const Run &run)
{
	constexpr unsigned bits = 20;
	const size_t count = run.mul.atomStride ? run.values.size() : run.lanes;
	uint32_t all = 0;

	if (stage.mul.bypass || run.values.empty())
		return true;
	for (size_t i = 0; i < count; i++)
		all |= static_cast<uint32_t>(run.mul.data[i] ^ (run.mul.data[i] >> 31));
	return all >> bits == 0;
}

bool yOfTarget(const SdpStage &stage, std::span<int32_t> values, size_t lanes,
	       const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	const Run run = { values, lanes, alu, mul };
	const Scaling scaling = { std::ldexp(1.0, -stage.mulShift), INT32_MIN };

	if (lanes % hn::Lanes(Tag()) || !multipliersFit(stage, run))
		return false;
	if (stage.alu.bypass)
		runYWith<NoAlu>(stage, run, scaling);
	else if (stage.algorithm == SdpAlu::Max)
		runYWith<Maximum>(stage, run, scaling);
	else if (stage.algorithm == SdpAlu::Min)
		runYWith<Minimum>(stage, run, scaling);
	else if (stage.algorithm == SdpAlu::Sum)
		runYWith<Sum>(stage, run, scaling);
	else
		runYWith<Unequal>(stage, run, scaling);
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
		return hn::DemoteTo(IntegerTag(), clip(roundAway(scaled), -highest - 1, highest));
	}

	double offset;
	double scale;
	double highest;
	uint32_t saturated = 0; /* words so far */
};

bool convertOfTarget(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters)
{
	Converter convert(op);

	if (values.size() % hn::Lanes(Tag()))
		return false;
	for (size_t i = 0; i < values.size(); i += hn::Lanes(Tag()))
		hn::StoreU(convert(load(&values[i])), IntegerTag(), &values[i]);
	counters.saturation += convert.saturated;
	return true;
}

template<typename Element>
void storeAs(const SdpOp &op, std::span<const int32_t> values, std::byte *bytes,
	     SdpCounters &counters)
{
	const hn::Rebind<Element, IntegerTag> elementTag;
	auto *elements = reinterpret_cast<Element *>(bytes);
	Converter convert(op);
	auto bits = hn::Zero(IntegerTag()); /* that a result had */

	for (size_t i = 0; i < values.size(); i += hn::Lanes(Tag())) {
		const auto result = convert(load(&values[i]));
		bits = hn::Or(bits, result);
		hn::StoreU(hn::DemoteTo(elementTag, result), elementTag, elements + i);
	}
	counters.saturation += convert.saturated;
	counters.nonZero |= !hn::AllTrue(IntegerTag(), hn::Eq(bits, hn::Zero(IntegerTag())));
}

bool storeOfTarget(const SdpOp &op, std::span<const int32_t> values, std::byte *bytes,
		   SdpCounters &counters)
{
	if (values.size() % hn::Lanes(Tag()))
		return false;
	if (op.out == Precision::Int8)
		storeAs<int8_t>(op, values, bytes, counters);
	else
		storeAs<int16_t>(op, values, bytes, counters);
	return true;
}

#else /* no vectors of doubles */

bool xOfTarget(const SdpStage &, std::span<int32_t>, size_t, const SdpOperandRun &,
	       const SdpOperandRun &)
{
	return false;
}

bool yOfTarget(const SdpStage &, std::span<int32_t>, size_t, const SdpOperandRun &,
	       const SdpOperandRun &)
{
	return false;
}

bool convertOfTarget(const SdpOp &, std::span<int32_t>, SdpCounters &)
{
	return false;
}

bool storeOfTarget(const SdpOp &, std::span<const int32_t>, std::byte *, SdpCounters &)
{
	return false;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(xOfTarget);
HWY_EXPORT(yOfTarget);
HWY_EXPORT(convertOfTarget);
HWY_EXPORT(storeOfTarget);

bool applySdpXFast(const SdpStage &stage, std::span<int32_t> values, size_t lanes,
		   const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	return HWY_DYNAMIC_DISPATCH(xOfTarget)(stage, values, lanes, alu, mul);
}

bool applySdpYFast(const SdpStage &stage, std::span<int32_t> values, size_t lanes,
		   const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	/* Without both, the stage is there for its table. */
	if (stage.alu.bypass && stage.mul.bypass)
		return true;
	return HWY_DYNAMIC_DISPATCH(yOfTarget)(stage, values, lanes, alu, mul);
}

bool convertSdpOutputFast(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters)
{
	if (op.proc == Precision::Fp16 || op.out == Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(convertOfTarget)(op, values, counters);
}

bool storeSdpOutputFast(const SdpOp &op, std::span<const int32_t> values,
			std::span<std::byte> bytes, SdpCounters &counters)
{
	if (op.proc == Precision::Fp16 || op.out == Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(storeOfTarget)(op, values, bytes.data(), counters);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
