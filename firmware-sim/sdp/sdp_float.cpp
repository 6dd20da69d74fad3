/* SPDX-License-Identifier: MIT */
/*
 * FP32 in vectors of the host's own numbers. For operands that are zero or normal, IEEE 754 gives
 * the results of arith/float.h, with three exceptions: denormal results (zero here), results that
 * are too large (the largest number here), and the sign of sums that are zero. The reference code
 * computes atoms with any other operand, or with products that IEEE 754 rounds with fewer bits.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "sdp/sdp_float.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_float.cpp"
#include <hwy/foreach_target.h>
/* These files are included once for each instruction set, so they follow foreach_target.h. */
#include <hwy/highway.h>

#include "arith/float_bits-inl.h"
#include "lut/float_lut-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
/* Keeps the names apart from those of other files of a unity build. */
namespace floats
{

using namespace float_bits;

constexpr size_t kLanes = atomChannels(Precision::Fp16);

HWY_INLINE Mask isNegative(Bits bits)
{
	return hn::Lt(bits, hn::Zero(Tag()));
}

/** \return mask of numbers that are neither zero nor normal */
HWY_INLINE Mask isOdd(Bits bits)
{
	const Bits magnitude = magnitudeOf(bits);
	const Mask denormal =
		hn::And(hn::Lt(magnitude, constant(kSmallest)), hn::Ne(magnitude, hn::Zero(Tag())));
	return hn::Or(hn::Gt(magnitude, constant(kLargest)), denormal);
}

/** \return \a magnitude with \a sign; denormals become zero, infinity the largest number */
HWY_INLINE Bits finish(Bits magnitude, Bits sign)
{
	const Bits flushed = hn::IfThenZeroElse(hn::Lt(magnitude, constant(kSmallest)), magnitude);
	return hn::Or(hn::Min(flushed, constant(kLargest)), sign);
}

/** \return integers in the same order as the FP32 numbers; applying it twice gives the input */
HWY_INLINE Bits ordered(Bits bits)
{
	return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), constant(kMagnitude)));
}

/* Operations of ALU and multiplier, as types. They set \a odd where IEEE 754 differs from SDP. */
struct Maximum {
	static HWY_INLINE Bits apply(Bits value, Bits other, Mask &)
	{
		return ordered(hn::Max(ordered(value), ordered(other)));
	}
};

struct Minimum {
	static HWY_INLINE Bits apply(Bits value, Bits other, Mask &)
	{
		return ordered(hn::Min(ordered(value), ordered(other)));
	}
};

struct Sum {
	static HWY_INLINE Bits apply(Bits value, Bits other, Mask &)
	{
		const Bits sum = asBits(hn::Add(asFloat(value), asFloat(other)));
		const Bits magnitude = magnitudeOf(sum);
		const Mask zero = hn::Eq(magnitude, hn::Zero(Tag()));

		/*
		 * A sum of zero has the sign of the first operand.
		 */
		return finish(magnitude, signOf(hn::IfThenElse(zero, value, sum)));
	}
};

struct Multiply {
	static HWY_INLINE Bits apply(Bits value, Bits other, Mask &odd)
	{
		const Bits product = asBits(hn::Mul(asFloat(value), asFloat(other)));
		const Bits magnitude = magnitudeOf(product);

		/* The smallest normal number may be a denormal product that IEEE 754 rounded up. */
		odd = hn::Or(odd, hn::Eq(magnitude, constant(kSmallest)));
		return finish(magnitude, signOf(product));
	}
};

struct Prelu {
	static HWY_INLINE Bits apply(Bits value, Bits other, Mask &odd)
	{
		return hn::IfThenElse(isNegative(value), Multiply::apply(value, other, odd), value);
	}
};

/** Operands of a stage's ALU or multiplier */
struct Operands {
	const int32_t *data = nullptr;
	bool perElement = false; /* false: one for each channel, none of them odd */

	HWY_INLINE Bits at(size_t at, Mask &odd) const
	{
		if (!perElement)
			return load(data + at % kLanes);
		const Bits bits = load(data + at);
		odd = hn::Or(odd, isOdd(bits));
		return bits;
	}

	/** \return false if vectors do not support the operands */
	bool set(const SdpOperandRun &run)
	{
		Mask odd = hn::MaskFromVec(hn::Zero(Tag()));

		data = run.data;
		perElement = run.atomStride != 0;
		for (size_t lane = 0; !perElement && lane < kLanes; lane += hn::Lanes(Tag()))
			odd = hn::Or(odd, isOdd(load(data + lane)));
		return hn::AllFalse(Tag(), odd);
	}
};

/** An ALU, multiplier or ReLU operation of a stage, and its operands */
struct Step {
	enum class Unit : uint8_t { Maximum, Minimum, Sum, Multiply, Prelu, Relu } unit;
	Operands operands = {};
};

/** Vectors that go through the stages together, in registers */
template<size_t... kIndex>
struct Block {
	static constexpr size_t kStep = hn::MaxLanes(Tag());
	static constexpr size_t kValues = sizeof...(kIndex) * kStep;

	Bits values[sizeof...(kIndex)];
	Mask odd = hn::MaskFromVec(hn::Zero(Tag()));

	HWY_INLINE explicit Block(const int32_t *in) : values{ load(in + kIndex * kStep)... }
	{
		((odd = hn::Or(odd, isOdd(values[kIndex]))), ...);
	}

	template<typename Function>
	HWY_INLINE void each(const Operands &operands, size_t at)
	{
		((values[kIndex] = Function::apply(values[kIndex],
						   operands.at(at + kIndex * kStep, odd), odd)),
		 ...);
	}

	HWY_INLINE void relu()
	{
		((values[kIndex] = hn::IfThenZeroElse(isNegative(values[kIndex]), values[kIndex])),
		 ...);
	}

	/** \param at index of the block's first value in the run */
	HWY_INLINE void apply(const Step &step, size_t at)
	{
		switch (step.unit) {
		case Step::Unit::Maximum:
			return each<Maximum>(step.operands, at);
		case Step::Unit::Minimum:
			return each<Minimum>(step.operands, at);
		case Step::Unit::Sum:
			return each<Sum>(step.operands, at);
		case Step::Unit::Multiply:
			return each<Multiply>(step.operands, at);
		case Step::Unit::Prelu:
			return each<Prelu>(step.operands, at);
		case Step::Unit::Relu:
			return relu();
		}
	}

	template<typename Output>
	HWY_INLINE void put(Output &output, size_t at) const
	{
		(output.put(at + kIndex * kStep, values[kIndex]), ...);
	}
};

template<size_t... kIndex>
Block<kIndex...> blockOf(std::index_sequence<kIndex...>);

/** Blocks of vectors: of one atom, and of whole atoms with at least four vectors */
constexpr size_t kAtomVectors = kLanes / hn::MaxLanes(Tag());
using Atom = decltype(blockOf(std::make_index_sequence<kAtomVectors>()));
using Atoms = decltype(blockOf(std::make_index_sequence<std::max<size_t>(kAtomVectors, 4)>()));

/** Destination of results: FP32 numbers, or FP16 elements with their counters */
struct Output {
	const SdpOp &op;
	int32_t *numbers;
	uint16_t *halves = nullptr;
	SdpCounters counters = {};
	hn::Vec<HalfTag> any = hn::Zero(HalfTag()); /* OR of all results */
	size_t largest = 0;

	HWY_INLINE void put(size_t at, Bits values)
	{
		if (numbers)
			hn::StoreU(values, Tag(), numbers + at);
		else
			putHalves(at, narrowFinite(values));
	}

	HWY_INLINE void putHalves(size_t at, hn::Vec<HalfTag> values)
	{
		const auto magnitude = hn::And(values, hn::Set(HalfTag(), 0x7fff));

		any = hn::Or(any, values);
		largest += hn::CountTrue(HalfTag(), hn::Eq(magnitude, hn::Set(HalfTag(), 0x7bff)));
		hn::StoreU(values, HalfTag(), halves + at);
	}

	void putOdd(size_t at, std::span<int32_t> values)
	{
		if (numbers) {
			std::ranges::copy(values, numbers + at);
			return;
		}
		convertSdpOutput(op, values, counters);
		for (const int32_t value : values) {
			halves[at++] = static_cast<uint16_t>(value);
			counters.nonZero |= value != 0;
		}
	}

	void addTo(SdpCounters &all) const
	{
		all += counters;
		all.saturation += static_cast<uint32_t>(largest);
		all.nonZero |= !hn::AllTrue(HalfTag(), hn::Eq(any, hn::Zero(HalfTag())));
	}
};

/** The ALU, multiplier and ReLU operations of all stages, in order, and their input */
struct Run {
	static constexpr size_t kMostSteps = 3 * 3;

	const SdpOp &op;
	std::span<const SdpStageRun> runs;
	std::span<const int32_t> in;
	size_t count = 0;
	Step steps[kMostSteps] = {};

	/** \return false if vectors do not support the operation */
	bool set()
	{
		bool fits = op.proc == Precision::Fp16 && op.lanes() == kLanes;

		for (const SdpStageRun &run : runs)
			fits = fits && (run.isY ? setMultiplier(run) && setAlu(run)
						: setAlu(run) && setMultiplier(run));
		return fits;
	}

	void work(Output &output) const
	{
		size_t at = 0;

		for (; at + Atoms::kValues <= in.size(); at += Atoms::kValues)
			workOn<Atoms>(at, output);
		for (; at < in.size(); at += kLanes)
			workOn<Atom>(at, output);
	}

private:
	bool add(Step::Unit unit, const SdpOperandRun &operands)
	{
		steps[count].unit = unit;
		return steps[count++].operands.set(operands);
	}

	bool setAlu(const SdpStageRun &run)
	{
		if (run.stage->alu.bypass)
			return true;
		switch (run.stage->algorithm) {
		case SdpAlu::Equal:
			return false;
		case SdpAlu::Max:
			return add(Step::Unit::Maximum, run.alu);
		case SdpAlu::Min:
			return add(Step::Unit::Minimum, run.alu);
		case SdpAlu::Sum:
			break;
		}
		return add(Step::Unit::Sum, run.alu);
	}

	/* X's multiplier is followed by ReLU. */
	bool setMultiplier(const SdpStageRun &run)
	{
		const bool fits =
			run.stage->mul.bypass ||
			add(run.stage->prelu ? Step::Unit::Prelu : Step::Unit::Multiply, run.mul);

		if (!run.isY && !run.stage->reluBypass)
			steps[count++].unit = Step::Unit::Relu;
		return fits;
	}

	template<typename B>
	void workOn(size_t at, Output &output) const
	{
		/* Without vectors the reference is as fast. */
		if constexpr (HWY_TARGET != HWY_SCALAR) {
			B block(&in[at]);
			for (size_t i = 0; i < count; i++)
				block.apply(steps[i], at);
			if (HWY_LIKELY(hn::AllFalse(Tag(), block.odd))) {
				block.put(output, at);
				return;
			}
		}
		int32_t values[B::kValues];
		reference(at, values);
		output.putOdd(at, values);
	}

	/** Computes the atoms from the value at index \a at on by the reference, sdp_datapath.h */
	void reference(size_t at, std::span<int32_t> values) const
	{
		const auto from = [&](const SdpOperandRun &run) -> SdpOperandRun {
			return { run.data && run.atomStride ? run.data + at : run.data,
				 run.atomStride };
		};

		std::ranges::copy(in.subspan(at, values.size()), values.begin());
		clearSdpNans(op, values);
		for (const SdpStageRun &run : runs) {
			const SdpStageRun part = { run.stage, run.isY, from(run.alu),
						   from(run.mul) };
			applySdpStage(part, Precision::Fp16, values, kLanes);
		}
	}
};

bool putStages(std::span<const SdpStageRun> stages, std::span<const int32_t> in, Output &output)
{
	Run run = { output.op, stages, in };

	if (!run.set())
		return false;
	run.work(output);
	return true;
}

bool applyStages(const SdpOp &op, std::span<const SdpStageRun> stages, std::span<const int32_t> in,
		 int32_t *out)
{
	Output output = { op, out };

	return putStages(stages, in, output);
}

bool storeStages(const SdpOp &op, std::span<const SdpStageRun> stages, std::span<const int32_t> in,
		 std::byte *bytes, SdpCounters &counters)
{
	Output output = { op, nullptr, reinterpret_cast<uint16_t *>(bytes) };

	if (op.out != Precision::Fp16 || !putStages(stages, in, output))
		return false;
	output.addTo(counters);
	return true;
}

/** \return mask of numbers that are neither zero, normal nor a NaN that FP17 can represent */
HWY_INLINE Mask isOddInput(Bits bits)
{
	const Mask nan = hn::Gt(magnitudeOf(bits), constant(fp17::kNan));
	const Mask keeps = hn::Ne(hn::And(bits, constant(0x3ff)), hn::Zero(Tag()));

	return hn::AndNot(hn::And(nan, keeps), isOdd(bits));
}

/* A NaN is below all entries, and keeps the payload bits that FP17 has. */
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

using floats::applyLut;
using floats::applyStages;
using floats::storeStages;
using floats::widenHalves;

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(applyStages);
HWY_EXPORT(applyLut);
HWY_EXPORT(storeStages);
HWY_EXPORT(widenHalves);

bool applySdpFloat(const SdpOp &op, std::span<const SdpStageRun> stages,
		   std::span<const int32_t> in, std::span<int32_t> out)
{
	return HWY_DYNAMIC_DISPATCH(applyStages)(op, stages, in, out.data());
}

bool storeSdpFloat(const SdpOp &op, std::span<const SdpStageRun> stages,
		   std::span<const int32_t> in, std::span<std::byte> bytes, SdpCounters &counters)
{
	return HWY_DYNAMIC_DISPATCH(storeStages)(op, stages, in, bytes.data(), counters);
}

void applySdpLutFloat(const FloatLut &fast, const Lut &lut, std::span<int32_t> values,
		      LutCounters &counters)
{
	HWY_DYNAMIC_DISPATCH(applyLut)(fast, lut, values, counters);
}

SpecialHalves widenSdpHalves(std::span<const std::byte> raw, std::span<int32_t> out)
{
	return HWY_DYNAMIC_DISPATCH(widenHalves)(raw, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
