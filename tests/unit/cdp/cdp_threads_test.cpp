/* SPDX-License-Identifier: MIT */
/*
 * Operations of CDP on any number of threads.
 */
#include <gtest/gtest.h>

#include "cdp/cdp.h"
#include "left_behind.h"

namespace nvdla::sim::test
{

namespace
{

constexpr uint64_t kSource = 0, kOut = 0x40000, kEnd = 0x80000;
constexpr uint32_t kWidth = 27, kHeight = 23;

CdpOp normalization(Precision precision)
{
	CdpOp op;

	op.width = kWidth;
	op.height = kHeight;
	op.channels = 90;
	op.radius = 2;
	op.precision = precision;
	op.source = { RamType::Mc, kSource, kWidth * atomBytes, kWidth * kHeight * atomBytes };
	op.destination = op.source;
	op.destination.address = kOut;
	op.output = { .offset = 0, .scale = 77, .shift = 12 };
	op.countsLut = true;
	op.lut = { .le = { .indexSelect = 11, .start = 0, .end = 1 << 17 },
		   .lo = { .indexSelect = 4, .start = 0, .end = 1 << 12 } };
	if (precision == Precision::Int16)
		op.lut.le.indexSelect = 28;
	if (precision == Precision::Fp16) /* FP32 bits of 65536 and 4096 */
		op.lut = { .le = { .indexSelect = 10, .start = 0, .end = 0x47800000 },
			   .lo = { .indexSelect = 4, .start = 0, .end = 0x45800000 } };
	return op;
}

const SharedCase<CdpOp> cases[] = {
	{ "a cube", [](CdpOp &) {} },
	{ "lines with gaps",
	  [](CdpOp &op) {
		  op.destination.lineStride += atomBytes;
		  op.destination.surfaceStride += kHeight * atomBytes;
	  } },
	{ "lines of a chunk and a shorter one, with gaps",
	  [](CdpOp &op) {
		  op.width = 100;
		  op.height = 9;
		  op.channels = 64;
		  for (FeatureCube *cube : { &op.source, &op.destination }) {
			  cube->lineStride = (op.width + 1) * atomBytes;
			  cube->surfaceStride = op.height * cube->lineStride;
		  }
	  } },
	{ "in place", [](CdpOp &op) { op.destination = op.source; } },
	{ "onto the source behind it", [](CdpOp &op) { op.destination.address = 0x1000; } },
	{ "surfaces onto each other", [](CdpOp &op) { op.destination.surfaceStride = 0x100; } },
	{ "memory that ends", [](CdpOp &op) { op.destination.address = kEnd - 0x8000; }, true },
	{ "no source", [](CdpOp &op) { op.source.address = kEnd - 0x8000; }, true },
};

LutTables falling()
{
	LutTables tables;

	for (size_t i = 0; i < tables.le.size(); i++)
		tables.le[i] = static_cast<int16_t>(16000 - 20 * i);
	for (size_t i = 0; i < tables.lo.size(); i++)
		tables.lo[i] = static_cast<int16_t>(16000 - i);
	return tables;
}

} /* namespace */

TEST(CdpThreads, OperationsAreTheSameOnAny)
{
	expectSameOnAnyThreads<CdpOp>(
		cases, normalization,
		[](const CdpOp &op, MemoryPort &port, Workers &workers) {
			return runCdp(op, falling(), port, &workers);
		},
		kEnd);
}

} /* namespace nvdla::sim::test */
