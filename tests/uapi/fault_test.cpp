/* SPDX-License-Identifier: MIT */
/*
 * Every ioctl, with its first allocation or copy from user memory failing, then its second, and
 * so on until none is left to fail. Needs a kernel with fault injection (scripts/kernel-debug).
 */
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <xf86drm.h>

#include "device.h"
#include "device/refusal.h"
#include "dma_buf.h"
#include "fail_nth.h"

namespace nvdla::test
{

namespace
{

/** \brief A task that copies one page to another */
struct PageCopy {
	explicit PageCopy(const Device &device) : source(device, bytes), destination(device, bytes)
	{
		task.addAddress(source.handle());
		task.addAddress(destination.handle());
		task.addCopy(0, 1, 1024, bytes / 1024);
	}

	bool valid() const { return source.valid() && destination.valid(); }

	static constexpr uint32_t bytes = 4096;
	Buffer source;
	Buffer destination;
	CopyTask task;
};

class FaultTest : public testing::Test
{
protected:
	void SetUp() override
	{
		ASSERT_TRUE(failNth_.valid()) << "the kernel has no fault injection";
		ASSERT_TRUE(device_.valid());
	}

	/**
	 * \brief Runs \a operation with one failure after the other, then once without
	 *
	 * A failure may go unnoticed, where there is another way. It is never anything but
	 * "no memory" or "bad address". \a undo follows each success.
	 */
	void failEverywhere(
		const std::function<int()> &operation, const std::function<void()> &undo = [] {})
	{
		ASSERT_EQ(operation(), 0);
		undo();
		unsigned int n = 0;
		for (bool failed = true; failed; n++) {
			ASSERT_LT(n, 5000u) << "this does not come to an end";
			ASSERT_TRUE(failNth_.arm(n + 1));
			const int ret = operation();
			failed = failNth_.disarm();
			if (ret == 0) {
				undo();
				continue;
			}
			EXPECT_TRUE(failed && (ret == -ENOMEM || ret == -EFAULT))
				<< "failure " << n + 1 << ": " << ret;
		}
		EXPECT_GT(n, 1u) << "nothing was made to fail";
		RecordProperty("failures", static_cast<int>(n) - 1);
	}

	Device device_;
	FailNth failNth_;
};

} /* namespace */

TEST_F(FaultTest, Open)
{
	int fd = -1;
	failEverywhere(
		[&] {
			fd = open(Device::path().c_str(), O_RDWR | O_CLOEXEC);
			return fd < 0 ? -errno : 0;
		},
		[&] { close(fd); });
}

TEST_F(FaultTest, Query)
{
	drm_nvdla_device_info info;
	drm_nvdla_dev_query query = {};
	failEverywhere([&] {
		query.type = DRM_NVDLA_QUERY_DEVICE;
		query.size = sizeof(info);
		query.pointer = reinterpret_cast<uintptr_t>(&info);
		return device_.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query);
	});
}

TEST_F(FaultTest, BufferCreate)
{
	for (const uint32_t flags : { 0u, DRM_NVDLA_BO_WRITE_COMBINE, DRM_NVDLA_BO_SRAM }) {
		SCOPED_TRACE(flags);
		drm_nvdla_bo_create create = {};
		failEverywhere(
			[&] {
				create = { .size = 16384, .flags = flags, .handle = 0 };
				return device_.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create);
			},
			[&] { device_.closeHandle(create.handle); });
	}
}

/*
 * The kernel splits its own mapping of memory that becomes write-combined, where that is of large
 * pages. Buffers that are kept make each one of other memory, which is not split yet.
 */
TEST_F(FaultTest, BufferCreateSplitsMapping)
{
	std::vector<uint32_t> handles;
	drm_nvdla_bo_create create = {};
	failEverywhere(
		[&] {
			create = { .size = 2 << 20,
				   .flags = DRM_NVDLA_BO_WRITE_COMBINE,
				   .handle = 0 };
			return device_.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create);
		},
		[&] { handles.push_back(create.handle); });
	for (const uint32_t handle : handles)
		device_.closeHandle(handle);
}

TEST_F(FaultTest, BufferExport)
{
	Buffer buffer(device_, 65536);
	ASSERT_TRUE(buffer.valid());
	int fd = -1;
	failEverywhere(
		[&] {
			return drmPrimeHandleToFD(device_.fd(), buffer.handle(), DRM_CLOEXEC, &fd)
				       ? -errno
				       : 0;
		},
		[&] { close(fd); });
}

TEST_F(FaultTest, BufferImport)
{
	const DmaBuf memory = userMemory(65536);
	ASSERT_TRUE(memory.valid());
	uint32_t handle = 0;
	failEverywhere([&] { return memory.importTo(device_.fd(), handle); },
		       [&] { device_.closeHandle(handle); });
}

TEST_F(FaultTest, BufferMmapOffset)
{
	Buffer buffer(device_, 4096);
	ASSERT_TRUE(buffer.valid());
	drm_nvdla_bo_mmap_offset offset = {};
	failEverywhere([&] {
		offset = { .handle = buffer.handle(), .flags = 0, .offset = 0 };
		return device_.ioctl(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset);
	});
}

TEST_F(FaultTest, BufferPrepareAndFinish)
{
	Buffer buffer(device_, 4096);
	ASSERT_TRUE(buffer.valid());
	failEverywhere([&] { return buffer.prepare(DRM_NVDLA_BO_WRITE); });
	failEverywhere([&] { return buffer.finish(); });
}

TEST_F(FaultTest, Contexts)
{
	drm_nvdla_context_create create = {};
	drm_nvdla_context_destroy destroy = {};
	failEverywhere(
		[&] {
			create = {};
			return device_.ioctl(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create);
		},
		[&] {
			destroy = { .context = create.context, .reserved = 0 };
			EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), 0);
		});
}

TEST_F(FaultTest, PrepareTask)
{
	const PageCopy copy(device_);
	ASSERT_TRUE(copy.valid());
	drm_nvdla_error error;
	int64_t handle = 0;
	failEverywhere(
		[&] {
			handle = device_.prepareTask(copy.task.task(), error);
			return handle < 0 ? static_cast<int>(handle) : 0;
		},
		[&] { EXPECT_EQ(device_.destroyTask(static_cast<uint32_t>(handle)), 0); });
}

TEST_F(FaultTest, SubmitPrepared)
{
	const PageCopy copy(device_);
	ASSERT_TRUE(copy.valid());
	drm_nvdla_error error;
	const int64_t handle = device_.prepareTask(copy.task.task(), error);
	ASSERT_GT(handle, 0);
	Submit submit;
	submit.tasks.push_back(copy.task.prepared(static_cast<uint32_t>(handle)));
	failEverywhere([&] { return submit.run(device_); });
	EXPECT_EQ(copy.destination.prepare(DRM_NVDLA_BO_READ), 0);
}

TEST_F(FaultTest, SubmitWithResult)
{
	const PageCopy copy(device_);
	ASSERT_TRUE(copy.valid());
	const int context = device_.createContext(DRM_NVDLA_PRIORITY_HIGH);
	ASSERT_GT(context, 0);

	/* Mapped anew each time, which can fail, too. */
	failEverywhere([&] {
		JobResult result(device_, 65536);
		if (!result.valid())
			return -ENOMEM;
		Submit submit(copy.task);
		submit.context = static_cast<uint32_t>(context);
		submit.flags = DRM_NVDLA_SUBMIT_STATISTICS;
		submit.resultHandle = result.buffer().handle();
		int ret = submit.run(device_);
		if (!ret)
			ret = result.wait();
		if (ret)
			return ret;
		EXPECT_EQ(result.job().status, 0);
		EXPECT_EQ(result.job().num_completed, 1u);
		return 0;
	});
}

TEST_F(FaultTest, Submit)
{
	const PageCopy copy(device_);
	ASSERT_TRUE(copy.valid());

	const uint32_t before = device_.createSyncobj();
	const uint32_t binary = device_.createSyncobj();
	const uint32_t timeline = device_.createSyncobj();
	ASSERT_TRUE(before && binary && timeline);
	Submit first(copy.task);
	first.outSyncs.push_back({ .handle = before, .reserved = 0, .point = 0 });
	ASSERT_EQ(first.run(device_), 0);

	uint64_t point = 1;
	Submit submit(copy.task);
	submit.inSyncs.push_back({ .handle = before, .reserved = 0, .point = 0 });
	submit.outSyncs.push_back({ .handle = binary, .reserved = 0, .point = 0 });
	submit.outSyncs.push_back({ .handle = timeline, .reserved = 0, .point = point });
	failEverywhere(
		[&] {
			submit.outSyncs.back().point = point;
			return submit.run(device_);
		},
		[&] {
			EXPECT_EQ(device_.waitSyncobj(timeline, point), 0);
			EXPECT_EQ(device_.fenceStatus(binary), 1);
			point++;
		});

	/* What is left behind works as before. */
	constexpr uint8_t value = 0x5a;
	copy.source.bytes()[0] = value;
	ASSERT_EQ(copy.source.finish(), 0);
	submit.outSyncs.back().point = point;
	ASSERT_EQ(submit.run(device_), 0) << refusedField(submit.error, NVDLA_OP_BDMA);
	ASSERT_EQ(copy.destination.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_EQ(copy.destination.bytes()[0], value);
}

} /* namespace nvdla::test */
