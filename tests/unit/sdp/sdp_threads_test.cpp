/* SPDX-License-Identifier: MIT */
/*
 * Operations of SDP on cubes in memory, on any number of threads.
 */
#include <bit>

#include <gtest/gtest.h>

#include "left_behind.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim::test
{

namespace
{

constexpr uint64_t kSource = 0, kOperands = 0x40000, kOut = 0x80000, kEnd = 0xc0000;
constexpr uint32_t kWidth = 37, kHeight = 21, kChannels = 150;

FeatureCube cubeAt(uint64_t address)
{
	return { RamType::Mc, address, kWidth * atomBytes, kWidth * kHeight * atomBytes };
}

/* The sum of two cubes. */
SdpOp sum(Precision precision)
{
	SdpOp op;

	op.width = kWidth;
	op.height = kHeight;
	op.channels = kChannels;
	op.in = op.proc = op.out = precision;
	op.source = cubeAt(kSource);
	op.destination = cubeAt(kOut);
	op.x1.bypass = op.x1.alu.bypass = false;
	op.x1.algorithm = SdpAlu::Sum;
	op.x1.alu.fromMemory = true;
	op.x1.read = { .enabled = true, .alu = true, .perElement = true };
	op.x1.read.twoBytes = precision != Precision::Int8;
	op.x1.read.cube = cubeAt(kOperands);
	op.converter = { .offset = 3, .scale = 77, .shift = 6 };
	op.countsSaturation = op.countsInputNan = op.countsOutputNan = true;
	return op;
}

/* One operand for each channel. */
void takeBias(SdpOp &op)
{
	op.x1.read.perElement = false;
	op.x1.read.twoBytes = true;
}

void takeTable(SdpOp &op)
{
	op.y.bypass = op.y.lutBypass = false;
	op.lut.le = { .indexSelect = 1, .start = -100, .end = 28 };
	op.lut.lo = { .indexSelect = 0, .start = -128, .end = 128 };
	if (op.proc != Precision::Fp16)
		return;
	for (LutTableConfig *table : { &op.lut.le, &op.lut.lo })
		for (auto *bound : { &table->start, &table->end })
			*bound = std::bit_cast<uint32_t>(static_cast<float>(*bound));
}

const SharedCase<SdpOp> cases[] = {
	{ "sum", [](SdpOp &) {} },
	{ "bias", takeBias },
	{ "lines with gaps",
	  [](SdpOp &op) {
		  for (FeatureCube *cube : { &op.source, &op.destination, &op.x1.read.cube }) {
			  cube->lineStride += atomBytes;
			  cube->surfaceStride += kHeight * atomBytes;
		  }
	  } },
	{ "source in place", [](SdpOp &op) { op.destination = op.source; } },
	{ "operands in place", [](SdpOp &op) { op.destination = op.x1.read.cube; } },
	{ "onto the source behind it",
	  [](SdpOp &op) { op.destination.address = kSource + 0x1000; } },
	{ "onto operands before them",
	  [](SdpOp &op) { op.destination.address = kOperands - 0x1000; } },
	{ "onto the bias",
	  [](SdpOp &op) {
		  takeBias(op);
		  op.x1.read.cube.address = kOut + 0x8000;
	  } },
	{ "surfaces onto each other", [](SdpOp &op) { op.destination.surfaceStride = 0x100; } },
	{ "surfaces beside each other",
	  [](SdpOp &op) {
		  op.destination.surfaceStride = kWidth * atomBytes;
		  op.destination.lineStride = op.surfaces() * op.destination.surfaceStride;
	  } },
	{ "to 16 bits",
	  [](SdpOp &op) { op.out = op.proc == Precision::Int8 ? Precision::Int16 : op.out; } },
	{ "from 16 bits",
	  [](SdpOp &op) { op.in = op.proc == Precision::Int8 ? Precision::Int16 : op.in; } },
	{ "a table, counted",
	  [](SdpOp &op) {
		  takeTable(op);
		  op.countsLut = true;
	  } },
	{ "a table that nobody counts",
	  [](SdpOp &op) {
		  takeTable(op);
		  op.x1 = {};
		  op.countsSaturation = op.countsInputNan = op.countsOutputNan = false;
	  } },
	{ "memory that ends", [](SdpOp &op) { op.destination.address = kEnd - 0x8000; }, true },
	{ "no source", [](SdpOp &op) { op.source.address = kEnd - 0x6000; }, true },
	{ "memory that ends, and no bias",
	  [](SdpOp &op) {
		  takeBias(op);
		  op.destination.address = kEnd - 0x8000;
		  op.x1.read.cube.address = kEnd - 0x40;
	  },
	  true },
	{ "one surface",
	  [](SdpOp &op) {
		  op.channels = atomChannels(op.proc);
		  op.width *= 3;
		  for (FeatureCube *cube : { &op.source, &op.destination, &op.x1.read.cube })
			  cube->lineStride *= 3;
	  } },
};

} /* namespace */

TEST(SdpThreads, OperationsAreTheSameOnAny)
{
	expectSameOnAnyThreads<SdpOp>(
		cases, sum,
		[](const SdpOp &op, MemoryPort &port, Workers &workers) {
			return runSdp(op, {}, port, nullptr, &workers);
		},
		kEnd);
}

} /* namespace nvdla::sim::test */
