/* SPDX-License-Identifier: MIT */
/*
 * Buffers of the embedded device: memory of this process at addresses that the
 * device model knows.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>

#include <tl/expected.hpp>

#include "core/memory.h"

namespace nvdla
{

/** \brief Memory of one buffer object; lives as long as a handle, a mapping or a job needs it */
class EmbeddedBuffer
{
public:
	/** \return zeroed memory of whole pages, nullptr if there is none */
	static std::shared_ptr<EmbeddedBuffer> allocate(size_t size);
	~EmbeddedBuffer();

	EmbeddedBuffer(const EmbeddedBuffer &) = delete;
	EmbeddedBuffer &operator=(const EmbeddedBuffer &) = delete;

	std::span<std::byte> bytes() const { return { address_, size_ }; }

	uint64_t dmaAddress = 0; /**< first byte, as the device model addresses it */
	/* Guarded by the device's lock. */
	unsigned readers = 0; /**< jobs that only read it */
	unsigned writers = 0; /**< jobs that write it */

private:
	EmbeddedBuffer(std::byte *address, size_t size) : address_(address), size_(size) {}

	std::byte *address_;
	size_t size_;
};

/**
 * \brief The device model's view of all buffers
 *
 * As behind an IOMMU: an access outside of every buffer misses. Between two
 * buffers there is always an unmapped gap.
 */
class EmbeddedMemory : public sim::Memory
{
public:
	/** \brief Give \a buffer an address; \return false if the address space is full */
	bool insert(EmbeddedBuffer &buffer);
	void remove(const EmbeddedBuffer &buffer);

	bool read(uint64_t address, std::span<std::byte> out) override;
	bool write(uint64_t address, std::span<const std::byte> data) override;

private:
	std::byte *find(uint64_t address, size_t size);

	std::shared_mutex mutex_; /* of the map, not of the bytes */
	std::map<uint64_t, std::span<std::byte>> ranges_;
};

/** \brief Handles and mappings of one open device; the caller has the lock */
class BufferTable
{
public:
	explicit BufferTable(EmbeddedMemory &memory) : memory_(memory) {}

	/** \return handle of a new buffer of \a size bytes (whole pages), or a negative errno */
	tl::expected<uint32_t, int> create(size_t size);
	/** \return 0 or -EINVAL for a handle that is not there */
	int close(uint32_t handle);
	/** \return the buffer or nullptr */
	std::shared_ptr<EmbeddedBuffer> find(uint32_t handle) const;

	/** \return offset for map() */
	static uint64_t mapOffset(uint32_t handle) { return uint64_t{ handle } << 32; }
	tl::expected<std::byte *, int> map(uint64_t offset, size_t size);
	void unmap(std::byte *address);

private:
	EmbeddedMemory &memory_;
	std::unordered_map<uint32_t, std::shared_ptr<EmbeddedBuffer>> buffers_;
	std::unordered_multimap<std::byte *, std::shared_ptr<EmbeddedBuffer>> mappings_;
	uint32_t nextHandle_ = 1;
};

} /* namespace nvdla */
