/* SPDX-License-Identifier: MIT */
/* Buffers that other files, devices and drivers share, as dma-bufs. */
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iostream>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/dma-buf.h>
#include <sched.h>
#include <unistd.h>

#include "device/refusal.h"
#include "imported_buffer.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t sharedBytes = 256 * 1024;
constexpr int timeoutMs = 60'000;

void fill(std::span<uint8_t> bytes, uint8_t seed)
{
	/* A period that no page size is a multiple of. */
	for (size_t i = 0; i < bytes.size(); i++)
		bytes[i] = static_cast<uint8_t>(i % 251 + seed);
}

bool equal(std::span<const uint8_t> a, std::span<const uint8_t> b)
{
	return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/* A copy of the first bytes, a multiple of 1024, from one buffer to another. */
CopyTask wholeCopy(uint32_t source, uint32_t destination, uint32_t bytes = sharedBytes)
{
	CopyTask task;
	task.addAddress(source);
	task.addAddress(destination);
	task.addCopy(0, 1, 1024, bytes / 1024);
	return task;
}

} /* namespace */

class PrimeTest : public ::testing::Test
{
protected:
	PrimeTest() : source_(device_, sharedBytes), destination_(device_, sharedBytes) {}

	void SetUp() override
	{
		ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path();
		ASSERT_TRUE(source_.valid() && destination_.valid());
		fill(source_.bytes(), 1);
	}

	DmaBuf exported(const Buffer &buffer) const
	{
		return DmaBuf::exportOf(device_.fd(), buffer.handle());
	}

	void isCopiedBothWays(const DmaBuf &foreign, uint32_t bytes)
	{
		const ImportedBuffer imported(device_, foreign);
		ASSERT_EQ(imported.result(), 0);
		fill(destination_.bytes(), 3);
		ASSERT_EQ(
			Submit(wholeCopy(source_.handle(), imported.handle(), bytes)).run(device_),
			0);
		ASSERT_EQ(Submit(wholeCopy(imported.handle(), destination_.handle(), bytes))
				  .run(device_),
			  0);
		ASSERT_EQ(imported.prepare(DRM_NVDLA_BO_READ), 0);
		const Mapping map(foreign.fd(), bytes);
		ASSERT_TRUE(map.valid());
		const auto expected = source_.bytes().first(bytes);
		EXPECT_TRUE(equal(map.bytes(), expected));
		EXPECT_EQ(imported.finish(), 0);
		ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
		EXPECT_TRUE(equal(destination_.bytes().first(bytes), expected));
		EXPECT_EQ(destination_.finish(), 0);
	}

	Device device_;
	Buffer source_;
	Buffer destination_;
};

/* Imports pages of a process. */
class UserMemoryTest : public PrimeTest
{
protected:
	void SetUp() override
	{
		if (!hasUserMemory())
			GTEST_SKIP() << "this kernel has no udmabuf";
		PrimeTest::SetUp();
	}
};

TEST_F(PrimeTest, TwoFilesShareABuffer)
{
	const DmaBuf shared = exported(destination_);
	ASSERT_TRUE(shared.valid());
	Device other;
	ASSERT_TRUE(other.valid());
	const ImportedBuffer imported(other, shared);
	ASSERT_EQ(imported.result(), 0);
	Buffer result(other, sharedBytes);
	ASSERT_TRUE(result.valid());

	/* One file's job writes what the other's reads: the buffer orders them. */
	for (uint8_t round = 0; round < 10; round++) {
		fill(source_.bytes(), round);
		ASSERT_EQ(Submit(wholeCopy(source_.handle(), destination_.handle())).run(device_),
			  0);
		ASSERT_EQ(Submit(wholeCopy(imported.handle(), result.handle())).run(other), 0);
		ASSERT_EQ(result.prepare(DRM_NVDLA_BO_READ), 0);
		ASSERT_TRUE(equal(result.bytes(), source_.bytes())) << "round " << +round;
		ASSERT_EQ(result.finish(), 0);
	}
}

TEST_F(UserMemoryTest, ImportedTwiceIsOneHandle)
{
	const DmaBuf own = exported(source_);
	ASSERT_TRUE(own.valid());
	uint32_t handle = 0;
	EXPECT_EQ(own.importTo(device_.fd(), handle), 0);
	EXPECT_EQ(handle, source_.handle());

	const DmaBuf foreign = userMemory(4096);
	ASSERT_TRUE(foreign.valid());
	const ImportedBuffer first(device_, foreign);
	ASSERT_EQ(first.result(), 0);
	EXPECT_EQ(foreign.importTo(device_.fd(), handle), 0);
	EXPECT_EQ(handle, first.handle());
}

TEST_F(UserMemoryTest, ABufferIsExportedOnce)
{
	/* And an imported one goes out as what it came in as. */
	Device other;
	ASSERT_TRUE(other.valid());
	const DmaBuf foreign = userMemory(4096);
	ASSERT_TRUE(foreign.valid());
	const ImportedBuffer first(device_, foreign);
	ASSERT_EQ(first.result(), 0);
	const DmaBuf again = DmaBuf::exportOf(device_.fd(), first.handle());
	ASSERT_TRUE(again.valid());
	const ImportedBuffer second(other, again);
	ASSERT_EQ(second.result(), 0);
	uint32_t handle = 0;
	EXPECT_EQ(foreign.importTo(other.fd(), handle), 0);
	EXPECT_EQ(handle, second.handle());
}

TEST_F(UserMemoryTest, ForeignMemoryIsCopiedBothWays)
{
	/*
	 * Pages that are one range by chance would be mapped without an IOMMU, too, and in larger
	 * pieces than the kernel's udmabuf device claims to map.
	 */
	const DmaBuf foreign = userMemory(sharedBytes, Pages::Apart);
	ASSERT_TRUE(foreign.valid());
	if (hasIommu(Device::path()))
		isCopiedBothWays(foreign, sharedBytes);
	else
		EXPECT_EQ(ImportedBuffer(device_, foreign).result(), -EINVAL);

	const DmaBuf page = userMemory(4096);
	ASSERT_TRUE(page.valid());
	isCopiedBothWays(page, 4096);
}

TEST_F(UserMemoryTest, ForeignMemoryIsMappedThroughTheDevice)
{
	constexpr size_t bytes = 4096;
	const DmaBuf foreign = userMemory(bytes);
	ASSERT_TRUE(foreign.valid());
	const ImportedBuffer imported(device_, foreign);
	ASSERT_EQ(imported.result(), 0);
	ASSERT_GE(imported.mmapOffset(), 0);
	const Mapping direct(foreign.fd(), bytes);
	const Mapping through(device_.fd(), bytes, static_cast<uint64_t>(imported.mmapOffset()));
	ASSERT_TRUE(direct.valid() && through.valid());
	fill(through.bytes(), 7);
	EXPECT_TRUE(equal(direct.bytes(), through.bytes()));
}

TEST_F(UserMemoryTest, CopiesBehindTheEndOfAnImportAreRefused)
{
	const DmaBuf foreign = userMemory(4096);
	ASSERT_TRUE(foreign.valid());
	const ImportedBuffer imported(device_, foreign);
	ASSERT_EQ(imported.result(), 0);

	CopyTask task;
	task.addAddress(source_.handle());
	task.addAddress(imported.handle());
	task.addCopy(0, 1, 4096 + 32, 1);
	Submit write(task);
	EXPECT_EQ(write.run(device_), -EINVAL);
	EXPECT_EQ(refusedField(write.error, NVDLA_OP_BDMA), "transfers[0].dst_address");
	task.addresses[1].offset = 4096 + 32;
	Submit behind(task);
	EXPECT_EQ(behind.run(device_), -EINVAL);
	EXPECT_EQ(refusedField(behind.error, NVDLA_OP_BDMA), "addresses[1].offset");
}

TEST_F(UserMemoryTest, ImportsHoldNoResults)
{
	const DmaBuf foreign = userMemory(4096);
	ASSERT_TRUE(foreign.valid());
	const ImportedBuffer imported(device_, foreign);
	ASSERT_EQ(imported.result(), 0);
	const CopyTask task = wholeCopy(source_.handle(), destination_.handle());
	Submit submit(task);
	submit.resultHandle = imported.handle();
	EXPECT_EQ(submit.run(device_), -EINVAL);
}

TEST_F(PrimeTest, ExportedMemoryIsMappedWithoutTheDevice)
{
	const DmaBuf shared = exported(destination_);
	ASSERT_TRUE(shared.valid());
	ASSERT_EQ(Submit(wholeCopy(source_.handle(), destination_.handle())).run(device_), 0);
	ASSERT_TRUE(shared.waitReadable(timeoutMs));

	const Mapping map(shared.fd(), sharedBytes);
	ASSERT_TRUE(map.valid());
	ASSERT_EQ(shared.sync(DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW), 0);
	EXPECT_TRUE(equal(map.bytes(), source_.bytes()));
	fill(map.bytes(), 99);
	ASSERT_EQ(shared.sync(DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW), 0);
	EXPECT_TRUE(equal(map.bytes(), destination_.bytes()));
}

TEST_F(PrimeTest, DmaBufOutlivesHandleAndFile)
{
	const DmaBuf shared = [] {
		Device temporary;
		Buffer buffer(temporary, sharedBytes);
		EXPECT_TRUE(buffer.valid());
		fill(buffer.bytes(), 42);
		return DmaBuf::exportOf(temporary.fd(), buffer.handle());
	}();
	ASSERT_TRUE(shared.valid());
	const ImportedBuffer imported(device_, shared);
	ASSERT_EQ(imported.result(), 0);
	ASSERT_EQ(Submit(wholeCopy(imported.handle(), destination_.handle())).run(device_), 0);
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	fill(source_.bytes(), 42);
	EXPECT_TRUE(equal(destination_.bytes(), source_.bytes()));
}

TEST_F(PrimeTest, AnotherDeviceAttachesToAnExportedBuffer)
{
	const VirtualGem other;
	ASSERT_TRUE(other.valid());
	const DmaBuf shared = exported(source_);
	uint32_t handle = 0;
	ASSERT_EQ(shared.importTo(other.fd(), handle), 0);

	/* What one of its fences covers is covered here too. */
	const uint32_t fence = other.beginWrite(handle);
	ASSERT_NE(fence, 0U);
	EXPECT_EQ(source_.prepare(DRM_NVDLA_BO_READ, 0), -ETIMEDOUT);
	ASSERT_EQ(Submit(wholeCopy(source_.handle(), destination_.handle())).run(device_), 0);
	EXPECT_EQ(destination_.prepare(DRM_NVDLA_BO_READ, 0), -ETIMEDOUT);
	fill(source_.bytes(), 33);
	ASSERT_EQ(other.signal(fence), 0);
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(destination_.bytes(), source_.bytes()));
	other.close(handle);
}

TEST_F(PrimeTest, JobsWaitForTheFencesOfTheExporter)
{
	const VirtualGem other;
	ASSERT_TRUE(other.valid());
	const uint32_t theirs = other.create(4096);
	ASSERT_NE(theirs, 0U);
	const Mapping map(other.fd(), 4096, static_cast<uint64_t>(other.mmapOffset(theirs)));
	ASSERT_TRUE(map.valid());
	const DmaBuf shared = DmaBuf::exportOf(other.fd(), theirs);
	const ImportedBuffer imported(device_, shared);
	ASSERT_EQ(imported.result(), 0);

	/* Theirs is being written, says its fence; the job must not read it before that is over. */
	const uint32_t fence = other.beginWrite(theirs);
	ASSERT_NE(fence, 0U);
	CopyTask task;
	task.addAddress(imported.handle());
	task.addAddress(destination_.handle());
	task.addCopy(0, 1, 4096, 1);
	ASSERT_EQ(Submit(task).run(device_), 0);
	EXPECT_EQ(imported.prepare(DRM_NVDLA_BO_READ, 0), -ETIMEDOUT);
	EXPECT_EQ(destination_.prepare(DRM_NVDLA_BO_READ, 0), -ETIMEDOUT);
	fill(map.bytes(), 17);
	ASSERT_EQ(other.signal(fence), 0);
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(map.bytes(), destination_.bytes().first(4096)));
	other.close(theirs);
}

/*
 * A job may be over, and its handles closed, before its submit returns. Whoever has the last
 * reference to an import then takes the exporter's lock: a kernel with lockdep says so if that is
 * while other buffers, or the driver's list of them, are locked.
 */
TEST_F(UserMemoryTest, AnImportMayGoBeforeTheSubmitReturns)
{
	constexpr unsigned int rounds = 300;
	std::atomic<uint32_t> toClose = 0;
	std::atomic<unsigned int> submitUs = 1000;
	std::atomic<bool> done = false;
	/* All who have anything to do go first. */
	const sched_param none = {};
	ASSERT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	std::thread closer([&] {
		sched_setscheduler(0, SCHED_OTHER, &none);
		std::mt19937 random(1);
		for (toClose.wait(0); !done; toClose.wait(0)) {
			/* A timer wakes it in the midst of the submit. */
			usleep(static_cast<useconds_t>(random() % submitUs));
			device_.closeHandle(toClose);
			toClose = 0;
			toClose.notify_one();
		}
	});
	unsigned int accepted = 0;
	for (unsigned int i = 0; i < rounds; i++) {
		const DmaBuf foreign = userMemory(4096);
		uint32_t handle = 0;
		ASSERT_TRUE(foreign.valid());
		ASSERT_EQ(foreign.importTo(device_.fd(), handle), 0);
		/* Without transfers it ends when it is started. */
		CopyTask task;
		task.addAddress(source_.handle());
		task.addAddress(handle);
		task.addCopy(0, 1, 1024, 1);
		task.operations[0].bdma.num_transfers = task.surfaces[0].bdma.num_transfers = 0;
		Submit submit(task);
		toClose = handle;
		toClose.notify_one();
		const uint64_t before = now();
		const int ret = submit.run(device_);
		submitUs = static_cast<unsigned int>((now() - before) / 1000 + 1);
		EXPECT_TRUE(ret == 0 || ret == -ENOENT || ret == -EINVAL) << ret;
		accepted += ret == 0;
		toClose.wait(handle);
	}
	done = true;
	toClose = 1;
	toClose.notify_one();
	closer.join();
	sched_setscheduler(0, SCHED_OTHER, &none);
	std::cout << accepted << " of " << rounds << " submits were faster\n";
}

TEST_F(PrimeTest, OnlyDmaBufsAreImported)
{
	const DmaBuf closed;
	const DmaBuf file(open("/dev/null", O_RDWR | O_CLOEXEC));
	uint32_t handle = 0;
	EXPECT_EQ(closed.importTo(device_.fd(), handle), -EBADF);
	EXPECT_EQ(file.importTo(device_.fd(), handle), -EINVAL);
}

TEST_F(PrimeTest, ABufferMayHaveTwoHandlesInAJob)
{
	/* A name gives a second handle to the same buffer: one reads, the other writes. */
	drm_gem_flink name = { .handle = source_.handle(), .name = 0 };
	const int named = device_.ioctl(DRM_IOCTL_GEM_FLINK, &name);
	if (named == -EACCES)
		GTEST_SKIP() << "render nodes give buffers no names";
	ASSERT_EQ(named, 0);
	drm_gem_open again = { .name = name.name, .handle = 0, .size = 0 };
	ASSERT_EQ(device_.ioctl(DRM_IOCTL_GEM_OPEN, &again), 0);
	EXPECT_NE(again.handle, source_.handle());

	/* With all sorts of numbers of fences there. */
	for (unsigned int round = 0; round < 20; round++) {
		std::vector<std::unique_ptr<Device>> files;
		for (unsigned int i = 0; i < round; i++) {
			files.push_back(std::make_unique<Device>());
			uint32_t handle = 0;
			ASSERT_EQ(exported(source_).importTo(files.back()->fd(), handle), 0);
			CopyTask read;
			read.addAddress(handle);
			read.addAddress(Buffer(*files.back(), 4096).handle());
			read.addCopy(0, 1, 1024, 1);
			Submit(read).run(*files.back());
		}
		CopyTask task;
		task.addAddress(again.handle);
		task.addAddress(source_.handle());
		task.addCopy(0, 1, 1024, 1);
		ASSERT_EQ(Submit(task).run(device_), 0);
		ASSERT_EQ(source_.prepare(DRM_NVDLA_BO_WRITE), 0);
	}
	device_.closeHandle(again.handle);
}

} /* namespace nvdla::test */
