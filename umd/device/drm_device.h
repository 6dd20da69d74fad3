/* SPDX-License-Identifier: MIT */
/* A device that the kernel driver drives, opened by its device file. */
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nvdla/error.h>

#include "backend.h"
#include "base/io/unique_fd.h"

namespace nvdla
{

class DrmDevice : public DeviceBackend
{
public:
	static constexpr const char *folder = "/dev/accel";

	/** \brief Open \a path and check that it belongs to the nvdla driver */
	static Result<std::unique_ptr<DrmDevice>> open(const std::string &path);

	/** \return paths of all device files of the nvdla driver */
	static std::vector<std::string> enumerate();

	/** \return path of a device file of the driver that this user may not open; "" if there is
	 * none */
	static std::string closed();

	const std::string &path() const override { return path_; }
	int ioctl(unsigned long request, void *argument) override;
	tl::expected<std::byte *, int> map(uint64_t offset, size_t size) override;
	void unmap(std::byte *address, size_t size) override;
	int fenceStatus(uint32_t syncobj) override;
	const char *failureRecords() const override
	{
		return "; for root, dmesg and /sys/class/devcoredump tell what it did";
	}

private:
	DrmDevice(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

	std::string path_;
	UniqueFd fd_;
};

} /* namespace nvdla */
