/* SPDX-License-Identifier: MIT */
/*
 * The file behind a range of guest memory.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <sys/types.h>

#include <tl/expected.hpp>

#include "unique_fd.h"

namespace nvdla::sim::vfiouser
{

/** \brief Identity of a file opened in one way; equal for two descriptors of it */
struct BackingKey {
	dev_t device;
	ino_t inode;
	bool writable;

	auto operator<=>(const BackingKey &) const = default;
};

/**
 * \brief One file of guest memory, shared by all the ranges that lie in it
 *
 * A client sends a duplicate of the same descriptor with each DMA_MAP, so the
 * file is mapped once and whole. A file that is sealed against shrinking (as
 * QEMU's memory-backend-memfd is) is reached through that mapping. Any other
 * could be truncated at any time, and then a touch of the mapping would kill
 * the process with SIGBUS; such a file is read and written with system calls,
 * which fail instead.
 */
class Backing
{
public:
	struct Identity {
		BackingKey key;
		uint64_t size; /**< present size of the file */
	};

	/** \return which file \a fd is, or an errno value if it cannot hold guest memory */
	static tl::expected<Identity, int> identify(int fd);

	/**
	 * \brief Take over \a fd
	 * \return the file, or an errno value
	 */
	static tl::expected<std::shared_ptr<Backing>, int> open(UniqueFd fd,
								const Identity &identity);

	Backing(const Backing &) = delete;
	Backing &operator=(const Backing &) = delete;
	~Backing();

	/** \return bytes that can be reached */
	uint64_t size() const { return size_; }
	bool writable() const { return writable_; }

	/**
	 * \brief Copy out of the file
	 * \return false if it does not hold the bytes
	 */
	bool read(uint64_t offset, std::span<std::byte> out) const;
	/**
	 * \brief Copy into the file
	 * \return false if it does not hold the bytes any more
	 */
	bool write(uint64_t offset, std::span<const std::byte> data);

private:
	Backing(UniqueFd fd, std::byte *mapping, uint64_t size, bool writable)
		: fd_(std::move(fd)), mapping_(mapping), size_(size), writable_(writable)
	{
	}

	bool inside(uint64_t offset, size_t length) const
	{
		return offset <= size_ && length <= size_ - offset;
	}

	UniqueFd fd_; /**< open only without a mapping */
	std::byte *mapping_;
	uint64_t size_;
	bool writable_;
};

} /* namespace nvdla::sim::vfiouser */
