/* SPDX-License-Identifier: MIT */
/*
 * Each element of random operations against the definition, with every instruction set.
 */
#include <cstdio>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "arith/integer.h"
#include "cdp_test_support.h"
#include "each_target.h"

using namespace nvdla::sim;
using namespace nvdla::sim::arith;
using namespace nvdla::sim::test;

namespace
{

/* What is written, and what the table counts. */
OperationResult expectRun(const CdpOp &op, const LutTables &lut, const std::vector<int32_t> &in,
			  const std::vector<int32_t> &expected, const LutCounters &counters)
{
	CdpBench bench;
	MemoryPort port = bench.port();

	bench.store(sourceAddress, op.precision, in);
	const OperationResult result = runCdp(op, lut, port);
	EXPECT_EQ(bench.load(destinationAddress, op.precision, in.size()), expected);
	const LutCounters counted = op.countsLut ? counters : LutCounters{};
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_UFLOW), counted.underflow);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_OFLOW), counted.overflow);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_HYBRID), counted.hybrid);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_LE_HIT), counted.leHit);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_LO_HIT), counted.loHit);
	return result;
}

/** \brief A channel's element by the definition; channels beyond the cube are 0 */
int32_t normalised(const CdpOp &op, const Lut &lut, const std::vector<int32_t> &channels, size_t at,
		   LutCounters &counters, uint32_t &saturated)
{
	const auto converted = [&](int64_t i) -> int64_t {
		const bool inside = i >= 0 && i < op.channels;
		if (!inside)
			return 0;
		const int64_t value = op.input.apply(channels[static_cast<size_t>(i)]);
		return op.precision == Precision::Int8 ? saturate<9>(value) : saturate<17>(value);
	};
	const auto c = static_cast<int64_t>(at);
	int64_t sum = 0;

	for (int64_t i = c - op.radius; i <= c + op.radius; i++)
		sum += converted(i) * converted(i);
	int64_t result = lut.lookup(op.squareSumBypass ? converted(c) : sum, counters);
	if (!op.mulBypass)
		result *= converted(c);
	const int64_t product = (result - op.output.offset) * op.output.scale;
	const int64_t clipped = op.precision == Precision::Int8
					? truncate<8>(product, op.output.shift)
					: truncate<16>(product, op.output.shift);
	const int64_t floor = product >> op.output.shift;
	saturated += floor > clipped + 1 || floor < clipped - 1;
	return static_cast<int32_t>(clipped);
}

/** \brief The same of FP16, as its 16 bits; \a lanes: channels and those of the last atom */
uint16_t normalisedHalf(const CdpOp &op, const Lut &lut, const std::vector<uint16_t> &lanes,
			size_t at, LutCounters &counters, uint32_t &saturated, uint32_t &nans)
{
	const auto numberAt = [&](int64_t i) -> uint32_t {
		const bool inside = i >= 0 && i < op.channels;
		const uint16_t half = inside ? lanes[static_cast<size_t>(i)] : 0;
		return op.nanToZero && Fp16::isNan(half) ? 0 : fp16ToFp17(half);
	};
	const auto square = [&](int64_t i) {
		const uint32_t value = fp17ToFp32(numberAt(i));
		return multiply<Fp32>(value, value);
	};
	const auto c = static_cast<int64_t>(at);
	const uint32_t x = numberAt(c);
	uint32_t input = fp17ToFp32(x);

	if (!op.squareSumBypass) {
		input = add<Fp32>(add<Fp32>(square(c - 1), square(c + 1)), square(c));
		for (int64_t i = 2; i <= op.radius; i++)
			input = add<Fp32>(input, add<Fp32>(square(c - i), square(c + i)));
	}
	uint32_t result = lut.lookupFloat(input, counters);
	if (!op.mulBypass)
		result = multiply<Fp17>(x, result);
	else if (Fp17::isNan(x))
		result = x;
	const uint16_t half = fp17ToFp16(result);
	saturated += (half & 0x7fff) == Fp16::kMax;
	nans += Fp16::isNan(half);
	return half;
}

} /* namespace */

TEST(CdpElements, EachIntegerIsTheDefinition)
{
	constexpr uint32_t seed = 14;
	std::mt19937 random(seed);
	std::printf("seed %u\n", seed);
	const auto pick = [&](int64_t low, int64_t high) {
		return std::uniform_int_distribution<int64_t>(low, high)(random);
	};
	/* As networks have them: steps fit 16 bits, beyond the edges nothing changes. */
	bool gentle = false;
	const auto pickSlope = [&] {
		return LutSlope{ static_cast<int16_t>(gentle ? 0 : pick(INT16_MIN, INT16_MAX)),
				 static_cast<int8_t>(pick(-16, 15)) };
	};
	const auto fill = [&](auto &entries) {
		const int64_t falls = pick(-2, 2);
		const int64_t first = falls < 0 ? -32000 : 32000;
		for (int64_t i = 0; i < static_cast<int64_t>(entries.size()); i++)
			entries[static_cast<size_t>(i)] = static_cast<int16_t>(
				gentle ? falls ? first - falls * i * 60 : pick(-16000, 16000)
				       : pick(INT16_MIN, INT16_MAX));
	};

	for (int round = 0; round < 1200; round++) {
		const bool isInt8 = round % 2;
		gentle = round % 3;
		const auto width = static_cast<uint32_t>(pick(1, 40));
		CdpOp op = operation(isInt8 ? Precision::Int8 : Precision::Int16, width, 1,
				     static_cast<uint32_t>(pick(1, 70)));
		LutTables random16;

		op.radius = static_cast<uint32_t>(pick(1, 4));
		op.squareSumBypass = pick(0, 3) == 0;
		op.mulBypass = pick(0, 3) == 0;
		op.countsLut = pick(0, 1);
		if (pick(0, 3)) {
			op.input = { .offset = static_cast<int32_t>(pick(-128, 127)),
				     .scale = static_cast<int16_t>(pick(-300, 300)),
				     .shift = static_cast<uint8_t>(pick(0, 9)) };
			if (!isInt8)
				op.input.offset *= 256;
		}
		op.output = { .offset = static_cast<int32_t>(pick(-1 << 24, 1 << 24)) >>
					static_cast<int>(pick(0, 24)),
			      .scale = static_cast<int16_t>(pick(INT16_MIN, INT16_MAX)),
			      .shift = static_cast<uint8_t>(pick(0, 31)) };
		if (pick(0, 3) == 0) /* as networks have it: few results are beyond 8 bits */
			op.output = { .offset = static_cast<int32_t>(pick(-1000, 1000)),
				      .scale = static_cast<int16_t>(pick(1, 100)),
				      .shift = static_cast<uint8_t>(isInt8 ? 22 : 24) };
		op.lut.le = { .exponential = pick(0, 1) == 1,
			      .indexOffset = static_cast<int8_t>(pick(-4, 16)),
			      .indexSelect = static_cast<int8_t>(pick(-2, isInt8 ? 17 : 32)),
			      .start = pick(-200, 20000),
			      .end = pick(0, int64_t{ 1 } << (isInt8 ? 20 : 34)),
			      .underflow = pickSlope(),
			      .overflow = pickSlope() };
		op.lut.lo = op.lut.le;
		op.lut.lo.exponential = false;
		op.lut.lo.indexSelect = static_cast<int8_t>(pick(-2, 12));
		op.lut.underflowSelectsLo = pick(0, 1);
		op.lut.overflowSelectsLo = pick(0, 1);
		op.lut.hybridSelectsLo = pick(0, 1);
		fill(random16.le);
		fill(random16.lo);
		if (pick(0, 1)) /* of sums, which often begin at 0, some reach the last entry */
			op.lut.le.start = op.lut.lo.start = 0;
		op.lut.lo.start += 20 * pick(0, 3);

		const size_t atom = atomChannels(op.precision);
		const size_t lanes = op.surfaces() * atom;
		std::vector<int32_t> in(width * lanes);
		std::vector<int32_t> expected(in.size());
		LutCounters counters;
		uint32_t saturated = 0;
		const Lut lut(cdpLut, op.lut, random16);
		for (int32_t &element : in)
			element = static_cast<int32_t>(isInt8 ? pick(INT8_MIN, INT8_MAX)
							      : pick(INT16_MIN, INT16_MAX));
		const auto place = [&](size_t x, size_t c) {
			return (c / atom * width + x) * atom + c % atom;
		};
		for (size_t x = 0; x < width; x++) {
			std::vector<int32_t> channels(lanes);
			for (size_t c = 0; c < lanes; c++)
				channels[c] = in[place(x, c)];
			for (size_t c = 0; c < lanes; c++)
				expected[place(x, c)] =
					normalised(op, lut, channels, c, counters, saturated);
		}
		nvdla::test::forEachTarget([&] {
			const OperationResult result =
				expectRun(op, random16, in, expected, counters);
			ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
			EXPECT_EQ(updateOf(result, NVDLA_CDP_D_OUT_SATURATION), saturated);
		});
	}
}

TEST(CdpElements, EachHalfIsTheDefinition)
{
	std::mt19937 random(15);
	const auto pick = [&](int64_t low, int64_t high) {
		return std::uniform_int_distribution<int64_t>(low, high)(random);
	};
	/* \param special one in how many is infinite or no number; 0 for none */
	const auto half = [&](int special) {
		auto bits = static_cast<uint16_t>(random());
		if (special && pick(1, special) == 1)
			return static_cast<uint16_t>(bits | 0x7c00);
		if (pick(0, 7) == 0)
			return static_cast<uint16_t>(bits & 0x83ff);
		return static_cast<uint16_t>((bits & 0x7c00) == 0x7c00 ? bits ^ 0x4000 : bits);
	};
	const auto pickSlope = [&](int special) {
		return LutSlope{ static_cast<int16_t>(pick(0, 1) ? half(special) : 0), 0 };
	};
	/* Edges as FP32 bits: any power of two, some bits more, either sign, zero. */
	const auto pickEdge = [&](int special) -> int64_t {
		const auto bits =
			static_cast<uint32_t>(pick(100, 150) << 23 | (random() & 0x7fffff));
		if (special && pick(0, 9) == 0)
			return random();
		return pick(0, 3) ? static_cast<int64_t>(bits | (pick(0, 3) ? 0 : 0x80000000)) : 0;
	};

	/* As networks have them: entries that rise or fall steadily, or are all the same. */
	const auto fillGently = [&](auto &entries) {
		const auto first = static_cast<uint32_t>(pick(0, 5) ? 0x3c00 : 0);
		const auto sign = static_cast<uint32_t>(pick(0, 5) ? 0 : 0x8000);
		const int64_t step =
			pick(first ? -2 : 0, 2) * 512 / static_cast<int64_t>(entries.size());
		for (size_t i = 0; i < entries.size(); i++)
			entries[i] = static_cast<int16_t>(
				sign | (first + static_cast<uint32_t>(step) * i));
	};

	for (int round = 0; round < 1200; round++) {
		const int special = round % 3 ? 0 : 50;
		const bool gentle = round % 3 == 1;
		const auto width = static_cast<uint32_t>(pick(1, 40));
		CdpOp op = operation(Precision::Fp16, width, 1, static_cast<uint32_t>(pick(1, 70)));
		LutTables random16;

		op.radius = static_cast<uint32_t>(pick(1, 4));
		op.squareSumBypass = pick(0, 3) == 0 && !gentle;
		op.mulBypass = pick(0, 3) == 0;
		op.nanToZero = pick(0, 1);
		const auto pickTable = [&](bool exponential) -> LutTableConfig {
			return { .exponential = exponential,
				 .indexOffset = static_cast<int8_t>(pick(-40, 40)),
				 .indexSelect = static_cast<int8_t>(
					 pick(special ? -128 : -20, special ? 127 : 20)),
				 .start = pickEdge(special),
				 .end = pickEdge(special),
				 .underflow = pickSlope(special),
				 .overflow = pickSlope(special) };
		};
		op.countsLut = pick(0, 1) && !gentle;
		op.lut.le = pickTable(pick(0, 1));
		op.lut.lo = pickTable(false);
		if (gentle || pick(0, 1)) /* beyond the edges nothing changes */
			for (LutTableConfig *table : { &op.lut.le, &op.lut.lo })
				table->underflow = table->overflow = {};
		op.lut.underflowSelectsLo = pick(0, 1);
		op.lut.overflowSelectsLo = pick(0, 1);
		op.lut.hybridSelectsLo = pick(0, 1);
		for (int16_t &entry : random16.le)
			entry = static_cast<int16_t>(half(round % 6 ? 0 : special));
		for (int16_t *entry : { &random16.le.front(), &random16.le.back() })
			*entry = static_cast<int16_t>(pick(0, 1) ? *entry : *entry & 0x8000);
		for (int16_t &entry : random16.lo)
			entry = static_cast<int16_t>(half(round % 6 ? 0 : special));
		if (gentle) {
			fillGently(random16.le);
			fillGently(random16.lo);
		}

		const size_t lanes = op.surfaces() * 16;
		std::vector<int32_t> in(width * lanes);
		std::vector<int32_t> expected(in.size());
		LutCounters counters;
		uint32_t saturated = 0;
		uint32_t nans = 0;
		const Lut lut(cdpLut, op.lut, random16);
		for (int32_t &element : in)
			element = static_cast<int16_t>(half(round % 2 ? special : 0));
		const auto place = [&](size_t x, size_t c) {
			return (c / 16 * width + x) * 16 + c % 16;
		};
		for (size_t x = 0; x < width; x++) {
			std::vector<uint16_t> channels(lanes);
			for (size_t c = 0; c < lanes; c++)
				channels[c] = static_cast<uint16_t>(in[place(x, c)]);
			for (size_t c = 0; c < lanes; c++)
				expected[place(x, c)] = static_cast<int16_t>(normalisedHalf(
					op, lut, channels, c, counters, saturated, nans));
		}
		nvdla::test::forEachTarget([&] {
			const OperationResult result =
				expectRun(op, random16, in, expected, counters);
			ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
			EXPECT_EQ(updateOf(result, NVDLA_CDP_D_OUT_SATURATION), saturated);
			EXPECT_EQ(updateOf(result, NVDLA_CDP_D_NAN_OUTPUT_NUM), nans);
		});
	}
}
