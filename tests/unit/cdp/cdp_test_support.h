/* SPDX-License-Identifier: MIT */
/*
 * A memory and operations to try CDP with.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cdp/cdp.h"
#include "core/elements.h"
#include "core/ram_memory.h"

namespace nvdla::sim::test
{

inline constexpr uint64_t sourceAddress = 0x1000;
inline constexpr uint64_t destinationAddress = 0x4000;

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

inline uint32_t updateOf(const OperationResult &result, uint32_t address)
{
	for (const RegisterUpdate &update : result.updates)
		if (update.address == address)
			return update.value;
	return UINT32_MAX;
}

} /* namespace nvdla::sim::test */
