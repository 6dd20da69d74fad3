/* SPDX-License-Identifier: MIT */
/* Timeline syncobjs before and behind jobs. */
#include <cerrno>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "device.h"

namespace nvdla::test
{

namespace
{

} /* namespace */

class TimelineTest : public ::testing::Test
{
protected:
	static constexpr uint32_t copyBytes = 64 * 1024;

	TimelineTest() : source_(device_, copyBytes), destination_(device_, copyBytes) {}

	void SetUp() override
	{
		ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path();
		ASSERT_TRUE(source_.valid() && destination_.valid());
		timeline_ = device_.createSyncobj();
		ASSERT_NE(timeline_, 0u);
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
		task_.addCopy(0, 1, 1024, copyBytes / 1024);
	}

	void TearDown() override { device_.destroySyncobj(timeline_); }

	/* Takes its time. */
	CopyTask slowTask() const
	{
		CopyTask task;
		task.addLines(source_, destination_, 64);
		return task;
	}

	Submit signals(const CopyTask &task, uint64_t point) const
	{
		Submit submit(task);
		submit.outSyncs.push_back(at(point));
		return submit;
	}

	drm_nvdla_sync at(uint64_t point) const
	{
		return { .handle = timeline_, .reserved = 0, .point = point };
	}

	Device device_;
	Buffer source_;
	Buffer destination_;
	uint32_t timeline_ = 0;
	CopyTask task_;
};

TEST_F(TimelineTest, PointsAreSignalledInTurn)
{
	for (uint64_t point = 1; point <= 20; point++)
		ASSERT_EQ(signals(task_, point).run(device_), 0);
	for (uint64_t point = 1; point <= 20; point++)
		EXPECT_EQ(device_.waitSyncobj(timeline_, point), 0);
	EXPECT_EQ(device_.querySyncobj(timeline_), 20);
}

TEST_F(TimelineTest, PointsHave64Bits)
{
	/* A job that waits for a large point must not take it for a small one, which is past. */
	constexpr uint64_t large = uint64_t{ 1 } << 32 | 1;
	ASSERT_EQ(signals(task_, 1).run(device_), 0);
	ASSERT_EQ(device_.waitSyncobj(timeline_, 1), 0);
	Submit early(task_);
	early.inSyncs.push_back(at(large));
	EXPECT_EQ(early.run(device_), -EINVAL) << "there is no such point yet";

	const CopyTask slow = slowTask();
	Buffer from(device_, 4096), to(device_, 4096);
	JobResult first(device_, 1 << 20), second(device_);
	ASSERT_TRUE(from.valid() && to.valid() && first.valid() && second.valid());
	Submit before = signals(slow, large);
	before.resultHandle = first.buffer().handle();
	ASSERT_EQ(before.run(device_), 0);

	/* Nothing but the point keeps it from running first: it is in another queue. */
	const int context = device_.createContext(DRM_NVDLA_PRIORITY_NORMAL);
	ASSERT_GT(context, 0);
	CopyTask task;
	task.addAddress(from.handle());
	task.addAddress(to.handle());
	task.addCopy(0, 1, 1024, 4);
	Submit after(task);
	after.context = static_cast<uint32_t>(context);
	after.inSyncs.push_back(at(large));
	after.resultHandle = second.buffer().handle();
	ASSERT_EQ(after.run(device_), 0);
	ASSERT_EQ(second.wait(), 0);
	ASSERT_EQ(first.wait(), 0);
	EXPECT_LE(first.job().end_ns, second.job().start_ns);
}

TEST_F(TimelineTest, JobsWaitForPointsThatExist)
{
	ASSERT_EQ(signals(task_, 5).run(device_), 0);
	/* A point between two is reached with the later one. */
	Submit between(task_);
	between.inSyncs.push_back(at(3));
	EXPECT_EQ(between.run(device_), 0);

	Submit never(task_);
	never.inSyncs.push_back(at(6));
	EXPECT_EQ(never.run(device_), -EINVAL);
	EXPECT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
}

TEST_F(TimelineTest, ProcessesWaitForPointsThatAreToCome)
{
	int waited = -1, available = -1;
	std::thread waiter([&] { waited = device_.waitSyncobj(timeline_, 9); });
	std::thread submitter([&] {
		/* How one job is put behind another that is yet to be submitted. */
		available = device_.waitSyncobj(timeline_, 8, Device::defaultTimeoutNs,
						DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
							DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE);
		Submit second = signals(task_, 9);
		second.inSyncs.push_back(at(8));
		EXPECT_EQ(second.run(device_), 0);
	});
	const CopyTask slow = slowTask();
	EXPECT_EQ(signals(slow, 8).run(device_), 0);
	submitter.join();
	waiter.join();
	EXPECT_EQ(available, 0);
	EXPECT_EQ(waited, 0);
	EXPECT_EQ(device_.fenceStatus(timeline_), 1);
}

TEST_F(TimelineTest, OneJobSignalsSeveral)
{
	const uint32_t binary = device_.createSyncobj();
	Submit submit = signals(task_, 1);
	submit.outSyncs.push_back(at(2));
	submit.outSyncs.push_back({ .handle = binary, .reserved = 0, .point = 0 });
	ASSERT_EQ(submit.run(device_), 0);
	EXPECT_EQ(device_.waitSyncobj(timeline_, 2), 0);
	EXPECT_EQ(device_.waitSyncobj(binary), 0);
	device_.destroySyncobj(binary);
}

/* What is not larger than the last point begins anew, behind all there is. */
TEST_F(TimelineTest, PointsOutOfOrderAreReachedLast)
{
	ASSERT_EQ(signals(task_, 5).run(device_), 0);
	ASSERT_EQ(device_.waitSyncobj(timeline_, 5), 0);
	JobResult result(device_, 1 << 20);
	ASSERT_TRUE(result.valid());
	const CopyTask slow = slowTask();
	Submit late = signals(slow, 3);
	late.resultHandle = result.buffer().handle();
	ASSERT_EQ(late.run(device_), 0);

	EXPECT_EQ(device_.waitSyncobj(timeline_, 4), 0);
	EXPECT_EQ(result.buffer().prepare(DRM_NVDLA_BO_READ, 0), 0) << "the job was not waited for";
	EXPECT_EQ(device_.querySyncobj(timeline_), 5);
	EXPECT_EQ(device_.waitSyncobj(timeline_, 6, 0), -ETIME);
}

TEST_F(TimelineTest, BeginsBehindABinaryFence)
{
	const CopyTask slow = slowTask();
	ASSERT_EQ(signals(slow, 0).run(device_), 0);
	EXPECT_EQ(device_.waitSyncobj(timeline_, 1, 0), -ETIME);
	EXPECT_EQ(device_.querySyncobj(timeline_), 0);
	ASSERT_EQ(signals(task_, 2).run(device_), 0);
	EXPECT_EQ(device_.waitSyncobj(timeline_, 2), 0);
	EXPECT_EQ(device_.querySyncobj(timeline_), 2);
	/* And a binary fence ends it. */
	ASSERT_EQ(signals(task_, 0).run(device_), 0);
	EXPECT_EQ(device_.waitSyncobj(timeline_), 0);
	EXPECT_EQ(device_.querySyncobj(timeline_), 0);
	EXPECT_EQ(device_.waitSyncobj(timeline_, 2, 0), -ETIME);
}

TEST_F(TimelineTest, TheCpuSignalsPoints)
{
	EXPECT_EQ(device_.waitSyncobj(timeline_, 4, 0, 0), -EINVAL);
	EXPECT_EQ(device_.waitSyncobj(timeline_, 4, 0), -ETIME);
	uint64_t point = 4;
	drm_syncobj_timeline_array signal = {};
	signal.handles = reinterpret_cast<uintptr_t>(&timeline_);
	signal.points = reinterpret_cast<uintptr_t>(&point);
	signal.count_handles = 1;
	ASSERT_EQ(device_.ioctl(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &signal), 0);
	EXPECT_EQ(device_.querySyncobj(timeline_), 4);
	Submit after(task_);
	after.inSyncs.push_back(at(3));
	after.outSyncs.push_back(at(5));
	ASSERT_EQ(after.run(device_), 0);
	EXPECT_EQ(device_.waitSyncobj(timeline_, 5), 0);
}

TEST_F(TimelineTest, EventfdsHearOfPoints)
{
	/* Newer than the headers that this may be built with. */
	struct SyncobjEventfd {
		uint32_t handle;
		uint32_t flags;
		uint64_t point;
		int32_t fd;
		uint32_t pad;
	};
	constexpr unsigned long request = DRM_IOWR(0xcf, SyncobjEventfd);
	const int fd = eventfd(0, EFD_CLOEXEC);
	ASSERT_GE(fd, 0);
	for (uint64_t point = 2; point <= 20; point += 3) {
		const bool available = point % 2;
		SyncobjEventfd notify = { timeline_,
					  available ? DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE : 0u,
					  point, fd, 0 };
		ASSERT_EQ(device_.ioctl(request, &notify), 0);
		ASSERT_EQ(signals(slowTask(), point - 1).run(device_), 0);
		ASSERT_EQ(signals(task_, point).run(device_), 0);
		eventfd_t count = 0;
		ASSERT_EQ(eventfd_read(fd, &count), 0);
		EXPECT_EQ(count, 1u);
		if (!available) {
			EXPECT_EQ(device_.querySyncobj(timeline_), static_cast<int64_t>(point));
		}
	}
	close(fd);
}

} /* namespace nvdla::test */
