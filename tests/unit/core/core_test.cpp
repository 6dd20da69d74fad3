/* SPDX-License-Identifier: MIT */
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "core/core.h"
#include "small_stack.h"

using namespace nvdla::sim;

namespace
{

using Bytes = std::vector<std::byte>;

Bytes pattern(size_t size, unsigned int seed)
{
	Bytes bytes(size);
	for (size_t i = 0; i < size; i++)
		bytes[i] = static_cast<std::byte>(i * 31 + seed * 101 + i / 256);
	return bytes;
}

class CoreTest : public testing::Test
{
protected:
	static CoreConfig config(CoreTest *test)
	{
		CoreConfig config;
		config.cvsramBase = 0x50000000;
		config.cvsramSize = 1 << 16;
		config.diagnostics = [test](const GuestError &error) {
			std::scoped_lock lock(test->mutex);
			test->errors.push_back(error);
		};
		config.timing.mc.bytesPerCycle = 1;
		config.operationDone = [test](const OperationRecord &record) {
			if (test->onRecord)
				test->onRecord();
			std::scoped_lock lock(test->mutex);
			test->records.push_back(record);
		};
		return config;
	}

	/* What queues a copy within DRAM; lines and surfaces as the registers count them. */
	static std::vector<CsbWrite> copyWrites(uint64_t src, uint64_t dst, uint32_t lines = 0,
						uint32_t surfaces = 0)
	{
		return {
			{ NVDLA_BDMA_CFG_SRC_ADDR_LOW, static_cast<uint32_t>(src) },
			{ NVDLA_BDMA_CFG_SRC_ADDR_HIGH, static_cast<uint32_t>(src >> 32) },
			{ NVDLA_BDMA_CFG_DST_ADDR_LOW, static_cast<uint32_t>(dst) },
			{ NVDLA_BDMA_CFG_DST_ADDR_HIGH, static_cast<uint32_t>(dst >> 32) },
			{ NVDLA_BDMA_CFG_LINE, 1 },
			{ NVDLA_BDMA_CFG_CMD,
			  NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE | NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE },
			{ NVDLA_BDMA_CFG_LINE_REPEAT, lines },
			{ NVDLA_BDMA_CFG_SURF_REPEAT, surfaces },
			{ NVDLA_BDMA_CFG_SRC_LINE, 0 },
			{ NVDLA_BDMA_CFG_DST_LINE, 0 },
			{ NVDLA_BDMA_CFG_SRC_SURF, 0 },
			{ NVDLA_BDMA_CFG_DST_SURF, 0 },
			{ NVDLA_BDMA_CFG_OP, 1 },
		};
	}

	void queueCopy(uint64_t src, uint64_t dst, uint32_t lines = 0, uint32_t surfaces = 0)
	{
		for (const CsbWrite &write : copyWrites(src, dst, lines, surfaces))
			core.csbWrite(write.byteOffset, write.value);
	}

	/* A copy that would take years: it runs until it is abandoned. */
	void launchEndlessCopy()
	{
		queueCopy(0x1000, 0x2000, 0xffffff, 0xffffff);
		core.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
	}

	uint32_t status() { return core.csbRead(NVDLA_GLB_S_INTR_STATUS); }

	size_t errorCount()
	{
		std::scoped_lock lock(mutex);
		return errors.size();
	}

	SparseMemory dram;
	std::mutex mutex;
	std::vector<GuestError> errors;
	std::vector<OperationRecord> records;
	std::atomic<unsigned int> interrupts = 0;
	std::function<void()> onInterrupt;
	std::function<void()> onRecord;
	std::atomic<uint32_t> seen = 0; /* by onInterrupt, which may outlive the test's body */
	Core core{ config(this), dram, [this] {
			  interrupts++;
			  if (onInterrupt)
				  onInterrupt();
		  } };
};

TEST_F(CoreTest, CopiesAndInterrupts)
{
	const Bytes data = pattern(64, 1);
	dram.write(0x1000, data);
	queueCopy(0x1000, 0x2000);
	EXPECT_TRUE(core.idle());
	core.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
	core.waitIdle();
	EXPECT_EQ(status(), 0x40U);
	Bytes out(64);
	dram.read(0x2000, out);
	EXPECT_EQ(out, data);
	EXPECT_EQ(errorCount(), 0U);
}

TEST_F(CoreTest, WritesInOneGoAreDoneOneAfterTheOther)
{
	const Bytes data = pattern(64, 1);
	std::vector<CsbWrite> writes = copyWrites(0x1000, 0x2000);

	dram.write(0x1000, data);
	writes.push_back({ NVDLA_BDMA_CFG_LAUNCH0, 1 });
	for (const CsbWrite &write : copyWrites(0x2000, 0x3000))
		writes.push_back(write);
	writes.push_back({ NVDLA_BDMA_CFG_LAUNCH1, 1 });
	writes.push_back({ NVDLA_RBK_BASE + 0x800, 1 });
	core.csbWrite(writes);
	core.waitIdle();
	EXPECT_EQ(status(), 0xc0U);
	Bytes out(64);
	dram.read(0x3000, out);
	EXPECT_EQ(out, data);
	EXPECT_EQ(errorCount(), 1U);
}

/* A core's, whose helpers look for work at first, so that they tell of ends. */
CoreConfig withHelpers(CoreConfig config)
{
	config.threads = 4;
	return config;
}

/* Also when all threads look for operations, as they do at first, and telling takes a while. */
TEST_F(CoreTest, OperationsOfAnEngineAreToldInOrder)
{
	constexpr uint32_t copies = 10;

	for (int round = 0; round < 20; round++) {
		const auto pause = std::chrono::microseconds(round % 2 ? 200 : 2);
		onRecord = [pause] { std::this_thread::sleep_for(pause); };
		Core many(withHelpers(config(this)), dram, [] {});
		records.clear();
		for (uint32_t lines = 0; lines < copies; lines++) {
			many.csbWrite(NVDLA_BDMA_CFG_CMD, NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE |
								  NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE);
			many.csbWrite(NVDLA_BDMA_CFG_LINE_REPEAT, lines);
			many.csbWrite(NVDLA_BDMA_CFG_OP, 1);
		}
		many.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
		many.waitIdle();
		ASSERT_EQ(records.size(), copies);
		for (uint32_t i = 0; i < copies; i++)
			EXPECT_EQ(records[i].moved.mc.readBytes, (i + 1) * 32) << "round " << round;
	}
}

TEST_F(CoreTest, BdmaCountsStallPerGroupWhenAskedTo)
{
	/* The memory gives one byte a cycle: ten lines of 64 bytes take 640. */
	queueCopy(0x1000, 0x2000, 9);
	core.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
	core.waitIdle();
	EXPECT_EQ(core.csbRead(NVDLA_BDMA_STATUS_GRP0_READ_STALL), 0U);

	core.csbWrite(NVDLA_BDMA_CFG_STATUS, 1);
	queueCopy(0x1000, 0x2000, 9);
	core.csbWrite(NVDLA_BDMA_CFG_LAUNCH1, 1);
	core.waitIdle();
	const uint32_t one = core.csbRead(NVDLA_BDMA_STATUS_GRP1_READ_STALL);
	EXPECT_GT(one, 0U);
	EXPECT_EQ(core.csbRead(NVDLA_BDMA_STATUS_GRP0_READ_STALL), 0U);

	/* Two operations count together, and from zero again. */
	queueCopy(0x1000, 0x2000, 9);
	queueCopy(0x1000, 0x2000, 9);
	core.csbWrite(NVDLA_BDMA_CFG_LAUNCH1, 1);
	core.waitIdle();
	/* The second one does without the way through the pipeline, in which the first waits less.
	 */
	constexpr uint32_t kPipeline = 43;
	EXPECT_EQ(core.csbRead(NVDLA_BDMA_STATUS_GRP1_READ_STALL), 2 * one + kPipeline);
	ASSERT_EQ(records.size(), 4U);
	EXPECT_EQ(records[1].engine, Engine::Bdma);
	EXPECT_EQ(records[1].moved.mc.readBytes, 640U);
	EXPECT_EQ(records[1].timing.readStall, one);
	EXPECT_EQ(records[1].timing.cycles, 640U);
}

TEST_F(CoreTest, MaskedInterruptSendsNoMessage)
{
	core.csbWrite(NVDLA_GLB_S_INTR_MASK, 0x40);
	queueCopy(0x1000, 0x2000);
	core.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
	core.waitIdle();
	EXPECT_EQ(status(), 0x40U);
	EXPECT_EQ(interrupts, 0U);
	core.csbWrite(NVDLA_GLB_S_INTR_MASK, 0);
	EXPECT_EQ(interrupts, 1U);
}

TEST_F(CoreTest, ClearThatLeavesABitSendsAMessage)
{
	core.csbWrite(NVDLA_GLB_S_INTR_SET, 0x3);
	EXPECT_EQ(interrupts, 1U);
	core.csbWrite(NVDLA_GLB_S_INTR_STATUS, 0x1);
	EXPECT_EQ(interrupts, 2U);
	core.csbWrite(NVDLA_GLB_S_INTR_STATUS, 0x2);
	EXPECT_EQ(interrupts, 2U);
}

TEST_F(CoreTest, ReservedAddressesReadZeroAndAreReportedOnce)
{
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(core.csbRead(0x14000), 0U);
		EXPECT_EQ(core.csbRead(0x3fffc), 0U);
		EXPECT_EQ(core.csbRead(0xffffffff), 0U);
		EXPECT_EQ(core.csbRead(NVDLA_GLB_S_INTR_MASK + 1), 0U);
		core.csbWrite(NVDLA_RBK_BASE + 0x800, 1);
	}
	ASSERT_EQ(errorCount(), 5U);
	EXPECT_EQ(errors[0].unit, "CSB");
	EXPECT_EQ(errors[0].where, "0x14000");
	EXPECT_EQ(errors[4].unit, "RBK");
}

TEST_F(CoreTest, UnitThatIsNotThereReadsZeroSilently)
{
	core.csbWrite(NVDLA_GEC_BASE, 0xffffffff);
	EXPECT_EQ(core.csbRead(NVDLA_GEC_BASE), 0U);
	EXPECT_EQ(errorCount(), 0U);
}

TEST_F(CoreTest, WriteToAGroupInUseIsReported)
{
	core.csbWrite(NVDLA_SDP_D_OP_ENABLE, 1); /* waits for its read engine */
	core.csbWrite(NVDLA_SDP_D_DATA_CUBE_WIDTH, 1);
	ASSERT_EQ(errorCount(), 1U);
	EXPECT_EQ(errors[0].unit, "SDP");
	EXPECT_EQ(errors[0].where, "D_DATA_CUBE_WIDTH");
	EXPECT_EQ(core.csbRead(NVDLA_SDP_D_DATA_CUBE_WIDTH), 0U);
}

TEST_F(CoreTest, AccessOutsideMemoryIsReportedAndTheOperationEnds)
{
	core.csbWrite(NVDLA_BDMA_CFG_SRC_ADDR_LOW, 0x60000000);
	core.csbWrite(NVDLA_BDMA_CFG_DST_ADDR_LOW, 0x1000);
	core.csbWrite(NVDLA_BDMA_CFG_CMD, NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE); /* from CVSRAM */
	core.csbWrite(NVDLA_BDMA_CFG_OP, 1);
	core.csbWrite(NVDLA_BDMA_CFG_LAUNCH1, 1);
	core.waitIdle();
	EXPECT_EQ(status(), 0x80U);
	ASSERT_EQ(errorCount(), 1U);
	EXPECT_EQ(errors[0].reason, "access outside the CVSRAM");
	EXPECT_EQ(errors[0].detail, "0x60000000");
}

TEST_F(CoreTest, UndefinedOperationHangsUntilReset)
{
	core.csbWrite(NVDLA_RBK_D_MISC_CFG, NVDLA_RBK_D_MISC_CFG__RUBIK_MODE);
	core.csbWrite(NVDLA_RBK_D_OP_ENABLE, 1);
	core.waitIdle();
	EXPECT_EQ(status(), 0U);
	EXPECT_EQ(core.csbRead(NVDLA_RBK_S_STATUS), 1U);
	EXPECT_EQ(errorCount(), 1U);
	core.reset();
	EXPECT_EQ(core.csbRead(NVDLA_RBK_S_STATUS), 0U);
	EXPECT_EQ(core.csbRead(NVDLA_RBK_D_OP_ENABLE), 0U);
}

TEST_F(CoreTest, ResetAbandonsWhatRuns)
{
	launchEndlessCopy();
	EXPECT_FALSE(core.idle());
	core.reset();
	EXPECT_TRUE(core.idle());
	EXPECT_EQ(status(), 0U);
	EXPECT_EQ(interrupts, 0U);
	EXPECT_EQ(core.csbRead(NVDLA_BDMA_STATUS), 0x114U);

	/* Nothing of the abandoned copy touches memory any more. */
	const Bytes data = pattern(64, 2);
	dram.write(0x2000, data);
	queueCopy(0x1000, 0x3000);
	core.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
	core.waitIdle();
	EXPECT_EQ(status(), 0x40U);
	Bytes out(64);
	dram.read(0x2000, out);
	EXPECT_EQ(out, data);
}

/* Each engine at the largest size that its registers can say: a reset need not wait for it. */
TEST_F(CoreTest, ResetAbandonsTheLargestOperations)
{
	constexpr uint32_t largest = 0x1fff;
	/* All read zeroes from 0, each writes to an area of its own. */
	core.csbWrite(NVDLA_SDP_D_DST_BASE_ADDR_HIGH, 1);
	core.csbWrite(NVDLA_CDP_D_DST_BASE_ADDR_HIGH, 2);
	core.csbWrite(NVDLA_RBK_D_DAOUT_ADDR_HIGH, 3);
	core.csbWrite(NVDLA_PDP_D_DST_BASE_ADDR_HIGH, 4);

	core.csbWrite(NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH, largest);
	core.csbWrite(NVDLA_SDP_RDMA_D_DATA_CUBE_HEIGHT, largest);
	core.csbWrite(NVDLA_SDP_RDMA_D_DATA_CUBE_CHANNEL, largest);
	core.csbWrite(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG, 0);
	core.csbWrite(NVDLA_SDP_RDMA_D_SRC_DMA_CFG, 1);
	core.csbWrite(NVDLA_SDP_D_DATA_CUBE_WIDTH, largest);
	core.csbWrite(NVDLA_SDP_D_DATA_CUBE_HEIGHT, largest);
	core.csbWrite(NVDLA_SDP_D_DATA_CUBE_CHANNEL, largest);
	core.csbWrite(NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_CFG__BS_BYPASS);
	core.csbWrite(NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_CFG__BN_BYPASS);
	core.csbWrite(NVDLA_SDP_D_DP_EW_CFG, NVDLA_SDP_D_DP_EW_CFG__EW_BYPASS);
	core.csbWrite(NVDLA_SDP_D_DST_DMA_CFG, 1);
	core.csbWrite(NVDLA_SDP_RDMA_D_OP_ENABLE, 1);
	core.csbWrite(NVDLA_SDP_D_OP_ENABLE, 1);

	core.csbWrite(NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH, largest);
	core.csbWrite(NVDLA_CDP_RDMA_D_DATA_CUBE_HEIGHT, largest);
	core.csbWrite(NVDLA_CDP_RDMA_D_DATA_CUBE_CHANNEL, largest);
	core.csbWrite(NVDLA_CDP_RDMA_D_SRC_DMA_CFG, 1);
	core.csbWrite(NVDLA_CDP_RDMA_D_DATA_FORMAT,
		      NVDLA_CDP_RDMA_D_DATA_FORMAT__INPUT_DATA__INT16);
	core.csbWrite(NVDLA_CDP_D_DST_DMA_CFG, 1);
	core.csbWrite(NVDLA_CDP_RDMA_D_OP_ENABLE, 1);
	core.csbWrite(NVDLA_CDP_D_OP_ENABLE, 1);

	core.csbWrite(NVDLA_RBK_D_MISC_CFG, NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__MERGE);
	core.csbWrite(NVDLA_RBK_D_DAIN_RAM_TYPE, 1);
	core.csbWrite(NVDLA_RBK_D_DAOUT_RAM_TYPE, 1);
	core.csbWrite(NVDLA_RBK_D_DATAIN_SIZE_0, largest << 16 | largest);
	core.csbWrite(NVDLA_RBK_D_DATAIN_SIZE_1, largest);
	core.csbWrite(NVDLA_RBK_D_OP_ENABLE, 1);

	core.csbWrite(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH, largest);
	core.csbWrite(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT, largest);
	core.csbWrite(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL, largest);
	core.csbWrite(NVDLA_PDP_RDMA_D_FLYING_MODE,
		      NVDLA_PDP_RDMA_D_FLYING_MODE__FLYING_MODE__OFF_FLYING);
	core.csbWrite(NVDLA_PDP_RDMA_D_SRC_RAM_CFG, 1);
	core.csbWrite(NVDLA_PDP_D_DATA_CUBE_IN_WIDTH, largest);
	core.csbWrite(NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT, largest);
	core.csbWrite(NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL, largest);
	core.csbWrite(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, largest);
	core.csbWrite(NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT, largest);
	core.csbWrite(NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL, largest);
	core.csbWrite(NVDLA_PDP_D_OPERATION_MODE_CFG, NVDLA_PDP_D_OPERATION_MODE_CFG__FLYING_MODE);
	core.csbWrite(NVDLA_PDP_D_DST_RAM_CFG, 1);
	core.csbWrite(NVDLA_PDP_RDMA_D_OP_ENABLE, 1);
	core.csbWrite(NVDLA_PDP_D_OP_ENABLE, 1);

	for (int i = 0; i < 10; i++)
		std::this_thread::yield();
	EXPECT_EQ(errorCount(), 0U);
	EXPECT_EQ(status(), 0U);
	core.reset();
	EXPECT_TRUE(core.idle());
}

TEST_F(CoreTest, ResetKeepsTheCvsram)
{
	const Bytes data = pattern(32, 3);
	core.cvsram().write(0x50000000, data);
	core.reset();
	Bytes out(32);
	EXPECT_TRUE(core.cvsram().read(0x50000000, out));
	EXPECT_EQ(out, data);
}

TEST_F(CoreTest, DestructionAbandonsWhatRuns)
{
	launchEndlessCopy();
	EXPECT_FALSE(core.idle());
}

TEST_F(CoreTest, ResetWhileNothingRunsIsHarmless)
{
	core.reset();
	core.reset();
	EXPECT_EQ(core.csbRead(NVDLA_GLB_S_NVDLA_HW_VERSION), 0x00303031U);
}

TEST_F(CoreTest, InterruptMayResetTheCore)
{
	onInterrupt = [this] { core.reset(); };
	core.csbWrite(NVDLA_GLB_S_INTR_SET, 0x1);
	EXPECT_EQ(status(), 0U);
}

/* Whether the callback comes before or during the destruction, neither waits for the other. */
TEST_F(CoreTest, InterruptMayResetACoreThatIsBeingDestroyed)
{
	for (int i = 0; i < 50; i++) {
		std::atomic<Core *> target = nullptr; /* outlives the callbacks */
		Core other(withHelpers({}), dram, [&target] { target.load()->reset(); });
		target = &other;
		other.csbWrite(NVDLA_BDMA_CFG_CMD,
			       NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE | NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE);
		other.csbWrite(NVDLA_BDMA_CFG_OP, 1);
		other.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
		if (i % 2)
			std::this_thread::yield();
	}
}

/* Whoever tells of the end, and whatever the thread of the operation does meanwhile. */
TEST_F(CoreTest, InterruptMayResetACoreThatGoesOn)
{
	for (int round = 0; round < 100; round++) {
		std::atomic<Core *> target = nullptr; /* outlives the callbacks */
		std::atomic<int> left = round % 7;
		Core many(withHelpers({}), dram, [&] {
			if (left-- == 0)
				target.load()->reset();
		});
		target = &many;
		for (uint32_t lines = 0; lines < 8; lines++) {
			for (const CsbWrite &write : copyWrites(0x1000, 0x2000, lines))
				many.csbWrite(write.byteOffset, write.value);
			many.csbWrite(lines % 2 ? NVDLA_BDMA_CFG_LAUNCH1 : NVDLA_BDMA_CFG_LAUNCH0,
				      1);
		}
		many.waitIdle();
		/* As if nothing had happened. */
		left = 0;
		many.reset();
		left = -1;
		many.csbWrite(copyWrites(0x1000, 0x2000));
		many.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
		many.waitIdle();
		EXPECT_EQ(many.csbRead(NVDLA_GLB_S_INTR_STATUS), 0x40U);
	}
}

TEST_F(CoreTest, InterruptOfAnEngineMayAccessRegisters)
{
	onInterrupt = [this] {
		seen = status();
		core.csbWrite(NVDLA_GLB_S_INTR_STATUS, seen);
	};
	queueCopy(0x1000, 0x2000);
	core.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
	while (!seen)
		std::this_thread::yield();
	EXPECT_EQ(seen, 0x40U);
}

TEST_F(CoreTest, OtherEnginesRunBesideABusyOne)
{
	launchEndlessCopy();
	core.csbWrite(NVDLA_RBK_D_MISC_CFG, NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__SPLIT);
	core.csbWrite(NVDLA_RBK_D_DAIN_RAM_TYPE, 1);
	core.csbWrite(NVDLA_RBK_D_DAOUT_RAM_TYPE, 1);
	core.csbWrite(NVDLA_RBK_D_OP_ENABLE, 1);
	while (status() != 0x100)
		std::this_thread::yield();
	EXPECT_FALSE(core.idle());
}

/* The core's own threads look for work when they begin; none of those that sleep is woken. */
TEST_F(CoreTest, LentThreadCarriesOutWhatItWaitsFor)
{
	CoreConfig alone = config(this);
	alone.threads = 1; /* no helpers, which would tell of the end */
	std::atomic<std::thread::id> told;
	const auto here = std::this_thread::get_id();
	Core one(alone, dram, [] {});
	std::vector<CsbWrite> writes = copyWrites(0x1000, 0x2000);

	writes.push_back({ NVDLA_BDMA_CFG_LAUNCH0, 1 });
	onRecord = [&told] { told = std::this_thread::get_id(); };
	int inTurn = 0;
	for (int i = 0; i < 100000 && inTurn < 100; i++) {
		{
			Core::LentThread thread(one);
			one.csbWrite(writes);
			thread.work([] { return false; });
		}
		one.waitIdle();
		inTurn = told.load() == here ? inTurn + 1 : 0;
	}
	EXPECT_EQ(inTurn, 100);
}

TEST_F(CoreTest, ThreadsCanWorkWhereTheStackHasRoom)
{
	bool otherCan = false;

	EXPECT_TRUE(Core::LentThread::canWork());
	std::thread([&] { otherCan = Core::LentThread::canWork(); }).join();
	EXPECT_TRUE(otherCan);
	nvdla::test::callOnSmallStack([] { EXPECT_FALSE(Core::LentThread::canWork()); });
}

/* One that did not make it, too, if a job was moved there. */
TEST_F(CoreTest, ThreadWithASmallStackLeavesWorkToOthers)
{
	CoreConfig alone = config(this);
	alone.threads = 1;
	std::atomic<std::thread::id> told;
	Core one(alone, dram, [] {});
	std::vector<CsbWrite> writes = copyWrites(0x1000, 0x2000);

	writes.push_back({ NVDLA_BDMA_CFG_LAUNCH0, 1 });
	onRecord = [&told] { told = std::this_thread::get_id(); };
	for (int i = 0; i < 200; i++) {
		std::thread::id small;
		{
			Core::LentThread thread(one);
			one.csbWrite(writes);
			nvdla::test::callOnSmallStack([&] {
				small = std::this_thread::get_id();
				thread.work([] { return false; });
			});
		}
		one.waitIdle();
		EXPECT_NE(told.load(), small);
	}
}

TEST_F(CoreTest, LentThreadLeavesTheRestToOthers)
{
	for (size_t round = 1; round <= 50; round++) {
		{
			Core::LentThread thread(core);
			queueCopy(0x1000, 0x2000);
			core.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
			queueCopy(0x2000, 0x3000);
			core.csbWrite(NVDLA_BDMA_CFG_LAUNCH1, 1);
			/* In turns one of the two, and none. */
			if (round % 2)
				thread.work([] { return true; });
		}
		core.waitIdle();
		EXPECT_EQ(status(), 0xc0U);
		core.csbWrite(NVDLA_GLB_S_INTR_STATUS, 0xc0);
		const std::scoped_lock lock(mutex);
		EXPECT_EQ(records.size(), 2 * round);
	}
}

/* For the thread sanitizer: everything at once from several threads. */
TEST_F(CoreTest, AccessesFromManyThreads)
{
	std::vector<std::thread> threads;
	for (unsigned int number = 0; number < 4; number++) {
		threads.emplace_back([this, number] {
			for (unsigned int i = 0; i < 300; i++) {
				queueCopy(0x1000 + number * 0x100, 0x2000 + number * 0x100);
				core.csbWrite(number % 2 ? NVDLA_BDMA_CFG_LAUNCH0
							 : NVDLA_BDMA_CFG_LAUNCH1,
					      1);
				core.csbWrite(NVDLA_GLB_S_INTR_STATUS, status());
				core.csbRead(NVDLA_BDMA_STATUS);
				if (number == 0 && i % 100 == 99)
					core.reset();
			}
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	core.reset();
	/* Callbacks of what ended just before may still be running. */
	core.waitIdle();
	EXPECT_EQ(core.csbRead(NVDLA_BDMA_STATUS), 0x114U);
}

TEST(GuestErrors, AreReportedOnceAndAreBounded)
{
	GuestErrors errors;
	const auto add = [&](const std::string &where, const char *detail) {
		errors.add([&] { return GuestError{ "A", where, "C", detail }; });
	};

	add("B", "1");
	add("B", "2");
	EXPECT_EQ(errors.take().size(), 1U);
	EXPECT_TRUE(errors.take().empty());
	for (size_t i = 0; i < 2 * GuestErrors::maximum; i++)
		add(std::to_string(i), "");
	EXPECT_EQ(errors.take().size(), GuestErrors::maximum - 1);
	errors.reset();
	add("B", "");
	EXPECT_EQ(errors.take().size(), 1U);
}

TEST(GuestErrors, WhatThereIsNoMemoryForIsToldOfLater)
{
	GuestErrors errors;

	errors.add([]() -> GuestError { throw std::bad_alloc(); });
	const std::vector<GuestError> taken = errors.take();
	ASSERT_EQ(taken.size(), 1U);
	EXPECT_EQ(taken[0].unit, "core");
	EXPECT_EQ(taken[0].reason, kNoHostMemory);
	EXPECT_TRUE(errors.take().empty());
}

/* At a clock of one cycle in a thousand seconds, a copy would take half a day. */
TEST(CoreRealtime, AnOperationLastsUntilTheChipWouldBeDone)
{
	SparseMemory dram;
	CoreConfig config;
	config.realtime = true;
	config.timing.clockHz = 1e-3;
	Core core(config, dram, {});

	core.csbWrite(NVDLA_BDMA_CFG_SRC_ADDR_LOW, 0x1000);
	core.csbWrite(NVDLA_BDMA_CFG_DST_ADDR_LOW, 0x2000);
	core.csbWrite(NVDLA_BDMA_CFG_CMD,
		      NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE | NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE);
	core.csbWrite(NVDLA_BDMA_CFG_OP, 1);
	core.csbWrite(NVDLA_BDMA_CFG_LAUNCH0, 1);
	EXPECT_FALSE(core.idle());
	core.reset();
	EXPECT_TRUE(core.idle()) << "a reset ends the wait";
	EXPECT_EQ(core.csbRead(NVDLA_GLB_S_INTR_STATUS), 0U);
}

} /* namespace */
