/* SPDX-License-Identifier: MIT */
/*
 * Stages of FP16 to memory, of elements and behind a convolution, against the readable ones, which
 * are their definition.
 */
#include "sdp/sdp_float.h"

#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "arith/float.h"
#include "each_target.h"

namespace nvdla::sim
{

namespace
{

using Halves = std::vector<uint16_t>;

constexpr size_t kLanes = 16;

class HalfDice
{
public:
	explicit HalfDice(uint32_t seed) : engine_(seed) { std::printf("seed %u\n", seed); }

	uint32_t below(uint32_t end) { return static_cast<uint32_t>(engine_() % end); }

	bool coin() { return below(2); }

	/** \param special one in how many is infinite or no number; 0 for none */
	uint16_t half(uint32_t special)
	{
		auto bits = static_cast<uint16_t>(engine_());

		if (special && below(special) == 0)
			return bits | 0x7c00;
		if ((bits & 0x7c00) == 0x7c00)
			bits ^= 0x4000;
		/* Near one often, so that they meet and cancel; zeroes, denormal numbers. */
		const uint32_t kind = below(8);
		if (kind < 3)
			return static_cast<uint16_t>((bits & 0x87f0) | 0x3800);
		return kind == 3 ? bits & 0x8000 : kind == 4 ? bits & 0x83ff : bits;
	}

	Halves halves(size_t count, uint32_t special)
	{
		Halves halves(count);

		for (uint16_t &bits : halves)
			bits = half(special);
		return halves;
	}

	/**
	 * \return the bits of a number as sums of products are: FP16's significant bits and more,
	 * and half of those that sums do not have, infinities, NaNs, denormal and too large numbers
	 * \param special one in how many is one of these; 0 for none
	 */
	int32_t single(uint32_t special)
	{
		const auto bits = static_cast<uint32_t>(engine_());

		if (special && below(special) == 0)
			return static_cast<int32_t>(coin() ? bits | 0x7f800000 : bits);
		const uint32_t half = arith::fp16ToFp32(this->half(0));
		/* A few bits more than FP16 has: what is cut off, and exactly a half of it. */
		const uint32_t more = coin() ? 0x1000 : bits & 0x1fff;
		return static_cast<int32_t>(half & 0x7fffffff ? half | more : half);
	}

	std::vector<int32_t> singles(size_t count, uint32_t special)
	{
		std::vector<int32_t> singles(count);

		for (int32_t &bits : singles)
			bits = single(special);
		return singles;
	}

	SdpStage stage(bool isY)
	{
		SdpStage stage;

		stage.bypass = false;
		stage.algorithm = static_cast<SdpAlu>(below(3));
		stage.alu.bypass = below(4) == 0;
		stage.mul.bypass = coin();
		stage.prelu = coin();
		stage.reluBypass = isY || coin();
		return stage;
	}

private:
	std::mt19937 engine_;
};

/** \return FP32 bits, as the arithmetic takes them */
std::vector<int32_t> numbersOf(const SdpOp &op, const Halves &halves)
{
	std::vector<int32_t> numbers;

	for (const uint16_t half : halves)
		numbers.push_back(op.nanToZero && arith::Fp16::isNan(half)
					  ? 0
					  : static_cast<int32_t>(arith::fp16ToFp32(half)));
	return numbers;
}

/** A stage and its operands in all forms */
struct HalfStage {
	HalfStage(HalfDice &dice, const SdpOp &op, size_t count, bool last, uint32_t special)
		: isY(last && dice.coin()), perElement(dice.coin()), stage(dice.stage(isY)),
		  alu(numbersOf(
			  op, dice.halves(perElement ? count : kLanes, perElement ? special : 0))),
		  mul(numbersOf(op, dice.halves(kLanes, 0)))
	{
	}

	SdpOperandRun aluRun() const { return { alu.data(), perElement ? kLanes : 0 }; }

	SdpStageRun run() const { return { &stage, isY, aluRun(), { mul.data(), 0 } }; }

	bool isY;
	bool perElement;
	SdpStage stage;
	std::vector<int32_t> alu;
	std::vector<int32_t> mul;
};

/** Some stages, and what the reference makes of numbers in front of them */
struct HalfChain {
	/** \param numbers FP32 bits, whole atoms */
	HalfChain(HalfDice &dice, const SdpOp &op, std::vector<int32_t> numbers, uint32_t special)
		: expected(std::move(numbers))
	{
		const uint32_t stageCount = dice.below(4);

		for (uint32_t i = 0; i < stageCount; i++)
			stages.emplace_back(dice, op, expected.size(), i == 2, special);
		for (const HalfStage &stage : stages) {
			runs.push_back(stage.run());
			applySdpStage(runs.back(), op.proc, expected, kLanes);
		}
		convertSdpOutput(op, expected, counters);
	}

	/** \param in FP32 bits, NaNs included \param round to say which one failed */
	void expectSame(const SdpOp &op, const std::vector<int32_t> &in, int round) const
	{
		const Halves bits(expected.begin(), expected.end());

		nvdla::test::forEachTarget([&] {
			Halves out(bits.size());
			SdpCounters found;
			ASSERT_TRUE(storeSdpFloat(op, runs, in,
						  std::as_writable_bytes(std::span(out)), found));
			ASSERT_EQ(out, bits) << "round " << round;
			ASSERT_EQ(found.saturation, counters.saturation);
			ASSERT_EQ(found.nanOutput, counters.nanOutput);
			ASSERT_EQ(found.nonZero, out != Halves(out.size()));
		});
	}

	std::vector<int32_t> expected;
	std::vector<HalfStage> stages;
	std::vector<SdpStageRun> runs;
	SdpCounters counters;
};

} /* namespace */

TEST(SdpFloatStages, OfElementsAreTheReference)
{
	HalfDice dice(508);

	for (int round = 0; round < 3000; round++) {
		const size_t count = kLanes * (1 + dice.below(20));
		const uint32_t special = dice.coin() ? 0 : 100;
		SdpOp op;

		op.in = op.proc = op.out = Precision::Fp16;
		op.nanToZero = dice.coin();
		const Halves in = dice.halves(count, special);
		HalfChain(dice, op, numbersOf(op, in), special)
			.expectSame(op, numbersOf({}, in), round);
	}
}

TEST(SdpFloatStages, BehindAConvolutionAreTheReference)
{
	HalfDice dice(509);

	for (int round = 0; round < 3000; round++) {
		const size_t count = kLanes * (1 + dice.below(20));
		const uint32_t special = dice.coin() ? 0 : 100;
		SdpOp op;

		op.in = op.proc = op.out = Precision::Fp16;
		op.flying = true;
		op.nanToZero = dice.coin();
		const std::vector<int32_t> in = dice.singles(count, special);
		std::vector<int32_t> numbers = in;
		for (int32_t &number : numbers)
			if (op.nanToZero && arith::Fp32::isNan(static_cast<uint32_t>(number)))
				number = 0;
		HalfChain(dice, op, numbers, special).expectSame(op, in, round);
	}
}

} /* namespace nvdla::sim */
