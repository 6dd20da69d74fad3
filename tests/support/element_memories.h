/* SPDX-License-Identifier: MIT */
/*
 * Memories for tests of one engine. A test stores the engine's input in them and loads the results.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/elements.h"
#include "core/memory.h"
#include "core/operation.h"
#include "core/ram_memory.h"

namespace nvdla::sim::test
{

/** \brief A memory without direct access to its bytes, so that the engine has to copy by read() and
 * write() */
class HiddenMemory : public RamMemory
{
public:
	using RamMemory::RamMemory;
	Region region(uint64_t) override { return {}; }
};

/** \brief The two memories of an operation (DRAM and on-chip). Tests store tensor elements in the
 * DRAM and load them from there */
class ElementMemories
{
public:
	/** \brief DRAM of \a size bytes from \a base, and an on-chip memory of 32 bytes */
	ElementMemories(uint64_t base, size_t size) : dram_(base, size), cvsram_(0, 32) {}

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

private:
	RamMemory dram_;
	RamMemory cvsram_;
};

/** \return the value that \a result sets in the register at \a address; UINT32_MAX if it sets
 * none */
inline uint32_t updateOf(const OperationResult &result, uint32_t address)
{
	for (const RegisterUpdate &update : result.updates)
		if (update.address == address)
			return update.value;
	return UINT32_MAX;
}

} /* namespace nvdla::sim::test */
