/* SPDX-License-Identifier: MIT */
/*
 * FP16's fast stages against the readable ones, which are their definition.
 */
#include "sdp/sdp_float.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "arith/float.h"
#include "core/elements.h"
#include "each_target.h"

namespace nvdla::sim
{

namespace
{

using nvdla::test::forEachTarget;

using CounterValues = std::array<uint32_t, 5>; /* of LutCounters */

constexpr size_t kFloatLanes = 16;

/** FP32 bits: ordinary numbers, neighbours in magnitude, and everything that is special */
class FloatDice
{
public:
	explicit FloatDice(uint32_t seed) : engine_(seed) { std::printf("seed %u\n", seed); }

	uint32_t below(uint32_t end) { return static_cast<uint32_t>(engine_() % end); }

	bool coin() { return below(2); }

	/** \param special one in how many is of no use to IEEE 754; 0 for none */
	int32_t number(uint32_t special)
	{
		constexpr uint32_t kSpecial[] = { 0x7f800000, 0x7fc00001, 0x7f800200, 0xffffffff,
						  0x00000001, 0x807fffff, 0xff800000 };
		const uint32_t sign = coin() ? 0x80000000 : 0;
		/* Half of them near one, so that they meet and cancel; half anywhere. */
		const uint32_t exponent = coin() ? 120 + below(16) : 1 + below(254);
		/* Few bits often, so that halves are met. */
		const auto mantissa = static_cast<uint32_t>(engine_()) & 0x7fffff &
				      ~((1U << (coin() ? below(23) : 0)) - 1);

		if (special && below(special) == 0)
			return static_cast<int32_t>(kSpecial[below(std::size(kSpecial))] ^ sign);
		if (below(16) == 0)
			return static_cast<int32_t>(sign);
		return static_cast<int32_t>(sign | exponent << 23 | mantissa);
	}

	std::vector<int32_t> numbers(size_t count, uint32_t special)
	{
		std::vector<int32_t> numbers(count);

		std::ranges::generate(numbers, [&] { return number(special); });
		return numbers;
	}

	SdpStage stage()
	{
		SdpStage stage;

		stage.bypass = false;
		stage.algorithm = static_cast<SdpAlu>(below(3));
		stage.alu.bypass = below(4) == 0;
		stage.mul.bypass = below(4) == 0;
		stage.prelu = coin();
		stage.reluBypass = coin();
		return stage;
	}

private:
	std::mt19937 engine_;
};

/** \brief A stage alone, in place */
bool applyOne(const SdpStage &stage, bool isY, std::vector<int32_t> &values,
	      const SdpOperandRun &alu, const SdpOperandRun &mul)
{
	const SdpStageRun run = { &stage, isY, alu, mul };
	SdpOp op;

	op.proc = Precision::Fp16;
	return applySdpFloat(op, { &run, 1 }, values, values);
}

/** \brief Atoms whose operands are those of the values' magnitude, or any */
void expectReference(bool isY, uint32_t seed)
{
	FloatDice dice(seed);
	size_t fasts = 0, runs = 0;

	for (int round = 0; round < 2000; round++) {
		const size_t count = kFloatLanes * (1 + dice.below(9));
		const uint32_t special = dice.coin() ? 0 : 1 + dice.below(40);
		const SdpStage stage = dice.stage();
		const auto inputs = dice.numbers(count, special);
		const size_t stride = dice.coin() ? kFloatLanes : 0;
		auto alu = dice.numbers(count, special);
		const auto mul = dice.numbers(count, special);
		/* What cancels, but for the last bit. */
		if (dice.below(4) == 0)
			for (size_t i = 0; i < count; i++)
				alu[i] = static_cast<int32_t>(
					(static_cast<uint32_t>(inputs[i]) ^ 0x80000000) +
					dice.below(2));
		const SdpOperandRun aluRun = { stage.alu.bypass ? nullptr : alu.data(), stride };
		const SdpOperandRun mulRun = { stage.mul.bypass ? nullptr : mul.data(), stride };
		auto expected = inputs;

		applySdpStage({ &stage, isY, aluRun, mulRun }, Precision::Fp16, expected,
			      kFloatLanes);
		forEachTarget([&] {
			/* With operands of channels that are odd there is only the reference. */
			auto values = inputs;
			const bool isFast = applyOne(stage, isY, values, aluRun, mulRun);
			ASSERT_TRUE(isFast || stride == 0);
			ASSERT_EQ(values, isFast ? expected : inputs) << "round " << round;
			fasts += isFast;
			runs++;
		});
	}
	/* Of three targets one may have scalars only. */
	EXPECT_GT(fasts, runs / 3);
}

} /* namespace */

TEST(SdpFloat, XIsTheReference)
{
	expectReference(false, 511);
}

TEST(SdpFloat, YIsTheReference)
{
	expectReference(true, 512);
}

/* Products around the smallest normal number, where IEEE 754 rounds to fewer bits. */
TEST(SdpFloat, SmallProductsAreTheReference)
{
	FloatDice dice(513);
	SdpStage stage;

	stage.mul.bypass = false;
	for (int round = 0; round < 20000; round++) {
		const auto exponent = static_cast<int32_t>(1 + dice.below(126));
		std::vector<int32_t> inputs(kFloatLanes);
		std::vector<int32_t> factors(kFloatLanes);
		for (size_t i = 0; i < kFloatLanes; i++) {
			const bool low = dice.coin();
			const auto below = static_cast<int32_t>(dice.below(4));
			inputs[i] = (exponent << 23) +
				    (low ? below : 0x7fffff - static_cast<int32_t>(dice.below(4)));
			factors[i] = ((127 - exponent) << 23) +
				     (low ? 0x7fffff - below : static_cast<int32_t>(dice.below(4)));
		}
		auto expected = inputs;

		applySdpStage({ &stage, false, {}, { factors.data(), 0 } }, Precision::Fp16,
			      expected, kFloatLanes);
		forEachTarget([&] {
			auto values = inputs;
			ASSERT_TRUE(applyOne(stage, false, values, {}, { factors.data(), 0 }));
			ASSERT_EQ(values, expected) << "round " << round;
		});
	}
}

TEST(SdpFloat, ComparisonsAreLeftToTheReference)
{
	SdpStage stage;
	std::vector<int32_t> values(kFloatLanes, 1);

	stage.algorithm = SdpAlu::Equal;
	stage.alu.bypass = false;
	EXPECT_FALSE(applyOne(stage, false, values, { values.data(), 0 }, {}));
	EXPECT_FALSE(applyOne(stage, true, values, { values.data(), 0 }, {}));
	EXPECT_EQ(values, std::vector<int32_t>(kFloatLanes, 1));
}

namespace
{

int32_t singleOf(double number)
{
	return std::bit_cast<int32_t>(static_cast<float>(number));
}

/** Tables of finite numbers, and inputs that fall where something happens */
class TableDice : public FloatDice
{
public:
	using FloatDice::FloatDice;

	LutConfig config()
	{
		const bool flat = coin();

		return { .le = table(coin(), flat),
			 .lo = table(false, flat),
			 .underflowSelectsLo = coin(),
			 .overflowSelectsLo = coin(),
			 .hybridSelectsLo = coin() };
	}

	LutTables tables()
	{
		LutTables tables;

		std::ranges::generate(tables.le, [&] { return half(); });
		std::ranges::generate(tables.lo, [&] { return half(); });
		return tables;
	}

	int32_t input(const LutConfig &config)
	{
		const LutTableConfig &table = coin() ? config.le : config.lo;
		const double start = std::bit_cast<float>(static_cast<uint32_t>(table.start));
		const double end = std::bit_cast<float>(static_cast<uint32_t>(table.end));

		switch (below(4)) {
		case 0:
			return number(20);
		case 1:
			return singleOf(end + std::ldexp(below(7) - 3.0, -8));
		default:
			return singleOf(start + std::ldexp(place(), exponent(table)));
		}
	}

private:
	int16_t half()
	{
		const uint32_t sign = coin() ? 0x8000 : 0;
		/* Near one half of them, so that neighbours cancel. */
		const uint32_t magnitude = coin() ? 0x3bf0 + below(32) : below(0x7c00);

		return static_cast<int16_t>(below(16) ? sign | magnitude : sign);
	}

	LutTableConfig table(bool exponential, bool flat)
	{
		const auto slope = [&] { return flat ? int16_t{ 0 } : half(); };
		const double start = coin() ? 0 : (below(4001) - 2000.0) / (1 << below(9));

		return { .exponential = exponential,
			 .indexOffset = static_cast<int8_t>(below(60) - 30),
			 .indexSelect =
				 static_cast<int8_t>(coin() ? below(121) - 60 : below(16) - 10),
			 .start = static_cast<uint32_t>(singleOf(start)),
			 .end = static_cast<uint32_t>(singleOf(start + below(2000))),
			 .underflow = { slope(), 0 },
			 .overflow = { slope(), 0 } };
	}

	int exponent(const LutTableConfig &table)
	{
		return table.exponential ? table.indexOffset + static_cast<int>(below(66)) - 1
					 : table.indexSelect;
	}

	/** Steps from the first entry: a fraction that is at halves of FP17, but for little */
	double place()
	{
		const double whole = coin() ? 0 : below(260);
		const double little = std::ldexp(below(9) - 4.0, -static_cast<int>(below(40)));
		const double fraction = std::ldexp(below(4097), -12);

		return below(8) ? whole + fraction + (coin() ? little : 0) : little;
	}
};

} /* namespace */

TEST(SdpFloat, TheTableIsTheReference)
{
	TableDice dice(515);
	LutCounters all;

	for (int round = 0; round < 3000; round++) {
		const LutConfig config = dice.config();
		const LutTables tables = dice.tables();
		const Lut lut(sdpLut, config, tables);
		const FloatLut fast(sdpLut, config, tables, true);
		std::vector<int32_t> inputs(kFloatLanes * (1 + dice.below(9)));
		LutCounters expectedCounters;

		ASSERT_TRUE(FloatLut::accepts(config, tables));
		std::ranges::generate(inputs, [&] { return dice.input(config); });
		auto expected = inputs;
		applySdpLut(lut, Precision::Fp16, expected, expectedCounters);
		all += expectedCounters;
		forEachTarget([&] {
			auto values = inputs;
			LutCounters counters;
			applySdpLutFloat(fast, lut, values, counters);
			ASSERT_EQ(values, expected) << "round " << round;
			ASSERT_EQ(std::bit_cast<CounterValues>(counters),
				  std::bit_cast<CounterValues>(expectedCounters));
		});
	}
	/* All ways through were gone. */
	for (const uint32_t count : std::bit_cast<CounterValues>(all))
		EXPECT_GT(count, 10000U);
}

/* All fractions of 13 bits, and what is next to them: 1 - f often has more bits than FP32. */
TEST(SdpFloat, WeightsAreTheReference)
{
	constexpr int kFractions = 1 << 13;
	const LutConfig config; /* a step is 1 */
	LutTables tables = {};
	std::vector<int32_t> inputs;
	LutCounters counters;

	for (int scale = 0; scale < 36; scale++)
		for (int i = 1; i < kFractions; i++)
			for (const int away : { -1, 0, 1 })
				inputs.push_back(singleOf(std::ldexp(i, -13 - scale)) + away);
	inputs.resize(inputs.size() / kFloatLanes * kFloatLanes);
	/* Results are the weight of the first entry, or that of the second one. */
	for (const size_t one : { 0, 1 }) {
		tables.le = {};
		tables.le[one] = 0x3c00;
		const Lut lut(sdpLut, config, tables);
		const FloatLut fast(sdpLut, config, tables, false);
		auto expected = inputs;
		applySdpLut(lut, Precision::Fp16, expected, counters);
		forEachTarget([&] {
			auto values = inputs;
			applySdpLutFloat(fast, lut, values, counters);
			ASSERT_TRUE(values == expected);
		});
	}
}

TEST(SdpFloat, TheConverterIsTheReference)
{
	FloatDice dice(514);
	uint32_t saturated = 0;
	uint32_t nans = 0;
	SdpOp op;

	op.proc = op.out = Precision::Fp16;
	for (int round = 0; round < 3000; round++) {
		SdpCounters expectedCounters;
		auto inputs = dice.numbers(kFloatLanes * (1 + dice.below(9)),
					   dice.coin() ? 0 : 1 + dice.below(40));
		/* The exponents that FP16 has, its denormal numbers and those just beside them. */
		for (int32_t &input : inputs)
			if (dice.coin())
				input = (input & ~(0xff << 23)) |
					static_cast<int32_t>(99 + dice.below(46)) << 23;
		auto expected = inputs;

		convertSdpOutput(op, expected, expectedCounters);
		saturated += expectedCounters.saturation;
		nans += expectedCounters.nanOutput;
		forEachTarget([&] {
			std::vector<std::byte> stored(inputs.size() * sizeof(uint16_t));
			std::vector<std::byte> bytes(stored.size());
			SdpCounters storeCounters;
			narrowElements(expected, op.out, bytes);
			ASSERT_TRUE(storeSdpFloat(op, {}, inputs, stored, storeCounters));
			ASSERT_EQ(stored, bytes) << "round " << round;
			ASSERT_EQ(storeCounters.saturation, expectedCounters.saturation);
			ASSERT_EQ(storeCounters.nanOutput, expectedCounters.nanOutput);
			ASSERT_EQ(storeCounters.nonZero,
				  std::ranges::any_of(expected, [](int32_t n) { return n != 0; }));
		});
	}
	EXPECT_GT(saturated, 1000U);
	EXPECT_GT(nans, 1000U);
}

TEST(SdpFloat, TheConverterLeavesOtherOutputsToTheReference)
{
	SdpOp op;
	SdpCounters counters;
	std::vector<int32_t> values(kFloatLanes);
	std::vector<std::byte> bytes(values.size() * sizeof(uint16_t));

	op.proc = Precision::Fp16;
	op.out = Precision::Int16;
	EXPECT_FALSE(storeSdpFloat(op, {}, values, bytes, counters));
}

TEST(SdpFloat, EveryHalfIsWidenedAsTheReferenceDoes)
{
	constexpr size_t kHalves = 1 << 16;
	std::vector<std::byte> raw(kHalves * sizeof(uint16_t));
	std::vector<int32_t> expected(kHalves);

	for (size_t i = 0; i < kHalves; i++) {
		const auto half = static_cast<uint16_t>(i);
		std::memcpy(&raw[i * sizeof(half)], &half, sizeof(half));
		expected[i] = static_cast<int32_t>(arith::fp16ToFp32(half));
	}
	forEachTarget([&] {
		std::vector<int32_t> values(kHalves);
		const SpecialHalves special = widenSdpHalves(raw, values);
		EXPECT_EQ(values, expected);
		EXPECT_EQ(special.nan, 2U * 1023);
		EXPECT_EQ(special.inf, 2U);
	});
}

} /* namespace nvdla::sim */
