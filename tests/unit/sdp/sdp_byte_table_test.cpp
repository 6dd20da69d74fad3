/* SPDX-License-Identifier: MIT */
/*
 * Look-up tables of 8-bit integers behind a convolution, whose results are far beyond these.
 */
#include <cstdio>
#include <random>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "arith/integer.h"
#include "each_target.h"
#include "lut/lut.h"
#include "sdp_test_support.h"

using namespace nvdla::sim;
using namespace nvdla::sim::test;

namespace
{

constexpr uint32_t width = 9, height = 3, channels = 64;

/* An operation with a table that holds an entry for each of 256 integers, and saturates beside. */
struct ByteTable {
	SdpOp op = SdpBench::passThrough(Precision::Int8, width, height, channels);
	LutTables tables;

	explicit ByteTable(std::mt19937 &random) : random_(random)
	{
		const int select = number(2, 8);
		const int64_t step = int64_t{ 1 } << select, before = number(0, 64 - 256 / step);

		op.flying = true;
		op.y.bypass = op.y.lutBypass = false;
		op.converter = { number(-9, 9), static_cast<int16_t>(number(1, 3)), 1 };
		op.lut.hybridSelectsLo = true;
		op.lut.lo.start = number(-400, 400);
		op.lut.lo.end = op.lut.lo.start + 256;
		op.lut.le.start = op.lut.lo.start - before * step;
		op.lut.le.indexSelect = static_cast<int8_t>(select);
		op.lut.le.end = op.lut.le.start + 64 * step;
		for (int16_t &entry : tables.lo)
			entry = static_cast<int16_t>(number(-200, 200));
		tables.lo[1] = tables.lo[0];
		for (int i = 0; i < 65; i++)
			tables.le[i] = i <= before ? tables.lo.front() : tables.lo.back();
	}

	/* Makes it another function, which is no table of bytes. */
	void change()
	{
		switch (number(0, 6)) {
		case 0:
			tables.le[number(0, 64)]++;
			break;
		case 1:
			tables.lo[0]++;
			break;
		case 2:
			op.lut.hybridSelectsLo = false;
			break;
		case 3:
			op.lut.lo.start++;
			op.lut.lo.end++;
			break;
		case 4:
			op.lut.le.start += 999;
			op.lut.le.end += 999;
			break;
		case 5:
			(number(0, 1) ? op.lut.le.underflow : op.lut.lo.overflow).scale = 3;
			break;
		default:
			op.lut.lo.indexSelect = 1;
			op.lut.lo.end += 256;
		}
	}

	int number(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

private:
	std::mt19937 &random_;
};

/* Near the table, or anywhere. */
std::vector<int32_t> sums(ByteTable &table, size_t count)
{
	std::vector<int32_t> sums(count);

	for (int32_t &sum : sums)
		sum = table.number(0, 2) ? table.number(-900, 900)
					 : table.number(INT32_MIN, INT32_MAX);
	return sums;
}

void expectReference(ByteTable &table, int round)
{
	const SdpOp &op = table.op;
	const Lut lut(sdpLut, op.lut, table.tables);
	SdpBench bench;
	MemoryPort port = bench.port();
	SdpStream stream(op, table.tables, port);
	LutCounters ignored;
	bool anySet = false;

	for (uint32_t surface = 0; surface < op.surfaces(); surface++) {
		for (uint32_t y = 0; y < height; y++) {
			const std::vector<int32_t> data = sums(table, size_t{ width } * 32);
			stream.push({ 0, surface, y, 0, width, data });
			const auto made = bench.load(SdpBench::destinationAddress +
							     (surface * height + y) * width * 32,
						     Precision::Int8, data.size());
			for (size_t i = 0; i < data.size(); i++) {
				const int64_t wanted = std::clamp<int64_t>(
					op.converter.apply(lut.lookup(data[i], ignored)), INT8_MIN,
					INT8_MAX);
				ASSERT_EQ(made[i], wanted) << data[i] << ", round " << round;
				anySet |= wanted != 0;
			}
		}
	}
	EXPECT_EQ(updateOf(stream.finish(), NVDLA_SDP_D_STATUS), anySet ? 1U : 0U);
}

} /* namespace */

TEST(SdpByteTable, IsTheReferenceBehindAConvolution)
{
	constexpr uint32_t seed = 3011;

	std::printf("seed %u\n", seed);
	nvdla::test::forEachTarget([&] {
		std::mt19937 random(seed);
		for (int round = 0; round < 300; round++) {
			ByteTable table(random);
			if (round % 2)
				table.change();
			expectReference(table, round);
		}
	});
}
