/* SPDX-License-Identifier: MIT */
#include "driver_files.h"

#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "device.h"

namespace nvdla::test
{

/* Kernels without accel nodes have render nodes. */
std::filesystem::path deviceFolder(const std::filesystem::path &node)
{
	const bool isAccel = node.parent_path().filename() == "accel";
	std::error_code error;
	return std::filesystem::canonical(std::filesystem::path("/sys/class") /
						  (isAccel ? "accel" : "drm") / node.filename() /
						  "device",
					  error);
}

std::filesystem::path deviceFolder()
{
	return deviceFolder(Device::path());
}

std::filesystem::path debugFolder()
{
	const auto kind = std::filesystem::path(Device::path()).parent_path().filename();
	return "/sys/kernel/debug" / kind / deviceFolder().filename();
}

bool isAsleep()
{
	return readFile(deviceFolder() / "power/runtime_status") == "suspended\n";
}

std::string readFile(const std::filesystem::path &path)
{
	std::ifstream file(path);
	std::ostringstream text;
	text << file.rdbuf();
	return text.str();
}

int writeFile(const std::filesystem::path &path, const std::string &text)
{
	const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	const ssize_t written = ::write(fd, text.data(), text.size());
	const int ret = written < 0 ? -errno : 0;
	close(fd);
	return ret;
}

} /* namespace nvdla::test */
