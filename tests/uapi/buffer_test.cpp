/* SPDX-License-Identifier: MIT */
/* Buffer objects: creation, mapping, CPU access. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "device.h"
#include "driver_files.h"
#include "eventually.h"

namespace nvdla::test
{

class BufferTest : public ::testing::Test
{
protected:
	void SetUp() override { ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path(); }

	int create(uint64_t size, uint32_t flags)
	{
		drm_nvdla_bo_create create = { .size = size, .flags = flags, .handle = 0 };
		const int ret = device_.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create);
		if (!ret)
			device_.closeHandle(create.handle);
		return ret;
	}

	Device device_;
};

TEST_F(BufferTest, IsZeroedAndKeepsWhatIsWritten)
{
	/* Written, freed and allocated again, so that the memory is used memory. */
	for (unsigned int round = 0; round < 4; round++) {
		Buffer buffer(device_, 256 * 1024);
		ASSERT_TRUE(buffer.valid());
		EXPECT_TRUE(std::all_of(buffer.bytes().begin(), buffer.bytes().end(),
					[](uint8_t byte) { return byte == 0; }));
		std::fill(buffer.bytes().begin(), buffer.bytes().end(), 0xa5);
		EXPECT_EQ(buffer.prepare(DRM_NVDLA_BO_READ), 0);
		EXPECT_EQ(buffer.bytes().front(), 0xa5);
		EXPECT_EQ(buffer.bytes().back(), 0xa5);
		EXPECT_EQ(buffer.finish(), 0);
	}
}

TEST_F(BufferTest, WriteCombinedIsMemoryLikeAnyOther)
{
	constexpr uint32_t bytes = 256 * 1024;
	Buffer cached(device_, bytes);
	ASSERT_TRUE(cached.valid());
	/* Pages change how they are cached, and have to change back. */
	for (uint8_t round = 1; round <= 4; round++) {
		Buffer combined(device_, bytes, DRM_NVDLA_BO_WRITE_COMBINE);
		ASSERT_TRUE(combined.valid());
		EXPECT_EQ(std::count(combined.bytes().begin(), combined.bytes().end(), 0), bytes);
		std::fill(combined.bytes().begin(), combined.bytes().end(), round);
		ASSERT_EQ(combined.finish(), 0);

		CopyTask out, back;
		out.addAddress(combined.handle());
		out.addAddress(cached.handle());
		out.addCopy(0, 1, 1024, bytes / 1024);
		ASSERT_EQ(Submit(out).run(device_), 0);
		ASSERT_EQ(cached.prepare(DRM_NVDLA_BO_WRITE), 0);
		EXPECT_EQ(std::count(cached.bytes().begin(), cached.bytes().end(), round), bytes);

		std::fill(cached.bytes().begin(), cached.bytes().end(), 0x80 | round);
		ASSERT_EQ(cached.finish(), 0);
		back.addAddress(cached.handle());
		back.addAddress(combined.handle());
		back.addCopy(0, 1, 1024, bytes / 1024);
		ASSERT_EQ(Submit(back).run(device_), 0);
		ASSERT_EQ(combined.prepare(DRM_NVDLA_BO_READ), 0);
		EXPECT_EQ(
			std::count(combined.bytes().begin(), combined.bytes().end(), 0x80 | round),
			bytes);
	}
}

TEST_F(BufferTest, SizeIsRoundedUpToPages)
{
	drm_nvdla_bo_create create = { .size = 1, .flags = 0, .handle = 0 };
	ASSERT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create), 0);
	EXPECT_EQ(create.size, 4096U);
	EXPECT_NE(create.handle, 0U);
	device_.closeHandle(create.handle);
}

TEST_F(BufferTest, RefusesBadSizesAndFlags)
{
	EXPECT_EQ(create(0, 0), -EINVAL);
	EXPECT_EQ(create(UINT64_MAX, 0), -EINVAL);
	EXPECT_EQ(create(UINT64_MAX - 100, 0), -EINVAL);
	EXPECT_EQ(create(1ULL << 40, 0), -EINVAL);
	EXPECT_EQ(create(4096, 1U << 31), -EINVAL);
}

TEST_F(BufferTest, TooLargeForTheMachineIsNoMemory)
{
	/* More than the guest has: an error, not a warning in the kernel log. */
	EXPECT_EQ(create(2ULL << 30, 0), -ENOMEM);
}

TEST_F(BufferTest, UnknownHandles)
{
	drm_nvdla_bo_mmap_offset offset = { .handle = 4711, .flags = 0, .offset = 0 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset), -ENOENT);
	drm_nvdla_bo_prep prep = { .handle = 4711, .flags = DRM_NVDLA_BO_READ, .timeout_ns = 0 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_PREP, &prep), -ENOENT);
	drm_nvdla_bo_fini fini = { .handle = 4711, .flags = 0 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_FINI, &fini), -ENOENT);
}

TEST_F(BufferTest, FlagsAreChecked)
{
	Buffer buffer(device_, 4096);
	ASSERT_TRUE(buffer.valid());
	EXPECT_EQ(buffer.prepare(0), -EINVAL);
	EXPECT_EQ(buffer.prepare(1U << 7), -EINVAL);
	drm_nvdla_bo_fini fini = { .handle = buffer.handle(), .flags = 1 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_FINI, &fini), -EINVAL);
	drm_nvdla_bo_mmap_offset offset = { .handle = buffer.handle(), .flags = 1, .offset = 0 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset), -EINVAL);
}

TEST_F(BufferTest, MappingOutlivesTheHandle)
{
	drm_nvdla_bo_create create = { .size = 8192, .flags = 0, .handle = 0 };
	ASSERT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create), 0);
	drm_nvdla_bo_mmap_offset offset = { .handle = create.handle, .flags = 0, .offset = 0 };
	ASSERT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset), 0);
	void *map = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, device_.fd(),
			 static_cast<off_t>(offset.offset));
	ASSERT_NE(map, MAP_FAILED);
	device_.closeHandle(create.handle);

	std::memset(map, 0x3c, 8192);
	EXPECT_EQ(static_cast<uint8_t *>(map)[8191], 0x3c);
	munmap(map, 8192);
}

TEST_F(BufferTest, MappingCannotBeLargerThanTheBuffer)
{
	drm_nvdla_bo_create create = { .size = 4096, .flags = 0, .handle = 0 };
	ASSERT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create), 0);
	drm_nvdla_bo_mmap_offset offset = { .handle = create.handle, .flags = 0, .offset = 0 };
	ASSERT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset), 0);
	EXPECT_EQ(mmap(nullptr, 8192, PROT_READ, MAP_SHARED, device_.fd(),
		       static_cast<off_t>(offset.offset)),
		  MAP_FAILED);
	device_.closeHandle(create.handle);
}

/* Bytes that the kernel has mapped for results, with a guard page each. */
static uint64_t mappedForResults()
{
	std::istringstream areas(readFile("/proc/vmallocinfo"));
	std::string range, bytes, caller;
	uint64_t sum = 0;
	for (std::string line; std::getline(areas, line);) {
		std::istringstream(line) >> range >> bytes >> caller;
		if (caller.starts_with("nvdla_") && line.find(" vmap") != line.npos)
			sum += std::stoull(bytes);
	}
	return sum;
}

TEST_F(BufferTest, OnlyTheResultIsMapped)
{
	constexpr uint64_t bytes = 1 << 20;
	Buffer source(device_, 32768), destination(device_, 32768), result(device_, bytes);
	ASSERT_TRUE(source.valid() && destination.valid() && result.valid());
	CopyTask slow, quick;
	slow.addLines(source, destination, 64);
	quick.addAddress(result.handle());
	quick.addCopy(0, 0, 64, 1);

	/* It is mapped from the submit on, until the job has gone. */
	ASSERT_EQ(Submit(slow).run(device_), 0);
	Submit submit(quick);
	submit.resultHandle = result.handle();
	/* Over the end of a page. */
	submit.resultOffset = bytes / 2 - 8;
	ASSERT_EQ(submit.run(device_), 0);
	EXPECT_EQ(mappedForResults(), 3 * 4096u);
	ASSERT_EQ(result.prepare(DRM_NVDLA_BO_READ), 0);
	drm_nvdla_job_result job;
	std::memcpy(&job, result.bytes().data() + bytes / 2 - 8, sizeof(job));
	EXPECT_EQ(job.num_completed, 1u);
	EXPECT_TRUE(eventually([] { return mappedForResults() == 0; }));
}

TEST_F(BufferTest, HandlesOfOneFileMeanNothingToAnother)
{
	Buffer buffer(device_, 4096);
	ASSERT_TRUE(buffer.valid());
	Device other;
	ASSERT_TRUE(other.valid());
	drm_nvdla_bo_mmap_offset offset = { .handle = buffer.handle(), .flags = 0, .offset = 0 };
	EXPECT_EQ(other.ioctl(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset), -ENOENT);
}

} /* namespace nvdla::test */
