/* SPDX-License-Identifier: MIT */
#include "dma_buf.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xf86drm.h>

namespace nvdla::test
{

namespace
{

constexpr const char *udmabufNode = "/dev/udmabuf";

/* Declarations of the kernel's include/uapi/drm/vgem_drm.h, a header that no package installs. */
struct drm_vgem_fence_attach {
	uint32_t handle;
	uint32_t flags;
	uint32_t out_fence;
	uint32_t pad;
};
struct drm_vgem_fence_signal {
	uint32_t fence;
	uint32_t flags;
};
constexpr uint32_t VGEM_FENCE_WRITE = 1;
constexpr unsigned long DRM_IOCTL_VGEM_FENCE_ATTACH =
	DRM_IOWR(DRM_COMMAND_BASE + 1, drm_vgem_fence_attach);
constexpr unsigned long DRM_IOCTL_VGEM_FENCE_SIGNAL =
	DRM_IOW(DRM_COMMAND_BASE + 2, drm_vgem_fence_signal);

/* Loads a kernel module. Errors are ignored: the module may be loaded already or be built into the
 * kernel. */
void loadModule(const std::string &name)
{
	utsname kernel;
	uname(&kernel);
	const std::string path = std::string("/lib/modules/") + kernel.release + "/" + name + ".ko";
	const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
	syscall(SYS_finit_module, fd, "", 0);
	close(fd);
}

/** \return a file descriptor of the first primary node of a driver, -1 if there is none */
int openCard(const std::string &driver)
{
	std::error_code error;
	for (const auto &node : std::filesystem::directory_iterator("/dev/dri", error)) {
		const int fd = open(node.path().c_str(), O_RDWR | O_CLOEXEC);
		const std::unique_ptr<drmVersion, decltype(&drmFreeVersion)> version(
			drmGetVersion(fd), drmFreeVersion);
		if (version && version->name == driver &&
		    drmGetNodeTypeFromFd(fd) == DRM_NODE_PRIMARY)
			return fd;
		close(fd);
	}
	return -1;
}

} /* namespace */

DmaBuf::~DmaBuf()
{
	if (fd_ >= 0)
		close(fd_);
}

DmaBuf DmaBuf::exportOf(int device, uint32_t handle)
{
	int fd = -1;
	if (drmPrimeHandleToFD(device, handle, DRM_CLOEXEC | DRM_RDWR, &fd))
		return DmaBuf();
	return DmaBuf(fd);
}

int DmaBuf::importTo(int device, uint32_t &handle) const
{
	return drmPrimeFDToHandle(device, fd_, &handle) ? -errno : 0;
}

int DmaBuf::sync(uint64_t flags) const
{
	dma_buf_sync sync = { .flags = flags };
	return drmIoctl(fd_, DMA_BUF_IOCTL_SYNC, &sync) ? -errno : 0;
}

bool DmaBuf::waitReadable(int timeoutMs) const
{
	pollfd entry = { .fd = fd_, .events = POLLIN, .revents = 0 };
	return poll(&entry, 1, timeoutMs) == 1 && entry.revents == POLLIN;
}

Mapping::Mapping(int fd, size_t size, uint64_t offset) : size_(size)
{
	void *map = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 static_cast<off_t>(offset));
	if (map != MAP_FAILED)
		map_ = static_cast<uint8_t *>(map);
}

Mapping::~Mapping()
{
	if (map_)
		munmap(map_, size_);
}

bool hasUserMemory()
{
	return access(udmabufNode, F_OK) == 0;
}

DmaBuf userMemory(size_t bytes, Pages pages)
{
	constexpr size_t page = 4096;
	const int memory = memfd_create("nvdla-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const int udmabuf = open(udmabufNode, O_RDWR | O_CLOEXEC);
	const size_t count = pages == Pages::InOrder ? 1 : bytes / page;
	std::vector<uint64_t> words(sizeof(udmabuf_create_list) / sizeof(uint64_t) +
				    count * sizeof(udmabuf_create_item) / sizeof(uint64_t));
	auto *list = reinterpret_cast<udmabuf_create_list *>(words.data());
	list->flags = UDMABUF_FLAGS_CLOEXEC;
	list->count = static_cast<uint32_t>(count);
	for (size_t i = 0; i < count; i++) {
		const size_t at = i < count / 2 ? 2 * i + 1 : 2 * (i - count / 2);
		list->list[i] = { static_cast<uint32_t>(memory), 0, at * page, bytes / count };
	}

	/*
	 * posix_fallocate() allocates the pages in the order of the file. Otherwise
	 * UDMABUF_CREATE_LIST would allocate them in the order of its list, and they could become
	 * one contiguous range.
	 */
	int fd = -1;
	if (memory >= 0 && udmabuf >= 0 && !posix_fallocate(memory, 0, static_cast<off_t>(bytes)) &&
	    !fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(udmabuf, UDMABUF_CREATE_LIST, list);
	close(udmabuf);
	close(memory);
	return DmaBuf(fd);
}

VirtualGem::VirtualGem()
{
	for (const char *name : { "drm_kms_helper", "drm_shmem_helper", "vgem" })
		loadModule(name);
	fd_ = openCard("vgem");
}

VirtualGem::~VirtualGem()
{
	if (fd_ >= 0)
		::close(fd_);
}

uint32_t VirtualGem::create(uint32_t bytes) const
{
	drm_mode_create_dumb create = {};
	create.width = bytes;
	create.height = 1;
	create.bpp = 8;
	return drmIoctl(fd_, DRM_IOCTL_MODE_CREATE_DUMB, &create) ? 0 : create.handle;
}

int64_t VirtualGem::mmapOffset(uint32_t handle) const
{
	drm_mode_map_dumb map = { .handle = handle, .pad = 0, .offset = 0 };
	return drmIoctl(fd_, DRM_IOCTL_MODE_MAP_DUMB, &map) ? -errno
							    : static_cast<int64_t>(map.offset);
}

uint32_t VirtualGem::beginWrite(uint32_t handle) const
{
	drm_vgem_fence_attach attach = {
		.handle = handle, .flags = VGEM_FENCE_WRITE, .out_fence = 0, .pad = 0
	};
	return drmIoctl(fd_, DRM_IOCTL_VGEM_FENCE_ATTACH, &attach) ? 0 : attach.out_fence;
}

int VirtualGem::signal(uint32_t fence) const
{
	drm_vgem_fence_signal signal = { .fence = fence, .flags = 0 };
	return drmIoctl(fd_, DRM_IOCTL_VGEM_FENCE_SIGNAL, &signal) ? -errno : 0;
}

void VirtualGem::close(uint32_t handle) const
{
	drmCloseBufferHandle(fd_, handle);
}

bool hasIommu(const std::string &device)
{
	/* The class of an accel node is "accel", that of a render node "drm". */
	const std::string node = std::filesystem::path(device).filename();
	for (const std::string folder : { "accel/", "drm/" })
		if (std::filesystem::exists("/sys/class/" + folder + node + "/device/iommu_group"))
			return true;
	return false;
}

} /* namespace nvdla::test */
