/* SPDX-License-Identifier: MIT */
/* What the driver shows: counters in sysfs, use of the engines by each file in fdinfo. */
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t copyBytes = 256 * 1024;
constexpr const char *engines[] = { "bdma", "conv", "sdp", "pdp", "cdp", "rubik" };

/** \return the folder of the device behind the accel node in sysfs */
std::filesystem::path deviceFolder()
{
	const auto node = std::filesystem::path(Device::path()).filename();
	std::error_code error;
	return std::filesystem::canonical("/sys/class/accel" / node / "device", error);
}

std::string read(const std::filesystem::path &path)
{
	std::ifstream file(path);
	std::ostringstream text;
	text << file.rdbuf();
	return text.str();
}

uint64_t counter(const std::string &engine, const std::string &name)
{
	return std::stoull(read(deviceFolder() / ("counters_" + engine) / name));
}

/** \return 0 or -errno */
int write(const std::filesystem::path &path, const std::string &text)
{
	const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	const ssize_t written = ::write(fd, text.data(), text.size());
	const int ret = written < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/** \return the keys of a file's fdinfo and what follows their colon */
std::map<std::string, std::string> fdinfo(const Device &device)
{
	std::ifstream file("/proc/self/fdinfo/" + std::to_string(device.fd()));
	std::map<std::string, std::string> entries;
	for (std::string line; std::getline(file, line);) {
		const size_t colon = line.find(':');
		const size_t value = line.find_first_not_of(" \t", colon + 1);
		if (colon != std::string::npos && value != std::string::npos)
			entries[line.substr(0, colon)] = line.substr(value);
	}
	return entries;
}

uint64_t busyOf(const Device &device, const std::string &engine)
{
	const auto entries = fdinfo(device);
	const auto entry = entries.find("drm-engine-" + engine);
	if (entry == entries.end() || !entry->second.ends_with(" ns")) {
		ADD_FAILURE() << "no drm-engine-" << engine << " in ns";
		return 0;
	}
	return std::stoull(entry->second);
}

/** \brief Copies on a device of its own */
class Copies
{
public:
	Copies() : source_(device, copyBytes), destination_(device, copyBytes)
	{
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
	}

	/** \brief Runs one job of \a operations copies. \return 0 or -errno */
	int run(unsigned int operations)
	{
		while (task_.operations.size() < operations)
			task_.addCopy(0, 1, 1024, copyBytes / 1024);
		Submit submit(task_);
		const int ret = submit.run(device);
		return ret ? ret : destination_.prepare(DRM_NVDLA_BO_READ);
	}

	Device device;

private:
	Buffer source_;
	Buffer destination_;
	CopyTask task_;
};

class CountersTest : public testing::Test
{
protected:
	void SetUp() override
	{
		folder_ = deviceFolder();
		ASSERT_FALSE(folder_.empty()) << Device::path() << " is not in /sys/class/accel";
		ASSERT_EQ(write(folder_ / "counters/enable", "0"), 0);
		ASSERT_EQ(write(folder_ / "counters/reset", "1"), 0);
	}

	void TearDown() override { write(folder_ / "counters/enable", "0"); }

	std::filesystem::path folder_;
};

/** \brief Records the driver's events in a buffer of its own */
class Trace
{
public:
	Trace()
	{
		std::error_code error;
		if (!std::filesystem::exists(tracing / "events/nvdla"))
			return;
		std::filesystem::create_directory(instance_, error);
		valid_ = !error && write(instance_ / "events/nvdla/enable", "1") == 0;
	}
	~Trace()
	{
		std::error_code error;
		write(instance_ / "events/nvdla/enable", "0");
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
			if (line.starts_with('#') || name == std::string::npos)
				continue;
			const size_t end = line.find(": ", name + 2);
			found.emplace_back(line.substr(name + 2, end - name - 2),
					   line.substr(end + 2));
		}
		return found;
	}

	static inline const std::filesystem::path tracing = "/sys/kernel/tracing";

private:
	std::filesystem::path instance_ = tracing / "instances/nvdla-test";
	bool valid_ = false;
};

} /* namespace */

TEST(TraceTest, TellsTheLifeOfAJob)
{
	if (!std::filesystem::exists(Trace::tracing / "events"))
		GTEST_SKIP() << "the kernel has no tracing";
	Trace trace;
	ASSERT_TRUE(trace.valid());
	Copies copies;
	ASSERT_EQ(copies.run(2), 0);

	std::vector<std::string> names;
	std::string job;
	for (const auto &[name, text] : trace.events()) {
		SCOPED_TRACE(name + ": " + text);
		/* How many messages the device sends is its own affair. */
		if (name == "nvdla_irq")
			continue;
		names.push_back(name);
		const size_t at = text.find("job=");
		ASSERT_NE(at, std::string::npos);
		const std::string id = text.substr(at, text.find(' ', at) - at);
		if (job.empty())
			job = id;
		EXPECT_EQ(id, job);
		if (name.starts_with("nvdla_op_")) {
			EXPECT_NE(text.find("engine=bdma"), std::string::npos);
		}
		if (name == "nvdla_job_done") {
			EXPECT_NE(text.find("error=0"), std::string::npos);
		}
	}
	/* The second copy waits for the first, but its registers are written meanwhile. */
	const std::vector<std::string> expected = {
		"nvdla_job_queue",   "nvdla_job_run",	 "nvdla_task_start",  "nvdla_op_program",
		"nvdla_op_enable",   "nvdla_op_program", "nvdla_op_complete", "nvdla_op_enable",
		"nvdla_op_complete", "nvdla_task_done",	 "nvdla_job_done",
	};
	EXPECT_EQ(names, expected);
}

TEST_F(CountersTest, AreZeroAfterAReset)
{
	unsigned int count = 0;
	for (const std::string engine : engines) {
		for (const auto &entry :
		     std::filesystem::directory_iterator(folder_ / ("counters_" + engine))) {
			EXPECT_EQ(read(entry.path()), "0\n") << entry.path();
			count++;
		}
	}
	EXPECT_GT(count, 40u);
}

TEST_F(CountersTest, OperationsAndTimeCountAlways)
{
	Copies copies;
	ASSERT_EQ(copies.run(3), 0);
	ASSERT_EQ(copies.run(3), 0);
	EXPECT_EQ(counter("bdma", "operations"), 6u);
	EXPECT_EQ(counter("bdma", "counted_operations"), 0u);
	const uint64_t busy = counter("bdma", "busy_time_us");
	EXPECT_GT(busy, 0u);
	EXPECT_EQ(counter("bdma", "busy_time_us"), busy) << "time goes by on an idle engine";
	for (const std::string engine : { "conv", "sdp", "pdp", "cdp", "rubik" })
		EXPECT_EQ(counter(engine, "operations"), 0u) << engine;

	ASSERT_EQ(write(folder_ / "counters/reset", "1"), 0);
	EXPECT_EQ(counter("bdma", "operations"), 0u);
	EXPECT_EQ(counter("bdma", "busy_time_us"), 0u);
}

TEST_F(CountersTest, TheCoreCountsWhenItIsAsked)
{
	EXPECT_EQ(read(folder_ / "counters/enable"), "0\n");
	ASSERT_EQ(write(folder_ / "counters/enable", "1"), 0);
	EXPECT_EQ(read(folder_ / "counters/enable"), "1\n");
	Copies copies;
	ASSERT_EQ(copies.run(4), 0);
	EXPECT_EQ(counter("bdma", "operations"), 4u);
	EXPECT_EQ(counter("bdma", "counted_operations"), 4u);

	ASSERT_EQ(write(folder_ / "counters/enable", "0"), 0);
	ASSERT_EQ(copies.run(4), 0);
	EXPECT_EQ(counter("bdma", "operations"), 8u);
	EXPECT_EQ(counter("bdma", "counted_operations"), 4u);
}

TEST_F(CountersTest, RefuseNonsense)
{
	EXPECT_EQ(write(folder_ / "counters/enable", "perhaps"), -EINVAL);
	EXPECT_EQ(read(folder_ / "counters/enable"), "0\n");
	EXPECT_TRUE(read(folder_ / "counters/reset").empty());
}

TEST_F(CountersTest, EachFileHasItsOwnTime)
{
	Copies busy, idle;
	const auto before = fdinfo(busy.device);
	EXPECT_EQ(before.at("drm-driver"), "nvdla");
	EXPECT_NE(before.at("drm-client-id"), fdinfo(idle.device).at("drm-client-id"));
	for (const std::string engine : engines)
		EXPECT_EQ(busyOf(busy.device, engine), 0u) << engine;

	ASSERT_EQ(busy.run(5), 0);
	const uint64_t ns = busyOf(busy.device, "bdma");
	EXPECT_GT(ns, 0u);
	EXPECT_EQ(busyOf(busy.device, "conv"), 0u);
	EXPECT_EQ(busyOf(idle.device, "bdma"), 0u);

	/* The device was busy for nobody else; a reset of its counters is not the file's. */
	EXPECT_EQ(counter("bdma", "busy_time_us"), ns / 1000);
	ASSERT_EQ(write(folder_ / "counters/reset", "1"), 0);
	EXPECT_EQ(busyOf(busy.device, "bdma"), ns);
}

TEST_F(CountersTest, FilesShowTheirMemory)
{
	Device device;
	ASSERT_TRUE(device.valid());
	const auto total = [&] {
		/* Printed in the largest unit that has no remainder. */
		std::istringstream text(fdinfo(device).at("drm-total-memory"));
		uint64_t value = 0;
		std::string unit;
		text >> value >> unit;
		return unit == "MiB" ? value << 20 : unit == "KiB" ? value << 10 : value;
	};
	EXPECT_EQ(total(), 0u);
	{
		Buffer buffer(device, 3 * 4096);
		ASSERT_TRUE(buffer.valid());
		EXPECT_EQ(total(), 3u * 4096);
	}
	EXPECT_EQ(total(), 0u);
}

TEST_F(CountersTest, MayBeReadWhileTheDriverIsUnbound)
{
	const std::filesystem::path driver = "/sys/bus/pci/drivers/nvdla";
	const std::string address = folder_.filename();
	if (!std::filesystem::exists(driver / address))
		GTEST_SKIP() << "the driver is not bound to a PCI function";

	std::atomic<bool> stop = false;
	std::thread reader([&] {
		while (!stop) {
			for (const std::string engine : engines)
				read(folder_ / ("counters_" + engine) / "busy_time_us");
			write(folder_ / "counters/reset", "1");
		}
	});
	for (int round = 0; round < 3; round++) {
		EXPECT_EQ(write(driver / "unbind", address), 0);
		EXPECT_FALSE(std::filesystem::exists(folder_ / "counters"));
		EXPECT_EQ(write(driver / "bind", address), 0);
		EXPECT_TRUE(std::filesystem::exists(folder_ / "counters_conv/operations"));
	}
	stop = true;
	reader.join();
}

} /* namespace nvdla::test */
