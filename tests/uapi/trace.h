/* SPDX-License-Identifier: MIT */
/*
 * What the driver's tracepoints say.
 */
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "driver_files.h"

namespace nvdla::test
{

/** \brief Records what the driver says of the device, in a buffer of its own */
class Trace
{
public:
	Trace()
	{
		std::error_code error;
		if (!std::filesystem::exists(tracing / "events/nvdla"))
			return;
		std::filesystem::create_directory(instance_, error);
		valid_ = !error && writeFile(instance_ / "events/nvdla/enable", "1") == 0;
	}
	~Trace()
	{
		std::error_code error;
		writeFile(instance_ / "events/nvdla/enable", "0");
		rmdir(instance_.c_str());
	}
	Trace(const Trace &) = delete;
	Trace &operator=(const Trace &) = delete;

	bool valid() const { return valid_; }

	/** \return the events so far: name, and what it says behind the name */
	std::vector<std::pair<std::string, std::string>> events() const
	{
		std::vector<std::pair<std::string, std::string>> found;
		std::ifstream file(instance_ / "trace");
		for (std::string line; std::getline(file, line);) {
			const size_t name = line.find(": nvdla_");
			if (line.starts_with('#') || name == std::string::npos ||
			    line.find("device=" + device_ + ' ') == std::string::npos)
				continue;
			const size_t end = line.find(": ", name + 2);
			found.emplace_back(line.substr(name + 2, end - name - 2),
					   line.substr(end + 2));
		}
		return found;
	}

	static inline const std::filesystem::path tracing = "/sys/kernel/tracing";

private:
	/* Another process may test another device at the same time. */
	const std::string device_ = deviceFolder().filename();
	const std::filesystem::path instance_ = tracing / "instances" / ("nvdla-test-" + device_);
	bool valid_ = false;
};

} /* namespace nvdla::test */
