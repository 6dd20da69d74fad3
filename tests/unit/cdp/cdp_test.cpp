/* SPDX-License-Identifier: MIT */
#include "cdp/cdp.h"

#include <bit>
#include <cstdio>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "core/elements.h"
#include "core/ram_memory.h"
#include "each_target.h"

using namespace nvdla::sim;
using namespace nvdla::sim::arith;

namespace
{

constexpr uint64_t sourceAddress = 0x1000;
constexpr uint64_t destinationAddress = 0x4000;

class Bench
{
public:
	void store(Precision precision, const std::vector<int32_t> &values)
	{
		std::vector<std::byte> raw(values.size() * elementBytes(precision));
		narrowElements(values, precision, raw);
		dram_.write(sourceAddress, raw);
	}

	std::vector<int32_t> load(uint64_t address, Precision precision, size_t count)
	{
		std::vector<std::byte> raw(count * elementBytes(precision));
		std::vector<int32_t> values(count);
		dram_.read(address, raw);
		widenElements(raw, precision, values);
		return values;
	}

	MemoryPort port(const std::atomic<bool> *cancel = nullptr)
	{
		return { dram_, cvsram_, cancel };
	}

private:
	RamMemory dram_{ 0x1000, 0x8000 };
	RamMemory cvsram_{ 0, 32 };
};

/* A packed cube; both tables hold f(x) = x up to 255, exactly. */
CdpOp operation(Precision precision, uint32_t width, uint32_t height, uint32_t channels)
{
	CdpOp op;
	op.width = width;
	op.height = height;
	op.channels = channels;
	op.precision = precision;
	op.source = { .address = sourceAddress,
		      .lineStride = width * 32,
		      .surfaceStride = width * height * 32 };
	op.destination = { .address = destinationAddress,
			   .lineStride = width * 32,
			   .surfaceStride = width * height * 32 };
	op.mulBypass = true;
	op.countsLut = true;
	op.lut.hybridSelectsLo = true;
	op.lut.le = { .indexSelect = 10, .start = 0, .end = 65536 };
	op.lut.le.underflow = { 1, 0 };
	op.lut.lo = { .indexSelect = 0, .start = -1, .end = 255 };
	return op;
}

LutTables identityTables()
{
	LutTables tables;

	for (size_t i = 0; i < tables.le.size(); i++)
		tables.le[i] = static_cast<int16_t>(i < 32 ? 1024 * i : INT16_MAX);
	for (size_t i = 0; i < tables.lo.size(); i++)
		tables.lo[i] = static_cast<int16_t>(static_cast<int>(i) - 1);
	return tables;
}

uint32_t updateOf(const OperationResult &result, uint32_t address)
{
	for (const RegisterUpdate &update : result.updates)
		if (update.address == address)
			return update.value;
	return UINT32_MAX;
}

/* What is written, and what the table counts. */
OperationResult expectRun(const CdpOp &op, const LutTables &lut, const std::vector<int32_t> &in,
			  const std::vector<int32_t> &expected, const LutCounters &counters)
{
	Bench bench;
	MemoryPort port = bench.port();

	bench.store(op.precision, in);
	const OperationResult result = runCdp(op, lut, port);
	EXPECT_EQ(bench.load(destinationAddress, op.precision, in.size()), expected);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_UFLOW), counters.underflow);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_OFLOW), counters.overflow);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_HYBRID), counters.hybrid);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_LE_HIT), counters.leHit);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_LO_HIT), counters.loHit);
	return result;
}

uint16_t halfOf(float value)
{
	return fp32ToFp16(std::bit_cast<uint32_t>(value));
}

const LutTables tables = identityTables();

} /* namespace */

TEST(Cdp, SumsSquaresOfTheWindow)
{
	for (uint32_t radius = 1; radius <= 4; radius++) {
		Bench bench;
		CdpOp op = operation(Precision::Int16, 1, 1, 32);
		op.radius = radius;
		std::vector<int32_t> data(32);
		for (int32_t channel = 0; channel < 32; channel++)
			data[channel] = channel % 5;
		bench.store(Precision::Int16, data);
		MemoryPort port = bench.port();
		runCdp(op, tables, port);
		const std::vector<int32_t> out =
			bench.load(destinationAddress, Precision::Int16, 32);

		for (int32_t channel = 0; channel < 32; channel++) {
			int32_t sum = 0;
			for (int32_t i = channel - static_cast<int32_t>(radius);
			     i <= channel + static_cast<int32_t>(radius); i++)
				sum += i >= 0 && i < 32 ? data[i] * data[i] : 0;
			ASSERT_EQ(out[channel], sum) << channel << " radius " << radius;
		}
	}
}

TEST(Cdp, WindowCrossesSurfacesOfManyPositions)
{
	Bench bench;
	CdpOp op = operation(Precision::Int8, 70, 2, 64);
	op.source.lineStride = op.destination.lineStride = 70 * 32;
	std::vector<int32_t> data(2 * 70 * 2 * 32);
	/* Only channel 31, the last one of the first surface, is set, to its column's parity. */
	for (int32_t position = 0; position < 140; position++)
		data[position * 32 + 31] = position % 2 + 1;
	bench.store(Precision::Int8, data);
	MemoryPort port = bench.port();
	const OperationResult result = runCdp(op, tables, port);
	const std::vector<int32_t> out =
		bench.load(destinationAddress, Precision::Int8, data.size());

	EXPECT_EQ(result.guestError, "");
	for (int32_t position = 0; position < 140; position++) {
		const int32_t expected = position % 2 ? 4 : 1;
		ASSERT_EQ(out[position * 32 + 29], 0);
		ASSERT_EQ(out[position * 32 + 30], expected);
		ASSERT_EQ(out[position * 32 + 31], expected);
		ASSERT_EQ(out[140 * 32 + position * 32], expected) << "channel 32";
		ASSERT_EQ(out[140 * 32 + position * 32 + 1], 0);
	}
}

TEST(Cdp, ChannelsBeyondTheCubeCountAsZero)
{
	Bench bench;
	CdpOp op = operation(Precision::Int8, 1, 1, 3);
	op.input.offset = 5;
	bench.store(Precision::Int8, std::vector<int32_t>(32, 7));
	MemoryPort port = bench.port();
	const OperationResult result = runCdp(op, tables, port);

	/* (7 - 5)² for each channel of the cube; its neighbours see it, others nothing. */
	EXPECT_EQ(bench.load(destinationAddress, Precision::Int8, 6),
		  (std::vector<int32_t>{ 8, 12, 8, 4, 0, 0 }));
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_HYBRID) +
			  updateOf(result, NVDLA_CDP_D_PERF_LUT_LO_HIT),
		  32u)
		<< "unused lanes are counted";
}

TEST(Cdp, MultipliesWithTheElement)
{
	Bench bench;
	CdpOp op = operation(Precision::Int16, 1, 1, 16);
	op.mulBypass = false;
	op.squareSumBypass = true;
	op.output = { .offset = 1, .scale = -2, .shift = 1 };
	bench.store(Precision::Int16, { 3, 4, 0, 15 });
	MemoryPort port = bench.port();
	runCdp(op, tables, port);

	EXPECT_EQ(bench.load(destinationAddress, Precision::Int16, 4),
		  (std::vector<int32_t>{ -8, -15, 1, -224 }));
}

TEST(Cdp, ClipsAndCounts)
{
	Bench bench;
	CdpOp op = operation(Precision::Int8, 1, 1, 32);
	op.squareSumBypass = true;
	op.output.scale = 100;
	std::vector<int32_t> data(32, 0);
	data[0] = 2;  /* 200 */
	data[1] = -1; /* LO underflows, LE's slope goes on: -100 */
	data[2] = -2;
	bench.store(Precision::Int8, data);
	op.lut.underflowSelectsLo = false;
	MemoryPort port = bench.port();
	const OperationResult result = runCdp(op, tables, port);

	EXPECT_EQ(bench.load(destinationAddress, Precision::Int8, 3),
		  (std::vector<int32_t>{ 127, -100, -128 }));
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_OUT_SATURATION), 2u);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_UFLOW), 2u);
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

TEST(Cdp, EachIntegerIsTheDefinition)
{
	constexpr uint32_t seed = 14;
	std::mt19937 random(seed);
	std::printf("seed %u\n", seed);
	const auto pick = [&](int64_t low, int64_t high) {
		return std::uniform_int_distribution<int64_t>(low, high)(random);
	};
	const auto pickSlope = [&] {
		return LutSlope{ static_cast<int16_t>(pick(INT16_MIN, INT16_MAX)),
				 static_cast<int8_t>(pick(-16, 15)) };
	};

	for (int round = 0; round < 400; round++) {
		const bool isInt8 = round % 2;
		const auto width = static_cast<uint32_t>(pick(1, 40));
		CdpOp op = operation(isInt8 ? Precision::Int8 : Precision::Int16, width, 1,
				     static_cast<uint32_t>(pick(1, 70)));
		LutTables random16;

		op.radius = static_cast<uint32_t>(pick(1, 4));
		op.squareSumBypass = pick(0, 3) == 0;
		op.mulBypass = pick(0, 3) == 0;
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
		for (int16_t &entry : random16.le)
			entry = static_cast<int16_t>(pick(INT16_MIN, INT16_MAX));
		for (int16_t &entry : random16.lo)
			entry = static_cast<int16_t>(pick(INT16_MIN, INT16_MAX));

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

TEST(Cdp, EachHalfIsTheDefinition)
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

	for (int round = 0; round < 400; round++) {
		const int special = round % 3 ? 0 : 50;
		const auto width = static_cast<uint32_t>(pick(1, 40));
		CdpOp op = operation(Precision::Fp16, width, 1, static_cast<uint32_t>(pick(1, 70)));
		LutTables random16;

		op.radius = static_cast<uint32_t>(pick(1, 4));
		op.squareSumBypass = pick(0, 3) == 0;
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
		op.lut.le = pickTable(pick(0, 1));
		op.lut.lo = pickTable(false);
		op.lut.underflowSelectsLo = pick(0, 1);
		op.lut.overflowSelectsLo = pick(0, 1);
		op.lut.hybridSelectsLo = pick(0, 1);
		for (int16_t &entry : random16.le)
			entry = static_cast<int16_t>(half(round % 6 ? 0 : special));
		for (int16_t &entry : random16.lo)
			entry = static_cast<int16_t>(half(round % 6 ? 0 : special));

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

TEST(Cdp, WorksInPlace)
{
	Bench bench;
	CdpOp op = operation(Precision::Int16, 40, 1, 32);
	op.destination = op.source;
	bench.store(Precision::Int16, std::vector<int32_t>(2 * 40 * 16, 2));
	MemoryPort port = bench.port();
	runCdp(op, tables, port);
	const std::vector<int32_t> out = bench.load(sourceAddress, Precision::Int16, 2 * 40 * 16);

	for (size_t i = 0; i < out.size(); i++) {
		const bool edge = i / (40 * 16) == 0 ? i % 16 == 0 : i % 16 == 15;
		ASSERT_EQ(out[i], edge ? 8 : 12) << i;
	}
}

TEST(Cdp, Float)
{
	Bench bench;
	CdpOp op = operation(Precision::Fp16, 1, 1, 16);
	op.mulBypass = false;
	LutTables half;
	for (size_t i = 0; i < half.le.size(); i++)
		half.le[i] = static_cast<int16_t>(halfOf(static_cast<float>(i)));
	op.lut.hybridSelectsLo = false;
	op.lut.le = { .indexSelect = 0, .start = 0, .end = std::bit_cast<int32_t>(64.0f) };
	op.lut.lo = op.lut.le;
	op.lut.lo.indexSelect = -2;
	std::vector<int32_t> data(16, 0);
	data[0] = halfOf(1.5f);
	data[1] = halfOf(-2.0f);
	data[5] = 0x7c01;
	data[10] = 0x7c00;
	bench.store(Precision::Fp16, data);

	MemoryPort port = bench.port();
	const OperationResult result = runCdp(op, half, port);
	const std::vector<int32_t> out = bench.load(destinationAddress, Precision::Fp16, 16);
	EXPECT_EQ(static_cast<uint16_t>(out[0]), halfOf(1.5f * 6.25f));
	EXPECT_EQ(static_cast<uint16_t>(out[1]), halfOf(-2.0f * 6.25f));
	EXPECT_TRUE(Fp16::isNan(static_cast<uint16_t>(out[5])));
	EXPECT_TRUE(Fp16::isNan(static_cast<uint16_t>(out[4]))) << "its window has a NaN";
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_NAN_OUTPUT_NUM), 3u);

	op.nanToZero = true;
	MemoryPort second = bench.port();
	EXPECT_EQ(updateOf(runCdp(op, half, second), NVDLA_CDP_D_NAN_OUTPUT_NUM), 0u);
}

TEST(Cdp, MulBypassKeepsNan)
{
	Bench bench;
	CdpOp op = operation(Precision::Fp16, 1, 1, 16);
	op.squareSumBypass = true;
	bench.store(Precision::Fp16, { 0x7c01 });
	MemoryPort port = bench.port();
	runCdp(op, {}, port);

	EXPECT_EQ(bench.load(destinationAddress, Precision::Fp16, 1)[0], 0x7c01);
}

TEST(Cdp, StopsWhenCancelled)
{
	Bench bench;
	const std::atomic<bool> cancel = true;
	MemoryPort port = bench.port(&cancel);

	runCdp(operation(Precision::Int8, 8192, 8192, 8192), tables, port);
	EXPECT_EQ(port.traffic(RamType::Mc).writeBytes, 0u);
}

TEST(CdpDecode, Fields)
{
	std::vector<uint32_t> cdp(1024);
	std::vector<uint32_t> rdma(1024);
	const auto set = [&](uint32_t address, uint32_t value) {
		(address >= NVDLA_CDP_BASE ? cdp : rdma)[address % NVDLA_UNIT_SIZE / 4] = value;
	};
	const auto decode = [&] {
		return decodeCdp({ NVDLA_CDP_BASE, cdp }, { NVDLA_CDP_RDMA_BASE, rdma });
	};

	set(NVDLA_CDP_RDMA_D_DATA_CUBE_CHANNEL, 0x1fff);
	set(NVDLA_CDP_D_LRN_CFG, 3);
	set(NVDLA_CDP_S_LUT_LE_START_HIGH, 0x20);
	set(NVDLA_CDP_S_LUT_LE_START_LOW, 1);
	set(NVDLA_CDP_S_LUT_LO_SLOPE_SHIFT, 0x3f0);
	set(NVDLA_CDP_D_DATIN_OFFSET, 0x1ff);
	set(NVDLA_CDP_D_DATOUT_OFFSET, 0x01000000);
	CdpOp op = decode();
	EXPECT_EQ(op.guestError, "");
	EXPECT_EQ(op.channels, 8192u);
	EXPECT_EQ(op.radius, 4u);
	EXPECT_EQ(op.lut.le.start, -(int64_t{ 1 } << 37) + 1);
	EXPECT_EQ(op.lut.lo.underflow.shift, -16);
	EXPECT_EQ(op.lut.lo.overflow.shift, -1);
	EXPECT_EQ(op.input.offset, -1) << "8 bits in INT8";
	EXPECT_EQ(op.output.offset, -(1 << 24)) << "25 bits in INT8";

	set(NVDLA_CDP_D_DATA_FORMAT, 1);
	EXPECT_NE(decode().guestError, "") << "CDP_RDMA still says INT8";
	set(NVDLA_CDP_RDMA_D_DATA_FORMAT, 1);
	op = decode();
	EXPECT_EQ(op.guestError, "");
	EXPECT_EQ(op.input.offset, 0x1ff);
	EXPECT_EQ(op.output.offset, 1 << 24);

	set(NVDLA_CDP_D_DATA_FORMAT, 3);
	EXPECT_NE(decode().guestError, "");
}

TEST(CdpDecode, AnyRegistersRun)
{
	std::mt19937 random(13);
	Bench bench;
	std::vector<uint32_t> cdp(1024);
	std::vector<uint32_t> rdma(1024);

	for (int i = 0; i < 2000; i++) {
		for (uint32_t &word : cdp)
			word = random();
		for (uint32_t &word : rdma)
			word = random();
		rdma[NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH % NVDLA_UNIT_SIZE / 4] = random() % 5;
		rdma[NVDLA_CDP_RDMA_D_DATA_CUBE_HEIGHT % NVDLA_UNIT_SIZE / 4] = random() % 3;
		rdma[NVDLA_CDP_RDMA_D_DATA_CUBE_CHANNEL % NVDLA_UNIT_SIZE / 4] = random() % 70;
		const CdpOp op = decodeCdp({ NVDLA_CDP_BASE, cdp }, { NVDLA_CDP_RDMA_BASE, rdma });
		MemoryPort port = bench.port();
		ASSERT_FALSE(runCdp(op, tables, port).hangs);
	}
}
