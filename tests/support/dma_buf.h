/* SPDX-License-Identifier: MIT */
/* dma-bufs (memory that devices share), and two sources of them: udmabuf and vgem. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace nvdla::test
{

/** \brief A dma-buf; its file descriptor is closed with the object */
class DmaBuf
{
public:
	explicit DmaBuf(int fd = -1) : fd_(fd) {}
	~DmaBuf();
	DmaBuf(const DmaBuf &) = delete;
	DmaBuf &operator=(const DmaBuf &) = delete;
	DmaBuf(DmaBuf &&other) noexcept : fd_(other.fd_) { other.fd_ = -1; }

	/** \brief Export a buffer of a DRM device; the result is not valid() if that fails */
	static DmaBuf exportOf(int device, uint32_t handle);
	/** \return 0 or -errno; \a handle is filled on success */
	int importTo(int device, uint32_t &handle) const;

	bool valid() const { return fd_ >= 0; }
	int fd() const { return fd_; }

	/**
	 * \brief Begins or ends an access of the CPU: DMA_BUF_SYNC_*
	 * \return 0 or -errno
	 */
	int sync(uint64_t flags) const;
	/**
	 * \brief Waits, \a timeoutMs milliseconds at most, until no device writes the buffer
	 * \return true if no device writes it
	 */
	bool waitReadable(int timeoutMs) const;

private:
	int fd_;
};

/** \brief Memory mapped from a file; unmapped with the object */
class Mapping
{
public:
	Mapping(int fd, size_t size, uint64_t offset = 0);
	~Mapping();
	Mapping(const Mapping &) = delete;
	Mapping &operator=(const Mapping &) = delete;

	bool valid() const { return map_ != nullptr; }
	std::span<uint8_t> bytes() const { return { map_, size_ }; }

private:
	size_t size_;
	uint8_t *map_ = nullptr;
};

/** \brief Order of a file's pages in a dma-buf */
enum class Pages {
	InOrder,
	/**
	 * First every second page, then the others. Neighbours in the dma-buf are then never
	 * neighbours in memory, even if the kernel allocates downwards or in swapped pairs
	 */
	Apart,
};

/** \return whether the kernel has the udmabuf device, which userMemory() needs */
bool hasUserMemory();

/** \brief Make a dma-buf of pages that may be anywhere in memory, by the kernel's udmabuf device */
DmaBuf userMemory(size_t bytes, Pages pages = Pages::InOrder);

/**
 * \brief A second DRM device: the kernel's virtual one, vgem
 *
 * vgem exports and imports buffers, and makes fences on request. The kernel module stays loaded:
 * fences that vgem leaves in buffers of other devices use the module's code.
 */
class VirtualGem
{
public:
	VirtualGem();
	~VirtualGem();
	VirtualGem(const VirtualGem &) = delete;
	VirtualGem &operator=(const VirtualGem &) = delete;

	bool valid() const { return fd_ >= 0; }
	int fd() const { return fd_; }

	/** \return handle of a new buffer, 0 on failure */
	uint32_t create(uint32_t bytes) const;
	/** \return the buffer's offset for mmap(), or -errno */
	int64_t mmapOffset(uint32_t handle) const;
	/**
	 * \brief Add a fence to a buffer; to other devices, that is a write which lasts until
	 * signal()
	 * \return number of the fence for signal(), 0 on failure
	 */
	uint32_t beginWrite(uint32_t handle) const;
	/** \brief Signal the fence that beginWrite() returned, which ends the write \return 0 or
	 * -errno */
	int signal(uint32_t fence) const;
	void close(uint32_t handle) const;

private:
	int fd_ = -1;
};

/**
 * \param[in] device path of the device's file in /dev
 * \return true if an IOMMU translates the device's addresses; pages anywhere in memory can then be
 * one range for the device
 */
bool hasIommu(const std::string &device);

} /* namespace nvdla::test */
