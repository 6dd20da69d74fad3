/* SPDX-License-Identifier: MIT */
/*
 * The fast stages against the readable ones, which are their definition.
 */
#include "sdp/sdp_fast.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/elements.h"
#include "each_target.h"
#include "sdp/sdp_line.h"

namespace nvdla::sim
{

namespace
{

using nvdla::test::forEachTarget;
using nvdla::test::forEachTargetOf;
using nvdla::test::forEachVectorTarget;

constexpr double kAnyNumber = 0x1p31;

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

/* Stages one after the other, and what the reference makes of the input. */
struct Chain {
	Chain(std::vector<int32_t> in, size_t atomLanes, size_t count)
		: lanes(atomLanes), inputs(std::move(in)), expected(inputs)
	{
		/* Runs point to both. */
		stages.reserve(count);
		operands.reserve(2 * count);
	}

	SdpOperandRun operand(Random &random, size_t atoms, int bits)
	{
		return operands.emplace_back(random, atoms, lanes, bits).run;
	}

	void append(const SdpStage &stage, bool isY, const SdpOperandRun &alu,
		    const SdpOperandRun &mul)
	{
		runs.push_back({ &stages.emplace_back(stage), isY, alu, mul });
		applySdpStage(runs.back(), Precision::Int8, expected, lanes);
	}

	size_t lanes;
	std::vector<int32_t> inputs;
	std::vector<int32_t> expected;
	std::vector<SdpStage> stages;
	std::vector<Operands> operands;
	std::vector<SdpStageRun> runs;
};

/** \return numbers as they are in memory */
std::vector<std::byte> stored(const std::vector<int32_t> &numbers, Precision precision)
{
	std::vector<std::byte> bytes(numbers.size() * elementBytes(precision));

	narrowElements(numbers, precision, bytes);
	return bytes;
}

/** \brief A stage alone, in place; what is bypassed has no operands */
bool applyOne(const SdpStage &stage, bool isY, std::vector<int32_t> &values, size_t lanes,
	      const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	const SdpStageRun run = { &stage, isY, stage.alu.bypass ? SdpOperandRun() : alu,
				  stage.mul.bypass ? SdpOperandRun() : mul };

	return applySdpFast({ &run, 1 }, lanes, values, values);
}

/**
 * \brief What \a store writes and notes is what is expected, unless it refuses
 * \return true if it did not; nothing saturates then
 */
template<typename Store>
bool storesAre(const std::vector<std::byte> &expected, const SdpCounters &expectedCounters,
	       Store store)
{
	std::vector<std::byte> bytes(expected.size());
	SdpCounters counters;

	if (!store(std::span<std::byte>(bytes), counters)) {
		EXPECT_FALSE(counters.nonZero);
		EXPECT_EQ(counters.saturation, 0U);
		return false;
	}
	EXPECT_EQ(bytes, expected);
	EXPECT_EQ(counters.saturation, expectedCounters.saturation);
	EXPECT_EQ(counters.nonZero,
		  std::ranges::any_of(expected, [](std::byte b) { return b != std::byte{ 0 }; }));
	return true;
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

		applySdpStage({ &stage, false, alu.run, mul.run }, Precision::Int8, expected,
			      lanes);
		forEachVectorTarget([&] {
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
		applySdpStage({ &stage, true, alu.run, mul.run }, Precision::Int8, expected, lanes);
		forEachVectorTarget([&] {
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
	size_t stores = 0;

	for (int round = 0; round < 1000; round++) {
		SdpOp op;
		SdpCounters expectedCounters;

		op.flying = true; /* inputs have 32 bits */
		const auto inputs = random.numbers(32 * static_cast<size_t>(random(1, 9)), 32);
		auto expected = inputs;

		op.proc = random.coin() ? Precision::Int8 : Precision::Int16;
		op.out = random.coin() ? Precision::Int8 : Precision::Int16;
		op.converter = { .offset = random.numbers(1, 32)[0],
				 .scale = static_cast<int16_t>(random.numbers(1, 16)[0]),
				 .shift = static_cast<uint8_t>(random(0, 63)) };
		convertSdpOutput(op, expected, expectedCounters);
		saturated += expectedCounters.saturation;
		forEachVectorTarget([&] {
			const auto bytes = stored(expected, op.out);
			stores += storesAre(bytes, expectedCounters, [&](auto out, auto &counted) {
				return storeSdpFast(op, {}, 32, inputs, out, counted);
			});
		});
	}
	EXPECT_GT(saturated, 1000U);
	EXPECT_GE(stores, 1000U);
}

/* Two stages X and one Y, to numbers and to memory. */
TEST(SdpFast, StagesOneAfterTheOtherAreTheReference)
{
	Random random(504);

	size_t stores = 0;

	for (int round = 0; round < 500; round++) {
		const size_t lanes = random.coin() ? 32 : 16;
		const auto atoms = static_cast<size_t>(random(1, 9));
		const auto count = static_cast<size_t>(random(0, 3));
		Chain chain(random.numbers(atoms * lanes, 32), lanes, count);
		SdpOp op;
		SdpCounters expectedCounters;

		op.flying = true; /* inputs have 32 bits */
		for (size_t i = 0; i < count; i++) {
			const bool isY = i + 1 == count && random.coin();
			const SdpStage stage = random.stage(SdpAlu::Equal);
			const SdpOperandRun alu = chain.operand(random, atoms, 32);
			const SdpOperandRun mul = chain.operand(random, atoms, 16);
			chain.append(stage, isY, alu, mul);
		}
		op.out = random.coin() ? Precision::Int8 : Precision::Int16;
		op.converter = { .offset = random.numbers(1, 32)[0],
				 .scale = static_cast<int16_t>(random.numbers(1, 16)[0]),
				 .shift = static_cast<uint8_t>(random(0, 63)) };
		auto converted = chain.expected;
		convertSdpOutput(op, converted, expectedCounters);
		const auto bytes = stored(converted, op.out);
		forEachVectorTarget([&] {
			std::vector<int32_t> values(chain.inputs.size());
			ASSERT_TRUE(applySdpFast(chain.runs, lanes, chain.inputs, values));
			ASSERT_EQ(values, chain.expected) << "round " << round;
			stores += storesAre(bytes, expectedCounters, [&](auto out, auto &counted) {
				return storeSdpFast(op, chain.runs, lanes, chain.inputs, out,
						    counted);
			});
			SdpLine line;
			if (findSdpLine(op, chain.runs, lanes, line))
				storesAre(bytes, expectedCounters, [&](auto out, auto &counted) {
					return storeSdpLine(op, line, chain.runs, lanes,
							    chain.inputs, kAnyNumber, out, counted);
				});
		});
	}
	EXPECT_GT(stores, 100U);
}

double largestOf(const std::vector<int32_t> &numbers)
{
	const auto [lowest, highest] = std::ranges::minmax(numbers);

	return std::max<double>(highest, -static_cast<double>(lowest));
}

/* Stages as networks have them: what they make of the input has about the output's bits. */
TEST(SdpFast, LinesAreTheReference)
{
	Random random(506);
	size_t lines = 0;
	size_t stores = 0;

	for (int round = 0; round < 3000; round++) {
		const size_t lanes = random.coin() ? 32 : 16;
		const auto atoms = static_cast<size_t>(random(1, 40));
		const auto count = static_cast<size_t>(random(0, 3));
		int bits = random(8, 28);
		Chain chain(random.numbers(atoms * lanes, bits), lanes, count);
		SdpOp op;
		SdpCounters expectedCounters;

		op.flying = true; /* inputs have 32 bits */
		op.out = lanes == 32 ? Precision::Int8 : Precision::Int16;
		const int outBits = op.out == Precision::Int8 ? 9 : 17;
		for (size_t i = 0; i < count; i++) {
			const bool isY = i + 1 == count && random.coin();
			SdpStage stage = random.stage(SdpAlu::Equal);
			const int factorBits = random(2, 16);

			stage.prelu = random(0, 15) == 0;
			if (isY && stage.algorithm == SdpAlu::Equal)
				stage.algorithm = SdpAlu::Sum;
			if (!stage.mul.bypass)
				bits += factorBits - 1;
			stage.mulShift = static_cast<uint16_t>(
				random(std::max(bits - 31, 0), std::max(bits - outBits, 0)));
			if (stage.mul.bypass && isY)
				stage.mulShift = 0;
			bits -= stage.mulShift;
			const bool elements = random(0, 3) == 0;
			SdpOperandRun alu = chain.operand(random, elements ? atoms : 1, bits);
			SdpOperandRun mul = chain.operand(random, 1, factorBits);
			if (!elements)
				alu.atomStride = 0;
			mul.atomStride = 0;
			chain.append(stage, isY, alu, mul);
		}
		const int scaleBits = random.coin() ? 2 : random(2, 16);
		op.converter = { .offset = random.numbers(1, outBits - 1)[0],
				 .scale = static_cast<int16_t>(
					 scaleBits == 2 ? 1 : random.numbers(1, scaleBits)[0]),
				 .shift = static_cast<uint8_t>(
					 random(0, std::max(bits + scaleBits - 1 - outBits, 0))) };
		convertSdpOutput(op, chain.expected, expectedCounters);
		const auto bytes = stored(chain.expected, op.out);
		forEachVectorTarget([&] {
			SdpLine line;
			if (!findSdpLine(op, chain.runs, lanes, line))
				return;
			lines++;
			for (const double largest : { largestOf(chain.inputs), kAnyNumber })
				stores += storesAre(
					bytes, expectedCounters, [&](auto out, auto &counted) {
						return storeSdpLine(op, line, chain.runs, lanes,
								    chain.inputs, largest, out,
								    counted);
					});
			ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
		});
	}
	std::printf("%zu of twice %zu lines\n", stores, lines);
	EXPECT_GT(stores, lines / 2);
}

/* Requantization by two multipliers and a shift, each of which rounds, as TensorFlow Lite has it.
 */
TEST(SdpFast, LinesThatBendAreTheReference)
{
	Random random(511);
	size_t bends = 0;
	size_t stores = 0;

	for (int round = 0; round < 3000; round++) {
		const size_t lanes = random.coin() ? 32 : 16;
		const auto atoms = static_cast<size_t>(random(1, 300));
		const int shift = random(1, 6);
		const int bits = random(12, 26);
		Chain chain(random.numbers(atoms * lanes, bits), lanes, 3);
		SdpStage x1;
		SdpStage x2;
		SdpStage y;
		SdpOp op;
		SdpCounters expectedCounters;

		op.flying = true; /* inputs have 32 bits */
		op.out = lanes == 32 ? Precision::Int8 : Precision::Int16;
		op.converter = { .offset = random(-200, 200), .scale = 1, .shift = 0 };
		for (SdpStage *stage : { &x1, &x2, &y }) {
			stage->bypass = stage->mul.bypass = false;
			stage->alu.bypass = random.coin();
			stage->algorithm = SdpAlu::Sum;
		}
		x1.mulShift = 1;
		x2.reluBypass = random.coin();
		/* About ten bits and those of the shift are left. */
		x2.mulShift = static_cast<uint16_t>(bits + 28 - 1 - 10 - shift);
		y.mulShift = static_cast<uint16_t>(shift);
		y.algorithm = static_cast<SdpAlu>(random(0, 2));
		std::vector<int32_t> biases = random.numbers(lanes, bits - 1);
		std::vector<int32_t> first;
		std::vector<int32_t> second;
		std::vector<int32_t> third;
		for (size_t lane = 0; lane < lanes; lane++) {
			first.push_back(random(8000, 17000));
			second.push_back(random(-500, 32000));
			third.push_back(random(1, random.coin() ? 1 : 7));
		}
		std::vector<int32_t> moved = random.numbers(lanes, 4);
		std::vector<int32_t> ends = random.numbers(lanes, 9);
		if (random(0, 2) == 0) {
			/* From one range of bytes to another, whose end is that of the first one.
			 */
			constexpr int32_t kLast = 255;
			const int32_t scale = random(1, (1 << shift) - 1);
			op.converter.offset = 128;
			x2.alu.bypass = true;
			x2.reluBypass = y.alu.bypass = false;
			y.algorithm = SdpAlu::Min;
			std::ranges::fill(third, scale);
			std::ranges::fill(ends,
					  ((kLast * scale << 1) + (1 << shift)) >> (shift + 1));
		}
		chain.append(x1, false, { biases.data(), 0 }, { first.data(), 0 });
		chain.append(x2, false, { moved.data(), 0 }, { second.data(), 0 });
		chain.append(y, true, { ends.data(), 0 }, { third.data(), 0 });
		convertSdpOutput(op, chain.expected, expectedCounters);
		const auto bytes = stored(chain.expected, op.out);
		forEachVectorTarget([&] {
			SdpLine line;
			if (!findSdpLine(op, chain.runs, lanes, line) || !line.bends)
				return;
			bends++;
			stores += storesAre(bytes, expectedCounters, [&](auto out, auto &counted) {
				return storeSdpLine(op, line, chain.runs, lanes, chain.inputs,
						    kAnyNumber, out, counted);
			});
			ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
		});
	}
	std::printf("%zu of %zu\n", stores, bends);
	EXPECT_GT(bends, 1000U);
	EXPECT_GT(stores, bends / 2);
}

/* Every sum of INT8 and INT8, halved: half of them are exactly between two numbers. */
TEST(SdpFast, LinesRoundHalvesAsTheReferenceDoes)
{
	constexpr size_t lanes = 32;
	std::vector<int32_t> inputs;
	std::vector<int32_t> others;
	SdpStage stage;
	SdpOp op;

	for (int a = INT8_MIN; a <= INT8_MAX; a++) {
		for (int b = INT8_MIN; b <= INT8_MAX; b++) {
			inputs.push_back(a);
			others.push_back(b);
		}
	}
	stage.bypass = stage.alu.bypass = false;
	stage.algorithm = SdpAlu::Sum;
	const SdpStageRun run = { &stage, false, { others.data(), lanes }, {} };
	for (uint8_t shift = 0; shift < 12; shift++) {
		op.converter = { .offset = 0, .scale = 1, .shift = shift };
		auto expected = inputs;
		SdpCounters counters;
		applySdpStage(run, Precision::Int8, expected, lanes);
		convertSdpOutput(op, expected, counters);
		const auto bytes = stored(expected, op.out);
		forEachVectorTarget([&] {
			SdpLine line;
			ASSERT_TRUE(findSdpLine(op, { &run, 1 }, lanes, line));
			for (const double largest : { largestOf(inputs), kAnyNumber })
				ASSERT_TRUE(
					storesAre(bytes, counters, [&](auto out, auto &counted) {
						return storeSdpLine(op, line, { &run, 1 }, lanes,
								    inputs, largest, out, counted);
					}));
		});
	}
}

/* Large biases take most of single precision's bits; one number of each atom is next to a half. */
TEST(SdpFast, LinesRoundNextToHalvesAsTheReferenceDoes)
{
	constexpr size_t lanes = 32;
	constexpr size_t atoms = 100;
	constexpr int kShift = 31;
	Random random(513);

	for (int round = 0; round < 300; round++) {
		const int biasBits = random(16, 30);
		const auto biases = random.numbers(lanes, biasBits);
		std::vector<int32_t> factors(lanes);
		std::vector<int32_t> inputs(atoms * lanes);
		SdpStage stage;
		SdpOp op;

		for (int32_t &factor : factors)
			factor = random(1 << 14, INT16_MAX);
		for (size_t i = 0; i < inputs.size(); i++) {
			const size_t lane = i % lanes;
			const bool isNext = lane == i / lanes % lanes;
			const double result = random(-130, 130) + (isNext ? 0.5 : 0.25);
			inputs[i] = static_cast<int32_t>(
				std::lround(result * 0x1p31 / factors[lane]) - biases[lane]);
		}
		op.flying = true;
		stage.bypass = stage.alu.bypass = stage.mul.bypass = false;
		stage.algorithm = SdpAlu::Sum;
		stage.mulShift = kShift;
		stage.reluBypass = random.coin();
		op.converter = { .offset = 0, .scale = 1, .shift = 0 };
		const SdpStageRun run = {
			&stage, false, { biases.data(), 0 }, { factors.data(), 0 }
		};
		auto expected = inputs;
		SdpCounters counters;
		applySdpStage(run, Precision::Int8, expected, lanes);
		convertSdpOutput(op, expected, counters);
		const auto bytes = stored(expected, op.out);
		forEachVectorTarget([&] {
			SdpLine line;
			ASSERT_TRUE(findSdpLine(op, { &run, 1 }, lanes, line));
			ASSERT_TRUE(storesAre(bytes, counters,
					      [&](auto out, auto &counted) {
						      return storeSdpLine(
							      op, line, { &run, 1 }, lanes, inputs,
							      largestOf(inputs), out, counted);
					      }))
				<< "round " << round;
		});
		ASSERT_FALSE(HasFailure());
	}
}

/* Sums of elements that count in steps of their own, as compilers make them. */
void expectScaledSums(Precision precision, const std::vector<int32_t> &inputs,
		      const std::vector<int32_t> &others, uint32_t seed)
{
	const size_t lanes = atomChannels(precision);
	const bool isByte = precision == Precision::Int8;
	constexpr int rounds = 40;
	Random random(seed);
	size_t stores = 0;
	size_t runs = 0;

	for (int round = 0; round < rounds; round++) {
		Chain chain(inputs, lanes, 2);
		SdpStage x;
		SdpStage y;
		SdpOp op;
		SdpCounters counters;

		op.in = op.proc = op.out = precision;
		x.bypass = x.alu.bypass = x.mul.bypass = false;
		x.algorithm = SdpAlu::Sum;
		y.bypass = y.alu.bypass = false;
		y.algorithm = SdpAlu::Sum;
		/* Products of 16 bits with more than as many leave 32 bits, which clip them. */
		const int32_t most = isByte || round % 2 ? 32000 : 60000;
		const arith::Converter converter = { .offset = random(-30, 30),
						     .scale = static_cast<int16_t>(
							     random(-most, most) / 2),
						     .shift = 0 };
		op.converter = { .offset = random(-500000, 500000),
				 .scale = static_cast<int16_t>(random(8000, 32000)),
				 .shift = static_cast<uint8_t>(random(28, 31)) };
		std::vector<int32_t> offsets;
		std::vector<int32_t> scales;
		for (size_t lane = 0; lane < lanes; lane++) {
			offsets.push_back(random(-30, 30));
			scales.push_back(random(-most, most) / 2);
		}
		std::vector<int32_t> elements;
		for (const int32_t other : others)
			elements.push_back(
				static_cast<int32_t>(arith::saturate<32>(converter.apply(other))));
		chain.append(x, false, { offsets.data(), 0 }, { scales.data(), 0 });
		chain.append(y, true, { elements.data(), lanes }, {});
		convertSdpOutput(op, chain.expected, counters);
		const auto bytes = stored(chain.expected, precision);
		forEachVectorTarget([&] {
			SdpLine line;
			ASSERT_TRUE(findSdpLine(op, chain.runs, lanes, line));
			runs++;
			stores += storesAre(bytes, counters, [&](auto out, auto &counted) {
				return storeSdpLine(op, line, chain.runs, lanes, inputs, kAnyNumber,
						    out, counted);
			});
			ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
		});
	}
	std::printf("%zu of %zu\n", stores, runs);
	EXPECT_GT(stores, runs / 2);
}

/* Every sum of INT8 and INT8, and an atom more, so that their number is odd. */
TEST(SdpFast, LinesOfScaledSumsAreTheReference)
{
	std::vector<int32_t> inputs;
	std::vector<int32_t> others;

	for (int a = INT8_MIN; a <= INT8_MAX; a++) {
		for (int b = INT8_MIN; b <= INT8_MAX; b++) {
			inputs.push_back(a);
			others.push_back(b);
		}
	}
	inputs.resize(inputs.size() + atomChannels(Precision::Int8), INT8_MAX);
	others.resize(inputs.size(), INT8_MIN);
	expectScaledSums(Precision::Int8, inputs, others, 509);
}

/* Sums of INT16, the largest ones included, of an odd number of atoms. */
TEST(SdpFast, LinesOfScaledInt16SumsAreTheReference)
{
	constexpr size_t count = 1001 * atomChannels(Precision::Int16);
	Random random(510);
	std::vector<int32_t> inputs;
	std::vector<int32_t> others;
	const auto element = [&] {
		return random(0, 9) ? random(INT16_MIN, INT16_MAX)
				    : (random(0, 1) ? INT16_MAX : INT16_MIN);
	};

	for (size_t i = 0; i < count; i++) {
		inputs.push_back(element());
		others.push_back(element());
	}
	expectScaledSums(Precision::Int16, inputs, others, 511);
}

TEST(SdpFast, OperandsAreConvertedAsTheReferenceDoes)
{
	Random random(505);

	for (int round = 0; round < 1000; round++) {
		const arith::Converter converter = {
			.offset = random.numbers(1, random.coin() ? 16 : 32)[0],
			.scale = static_cast<int16_t>(random.numbers(1, 16)[0]),
			.shift = static_cast<uint8_t>(random(0, random.coin() ? 0 : 63))
		};
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

TEST(SdpFast, ElementsAreWidenedAsTheReferenceDoes)
{
	for (const Precision precision : { Precision::Int8, Precision::Int16 }) {
		for (const size_t count : { 1, 16, 100 }) {
			std::vector<std::byte> raw(count * elementBytes(precision));
			for (size_t i = 0; i < raw.size(); i++)
				raw[i] = static_cast<std::byte>(i * 77);
			std::vector<int32_t> expected(count);
			widenElements(raw, precision, expected);
			forEachTarget([&] {
				std::vector<int32_t> values(count);
				widenSdpElements(raw, precision, values);
				EXPECT_EQ(values, expected);
				widenSdpElements(raw, precision, values, 3);
				for (int32_t &value : values)
					value >>= 3;
				EXPECT_EQ(values, expected);
			});
		}
	}
}

/* Kernels of one lane take as long to compile as two sets of vectors, for processors that are rare.
 */
TEST(SdpFast, ScalarsAreLeftToTheReference)
{
	SdpOp op;
	SdpLine line;
	SdpCounters counters;
	std::vector<int32_t> values(32, 1);
	std::vector<std::byte> bytes(32);

	op.proc = op.out = Precision::Int8;
	forEachTargetOf(HWY_SCALAR, [&] {
		EXPECT_FALSE(applySdpFast({}, 32, values, values));
		EXPECT_FALSE(storeSdpFast(op, {}, 32, values, bytes, counters));
		EXPECT_FALSE(findSdpLine(op, {}, 32, line));
	});
	EXPECT_EQ(values, std::vector<int32_t>(32, 1));
}

TEST(SdpFast, TheConverterLeavesFloatsToTheReference)
{
	SdpOp op;
	SdpCounters counters;
	std::vector<int32_t> values(32);
	std::vector<std::byte> bytes(64);

	op.proc = Precision::Int8;
	op.out = Precision::Fp16;
	EXPECT_FALSE(storeSdpFast(op, {}, 32, values, bytes, counters));
	op.proc = op.out = Precision::Fp16;
	EXPECT_FALSE(storeSdpFast(op, {}, 32, values, bytes, counters));
}

} /* namespace nvdla::sim */
