/* SPDX-License-Identifier: MIT */
/*
 * What nvdla-top reads and shows, on made-up trees of sysfs and proc.
 */
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "pseudo_terminal.h"
#include "tools/top/load_json.h"
#include "tools/top/load_text.h"
#include "tools/top/watch.h"

namespace nvdla
{

namespace
{

namespace fs = std::filesystem;
using namespace top;
using test::PseudoTerminal;

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
		EXPECT_TRUE(test::has(none.error().message(), "there is accel0, accel2, accel10"));
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

	EXPECT_TRUE(test::has(
		text,
		"accel0 (0000:00:04.0): 30.01k operations in total; last 2.0 s, per second:\n"));
	EXPECT_TRUE(test::has(text, "conv   50.0%    15k    16.5M        -       15k    75k"
				    "      -        -\n"))
		<< text;
	EXPECT_TRUE(test::has(text, "sdp     1.0%      1        -        -         -      -"
				    "      -        -\n"))
		<< text;
	EXPECT_TRUE(test::has(text, "    900 ?[2J? evil         3.0 MiB  25.0%   0.0%\n")) << text;
	EXPECT_TRUE(test::has(text, "nvdla-top --enable"));
	EXPECT_TRUE(test::has(text, "counters/enable"));
	std::istringstream lines(text);
	for (std::string line; std::getline(lines, line);)
		EXPECT_TRUE(line.size() < 80 || test::has(line, root_.string())) << line;
}

TEST_F(TopTest, BarsTakeTheRoomThereIs)
{
	using namespace std::chrono_literals;
	const Snapshot before = snapshot(0ms);
	count(firstDevice, "conv", 30010, 1004000);
	const Load load = loadBetween(before, snapshot(2000ms));
	const auto line = [&](const Look &look) {
		const std::string text = loadText(load, look);
		const size_t start = text.find("\nconv") + 1;
		return text.substr(start, text.find('\n', start) - start);
	};
	const std::string busy = "conv   50.0%", rest = "    15k    16.5M        -       15k    75k"
							"      -        -";

	EXPECT_EQ(line({}), busy + rest);
	EXPECT_EQ(line({ .columns = 80, .bars = true }), busy + " ||||    " + rest);
	EXPECT_EQ(line({ .columns = 80, .bars = true }).size(), 79u);
	EXPECT_EQ(line({ .columns = 75, .bars = true }), busy + rest);
	EXPECT_EQ(line({ .columns = 0, .bars = true }), busy + rest);
	EXPECT_EQ(line({ .columns = 300, .bars = true }),
		  busy + " " + std::string(20, '|') + std::string(20, ' ') + rest);
	EXPECT_EQ(line({ .bars = true, .colour = true }), busy + " \x1b[32m||||\x1b[0m    " + rest);
}

TEST_F(TopTest, ProcessesHaveAnOrder)
{
	using namespace std::chrono_literals;
	const Snapshot before = snapshot(0ms);
	open(902, 4, "/dev/accel/accel0", info(1, 1000));
	open(900, 4, "/dev/accel/accel0", info(2, 500));
	open(901, 4, "/dev/accel/accel0", info(3, 500));
	open(901, 5, "/dev/accel/accel0", info(4, 200));
	open(903, 4, "/dev/accel/accel0", info(5, 500));
	write("proc/900/comm", "z\n");
	Load load = loadBetween(before, snapshot(1000ms));
	const auto pids = [&](Order order) {
		sortProcesses(load, order);
		std::vector<uint64_t> pids;
		const auto json = loadJson(load);
		for (const auto &process : json["devices"][0]["processes"])
			pids.push_back(process["pid"]);
		return pids;
	};
	using Pids = std::vector<uint64_t>;

	EXPECT_EQ(pids(Order::Busy), (Pids{ 902, 901, 900, 903 }));
	EXPECT_EQ(pids(Order::Memory), (Pids{ 901, 900, 902, 903 }));
	EXPECT_EQ(pids(Order::Name), (Pids{ 901, 902, 903, 900 }));
	EXPECT_EQ(pids(Order::Pid), (Pids{ 900, 901, 902, 903 }));
}

/* On a terminal that reports no size, as the guest's console does. */
TEST_F(TopTest, KeysChangeAndEndTheView)
{
	PseudoTerminal console;
	ASSERT_TRUE(console.valid());
	const termios before = console.mode();
	open(900, 4, "/dev/accel/accel0", info(7, 1000));
	auto done = std::async(std::launch::async, [&] {
		Terminal terminal(console.terminal(), console.terminal());
		return watch({ .root = root_ }, snapshot(),
			     { .interval = std::chrono::milliseconds(100) }, terminal);
	});

	const std::string first = console.readUntil("now: busy");
	EXPECT_TRUE(test::has(first, "accel0 (0000:00:04.0): 10 operations in total;"));
	EXPECT_TRUE(test::has(first, "\x1b[24;1Hq quit")) << first;
	EXPECT_FALSE(console.mode().c_lflag & (ICANON | ECHO));
	console.write("\x1b[m");
	console.write("x");
	console.write("m");
	console.readUntil("now: memory");
	console.write("s");
	console.readUntil("now: name");
	console.write("\x1bq"); /* Escape by itself begins no sequence */
	ASSERT_EQ(done.wait_for(std::chrono::seconds(60)), std::future_status::ready);
	EXPECT_TRUE(done.get());
	EXPECT_EQ(console.mode().c_lflag, before.c_lflag);
}

TEST_F(TopTest, ASignalGivesTheTerminalBack)
{
	PseudoTerminal console;
	ASSERT_TRUE(console.valid());
	const tcflag_t before = console.mode().c_lflag;
	{
		Terminal terminal(console.terminal(), console.terminal());
		EXPECT_EQ(terminal.wait(std::chrono::milliseconds(1)), Terminal::Wake::Time);
		pthread_kill(pthread_self(), SIGWINCH);
		EXPECT_EQ(terminal.wait(std::chrono::minutes(1)), Terminal::Wake::Redraw);
		pthread_kill(pthread_self(), SIGINT);
		EXPECT_EQ(terminal.wait(std::chrono::minutes(1)), Terminal::Wake::End);
		EXPECT_EQ(terminal.signal(), SIGINT);
		EXPECT_NE(console.mode().c_lflag, before);
	}
	EXPECT_EQ(console.mode().c_lflag, before);
	EXPECT_TRUE(test::has(console.readUntil("\r\n"), "\x1b[?25h"));
}

TEST_F(TopTest, ATerminalThatIsGoneEndsTheView)
{
	PseudoTerminal console;
	ASSERT_TRUE(console.valid());
	Terminal terminal(console.terminal(), console.terminal());
	console.hangUp();
	EXPECT_EQ(terminal.wait(std::chrono::minutes(1)), Terminal::Wake::End);
	EXPECT_FALSE(terminal.show("x"));
}

TEST(TopScreenTest, ShowsWhatThereIsRoomFor)
{
	EXPECT_EQ(screenText("abcd\n\nefgh\nij\n", "", { 4, 3 }),
		  "\x1b[H\x1b[Kabc\n\x1b[K\n\x1b[Kefg\n\x1b[J");
	EXPECT_EQ(screenText("abcd\n", "", {}), "\x1b[H\x1b[Kabcd\n\x1b[J");
	EXPECT_EQ(screenText("abcd", "", { 1, 80 }), "\x1b[H\x1b[J");
	EXPECT_EQ(screenText("abcd\n", "keys", { 9, 4 }), "\x1b[H\x1b[Kabcd\n\x1b[J\x1b[9;1Hkey");
}

TEST(TopScreenTest, ColoursTakeNoColumns)
{
	EXPECT_EQ(screenText("a\x1b[32m||||\x1b[0mb", "", { 2, 3 }),
		  "\x1b[H\x1b[Ka\x1b[32m||\x1b[0m\n\x1b[J");
	EXPECT_EQ(screenText("ab\x1b", "", { 2, 3 }), "\x1b[H\x1b[Kab\x1b\n\x1b[J");
}

TEST(TopScreenTest, ATerminalWithoutASizeHasTheUsualOne)
{
	const std::tuple<ScreenSize, size_t, size_t> sizes[] = {
		{ screenSize(0, 0), 24, 80 },	  { screenSize(50, 0), 50, 80 },
		{ screenSize(0, 132), 24, 132 },  { screenSize(24, 80), 24, 80 },
		{ screenSize(60, 250), 60, 250 },
	};
	for (const auto &[size, rows, columns] : sizes) {
		EXPECT_EQ(size.rows, rows);
		EXPECT_EQ(size.columns, columns);
	}
}

TEST(TopOrderTest, EachHasANameAndAKey)
{
	EXPECT_EQ(orderNames(), (std::vector<std::string>{ "busy", "memory", "name", "pid" }));
	Order order = Order::Pid;
	for (const std::string &name : orderNames()) {
		EXPECT_EQ(orderOfKey(name[0], Order::Busy), orderNamed(name));
		order = orderOfKey('s', order).value();
		EXPECT_EQ(order, orderNamed(name));
		EXPECT_TRUE(test::has(keyHelp(order), "now: " + name));
		EXPECT_LT(keyHelp(order).size(), 80u);
	}
	for (const char key : { 'x', 'B', '\0', '\n', ' ' })
		EXPECT_FALSE(orderOfKey(key, Order::Busy)) << key;
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
