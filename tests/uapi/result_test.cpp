/* SPDX-License-Identifier: MIT */
/* What a job says about itself when it is done. */
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "device.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t none = ~0u;
constexpr uint32_t ended = DRM_NVDLA_OPERATION_STARTED | DRM_NVDLA_OPERATION_COMPLETED;

constexpr uint64_t resultBytes(uint32_t operations)
{
	return sizeof(drm_nvdla_job_result) + operations * sizeof(drm_nvdla_operation_result);
}

} /* namespace */

class ResultTest : public ::testing::Test
{
protected:
	static constexpr uint32_t copyBytes = 64 * 1024;

	ResultTest() : source_(device_, copyBytes), destination_(device_, copyBytes) {}

	void SetUp() override
	{
		ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path();
		ASSERT_TRUE(source_.valid() && destination_.valid() && result_.valid());
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
	}

	void addWholeCopy() { task_.addCopy(0, 1, 1024, copyBytes / 1024); }

	Submit submit() const
	{
		Submit submit(task_);
		submit.resultHandle = result_.buffer().handle();
		return submit;
	}

	Device device_;
	Buffer source_;
	Buffer destination_;
	JobResult result_{ device_ };
	CopyTask task_;
};

TEST_F(ResultTest, TellsWhenOperationsRan)
{
	for (int i = 0; i < 3; i++)
		addWholeCopy();
	const uint64_t before = now();
	ASSERT_EQ(submit().run(device_), 0);
	ASSERT_EQ(result_.wait(), 0);
	const uint64_t after = now();

	const drm_nvdla_job_result job = result_.job();
	EXPECT_EQ(job.header_size, sizeof(job));
	EXPECT_EQ(job.operation_size, sizeof(drm_nvdla_operation_result));
	EXPECT_EQ(job.status, 0);
	EXPECT_EQ(job.num_operations, 3u);
	EXPECT_EQ(job.num_completed, 3u);
	EXPECT_EQ(job.num_runs, 1u);
	EXPECT_EQ(job.failed_task, none);
	EXPECT_EQ(job.failed_operation, none);

	uint64_t last = before;
	for (const uint64_t time : { job.submit_ns, job.start_ns }) {
		EXPECT_LE(last, time);
		last = time;
	}
	/* Each of them waits for the one before it. */
	for (uint32_t i = 0; i < job.num_operations; i++) {
		const drm_nvdla_operation_result operation = result_.operation(i);
		EXPECT_EQ(operation.op_type, static_cast<uint32_t>(NVDLA_OP_BDMA));
		EXPECT_EQ(operation.flags, ended);
		EXPECT_LE(last, operation.start_ns);
		EXPECT_LE(operation.start_ns, operation.end_ns);
		last = operation.end_ns;
	}
	EXPECT_LE(last, job.end_ns);
	EXPECT_LE(job.end_ns, after);
}

/* A result in the middle of what its job writes, in places where cache lines do and do not begin.
 */
TEST_F(ResultTest, LeavesWhatIsBesideIt)
{
	constexpr uint32_t gap = 4096, bytes = copyBytes - gap;
	for (size_t i = 0; i < source_.bytes().size(); i++)
		source_.bytes()[i] = static_cast<uint8_t>(i % 251 + 1);
	ASSERT_EQ(source_.prepare(DRM_NVDLA_BO_WRITE), 0);
	ASSERT_EQ(source_.finish(), 0);
	task_.addCopy(0, 1, 1024, bytes / 1024);

	for (const uint32_t offset : { 8u, 4032u, 8200u, copyBytes / 2, bytes - 8, bytes + 64 }) {
		ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_WRITE), 0);
		std::fill(destination_.bytes().begin(), destination_.bytes().end(), uint8_t{ 0 });
		ASSERT_EQ(destination_.finish(), 0);
		Submit submit(task_);
		submit.resultHandle = destination_.handle();
		submit.resultOffset = offset;
		ASSERT_EQ(submit.run(device_), 0);
		ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);

		drm_nvdla_job_result job;
		std::memcpy(&job, &destination_.bytes()[offset], sizeof(job));
		EXPECT_EQ(job.header_size, sizeof(job)) << offset;
		EXPECT_EQ(job.num_completed, 1u) << offset;
		size_t wrong = 0;
		for (size_t i = 0; i < copyBytes; i++) {
			if (i >= offset && i < offset + resultBytes(1))
				continue;
			wrong += destination_.bytes()[i] != (i < bytes ? source_.bytes()[i] : 0);
		}
		EXPECT_EQ(wrong, 0u) << "bytes beside a result at " << offset;
	}
}

TEST_F(ResultTest, CountsIfAskedTo)
{
	addWholeCopy();
	Submit counted = submit();
	counted.flags = DRM_NVDLA_SUBMIT_STATISTICS;
	ASSERT_EQ(counted.run(device_), 0);
	ASSERT_EQ(result_.wait(), 0);
	EXPECT_EQ(result_.operation(0).flags, ended | DRM_NVDLA_OPERATION_COUNTED);

	ASSERT_EQ(submit().run(device_), 0);
	ASSERT_EQ(result_.wait(), 0);
	EXPECT_EQ(result_.operation(0).flags, ended);
}

TEST_F(ResultTest, HasTheOperationsOfAllTasks)
{
	addWholeCopy();
	CopyTask second = task_;
	second.addCopy(0, 1, 1024, 1);
	Submit both = submit();
	both.tasks.push_back(second.task());
	ASSERT_EQ(both.run(device_), 0);
	ASSERT_EQ(result_.wait(), 0);
	EXPECT_EQ(result_.job().num_operations, 3u);
	EXPECT_EQ(result_.job().num_completed, 3u);
	EXPECT_LE(result_.operation(0).end_ns, result_.operation(1).start_ns);
	EXPECT_LE(result_.operation(1).end_ns, result_.operation(2).start_ns);
}

TEST_F(ResultTest, StaysInItsPlace)
{
	addWholeCopy();
	constexpr uint64_t offset = 4096 - 8;
	const auto bytes = result_.buffer().bytes();
	std::fill(bytes.begin(), bytes.end(), uint8_t{ 0xa5 });
	Submit placed = submit();
	placed.resultOffset = offset;
	ASSERT_EQ(placed.run(device_), 0);
	ASSERT_EQ(result_.wait(), 0);
	const auto isCanary = [](uint8_t byte) { return byte == 0xa5; };
	EXPECT_TRUE(std::all_of(bytes.begin(), bytes.begin() + offset, isCanary));
	EXPECT_TRUE(std::all_of(bytes.begin() + offset + resultBytes(1), bytes.end(), isCanary));
	EXPECT_FALSE(isCanary(bytes[offset]));
}

TEST_F(ResultTest, MayEndWithItsBuffer)
{
	addWholeCopy();
	const uint64_t last = result_.buffer().bytes().size() - resultBytes(1);
	Submit placed = submit();
	placed.resultOffset = last;
	EXPECT_EQ(placed.run(device_), 0);
	placed.resultOffset = last + 8;
	EXPECT_EQ(placed.run(device_), -EINVAL);
}

TEST_F(ResultTest, RefusesBadPlaces)
{
	addWholeCopy();
	for (const uint64_t offset :
	     { uint64_t{ 4 }, uint64_t{ 16384 }, uint64_t{ 16392 }, uint64_t{ 1 } << 32,
	       UINT64_MAX - 7, UINT64_MAX - 7 - resultBytes(1) + 1 }) {
		Submit bad = submit();
		bad.resultOffset = offset;
		EXPECT_EQ(bad.run(device_), -EINVAL) << offset;
	}

	Submit unknown = submit();
	unknown.resultHandle = 4711;
	EXPECT_EQ(unknown.run(device_), -ENOENT);

	Submit nowhere(task_);
	nowhere.resultOffset = 8;
	EXPECT_EQ(nowhere.run(device_), -EINVAL);
	nowhere.resultOffset = 0;
	nowhere.flags = DRM_NVDLA_SUBMIT_STATISTICS;
	EXPECT_EQ(nowhere.run(device_), -EINVAL);
}

/* A slow machine is no core that hangs: what counts is the time without an operation that ends. */
TEST_F(ResultTest, IsGoodAsLongAsOperationsEnd)
{
	constexpr uint32_t tasks = 16, lines = 512, lineBytes = 64, longMs = 10'000;
	Buffer source(device_, lines * lineBytes), destination(device_, lines * lineBytes);
	ASSERT_TRUE(source.valid() && destination.valid());
	CopyTask copies;
	copies.addLines(source, destination, lineBytes);
	uint32_t timeoutMs = longMs;
	const auto run = [&] {
		Submit submit(copies);
		submit.tasks.assign(tasks, copies.task());
		submit.timeoutMs = timeoutMs;
		JobResult result(device_, resultBytes(tasks * lines));
		submit.resultHandle = result.buffer().handle();
		const int ret = submit.runToTheEnd(device_);
		const drm_nvdla_job_result job = result.job();
		return ret ? std::nullopt : std::optional(job.end_ns - job.start_ns);
	};

	/* The machine may have other work just now: it is tried more than once. */
	for (unsigned int round = 0; round < 5; round++) {
		timeoutMs = longMs;
		const auto usualNs = run();
		ASSERT_TRUE(usualNs);
		timeoutMs = static_cast<uint32_t>(*usualNs / 4'000'000 + 1);
		const auto tookNs = run();
		if (tookNs && *tookNs > uint64_t{ timeoutMs } * 1'000'000)
			return;
	}
	FAIL() << "no job took longer than its timeout, which was " << timeoutMs << " ms at last";
}

TEST_F(ResultTest, NamesTheOperationThatTookTooLong)
{
	/* Each line takes the driver an interrupt: it has no less of the processor than the timer.
	 */
	constexpr uint32_t tasks = 32, lines = 512, lineBytes = 64;
	Buffer source(device_, lines * lineBytes), destination(device_, lines * lineBytes);
	ASSERT_TRUE(source.valid() && destination.valid());
	CopyTask copies;
	copies.addLines(source, destination, lineBytes);
	Submit late = submit();
	late.tasks.assign(tasks, copies.task());
	late.timeoutMs = 1;
	ASSERT_EQ(late.run(device_), -EINVAL) << "the result does not fit";

	JobResult large(device_, resultBytes(tasks * lines));
	ASSERT_TRUE(large.valid());
	late.resultHandle = large.buffer().handle();
	const uint32_t syncobj = device_.createSyncobj();
	late.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
	ASSERT_EQ(late.run(device_), 0);
	ASSERT_EQ(large.wait(), 0);
	EXPECT_EQ(device_.fenceStatus(syncobj), -ETIMEDOUT);

	const drm_nvdla_job_result job = large.job();
	EXPECT_EQ(job.status, -ETIMEDOUT);
	EXPECT_EQ(job.num_operations, tasks * lines);
	ASSERT_LT(job.failed_task, tasks);
	ASSERT_LT(job.failed_operation, lines);
	const uint32_t stuck = job.failed_task * lines + job.failed_operation;
	EXPECT_EQ(job.num_completed, stuck);
	EXPECT_EQ(large.operation(stuck).flags, static_cast<uint32_t>(DRM_NVDLA_OPERATION_STARTED));
	if (stuck > 0) {
		EXPECT_EQ(large.operation(stuck - 1).flags, ended);
	}
	if (stuck + 2 < job.num_operations) {
		EXPECT_EQ(large.operation(stuck + 2).flags, 0u);
	}
}

TEST_F(ResultTest, MayBeWrittenToByAnybody)
{
	/* The kernel does not read what it has written. */
	addWholeCopy();
	std::atomic<bool> stop = false;
	std::thread scribbler([&] {
		const auto bytes = result_.buffer().bytes();
		for (uint8_t value = 0; !stop; value++)
			std::fill(bytes.begin(), bytes.end(), value);
	});
	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(submit().run(device_), 0);
		ASSERT_EQ(result_.wait(), 0);
	}
	stop = true;
	scribbler.join();
	ASSERT_EQ(submit().run(device_), 0);
	ASSERT_EQ(result_.wait(), 0);
	EXPECT_EQ(result_.job().status, 0);
	EXPECT_EQ(result_.job().num_completed, 1u);
}

TEST_F(ResultTest, MayBeInABufferOfTheJob)
{
	addWholeCopy();
	Submit submit(task_);
	submit.resultHandle = destination_.handle();
	submit.resultOffset = copyBytes / 2;
	std::fill(source_.bytes().begin(), source_.bytes().end(), uint8_t{ 0x5a });
	ASSERT_EQ(submit.run(device_), 0);
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	const auto bytes = destination_.bytes();
	EXPECT_EQ(bytes[0], 0x5a);
	EXPECT_EQ(bytes[copyBytes / 2], sizeof(drm_nvdla_job_result));
	EXPECT_EQ(bytes[copyBytes / 2 + resultBytes(1)], 0x5a);
}

} /* namespace nvdla::test */
