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

	/** \brief Exports a buffer; not valid() if the device refuses */
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
	 * \brief Waits until it may be read
	 * \return whether it may
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
	 * Every second page, then the others: no neighbours in the dma-buf are neighbours in
	 * memory, whether pages are allocated upwards, downwards or in swapped pairs
	 */
	Apart,
};

/** \return whether the kernel has the udmabuf device, which userMemory() needs */
bool hasUserMemory();

/** \brief A dma-buf of pages anywhere in memory, made by the kernel's udmabuf device */
DmaBuf userMemory(size_t bytes, Pages pages = Pages::InOrder);

/**
 * \brief A second DRM device: the kernel's virtual one, vgem
 *
 * It exports and imports buffers, and makes fences on request. Its module stays loaded, because
 * fences that it leaves in buffers of other devices use its code.
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
	 * \brief Marks a buffer as being written
	 * \return the fence, 0 on failure
	 */
	uint32_t beginWrite(uint32_t handle) const;
	/** \return 0 or -errno */
	int signal(uint32_t fence) const;
	void close(uint32_t handle) const;

private:
	int fd_ = -1;
};

/**
 * \param[in] device path of its file
 * \return whether an IOMMU translates the device's addresses, so that scattered pages can be one
 * range
 */
bool hasIommu(const std::string &device);

} /* namespace nvdla::test */
