/* SPDX-License-Identifier: MIT */
/*
 * What nvdla-top reads and shows, on made-up trees of sysfs and proc.
 */
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <unistd.h>

#include "tools/top/load_json.h"
#include "tools/top/load_text.h"

namespace nvdla
{

namespace
{

namespace fs = std::filesystem;
using namespace top;

constexpr const char *firstDevice = "sys/devices/pci0000:00/0000:00:04.0";

class TopTest : public testing::Test
{
protected:
	void SetUp() override
	{
		std::string name = testing::TempDir() + "top-XXXXXX";
		ASSERT_NE(mkdtemp(name.data()), nullptr);
		root_ = name;
		fs::create_directories(root_ / "proc");
		makeDevice("accel0", firstDevice, "nvdla");
	}

	void TearDown() override { fs::remove_all(root_); }

	void write(const fs::path &path, const std::string &text)
	{
		fs::create_directories((root_ / path).parent_path());
		std::ofstream(root_ / path) << text;
	}

	void link(const fs::path &path, const fs::path &target)
	{
		fs::create_directories((root_ / path).parent_path());
		fs::create_symlink(target, root_ / path);
	}

	void makeDevice(const std::string &name, const std::string &folder,
			const std::string &driver)
	{
		write(folder + "/counters/enable", "0\n");
		link("sys/class/accel/" + name + "/device", root_ / folder);
		link(folder + "/driver", "../../../bus/pci/drivers/" + driver);
		count(folder, "conv", 10, 4000);
	}

	/* The core counts for a third of the operations. */
	void count(const std::string &folder, const std::string &engine, uint64_t operations,
		   uint64_t busyUs)
	{
		const std::string counters = folder + "/counters_" + engine;
		const std::pair<const char *, uint64_t> values[] = {
			{ "operations", operations },
			{ "busy_time_us", busyUs },
			{ "counted_operations", operations / 3 },
			{ "read_stall_cycles", operations * 100 },
			{ "weight_read_stall_cycles", operations * 1000 },
			{ "read_latency_cycles", 77777 },
			{ "saturation", operations },
			{ "nan_input", operations * 2 },
			{ "nan_weight", operations * 3 },
		};
		for (const auto &[name, value] : values)
			write(counters + "/" + name, std::to_string(value) + "\n");
	}

	void open(int pid, int fd, const std::string &node, const std::string &info)
	{
		const std::string process = "proc/" + std::to_string(pid);
		write(process + "/fdinfo/" + std::to_string(fd), info);
		link(process + "/fd/" + std::to_string(fd), node);
		write(process + "/comm", "job " + std::to_string(pid) + "\n");
	}

	static std::string info(int id, uint64_t convNs)
	{
		return "pos:\t0\nflags:\t02100002\ndrm-driver:\tnvdla\ndrm-client-id:\t" +
		       std::to_string(id) + "\ndrm-engine-conv:\t" + std::to_string(convNs) +
		       " ns\ndrm-engine-sdp:\t0 ns\ndrm-total-memory:\t3 MiB\n"
		       "drm-shared-memory:\t0\ndrm-active-memory:\t4 KiB\n"
		       "drm-resident-memory:\t2048 KiB\n";
	}

	Snapshot snapshot(std::chrono::milliseconds time = {}, const std::string &device = "")
	{
		auto snapshot = takeSnapshot({ device, root_ });
		EXPECT_TRUE(snapshot) << snapshot.error().message();
		snapshot->time = time;
		return *snapshot;
	}

	fs::path root_;
};

} /* namespace */

TEST_F(TopTest, ReadsCounters)
{
	const Snapshot now = snapshot();
	ASSERT_EQ(now.devices.size(), 1u);
	EXPECT_EQ(now.devices[0].name, "accel0");
	EXPECT_EQ(now.devices[0].address, "0000:00:04.0");
	EXPECT_FALSE(now.devices[0].counting);
	ASSERT_EQ(now.devices[0].engines.size(), 1u);
	EXPECT_EQ(valueOf(now.devices[0].engines.at("conv"), "busy_time_us"), 4000u);
	EXPECT_EQ(valueOf(now.devices[0].engines.at("conv"), "lut_overflow"), 0u);
	EXPECT_TRUE(now.allProcesses);
}

TEST_F(TopTest, FindsDevices)
{
	makeDevice("accel10", "sys/devices/platform/10200000.nvdla", "nvdla");
	makeDevice("accel2", "sys/devices/pci0000:00/0000:00:06.0", "nvdla");
	makeDevice("accel1", "sys/devices/pci0000:00/0000:00:05.0", "another");

	const Snapshot all = snapshot();
	ASSERT_EQ(all.devices.size(), 3u);
	EXPECT_EQ(all.devices[1].name, "accel2");
	EXPECT_EQ(all.devices[2].name, "accel10");
	for (const char *name : { "accel10", "/dev/accel/accel10", "10200000.nvdla" }) {
		const Snapshot one = snapshot({}, name);
		ASSERT_EQ(one.devices.size(), 1u) << name;
		EXPECT_EQ(one.devices[0].name, "accel10");
	}
	for (const char *name : { "accel1", "accel3", "accel", "/dev/accel/" }) {
		const auto none = takeSnapshot({ name, root_ });
		ASSERT_FALSE(none) << name;
		EXPECT_EQ(none.error().code, ErrorCode::NoDevice);
		EXPECT_TRUE(test::has(none.error().message(), name));
	}
	EXPECT_EQ(takeSnapshot({ "", root_ / "nothing" }).error().code, ErrorCode::NoDevice);
}

TEST_F(TopTest, ReadsClients)
{
	open(900, 4, "/dev/accel/accel0", info(7, 1000));
	open(1000, 3, "/dev/accel/accel0", info(8, 5));
	open(1000, 9, "/dev/accel/accel0", info(8, 5)); /* the same file twice */
	open(1001, 9, "/dev/accel/accel0", info(8, 5)); /* inherited */
	open(1002, 3, "/dev/accel/accel1", info(9, 5)); /* not there */
	open(1002, 4, "/dev/accel/accel0 (deleted)", info(10, 5));
	open(1002, 5, "/dev/null", "pos:\t0\n");
	open(1002, 6, "/dev/accel/accel0", "pos:\t0\ndrm-driver:\tother\ndrm-client-id:\t1\n");
	open(1002, 7, "/dev/accel/accel0", "drm-driver:\tnvdla\n\n:\ndrm-client-id\n");

	const Snapshot now = snapshot();
	ASSERT_EQ(now.clients.size(), 2u);
	EXPECT_EQ(now.clients[0].pid, 900u);
	EXPECT_EQ(now.clients[0].id, 7u);
	EXPECT_EQ(now.clients[0].command, "job 900");
	EXPECT_EQ(valueOf(now.clients[0].busyNs, "conv"), 1000u);
	EXPECT_EQ(now.clients[0].totalBytes, 3u << 20);
	EXPECT_EQ(now.clients[0].residentBytes, 2u << 20);
	EXPECT_EQ(now.clients[1].pid, 1000u);
}

TEST_F(TopTest, SaysWhenProcessesAreHidden)
{
	fs::create_directories(root_ / "proc/5/fd");
	fs::permissions(root_ / "proc/5/fd", fs::perms::none);
	fs::permissions(root_, fs::perms(0755));
	const uid_t user = geteuid();
	if (!user && seteuid(65534))
		GTEST_SKIP() << "root sees everything, and cannot become somebody else";
	const Snapshot now = snapshot();
	ASSERT_EQ(seteuid(user), 0);
	EXPECT_FALSE(now.allProcesses);
	EXPECT_TRUE(test::has(loadText(loadBetween(now, now)), "root sees them"));
}

TEST_F(TopTest, SaysWhoMayReadCounters)
{
	fs::permissions(root_ / firstDevice / "counters/enable", fs::perms(0600));
	fs::permissions(root_, fs::perms(0755));
	const uid_t user = geteuid();
	if (user || seteuid(65534))
		GTEST_SKIP()
			<< "only root can make files that are root's, and become somebody else";
	const auto now = takeSnapshot({ .root = root_ });
	ASSERT_EQ(seteuid(user), 0);
	ASSERT_FALSE(now);
	EXPECT_EQ(now.error().code, ErrorCode::Io);
	EXPECT_TRUE(test::has(now.error().why, "as root"));
}

TEST_F(TopTest, ComparesSnapshots)
{
	using namespace std::chrono_literals;
	open(900, 4, "/dev/accel/accel0", info(7, 1000));
	const Snapshot before = snapshot(1000ms);
	count(firstDevice, "conv", 70, 1004000);
	count(firstDevice, "sdp", 6, 20000);
	fs::remove_all(root_ / "proc/900");
	open(900, 4, "/dev/accel/accel0", info(7, 500001000));
	open(900, 5, "/dev/accel/accel0", info(8, 250000000));
	const Load load = loadBetween(before, snapshot(3000ms));

	EXPECT_EQ(load.seconds, 2);
	const DeviceLoad &device = load.devices.at(0);
	ASSERT_EQ(device.engines.size(), 2u);
	EXPECT_EQ(device.engines[0].name, "conv");
	EXPECT_EQ(valueOf(device.engines[0].interval, "operations"), 60u);
	EXPECT_EQ(valueOf(device.engines[0].total, "operations"), 70u);
	EXPECT_EQ(busyShare(device.engines[0], 2), 0.5);
	EXPECT_EQ(busyShare(device.engines[1], 2), 0.01);
	ASSERT_EQ(device.processes.size(), 1u);
	EXPECT_EQ(device.processes[0].files, 2u);
	EXPECT_EQ(device.processes[0].totalBytes, 6u << 20);
	EXPECT_EQ(valueOf(device.processes[0].intervalBusyNs, "conv"), 750000000u);
	EXPECT_EQ(valueOf(device.processes[0].totalBusyNs, "conv"), 750001000u);
}

TEST_F(TopTest, CountersThatWereResetCountFromZero)
{
	using namespace std::chrono_literals;
	const Snapshot before = snapshot(0ms);
	count(firstDevice, "conv", 3, 100);
	const Load load = loadBetween(before, snapshot(1000ms));
	EXPECT_EQ(valueOf(load.devices.at(0).engines.at(0).interval, "operations"), 3u);
	EXPECT_EQ(valueOf(load.devices.at(0).engines.at(0).interval, "busy_time_us"), 100u);
}

TEST_F(TopTest, TextIsATable)
{
	using namespace std::chrono_literals;
	const Snapshot before = snapshot(0ms);
	count(firstDevice, "conv", 30010, 1004000);
	count(firstDevice, "sdp", 2, 20000); /* too few: the core counted for none */
	open(900, 4, "/dev/accel/accel0", info(7, 500000000));
	write("proc/900/comm", "\x1b[2J\xff evil\n");
	const std::string text = loadText(loadBetween(before, snapshot(2000ms)));

	EXPECT_TRUE(test::has(text, "accel0 (0000:00:04.0), 2.0 s"));
	EXPECT_TRUE(test::has(text,
			      "conv   50.0%    15k   30.01k    16.5M        -       15k    75k"
			      "      -        -\n"))
		<< text;
	EXPECT_TRUE(test::has(text,
			      "sdp     1.0%      1        2        -        -         -      -"
			      "      -        -\n"))
		<< text;
	EXPECT_TRUE(test::has(text, "    900 ?[2J? evil         3.0 MiB  25.0%   0.0%\n")) << text;
	EXPECT_TRUE(test::has(text, "nvdla-top --enable"));
	EXPECT_TRUE(test::has(text, "counters/enable"));
	std::istringstream lines(text);
	for (std::string line; std::getline(lines, line);)
		EXPECT_TRUE(line.size() < 80 || test::has(line, root_.string())) << line;
}

TEST(TopScreenTest, ShowsWhatThereIsRoomFor)
{
	EXPECT_EQ(screenText("abcd\n\nefgh\nij\n", 4, 3),
		  "\x1b[H\x1b[Kabc\n\x1b[K\n\x1b[Kefg\n\x1b[J");
	EXPECT_EQ(screenText("abcd\n", 24, 80), "\x1b[H\x1b[Kabcd\n\x1b[J");
	EXPECT_EQ(screenText("abcd", 1, 80), "\x1b[H\x1b[J");
}

TEST_F(TopTest, JsonHasTotalsAndTheInterval)
{
	using namespace std::chrono_literals;
	open(900, 4, "/dev/accel/accel0", info(7, 500));
	const Snapshot before = snapshot(0ms);
	count(firstDevice, "conv", 16, 5000);
	const auto json = loadJson(loadBetween(before, snapshot(500ms)));

	EXPECT_EQ(json["seconds"], 0.5);
	EXPECT_EQ(json["all_processes"], true);
	const auto &device = json["devices"][0];
	EXPECT_EQ(device["name"], "accel0");
	EXPECT_EQ(device["counting"], false);
	EXPECT_EQ(device["engines"][0]["engine"], "conv");
	EXPECT_EQ(device["engines"][0]["busy"], 0.002);
	EXPECT_EQ(device["engines"][0]["total"]["operations"], 16);
	EXPECT_EQ(device["engines"][0]["interval"]["operations"], 6);
	EXPECT_EQ(device["engines"][0]["interval"]["nan_weight"], 18);
	EXPECT_EQ(device["processes"][0]["pid"], 900);
	EXPECT_EQ(device["processes"][0]["memory_bytes"], 3 << 20);
	EXPECT_EQ(device["processes"][0]["total_busy_ns"]["conv"], 500);
	EXPECT_EQ(device["processes"][0]["interval_busy_ns"]["conv"], 0);
}

TEST_F(TopTest, EnablesCounters)
{
	ASSERT_TRUE(enableCounters(snapshot().devices));
	const Snapshot now = snapshot();
	EXPECT_TRUE(now.devices[0].counting);
	EXPECT_FALSE(test::has(loadText(loadBetween(now, now)), "--enable"));

	fs::remove_all(root_ / firstDevice / "counters");
	const auto refused = enableCounters(now.devices);
	ASSERT_FALSE(refused);
	EXPECT_TRUE(test::has(refused.error().message(), "counters/enable"));
}

} /* namespace nvdla */
