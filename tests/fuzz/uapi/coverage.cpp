/* SPDX-License-Identifier: MIT */
#include "coverage.h"

#include <algorithm>

#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace nvdla::fuzz
{

Coverage::Coverage() : fd_(open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC))
{
	if (fd_ < 0 || ioctl(fd_, KCOV_INIT_TRACE, room) != 0)
		return;
	void *map =
		mmap(nullptr, room * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
	if (map == MAP_FAILED)
		return;
	if (ioctl(fd_, KCOV_ENABLE, KCOV_TRACE_PC) != 0) {
		munmap(map, room * sizeof(uint64_t));
		return;
	}
	places_ = static_cast<uint64_t *>(map);
}

Coverage::~Coverage()
{
	if (places_) {
		ioctl(fd_, KCOV_DISABLE, 0);
		munmap(places_, room * sizeof(uint64_t));
	}
	if (fd_ >= 0)
		close(fd_);
}

void Coverage::begin()
{
	__atomic_store_n(&places_[0], 0, __ATOMIC_RELAXED);
}

std::span<const uint64_t> Coverage::reached() const
{
	const uint64_t count = __atomic_load_n(&places_[0], __ATOMIC_RELAXED);
	return { places_ + 1, std::min<size_t>(count, room - 1) };
}

} /* namespace nvdla::fuzz */
