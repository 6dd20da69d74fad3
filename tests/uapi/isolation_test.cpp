/* SPDX-License-Identifier: MIT */
/* Several processes, processes that die, and jobs that take too long. */
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "device/clock.h"
#include "device/refusal.h"

namespace nvdla::test
{

namespace
{

/* A job that never ends fails its test, which others follow. */
constexpr std::chrono::minutes kPatience(1);
constexpr uint32_t copyBytes = 256 * 1024;
constexpr uint32_t longTaskBytes = 4 * 1024 * 1024;
constexpr uint32_t longLine = 256 * 1024;

/* Copies a pattern \a rounds times with an own file; true if every copy is right. */
bool copyAndCheck(uint8_t seed, unsigned int rounds)
{
	Device device;
	Buffer source(device, copyBytes), destination(device, copyBytes);
	if (!source.valid() || !destination.valid())
		return false;

	CopyTask task;
	task.addAddress(source.handle());
	task.addAddress(destination.handle());
	task.addCopy(0, 1, 1024, copyBytes / 1024);

	for (unsigned int round = 0; round < rounds; round++) {
		std::iota(source.bytes().begin(), source.bytes().end(),
			  static_cast<uint8_t>(seed + round));
		if (Submit(task).run(device) ||
		    destination.prepare(DRM_NVDLA_BO_READ, deadlineNs(kPatience)))
			return false;
		if (!std::equal(source.bytes().begin(), source.bytes().end(),
				destination.bytes().begin()))
			return false;
	}
	return true;
}

template<typename Function>
pid_t spawn(Function &&function)
{
	const pid_t pid = fork();
	if (pid == 0)
		_exit(function() ? 0 : 1);
	return pid;
}

/* Far more than 10 ms of work on any machine: 2.5 GiB of copies that change nothing. */
CopyTask longTask(const Buffer &buffer)
{
	CopyTask task;
	task.addAddress(buffer.handle());
	for (unsigned int i = 0; i < 32; i++) {
		/* The whole buffer onto itself, in the longest lines there are. */
		task.addCopy(0, 0, longLine, longTaskBytes / longLine);
		nvdla_bdma_surface_desc &surface = task.surfaces.back().bdma;
		task.operations.back().bdma.num_transfers = NVDLA_BDMA_MAX_TRANSFERS;
		surface.num_transfers = NVDLA_BDMA_MAX_TRANSFERS;
		std::fill_n(surface.transfers + 1, NVDLA_BDMA_MAX_TRANSFERS - 1,
			    surface.transfers[0]);
	}
	return task;
}

} /* namespace */

TEST(Isolation, ProcessesDoNotDisturbEachOther)
{
	std::vector<pid_t> children;
	for (uint8_t i = 0; i < 4; i++)
		children.push_back(
			spawn([i] { return copyAndCheck(static_cast<uint8_t>(i * 50), 40); }));
	for (const pid_t child : children) {
		int status = -1;
		ASSERT_EQ(waitpid(child, &status, 0), child);
		EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "process " << child;
	}
}

TEST(Isolation, KilledProcessesLeaveNothingBehind)
{
	for (unsigned int round = 0; round < 10; round++) {
		int ready[2];
		ASSERT_EQ(pipe(ready), 0);
		const pid_t victim = spawn([&] {
			Device device;
			Buffer buffer(device, copyBytes);
			CopyTask task;
			task.addAddress(buffer.handle());
			task.addCopy(0, 0, 1024, copyBytes / 1024);
			const char byte = 0;
			for (unsigned int i = 0;; i++) {
				if (const int error = Submit(task).run(device)) {
					std::fprintf(stderr, "submit %u: %s\n", i,
						     std::strerror(-error));
					return false;
				}
				if (i == 3 && write(ready[1], &byte, 1) != 1)
					return false;
			}
		});
		/* The victim's alone, so that its end is that of the pipe. */
		close(ready[1]);
		char byte;
		ASSERT_EQ(read(ready[0], &byte, 1), 1) << "round " << round;
		kill(victim, SIGKILL);
		int status = -1;
		ASSERT_EQ(waitpid(victim, &status, 0), victim);
		EXPECT_TRUE(WIFSIGNALED(status));
		close(ready[0]);
		EXPECT_TRUE(copyAndCheck(static_cast<uint8_t>(round), 2));
	}
}

TEST(Isolation, OnlyTheJobThatTakesTooLongFails)
{
	Device device;
	ASSERT_TRUE(device.valid());
	Buffer buffer(device, longTaskBytes), source(device, copyBytes),
		destination(device, copyBytes);
	ASSERT_TRUE(buffer.valid() && source.valid() && destination.valid());
	std::iota(source.bytes().begin(), source.bytes().end(), 3);

	const CopyTask tooLong = longTask(buffer);
	CopyTask good;
	good.addAddress(source.handle());
	good.addAddress(destination.handle());
	good.addCopy(0, 1, 1024, copyBytes / 1024);

	const uint32_t guilty = device.createSyncobj();
	const uint32_t innocent = device.createSyncobj();
	Submit first(tooLong);
	first.timeoutMs = 10;
	first.outSyncs.push_back({ .handle = guilty, .reserved = 0, .point = 0 });
	ASSERT_EQ(first.run(device), 0) << refusedField(first.error, NVDLA_OP_BDMA);
	Submit second(good);
	second.outSyncs.push_back({ .handle = innocent, .reserved = 0, .point = 0 });
	ASSERT_EQ(second.run(device), 0);

	EXPECT_EQ(device.waitSyncobj(guilty), 0);
	EXPECT_EQ(device.fenceStatus(guilty), -ETIMEDOUT);
	EXPECT_EQ(device.waitSyncobj(innocent), 0);
	EXPECT_EQ(device.fenceStatus(innocent), 1);
	EXPECT_TRUE(std::equal(source.bytes().begin(), source.bytes().end(),
			       destination.bytes().begin()));
	device.destroySyncobj(guilty);
	device.destroySyncobj(innocent);
	EXPECT_TRUE(copyAndCheck(9, 3));
}

TEST(Isolation, FilesMayBeClosedWithJobsInFlight)
{
	for (unsigned int round = 0; round < 10; round++) {
		Device device;
		Buffer buffer(device, copyBytes);
		ASSERT_TRUE(buffer.valid());
		CopyTask task;
		task.addAddress(buffer.handle());
		task.addCopy(0, 0, 1024, copyBytes / 1024);
		for (unsigned int i = 0; i < 8; i++)
			ASSERT_EQ(Submit(task).run(device), 0);
	}
	EXPECT_TRUE(copyAndCheck(77, 2));
}

} /* namespace nvdla::test */
