/* SPDX-License-Identifier: MIT */
/*
 * Ownership of one file descriptor.
 */
#pragma once

#include <unistd.h>
#include <utility>

namespace nvdla::sim::vfiouser
{

/** \brief A file descriptor that is closed with its owner; movable, not copyable */
class UniqueFd
{
public:
	UniqueFd() = default;
	explicit UniqueFd(int fd) : fd_(fd) {}
	UniqueFd(UniqueFd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	UniqueFd(const UniqueFd &) = delete;
	UniqueFd &operator=(const UniqueFd &) = delete;
	~UniqueFd() { reset(); }

	UniqueFd &operator=(UniqueFd &&other) noexcept
	{
		if (this != &other)
			reset(std::exchange(other.fd_, -1));
		return *this;
	}

	bool valid() const { return fd_ >= 0; }
	int get() const { return fd_; }

	/** \brief Close the owned descriptor, and own \a fd instead */
	void reset(int fd = -1)
	{
		if (fd_ >= 0)
			close(fd_);
		fd_ = fd;
	}

private:
	int fd_ = -1;
};

} /* namespace nvdla::sim::vfiouser */
