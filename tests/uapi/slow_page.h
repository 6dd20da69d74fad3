/* SPDX-License-Identifier: MIT */
/*
 * System calls that stop in the middle.
 */
#pragma once

#include <cstdint>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nvdla::test
{

/** \brief Memory whose first access lasts until it is there, as on a slow file system */
class SlowPage
{
public:
	SlowPage()
		: fd_(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC))),
		  page_(mmap(nullptr, pageBytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
	{
		uffdio_api api = { .api = UFFD_API, .features = 0, .ioctls = 0 };
		uffdio_register range = { .range = { address(), pageBytes },
					  .mode = UFFDIO_REGISTER_MODE_MISSING,
					  .ioctls = 0 };
		valid_ = fd_ >= 0 && page_ != MAP_FAILED && !ioctl(fd_, UFFDIO_API, &api) &&
			 !ioctl(fd_, UFFDIO_REGISTER, &range);
	}
	~SlowPage()
	{
		if (fd_ >= 0)
			close(fd_);
		if (page_ != MAP_FAILED)
			munmap(page_, pageBytes);
	}
	SlowPage(const SlowPage &) = delete;
	SlowPage &operator=(const SlowPage &) = delete;

	bool valid() const { return valid_; }
	uint64_t address() const { return reinterpret_cast<uintptr_t>(page_); }

	/** \brief Waits until somebody accesses it; that one goes on waiting */
	bool waitForAccess() const
	{
		uffd_msg message;
		return read(fd_, &message, sizeof(message)) == sizeof(message) &&
		       message.event == UFFD_EVENT_PAGEFAULT;
	}

	/** \brief Has it be there, zeroed */
	bool arrive() const
	{
		uffdio_zeropage zero = { .range = { address(), pageBytes },
					 .mode = 0,
					 .zeropage = 0 };
		return !ioctl(fd_, UFFDIO_ZEROPAGE, &zero);
	}

private:
	static constexpr size_t pageBytes = 4096;
	int fd_;
	void *page_;
	bool valid_ = false;
};

} /* namespace nvdla::test */
