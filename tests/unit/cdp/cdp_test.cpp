/* SPDX-License-Identifier: MIT */
#include "cdp/cdp.h"

#include <bit>
#include <cstdio>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "arith/float.h"
#include "cdp_test_support.h"

using namespace nvdla::sim;
using namespace nvdla::sim::arith;
using namespace nvdla::sim::test;

namespace
{

LutTables identityTables()
{
	LutTables tables;

	for (size_t i = 0; i < tables.le.size(); i++)
		tables.le[i] = static_cast<int16_t>(i < 32 ? 1024 * i : INT16_MAX);
	for (size_t i = 0; i < tables.lo.size(); i++)
		tables.lo[i] = static_cast<int16_t>(static_cast<int>(i) - 1);
	return tables;
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
		CdpBench bench;
		CdpOp op = operation(Precision::Int16, 1, 1, 32);
		op.radius = radius;
		std::vector<int32_t> data(32);
		for (int32_t channel = 0; channel < 32; channel++)
			data[channel] = channel % 5;
		bench.store(sourceAddress, Precision::Int16, data);
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
	CdpBench bench;
	CdpOp op = operation(Precision::Int8, 70, 2, 64);
	op.source.lineStride = op.destination.lineStride = 70 * 32;
	std::vector<int32_t> data(2 * 70 * 2 * 32);
	/* Only channel 31, the last one of the first surface, is set, to its column's parity. */
	for (int32_t position = 0; position < 140; position++)
		data[position * 32 + 31] = position % 2 + 1;
	bench.store(sourceAddress, Precision::Int8, data);
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
	CdpBench bench;
	CdpOp op = operation(Precision::Int8, 1, 1, 3);
	op.input.offset = 5;
	bench.store(sourceAddress, Precision::Int8, std::vector<int32_t>(32, 7));
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
	CdpBench bench;
	CdpOp op = operation(Precision::Int16, 1, 1, 16);
	op.mulBypass = false;
	op.squareSumBypass = true;
	op.output = { .offset = 1, .scale = -2, .shift = 1 };
	bench.store(sourceAddress, Precision::Int16, { 3, 4, 0, 15 });
	MemoryPort port = bench.port();
	runCdp(op, tables, port);

	EXPECT_EQ(bench.load(destinationAddress, Precision::Int16, 4),
		  (std::vector<int32_t>{ -8, -15, 1, -224 }));
}

TEST(Cdp, ClipsAndCounts)
{
	CdpBench bench;
	CdpOp op = operation(Precision::Int8, 1, 1, 32);
	op.squareSumBypass = true;
	op.output.scale = 100;
	std::vector<int32_t> data(32, 0);
	data[0] = 2;  /* 200 */
	data[1] = -1; /* LO underflows, LE's slope goes on: -100 */
	data[2] = -2;
	bench.store(sourceAddress, Precision::Int8, data);
	op.lut.underflowSelectsLo = false;
	MemoryPort port = bench.port();
	const OperationResult result = runCdp(op, tables, port);

	EXPECT_EQ(bench.load(destinationAddress, Precision::Int8, 3),
		  (std::vector<int32_t>{ 127, -100, -128 }));
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_OUT_SATURATION), 2u);
	EXPECT_EQ(updateOf(result, NVDLA_CDP_D_PERF_LUT_UFLOW), 2u);
}

TEST(Cdp, WorksInPlace)
{
	CdpBench bench;
	CdpOp op = operation(Precision::Int16, 40, 1, 32);
	op.destination = op.source;
	bench.store(sourceAddress, Precision::Int16, std::vector<int32_t>(2 * 40 * 16, 2));
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
	CdpBench bench;
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
	bench.store(sourceAddress, Precision::Fp16, data);

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
	CdpBench bench;
	CdpOp op = operation(Precision::Fp16, 1, 1, 16);
	op.squareSumBypass = true;
	bench.store(sourceAddress, Precision::Fp16, { 0x7c01 });
	MemoryPort port = bench.port();
	runCdp(op, {}, port);

	EXPECT_EQ(bench.load(destinationAddress, Precision::Fp16, 1)[0], 0x7c01);
}

TEST(Cdp, StopsWhenCancelled)
{
	CdpBench bench;
	const std::atomic<bool> cancel = true;
	MemoryPort port = bench.port(&cancel);

	runCdp(operation(Precision::Int8, 8192, 8192, 8192), tables, port);
	EXPECT_EQ(port.traffic(RamType::Mc).writeBytes, 0u);
}

TEST(CdpDecode, Fields)
{
	std::vector<uint32_t> cdp(RegisterView::kMostWords);
	std::vector<uint32_t> rdma(RegisterView::kMostWords);
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
	CdpBench bench;
	std::vector<uint32_t> cdp(RegisterView::kMostWords);
	std::vector<uint32_t> rdma(RegisterView::kMostWords);

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
