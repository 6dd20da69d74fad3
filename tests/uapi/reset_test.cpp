/* SPDX-License-Identifier: MIT */
/*
 * Resets of the core: those that a job causes, and those that somebody else
 * causes while a job is on the hardware.
 */
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "device.h"
#include "driver_files.h"
#include "eventually.h"
#include "pci_function.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t lineBytes = 64;
constexpr uint32_t longBytes = 1024 * lineBytes;
constexpr uint32_t shortBytes = 4096;
constexpr uint64_t largeResult = 4 << 20;

/* A job that copies one buffer to another, and says how it went. */
class Copy
{
public:
	Copy(const Device &device, uint32_t bytes, uint64_t resultBytes = 16384)
		: source(device, bytes), destination(device, bytes), result(device, resultBytes),
		  syncobj(device.createSyncobj()), device_(device)
	{
	}
	~Copy() { device_.destroySyncobj(syncobj); }

	bool valid() const
	{
		return source.valid() && destination.valid() && result.valid() && syncobj;
	}

	void fill(uint8_t seed)
	{
		std::iota(source.bytes().begin(), source.bytes().end(), seed);
		std::fill(destination.bytes().begin(), destination.bytes().end(), uint8_t{ 0 });
	}

	Submit submit(uint32_t flags = 0) const
	{
		Submit submit(task);
		submit.flags = flags;
		submit.resultHandle = result.buffer().handle();
		submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
		return submit;
	}

	/* Waits for the end; \return the fence's error or 0 */
	int wait() const
	{
		const int ret = device_.waitSyncobj(syncobj);
		const int status = ret ? ret : device_.fenceStatus(syncobj);
		return status == 1 ? 0 : status;
	}

	Buffer source;
	Buffer destination;
	JobResult result;
	uint32_t syncobj;
	CopyTask task;

private:
	const Device &device_;
};

/* So many operations that a reset meets it on the hardware. */
class LongCopy : public Copy
{
public:
	static constexpr uint32_t numTasks = 4;

	explicit LongCopy(const Device &device) : Copy(device, longBytes, largeResult)
	{
		task.addLines(source, destination, lineBytes);
	}

	Submit submit(uint32_t flags = 0) const
	{
		Submit submit = Copy::submit(flags);
		submit.tasks.assign(numTasks, task.task());
		/* Long is what it should be, even on a slow machine. */
		submit.timeoutMs = 60'000;
		return submit;
	}

	/* Waits until the job's first bytes have arrived. */
	bool started() const
	{
		const auto *first = static_cast<volatile uint8_t *>(destination.bytes().data());
		const uint64_t end = now() + 60'000'000'000;
		while (*first != source.bytes()[0]) {
			if (now() > end)
				return false;
		}
		return true;
	}
};

class ShortCopy : public Copy
{
public:
	explicit ShortCopy(const Device &device) : Copy(device, shortBytes)
	{
		task.addAddress(source.handle());
		task.addAddress(destination.handle());
		task.addCopy(0, 1, shortBytes, 1);
	}
};

} /* namespace */

/* The core does not survive these. */
class DeadCoreTest : public ::testing::Test
{
protected:
	void SetUp() override
	{
		if (!function_.valid())
			GTEST_SKIP() << "the driver is not bound to a PCI function";
	}

	void TearDown() override { EXPECT_TRUE(restoreNode(Device::path())); }

	PciFunction function_;
};

class ResetTest : public ::testing::Test
{
protected:
	void SetUp() override
	{
		ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path();
		if (!function_.valid())
			GTEST_SKIP() << "the driver is not bound to a PCI function";
	}

	Device device_;
	PciFunction function_;
};

TEST_F(ResetTest, HarmsNobodyWhenTheCoreIsIdle)
{
	ShortCopy copy(device_);
	ASSERT_TRUE(copy.valid());
	for (uint8_t round = 1; round < 5; round++) {
		ASSERT_TRUE(function_.reset());
		copy.fill(round);
		ASSERT_EQ(copy.submit().run(device_), 0);
		ASSERT_EQ(copy.wait(), 0);
		EXPECT_TRUE(equal(copy.source, copy.destination));
		EXPECT_EQ(copy.result.job().num_runs, 1u);
	}
}

TEST_F(ResetTest, RestartableJobsStartAgain)
{
	LongCopy copy(device_);
	ShortCopy next(device_);
	ASSERT_TRUE(copy.valid() && next.valid());
	copy.fill(1);
	next.fill(2);
	ASSERT_EQ(copy.submit(DRM_NVDLA_SUBMIT_RESTARTABLE).run(device_), 0);
	ASSERT_EQ(next.submit().run(device_), 0);
	ASSERT_TRUE(copy.started());
	ASSERT_TRUE(function_.reset());

	EXPECT_EQ(copy.wait(), 0);
	EXPECT_TRUE(equal(copy.source, copy.destination));
	const drm_nvdla_job_result job = copy.result.job();
	EXPECT_EQ(job.status, 0);
	EXPECT_EQ(job.num_runs, 2u);
	EXPECT_EQ(job.num_completed, job.num_operations);
	EXPECT_GE(copy.result.operation(0).start_ns, job.start_ns);

	/* The one in the queue has noticed nothing. */
	EXPECT_EQ(next.wait(), 0);
	EXPECT_TRUE(equal(next.source, next.destination));
	EXPECT_EQ(next.result.job().num_runs, 1u);
}

TEST_F(ResetTest, OtherJobsFail)
{
	LongCopy copy(device_);
	ShortCopy next(device_);
	ASSERT_TRUE(copy.valid() && next.valid());
	copy.fill(1);
	next.fill(2);
	ASSERT_EQ(copy.submit().run(device_), 0);
	ASSERT_EQ(next.submit().run(device_), 0);
	ASSERT_TRUE(copy.started());
	ASSERT_TRUE(function_.reset());

	EXPECT_EQ(copy.wait(), -EIO);
	const drm_nvdla_job_result job = copy.result.job();
	EXPECT_EQ(job.status, -EIO);
	EXPECT_EQ(job.num_runs, 1u);
	EXPECT_LT(job.num_completed, job.num_operations);
	EXPECT_LT(job.failed_task, LongCopy::numTasks);

	EXPECT_EQ(next.wait(), 0);
	EXPECT_TRUE(equal(next.source, next.destination));
	EXPECT_EQ(next.result.job().status, 0);
	EXPECT_EQ(next.result.job().num_runs, 1u);
}

TEST_F(ResetTest, TimeoutsHitTheGuiltyAlone)
{
	/* One file's jobs take too long, again and again; another's are among them. */
	Device guilty;
	ASSERT_TRUE(guilty.valid());
	LongCopy slow(guilty);
	ASSERT_TRUE(slow.valid());
	slow.fill(1);
	std::deque<ShortCopy> others;
	for (uint8_t round = 0; round < 5; round++) {
		Submit late = slow.submit(DRM_NVDLA_SUBMIT_RESTARTABLE);
		late.timeoutMs = 20;
		ASSERT_EQ(late.run(guilty), 0);
		for (uint8_t i = 0; i < 4; i++) {
			ShortCopy &other = others.emplace_back(device_);
			ASSERT_TRUE(other.valid());
			other.fill(static_cast<uint8_t>(round * 10 + i));
			ASSERT_EQ(other.submit().run(device_), 0);
		}
		EXPECT_EQ(slow.wait(), -ETIMEDOUT);
		EXPECT_EQ(slow.result.job().status, -ETIMEDOUT);
		EXPECT_EQ(slow.result.job().num_runs, 1u);
	}
	for (const ShortCopy &other : others) {
		EXPECT_EQ(other.wait(), 0);
		EXPECT_TRUE(equal(other.source, other.destination));
		EXPECT_EQ(other.result.job().num_runs, 1u);
	}
}

/* Each has its own, whatever the scheduler does when it hears late that one was handled. */
TEST_F(ResetTest, ShortTimeoutsFollowEachOther)
{
	const Setting lost(debugFolder() / "inject" / "lose_interrupt", "1000");
	const Setting slow(debugFolder() / "inject" / "slow_timeout", "1000");
	ASSERT_TRUE(lost.done() && slow.done());
	const uint64_t defaultNs = uint64_t{ device_.info().default_timeout_ms } * 1'000'000;
	std::deque<Device> files(8);
	std::deque<ShortCopy> copies;
	for (const Device &file : files) {
		const ShortCopy &copy = copies.emplace_back(file);
		ASSERT_TRUE(copy.valid());
		Submit submit = copy.submit();
		submit.timeoutMs = 20;
		ASSERT_EQ(submit.run(file), 0);
	}
	for (const ShortCopy &copy : copies) {
		EXPECT_EQ(copy.wait(), -ETIMEDOUT);
		const drm_nvdla_job_result job = copy.result.job();
		EXPECT_GT(job.start_ns, 0U);
		EXPECT_LT(job.end_ns - job.start_ns, defaultNs);
	}
}

TEST_F(ResetTest, MayComeAtAnyTime)
{
	/* Resets as fast as they can, while jobs come and go. */
	std::atomic<bool> stop = false;
	std::atomic<unsigned int> resets = 0;
	std::thread resetter([&] {
		while (!stop) {
			if (function_.reset())
				resets++;
			std::this_thread::sleep_for(std::chrono::milliseconds(5));
		}
	});

	ShortCopy sturdy(device_), fragile(device_);
	EXPECT_TRUE(sturdy.valid() && fragile.valid());
	unsigned int failed = 0;
	for (unsigned int round = 0; round < 50 || resets < 10; round++) {
		sturdy.fill(static_cast<uint8_t>(round));
		fragile.fill(static_cast<uint8_t>(round + 1));
		EXPECT_EQ(sturdy.submit(DRM_NVDLA_SUBMIT_RESTARTABLE).run(device_), 0);
		EXPECT_EQ(fragile.submit().run(device_), 0);
		EXPECT_EQ(sturdy.wait(), 0);
		EXPECT_TRUE(equal(sturdy.source, sturdy.destination));
		const int status = fragile.wait();
		EXPECT_EQ(fragile.result.job().status, status);
		if (status == 0) {
			EXPECT_TRUE(equal(fragile.source, fragile.destination));
		} else {
			EXPECT_EQ(status, -EIO);
			failed++;
		}
		if (HasFailure())
			break;
	}
	stop = true;
	resetter.join();
	RecordProperty("resets", static_cast<int>(resets));
	RecordProperty("failed", static_cast<int>(failed));
}

TEST_F(DeadCoreTest, FailsAllJobs)
{
	Device device;
	ASSERT_TRUE(device.valid()) << "cannot open " << Device::path();
	LongCopy copy(device);
	std::deque<ShortCopy> waiting;
	ASSERT_TRUE(copy.valid());
	copy.fill(1);
	ASSERT_EQ(copy.submit(DRM_NVDLA_SUBMIT_RESTARTABLE).run(device), 0);
	for (int i = 0; i < 3; i++) {
		ASSERT_TRUE(waiting.emplace_back(device).valid());
		ASSERT_EQ(waiting.back().submit().run(device), 0);
	}
	ASSERT_TRUE(copy.started());
	ASSERT_TRUE(function_.silence());
	ASSERT_TRUE(function_.reset());

	/* The driver may have read nonsense before the reset. */
	const int status = copy.wait();
	EXPECT_TRUE(status == -ENODEV || status == -EIO) << status;
	EXPECT_EQ(copy.result.job().status, status);
	EXPECT_EQ(copy.result.job().num_runs, 1u);
	/* Jobs that never ran have a result, too. */
	ASSERT_TRUE(waiting.emplace_back(device).valid());
	ASSERT_EQ(waiting.back().submit().run(device), 0);
	for (const ShortCopy &job : waiting) {
		EXPECT_EQ(job.wait(), -ENODEV);
		EXPECT_EQ(job.result.job().status, -ENODEV);
		EXPECT_EQ(job.result.job().num_runs, 0u);
		EXPECT_EQ(job.result.job().start_ns, 0u);
		EXPECT_EQ(job.result.job().failed_task, ~0u);
		EXPECT_EQ(job.result.job().num_operations, 1u);
		EXPECT_EQ(job.result.operation(0).flags, 0u);
	}

	/* It falls asleep as any other does, and jobs fail behind that, too. */
	ASSERT_TRUE(eventually(isAsleep));
	ShortCopy late(device);
	ASSERT_TRUE(late.valid());
	ASSERT_EQ(late.submit().run(device), 0);
	EXPECT_EQ(late.wait(), -ENODEV);

	Unbound unbound;
	ASSERT_TRUE(unbound.done());
	ASSERT_TRUE(unbound.bind());
	{
		Device again(presentNode());
		ASSERT_TRUE(again.valid());
		ShortCopy job(again);
		ASSERT_TRUE(job.valid());
		job.fill(5);
		ASSERT_EQ(job.submit().run(again), 0);
		EXPECT_EQ(job.wait(), 0);
		EXPECT_TRUE(equal(job.source, job.destination));
	}
}

} /* namespace nvdla::test */
