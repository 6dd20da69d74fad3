/* SPDX-License-Identifier: MIT */
/* debugfs and core dumps, and what the driver does about faults that are made to order. */
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>
#include <unistd.h>
#include <xf86drm.h>

#include "copies.h"
#include "device/refusal.h"
#include "driver_files.h"
#include "eventually.h"
#include "pci_function.h"

namespace nvdla::test
{

namespace
{

const std::filesystem::path dumps = "/sys/class/devcoredump";

/**
 * \return the data of the only core dump, empty if there is none
 *
 * The kernel makes the link to the device last, when the data can be read already.
 */
std::filesystem::path findDump()
{
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator(dumps, error)) {
		if (std::filesystem::is_symlink(entry.path() / "failing_device", error))
			return entry.path() / "data";
	}
	return {};
}

/** \return the data of the only core dump, empty if none comes */
std::filesystem::path waitForDump()
{
	std::filesystem::path data;
	eventually([&] { return !(data = findDump()).empty(); });
	return data;
}

/**
 * \brief Removes all dumps and waits until they are gone
 *
 * Writing to a dump only has it removed soon: until then it would be taken for the next one.
 */
void removeDumps()
{
	std::error_code error;
	std::vector<std::filesystem::path> removed;
	for (const auto &entry : std::filesystem::directory_iterator(dumps, error)) {
		if (writeFile(entry.path() / "data", "1") == 0)
			removed.push_back(entry.path());
	}
	EXPECT_TRUE(eventually([&] {
		return std::ranges::none_of(
			removed, [](const auto &dump) { return std::filesystem::exists(dump); });
	})) << "dumps stay although they were written to";
}

size_t countLines(const std::string &text, const std::string &with)
{
	std::istringstream lines(text);
	size_t count = 0;
	for (std::string line; std::getline(lines, line);)
		count += line.find(with) != std::string::npos;
	return count;
}

/** \return how the line of a register begins */
std::string lineOf(uint32_t reg)
{
	return fmt::format("0x{:05x} = ", reg);
}

/** \return how many registers of a unit are shown */
size_t countOfUnit(const std::string &text, uint32_t base)
{
	const std::string page = lineOf(base).substr(0, 4);
	std::istringstream lines(text);
	size_t count = 0;
	for (std::string one; std::getline(lines, one);)
		count += one.starts_with(page);
	return count;
}

class DebugTest : public testing::Test
{
protected:
	void SetUp() override
	{
		folder_ = debugFolder();
		if (!std::filesystem::exists(folder_))
			GTEST_SKIP() << "the kernel has no debugfs";
		removeDumps();
	}

	void TearDown() override
	{
		for (const char *fault : { "lose_interrupt", "fail_task", "fail_reset" })
			writeFile(folder_ / "inject" / fault, "0");
		/* The dump of a job appears after its fence has signalled. */
		if (injected_ && std::filesystem::exists(dumps))
			waitForDump();
		removeDumps();
	}

	int inject(const std::string &fault)
	{
		injected_ = true;
		return writeFile(folder_ / "inject" / fault, "1");
	}

	std::string show(const std::string &file) const { return readFile(folder_ / file); }

	std::filesystem::path folder_;

private:
	bool injected_ = false;
};

} /* namespace */

TEST_F(DebugTest, ShowsRegisters)
{
	/* A core that sleeps shows nothing. */
	const Setting awake(deviceFolder() / "power/control", "on");
	ASSERT_TRUE(awake.done());
	const std::string registers = show("registers");
	EXPECT_EQ(countLines(registers, lineOf(NVDLA_GLB_S_NVDLA_HW_VERSION) + "0x00303031"), 1u);
	EXPECT_EQ(countLines(registers, lineOf(NVDLA_BDMA_CFG_LINE)), 1u);
	EXPECT_EQ(countLines(registers, lineOf(NVDLA_CDMA_D_OP_ENABLE) + "0x00000000"), 2u)
		<< "one for each register group";
	EXPECT_EQ(countOfUnit(registers, NVDLA_SDP_RDMA_BASE), 2 + 2 * 35u);
	EXPECT_EQ(countLines(registers, lineOf(NVDLA_SDP_S_LUT_ACCESS_DATA)), 0u)
		<< "reading it moves the address";
	EXPECT_EQ(countOfUnit(registers, NVDLA_GEC_BASE), 0u) << "the core has none";
	EXPECT_EQ(countLines(registers, "\n"), 0u);
	EXPECT_GT(countLines(registers, " = 0x"), 690u);
}

TEST_F(DebugTest, LookingDoesNotDisturb)
{
	std::atomic<bool> stop = false;
	std::thread watcher([&] {
		while (!stop) {
			show("registers");
			show("queue");
			show("last_job");
		}
	});
	Copies copies;
	for (int round = 0; round < 5; round++) {
		copies.clear();
		EXPECT_EQ(copies.run(8), 0);
		EXPECT_TRUE(copies.right());
	}
	stop = true;
	watcher.join();
}

TEST_F(DebugTest, TellsOfTheLastJob)
{
	Copies copies;
	ASSERT_EQ(copies.run(3), 0);
	const std::string job = show("last_job");
	EXPECT_EQ(countLines(job, "error: 0"), 1u) << job;
	EXPECT_EQ(countLines(job, "tasks: 1"), 1u) << job;
	EXPECT_EQ(countLines(job, "operations: 3"), 1u) << job;
	EXPECT_EQ(countLines(job, "completed: 3"), 1u) << job;
	EXPECT_EQ(countLines(show("queue"), ": idle"), 12u) << show("queue");
}

TEST_F(DebugTest, ALostInterruptIsATimeout)
{
	Copies copies, others;
	ASSERT_EQ(inject("lose_interrupt"), 0);
	EXPECT_EQ(copies.run(2, 300), -ETIMEDOUT);
	EXPECT_EQ(countLines(show("last_job"), "error: -110"), 1u) << show("last_job");
	EXPECT_EQ(countLines(show("last_job"), "completed: 0"), 1u) << show("last_job");

	EXPECT_EQ(others.run(2), 0);
	EXPECT_TRUE(others.right());
}

TEST_F(DebugTest, ResetsOnDemand)
{
	Copies copies;
	for (int round = 0; round < 3; round++) {
		copies.clear();
		EXPECT_EQ(writeFile(folder_ / "reset", "1"), 0);
		EXPECT_EQ(copies.run(2), 0);
		EXPECT_TRUE(copies.right());
	}
}

TEST_F(DebugTest, ATaskMayFail)
{
	Copies copies;
	ASSERT_EQ(inject("fail_task"), 0);
	EXPECT_EQ(copies.run(2), -EIO);
	EXPECT_EQ(copies.run(2), 0);
	EXPECT_TRUE(copies.right());
}

TEST_F(DebugTest, ATaskThatNeedsNoInterruptMayFail)
{
	Device device;
	Buffer buffer(device, 4096);
	ASSERT_TRUE(device.valid() && buffer.valid());
	CopyTask nothing;
	nothing.addAddress(buffer.handle());
	nothing.addCopy(0, 0, 32, 1);
	nothing.operations[0].bdma.num_transfers = 0;
	nothing.surfaces[0].bdma.num_transfers = 0;
	const uint32_t syncobj = device.createSyncobj();
	ASSERT_NE(syncobj, 0u);
	for (const int expected : { -EIO, 1 }) {
		if (expected != 1) {
			ASSERT_EQ(inject("fail_task"), 0);
		}
		Submit submit;
		submit.tasks.assign(2, nothing.task());
		submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
		ASSERT_EQ(submit.run(device), 0) << refusedField(submit.error, NVDLA_OP_BDMA);
		ASSERT_EQ(device.waitSyncobj(syncobj), 0);
		EXPECT_EQ(device.fenceStatus(syncobj), expected);
	}
}

TEST_F(DebugTest, FailuresLeaveADump)
{
	if (!std::filesystem::exists("/sys/class/devcoredump"))
		GTEST_SKIP() << "the kernel has no device core dumps";

	Copies copies;
	ASSERT_EQ(inject("lose_interrupt"), 0);
	ASSERT_EQ(copies.run(2, 300), -ETIMEDOUT);

	const auto data = waitForDump();
	ASSERT_FALSE(data.empty()) << "no dump";
	EXPECT_EQ(std::filesystem::canonical(data.parent_path() / "failing_device"),
		  deviceFolder());
	const std::string dump = readFile(data);
	EXPECT_TRUE(dump.starts_with("nvdla coredump 2\n")) << dump.substr(0, 100);
	for (const char *section : { "[job]", "[groups]", "[registers]", "[programs]" })
		EXPECT_EQ(countLines(dump, section), 1u) << section;
	EXPECT_EQ(countLines(dump, "error: -110"), 1u);
	EXPECT_EQ(
		countLines(dump, "bdma group 0: enabled, operation 0, waits for 0 events") +
			countLines(dump, "bdma group 1: enabled, operation 0, waits for 0 events"),
		1u);
	EXPECT_EQ(countLines(dump, "operation 0: bdma, enabled"), 1u);
	EXPECT_EQ(countLines(dump, "operation 1: bdma, not enabled"), 1u);
	/* Once as a register, once in each operation's program. */
	EXPECT_EQ(countLines(dump, lineOf(NVDLA_BDMA_CFG_LINE)), 3u);
	EXPECT_TRUE(dump.ends_with('\n'));

	/* A second failure does not replace what nobody has read yet. */
	ASSERT_EQ(inject("lose_interrupt"), 0);
	ASSERT_EQ(copies.run(2, 300), -ETIMEDOUT);
	EXPECT_EQ(readFile(data), dump);
}

TEST_F(DebugTest, ACoreThatDoesNotComeBackIsGivenUp)
{
	const PciFunction function;
	if (!function.valid())
		GTEST_SKIP() << "the driver is not bound to a PCI function";
	{
		Copies copies;
		ASSERT_EQ(inject("fail_reset"), 0);
		ASSERT_EQ(inject("lose_interrupt"), 0);
		EXPECT_EQ(copies.run(2, 300), -ETIMEDOUT);
		EXPECT_EQ(copies.run(2), -ENODEV);
		EXPECT_EQ(show("registers"), "");
	}
	ASSERT_TRUE(function.unbind());
	ASSERT_TRUE(function.bind());
	Copies copies;
	EXPECT_EQ(copies.run(2), 0);
	EXPECT_TRUE(copies.right());
}

TEST_F(DebugTest, ABusyCoreThatDoesNotComeBackIsLetGo)
{
	const PciFunction function;
	if (!function.valid())
		GTEST_SKIP() << "the driver is not bound to a PCI function";
	/* The job is not to blame, so there is no dump to wait for: not with inject(). */
	ASSERT_EQ(writeFile(folder_ / "inject" / "lose_interrupt", "1"), 0);
	ASSERT_EQ(writeFile(folder_ / "inject" / "fail_reset", "1"), 0);
	int fence = -1;
	{
		Device device;
		Buffer source(device, 4096), destination(device, 4096);
		ASSERT_TRUE(device.valid() && source.valid() && destination.valid());
		CopyTask task;
		task.addAddress(source.handle());
		task.addAddress(destination.handle());
		task.addCopy(0, 1, 1024, 4);
		const uint32_t syncobj = device.createSyncobj();
		Submit submit(task);
		submit.timeoutMs = 60'000;
		submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
		ASSERT_EQ(submit.run(device), 0);
		ASSERT_EQ(drmSyncobjExportSyncFile(device.fd(), syncobj, &fence), 0);
	}
	ASSERT_TRUE(function.unbind());
	EXPECT_EQ(syncFileStatus(fence), -ENODEV);
	close(fence);
	ASSERT_TRUE(function.bind());
	Copies copies;
	EXPECT_EQ(copies.run(2), 0);
	EXPECT_TRUE(copies.right());
}

} /* namespace nvdla::test */
