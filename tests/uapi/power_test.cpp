/* SPDX-License-Identifier: MIT */
/* The core goes to sleep when nobody needs it, and with the system. Nobody notices. */
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "device.h"
#include "driver_files.h"
#include "eventually.h"
#include "two_clients.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t copyBytes = 64 * 1024;

std::string readWord(const std::filesystem::path &path)
{
	std::string word;
	std::istringstream(readFile(path)) >> word;
	return word;
}

/** \brief A copy from one buffer to another, and whether the bytes arrived */
class Copy
{
public:
	Copy(const Device &device, uint8_t seed)
		: device_(device), source_(device, copyBytes), destination_(device, copyBytes),
		  syncobj_(device.createSyncobj())
	{
		std::iota(source_.bytes().begin(), source_.bytes().end(), seed);
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
		task_.addCopy(0, 1, 1024, copyBytes / 1024);
	}
	~Copy() { device_.destroySyncobj(syncobj_); }
	Copy(const Copy &) = delete;
	Copy &operator=(const Copy &) = delete;

	int submit(uint32_t timeoutMs = 0, uint32_t flags = 0)
	{
		Submit submit(task_);
		submit.timeoutMs = timeoutMs;
		submit.flags = flags;
		submit.outSyncs.push_back({ .handle = syncobj_, .reserved = 0, .point = 0 });
		return submit.run(device_);
	}
	/** \return 1 when it has ended well, 0 while it has not ended, or -errno */
	int status() const { return device_.fenceStatus(syncobj_); }
	/** \return whether it ends well, with the right bytes */
	bool arrives() const
	{
		return device_.waitSyncobj(syncobj_) == 0 && status() == 1 &&
		       std::equal(source_.bytes().begin(), source_.bytes().end(),
				  destination_.bytes().begin());
	}

private:
	const Device &device_;
	Buffer source_, destination_;
	uint32_t syncobj_;
	CopyTask task_;
};

} /* namespace */

class PowerTest : public testing::Test
{
protected:
	void SetUp() override
	{
		ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path();
		struct stat node = {};
		ASSERT_EQ(fstat(device_.fd(), &node), 0);
		power_ = "/sys/dev/char/" + std::to_string(major(node.st_rdev)) + ":" +
			 std::to_string(minor(node.st_rdev)) + "/device/power";
		if (readWord(power_ / "runtime_enabled") != "enabled")
			GTEST_SKIP() << "the device's bus does not let it sleep";
	}

	static bool fallsAsleep() { return eventually(isAsleep); }

	Device device_;
	std::filesystem::path power_;
};

TEST_F(PowerTest, SleepsWhenIdleAndWakesForAJob)
{
	for (uint8_t round = 0; round < 5; round++) {
		ASSERT_TRUE(fallsAsleep()) << "round " << +round;
		Copy copy(device_, round);
		ASSERT_EQ(copy.submit(), 0);
		EXPECT_TRUE(copy.arrives()) << "round " << +round;
	}
	EXPECT_TRUE(fallsAsleep());
}

TEST_F(PowerTest, SleepsOnWhenNobodyNeedsTheCore)
{
	ASSERT_TRUE(fallsAsleep());
	Device other;
	ASSERT_TRUE(other.valid());
	drm_nvdla_device_info info = {};
	drm_nvdla_dev_query query = { .type = DRM_NVDLA_QUERY_DEVICE,
				      .size = sizeof(info),
				      .pointer = reinterpret_cast<uintptr_t>(&info) };
	EXPECT_EQ(other.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query), 0);
	Buffer buffer(other, copyBytes);
	ASSERT_TRUE(buffer.valid());
	std::fill(buffer.bytes().begin(), buffer.bytes().end(), uint8_t{ 1 });
	EXPECT_EQ(buffer.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_EQ(buffer.finish(), 0);
	EXPECT_TRUE(isAsleep());
}

TEST_F(PowerTest, StaysAwakeWhileThereAreJobs)
{
	Setting delay(power_ / "autosuspend_delay_ms", "0");
	ASSERT_TRUE(delay.done());
	std::vector<std::unique_ptr<Copy>> copies;
	for (uint8_t i = 0; i < 50; i++) {
		copies.push_back(std::make_unique<Copy>(device_, i));
		ASSERT_EQ(copies.back()->submit(), 0);
	}
	for (;;) {
		const bool asleep = isAsleep();
		/* It had not ended when the core was looked at. */
		if (copies.back()->status() != 0)
			break;
		ASSERT_FALSE(asleep);
	}
	for (const auto &copy : copies)
		EXPECT_TRUE(copy->arrives());
}

TEST_F(PowerTest, StaysAwakeForOnChipBuffers)
{
	drm_nvdla_bo_create create = { .size = 4096, .flags = DRM_NVDLA_BO_SRAM, .handle = 0 };
	Setting delay(power_ / "autosuspend_delay_ms", "0");
	ASSERT_TRUE(delay.done());
	ASSERT_TRUE(fallsAsleep());
	ASSERT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create), 0);
	for (int i = 0; i < 50; i++) {
		ASSERT_FALSE(isAsleep());
		std::this_thread::sleep_for(std::chrono::milliseconds(10));
	}
	ASSERT_EQ(device_.closeHandle(create.handle), 0);
	EXPECT_TRUE(fallsAsleep());
}

TEST_F(PowerTest, TakesJobsAtAnyMoment)
{
	const unsigned int seed = std::random_device()();
	SCOPED_TRACE("seed " + std::to_string(seed));
	Setting delay(power_ / "autosuspend_delay_ms", "0");
	ASSERT_TRUE(delay.done());
	std::vector<std::thread> threads;
	for (unsigned int i = 0; i < 3; i++) {
		threads.emplace_back([i, seed] {
			Device device;
			std::mt19937 random(seed + i);
			for (uint8_t round = 0; round < 40; round++) {
				Copy copy(device, round);
				EXPECT_EQ(copy.submit(), 0);
				EXPECT_TRUE(copy.arrives()) << "thread " << i;
				std::this_thread::sleep_for(
					std::chrono::microseconds(random() % 20000));
			}
		});
	}
	for (std::thread &thread : threads)
		thread.join();
}

/** \brief The system sleeps and wakes at once; who runs the test has set the latter up (pm_test) */
class SystemSleepTest : public PowerTest
{
protected:
	void SetUp() override
	{
		std::string levels;
		std::getline(std::ifstream("/sys/power/pm_test"), levels);
		if (levels.empty() || levels.starts_with("[none]"))
			GTEST_SKIP() << "nothing in /sys/power/pm_test would wake the system";
		PowerTest::SetUp();
	}

	static bool sleep() { return writeFile("/sys/power/state", "freeze") == 0; }
};

/* The core keeps what it holds if the sleep goes no deeper than pm_test's "devices". */
INSTANTIATE_TEST_SUITE_P(
	Events, TwoClientsAcross,
	testing::Values(CoreEvent{
		"Sleep", [] { return writeFile("/sys/power/state", "freeze") == 0; } }),
	[](const auto &info) { return info.param.name; });

TEST_F(SystemSleepTest, JobsGoOnAfterwards)
{
	for (int round = 0; round < 3; round++) {
		std::vector<std::unique_ptr<Copy>> copies;
		for (uint8_t i = 0; i < 50; i++) {
			copies.push_back(std::make_unique<Copy>(device_, i));
			ASSERT_EQ(copies.back()->submit(), 0);
		}
		ASSERT_TRUE(sleep());
		for (const auto &copy : copies)
			EXPECT_TRUE(copy->arrives()) << "round " << round;
	}
}

TEST_F(SystemSleepTest, TheCoreMayBeAsleepAlready)
{
	ASSERT_TRUE(fallsAsleep());
	ASSERT_TRUE(sleep());
	Copy copy(device_, 1);
	ASSERT_EQ(copy.submit(), 0);
	EXPECT_TRUE(copy.arrives());
	EXPECT_TRUE(fallsAsleep());
}

/* It is at work for as long as the system may wait, and longer: its interrupt got lost. */
TEST_F(SystemSleepTest, AJobThatGoesOnDoesNotKeepTheSystemAwake)
{
	for (const uint32_t flags : { 0u, DRM_NVDLA_SUBMIT_RESTARTABLE }) {
		const Setting lost(debugFolder() / "inject/lose_interrupt", "1");
		if (!lost.done())
			GTEST_SKIP() << "the driver was built without faults to order";
		Copy copy(device_, 1), behind(device_, 2);
		ASSERT_EQ(copy.submit(device_.info().max_timeout_ms, flags), 0);
		ASSERT_EQ(behind.submit(), 0);
		EXPECT_TRUE(sleep());
		if (flags) {
			EXPECT_TRUE(copy.arrives());
		} else {
			EXPECT_TRUE(behind.arrives());
			EXPECT_EQ(copy.status(), -EIO);
		}
		EXPECT_TRUE(behind.arrives());
	}
}

TEST_F(SystemSleepTest, AJobThatTakesTooLongFailsAsEver)
{
	constexpr uint32_t bytes = 1 << 20;
	Buffer source(device_, bytes), destination(device_, bytes);
	ASSERT_TRUE(source.valid() && destination.valid());
	CopyTask task;
	task.addAddress(source.handle());
	task.addAddress(destination.handle());
	for (int i = 0; i < 1024; i++)
		task.addCopy(0, 1, 1024, bytes / 1024);
	const uint32_t syncobj = device_.createSyncobj();
	Submit submit(task);
	submit.timeoutMs = 1;
	submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
	ASSERT_EQ(submit.run(device_), 0);

	ASSERT_TRUE(sleep());
	EXPECT_EQ(device_.waitSyncobj(syncobj), 0);
	EXPECT_EQ(device_.fenceStatus(syncobj), -ETIMEDOUT);
	device_.destroySyncobj(syncobj);
	Copy copy(device_, 1);
	ASSERT_EQ(copy.submit(), 0);
	EXPECT_TRUE(copy.arrives());
}

} /* namespace nvdla::test */
