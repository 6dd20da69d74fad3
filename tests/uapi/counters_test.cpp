/* SPDX-License-Identifier: MIT */
/* What the driver shows: counters in sysfs, use of the engines by each file in fdinfo. */
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "copies.h"
#include "device.h"
#include "driver_files.h"
#include "pci_function.h"

namespace nvdla::test
{

namespace
{

constexpr const char *engines[] = { "bdma", "conv", "sdp", "pdp", "cdp", "rubik" };

uint64_t counter(const std::string &engine, const std::string &name)
{
	return std::stoull(readFile(deviceFolder() / ("counters_" + engine) / name));
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

class CountersTest : public testing::Test
{
protected:
	void SetUp() override
	{
		folder_ = deviceFolder();
		ASSERT_FALSE(folder_.empty()) << Device::path() << " is not in /sys/class";
		waitForTheOthers();
		ASSERT_EQ(writeFile(folder_ / "counters/enable", "0"), 0);
		ASSERT_EQ(writeFile(folder_ / "counters/reset", "1"), 0);
	}

	void TearDown() override { writeFile(folder_ / "counters/enable", "0"); }

	std::filesystem::path folder_;

private:
	/* The driver may still be clearing on-chip buffers of earlier tests, which counts as well.
	 */
	static void waitForTheOthers()
	{
		Copies last;
		const int context = last.device.createContext(DRM_NVDLA_PRIORITY_LOW);
		ASSERT_GT(context, 0);
		last.context = static_cast<uint32_t>(context);
		ASSERT_EQ(last.run(1), 0);
	}
};

} /* namespace */

TEST_F(CountersTest, AreZeroAfterAReset)
{
	unsigned int count = 0;
	for (const std::string engine : engines) {
		for (const auto &entry :
		     std::filesystem::directory_iterator(folder_ / ("counters_" + engine))) {
			EXPECT_EQ(readFile(entry.path()), "0\n") << entry.path();
			count++;
		}
	}
	EXPECT_GT(count, 40u);
}

/* What the engines do tells of everybody's jobs. */
TEST_F(CountersTest, AreForRoot)
{
	namespace fs = std::filesystem;
	constexpr fs::perms others = fs::perms::group_all | fs::perms::others_all;
	std::vector<fs::path> folders = { folder_ / "counters" };
	for (const std::string engine : engines)
		folders.push_back(folder_ / ("counters_" + engine));
	for (const fs::path &folder : folders) {
		for (const auto &entry : fs::directory_iterator(folder))
			EXPECT_EQ(entry.status().permissions() & others, fs::perms::none)
				<< entry.path();
	}
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

	ASSERT_EQ(writeFile(folder_ / "counters/reset", "1"), 0);
	EXPECT_EQ(counter("bdma", "operations"), 0u);
	EXPECT_EQ(counter("bdma", "busy_time_us"), 0u);
}

TEST_F(CountersTest, TheCoreCountsWhenItIsAsked)
{
	EXPECT_EQ(readFile(folder_ / "counters/enable"), "0\n");
	ASSERT_EQ(writeFile(folder_ / "counters/enable", "1"), 0);
	EXPECT_EQ(readFile(folder_ / "counters/enable"), "1\n");
	Copies copies;
	ASSERT_EQ(copies.run(4), 0);
	EXPECT_EQ(counter("bdma", "operations"), 4u);
	EXPECT_EQ(counter("bdma", "counted_operations"), 4u);

	ASSERT_EQ(writeFile(folder_ / "counters/enable", "0"), 0);
	ASSERT_EQ(copies.run(4), 0);
	EXPECT_EQ(counter("bdma", "operations"), 8u);
	EXPECT_EQ(counter("bdma", "counted_operations"), 4u);
}

TEST_F(CountersTest, RefuseNonsense)
{
	EXPECT_EQ(writeFile(folder_ / "counters/enable", "perhaps"), -EINVAL);
	EXPECT_EQ(readFile(folder_ / "counters/enable"), "0\n");
	EXPECT_TRUE(readFile(folder_ / "counters/reset").empty());
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
	ASSERT_EQ(writeFile(folder_ / "counters/reset", "1"), 0);
	EXPECT_EQ(busyOf(busy.device, "bdma"), ns);
}

TEST_F(CountersTest, FilesShowTheirMemory)
{
	Device device;
	ASSERT_TRUE(device.valid());
	const auto bytes = [&](const std::string &key) {
		/* Printed in the largest unit that has no remainder. */
		std::istringstream text(fdinfo(device).at(key));
		uint64_t value = 0;
		std::string unit;
		text >> value >> unit;
		return unit == "MiB" ? value << 20 : unit == "KiB" ? value << 10 : value;
	};
	EXPECT_EQ(bytes("drm-total-memory"), 0u);
	{
		Buffer buffer(device, 3 * 4096);
		ASSERT_TRUE(buffer.valid());
		EXPECT_EQ(bytes("drm-total-memory"), 3u * 4096);
		EXPECT_EQ(bytes("drm-resident-memory"), 3u * 4096);
		EXPECT_EQ(bytes("drm-shared-memory"), 0u);
	}
	EXPECT_EQ(bytes("drm-total-memory"), 0u);
}

TEST_F(CountersTest, MayBeReadWhileTheDriverIsUnbound)
{
	const PciFunction function;
	if (!function.valid())
		GTEST_SKIP() << "the driver is not bound to a PCI function";

	std::atomic<bool> stop = false;
	std::thread reader([&] {
		while (!stop) {
			for (const std::string engine : engines)
				readFile(folder_ / ("counters_" + engine) / "busy_time_us");
			writeFile(folder_ / "counters/reset", "1");
		}
	});
	for (int round = 0; round < 3; round++) {
		EXPECT_TRUE(function.unbind());
		EXPECT_FALSE(std::filesystem::exists(folder_ / "counters"));
		EXPECT_TRUE(function.bind());
		EXPECT_TRUE(std::filesystem::exists(folder_ / "counters_conv/operations"));
	}
	stop = true;
	reader.join();
}

} /* namespace nvdla::test */
