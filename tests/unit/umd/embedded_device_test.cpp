/* SPDX-License-Identifier: MIT */
/*
 * What the embedded device does with contexts, results, on-chip memory and fences.
 */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/eventfd.h>

#include <drm/nvdla_accel.h>
#include <gtest/gtest.h>
#include <nvdla/device.h>

#include "edge_network.h"
#include "base/io/unique_fd.h"
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

constexpr auto patience = 60000ms;

struct Results {
	drm_nvdla_job_result job = {};
	std::vector<drm_nvdla_operation_result> operations;
};

Results readResults(Buffer &buffer)
{
	Results results;
	auto access = buffer.access(CpuAccess::Read, patience);
	EXPECT_TRUE(access);
	const std::byte *from = access->bytes().data();

	std::memcpy(&results.job, from, sizeof(results.job));
	EXPECT_EQ(results.job.header_size, sizeof(results.job));
	EXPECT_EQ(results.job.operation_size, sizeof(drm_nvdla_operation_result));
	results.operations.resize(results.job.num_operations);
	std::memcpy(results.operations.data(), from + results.job.header_size,
		    results.operations.size() * results.job.operation_size);
	return results;
}

/* A job with a place for its results. */
struct Watched {
	Buffer buffer;
	Job job;

	Results results()
	{
		EXPECT_TRUE(job.wait(patience));
		return readResults(buffer);
	}
};

Watched submit(const Device &device, const JobTask &task, SubmitOptions options = {},
	       size_t repeat = 1)
{
	const std::vector<JobTask> tasks(repeat, task);
	auto buffer = device.allocate(Device::resultBytes(repeat * task.graph.size()));
	EXPECT_TRUE(buffer);
	options.results = buffer->handle();
	auto job = device.submit(tasks, options);
	EXPECT_TRUE(job) << job.error().message();
	return { std::move(*buffer), std::move(*job) };
}

} /* namespace */

TEST(EmbeddedResults, SayWhenOperationsRan)
{
	const Device device = test::openEmbedded();
	ASSERT_TRUE(device.has(Feature::Results));
	const ResidentTask edges = reside(device, *examples::edgeNetwork({ 16, 16 }));
	const Results results = submit(device, edges.job(), { .restartable = true }).results();

	EXPECT_EQ(results.job.status, 0);
	EXPECT_EQ(results.job.num_operations, edges.task.graph.size());
	EXPECT_EQ(results.job.num_completed, edges.task.graph.size());
	EXPECT_EQ(results.job.failed_task, ~0u);
	EXPECT_EQ(results.job.failed_operation, ~0u);
	EXPECT_EQ(results.job.num_runs, 1u);
	EXPECT_LE(results.job.submit_ns, results.job.start_ns);
	EXPECT_LE(results.job.start_ns, results.job.end_ns);
	for (size_t i = 0; i < results.operations.size(); i++) {
		const drm_nvdla_operation_result &one = results.operations[i];
		EXPECT_EQ(one.op_type, edges.task.graph[i].op_type);
		EXPECT_EQ(one.flags & ~DRM_NVDLA_OPERATION_COUNTED,
			  DRM_NVDLA_OPERATION_STARTED | DRM_NVDLA_OPERATION_COMPLETED);
		EXPECT_LE(results.job.start_ns, one.start_ns);
		EXPECT_LE(one.start_ns, one.end_ns);
		EXPECT_LE(one.end_ns, results.job.end_ns);
	}
}

TEST(EmbeddedResults, CountOnRequest)
{
	const Device device = test::openEmbedded();
	ASSERT_TRUE(device.has(Feature::Statistics));
	const ResidentTask edges = reside(device, *examples::edgeNetwork({ 64, 64 }));
	const Results plain = submit(device, edges.job()).results();
	const Results counted = submit(device, edges.job(), { .statistics = true }).results();

	uint64_t stalls = 0;
	for (const auto &one : plain.operations)
		EXPECT_FALSE(one.flags & DRM_NVDLA_OPERATION_COUNTED);
	for (const auto &one : counted.operations) {
		EXPECT_TRUE(one.flags & DRM_NVDLA_OPERATION_COUNTED);
		stalls += one.read_stall + one.write_stall + one.read_latency;
	}
	EXPECT_GT(stalls, 0u);

	const JobTask task = edges.job();
	EXPECT_FALSE(device.submit({ &task, 1 }, { .statistics = true }));
}

/* 64 tasks in ten milliseconds: the first ones may well complete, the last cannot. */
TEST(EmbeddedResults, NameTheOperationThatHung)
{
	const Device device = test::openEmbedded();
	const ResidentTask slow = reside(device, *examples::edgeNetwork({ 256, 256 }));
	const std::vector<JobTask> tasks(device.info().maxTasks, slow.job());
	const auto operations = static_cast<uint32_t>(slow.task.graph.size());
	auto buffer = device.allocate(Device::resultBytes(tasks.size() * operations));
	ASSERT_TRUE(buffer);
	auto job = device.submit(tasks, { .timeout = 1ms, .results = buffer->handle() });
	ASSERT_TRUE(job) << job.error().message();
	ASSERT_FALSE(job->wait(patience));

	const Results results = readResults(*buffer);
	EXPECT_EQ(results.job.status, -ETIMEDOUT);
	EXPECT_LT(results.job.num_completed, results.job.num_operations);
	ASSERT_LT(results.job.failed_task, tasks.size());
	ASSERT_LT(results.job.failed_operation, operations);
	const auto &failed = results.operations[results.job.failed_task * operations +
						results.job.failed_operation];
	EXPECT_TRUE(failed.flags & DRM_NVDLA_OPERATION_STARTED);
	EXPECT_FALSE(failed.flags & DRM_NVDLA_OPERATION_COMPLETED);
}

TEST(EmbeddedResults, NeedRoomInMemoryOfTheCpu)
{
	const Device device = test::openEmbedded();
	const ResidentTask copy = reside(device, copyOf64());
	const JobTask task = copy.job();
	auto small = device.allocate(4096);
	auto onChip = device.allocateOnChip(4096);
	ASSERT_TRUE(small && onChip);
	const std::vector<JobTask> many(64, task);

	EXPECT_FALSE(device.submit(many, { .results = small->handle() }));
	EXPECT_FALSE(device.submit({ &task, 1 }, { .results = onChip->handle() }));
	EXPECT_FALSE(device.submit({ &task, 1 }, { .results = 12345 }));
	EXPECT_TRUE(device.submit({ &task, 1 }, { .results = small->handle() }));
}

TEST(EmbeddedContexts, HighPriorityGoesFirstAndOrderIsKept)
{
	const Device device = test::openEmbedded();
	ASSERT_EQ(device.info().priorities, 7u);
	const ResidentTask slow = reside(device, *examples::edgeNetwork({ 224, 224 }));
	const ResidentTask copies[] = { reside(device, copyOf64()), reside(device, copyOf64()),
					reside(device, copyOf64()), reside(device, copyOf64()) };
	auto low = device.createContext(Priority::Low);
	auto high = device.createContext(Priority::High);
	ASSERT_TRUE(low && high);

	/*
	 * While this one runs, and that is 2 * 10^8 multiplications, the others queue up. It
	 * may take as long as it takes: this is about order.
	 */
	auto first =
		submit(device, slow.job(), { .timeout = patience }, device.info().maxTasks / 4);
	auto lowJob = submit(device, copies[0].job(), { .context = low->id() });
	auto normalJob = submit(device, copies[1].job());
	auto highJob = submit(device, copies[2].job(), { .context = high->id() });
	auto nextHighJob = submit(device, copies[3].job(), { .context = high->id() });

	EXPECT_TRUE(first.job.wait(patience));
	const uint64_t order[] = { highJob.results().job.start_ns,
				   nextHighJob.results().job.start_ns,
				   normalJob.results().job.start_ns,
				   lowJob.results().job.start_ns };
	EXPECT_TRUE(std::is_sorted(std::begin(order), std::end(order)));
}

/* Priority does not overtake the job whose output is read. */
TEST(EmbeddedContexts, JobsWaitForTheWritersOfTheirBuffers)
{
	const Device device = test::openEmbedded();
	const ResidentTask slow = reside(device, *examples::edgeNetwork({ 224, 224 }));
	const ResidentTask first = reside(device, copyOf64());
	ResidentTask second = reside(device, copyOf64());
	auto low = device.createContext(Priority::Low);
	auto high = device.createContext(Priority::High);
	ASSERT_TRUE(low && high);
	second.addresses[1] = first.addresses[2];

	auto busy = submit(device, slow.job());
	auto writer = submit(device, first.job(), { .context = low->id() });
	auto reader = submit(device, second.job(), { .context = high->id() });
	EXPECT_GE(reader.results().job.start_ns, writer.results().job.end_ns);
	auto access = second.memory.find(second.task.addresses[2].memory)
			      ->access(CpuAccess::Read, patience);
	ASSERT_TRUE(access);
	EXPECT_EQ(access->bytes()[63], std::byte{ 0x42 });
}

TEST(EmbeddedContexts, JobsOfADestroyedOneRunToTheirEnd)
{
	const Device device = test::openEmbedded();
	const ResidentTask copy = reside(device, copyOf64());
	const JobTask task = copy.job();
	auto context = device.createContext(Priority::Low);
	ASSERT_TRUE(context);
	const uint32_t id = context->id();
	auto job = device.submit({ &task, 1 }, { .context = id });
	ASSERT_TRUE(job);
	{
		const Context gone = std::move(*context);
	}
	EXPECT_TRUE(job->wait(patience));
	EXPECT_FALSE(device.submit({ &task, 1 }, { .context = id }));
}

TEST(EmbeddedContexts, ThereIsALimit)
{
	const Device device = test::openEmbedded();
	std::vector<Context> contexts;

	for (uint32_t i = 0; i < device.info().maxContexts; i++) {
		auto context = device.createContext(Priority::Normal);
		ASSERT_TRUE(context) << i;
		contexts.push_back(std::move(*context));
	}
	EXPECT_FALSE(device.createContext(Priority::Normal));
	contexts.pop_back();
	EXPECT_TRUE(device.createContext(Priority::Normal));
	EXPECT_FALSE(device.createContext(static_cast<Priority>(3)));
}

TEST(EmbeddedOnChipMemory, EnginesReachItAndTheCpuDoesNot)
{
	const Device device = test::openEmbedded();
	auto sram = device.allocateOnChip(64);
	ASSERT_TRUE(sram) << sram.error().message();
	EXPECT_FALSE(sram->access(CpuAccess::Read, 0ms));

	ResidentTask in = reside(device, copyOf64());
	in.task.surfaces[0].bdma.dst_type = NVDLA_MEM_CV;
	in.addresses[2] = { sram->handle(), 0, 64 };
	ResidentTask out = reside(device, copyOf64());
	out.task.surfaces[0].bdma.src_type = NVDLA_MEM_CV;
	out.addresses[1] = { sram->handle(), 0, 64 };
	const JobTask inTask = in.job();
	const JobTask outTask = out.job();
	Buffer *result = out.memory.find(out.task.addresses[2].memory);

	/* It begins zeroed. */
	auto before = device.submit({ &outTask, 1 });
	ASSERT_TRUE(before) << before.error().message();
	ASSERT_TRUE(before->wait(patience));
	EXPECT_EQ(result->access(CpuAccess::Read, patience)->bytes()[63], std::byte{ 0 });

	auto write = device.submit({ &inTask, 1 });
	ASSERT_TRUE(write) << write.error().message();
	auto read = device.submit({ &outTask, 1 });
	ASSERT_TRUE(read);
	EXPECT_TRUE(read->wait(patience));
	EXPECT_EQ(result->access(CpuAccess::Read, patience)->bytes()[63], std::byte{ 0x42 });
}

TEST(EmbeddedOnChipMemory, IsHandedOutUntilItIsUsedUp)
{
	const Device device = test::openEmbedded();
	const uint64_t half = device.info().onChipBytes / 2;
	ASSERT_GT(half, 0u);
	EXPECT_EQ(device.info().maxOnChipBytes, device.info().onChipBytes);
	auto first = device.allocateOnChip(half);
	ASSERT_TRUE(first);
	{
		auto second = device.allocateOnChip(half);
		ASSERT_TRUE(second);
		auto third = device.allocateOnChip(1);
		ASSERT_FALSE(third);
		EXPECT_EQ(third.error().code, ErrorCode::NoMemory);
	}
	EXPECT_TRUE(device.allocateOnChip(half));
}

TEST(EmbeddedFences, EventfdsHearOfTheEndOnce)
{
	const Device device = test::openEmbedded();
	const ResidentTask copy = reside(device, copyOf64());
	const JobTask task = copy.job();
	const UniqueFd before(eventfd(0, EFD_CLOEXEC));
	const UniqueFd after(eventfd(0, EFD_CLOEXEC));
	auto job = device.createJob();
	ASSERT_TRUE(job && before && after);

	/* As in the kernel, the fence may come later. */
	ASSERT_TRUE(job->notify(before.get()));
	for (int round = 0; round < 3; round++) {
		ASSERT_TRUE(device.submit({ &task, 1 }, {}, *job));
		if (round) {
			ASSERT_TRUE(job->notify(before.get()));
		}
		eventfd_t count = 0;
		ASSERT_EQ(eventfd_read(before.get(), &count), 0);
		EXPECT_EQ(count, 1u);
		EXPECT_TRUE(job->status());
	}
	ASSERT_TRUE(job->notify(after.get()));
	eventfd_t count = 0;
	ASSERT_EQ(eventfd_read(after.get(), &count), 0);
	EXPECT_EQ(count, 1u);
	EXPECT_FALSE(job->notify(-1));
}

} /* namespace nvdla */
