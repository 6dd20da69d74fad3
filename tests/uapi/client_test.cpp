/* SPDX-License-Identifier: MIT */
/* What one client may take from the others, and what it is told about resets. */
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <iostream>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "driver_files.h"
#include "pci_function.h"

namespace nvdla::test
{

namespace
{

/* In ms: more than anybody may have, and more than there is. */
constexpr uint32_t longTimeout = 60'000;
constexpr uint32_t endlessTimeout = 3'600'000;

template<typename Answer>
Answer query(const Device &device, drm_nvdla_query_type type)
{
	Answer answer = {};
	drm_nvdla_dev_query args = { .type = static_cast<uint32_t>(type),
				     .size = sizeof(answer),
				     .pointer = reinterpret_cast<uintptr_t>(&answer) };
	EXPECT_EQ(device.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &args), 0);
	EXPECT_EQ(args.size, sizeof(answer));
	return answer;
}

drm_nvdla_client_info clientInfo(const Device &device)
{
	return query<drm_nvdla_client_info>(device, DRM_NVDLA_QUERY_CLIENT);
}

/* A file with a copy that takes as many operations as it has lines. */
class Client
{
public:
	explicit Client(uint32_t lines)
		: source_(device, lines * 64), destination_(device, lines * 64)
	{
		if (valid())
			std::fill(source_.bytes().begin(), source_.bytes().end(), uint8_t{ 1 });
		task_.addLines(source_, destination_, 64);
	}

	bool valid() const { return source_.valid() && destination_.valid(); }

	Submit submit(uint32_t timeoutMs = 0, uint32_t tasks = 1) const
	{
		Submit submit;
		submit.tasks.assign(tasks, task_.task());
		submit.timeoutMs = timeoutMs;
		return submit;
	}

	/* A job that has no chance to end in time. \return its syncobj, 0 if it was refused */
	uint32_t fail() const
	{
		const uint32_t syncobj = device.createSyncobj();
		Submit late = submit(1, 8);
		late.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
		return late.run(device) ? 0 : syncobj;
	}

	int run(uint32_t timeoutMs = 0) const
	{
		const int ret = submit(timeoutMs).run(device);
		return ret ? ret : destination_.prepare(DRM_NVDLA_BO_READ);
	}

	/* Waits until the first bytes of a job have arrived. */
	bool started() const
	{
		const auto *first = static_cast<volatile uint8_t *>(destination_.bytes().data());
		const uint64_t end = now() + 60'000'000'000;
		while (!*first) {
			if (now() > end)
				return false;
		}
		return true;
	}

	/* \return the fence's error, or 1 */
	int wait(uint32_t syncobj) const
	{
		const int ret = device.waitSyncobj(syncobj);
		return ret ? ret : device.fenceStatus(syncobj);
	}

	Device device;

private:
	Buffer source_;
	Buffer destination_;
	CopyTask task_;
};

/* Has a process without privileges do it, with the same files. \return whether it returned true */
bool asNobody(const std::function<bool()> &action)
{
	const pid_t child = fork();
	if (child == 0)
		_exit(setuid(65534) == 0 && action() ? 0 : 1);
	int status = -1;
	return waitpid(child, &status, 0) == child && status == 0;
}

} /* namespace */

TEST(ClientTest, BeginsWithNothing)
{
	const Device device;
	ASSERT_TRUE(device.valid());
	const drm_nvdla_client_info info = clientInfo(device);
	EXPECT_EQ(info.guilty_jobs, 0u);
	EXPECT_EQ(info.innocent_jobs, 0u);
}

TEST(ClientTest, IsToldWhoseJobFailed)
{
	const Client guilty(1024), other(16);
	ASSERT_TRUE(guilty.valid() && other.valid());
	const uint64_t losses = clientInfo(other.device).sram_losses;
	const uint32_t late = guilty.fail();
	ASSERT_EQ(other.run(), 0);
	ASSERT_EQ(guilty.wait(late), -ETIMEDOUT);
	EXPECT_EQ(clientInfo(guilty.device).guilty_jobs, 1u);
	EXPECT_EQ(clientInfo(guilty.device).innocent_jobs, 0u);
	EXPECT_EQ(clientInfo(other.device).guilty_jobs, 0u);
	EXPECT_EQ(clientInfo(other.device).innocent_jobs, 0u);
	EXPECT_EQ(clientInfo(other.device).sram_losses, losses + 1);
}

TEST(ClientTest, IsToldOfResetsByOthers)
{
	const PciFunction function;
	if (!function.valid())
		GTEST_SKIP() << "the driver is not bound to a PCI function";
	const Client client(1024);
	ASSERT_TRUE(client.valid());
	const uint64_t losses = clientInfo(client.device).sram_losses;
	Submit job = client.submit(longTimeout, 4);
	job.flags = DRM_NVDLA_SUBMIT_RESTARTABLE;
	const uint32_t fence = client.device.createSyncobj();
	job.outSyncs.push_back({ .handle = fence, .reserved = 0, .point = 0 });
	ASSERT_EQ(job.run(client.device), 0);
	ASSERT_TRUE(client.started());
	ASSERT_TRUE(function.reset());
	EXPECT_EQ(client.wait(fence), 1);
	EXPECT_EQ(clientInfo(client.device).guilty_jobs, 0u);
	EXPECT_EQ(clientInfo(client.device).innocent_jobs, 1u);
	EXPECT_EQ(clientInfo(client.device).sram_losses, losses + 1);
}

/* Nor do others suffer from that, but for the time. */
TEST(ClientTest, RunsAfterItsJobsHaveFailed)
{
	constexpr unsigned int failures = 9;
	const Client bad(1024), good(16);
	ASSERT_TRUE(bad.valid() && good.valid());
	for (unsigned int i = 0; i < failures; i++) {
		ASSERT_EQ(bad.wait(bad.fail()), -ETIMEDOUT);
		if (i % 4 == 0) {
			EXPECT_EQ(good.run(), 0);
		}
	}
	EXPECT_EQ(clientInfo(bad.device).guilty_jobs, failures);
	EXPECT_EQ(clientInfo(good.device).guilty_jobs, 0u);
	EXPECT_EQ(bad.run(), 0);
	EXPECT_EQ(good.run(), 0);
}

/* One job hangs, and as many as may wait for it. Nobody else has to. */
TEST(ClientTest, HasSoManyJobsAndNotMore)
{
	const auto fault = debugFolder() / "inject/lose_interrupt";
	if (!std::filesystem::exists(fault))
		GTEST_SKIP() << "the driver was built without faults to order";
	const Client client(1), other(1);
	ASSERT_TRUE(client.valid() && other.valid());
	/* The core is the client's now, and nothing goes before its next job that could hang. */
	ASSERT_EQ(client.run(), 0);
	const Setting lost(fault, "1");
	ASSERT_TRUE(lost.done());
	const uint32_t most = client.device.info().max_jobs;
	ASSERT_GT(most, 0u);
	/* A slow machine takes minutes to submit all of them. */
	const uint32_t timeout = client.device.info().max_timeout_ms;
	uint32_t submitted = 1;
	int ret = client.submit(timeout).run(client.device);
	ASSERT_EQ(ret, 0);
	while (readFile(fault) != "0\n")
		usleep(1000);
	while (submitted <= most && (ret = client.submit(timeout).run(client.device)) == 0)
		submitted++;
	EXPECT_EQ(submitted, most);
	EXPECT_EQ(ret, -EBUSY);
	drm_nvdla_bo_create onChip = { .size = 4096, .flags = DRM_NVDLA_BO_SRAM, .handle = 0 };
	if (client.device.info().cvsram_bytes) {
		EXPECT_EQ(client.device.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &onChip), -EBUSY);
	}
	EXPECT_EQ(other.submit().run(other.device), 0);

	/* There is room again as soon as one has ended. */
	ASSERT_EQ(writeFile(debugFolder() / "reset", "1"), 0);
	while ((ret = client.run()) == -EBUSY)
		usleep(1000);
	EXPECT_EQ(ret, 0);
	EXPECT_EQ(other.run(), 0);
}

TEST(ClientTest, LongTimeoutsAreForTheFew)
{
	if (getuid() != 0)
		GTEST_SKIP() << "needs a process that may do anything";
	const Client client(16);
	ASSERT_TRUE(client.valid());
	const uint32_t most = client.device.info().max_timeout_ms;
	EXPECT_GE(most, longTimeout);
	EXPECT_EQ(client.run(most), 0);
	EXPECT_EQ(client.run(most + 1), -EINVAL);

	EXPECT_TRUE(asNobody([&] {
		const drm_nvdla_device_info info = client.device.info();
		return info.max_timeout_ms < longTimeout &&
		       info.max_timeout_ms >= info.default_timeout_ms &&
		       client.run(info.max_timeout_ms) == 0 &&
		       client.run(info.max_timeout_ms + 1) == -EACCES &&
		       client.run(endlessTimeout) == -EINVAL;
	}));
}

TEST(ClientTest, SramIsShared)
{
	if (getuid() != 0)
		GTEST_SKIP() << "needs a process that may do anything";
	const Device device;
	ASSERT_TRUE(device.valid());
	const uint64_t all = device.info().cvsram_bytes;
	if (!all)
		GTEST_SKIP() << "no on-chip memory";
	EXPECT_EQ(device.info().max_sram_bytes, all);
	const auto create = [](const Device &by, uint64_t size) {
		drm_nvdla_bo_create args = { .size = size,
					     .flags = DRM_NVDLA_BO_SRAM,
					     .handle = 0 };
		const int ret = by.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &args);
		return ret ? ret : static_cast<int>(args.handle);
	};

	/*
	 * Not more than a user's share in one or in several buffers, whatever files they are in,
	 * and all of it again later.
	 */
	const Device other;
	ASSERT_TRUE(other.valid());
	EXPECT_TRUE(asNobody([&] {
		const uint64_t share = device.info().max_sram_bytes;
		if (!share || share > all / 2 || create(device, share + 4096) != -ENOSPC)
			return false;
		const int first = create(device, share / 2), second = create(device, share / 2);
		if (first <= 0 || second <= 0 || create(device, 4096) != -ENOSPC ||
		    create(other, 4096) != -ENOSPC)
			return false;
		return device.closeHandle(static_cast<uint32_t>(first)) == 0 &&
		       device.closeHandle(static_cast<uint32_t>(second)) == 0;
	}));
}

} /* namespace nvdla::test */
