/* SPDX-License-Identifier: MIT */
/*
 * A memory and operations to try CDP with.
 */
#pragma once

#include <cstdint>

#include "cdp/cdp.h"
#include "element_memories.h"

namespace nvdla::sim::test
{

inline constexpr uint64_t sourceAddress = 0x1000;
inline constexpr uint64_t destinationAddress = 0x4000;

/** \brief Memories with a place for what CDP reads, and one for what it writes */
class CdpBench : public ElementMemories
{
public:
	CdpBench() : ElementMemories(sourceAddress, 0x8000) {}
};

/* A packed cube; both tables hold f(x) = x up to 255, exactly. */
inline CdpOp operation(Precision precision, uint32_t width, uint32_t height, uint32_t channels)
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

} /* namespace nvdla::sim::test */
