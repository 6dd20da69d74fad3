/* SPDX-License-Identifier: MIT */
/* Buffers in on-chip memory. */
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <task_builder.h>
#include <xf86drm.h>

#include "device.h"
#include "device/refusal.h"
#include "dma_buf.h"
#include "driver_files.h"
#include "sram_buffer.h"
#include "trace.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t page = SramBuffer::page;

class SramTest : public ::testing::Test
{
protected:
	void SetUp() override
	{
		ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path();
		const drm_nvdla_device_info info = device_.info();
		ASSERT_EQ(!!info.cvsram_bytes, !!(info.features & DRM_NVDLA_FEATURE_SRAM));
		if (!info.cvsram_bytes)
			GTEST_SKIP() << "the core has no on-chip memory";
		size_ = static_cast<uint32_t>(info.cvsram_bytes);
	}

	int toSram(const Device &device, const Buffer &from, const SramBuffer &to)
	{
		return Submit(SramBuffer::copy(from.handle(), NVDLA_MEM_MC, to.handle(),
					       NVDLA_MEM_CV,
					       static_cast<uint32_t>(from.bytes().size())))
			.run(device);
	}

	int fromSram(const Device &device, const SramBuffer &from, const Buffer &to)
	{
		const int ret = Submit(SramBuffer::copy(from.handle(), NVDLA_MEM_CV, to.handle(),
							NVDLA_MEM_MC,
							static_cast<uint32_t>(to.bytes().size())))
					.run(device);
		return ret ? ret : to.prepare(DRM_NVDLA_BO_READ);
	}

	/* The field for which a task is refused. */
	std::string refusal(const CopyTask &task) const
	{
		Submit submit(task);
		EXPECT_EQ(submit.run(device_), -EINVAL);
		return refusedField(submit.error, NVDLA_OP_BDMA);
	}

	Device device_;
	uint32_t size_ = 0;
};

} /* namespace */

TEST_F(SramTest, CopiesThereAndBack)
{
	Buffer source(device_, size_), destination(device_, size_);
	const auto buffer = SramBuffer::createWhenThereIsRoom(device_, size_);
	const SramBuffer &sram = *buffer;
	ASSERT_TRUE(source.valid() && destination.valid());
	ASSERT_EQ(sram.result(), 0);
	for (size_t i = 0; i < source.bytes().size(); i++)
		source.bytes()[i] = static_cast<uint8_t>(i % 251);
	ASSERT_EQ(toSram(device_, source, sram), 0);
	ASSERT_EQ(fromSram(device_, sram, destination), 0);
	EXPECT_TRUE(std::equal(source.bytes().begin(), source.bytes().end(),
			       destination.bytes().begin()));
}

TEST_F(SramTest, BuffersLieApart)
{
	constexpr unsigned int count = 8;
	Buffer source(device_, page), destination(device_, page);
	std::vector<std::unique_ptr<SramBuffer>> buffers;
	for (unsigned int i = 0; i < count; i++) {
		buffers.push_back(SramBuffer::createWhenThereIsRoom(device_, page));
		ASSERT_EQ(buffers.back()->result(), 0);
		ASSERT_EQ(source.prepare(DRM_NVDLA_BO_WRITE), 0);
		std::fill(source.bytes().begin(), source.bytes().end(),
			  static_cast<uint8_t>(i + 1));
		ASSERT_EQ(toSram(device_, source, *buffers.back()), 0);
	}
	for (unsigned int i = 0; i < count; i++) {
		ASSERT_EQ(fromSram(device_, *buffers[i], destination), 0);
		EXPECT_EQ(std::count(destination.bytes().begin(), destination.bytes().end(), i + 1),
			  page);
	}
}

TEST_F(SramTest, BeginsZeroedWhateverWasThereBefore)
{
	Device other;
	ASSERT_TRUE(other.valid());
	Buffer secret(other, size_), found(device_, size_);
	ASSERT_TRUE(secret.valid() && found.valid());
	std::fill(secret.bytes().begin(), secret.bytes().end(), 0x5a);
	for (unsigned int round = 0; round < 5; round++) {
		{
			const auto theirs = SramBuffer::createWhenThereIsRoom(other, size_);
			ASSERT_EQ(theirs->result(), 0);
			ASSERT_EQ(toSram(other, secret, *theirs), 0);
			ASSERT_EQ(secret.prepare(DRM_NVDLA_BO_WRITE), 0);
		}
		const std::unique_ptr<SramBuffer> mine =
			SramBuffer::createWhenThereIsRoom(device_, size_);
		ASSERT_EQ(mine->result(), 0);
		ASSERT_EQ(fromSram(device_, *mine, found), 0);
		EXPECT_EQ(std::count(found.bytes().begin(), found.bytes().end(), 0), size_);
		/* Not zero by chance next time. */
		ASSERT_EQ(found.finish(), 0);
		std::fill(found.bytes().begin(), found.bytes().end(), 0xa5);
	}
}

TEST_F(SramTest, WhatCouldNotBeClearedIsNeverSeen)
{
	const auto fault = debugFolder() / "inject/fail_task";
	if (!std::filesystem::exists(fault))
		GTEST_SKIP() << "the kernel has no debugfs";
	Buffer found(device_, page);
	ASSERT_TRUE(found.valid());
	constexpr uint8_t before = 0x5a;
	std::ranges::fill(found.bytes(), before);

	Trace trace;
	ASSERT_EQ(writeFile(fault, "1"), 0);
	const auto sram = SramBuffer::createWhenThereIsRoom(device_, page);
	ASSERT_EQ(sram->result(), 0);
	const CopyTask task =
		SramBuffer::copy(sram->handle(), NVDLA_MEM_CV, found.handle(), NVDLA_MEM_MC, page);
	JobResult result(device_);
	ASSERT_TRUE(result.valid());
	Submit submit(task);
	submit.resultHandle = result.buffer().handle();
	ASSERT_EQ(submit.run(device_), 0) << refusedField(submit.error, NVDLA_OP_BDMA);
	ASSERT_EQ(result.wait(), 0);
	EXPECT_EQ(result.job().status, -EIO);
	EXPECT_EQ(result.job().num_completed, 0u);
	ASSERT_EQ(found.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_EQ(std::ranges::count(found.bytes(), before), page);

	/* That which failed and that which was refused for it. */
	if (trace.valid()) {
		EXPECT_EQ(std::ranges::count_if(trace.events(),
						[](const auto &event) {
							return event.first == "nvdla_job_done" &&
							       event.second.ends_with("error=-5");
						}),
			  2);
	}
}

/*
 * Clearing a client's buffer fails behind a job that hangs, while a copy of the buffer is queued,
 * and another client's job, behind which that copy goes on: what was there before it was its own
 * must not come out.
 */
TEST_F(SramTest, WhatCouldNotBeClearedIsNeverSeenOnABusyCore)
{
	constexpr uint8_t theirs = 0x5a, before = 0xa5;
	const auto lost = debugFolder() / "inject/lose_interrupt";
	if (!std::filesystem::exists(lost))
		GTEST_SKIP() << "the kernel has no debugfs";

	/* The secret, in all of the memory, which is free again. */
	{
		Buffer secret(device_, size_);
		ASSERT_TRUE(secret.valid());
		std::ranges::fill(secret.bytes(), theirs);
		const auto held = SramBuffer::createWhenThereIsRoom(device_, size_);
		ASSERT_EQ(held->result(), 0);
		ASSERT_EQ(toSram(device_, secret, *held), 0);
		ASSERT_EQ(secret.prepare(DRM_NVDLA_BO_WRITE), 0);
	}

	const Device attacker, other;
	ASSERT_TRUE(attacker.valid() && other.valid());
	Buffer found(attacker, size_), page1(attacker, page), page2(attacker, page);
	constexpr uint32_t lines = 1024, lineBytes = 64;
	Buffer from(other, lines * lineBytes), to(other, lines * lineBytes);
	ASSERT_TRUE(found.valid() && page1.valid() && page2.valid() && from.valid() && to.valid());
	std::ranges::fill(found.bytes(), before);
	CopyTask hanging, busy;
	hanging.addAddress(page1.handle());
	hanging.addAddress(page2.handle());
	hanging.addCopy(0, 1, 1024, page / 1024);
	busy.addLines(from, to, lineBytes);

	/* All is queued while the first one hangs. The first task that completes is the clearing. */
	const Setting loseInterrupts(lost, "1"), failTask(debugFolder() / "inject/fail_task", "1");
	ASSERT_TRUE(loseInterrupts.done() && failTask.done());
	Submit hangs(hanging);
	hangs.timeoutMs = 500;
	ASSERT_EQ(hangs.run(attacker), 0);
	const auto sram = SramBuffer::createWhenThereIsRoom(attacker, size_);
	ASSERT_EQ(sram->result(), 0);
	JobResult othersResult(other, 1 << 20), result(attacker);
	ASSERT_TRUE(othersResult.valid() && result.valid());
	Submit others;
	others.tasks.assign(2, busy.task());
	others.resultHandle = othersResult.buffer().handle();
	ASSERT_EQ(others.run(other), 0);
	const CopyTask look = SramBuffer::copy(sram->handle(), NVDLA_MEM_CV, found.handle(),
					       NVDLA_MEM_MC, size_);
	Submit submit(look);
	submit.resultHandle = result.buffer().handle();
	ASSERT_EQ(submit.run(attacker), 0);

	ASSERT_EQ(othersResult.wait(), 0);
	EXPECT_EQ(othersResult.job().status, 0);
	ASSERT_EQ(result.wait(), 0);
	EXPECT_EQ(result.job().status, -EIO);
	EXPECT_EQ(result.job().num_runs, 0u);
	ASSERT_EQ(found.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_EQ(std::ranges::count(found.bytes(), theirs), 0) << "bytes of another client";
	EXPECT_EQ(std::ranges::count(found.bytes(), before), size_);
}

TEST_F(SramTest, IsUsedUpAndGivenBack)
{
	for (unsigned int round = 0; round < 3; round++) {
		std::vector<std::unique_ptr<SramBuffer>> buffers;
		for (uint32_t taken = 0; taken < size_; taken += size_ / 4) {
			buffers.push_back(SramBuffer::createWhenThereIsRoom(device_, size_ / 4));
			ASSERT_EQ(buffers.back()->result(), 0);
		}
		EXPECT_EQ(SramBuffer(device_, page).result(), -ENOSPC);
	}
	EXPECT_EQ(SramBuffer(device_, size_ + page).result(), -ENOSPC);
}

TEST_F(SramTest, TheCpuCannotReachIt)
{
	const auto buffer = SramBuffer::createWhenThereIsRoom(device_, page);
	const SramBuffer &sram = *buffer;
	ASSERT_EQ(sram.result(), 0);
	drm_nvdla_bo_mmap_offset offset = { .handle = sram.handle(), .flags = 0, .offset = 0 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset), -EOPNOTSUPP);
	drm_nvdla_bo_prep prep = { .handle = sram.handle(),
				   .flags = DRM_NVDLA_BO_READ,
				   .timeout_ns = INT64_MAX };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_PREP, &prep), -EOPNOTSUPP);
	drm_nvdla_bo_fini fini = { .handle = sram.handle(), .flags = 0 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_FINI, &fini), -EOPNOTSUPP);
	int fd = -1;
	EXPECT_EQ(drmPrimeHandleToFD(device_.fd(), sram.handle(), DRM_CLOEXEC, &fd), -1);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(SramTest, ItHoldsNoResults)
{
	Buffer memory(device_, page);
	const auto sram = SramBuffer::createWhenThereIsRoom(device_, page);
	ASSERT_EQ(sram->result(), 0);
	const CopyTask task =
		SramBuffer::copy(memory.handle(), NVDLA_MEM_MC, sram->handle(), NVDLA_MEM_CV, page);
	Submit submit(task);
	submit.resultHandle = sram->handle();
	EXPECT_EQ(submit.run(device_), -EINVAL);
}

TEST_F(SramTest, PlacementIsAllOrNothing)
{
	drm_nvdla_bo_create create = { .size = page,
				       .flags = DRM_NVDLA_BO_SRAM | DRM_NVDLA_BO_WRITE_COMBINE,
				       .handle = 0 };
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create), -EINVAL);
}

TEST_F(SramTest, CopiesOutsideOfTheBufferAreRefused)
{
	Buffer memory(device_, 4 * page);
	const auto before = SramBuffer::createWhenThereIsRoom(device_, page);
	const auto buffer = SramBuffer::createWhenThereIsRoom(device_, page);
	const auto after = SramBuffer::createWhenThereIsRoom(device_, page);
	const SramBuffer &sram = *buffer;
	ASSERT_EQ(before->result() | sram.result() | after->result(), 0);

	EXPECT_EQ(refusal(SramBuffer::copy(sram.handle(), NVDLA_MEM_CV, memory.handle(),
					   NVDLA_MEM_MC, 2 * page)),
		  "transfers[0].src_address");
	EXPECT_EQ(refusal(SramBuffer::copy(memory.handle(), NVDLA_MEM_MC, sram.handle(),
					   NVDLA_MEM_CV, 2 * page)),
		  "transfers[0].dst_address");
	/* What is said about the memory's kind has to be so. */
	EXPECT_EQ(refusal(SramBuffer::copy(sram.handle(), NVDLA_MEM_MC, memory.handle(),
					   NVDLA_MEM_MC, page)),
		  "src_type");
	EXPECT_EQ(refusal(SramBuffer::copy(memory.handle(), NVDLA_MEM_MC, sram.handle(),
					   NVDLA_MEM_MC, page)),
		  "dst_type");
}

TEST_F(SramTest, AnOperationReadsAndWritesIt)
{
	/* Pooling of a cube that was copied to on-chip memory, into on-chip memory. */
	constexpr uint32_t sourceBytes = 8 * 8 * 32, pooledBytes = 4 * 4 * 32;
	Buffer source(device_, page), destination(device_, page);
	const auto first = SramBuffer::createWhenThereIsRoom(device_, page);
	const auto second = SramBuffer::createWhenThereIsRoom(device_, page);
	const SramBuffer &in = *first, &out = *second;
	ASSERT_EQ(in.result() | out.result(), 0);
	for (uint32_t i = 0; i < sourceBytes; i++)
		source.bytes()[i] = static_cast<uint8_t>(i * 37 % 255);
	ASSERT_EQ(toSram(device_, source, in), 0);

	TaskBuilder builder;
	const size_t pdp = builder.addPdp();
	builder.pdpCubes(pdp).src_data.type = NVDLA_MEM_CV;
	builder.pdpCubes(pdp).src_data.address = 0;
	builder.pdpCubes(pdp).dst_data.type = NVDLA_MEM_CV;
	builder.pdpCubes(pdp).dst_data.address = 1;
	CopyTask task;
	task.addAddress(in.handle());
	task.addAddress(out.handle());
	task.graph = builder.graph;
	task.operations = builder.operations;
	task.surfaces = builder.surfaces;
	Submit submit(task);
	ASSERT_EQ(submit.run(device_), 0) << refusedField(submit.error, NVDLA_OP_BDMA);
	ASSERT_EQ(fromSram(device_, out, destination), 0);

	for (uint32_t y = 0; y < 4; y++)
		for (uint32_t x = 0; x < 4; x++)
			for (uint32_t c = 0; c < 32; c++) {
				int8_t greatest = INT8_MIN;
				for (uint32_t i = 0; i < 4; i++) {
					const uint32_t at = (2 * y + i / 2) * 8 + 2 * x + i % 2;
					greatest = std::max(
						greatest,
						static_cast<int8_t>(source.bytes()[at * 32 + c]));
				}
				ASSERT_EQ(static_cast<int8_t>(
						  destination.bytes()[(y * 4 + x) * 32 + c]),
					  greatest)
					<< x << ", " << y << ", " << c;
			}
	EXPECT_EQ(
		std::count(destination.bytes().begin() + pooledBytes, destination.bytes().end(), 0),
		page - pooledBytes);
}

} /* namespace nvdla::test */
