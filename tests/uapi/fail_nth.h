/* SPDX-License-Identifier: MIT */
#pragma once

#include <charconv>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace nvdla::test
{

/**
 * \brief The kernel's switch that makes the n-th thing which can fail in this thread fail
 *
 * Allocations and copies from and to user memory. Needs a kernel with fault injection
 * (scripts/kernel-debug).
 */
class FailNth
{
public:
	FailNth() : fd_(open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC))
	{
		/* Left alone unless told so: allocations that can wait, that is nearly all. */
		set("failslab/ignore-gfp-wait", "N");
		set("fail_page_alloc/ignore-gfp-wait", "N");
		set("fail_page_alloc/min-order", "0");
		for (const char *fault : { "failslab", "fail_page_alloc", "fail_usercopy" })
			set(std::string(fault) + "/verbose", "0");
	}
	~FailNth() { close(fd_); }
	FailNth(const FailNth &) = delete;
	FailNth &operator=(const FailNth &) = delete;

	bool valid() const { return fd_ >= 0; }

	bool arm(unsigned int n) const
	{
		char text[16];
		const auto end = std::to_chars(text, text + sizeof(text), n).ptr;
		return pwrite(fd_, text, static_cast<size_t>(end - text), 0) > 0;
	}

	/** \return whether something was made to fail since arm() */
	bool disarm() const
	{
		char text[16] = {};
		/* Reading and writing the file can be what fails; then nothing had before. */
		const bool read = pread(fd_, text, sizeof(text) - 1, 0) > 0;
		while (!arm(0))
			;
		return read && text[0] == '0';
	}

private:
	static void set(const std::string &attribute, const char *value)
	{
		std::ofstream("/sys/kernel/debug/" + attribute) << value;
	}

	int fd_;
};

} /* namespace nvdla::test */
