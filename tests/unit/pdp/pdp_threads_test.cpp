/* SPDX-License-Identifier: MIT */
/*
 * Operations of PDP on cubes in memory, on any number of threads.
 */
#include <gtest/gtest.h>

#include "left_behind.h"
#include "pdp/pdp.h"
#include "pdp_naive.h"

namespace nvdla::test
{

using namespace nvdla::sim;
using nvdla::sim::test::expectSameOnAnyThreads;
using nvdla::sim::test::SharedCase;

namespace
{

constexpr uint64_t kSource = 0, kOut = 0x80000, kEnd = 0xc0000;
constexpr uint32_t kWidth = 38, kHeight = 30;

/* 3x3 windows, two apart. */
PdpOp pooling(Precision precision, PoolingMethod method)
{
	PdpOp op = opOf(precision, method);

	op.inWidth = kWidth;
	op.inHeight = kHeight;
	op.channels = 140;
	op.outWidth = kWidth / 2;
	op.outHeight = kHeight / 2;
	op.kernelWidth = op.kernelHeight = 3;
	op.strideX = op.strideY = 2;
	op.padLeft = op.padTop = 1;
	op.nanToZero = true;
	op.source = { RamType::Mc, kSource, kWidth * atomBytes, kWidth * kHeight * atomBytes };
	op.destination = { RamType::Mc, kOut, op.outWidth * atomBytes,
			   op.outWidth * op.outHeight * atomBytes };
	return op;
}

const SharedCase<PdpOp> cases[] = {
	{ "a cube", [](PdpOp &) {} },
	{ "NaNs that stay", [](PdpOp &op) { op.nanToZero = false; } },
	{ "in parts",
	  [](PdpOp &op) {
		  op.parts = 2;
		  op.partIn = { .first = 20, .mid = 1, .last = 18 };
		  op.partOut = { .first = 10, .mid = 1, .last = 9 };
	  } },
	{ "in place", [](PdpOp &op) { op.destination.address = kSource; } },
	{ "onto the source behind it", [](PdpOp &op) { op.destination.address = 0x4000; } },
	{ "surfaces onto each other", [](PdpOp &op) { op.destination.surfaceStride = 0x100; } },
	{ "wrong programming", [](PdpOp &op) { op.guestError = "PDP: wrong"; } },
	{ "memory that ends", [](PdpOp &op) { op.destination.address = kEnd - 0x4000; }, true },
	{ "no source, in parts",
	  [](PdpOp &op) {
		  cases[2].change(op);
		  op.source.address = kEnd - 0x20000;
		  op.destination.address = kEnd - 0x30000;
	  },
	  true },
};

} /* namespace */

TEST(PdpThreads, OperationsAreTheSameOnAny)
{
	expectSameOnAnyThreads<PdpOp>(
		cases, [](Precision precision) { return pooling(precision, PoolingMethod::Max); },
		[](const PdpOp &op, MemoryPort &port, Workers &workers) {
			return runPdp(op, port, &workers);
		},
		kEnd);
}

} /* namespace nvdla::test */
