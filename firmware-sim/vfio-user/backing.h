/* SPDX-License-Identifier: MIT */
/*
 * A file that holds ranges of guest memory.
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

/** \brief Identity of an open file; equal for duplicates of a descriptor */
struct BackingKey {
	dev_t device;
	ino_t inode;
	bool writable;

	auto operator<=>(const BackingKey &) const = default;
};

/**
 * \brief One file of guest memory, shared by all ranges that are in it
 *
 * A client sends a duplicate of the same descriptor with each DMA_MAP, so the
 * whole file is mapped once. That mapping is used only if the file is sealed against shrinking, as
 * that of QEMU's memory-backend-memfd is. Other files
 * could be truncated at any time, and an access to the mapping would then kill
 * the process with SIGBUS. They are read and written with system calls instead,
 * which return an error.
 */
class Backing
{
public:
	struct Identity {
		BackingKey key;
		uint64_t size; /**< present size of the file */
	};

	/** \return the identity of a file, or an errno value if it cannot hold guest memory */
	static tl::expected<Identity, int> identify(int fd);

	/**
	 * \brief Make a backing that owns \a fd
	 * \return the backing, or an errno value
	 */
	static tl::expected<std::shared_ptr<Backing>, int> open(UniqueFd fd,
								const Identity &identity);

	Backing(const Backing &) = delete;
	Backing &operator=(const Backing &) = delete;
	~Backing();

	/** \return bytes of the file that can be accessed */
	uint64_t size() const { return size_; }
	bool writable() const { return writable_; }

	/**
	 * \brief Copy from the file
	 * \return false if the file does not have the bytes
	 */
	bool read(uint64_t offset, std::span<std::byte> out) const;
	/**
	 * \brief Copy into the file
	 * \return false if the file no longer has the bytes
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

	UniqueFd fd_; /**< open only if there is no mapping */
	std::byte *mapping_;
	uint64_t size_;
	bool writable_;
};

} /* namespace nvdla::sim::vfiouser */
