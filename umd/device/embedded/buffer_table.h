/* SPDX-License-Identifier: MIT */
/*
 * Buffers of the embedded device: memory of this process at addresses that the
 * device model knows, or a part of its on-chip memory.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "base/io/unique_fd.h"
#include "core/memory.h"
#include "device/embedded/fence.h"
#include "device/embedded/on_chip_memory.h"

namespace nvdla
{

/**
 * \brief Memory of a GEM buffer object. It exists as long as a handle, a mapping or a job uses it
 *
 * The device's lock guards the fences of the jobs that use the buffer.
 */
class EmbeddedBuffer
{
public:
	static constexpr uint64_t pageSize = 4096;
	static constexpr uint64_t maxBytes = uint64_t{ 1 } << 32;

	/** \return zeroed memory of whole pages, or a negative errno */
	static tl::expected<std::shared_ptr<EmbeddedBuffer>, int> allocate(size_t size);
	/**
	 * \brief Make a buffer of the memory of a memfd
	 * \return -EINVAL unless the memory has whole pages and is sealed against shrinking; or
	 * another negative errno
	 */
	static tl::expected<std::shared_ptr<EmbeddedBuffer>, int> import(UniqueFd memfd);
	/** \return a buffer for a part of the on-chip memory */
	static std::shared_ptr<EmbeddedBuffer> onChip(uint64_t address, size_t size);
	~EmbeddedBuffer();

	EmbeddedBuffer(const EmbeddedBuffer &) = delete;
	EmbeddedBuffer &operator=(const EmbeddedBuffer &) = delete;

	size_t size() const { return size_; }
	bool isOnChip() const { return !address_; }
	/** \return the memfd with the bytes; -1 for on-chip memory */
	int memfd() const { return memfd_.get(); }
	/** \return the bytes that the CPU can access: all bytes of system memory, none of on-chip
	 * memory */
	std::span<std::byte> bytes() const { return { address_, address_ ? size_ : 0 }; }

	/** \brief Record that a job uses the buffer, and add the fences for which the job has to
	 * wait to \a dependencies */
	void use(const std::shared_ptr<EmbeddedFence> &fence, bool write,
		 std::vector<std::shared_ptr<EmbeddedFence>> &dependencies);
	/** \return true if no submitted job writes the buffer; with \a write, true if no submitted
	 * job reads or writes it */
	bool idle(bool write) const;

	uint64_t dmaAddress = 0; /**< address of the first byte for the device model */

private:
	EmbeddedBuffer(UniqueFd memfd, std::byte *address, size_t size)
		: memfd_(std::move(memfd)), address_(address), size_(size)
	{
	}

	UniqueFd memfd_;     /* file descriptor of the memory, for exports */
	std::byte *address_; /* null for on-chip memory */
	size_t size_;
	std::shared_ptr<EmbeddedFence> writer_; /* fence of the last writer */
	/* Fences of the jobs that have read the buffer since the last write. */
	std::vector<std::shared_ptr<EmbeddedFence>> readers_;
};

/**
 * \brief The device model's view of all buffers
 *
 * As with an IOMMU, an access that is not inside of a buffer fails. Between two buffers there is
 * always an unmapped gap.
 */
class EmbeddedMemory : public sim::Memory
{
public:
	/**
	 * \brief First address of buffers if no trace is recorded. Not 0, so that the address 0 is
	 * invalid
	 */
	static constexpr uint64_t usualStart = uint64_t{ 1 } << 20;

	/**
	 * \param[in] addressBits number of bits of the core's memory addresses
	 * \param[in] start first address of buffers
	 */
	EmbeddedMemory(unsigned int addressBits, uint64_t start)
		: start_(start), end_(uint64_t{ 1 } << std::min(addressBits, hostAddressBits))
	{
	}

	/**
	 * \brief Give \a buffer an address
	 *
	 * All buffers together may take half of the host's memory: a network that is too large is
	 * refused, and cannot exhaust the host.
	 *
	 * \return false if the memory or the address space is full
	 */
	bool insert(EmbeddedBuffer &buffer);
	void remove(const EmbeddedBuffer &buffer);

	bool read(uint64_t address, std::span<std::byte> out) override;
	bool write(uint64_t address, std::span<const std::byte> data) override;
	/**
	 * \return the buffer that contains \a address, or the next one below it. The result is
	 * valid while a job runs: a job keeps its buffers until its operations have ended.
	 */
	Region region(uint64_t address) override;

private:
	static constexpr unsigned int hostAddressBits = 40;

	std::byte *find(uint64_t address, size_t size);

	const uint64_t start_;
	const uint64_t end_;
	std::shared_mutex mutex_; /* protects ranges_, not the buffers' bytes */
	std::map<uint64_t, std::span<std::byte>> ranges_;
	uint64_t bytes_ = 0; /* size of all buffers in bytes */
};

/** \brief Handles and mappings of one open device. Callers of all functions hold the device's
 * lock */
class BufferTable
{
public:
	BufferTable(EmbeddedMemory &memory, OnChipMemory &onChip) : memory_(memory), onChip_(onChip)
	{
	}

	/** \return handle of a new buffer of \a size bytes (whole pages), or a negative errno */
	tl::expected<uint32_t, int> create(size_t size);
	/** \return handle of a new buffer in on-chip memory, as create() */
	tl::expected<uint32_t, int> createOnChip(size_t size);
	/** \return handle of the memory of a memfd, always the same for the same memfd; or a
	 * negative errno */
	tl::expected<uint32_t, int> import(int memfd);
	/** \return a new file descriptor of the buffer's memfd, or a negative errno */
	tl::expected<int, int> exportMemfd(uint32_t handle) const;
	/** \return 0 or -EINVAL for an unknown handle */
	int close(uint32_t handle);
	/** \return the buffer of a handle; nullptr for an unknown handle */
	std::shared_ptr<EmbeddedBuffer> find(uint32_t handle) const;

	/** \return the argument \a offset with which map() maps the buffer of \a handle */
	static uint64_t mapOffset(uint32_t handle) { return uint64_t{ handle } << 32; }
	tl::expected<std::byte *, int> map(uint64_t offset, size_t size);
	void unmap(std::byte *address);

private:
	tl::expected<uint32_t, int> attach(std::shared_ptr<EmbeddedBuffer> plain);
	uint32_t insert(std::shared_ptr<EmbeddedBuffer> buffer);

	EmbeddedMemory &memory_;
	OnChipMemory &onChip_;
	std::unordered_map<uint32_t, std::shared_ptr<EmbeddedBuffer>> buffers_;
	std::unordered_multimap<std::byte *, std::shared_ptr<EmbeddedBuffer>> mappings_;
	uint32_t nextHandle_ = 1;
};

} /* namespace nvdla */
