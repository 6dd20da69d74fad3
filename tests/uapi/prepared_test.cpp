/* SPDX-License-Identifier: MIT */
/* Tasks that are checked once and submitted often: DRM_IOCTL_NVDLA_TASK_CREATE and _DESTROY. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "device.h"
#include "device/refusal.h"
#include "eventually.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t lineBytes = 1024;

} /* namespace */

/* A task that copies a buffer. */
class PreparedTest : public ::testing::Test
{
protected:
	static constexpr uint32_t copyBytes = 64 * 1024;

	PreparedTest() : source_(device_, copyBytes), destination_(device_, copyBytes) {}

	void SetUp() override
	{
		ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path();
		ASSERT_TRUE(source_.valid() && destination_.valid());
		std::iota(source_.bytes().begin(), source_.bytes().end(), uint8_t{ 1 });
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
		task_.addCopy(0, 1, lineBytes, copyBytes / lineBytes);
		const int64_t handle = device_.prepareTask(task_.task(), error_);
		ASSERT_GT(handle, 0) << refusedField(error_, NVDLA_OP_BDMA);
		handle_ = static_cast<uint32_t>(handle);
	}

	/* Submits tasks and waits; 0 or the first error. */
	int run(std::vector<drm_nvdla_task> tasks, uint32_t resultHandle = 0, uint32_t flags = 0)
	{
		Submit submit;
		submit.tasks = std::move(tasks);
		submit.resultHandle = resultHandle;
		submit.flags = flags;
		const int ret = submit.runToTheEnd(device_);
		error_ = submit.error;
		return ret;
	}

	Device device_;
	Buffer source_;
	Buffer destination_;
	CopyTask task_;
	uint32_t handle_ = 0;
	drm_nvdla_error error_ = {};
};

TEST_F(PreparedTest, RunsAsOftenAsOneLikes)
{
	for (uint8_t seed = 0; seed < 10; seed++) {
		std::iota(source_.bytes().begin(), source_.bytes().end(), seed);
		ASSERT_EQ(run({ task_.prepared(handle_) }), 0) << refusedField(error_, NVDLA_OP_BDMA);
		ASSERT_TRUE(equal(source_, destination_)) << "round " << +seed;
	}
}

TEST_F(PreparedTest, RunsWithOtherAddresses)
{
	const Buffer elsewhere(device_, copyBytes + lineBytes);
	const auto moved = elsewhere.bytes().subspan(lineBytes);

	task_.addresses[1] = { elsewhere.handle(), 0, lineBytes, copyBytes };
	ASSERT_EQ(run({ task_.prepared(handle_) }), 0) << refusedField(error_, NVDLA_OP_BDMA);
	EXPECT_TRUE(std::ranges::equal(source_.bytes(), moved));
	EXPECT_EQ(std::ranges::count(elsewhere.bytes().first(lineBytes), 0), lineBytes);
	EXPECT_EQ(std::ranges::count(destination_.bytes(), 0), copyBytes);
}

/* The descriptors are the kernel's own: what is written to them later changes nothing. */
TEST_F(PreparedTest, KeepsWhatItWasMadeOf)
{
	const std::vector<drm_nvdla_task> tasks = { task_.prepared(handle_) };

	task_.surfaces[0].bdma.transfers[0].line_repeat = 1;
	task_.graph[0].op_type = NVDLA_OP_CDP;
	ASSERT_EQ(run(tasks), 0) << refusedField(error_, NVDLA_OP_BDMA);
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(PreparedTest, RunsBesideTasksWithDescriptors)
{
	const Buffer third(device_, copyBytes);
	CopyTask second;
	second.addAddress(destination_.handle());
	second.addAddress(third.handle());
	second.addCopy(0, 1, lineBytes, copyBytes / lineBytes);

	ASSERT_EQ(run({ task_.prepared(handle_), second.task(), second.prepared(handle_) }), 0)
		<< refusedField(error_, NVDLA_OP_BDMA);
	EXPECT_TRUE(equal(source_, third));
}

/* Counting is each submit's own wish. */
TEST_F(PreparedTest, CountsIfAsked)
{
	const JobResult result(device_);

	for (const uint32_t flags : { uint32_t{ 0 }, uint32_t{ DRM_NVDLA_SUBMIT_STATISTICS } }) {
		ASSERT_EQ(run({ task_.prepared(handle_) }, result.buffer().handle(), flags), 0);
		ASSERT_EQ(result.wait(), 0);
		EXPECT_EQ(result.job().num_completed, 1u);
		EXPECT_EQ(result.operation(0).flags & DRM_NVDLA_OPERATION_COUNTED,
			  flags ? uint32_t{ DRM_NVDLA_OPERATION_COUNTED } : 0);
	}
}

TEST_F(PreparedTest, ChecksTheGraphWhenItIsMade)
{
	task_.surfaces[0].bdma.transfers[0].line_size = 33;
	EXPECT_EQ(device_.prepareTask(task_.task(), error_), -EINVAL);
	EXPECT_EQ(error_.operation, 0u);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "transfers[0].line_size");
}

TEST_F(PreparedTest, ChecksMemoryWhenItIsSubmitted)
{
	task_.addresses[1].size = copyBytes - 1;
	EXPECT_EQ(run({ task_.prepared(handle_) }), -EINVAL);
	EXPECT_EQ(error_.operation, 0u);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "transfers[0].dst_address");

	task_.addresses[1] = {};
	EXPECT_EQ(run({ task_.prepared(handle_) }), -EINVAL);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "transfers[0].dst_address");

	task_.addresses[1] = { destination_.handle(), 0, 16, 0 };
	EXPECT_EQ(run({ task_.prepared(handle_) }), -EINVAL);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "transfers[0].dst_address");

	task_.addresses[1] = { destination_.handle(), 0, copyBytes + 1, 0 };
	EXPECT_EQ(run({ task_.prepared(handle_) }), -EINVAL);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "addresses[1].offset");
	EXPECT_EQ(std::ranges::count(destination_.bytes(), 0), copyBytes);
}

TEST_F(PreparedTest, RefusesAnotherNumberOfAddresses)
{
	task_.addAddress(source_.handle());
	EXPECT_EQ(run({ task_.prepared(handle_) }), -EINVAL);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "num_addresses");
}

TEST_F(PreparedTest, RefusesDescriptorsBesideTheHandle)
{
	drm_nvdla_task both = task_.task();

	both.handle = handle_;
	EXPECT_EQ(run({ both }), -EINVAL);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "graph");
}

TEST_F(PreparedTest, RefusesArgumentsThatAreNotZero)
{
	drm_nvdla_task task = task_.task();
	drm_nvdla_task_create create = {};

	task.addresses = 0;
	task.address_size = 0;
	create.task = reinterpret_cast<uintptr_t>(&task);
	create.task_size = sizeof(task);
	create.flags = 1;
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_TASK_CREATE, &create), -EINVAL);
	create.flags = 0;
	create.task_size = 68;
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_TASK_CREATE, &create), -EINVAL);
	create.task_size = sizeof(task);
	/* What is written is not read. */
	create.handle = ~0u;
	ASSERT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_TASK_CREATE, &create), 0);
	EXPECT_NE(create.handle, ~0u);

	drm_nvdla_task_destroy destroy = { .handle = create.handle, .reserved = 1 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_TASK_DESTROY, &destroy), -EINVAL);
	EXPECT_EQ(device_.destroyTask(create.handle), 0);
}

TEST_F(PreparedTest, HandlesAreOfOneFile)
{
	const Device other;
	const Buffer source(other, copyBytes), destination(other, copyBytes);
	CopyTask task;
	task.addAddress(source.handle());
	task.addAddress(destination.handle());
	Submit submit;
	submit.tasks.push_back(task.prepared(handle_));

	EXPECT_EQ(submit.run(other), -ENOENT);
	EXPECT_EQ(other.destroyTask(handle_), -ENOENT);
}

TEST_F(PreparedTest, IsGoneOnceDestroyed)
{
	EXPECT_EQ(device_.destroyTask(handle_), 0);
	EXPECT_EQ(device_.destroyTask(handle_), -ENOENT);
	EXPECT_EQ(run({ task_.prepared(handle_) }), -ENOENT);
	EXPECT_EQ(device_.destroyTask(0), -ENOENT);
}

/* The job keeps what it runs: many lines, so that it is still at work. */
TEST_F(PreparedTest, OutlivesItsHandleInAJob)
{
	CopyTask lines;
	lines.addLines(source_, destination_, 256);
	const int64_t handle = device_.prepareTask(lines.task(), error_);
	ASSERT_GT(handle, 0) << refusedField(error_, NVDLA_OP_BDMA);

	Submit submit;
	const uint32_t syncobj = device_.createSyncobj();
	submit.tasks.push_back(lines.prepared(static_cast<uint32_t>(handle)));
	submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
	ASSERT_EQ(submit.run(device_), 0) << refusedField(submit.error, NVDLA_OP_BDMA);
	EXPECT_EQ(device_.destroyTask(static_cast<uint32_t>(handle)), 0);
	EXPECT_EQ(device_.waitSyncobj(syncobj), 0);
	EXPECT_EQ(device_.fenceStatus(syncobj), 1);
	EXPECT_TRUE(equal(source_, destination_));
	device_.destroySyncobj(syncobj);
}

/* Prepared tasks until a file may have no more. */
class LargePreparedTest : public PreparedTest
{
protected:
	void SetUp() override
	{
		PreparedTest::SetUp();
		large_.addAddress(source_.handle());
		large_.addAddress(destination_.handle());
		while (large_.graph.size() < 4096)
			large_.addCopy(0, 1, lineBytes, 1);

		int64_t handle;
		while ((handle = prepareOneMore()) > 0) {
			handles_.push_back(static_cast<uint32_t>(handle));
			ASSERT_LT(handles_.size(), 4096u) << "there is no limit";
		}
		EXPECT_EQ(handle, -ENOSPC);
		ASSERT_GT(handles_.size(), 1u);
	}

	int64_t prepareOneMore() { return device_.prepareTask(large_.task(), error_); }

	CopyTask large_;
	std::vector<uint32_t> handles_;
};

TEST_F(LargePreparedTest, TakeNoMoreMemoryThanAFileMayHave)
{

	/* What one gives up another may have, and so may another file. */
	EXPECT_EQ(device_.destroyTask(handles_.back()), 0);
	EXPECT_GT(prepareOneMore(), 0);
	const Device other;
	EXPECT_GT(other.prepareTask(large_.task(), error_), 0);
}

/* Not at once: its core dump is written with what it was made of. */
TEST_F(LargePreparedTest, AreGivenBackByAJobThatFailed)
{
	constexpr size_t tooMany = 16;
	Submit submit;
	submit.tasks.assign(tooMany, large_.prepared(handles_.back()));
	submit.timeoutMs = 1;
	ASSERT_EQ(submit.runToTheEnd(device_), -ETIMEDOUT);
	EXPECT_EQ(device_.destroyTask(handles_.back()), 0);
	EXPECT_TRUE(eventually([this] { return prepareOneMore() > 0; }));
}

} /* namespace nvdla::test */
