/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <thread>

#include <drm/nvdla_accel.h>
#include <gtest/gtest.h>
#include <nvdla/device.h>
#include <nvdla/task.h>

#include "edge_network.h"
#include "resident_task.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

using namespace std::chrono_literals;
using test::copyOf64;
using test::reside;
using test::ResidentTask;

} /* namespace */

TEST(Device, MissingOneIsNamed)
{
	auto device = Device::open("/dev/accel/accel250");
	ASSERT_FALSE(device);
	EXPECT_EQ(device.error().code, ErrorCode::NoDevice);
	EXPECT_NE(device.error().message().find("/dev/accel/accel250"), std::string::npos);
}

TEST(Device, AnotherKindOfFileIsRefused)
{
	auto device = Device::open("/dev/null");
	ASSERT_FALSE(device);
	EXPECT_EQ(device.error().code, ErrorCode::Unsupported);
	EXPECT_NE(device.error().message().find("/dev/null"), std::string::npos);
}

TEST(Device, EnumerationFindsOnlyWhatOpens)
{
	for (const std::string &path : Device::enumerate())
		EXPECT_TRUE(Device::open(path)) << path;
}

TEST(EmbeddedDevice, SaysWhatItIs)
{
	const Device device = test::openEmbedded();
	const DeviceInfo &info = device.info();

	EXPECT_EQ(device.path(), "embedded");
	EXPECT_EQ(info.variant, static_cast<uint32_t>(DRM_NVDLA_VARIANT_NV_FULL));
	EXPECT_EQ(info.atomBytes, 32u);
	EXPECT_EQ(info.engines, 0x3fu);
	EXPECT_EQ(info.precisions, 7u);
	EXPECT_GT(info.maxTasks, 0u);
}

TEST(EmbeddedDevice, HasOptionsInItsPath)
{
	const auto fast = Device::open("embedded:fp16=fast");
	ASSERT_TRUE(fast) << fast.error().message();
	EXPECT_EQ(fast->path(), "embedded:fp16=fast");
	EXPECT_TRUE(Device::open("embedded:fp16=fast,fp16=exact"));
	EXPECT_TRUE(Device::open("embedded:threads=3"));
	EXPECT_TRUE(Device::open("embedded:threads=0"));
	EXPECT_TRUE(Device::open("embedded:clock=800MHz,dram=10GB/s,dram-latency=0.1us,realtime"));

	for (const char *path :
	     { "embedded:", "embedded:fp16", "embedded:fp16=fast,", "embedded:fp16=slow",
	       "embedded:speed=high", "embedded:threads=", "embedded:threads=257",
	       "embedded:threads=-1", "embedded:threads=2x", "embedded:interrupt-gap=5us" }) {
		const auto device = Device::open(path);
		ASSERT_FALSE(device) << path;
		EXPECT_EQ(device.error().code, ErrorCode::InvalidArgument) << path;
		EXPECT_NE(device.error().message().find("fp16=exact or fp16=fast"),
			  std::string::npos)
			<< device.error().message();
	}
	const auto other = Device::open("embeddedly");
	ASSERT_FALSE(other);
	EXPECT_EQ(other.error().code, ErrorCode::NoDevice);
}

TEST(EmbeddedDevice, BuffersAreZeroedAndKeepWhatIsWritten)
{
	const Device device = test::openEmbedded();
	auto buffer = device.allocate(5000);
	ASSERT_TRUE(buffer) << buffer.error().message();
	EXPECT_EQ(buffer->size(), 5000u);
	{
		auto access = buffer->access(CpuAccess::ReadWrite, 0ms);
		ASSERT_TRUE(access);
		ASSERT_EQ(access->bytes().size(), 5000u);
		EXPECT_TRUE(std::all_of(access->bytes().begin(), access->bytes().end(),
					[](std::byte byte) { return byte == std::byte{ 0 }; }));
		access->bytes()[4999] = std::byte{ 1 };
	}
	Buffer moved = std::move(*buffer);
	auto access = moved.access(CpuAccess::Read, 0ms);
	ASSERT_TRUE(access);
	EXPECT_EQ(access->bytes()[4999], std::byte{ 1 });
}

TEST(EmbeddedDevice, ImpossibleBuffersAreRefused)
{
	const Device device = test::openEmbedded();
	EXPECT_FALSE(device.allocate(0));
	EXPECT_FALSE(device.allocate(~uint64_t{ 0 }));
	EXPECT_FALSE(device.allocate(device.info().maxBufferBytes + 1));
}

TEST(EmbeddedDevice, BuffersOutliveTheDeviceObject)
{
	auto buffer = test::openEmbedded().allocate(64);
	ASSERT_TRUE(buffer);
	EXPECT_TRUE(buffer->access(CpuAccess::Write, 0ms));
}

TEST(EmbeddedDevice, RefusalNamesOperationFieldAndValues)
{
	const Device device = test::openEmbedded();
	ResidentTask resident = reside(device, copyOf64());
	resident.task.surfaces[0].bdma.transfers[0].line_repeat = 300;

	const JobTask job = resident.job();
	auto submitted = device.submit({ &job, 1 });
	ASSERT_FALSE(submitted);
	EXPECT_EQ(submitted.error().code, ErrorCode::DeviceRefused);
	EXPECT_NE(submitted.error().where.find("operation 0 (BDMA)"), std::string::npos)
		<< submitted.error().message();
	EXPECT_NE(submitted.error().where.find("transfers"), std::string::npos)
		<< submitted.error().message();
	EXPECT_TRUE(submitted.error().why.starts_with(
		"the cube reaches beyond the memory of its address (is 9600, limit "))
		<< submitted.error().message();
}

TEST(EmbeddedDevice, AddressesOutsideOfTheirBufferAreRefused)
{
	const Device device = test::openEmbedded();
	const ResidentTask good = reside(device, copyOf64());
	const struct {
		const char *field;
		BufferRange range;
	} cases[] = {
		{ "addresses[1].handle", { 12345, 0, 0 } },
		{ "addresses[1].offset", { good.addresses[1].handle, 1 << 20, 0 } },
		{ "addresses[1].size", { good.addresses[1].handle, 0, 1 << 20 } },
		{ "addresses[1].size", { good.addresses[1].handle, 32, ~uint64_t{ 0 } } },
	};

	for (const auto &one : cases) {
		std::vector<BufferRange> addresses = good.addresses;
		addresses[1] = one.range;
		JobTask job = good.job();
		job.addresses = addresses;
		auto submitted = device.submit({ &job, 1 });
		ASSERT_FALSE(submitted) << one.field;
		EXPECT_EQ(submitted.error().code, ErrorCode::DeviceRefused);
		EXPECT_NE(submitted.error().where.find(one.field), std::string::npos)
			<< submitted.error().message();
	}

	/* An entry that is there, but too small for what the operation reads. */
	std::vector<BufferRange> addresses = good.addresses;
	addresses[1].size = 32;
	JobTask job = good.job();
	job.addresses = addresses;
	EXPECT_FALSE(device.submit({ &job, 1 }));
}

TEST(EmbeddedDevice, EmptyAndUnequalArraysAreRefused)
{
	const Device device = test::openEmbedded();
	const ResidentTask resident = reside(device, copyOf64());

	EXPECT_FALSE(device.submit({}));
	JobTask job = resident.job();
	job.operations = {};
	EXPECT_FALSE(device.submit({ &job, 1 }));
	job = {};
	EXPECT_FALSE(device.submit({ &job, 1 }));
	const std::vector<JobTask> many(device.info().maxTasks + 1, resident.job());
	EXPECT_FALSE(device.submit(many));
}

TEST(EmbeddedDevice, BufferOfAJobIsNotWrittenBeforeItIsDone)
{
	const Device device = test::openEmbedded();
	ResidentTask resident = reside(device, copyOf64());
	const JobTask one = resident.job();
	const std::vector<JobTask> tasks(device.info().maxTasks, one);
	auto job = device.submit(tasks);
	ASSERT_TRUE(job) << job.error().message();

	auto access = resident.memory.find(resident.task.addresses[2].memory)
			      ->access(CpuAccess::Read, 10000ms);
	ASSERT_TRUE(access);
	EXPECT_EQ(access->bytes()[63], std::byte{ 0x42 });
	EXPECT_TRUE(job->wait(10000ms));
	EXPECT_TRUE(job->wait(0ms));
}

/*
 * 64 times the example network, as large as it can be, is 8 * 10^8 multiplications: no host is
 * done with it in ten times the millisecond it is given.
 */
TEST(EmbeddedDevice, JobThatTakesTooLongFailsAlone)
{
	const Device device = test::openEmbedded();
	const ResidentTask slow = reside(device, *examples::edgeNetwork({ 256, 256 }));
	ResidentTask quick = reside(device, copyOf64());
	const std::vector<JobTask> slowTasks(device.info().maxTasks, slow.job());
	const JobTask quickTask = quick.job();

	auto guilty = device.submit(slowTasks, { .timeout = 1ms });
	auto innocent = device.submit({ &quickTask, 1 });
	ASSERT_TRUE(guilty);
	ASSERT_TRUE(innocent);

	auto failed = guilty->wait(60000ms);
	ASSERT_FALSE(failed);
	EXPECT_EQ(failed.error().code, ErrorCode::Timeout);
	auto done = innocent->wait(60000ms);
	EXPECT_TRUE(done) << done.error().message();
}

/* Whoever watches over jobs sleeps until the time of the first one would be over. */
TEST(EmbeddedDevice, JobOfLittleTimeFailsBehindOneOfMuch)
{
	const Device device = test::openEmbedded();
	const ResidentTask slow = reside(device, *examples::edgeNetwork({ 256, 256 }));
	ResidentTask quick = reside(device, copyOf64());
	const std::vector<JobTask> slowTasks(device.info().maxTasks, slow.job());
	const JobTask quickTask = quick.job();

	for (int round = 0; round < 3; round++) {
		auto patient = device.submit({ &quickTask, 1 }, { .timeout = 60000ms });
		ASSERT_TRUE(patient);
		EXPECT_TRUE(patient->wait(60000ms));
		auto hasty = device.submit(slowTasks, { .timeout = 1ms });
		ASSERT_TRUE(hasty);
		auto failed = hasty->wait(30000ms);
		ASSERT_FALSE(failed);
		EXPECT_NE(failed.error().message().find("was reset"), std::string::npos)
			<< failed.error().message();
		/* A device in this process has no kernel that would tell more. */
		EXPECT_EQ(failed.error().message().find("dmesg"), std::string::npos)
			<< failed.error().message();
	}
}

/* Whether it does wait, and however else it learns of the end: the job is done. */
TEST(EmbeddedDevice, JobOfAThreadThatWaitsIsDone)
{
	const Device device = test::openEmbedded();
	ResidentTask resident = reside(device, copyOf64());
	const JobTask task = resident.job();
	const auto submit = [&] {
		auto job = device.submit({ &task, 1 }, { .waits = true });
		EXPECT_TRUE(job) << job.error().message();
		return std::move(*job);
	};

	for (int round = 0; round < 20; round++) {
		EXPECT_TRUE(submit().wait(std::chrono::milliseconds::max()));
		EXPECT_TRUE(submit().wait(10000ms));
		Job asked = submit();
		while (!asked.status())
			std::this_thread::yield();
		Job moved = submit();
		Job other = std::move(moved);
		EXPECT_TRUE(other.wait(std::chrono::milliseconds::max()));
		submit(); /* and forgotten */
		auto access = resident.memory.find(resident.task.addresses[2].memory)
				      ->access(CpuAccess::Read, 10000ms);
		EXPECT_TRUE(access);
	}
}

TEST(EmbeddedDevice, ThreadThatWorksOnAJobIsNotHeldByIt)
{
	const Device device = test::openEmbedded();
	const ResidentTask slow = reside(device, *examples::edgeNetwork({ 256, 256 }));
	const std::vector<JobTask> tasks(device.info().maxTasks, slow.job());

	auto job = device.submit(tasks, { .timeout = 1ms, .waits = true });
	ASSERT_TRUE(job);
	auto failed = job->wait(std::chrono::milliseconds::max());
	ASSERT_FALSE(failed);
	EXPECT_EQ(failed.error().code, ErrorCode::Timeout);
}

TEST(EmbeddedDevice, GoesAwayWithJobsInTheQueue)
{
	const Device device = test::openEmbedded();
	const ResidentTask slow = reside(device, *examples::edgeNetwork({ 224, 224 }));
	const std::vector<JobTask> tasks(device.info().maxTasks, slow.job());

	for (int i = 0; i < 3; i++)
		EXPECT_TRUE(device.submit(tasks));
	/* The end of this scope must neither hang nor wait for all of it. */
}

} /* namespace nvdla */
