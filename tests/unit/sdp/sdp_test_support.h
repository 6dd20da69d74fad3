/* SPDX-License-Identifier: MIT */
/*
 * A memory and operations to try SDP with.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/elements.h"
#include "core/ram_memory.h"
#include "sdp/sdp_stream.h"

namespace nvdla::sim::test
{

/** \brief Memories of an operation, accessed by elements */
class SdpBench
{
public:
	static constexpr uint64_t base = 0x10000;
	static constexpr uint64_t sourceAddress = base;
	static constexpr uint64_t operandAddress = base + 0x4000;
	static constexpr uint64_t destinationAddress = base + 0x8000;

	SdpBench() : dram_(base, 0x10000), cvsram_(0, 32) {}

	void store(uint64_t address, Precision precision, const std::vector<int32_t> &values)
	{
		std::vector<std::byte> raw(values.size() * elementBytes(precision));
		narrowElements(values, precision, raw);
		dram_.write(address, raw);
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

private:
	RamMemory dram_;
	RamMemory cvsram_;
};

/** \return the value of a register in a result; UINT32_MAX if it is not there */
inline uint32_t updateOf(const OperationResult &result, uint32_t address)
{
	for (const RegisterUpdate &update : result.updates)
		if (update.address == address)
			return update.value;
	return UINT32_MAX;
}

} /* namespace nvdla::sim::test */
