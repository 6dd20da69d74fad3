/* SPDX-License-Identifier: MIT */
/*
 * A memory and operations to try SDP with.
 */
#pragma once

#include <cstdint>

#include "element_memories.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim::test
{

/** \brief Memories with places for what SDP reads and writes */
class SdpBench : public ElementMemories
{
public:
	static constexpr uint64_t base = 0x10000;
	static constexpr uint64_t sourceAddress = base;
	static constexpr uint64_t operandAddress = base + 0x4000;
	static constexpr uint64_t destinationAddress = base + 0x8000;

	SdpBench() : ElementMemories(base, 0x10000) {}

	/** \brief A packed cube of one precision that passes through */
	static SdpOp passThrough(Precision precision, uint32_t width, uint32_t height,
				 uint32_t channels)
	{
		SdpOp op;
		op.width = width;
		op.height = height;
		op.channels = channels;
		op.in = op.proc = op.out = precision;
		op.source = { .address = sourceAddress,
			      .lineStride = width * 32,
			      .surfaceStride = width * height * 32 };
		op.destination = { .address = destinationAddress,
				   .lineStride = width * 32,
				   .surfaceStride = width * height * 32 };
		return op;
	}
};

} /* namespace nvdla::sim::test */
