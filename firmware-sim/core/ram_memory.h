/* SPDX-License-Identifier: MIT */
/*
 * Memories inside the process: the CVSRAM, and DRAM for trace players and tests.
 */
#pragma once

#include <array>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

#include "core/aligned.h"
#include "core/memory.h"

namespace nvdla::sim
{

/** \brief A contiguous memory from a base address on, with zeroes at first */
class RamMemory : public Memory
{
public:
	/** \param size bytes; base + size must not exceed 2^64 */
	RamMemory(uint64_t base, size_t size) : base_(base), bytes_(size) {}

	bool read(uint64_t address, std::span<std::byte> out) override;
	bool write(uint64_t address, std::span<const std::byte> data) override;
	Region region(uint64_t) override { return { base_, bytes_ }; }

	uint64_t base() const { return base_; }
	size_t size() const { return bytes_.size(); }

private:
	bool inside(uint64_t address, size_t size) const;

	uint64_t base_;
	LineVector bytes_; /* aligned to cache lines, like system memory */
};

/**
 * \brief A memory of the whole 64-bit address space that stores only written pages
 *
 * Bytes that were never written read as zero. When the written pages reach the given
 * number of bytes, a write to another page fails as if no memory was there.
 */
class SparseMemory : public Memory
{
public:
	static constexpr size_t pageSize = 1 << 16;

	explicit SparseMemory(size_t maximum = size_t{ 1 } << 30)
		: maximumPages_(maximum / pageSize)
	{
	}

	bool read(uint64_t address, std::span<std::byte> out) override;
	bool write(uint64_t address, std::span<const std::byte> data) override;
	Region region(uint64_t address) override;

private:
	using Page = std::array<std::byte, pageSize>;

	Page *find(uint64_t number);
	Page *findOrMake(uint64_t number);

	std::shared_mutex mutex_; /* protects the map, not the bytes */
	std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
	size_t maximumPages_;
};

} /* namespace nvdla::sim */
