/* SPDX-License-Identifier: MIT */
/* DRM_IOCTL_NVDLA_SUBMIT: results, ordering, and what is refused. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include "device.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t copyBytes = 64 * 1024;

void fill(const Buffer &buffer, uint8_t seed)
{
	std::iota(buffer.bytes().begin(), buffer.bytes().end(), seed);
}

bool equal(const Buffer &a, const Buffer &b)
{
	return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

} /* namespace */

class SubmitTest : public ::testing::Test
{
protected:
	SubmitTest() : source_(device_, copyBytes), destination_(device_, copyBytes) {}

	void SetUp() override
	{
		ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path();
		ASSERT_TRUE(source_.valid() && destination_.valid());
		fill(source_, 1);
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
	}

	void addWholeCopy() { task_.addCopy(0, 1, 1024, copyBytes / 1024); }

	/* Submits and waits; 0 or the first error. */
	int run()
	{
		Submit submit(task_);
		const uint32_t syncobj = device_.createSyncobj();
		submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
		int ret = submit.run(device_);
		if (!ret)
			ret = device_.waitSyncobj(syncobj);
		if (!ret && device_.fenceStatus(syncobj) != 1)
			ret = device_.fenceStatus(syncobj);
		device_.destroySyncobj(syncobj);
		error_ = submit.error;
		return ret;
	}

	Device device_;
	Buffer source_;
	Buffer destination_;
	CopyTask task_;
	drm_nvdla_error error_ = {};
};

TEST_F(SubmitTest, CopiesABuffer)
{
	addWholeCopy();
	ASSERT_EQ(run(), 0) << error_.field << ": " << error_.reason;
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(SubmitTest, RunsTheSameTaskAgain)
{
	addWholeCopy();
	for (uint8_t seed = 0; seed < 10; seed++) {
		fill(source_, seed);
		ASSERT_EQ(run(), 0);
		ASSERT_TRUE(equal(source_, destination_)) << "round " << +seed;
	}
}

TEST_F(SubmitTest, RunsMoreOperationsThanTheHardwareQueues)
{
	for (uint32_t line = 0; line < copyBytes / 1024; line++) {
		task_.addAddress(source_.handle(), line * 1024, 1024);
		task_.addAddress(destination_.handle(), line * 1024, 1024);
		const auto index = static_cast<int16_t>(task_.addresses.size());
		task_.addCopy(static_cast<int16_t>(index - 2), static_cast<int16_t>(index - 1),
			      1024, 1);
	}
	ASSERT_EQ(run(), 0) << error_.field << ": " << error_.reason;
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(SubmitTest, RunsTasksInOrder)
{
	Buffer middle(device_, copyBytes);
	ASSERT_TRUE(middle.valid());
	CopyTask first, second;
	first.addAddress(source_.handle());
	first.addAddress(middle.handle());
	first.addCopy(0, 1, 1024, copyBytes / 1024);
	second.addAddress(middle.handle());
	second.addAddress(destination_.handle());
	second.addCopy(0, 1, 1024, copyBytes / 1024);

	Submit submit(first);
	submit.tasks.push_back(second.task());
	ASSERT_EQ(submit.run(device_), 0);
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(SubmitTest, RunsTasksThatAreDoneAtOnce)
{
	/* Copies of nothing need no interrupt: many of them end within one call. */
	CopyTask nothing;
	nothing.addAddress(source_.handle());
	nothing.addCopy(0, 0, 32, 1);
	nothing.operations[0].bdma.num_transfers = 0;
	nothing.surfaces[0].bdma.num_transfers = 0;
	addWholeCopy();
	Submit submit;
	submit.tasks.assign(64, nothing.task());
	submit.tasks.back() = task_.task();
	ASSERT_EQ(submit.run(device_), 0) << submit.error.reason;
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(SubmitTest, ImplicitFencesOrderJobs)
{
	/* No syncobj anywhere: the buffers themselves say who comes after whom. */
	Buffer middle(device_, copyBytes);
	ASSERT_TRUE(middle.valid());
	for (uint8_t seed = 0; seed < 5; seed++) {
		CopyTask first, second;
		first.addAddress(source_.handle());
		first.addAddress(middle.handle());
		first.addCopy(0, 1, 1024, copyBytes / 1024);
		second.addAddress(middle.handle());
		second.addAddress(destination_.handle());
		second.addCopy(0, 1, 1024, copyBytes / 1024);
		ASSERT_EQ(source_.prepare(DRM_NVDLA_BO_WRITE), 0);
		fill(source_, seed);
		ASSERT_EQ(Submit(first).run(device_), 0);
		ASSERT_EQ(Submit(second).run(device_), 0);
		ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
		ASSERT_TRUE(equal(source_, destination_));
	}
}

TEST_F(SubmitTest, SyncobjsOrderJobs)
{
	addWholeCopy();
	const uint32_t timeline = device_.createSyncobj();
	const uint32_t binary = device_.createSyncobj();
	Submit first(task_);
	first.outSyncs.push_back({ .handle = timeline, .reserved = 0, .point = 7 });
	ASSERT_EQ(first.run(device_), 0);
	Submit second(task_);
	second.inSyncs.push_back({ .handle = timeline, .reserved = 0, .point = 7 });
	second.outSyncs.push_back({ .handle = binary, .reserved = 0, .point = 0 });
	ASSERT_EQ(second.run(device_), 0);

	EXPECT_EQ(device_.waitSyncobj(binary), 0);
	EXPECT_EQ(device_.waitSyncobj(timeline, 7), 0);
	EXPECT_TRUE(equal(source_, destination_));
	device_.destroySyncobj(timeline);
	device_.destroySyncobj(binary);
}

TEST_F(SubmitTest, BusyBufferIsBusyUntilItIsNot)
{
	addWholeCopy();
	ASSERT_EQ(Submit(task_).run(device_), 0);
	const int ret = destination_.prepare(DRM_NVDLA_BO_READ, 0);
	EXPECT_TRUE(ret == 0 || ret == -ETIMEDOUT) << ret;
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(SubmitTest, BufferMayBeClosedWhileItIsInUse)
{
	for (unsigned int round = 0; round < 20; round++) {
		auto temporary = std::make_unique<Buffer>(device_, copyBytes);
		ASSERT_TRUE(temporary->valid());
		CopyTask task;
		task.addAddress(source_.handle());
		task.addAddress(temporary->handle());
		task.addCopy(0, 1, 1024, copyBytes / 1024);
		ASSERT_EQ(Submit(task).run(device_), 0);
		temporary.reset();
	}
	addWholeCopy();
	ASSERT_EQ(run(), 0);
	EXPECT_TRUE(equal(source_, destination_));
}

/* What the task contains. The reason names operation and field. */

TEST_F(SubmitTest, RefusesACopyBehindTheEndOfItsBuffer)
{
	task_.addCopy(0, 1, 1024, copyBytes / 1024);
	task_.addCopy(0, 1, 1024, copyBytes / 1024 + 1);
	ASSERT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.task, 0U);
	EXPECT_EQ(error_.operation, 1U);
	EXPECT_EQ(error_.op_type, static_cast<uint32_t>(NVDLA_OP_BDMA));
	EXPECT_NE(std::strlen(error_.field), 0U);
	EXPECT_NE(std::strlen(error_.reason), 0U);
	EXPECT_TRUE(std::all_of(destination_.bytes().begin(), destination_.bytes().end(),
				[](uint8_t byte) { return byte == 0; }));
}

TEST_F(SubmitTest, RefusesACopyBehindTheEndOfItsAddressEntry)
{
	task_.addresses[1].size = copyBytes / 2;
	addWholeCopy();
	ASSERT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.operation, 0U);
	EXPECT_EQ(error_.limit, copyBytes / 2);
}

TEST_F(SubmitTest, RefusesStridesThatWrapAround)
{
	addWholeCopy();
	nvdla_bdma_transfer &transfer = task_.surfaces[0].bdma.transfers[0];
	transfer.line_repeat = 8192;
	transfer.surf_repeat = 8192;
	transfer.dst_line = 0xffffffe0;
	transfer.dst_surf = 0xffffffe0;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.operation, 0U);
}

TEST_F(SubmitTest, RefusesAnAddressThatIsNotInTheTable)
{
	task_.addCopy(0, 2, 1024, 1);
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.operation, 0U);
	task_.surfaces[0].bdma.transfers[0].dst_address = -1;
	EXPECT_EQ(run(), -EINVAL);
}

TEST_F(SubmitTest, RefusesABadAddressTable)
{
	addWholeCopy();
	const auto good = task_.addresses;

	task_.addresses[1].handle = 4711;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_STREQ(error_.field, "addresses[1].handle");
	EXPECT_EQ(error_.value, 4711U);

	task_.addresses = good;
	task_.addresses[0].offset = copyBytes + 1;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_STREQ(error_.field, "addresses[0].offset");
	EXPECT_EQ(error_.limit, copyBytes);

	task_.addresses = good;
	task_.addresses[0].offset = 4096;
	task_.addresses[0].size = copyBytes;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_STREQ(error_.field, "addresses[0].size");

	task_.addresses = good;
	task_.addresses[0].offset = UINT64_MAX - 31;
	EXPECT_EQ(run(), -EINVAL);

	task_.addresses = good;
	task_.addresses[0].reserved = 1;
	EXPECT_EQ(run(), -EINVAL);

	/* An operation uses an entry that is marked as unused. */
	task_.addresses = good;
	task_.addresses[0].handle = 0;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.operation, 0U);
}

TEST_F(SubmitTest, RefusesGraphsThatCannotEnd)
{
	task_.addCopy(0, 1, 1024, 1);
	task_.addCopy(0, 1, 1024, 1);
	task_.graph[1].consumers[NVDLA_OP_BDMA].index = 0;
	task_.graph[1].consumers[NVDLA_OP_BDMA].event = NVDLA_EVENT_OP_COMPLETED;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_NE(std::strlen(error_.reason), 0U);

	task_.graph[1].consumers[NVDLA_OP_BDMA].index = 99;
	EXPECT_EQ(run(), -EINVAL);
}

TEST_F(SubmitTest, RefusesEnginesThatDoNotExist)
{
	addWholeCopy();
	task_.graph[0].op_type = 17;
	EXPECT_EQ(run(), -EINVAL);
}

/* What the ioctl's own arguments contain. */

TEST_F(SubmitTest, RefusesBadArguments)
{
	addWholeCopy();

	Submit flags(task_);
	flags.flags = 1 << 2;
	EXPECT_EQ(flags.run(device_), -EINVAL);

	Submit timeout(task_);
	timeout.timeoutMs = UINT32_MAX;
	EXPECT_EQ(timeout.run(device_), -EINVAL);

	Submit none;
	EXPECT_EQ(none.run(device_), -EINVAL);

	Submit noOperation(task_);
	noOperation.tasks[0].num_operations = 0;
	EXPECT_EQ(noOperation.run(device_), -EINVAL);
	noOperation.tasks[0].num_operations = UINT32_MAX;
	EXPECT_EQ(noOperation.run(device_), -EINVAL);

	Submit oldAddress(task_);
	oldAddress.tasks[0].address_size = 4;
	EXPECT_EQ(oldAddress.run(device_), -EINVAL);
}

TEST_F(SubmitTest, RefusesBadPointers)
{
	addWholeCopy();
	for (const auto member : { &drm_nvdla_task::graph, &drm_nvdla_task::operations,
				   &drm_nvdla_task::surfaces, &drm_nvdla_task::addresses }) {
		Submit submit(task_);
		submit.tasks[0].*member = 8;
		EXPECT_EQ(submit.run(device_), -EFAULT);
	}
}

TEST_F(SubmitTest, RefusesBadSyncobjs)
{
	addWholeCopy();
	Submit in(task_);
	in.inSyncs.push_back({ .handle = 4711, .reserved = 0, .point = 0 });
	EXPECT_EQ(in.run(device_), -ENOENT);

	Submit out(task_);
	out.outSyncs.push_back({ .handle = 4711, .reserved = 0, .point = 0 });
	EXPECT_EQ(out.run(device_), -ENOENT);

	/* A syncobj without a fence would be waited for forever. */
	const uint32_t empty = device_.createSyncobj();
	Submit never(task_);
	never.inSyncs.push_back({ .handle = empty, .reserved = 0, .point = 0 });
	EXPECT_EQ(never.run(device_), -EINVAL);
	device_.destroySyncobj(empty);
}

} /* namespace nvdla::test */
