/* SPDX-License-Identifier: MIT */
/*
 * Timing estimate of the convolution pipeline.
 */
#include "conv/conv_timing.h"

#include <algorithm>

#include "conv/csc.h"

namespace nvdla::sim
{

namespace
{

constexpr uint64_t kPortBytes = 64;	/* what a memory port moves in a cycle */
constexpr uint64_t kPipelineFill = 130; /* first request to first MAC step, last step to done */
constexpr uint64_t kDataCycles = 2;	/* per 64 bytes of the cube */
constexpr uint64_t kImageLine = 24;	/* per image line, on top */
constexpr uint64_t kWeightSwap = 8;	/* shortest stripe, without the kernels' load */

uint64_t words(uint64_t bytes)
{
	return (bytes + kPortBytes - 1) / kPortBytes;
}

/** Cycles of all MAC steps; a stripe is never shorter than loading the next weights takes */
uint64_t macCycles(const ConvOp &op)
{
	const CubeSize &out = op.windows.out;
	const uint64_t kernels = std::min(op.windows.kernels, op.groupKernels());
	uint64_t positions = static_cast<uint64_t>(out.width) * out.height * op.batches;

	/* A tile's four outputs come out of one step. */
	if (op.mode == ConvMode::Winograd)
		positions /= 4;
	return std::max(positions, kWeightSwap + kernels / 2) * makeBlocks(op).size() *
	       op.surfaces();
}

} /* namespace */

uint64_t convCycles(const ConvOp &op, const ConvTraffic &traffic)
{
	const uint64_t data = words(traffic.dataBytes) * kDataCycles;
	const uint64_t weights = words(traffic.weightBytes);
	const uint64_t firstGroup = weights / op.surfaces();
	const uint64_t lines = op.mode == ConvMode::Image ? op.fetch.size.height * kImageLine : 0;

	return kPipelineFill + data + lines + firstGroup +
	       std::max(macCycles(op), weights - firstGroup);
}

} /* namespace nvdla::sim */
