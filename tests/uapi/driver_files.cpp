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

std::filesystem::path deviceFolder()
{
	const auto node = std::filesystem::path(Device::path()).filename();
	std::error_code error;
	return std::filesystem::canonical("/sys/class/accel" / node / "device", error);
}

std::filesystem::path debugFolder()
{
	return "/sys/kernel/debug/accel" / deviceFolder().filename();
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
