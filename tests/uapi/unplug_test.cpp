/* SPDX-License-Identifier: MIT */
/* The device goes while files, buffers and mappings of it are in use, and comes back. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/dma-buf.h>
#include <nvdla/hw/pci.h>
#include <nvdla/hw/registers.h>
#include <unistd.h>
#include <xf86drm.h>

#include "driver_files.h"
#include "eventually.h"
#include "imported_buffer.h"
#include "pci_function.h"
#include "slow_page.h"
#include "trace.h"

namespace nvdla::test
{

namespace
{

class UnplugTest : public testing::Test
{
protected:
	void SetUp() override
	{
		if (PciFunction::bound().empty())
			GTEST_SKIP() << "the driver is not bound to a PCI function";
	}

	void TearDown() override { EXPECT_TRUE(restoreNode(Device::path())); }
};

} /* namespace */

TEST_F(UnplugTest, MappingsOutliveTheDevice)
{
	Device device;
	ASSERT_TRUE(device.valid());
	Buffer touched(device, 65536), untouched(device, 65536);
	ASSERT_TRUE(touched.valid() && untouched.valid());
	std::memset(touched.bytes().data(), 0x5a, touched.bytes().size());

	Unbound unbound;
	ASSERT_TRUE(unbound.done());
	EXPECT_EQ(std::count(touched.bytes().begin(), touched.bytes().end(), 0x5a), 65536);
	EXPECT_EQ(std::count(untouched.bytes().begin(), untouched.bytes().end(), 0), 65536);
	std::memset(untouched.bytes().data(), 0xa5, untouched.bytes().size());
	EXPECT_EQ(touched.prepare(DRM_NVDLA_BO_READ), -ENODEV);
	drm_nvdla_bo_create create = { .size = 4096, .flags = 0, .handle = 0 };
	EXPECT_EQ(device.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create), -ENODEV);

	ASSERT_TRUE(unbound.bind());
	Device again(presentNode());
	ASSERT_TRUE(again.valid());
	Buffer buffer(again, 65536);
	ASSERT_TRUE(buffer.valid());
	std::memset(buffer.bytes().data(), 0x5a, buffer.bytes().size());
	/* The old file still means the device that is gone. */
	EXPECT_EQ(touched.prepare(DRM_NVDLA_BO_READ), -ENODEV);
}

TEST_F(UnplugTest, ExportedMemoryStaysWithItsUsers)
{
	constexpr uint32_t bytes = 1 << 20;
	const VirtualGem other;
	ASSERT_TRUE(other.valid());
	Device device;
	ASSERT_TRUE(device.valid());
	Buffer buffer(device, bytes);
	ASSERT_TRUE(buffer.valid());
	std::memset(buffer.bytes().data(), 0x5a, bytes);
	const DmaBuf shared = DmaBuf::exportOf(device.fd(), buffer.handle());
	uint32_t theirs = 0;
	ASSERT_EQ(shared.importTo(other.fd(), theirs), 0);
	const Mapping before(shared.fd(), bytes);
	ASSERT_TRUE(before.valid());
	std::memset(before.bytes().data(), 0x5a, bytes / 2);

	Unbound unbound;
	ASSERT_TRUE(unbound.done());
	const Mapping after(shared.fd(), bytes);
	ASSERT_TRUE(after.valid());
	/* Much that could be given the memory if it was free */
	const std::vector<uint8_t> pressure(64 << 20, 0xff);
	for (const Mapping *map : { &before, &after })
		EXPECT_EQ(std::count(map->bytes().begin(), map->bytes().end(), 0x5a), bytes);
	EXPECT_EQ(shared.sync(DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW), 0);
	EXPECT_EQ(shared.sync(DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW), 0);

	/* The device that comes back is another one, to which it is foreign memory. */
	ASSERT_TRUE(unbound.bind());
	Device again(presentNode());
	ASSERT_TRUE(again.valid());
	const ImportedBuffer imported(again, shared);
	if (hasIommu(Device::path()) || imported.result() != -EINVAL) {
		ASSERT_EQ(imported.result(), 0);
		Buffer copy(again, bytes);
		ASSERT_TRUE(copy.valid());
		CopyTask task;
		task.addAddress(imported.handle());
		task.addAddress(copy.handle());
		task.addCopy(0, 1, 4096, bytes / 4096);
		ASSERT_EQ(Submit(task).run(again), 0);
		ASSERT_EQ(copy.prepare(DRM_NVDLA_BO_READ), 0);
		EXPECT_EQ(std::count(copy.bytes().begin(), copy.bytes().end(), 0x5a), bytes);
	}
	other.close(theirs);
}

TEST_F(UnplugTest, ImportedMemoryIsLetGo)
{
	if (!hasUserMemory())
		GTEST_SKIP() << "this kernel has no udmabuf";
	const DmaBuf foreign = userMemory(4096);
	ASSERT_TRUE(foreign.valid());
	Device device;
	ASSERT_TRUE(device.valid());
	const ImportedBuffer imported(device, foreign);
	ASSERT_EQ(imported.result(), 0);
	const Mapping map(device.fd(), 4096, static_cast<uint64_t>(imported.mmapOffset()));
	ASSERT_TRUE(map.valid());

	Unbound unbound;
	ASSERT_TRUE(unbound.done());
	map.bytes()[0] = 0x5a;
	EXPECT_EQ(imported.prepare(DRM_NVDLA_BO_READ), -ENODEV);
	const Mapping direct(foreign.fd(), 4096);
	ASSERT_TRUE(direct.valid());
	EXPECT_EQ(direct.bytes()[0], 0x5a);
	ASSERT_TRUE(unbound.bind());
}

TEST_F(UnplugTest, JobsInFlightEnd)
{
	Device device;
	ASSERT_TRUE(device.valid());
	Buffer source(device, 1 << 20), destination(device, 1 << 20);
	ASSERT_TRUE(source.valid() && destination.valid());
	CopyTask task;
	task.addAddress(source.handle());
	task.addAddress(destination.handle());
	task.addCopy(0, 1, 1024, 1024);
	const uint32_t syncobj = device.createSyncobj();
	ASSERT_NE(syncobj, 0u);
	for (int i = 0; i < 20; i++) {
		Submit submit(task);
		submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
		ASSERT_EQ(submit.run(device), 0);
	}

	Unbound unbound;
	ASSERT_TRUE(unbound.done());
	Submit late(task);
	EXPECT_EQ(late.run(device), -ENODEV);
	ASSERT_TRUE(unbound.bind());
}

/* An unplug of one device waits for what others do with theirs, too: for all DRM devices. */
TEST_F(UnplugTest, DoesNotWaitForUserMemory)
{
	Device device;
	ASSERT_TRUE(device.valid());
	Buffer source(device, 4096), destination(device, 4096);
	ASSERT_TRUE(source.valid() && destination.valid());
	CopyTask task;
	task.addAddress(source.handle());
	task.addAddress(destination.handle());
	task.addCopy(0, 1, 1024, 4);
	const SlowPage tasks, addresses, graph, syncs, answer;
	for (const SlowPage *page : { &tasks, &addresses, &graph, &syncs, &answer })
		ASSERT_TRUE(page->valid());

	std::vector<Submit> submits(4, Submit(task));
	submits[1].tasks[0].addresses = addresses.address();
	submits[2].tasks[0].graph = graph.address();
	std::vector<drm_nvdla_submit> args;
	for (Submit &submit : submits) {
		args.push_back({});
		args.back().tasks = reinterpret_cast<uintptr_t>(submit.tasks.data());
		args.back().num_tasks = 1;
		args.back().task_size = sizeof(drm_nvdla_task);
		args.back().sync_size = sizeof(drm_nvdla_sync);
	}
	args[0].tasks = tasks.address();
	args[3].in_syncs = syncs.address();
	args[3].num_in_syncs = 1;

	std::vector<int> status(args.size() + 1, 1);
	std::vector<std::thread> callers;
	for (size_t i = 0; i < args.size(); i++) {
		callers.emplace_back(
			[&, i] { status[i] = device.ioctl(DRM_IOCTL_NVDLA_SUBMIT, &args[i]); });
	}
	callers.emplace_back([&] {
		drm_nvdla_dev_query query = { .type = DRM_NVDLA_QUERY_DEVICE,
					      .size = sizeof(drm_nvdla_device_info),
					      .pointer = answer.address() };
		status.back() = device.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query);
	});
	for (const SlowPage *page : { &tasks, &addresses, &graph, &syncs, &answer })
		EXPECT_TRUE(page->waitForAccess());

	Unbound unbound;
	EXPECT_TRUE(unbound.done());
	for (const SlowPage *page : { &tasks, &addresses, &graph, &syncs, &answer })
		EXPECT_TRUE(page->arrive());
	for (std::thread &caller : callers)
		caller.join();
	/* The zeroes are refused, or the job has come too late; the question had its answer. */
	for (size_t i = 0; i < args.size(); i++)
		EXPECT_LT(status[i], 0) << i;
	EXPECT_EQ(status.back(), 0);
	ASSERT_TRUE(unbound.bind());
}

TEST_F(UnplugTest, FencesOfAllContextsEnd)
{
	Device device;
	ASSERT_TRUE(device.valid());
	Buffer source(device, 65536), destination(device, 65536);
	JobResult result(device, 1 << 20);
	ASSERT_TRUE(source.valid() && destination.valid() && result.valid());
	CopyTask task;
	task.addLines(source, destination, 64);

	/* Fences in hand: the syncobjs are as gone as the rest of the device's ioctls. */
	const uint32_t timeline = device.createSyncobj();
	std::vector<int> fences;
	std::vector<uint32_t> contexts = { 0 };
	for (const drm_nvdla_priority priority :
	     { DRM_NVDLA_PRIORITY_LOW, DRM_NVDLA_PRIORITY_NORMAL, DRM_NVDLA_PRIORITY_HIGH }) {
		const int context = device.createContext(priority);
		ASSERT_GT(context, 0);
		contexts.push_back(static_cast<uint32_t>(context));
	}
	uint64_t point = 0;
	for (const uint32_t context : contexts) {
		for (int i = 0; i < 5; i++) {
			const uint32_t binary = device.createSyncobj();
			Submit submit(task);
			submit.context = context;
			submit.flags = DRM_NVDLA_SUBMIT_RESTARTABLE | DRM_NVDLA_SUBMIT_STATISTICS;
			submit.resultHandle = result.buffer().handle();
			submit.timeoutMs = 60'000;
			submit.outSyncs.push_back({ .handle = binary, .reserved = 0, .point = 0 });
			submit.outSyncs.push_back(
				{ .handle = timeline, .reserved = 0, .point = ++point });
			ASSERT_EQ(submit.run(device), 0);
			int fence = -1;
			ASSERT_EQ(drmSyncobjExportSyncFile(device.fd(), binary, &fence), 0);
			fences.push_back(fence);
		}
	}
	ASSERT_EQ(device.destroyContext(contexts.back()), 0);
	int waited = -1;
	std::thread waiter([&] { waited = device.waitSyncobj(timeline, point); });

	Unbound unbound;
	EXPECT_TRUE(unbound.done());
	waiter.join();
	/* It may have come too late to be let in. */
	EXPECT_TRUE(waited == 0 || waited == -ENODEV) << waited;
	EXPECT_EQ(device.createContext(DRM_NVDLA_PRIORITY_LOW), -ENODEV);
	EXPECT_EQ(device.destroyContext(contexts[1]), -ENODEV);
	unsigned int gone = 0;
	for (const int fence : fences) {
		const int status = syncFileStatus(fence);
		EXPECT_TRUE(status == 1 || status == -ENODEV) << status;
		gone += status == -ENODEV;
		close(fence);
	}
	EXPECT_GT(gone, 0u) << "no job was left when the device went";
	/* All jobs write to the same place: this is from the last one. */
	EXPECT_EQ(result.job().status, -ENODEV);
	EXPECT_EQ(result.job().num_operations, task.graph.size());
	ASSERT_TRUE(unbound.bind());
}

/* What holds a fence may ask for its names at any time: they are not in the device. */
TEST_F(UnplugTest, FencesOutliveTheDevice)
{
	int fence = -1;
	{
		Device device;
		ASSERT_TRUE(device.valid());
		Buffer source(device, 65536), destination(device, 65536);
		ASSERT_TRUE(source.valid() && destination.valid());
		CopyTask task;
		task.addLines(source, destination, 64);
		const uint32_t syncobj = device.createSyncobj();
		Submit submit(task);
		submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
		ASSERT_EQ(submit.run(device), 0);
		ASSERT_EQ(drmSyncobjExportSyncFile(device.fd(), syncobj, &fence), 0);
		ASSERT_EQ(device.waitSyncobj(syncobj), 0);
	}
	Unbound unbound;
	ASSERT_TRUE(unbound.done());
	const std::string names = syncFileNames(fence);
	/* Where a signalled fence parts from its driver, all have the same names. */
	EXPECT_TRUE(names == "nvdla nvdla-context" || names == "detached-driver signaled-timeline")
		<< names;
	close(fence);
	ASSERT_TRUE(unbound.bind());
}

/*
 * Nothing of a job that waits behind another one is left on the core for whoever comes next, if
 * the device goes before its turn comes: BDMA would run its copies with the next one's.
 */
TEST_F(UnplugTest, LeavesNothingOnTheCore)
{
	constexpr uint32_t bytes = 65536, lineBytes = 1024;
	const PciFunction function;
	const Trace trace;
	ASSERT_TRUE(trace.valid());
	Device first, second;
	Buffer from(first, bytes), to(first, bytes), source(second, bytes),
		destination(second, bytes);
	ASSERT_TRUE(from.valid() && to.valid() && source.valid() && destination.valid());
	const auto copy = [](const Buffer &input, const Buffer &output, uint32_t size) {
		CopyTask task;
		task.addAddress(input.handle());
		task.addAddress(output.handle());
		task.addCopy(0, 1, lineBytes, size / lineBytes);
		return task;
	};
	const auto programmed = [&] {
		return std::ranges::count(trace.events(), "nvdla_op_program",
					  &std::pair<std::string, std::string>::first);
	};

	/* Its interrupt is lost: it seems to run until there is another one. */
	const CopyTask stuck = copy(from, to, bytes), behind = copy(source, destination, bytes);
	ASSERT_TRUE(function.order(NVDLA_PCI_FAULT_LOST));
	Submit submit(stuck);
	submit.timeoutMs = 60'000;
	ASSERT_EQ(submit.run(first), 0);
	std::ranges::fill(source.bytes(), uint8_t{ 0x5a });
	Submit next(behind);
	const uint32_t syncobj = second.createSyncobj();
	next.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
	ASSERT_EQ(next.run(second), 0);
	int fence = -1;
	ASSERT_EQ(drmSyncobjExportSyncFile(second.fd(), syncobj, &fence), 0);
	ASSERT_TRUE(eventually([&] { return programmed() == 1; }));
	/* An interrupt that comes before the copy's end would tell of nothing. */
	ASSERT_TRUE(eventually([] {
		const std::string registers = readFile(debugFolder() / "registers");
		const std::string status = fmt::format("0x{:05x} = ", NVDLA_GLB_S_INTR_STATUS);
		return registers.find(status) != std::string::npos &&
		       registers.find(status + "0x00000000") == std::string::npos;
	}));

	/* The device is on its way out for as long as one of its files is being written to. */
	const SlowPage page;
	ASSERT_TRUE(page.valid());
	const int file =
		open((debugFolder() / "inject/lose_interrupt").c_str(), O_WRONLY | O_CLOEXEC);
	ASSERT_GE(file, 0);
	std::thread writer([&] {
		EXPECT_LT(write(file, reinterpret_cast<const void *>(page.address()), 1), 0);
	});
	EXPECT_TRUE(page.waitForAccess());
	std::thread unbinder([&] { EXPECT_TRUE(function.unbind()); });
	EXPECT_TRUE(eventually([&] { return to.prepare(DRM_NVDLA_BO_READ, 0) == -ENODEV; }));
	EXPECT_TRUE(function.order(NVDLA_PCI_FAULT_SPURIOUS));
	EXPECT_TRUE(eventually([&] { return syncFileStatus(fence) != 0; }));
	EXPECT_TRUE(page.arrive());
	writer.join();
	unbinder.join();
	close(file);
	const int status = syncFileStatus(fence);
	close(fence);
	EXPECT_EQ(std::ranges::count(destination.bytes(), 0x5a), status == 1 ? bytes : 0);

	std::ranges::fill(destination.bytes(), uint8_t{ 0 });
	ASSERT_TRUE(function.bind());
	EXPECT_TRUE(function.stayAwake(true)) << "asleep it would forget what it was told";
	{
		Device again(presentNode());
		Buffer input(again, bytes), output(again, bytes);
		ASSERT_TRUE(input.valid() && output.valid());
		std::ranges::fill(input.bytes(), uint8_t{ 0xa5 });
		const CopyTask half = copy(input, output, bytes / 2);
		EXPECT_EQ(Submit(half).runToTheEnd(again), 0);
		EXPECT_EQ(std::ranges::count(output.bytes(), 0xa5), bytes / 2);
		EXPECT_EQ(std::ranges::count(destination.bytes(), 0), bytes);
	}
	function.stayAwake(false);
}

} /* namespace nvdla::test */
