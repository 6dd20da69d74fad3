/* SPDX-License-Identifier: MIT */
/*
 * FP32 in vectors of the host's own numbers. IEEE 754 gives what arith/float.h defines as long as
 * operands are zero or normal, but for results that are denormal (zero here), too large (the
 * largest number here) or sums of zero (their sign). Vectors with any other operand, and products
 * that IEEE 754 rounds with fewer bits, go through the reference.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "sdp/sdp_float.h"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_float.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/float_bits-inl.h"
#include "lut/float_lut-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
/* The names here are others' as well. */
namespace floats
{

using namespace float_bits;

HWY_INLINE Mask isNegative(Bits bits)
{
	return hn::Lt(bits, hn::Zero(Tag()));
}

/** \return where a number is neither zero nor normal */
HWY_INLINE Mask isOdd(Bits bits)
{
	const Bits magnitude = magnitudeOf(bits);
	const Mask denormal =
		hn::And(hn::Lt(magnitude, constant(kSmallest)), hn::Ne(magnitude, hn::Zero(Tag())));
	return hn::Or(hn::Gt(magnitude, constant(kLargest)), denormal);
}

/** \return \a magnitude, zero if it is denormal, finite, with \a sign */
HWY_INLINE Bits finish(Bits magnitude, Bits sign)
{
	const Bits flushed = hn::IfThenZeroElse(hn::Lt(magnitude, constant(kSmallest)), magnitude);
	return hn::Or(hn::Min(flushed, constant(kLargest)), sign);
}

/** \return numbers in whose order, as integers, those of FP32 are; its own inverse */
HWY_INLINE Bits ordered(Bits bits)
{
	return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), constant(kMagnitude)));
}

/*
 * The ALU and the multiplier, as types, so that the loops have no branches. Where they find
 * operands that are not theirs, they set \a odd.
 */
struct NoAlu {
	static HWY_INLINE Bits apply(Bits value, const int32_t *, Mask &) { return value; }
};

struct Maximum {
	static HWY_INLINE Bits apply(Bits value, const int32_t *operand, Mask &odd)
	{
		const Bits other = load(operand);
		odd = hn::Or(odd, isOdd(other));
		return ordered(hn::Max(ordered(value), ordered(other)));
	}
};

struct Minimum {
	static HWY_INLINE Bits apply(Bits value, const int32_t *operand, Mask &odd)
	{
		const Bits other = load(operand);
		odd = hn::Or(odd, isOdd(other));
		return ordered(hn::Min(ordered(value), ordered(other)));
	}
};

struct Sum {
	static HWY_INLINE Bits apply(Bits value, const int32_t *operand, Mask &odd)
	{
		const Bits other = load(operand);
		const Bits sum = asBits(hn::Add(asFloat(value), asFloat(other)));
		const Bits magnitude = magnitudeOf(sum);
		const Mask zero = hn::Eq(magnitude, hn::Zero(Tag()));

		odd = hn::Or(odd, isOdd(other));
		/* Of two zeroes, and of what cancels, the first one's sign stays. */
		return finish(magnitude, signOf(hn::IfThenElse(zero, value, sum)));
	}
};

struct NoMultiplier {
	static HWY_INLINE Bits apply(Bits value, const int32_t *, Mask &) { return value; }
};

struct Multiply {
	static HWY_INLINE Bits apply(Bits value, const int32_t *operand, Mask &odd)
	{
		const Bits other = load(operand);
		const Bits product = asBits(hn::Mul(asFloat(value), asFloat(other)));
		const Bits magnitude = magnitudeOf(product);

		/* Just below the smallest number IEEE 754 has a bit less to round to. */
		odd = hn::Or(odd, hn::Or(isOdd(other), hn::Eq(magnitude, constant(kSmallest))));
		return finish(magnitude, signOf(product));
	}
};

struct Prelu {
	static HWY_INLINE Bits apply(Bits value, const int32_t *operand, Mask &odd)
	{
		return hn::IfThenElse(isNegative(value), Multiply::apply(value, operand, odd),
				      value);
	}
};

/** The values and operands of a stage; those that it does not use may be null */
struct Run {
	std::span<int32_t> values;
	size_t lanes;
	SdpOperandRun alu;
	SdpOperandRun mul;
};

/**
 * \param fast called with values, operands and where they are odd
 * \param reference called for a vector with odd ones
 */
template<typename Fast, typename Reference>
HWY_INLINE void forEachVector(const Run &run, Fast fast, Reference reference)
{
	const size_t step = hn::Lanes(Tag());

	for (size_t i = 0, atom = 0; i < run.values.size(); i += run.lanes, atom++) {
		const int32_t *alu =
			run.alu.data ? run.alu.data + atom * run.alu.atomStride : &run.values[i];
		const int32_t *mul =
			run.mul.data ? run.mul.data + atom * run.mul.atomStride : &run.values[i];

		for (size_t lane = 0; lane < run.lanes; lane += step) {
			int32_t *values = &run.values[i + lane];
			const Bits value = load(values);
			Mask odd = isOdd(value);
			const Bits result = fast(value, alu + lane, mul + lane, odd);
			if (hn::AllFalse(Tag(), odd))
				hn::StoreU(result, Tag(), values);
			else
				reference(std::span(values, step), SdpOperandRun{ alu + lane, 0 },
					  SdpOperandRun{ mul + lane, 0 });
		}
	}
}

template<typename Alu, typename Multiplier>
void runX(const SdpStage &stage, const Run &run)
{
	const Mask relu = hn::MaskFromVec(constant(stage.reluBypass ? 0 : -1));

	forEachVector(
		run,
		[&](Bits value, const int32_t *alu, const int32_t *mul, Mask &odd) HWY_ATTR {
			const Bits sum = Alu::apply(value, alu, odd);
			const Bits product = Multiplier::apply(sum, mul, odd);
			return hn::IfThenZeroElse(hn::And(relu, isNegative(product)), product);
		},
		[&](std::span<int32_t> values, const SdpOperandRun &alu, const SdpOperandRun &mul)
			HWY_ATTR {
				applySdpX(stage, Precision::Fp16, values, values.size(), alu, mul);
			});
}

template<typename Alu, typename Multiplier>
void runY(const SdpStage &stage, const Run &run)
{
	forEachVector(
		run,
		[&](Bits value, const int32_t *alu, const int32_t *mul, Mask &odd) HWY_ATTR {
			return Alu::apply(Multiplier::apply(value, mul, odd), alu, odd);
		},
		[&](std::span<int32_t> values, const SdpOperandRun &alu, const SdpOperandRun &mul)
			HWY_ATTR {
				applySdpY(stage, Precision::Fp16, values, values.size(), alu, mul);
			});
}

template<typename Alu>
void runWith(const SdpStage &stage, bool isY, const Run &run)
{
	if (isY) {
		if (stage.mul.bypass)
			runY<Alu, NoMultiplier>(stage, run);
		else if (stage.prelu)
			runY<Alu, Prelu>(stage, run);
		else
			runY<Alu, Multiply>(stage, run);
		return;
	}
	if (stage.mul.bypass)
		runX<Alu, NoMultiplier>(stage, run);
	else if (stage.prelu)
		runX<Alu, Prelu>(stage, run);
	else
		runX<Alu, Multiply>(stage, run);
}

bool applyStage(const SdpStage &stage, bool isY, std::span<int32_t> values, size_t lanes,
		const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	const Run run = { values, lanes, alu, mul };

	if (lanes % hn::Lanes(Tag()))
		return false;
	if (stage.alu.bypass) {
		runWith<NoAlu>(stage, isY, run);
		return true;
	}
	switch (stage.algorithm) {
	case SdpAlu::Max:
		runWith<Maximum>(stage, isY, run);
		return true;
	case SdpAlu::Min:
		runWith<Minimum>(stage, isY, run);
		return true;
	case SdpAlu::Sum:
		runWith<Sum>(stage, isY, run);
		return true;
	case SdpAlu::Equal:
		break;
	}
	return false;
}

/** \return where a number is neither zero nor normal nor a NaN that FP17 has as well */
HWY_INLINE Mask isOddInput(Bits bits)
{
	const Mask nan = hn::Gt(magnitudeOf(bits), constant(fp17::kNan));
	const Mask keeps = hn::Ne(hn::And(bits, constant(0x3ff)), hn::Zero(Tag()));

	return hn::AndNot(hn::And(nan, keeps), isOdd(bits));
}

/* A NaN is below all entries, and stays what FP17 has of it. */
HWY_INLINE Bits lookUp(const FloatLut &lut, Bits x, LutCounters &counters)
{
	constexpr int32_t kBelow = kLargest | INT32_MIN;
	constexpr int32_t kKept = fp17::kNan | INT32_MIN | 0x3ff;
	const Mask nan = fp17::isNan(x);
	const Bits result = float_lut::lookup<float_lut::OfSdp>(
		lut, hn::IfThenElse(nan, constant(kBelow), x), counters);

	return hn::IfThenElse(nan, hn::And(x, constant(kKept)), result);
}

void applyLut(const FloatLut &fast, const Lut &lut, std::span<int32_t> values,
	      LutCounters &counters)
{
	const size_t step = hn::Lanes(Tag());

	for (size_t i = 0; i < values.size(); i += step) {
		const Bits x = load(&values[i]);
		if (HWY_LIKELY(hn::AllFalse(Tag(), isOddInput(x))))
			hn::StoreU(lookUp(fast, x, counters), Tag(), &values[i]);
		else
			applySdpLut(lut, Precision::Fp16, values.subspan(i, step), counters);
	}
}

/** The output converter, from FP32 to FP16 */
class Converter
{
public:
	Converter(const SdpOp &op, SdpCounters &counters) : op_(op), counters_(counters) {}

	HWY_INLINE Bits operator()(const int32_t *values)
	{
		const Bits bits = load(values);
		const Mask nan = hn::Gt(magnitudeOf(bits), constant(kInfinity));

		if (!hn::AllFalse(Tag(), nan))
			return reference(values);
		const Bits halves = halvesOf(bits);
		const Bits magnitude = hn::And(halves, constant(0x7fff));
		counters_.saturation += static_cast<uint32_t>(
			hn::CountTrue(Tag(), hn::Eq(magnitude, constant(0x7bff))));
		return halves;
	}

private:
	static constexpr int32_t kInfinity = 0x7f800000;

	Bits reference(const int32_t *values)
	{
		int32_t halves[hn::MaxLanes(Tag())];

		hn::StoreU(load(values), Tag(), halves);
		convertSdpOutput(op_, halves, counters_);
		return load(halves);
	}

	const SdpOp &op_;
	SdpCounters &counters_;
};

bool convertValues(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters)
{
	Converter convert(op, counters);

	if (values.size() % hn::Lanes(Tag()))
		return false;
	for (size_t i = 0; i < values.size(); i += hn::Lanes(Tag()))
		hn::StoreU(convert(&values[i]), Tag(), &values[i]);
	return true;
}

bool storeValues(const SdpOp &op, std::span<const int32_t> values, std::byte *bytes,
		 SdpCounters &counters)
{
	auto *halves = reinterpret_cast<uint16_t *>(bytes);
	Converter convert(op, counters);
	Bits any = hn::Zero(Tag()); /* bits that a result had */

	if (values.size() % hn::Lanes(Tag()))
		return false;
	for (size_t i = 0; i < values.size(); i += hn::Lanes(Tag())) {
		const Bits result = convert(&values[i]);
		any = hn::Or(any, result);
		hn::StoreU(hn::DemoteTo(HalfTag(), result), HalfTag(), halves + i);
	}
	counters.nonZero |= !hn::AllTrue(Tag(), hn::Eq(any, hn::Zero(Tag())));
	return true;
}

SpecialHalves widenHalves(std::span<const std::byte> raw, std::span<int32_t> out)
{
	const auto *halves = reinterpret_cast<const uint16_t *>(raw.data());
	size_t nans = 0;
	size_t infinities = 0;

	for (size_t i = 0; i < out.size(); i += hn::Lanes(Tag())) {
		const Bits bits = hn::PromoteTo(Tag(), hn::LoadU(HalfTag(), halves + i));
		const Bits magnitude = hn::And(bits, constant(0x7fff));
		const Mask infinity = hn::Eq(magnitude, constant(0x7c00));
		const Mask nan = hn::Gt(magnitude, constant(0x7c00));

		hn::StoreU(widened(bits, nan, infinity, constant(kLargest)), Tag(), &out[i]);
		nans += hn::CountTrue(Tag(), nan);
		infinities += hn::CountTrue(Tag(), infinity);
	}
	return { static_cast<uint32_t>(nans), static_cast<uint32_t>(infinities) };
}

} /* namespace floats */

bool floatStageOfTarget(const SdpStage &stage, bool isY, std::span<int32_t> values, size_t lanes,
			const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	return floats::applyStage(stage, isY, values, lanes, alu, mul);
}

void floatLutOfTarget(const FloatLut &fast, const Lut &lut, std::span<int32_t> values,
		      LutCounters &counters)
{
	floats::applyLut(fast, lut, values, counters);
}

bool floatConvertOfTarget(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters)
{
	return floats::convertValues(op, values, counters);
}

bool floatStoreOfTarget(const SdpOp &op, std::span<const int32_t> values, std::byte *bytes,
			SdpCounters &counters)
{
	return floats::storeValues(op, values, bytes, counters);
}

SpecialHalves floatWidenOfTarget(std::span<const std::byte> raw, std::span<int32_t> out)
{
	return floats::widenHalves(raw, out);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(floatStageOfTarget);
HWY_EXPORT(floatLutOfTarget);
HWY_EXPORT(floatConvertOfTarget);
HWY_EXPORT(floatStoreOfTarget);
HWY_EXPORT(floatWidenOfTarget);

bool applySdpXFloat(const SdpStage &stage, std::span<int32_t> values, size_t lanes,
		    const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	return HWY_DYNAMIC_DISPATCH(floatStageOfTarget)(stage, false, values, lanes, alu, mul);
}

bool applySdpYFloat(const SdpStage &stage, std::span<int32_t> values, size_t lanes,
		    const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	/* Without both, the stage is there for its table. */
	if (stage.alu.bypass && stage.mul.bypass)
		return true;
	return HWY_DYNAMIC_DISPATCH(floatStageOfTarget)(stage, true, values, lanes, alu, mul);
}

void applySdpLutFloat(const FloatLut &fast, const Lut &lut, std::span<int32_t> values,
		      LutCounters &counters)
{
	HWY_DYNAMIC_DISPATCH(floatLutOfTarget)(fast, lut, values, counters);
}

bool convertSdpOutputFloat(const SdpOp &op, std::span<int32_t> values, SdpCounters &counters)
{
	if (op.proc != Precision::Fp16 || op.out != Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(floatConvertOfTarget)(op, values, counters);
}

bool storeSdpOutputFloat(const SdpOp &op, std::span<const int32_t> values,
			 std::span<std::byte> bytes, SdpCounters &counters)
{
	if (op.proc != Precision::Fp16 || op.out != Precision::Fp16)
		return false;
	return HWY_DYNAMIC_DISPATCH(floatStoreOfTarget)(op, values, bytes.data(), counters);
}

SpecialHalves widenSdpHalves(std::span<const std::byte> raw, std::span<int32_t> out)
{
	return HWY_DYNAMIC_DISPATCH(floatWidenOfTarget)(raw, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
