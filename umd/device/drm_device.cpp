/* SPDX-License-Identifier: MIT */
#include "drm_device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/sync_file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/core.h>
#include <xf86drm.h>

namespace nvdla
{

namespace
{

constexpr const char *driverName = "nvdla";

struct VersionFree {
	void operator()(drmVersion *version) const { drmFreeVersion(version); }
};

} /* namespace */

Result<std::unique_ptr<DrmDevice>> DrmDevice::open(const std::string &given)
{
	constexpr const char *what = "open device";
	/* Also accept the device's name without a folder, such as accel0, as in the kernel's
	 * messages. */
	const std::string path =
		given.starts_with("accel") ? std::string(folder) + "/" + given : given;
	UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));

	if (!fd) {
		const int error = errno;
		if (error == EACCES)
			return fail(ErrorCode::Io, what, path,
				    "Permission denied: members of its group may use it "
				    "(sudo adduser USER render; log in again)");
		if (error != ENOENT)
			return fail(ErrorCode::Io, what, path, std::strerror(error));
		std::string others;
		for (const std::string &other : enumerate())
			others += (others.empty() ? "" : ", ") + other;
		const bool isName = path.find('/') == std::string::npos;
		std::string why =
			isName ? "is neither a device file nor \"embedded\"" : "no such device";
		if (!others.empty())
			why += "; there is " + others;
		else if (!isName)
			why += "; is the nvdla module loaded?";
		return fail(ErrorCode::NoDevice, what, path, why);
	}
	const std::unique_ptr<drmVersion, VersionFree> version(drmGetVersion(fd.get()));
	if (!version)
		return fail(ErrorCode::Unsupported, what, path, "is not a DRM device");
	const std::string name(version->name, static_cast<size_t>(version->name_len));
	if (name != driverName)
		return fail(ErrorCode::Unsupported, what, path,
			    fmt::format("belongs to the driver \"{}\", not to \"{}\"", name,
					driverName));
	return std::unique_ptr<DrmDevice>(new DrmDevice(path, std::move(fd)));
}

std::vector<std::string> DrmDevice::enumerate()
{
	std::vector<std::string> paths;
	std::error_code error;

	/* Also look at render nodes, which the driver creates on kernels without accel nodes. */
	for (const char *place : { folder, "/dev/dri" }) {
		for (const auto &entry : std::filesystem::directory_iterator(place, error)) {
			const std::string name = entry.path().filename();
			if ((name.starts_with("accel") || name.starts_with("renderD")) &&
			    open(entry.path()))
				paths.push_back(entry.path());
		}
	}
	/* Sort by length first, so that accel10 comes after accel9. */
	std::sort(paths.begin(), paths.end(), [](const std::string &a, const std::string &b) {
		return a.size() != b.size() ? a.size() < b.size() : a < b;
	});
	return paths;
}

std::string DrmDevice::closed()
{
	std::error_code error;

	for (const auto &entry : std::filesystem::directory_iterator("/sys/class/accel", error)) {
		const std::string path =
			std::string(folder) + "/" + entry.path().filename().string();
		const auto driver =
			std::filesystem::read_symlink(entry.path() / "device/driver", error);
		if (driver.filename() == driverName && access(path.c_str(), R_OK | W_OK) &&
		    errno == EACCES)
			return path;
	}
	return "";
}

int DrmDevice::ioctl(unsigned long request, void *argument)
{
	return drmIoctl(fd_.get(), request, argument) ? -errno : 0;
}

tl::expected<std::byte *, int> DrmDevice::map(uint64_t offset, size_t size)
{
	void *address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(),
			     static_cast<off_t>(offset));
	if (address == MAP_FAILED)
		return tl::unexpected(-errno);
	return static_cast<std::byte *>(address);
}

void DrmDevice::unmap(std::byte *address, size_t size)
{
	munmap(address, size);
}

int DrmDevice::fenceStatus(uint32_t syncobj)
{
	int fd = -1;
	if (drmSyncobjExportSyncFile(fd_.get(), syncobj, &fd))
		return -errno;

	const UniqueFd syncFile(fd);
	sync_file_info info = {};
	while (::ioctl(syncFile.get(), SYNC_IOC_FILE_INFO, &info)) {
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
	return info.status;
}

} /* namespace nvdla */
