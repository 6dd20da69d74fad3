/* SPDX-License-Identifier: MIT */
/*
 * The fast stages against the readable ones, which are their definition.
 */
#include "sdp/sdp_fast.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/elements.h"
#include "each_target.h"

namespace nvdla::sim
{

namespace
{

using nvdla::test::forEachTarget;

class Random
{
public:
	explicit Random(uint32_t seed) : engine_(seed) { std::printf("seed %u\n", seed); }

	/** \return a number from \a low to \a high */
	int operator()(int low, int high)
	{
		return std::uniform_int_distribution<int>(low, high)(engine_);
	}

	bool coin() { return (*this)(0, 1); }

	/** \return \a count numbers of \a bits bits, as often small as large, and the extremes */
	std::vector<int32_t> numbers(size_t count, int bits)
	{
		std::vector<int32_t> numbers(count);

		for (int32_t &number : numbers) {
			const auto any = static_cast<int32_t>(engine_());
			const int32_t extreme = any < 0 ? INT32_MIN : INT32_MAX;
			number = ((*this)(0, 7) ? any >> (*this)(0, bits - 1) : extreme) >>
				 (32 - bits);
		}
		return numbers;
	}

	SdpStage stage(SdpAlu last)
	{
		SdpStage stage;

		stage.bypass = false;
		stage.algorithm = static_cast<SdpAlu>((*this)(0, static_cast<int>(last)));
		stage.alu.bypass = (*this)(0, 3) == 0;
		stage.mul.bypass = (*this)(0, 3) == 0;
		stage.prelu = coin();
		stage.reluBypass = coin();
		stage.mulShift = static_cast<uint16_t>((*this)(0, coin() ? 63 : 8));
		return stage;
	}

private:
	std::mt19937 engine_;
};

/* A stage's operands, for each element or for each channel. */
struct Operands {
	Operands(Random &random, size_t atoms, size_t lanes, int bits)
		: perElement(random.coin()),
		  values(random.numbers(perElement ? atoms * lanes : lanes, bits)), run{
			  values.data(), perElement ? lanes : 0
		  }
	{
	}

	bool perElement;
	std::vector<int32_t> values;
	SdpOperandRun run;
};

/** \brief A stage alone, in place; what is bypassed has no operands */
bool applyOne(const SdpStage &stage, bool isY, std::vector<int32_t> &values, size_t lanes,
	      const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	const SdpStageRun run = { &stage, isY, stage.alu.bypass ? SdpOperandRun() : alu,
				  stage.mul.bypass ? SdpOperandRun() : mul };

	return applySdpFast({ &run, 1 }, lanes, values, values);
}

} /* namespace */

TEST(SdpFast, XIsTheReference)
{
	Random random(501);

	for (int round = 0; round < 1000; round++) {
		const size_t lanes = random.coin() ? 32 : 16;
		const auto atoms = static_cast<size_t>(random(1, 9));
		const SdpStage stage = random.stage(SdpAlu::Equal);
		const auto inputs = random.numbers(atoms * lanes, 32);
		const Operands alu(random, atoms, lanes, 32);
		const Operands mul(random, atoms, lanes, 16);
		auto expected = inputs;

		applySdpX(stage, Precision::Int8, expected, lanes, alu.run, mul.run);
		forEachTarget([&] {
			auto values = inputs;
			ASSERT_TRUE(applyOne(stage, false, values, lanes, alu.run, mul.run));
			ASSERT_EQ(values, expected) << "round " << round;
		});
	}
}

TEST(SdpFast, YIsTheReference)
{
	Random random(502);

	for (int round = 0; round < 1000; round++) {
		const size_t lanes = random.coin() ? 32 : 16;
		const auto atoms = static_cast<size_t>(random(1, 9));
		SdpStage stage = random.stage(SdpAlu::Equal);
		const auto inputs = random.numbers(atoms * lanes, 32);
		const Operands alu(random, atoms, lanes, 32);
		const Operands mul(random, atoms, lanes, 21);
		auto expected = inputs;

		if (random(0, 7) == 0)
			stage.mulShift = 1023;
		applySdpY(stage, Precision::Int8, expected, lanes, alu.run, mul.run);
		forEachTarget([&] {
			auto values = inputs;
			ASSERT_TRUE(applyOne(stage, true, values, lanes, alu.run, mul.run));
			ASSERT_EQ(values, expected) << "round " << round;
		});
	}
}

TEST(SdpFast, YRefusesMultipliersThatDoublesDoNotHold)
{
	SdpStage stage;
	std::vector<int32_t> values(32, 1);
	std::vector<int32_t> mul(32, 1 << 20);

	stage.mul.bypass = false;
	EXPECT_FALSE(applyOne(stage, true, values, 32, {}, { mul.data(), 32 }));
	mul.assign(32, -(1 << 20) - 1);
	EXPECT_FALSE(applyOne(stage, true, values, 32, {}, { mul.data(), 0 }));
	EXPECT_EQ(values, std::vector<int32_t>(32, 1));
}

TEST(SdpFast, TheConverterIsTheReference)
{
	Random random(503);
	uint32_t saturated = 0;

	for (int round = 0; round < 1000; round++) {
		SdpOp op;
		SdpCounters expectedCounters;
		const auto inputs = random.numbers(32 * static_cast<size_t>(random(1, 9)), 32);
		auto expected = inputs;

		op.proc = random.coin() ? Precision::Int8 : Precision::Int16;
		op.out = random.coin() ? Precision::Int8 : Precision::Int16;
		op.converter = { .offset = random.numbers(1, 32)[0],
				 .scale = static_cast<int16_t>(random.numbers(1, 16)[0]),
				 .shift = static_cast<uint8_t>(random(0, 63)) };
		convertSdpOutput(op, expected, expectedCounters);
		saturated += expectedCounters.saturation;
		forEachTarget([&] {
			auto values = inputs;
			SdpCounters counters;
			ASSERT_TRUE(convertSdpOutputFast(op, values, counters));
			ASSERT_EQ(values, expected) << "round " << round;
			ASSERT_EQ(counters.saturation, expectedCounters.saturation);

			std::vector<std::byte> stored(values.size() * elementBytes(op.out));
			std::vector<std::byte> bytes(stored.size());
			SdpCounters storeCounters;
			narrowElements(expected, op.out, bytes);
			ASSERT_TRUE(storeSdpFast(op, {}, 32, inputs, stored, storeCounters));
			ASSERT_EQ(stored, bytes) << "round " << round;
			ASSERT_EQ(storeCounters.saturation, expectedCounters.saturation);
			ASSERT_EQ(storeCounters.nonZero,
				  std::ranges::any_of(expected, [](int32_t n) { return n != 0; }));
		});
	}
	EXPECT_GT(saturated, 1000U);
}

/* Two stages X and one Y, to numbers and to memory. */
TEST(SdpFast, StagesOneAfterTheOtherAreTheReference)
{
	Random random(504);

	for (int round = 0; round < 500; round++) {
		const size_t lanes = random.coin() ? 32 : 16;
		const auto atoms = static_cast<size_t>(random(1, 9));
		const auto count = static_cast<size_t>(random(0, 3));
		const auto inputs = random.numbers(atoms * lanes, 32);
		std::vector<SdpStage> stages(count);
		std::vector<Operands> operands;
		std::vector<SdpStageRun> runs;
		SdpOp op;
		SdpCounters expectedCounters;
		auto expected = inputs;

		operands.reserve(2 * count);
		for (size_t i = 0; i < count; i++) {
			const bool isY = i + 1 == count && random.coin();
			stages[i] = random.stage(SdpAlu::Equal);
			const SdpOperandRun alu =
				operands.emplace_back(random, atoms, lanes, 32).run;
			const SdpOperandRun mul =
				operands.emplace_back(random, atoms, lanes, 16).run;
			runs.push_back({ &stages[i], isY, alu, mul });
			(isY ? applySdpY : applySdpX)(stages[i], Precision::Int8, expected, lanes,
						      alu, mul);
		}
		op.out = random.coin() ? Precision::Int8 : Precision::Int16;
		op.converter = { .offset = random.numbers(1, 32)[0],
				 .scale = static_cast<int16_t>(random.numbers(1, 16)[0]),
				 .shift = static_cast<uint8_t>(random(0, 63)) };
		auto converted = expected;
		convertSdpOutput(op, converted, expectedCounters);
		std::vector<std::byte> bytes(converted.size() * elementBytes(op.out));
		narrowElements(converted, op.out, bytes);
		forEachTarget([&] {
			std::vector<int32_t> values(inputs.size());
			std::vector<std::byte> stored(bytes.size());
			SdpCounters counters;
			ASSERT_TRUE(applySdpFast(runs, lanes, inputs, values));
			ASSERT_EQ(values, expected) << "round " << round;
			ASSERT_TRUE(storeSdpFast(op, runs, lanes, inputs, stored, counters));
			ASSERT_EQ(stored, bytes) << "round " << round;
			ASSERT_EQ(counters.saturation, expectedCounters.saturation);
		});
	}
}

TEST(SdpFast, OperandsAreConvertedAsTheReferenceDoes)
{
	Random random(505);

	for (int round = 0; round < 1000; round++) {
		const arith::Converter converter = { .offset = random.numbers(1, 32)[0],
						     .scale = static_cast<int16_t>(
							     random.numbers(1, 16)[0]),
						     .shift = static_cast<uint8_t>(random(0, 63)) };
		const auto inputs = random.numbers(static_cast<size_t>(random(1, 50)), 16);
		auto expected = inputs;

		for (int32_t &value : expected)
			value = static_cast<int32_t>(arith::saturate<32>(converter.apply(value)));
		forEachTarget([&] {
			auto values = inputs;
			convertSdpOperandsFast(converter, values);
			ASSERT_EQ(values, expected) << "round " << round;
		});
	}
}

TEST(SdpFast, TheConverterLeavesFloatsToTheReference)
{
	SdpOp op;
	SdpCounters counters;
	std::vector<int32_t> values(32);

	op.proc = Precision::Int8;
	op.out = Precision::Fp16;
	EXPECT_FALSE(convertSdpOutputFast(op, values, counters));
	op.proc = op.out = Precision::Fp16;
	EXPECT_FALSE(convertSdpOutputFast(op, values, counters));
}

} /* namespace nvdla::sim */
