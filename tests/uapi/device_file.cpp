/* SPDX-License-Identifier: MIT */
/* The node of a driver. */
#include <cerrno>

#include <fcntl.h>
#include <linux/sync_file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "device.h"

namespace nvdla::test
{

namespace
{

class DeviceFile : public Node
{
public:
	explicit DeviceFile(int fd) : fd_(fd) {}
	~DeviceFile() override { close(fd_); }
	DeviceFile(const DeviceFile &) = delete;
	DeviceFile &operator=(const DeviceFile &) = delete;

	int fd() const override { return fd_; }

	int ioctl(unsigned long request, void *argument) override
	{
		return drmIoctl(fd_, request, argument) ? -errno : 0;
	}

	void *map(uint64_t offset, size_t size) override
	{
		void *map = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
				 static_cast<off_t>(offset));
		return map == MAP_FAILED ? nullptr : map;
	}

	void unmap(void *address, size_t size) override { munmap(address, size); }

	int fenceStatus(uint32_t syncobj) override
	{
		int syncFile = -1;
		if (drmSyncobjExportSyncFile(fd_, syncobj, &syncFile))
			return -errno;

		const int ret = syncFileStatus(syncFile);
		close(syncFile);
		return ret;
	}

private:
	int fd_;
};

} /* namespace */

std::unique_ptr<Node> Node::open(const std::string &path)
{
	const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return nullptr;
	return std::make_unique<DeviceFile>(fd);
}

int syncFileStatus(int syncFile)
{
	sync_file_info info = {};
	return ::ioctl(syncFile, SYNC_IOC_FILE_INFO, &info) ? -errno : info.status;
}

std::string syncFileNames(int syncFile)
{
	sync_fence_info fence = {};
	sync_file_info info = {};
	info.num_fences = 1;
	info.sync_fence_info = reinterpret_cast<uintptr_t>(&fence);
	if (::ioctl(syncFile, SYNC_IOC_FILE_INFO, &info))
		return "";
	return std::string(fence.driver_name) + ' ' + fence.obj_name;
}

} /* namespace nvdla::test */
