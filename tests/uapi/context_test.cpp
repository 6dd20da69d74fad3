/* SPDX-License-Identifier: MIT */
/* Queues of jobs and their priorities. */
#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

namespace nvdla::test
{

namespace
{

} /* namespace */

class ContextTest : public ::testing::Test
{
protected:
	static constexpr uint32_t copyBytes = 16 * 1024;

	ContextTest() : source_(device_, copyBytes), destination_(device_, copyBytes) {}

	void SetUp() override
	{
		ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path();
		ASSERT_TRUE(source_.valid() && destination_.valid());
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
		task_.addCopy(0, 1, 1024, copyBytes / 1024);
	}

	Device device_;
	Buffer source_;
	Buffer destination_;
	CopyTask task_;
};

TEST_F(ContextTest, IsAnnounced)
{
	const drm_nvdla_device_info info = device_.info();
	for (const uint64_t feature : { DRM_NVDLA_FEATURE_CONTEXTS, DRM_NVDLA_FEATURE_RESULTS,
					DRM_NVDLA_FEATURE_STATISTICS, DRM_NVDLA_FEATURE_TIMELINE })
		EXPECT_TRUE(info.features & feature) << feature;
	EXPECT_TRUE(info.priorities & 1u << DRM_NVDLA_PRIORITY_LOW);
	EXPECT_TRUE(info.priorities & 1u << DRM_NVDLA_PRIORITY_NORMAL);
	EXPECT_GE(info.max_contexts, 1u);
}

TEST_F(ContextTest, RunsJobs)
{
	for (const drm_nvdla_priority priority :
	     { DRM_NVDLA_PRIORITY_LOW, DRM_NVDLA_PRIORITY_NORMAL, DRM_NVDLA_PRIORITY_HIGH }) {
		const int context = device_.createContext(priority);
		ASSERT_GT(context, 0);
		source_.bytes()[0]++;
		Submit submit(task_);
		submit.context = static_cast<uint32_t>(context);
		ASSERT_EQ(submit.run(device_), 0);
		ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
		EXPECT_EQ(destination_.bytes()[0], source_.bytes()[0]);
		EXPECT_EQ(device_.destroyContext(static_cast<uint32_t>(context)), 0);
	}
}

TEST_F(ContextTest, IsKnownInItsFileOnly)
{
	const int context = device_.createContext(DRM_NVDLA_PRIORITY_NORMAL);
	ASSERT_GT(context, 0);
	Device other;
	ASSERT_TRUE(other.valid());
	EXPECT_EQ(other.destroyContext(static_cast<uint32_t>(context)), -ENOENT);

	EXPECT_EQ(device_.destroyContext(static_cast<uint32_t>(context)), 0);
	EXPECT_EQ(device_.destroyContext(static_cast<uint32_t>(context)), -ENOENT);
	Submit submit(task_);
	submit.context = static_cast<uint32_t>(context);
	EXPECT_EQ(submit.run(device_), -ENOENT);
	submit.context = UINT32_MAX;
	EXPECT_EQ(submit.run(device_), -ENOENT);
	/* The file's own is not for the taking. */
	EXPECT_EQ(device_.destroyContext(0), -ENOENT);
}

TEST_F(ContextTest, RefusesWhatItDoesNotKnow)
{
	drm_nvdla_context_create create = {
		.priority = 3, .flags = 0, .context = 0, .reserved = 0
	};
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create), -EINVAL);
	create.priority = UINT32_MAX;
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create), -EINVAL);
	create = { .priority = 0, .flags = 1, .context = 0, .reserved = 0 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create), -EINVAL);
	create = { .priority = 0, .flags = 0, .context = 0, .reserved = 1 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create), -EINVAL);
	drm_nvdla_context_destroy destroy = { .context = 1, .reserved = 1 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), -EINVAL);
}

TEST_F(ContextTest, AreSoManyAndNoMore)
{
	const uint32_t most = device_.info().max_contexts;
	std::vector<uint32_t> contexts;
	for (uint32_t i = 0; i < most; i++) {
		const int context = device_.createContext(DRM_NVDLA_PRIORITY_NORMAL);
		ASSERT_GT(context, 0);
		contexts.push_back(static_cast<uint32_t>(context));
	}
	EXPECT_EQ(device_.createContext(DRM_NVDLA_PRIORITY_NORMAL), -ENOSPC);
	/* Another file has its own. */
	Device other;
	ASSERT_TRUE(other.valid());
	EXPECT_GT(other.createContext(DRM_NVDLA_PRIORITY_NORMAL), 0);

	EXPECT_EQ(device_.destroyContext(contexts.front()), 0);
	EXPECT_GT(device_.createContext(DRM_NVDLA_PRIORITY_NORMAL), 0);
	EXPECT_EQ(device_.createContext(DRM_NVDLA_PRIORITY_NORMAL), -ENOSPC);
}

TEST_F(ContextTest, HighPriorityIsForTheFew)
{
	if (getuid() != 0)
		GTEST_SKIP() << "needs a process that may do anything";
	EXPECT_TRUE(device_.info().priorities & 1u << DRM_NVDLA_PRIORITY_HIGH);

	/* The file is the same, the process is another. */
	const pid_t child = fork();
	if (child == 0) {
		constexpr uid_t nobody = 65534;
		if (setuid(nobody))
			_exit(1);
		const bool asked = device_.info().priorities & 1u << DRM_NVDLA_PRIORITY_HIGH;
		const bool refused = device_.createContext(DRM_NVDLA_PRIORITY_HIGH) == -EACCES;
		const bool others = device_.createContext(DRM_NVDLA_PRIORITY_LOW) > 0;
		_exit(!asked && refused && others ? 0 : 2);
	}
	int status = -1;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0);
}

TEST_F(ContextTest, JobsOutliveTheirContext)
{
	constexpr int jobs = 50;
	for (int round = 0; round < 10; round++) {
		const int context = device_.createContext(DRM_NVDLA_PRIORITY_LOW);
		ASSERT_GT(context, 0);
		const uint32_t timeline = device_.createSyncobj();
		for (uint64_t point = 1; point <= jobs; point++) {
			Submit submit(task_);
			submit.context = static_cast<uint32_t>(context);
			submit.outSyncs.push_back(
				{ .handle = timeline, .reserved = 0, .point = point });
			ASSERT_EQ(submit.run(device_), 0);
		}
		ASSERT_EQ(device_.destroyContext(static_cast<uint32_t>(context)), 0);
		EXPECT_EQ(device_.waitSyncobj(timeline, jobs), 0);
		EXPECT_EQ(device_.fenceStatus(timeline), 1);
		device_.destroySyncobj(timeline);
	}
}

TEST_F(ContextTest, FilesMayGoWithJobsInAllOfTheirs)
{
	for (int round = 0; round < 5; round++) {
		Device file;
		ASSERT_TRUE(file.valid());
		Buffer source(file, copyBytes), destination(file, copyBytes);
		ASSERT_TRUE(source.valid() && destination.valid());
		CopyTask task;
		task.addLines(source, destination, 1024);
		for (int i = 0; i < 8; i++) {
			const int context = file.createContext(DRM_NVDLA_PRIORITY_NORMAL);
			ASSERT_GT(context, 0);
			Submit submit(task);
			submit.context = static_cast<uint32_t>(context);
			for (int job = 0; job < 5; job++)
				ASSERT_EQ(submit.run(file), 0);
			if (i % 2) {
				ASSERT_EQ(file.destroyContext(static_cast<uint32_t>(context)), 0);
			}
		}
	}
	ASSERT_EQ(Submit(task_).run(device_), 0);
	EXPECT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
}

TEST_F(ContextTest, HigherPrioritiesGoFirst)
{
	const int low = device_.createContext(DRM_NVDLA_PRIORITY_LOW);
	const int high = device_.createContext(DRM_NVDLA_PRIORITY_HIGH);
	ASSERT_GT(low, 0);
	ASSERT_GT(high, 0);

	/* Nothing but their priorities orders the jobs: each has buffers of its own. */
	struct Job {
		explicit Job(const Device &device)
			: source(device, 4096), destination(device, 4096), result(device, 4096)
		{
			task.addAddress(source.handle());
			task.addAddress(destination.handle());
			task.addCopy(0, 1, 1024, 4);
		}
		Buffer source, destination;
		JobResult result;
		CopyTask task;
	};
	std::deque<Job> jobs;
	const auto queue = [&](int context) {
		Job &job = jobs.emplace_back(device_);
		Submit submit(job.task);
		submit.context = static_cast<uint32_t>(context);
		submit.resultHandle = job.result.buffer().handle();
		return submit.run(device_);
	};

	/* Something long is on the hardware until all are in their queues. */
	Buffer from(device_, 1 << 20), to(device_, 1 << 20);
	ASSERT_TRUE(from.valid() && to.valid());
	CopyTask busy;
	busy.addLines(from, to, 1024);
	Submit first(busy);
	first.tasks.assign(4, busy.task());
	ASSERT_EQ(first.run(device_), 0);

	constexpr size_t ofEach = 8;
	for (size_t i = 0; i < ofEach; i++)
		ASSERT_EQ(queue(low), 0);
	for (size_t i = 0; i < ofEach; i++)
		ASSERT_EQ(queue(high), 0);
	const int stillBusy = to.prepare(DRM_NVDLA_BO_READ, 0);
	ASSERT_EQ(stillBusy, -ETIMEDOUT) << "the long job was too short";

	uint64_t lastHigh = 0;
	for (const Job &job : jobs)
		ASSERT_EQ(job.result.wait(), 0);
	for (size_t i = ofEach; i < jobs.size(); i++)
		lastHigh = std::max<uint64_t>(lastHigh, jobs[i].result.job().start_ns);
	size_t early = 0;
	for (size_t i = 0; i < ofEach; i++)
		early += jobs[i].result.job().start_ns < lastHigh;
	/* One has its place behind the long one already; a scheduler that shares by weight may let
	 * one through. */
	EXPECT_LE(early, 2u);
}

} /* namespace nvdla::test */
