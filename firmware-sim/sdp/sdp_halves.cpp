/* SPDX-License-Identifier: MIT */
/*
 * Stages of FP16 in registers, from the bytes of memory or the accumulators of a convolution to
 * the bytes of memory.
 *
 * Finite FP16 operands keep all numbers of two X and Y's ALU far from where FP32 ends, below and
 * above, and so do accumulators, sums of their products: IEEE 754 gives what arith/float.h defines,
 * but for the sign of a sum of zero. An atom with an infinity, a NaN, or an accumulator that is no
 * such sum goes through the reference.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "sdp/sdp_halves.h"

#include <algorithm>
#include <utility>

#include "arith/float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sdp/sdp_halves.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "arith/float_bits-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{
/* The names here are others' as well. */
namespace halves
{

using namespace float_bits;

constexpr size_t kLanes = atomChannels(Precision::Fp16);

/** \param count whole atoms \return true if all are finite */
HWY_INLINE bool areFinite(const uint16_t *bits, size_t count)
{
	return halvesAreBelow(bits, count, 0x7c00);
}

/** \return true if all are zero, or between 2^-60 and 2^60, where products are finite and normal */
HWY_INLINE bool areFinite(const int32_t *bits, size_t count)
{
	constexpr int32_t kLeast = 0x21800000;
	constexpr int32_t kMost = 0x5d800000;
	auto odd = hn::MaskFromVec(hn::Zero(Tag()));

	for (size_t i = 0; i < count; i += hn::Lanes(Tag())) {
		const Bits magnitude = magnitudeOf(load(bits + i));
		const Mask small = hn::And(hn::Lt(magnitude, constant(kLeast)),
					   hn::Ne(magnitude, hn::Zero(Tag())));
		odd = hn::Or(odd, hn::Or(small, hn::Gt(magnitude, constant(kMost))));
	}
	return hn::AllFalse(Tag(), odd);
}

/** \param bits of finite numbers \return FP32 bits */
HWY_INLINE Bits loadFinite(const uint16_t *bits)
{
	return widenFinite(bits);
}

HWY_INLINE Bits loadFinite(const int32_t *bits)
{
	return load(bits);
}

/** \return numbers in whose order, as integers, those of FP32 are; its own inverse */
HWY_INLINE Bits ordered(Bits bits)
{
	return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), constant(kMagnitude)));
}

struct Maximum {
	static HWY_INLINE Bits apply(Bits value, Bits operand)
	{
		return ordered(hn::Max(ordered(value), ordered(operand)));
	}
};

struct Minimum {
	static HWY_INLINE Bits apply(Bits value, Bits operand)
	{
		return ordered(hn::Min(ordered(value), ordered(operand)));
	}
};

struct Sum {
	static HWY_INLINE Bits apply(Bits value, Bits operand)
	{
		const Bits sum = asBits(hn::Add(asFloat(value), asFloat(operand)));
		/* Of two zeroes, and of what cancels, the first one's sign stays. */
		const Mask zero = hn::Eq(magnitudeOf(sum), hn::Zero(Tag()));

		return hn::IfThenElse(zero, signOf(value), sum);
	}
};

HWY_INLINE Mask isNegative(Bits bits)
{
	return hn::Lt(bits, hn::Zero(Tag()));
}

/** A stage, ready for vectors */
struct Stage {
	explicit Stage(const SdpStageRun &run)
		: algorithm(run.stage->algorithm), hasAlu(!run.stage->alu.bypass),
		  multiplies(!run.stage->mul.bypass), prelu(run.stage->prelu),
		  relu(!run.isY && !run.stage->reluBypass), alu(run.alu.data), mul(run.mul.data),
		  elements(reinterpret_cast<const uint16_t *>(run.aluBytes))
	{
	}
	Stage() {}

	HWY_INLINE Bits multiplied(Bits value, size_t at) const
	{
		const Bits factor = load(mul + at % kLanes);
		const Bits product = asBits(hn::Mul(asFloat(value), asFloat(factor)));

		return prelu ? hn::IfThenElse(isNegative(value), product, value) : product;
	}

	SdpAlu algorithm = SdpAlu::Max;
	bool hasAlu = false;
	bool multiplies = false;
	bool prelu = false;
	bool relu = false;
	const int32_t *alu = nullptr;
	const int32_t *mul = nullptr;
	const uint16_t *elements = nullptr; /* the ALU's, null: it has one for each channel */
};

bool areSmall(const SdpOperand &operand, const SdpOperandRun &run)
{
	for (size_t i = 0; !operand.bypass && i < kLanes; i++)
		if ((run.data[i] & kMagnitude) > kLargestHalf)
			return false;
	return true;
}

bool accepts(const SdpStageRun &run)
{
	const SdpStage &stage = *run.stage;

	if (run.isY && (!stage.mul.bypass || (!stage.alu.bypass && !stage.alu.fromMemory)))
		return false;
	if (!stage.alu.bypass && stage.algorithm == SdpAlu::Equal)
		return false;
	if (!stage.mul.bypass && (run.mul.atomStride || !areSmall(stage.mul, run.mul)))
		return false;
	if (run.alu.atomStride)
		return run.aluBytes != nullptr;
	return areSmall(stage.alu, run.alu);
}

/** Vectors that go through the stages side by side: indices are constants once inlined */
template<size_t... kIndex>
struct Block {
	static constexpr size_t kStep = hn::MaxLanes(Tag());
	static constexpr size_t kValues = sizeof...(kIndex) * kStep;

	Bits values[sizeof...(kIndex)];

	template<typename In>
	HWY_INLINE explicit Block(const In *in) : values{ loadFinite(in + kIndex * kStep)... }
	{
	}

	template<typename Alu>
	HWY_INLINE void compute(const Stage &stage, size_t at)
	{
		if (stage.elements) {
			const uint16_t *from = stage.elements + at;
			((values[kIndex] =
				  Alu::apply(values[kIndex], widenFinite(from + kIndex * kStep))),
			 ...);
			return;
		}
		((values[kIndex] = Alu::apply(values[kIndex],
					      load(stage.alu + (at + kIndex * kStep) % kLanes))),
		 ...);
	}

	/** \param at number of the first value */
	HWY_INLINE void apply(const Stage &stage, size_t at)
	{
		if (stage.hasAlu && stage.algorithm == SdpAlu::Max)
			compute<Maximum>(stage, at);
		else if (stage.hasAlu && stage.algorithm == SdpAlu::Min)
			compute<Minimum>(stage, at);
		else if (stage.hasAlu)
			compute<Sum>(stage, at);
		if (stage.multiplies)
			((values[kIndex] = stage.multiplied(values[kIndex], at + kIndex * kStep)),
			 ...);
		if (stage.relu)
			((values[kIndex] =
				  hn::IfThenZeroElse(isNegative(values[kIndex]), values[kIndex])),
			 ...);
	}

	HWY_INLINE void put(uint16_t *out) const
	{
		(hn::StoreU(narrowFinite(values[kIndex]), HalfTag(), out + kIndex * kStep), ...);
	}
};

template<size_t... kIndex>
Block<kIndex...> blockOf(std::index_sequence<kIndex...>);

/** Vectors of an atom, and as many as go well side by side: whole atoms, too */
constexpr size_t kAtomVectors = kLanes / hn::MaxLanes(Tag());
using Atom = decltype(blockOf(std::make_index_sequence<kAtomVectors>()));
using Atoms = decltype(blockOf(std::make_index_sequence<std::max<size_t>(kAtomVectors, 4)>()));

/** What is counted of finite results: the atoms of a run, whose number in a lane has 16 bits */
void countResults(const uint16_t *halves, size_t count, SdpCounters &counters)
{
	const hn::CappedTag<uint16_t, kLanes> tag;
	uint16_t lanes[hn::MaxLanes(tag)];
	auto any = hn::Zero(tag);     /* bits that one has */
	auto largest = hn::Zero(tag); /* for each lane, how many are the largest number */

	for (size_t i = 0; i < count; i += hn::Lanes(tag)) {
		const auto result = hn::LoadU(tag, halves + i);
		const auto magnitude = hn::And(result, hn::Set(tag, 0x7fff));
		any = hn::Or(any, result);
		largest = hn::Sub(largest,
				  hn::VecFromMask(tag, hn::Eq(magnitude, hn::Set(tag, 0x7bff))));
	}
	counters.nonZero |= !hn::AllTrue(tag, hn::Eq(any, hn::Zero(tag)));
	hn::StoreU(largest, tag, lanes);
	for (const uint16_t lane : lanes)
		counters.saturation += lane;
}

/** The stages and what they work on: FP16 of memory, or FP32 bits */
template<typename In>
struct Run {
	static constexpr size_t kMostStages = 3;

	const SdpOp &op;
	std::span<const SdpStageRun> runs;
	Stage stages[kMostStages];
	const In *in;
	uint16_t *out;

	HWY_INLINE bool areFiniteAt(size_t at, size_t count) const
	{
		bool finite = areFinite(in + at, count);

		for (size_t i = 0; i < runs.size(); i++)
			if (stages[i].elements)
				finite = finite && areFinite(stages[i].elements + at, count);
		return finite;
	}

	template<typename B>
	HWY_INLINE void storeBlock(size_t at) const
	{
		B block(in + at);

		for (size_t i = 0; i < runs.size(); i++)
			block.apply(stages[i], at);
		block.put(out + at);
	}

	/** \brief Atoms from \a at on, all of whose numbers are finite */
	void storeFinite(size_t at, size_t count, SdpCounters &counters) const
	{
		const size_t end = at + count;

		for (size_t i = at; i < end;) {
			if (i + Atoms::kValues <= end) {
				storeBlock<Atoms>(i);
				i += Atoms::kValues;
			} else {
				storeBlock<Atom>(i);
				i += kLanes;
			}
		}
		countResults(out + at, count, counters);
	}

	/** The readable way for one number */
	void compute(size_t at, SdpCounters &counters) const;
};

/** \return FP32 bits of a number \param clearsNan NaNs are zero */
int32_t numberOf(uint16_t half, bool clearsNan)
{
	const bool cleared = clearsNan && arith::Fp16::isNan(half);

	return cleared ? 0 : static_cast<int32_t>(arith::fp16ToFp32(half));
}

int32_t numberOf(int32_t bits, bool clearsNan)
{
	return clearsNan && arith::Fp32::isNan(static_cast<uint32_t>(bits)) ? 0 : bits;
}

void countInput(uint16_t half, SdpCounters &counters)
{
	counters.nanInput += arith::Fp16::isNan(half);
	counters.infInput += arith::Fp16::isInf(half);
}

/* Only what is read from memory counts. */
void countInput(int32_t, SdpCounters &)
{
}

template<typename In>
void Run<In>::compute(size_t at, SdpCounters &counters) const
{
	const size_t lane = at % kLanes;
	int32_t value = numberOf(in[at], op.nanToZero);

	countInput(in[at], counters);
	for (size_t i = 0; i < runs.size(); i++) {
		const Stage &stage = stages[i];
		const int32_t element =
			stage.elements ? numberOf(stage.elements[at], op.nanToZero) : 0;
		const int32_t *alu = stage.elements ? &element : stage.alu + lane;
		(runs[i].isY ? applySdpY
			     : applySdpX)(*runs[i].stage, Precision::Fp16, { &value, 1 }, 1,
					  { stage.hasAlu ? alu : nullptr, 0 },
					  { stage.multiplies ? stage.mul + lane : nullptr, 0 });
	}
	convertSdpOutput(op, { &value, 1 }, counters);
	out[at] = static_cast<uint16_t>(value);
}

template<typename In>
bool store(const SdpOp &op, std::span<const SdpStageRun> stages, const In *in, size_t count,
	   std::byte *out, SdpCounters &counters)
{
	Run<In> run = { op, stages, {}, in, reinterpret_cast<uint16_t *>(out) };

	for (size_t i = 0; i < stages.size(); i++) {
		if (!accepts(stages[i]))
			return false;
		run.stages[i] = Stage(stages[i]);
	}
	if (run.areFiniteAt(0, count)) {
		run.storeFinite(0, count, counters);
		return true;
	}
	for (size_t at = 0; at < count; at += kLanes) {
		if (run.areFiniteAt(at, kLanes)) {
			run.storeFinite(at, kLanes, counters);
			continue;
		}
		for (size_t i = at; i < at + kLanes; i++) {
			run.compute(i, counters);
			counters.nonZero |= run.out[i] != 0;
		}
	}
	return true;
}

} /* namespace halves */

bool storeHalvesOfTarget(const SdpOp &op, std::span<const SdpStageRun> stages,
			 std::span<const std::byte> in, std::byte *out, SdpCounters &counters)
{
	return halves::store(op, stages, reinterpret_cast<const uint16_t *>(in.data()),
			     in.size() / sizeof(uint16_t), out, counters);
}

bool storeSinglesOfTarget(const SdpOp &op, std::span<const SdpStageRun> stages,
			  std::span<const int32_t> in, std::byte *out, SdpCounters &counters)
{
	return halves::store(op, stages, in.data(), in.size(), out, counters);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(storeHalvesOfTarget);
HWY_EXPORT(storeSinglesOfTarget);

bool storeSdpHalves(const SdpOp &op, std::span<const SdpStageRun> stages,
		    std::span<const std::byte> in, std::span<std::byte> out, SdpCounters &counters)
{
	return HWY_DYNAMIC_DISPATCH(storeHalvesOfTarget)(op, stages, in, out.data(), counters);
}

bool storeSdpHalves(const SdpOp &op, std::span<const SdpStageRun> stages,
		    std::span<const int32_t> in, std::span<std::byte> out, SdpCounters &counters)
{
	return HWY_DYNAMIC_DISPATCH(storeSinglesOfTarget)(op, stages, in, out.data(), counters);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
