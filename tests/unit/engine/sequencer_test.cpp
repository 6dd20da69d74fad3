/* SPDX-License-Identifier: MIT */
/*
 * In which order the sequencer writes to a core, and how it follows interrupts.
 */
#include <algorithm>
#include <cerrno>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "device/refusal.h"
#include "recording_core.h"
#include "task_builder.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t sdpDone[] = { 1 << 0, 1 << 1 };
constexpr uint32_t cdpDone[] = { 1 << 2, 1 << 3 };
constexpr uint32_t pdpDone[] = { 1 << 4, 1 << 5 };
constexpr uint32_t bdmaDone[] = { 1 << 6, 1 << 7 };
constexpr uint32_t dataDone[] = { 1 << 16, 1 << 17 };
constexpr uint32_t weightDone[] = { 1 << 18, 1 << 19 };
constexpr uint32_t sumsDone[] = { 1 << 20, 1 << 21 };
constexpr uint32_t convDone[] = { sumsDone[0] | dataDone[0] | weightDone[0],
				  sumsDone[1] | dataDone[1] | weightDone[1] };

using Operations = std::vector<uint32_t>;

} /* namespace */

class Sequencer : public testing::Test, public SequencerFixture
{
protected:
	TaskBuilder builder;
	Created created;

	/* Creates the built task and starts it. */
	void run()
	{
		created = builder.create();
		ASSERT_EQ(created.result, 0) << describeRefusal(created.error);
		ASSERT_EQ(start(created.task.get()), 0);
	}
};

TEST_F(Sequencer, ConvolutionIsEnabledFromItsEndToItsBeginning)
{
	builder.addConv();
	run();

	const uint32_t order[] = { NVDLA_SDP_RDMA_D_OP_ENABLE, NVDLA_SDP_D_OP_ENABLE,
				   NVDLA_CACC_D_OP_ENABLE,     NVDLA_CMAC_A_D_OP_ENABLE,
				   NVDLA_CMAC_B_D_OP_ENABLE,   NVDLA_CSC_D_OP_ENABLE,
				   NVDLA_CDMA_D_OP_ENABLE };
	for (size_t i = 0; i < std::size(order); i++) {
		EXPECT_EQ(core.writes(order[i]), std::vector<uint32_t>{ 1 }) << i;
		if (i > 0) {
			EXPECT_LT(core.position(order[i - 1]), core.position(order[i])) << i;
		}
	}
	EXPECT_EQ(enabled, (Operations{ 1, 0 }));
}

TEST_F(Sequencer, TaskEndsWhenAllOperationsCompleted)
{
	builder.addConv();
	run();
	irq(convDone[0]);
	EXPECT_TRUE(done.empty());
	irq(sdpDone[0]);
	EXPECT_EQ(done, std::vector<int>{ 0 });
	EXPECT_EQ(completed, (Operations{ 0, 1 }));
	EXPECT_EQ(snapshot().task, nullptr);
}

TEST_F(Sequencer, BothGroupsAreKeptBusy)
{
	for (int i = 0; i < 4; i++)
		builder.addPdp();
	run();
	EXPECT_EQ(enabled, (Operations{ 0, 1 }));
	EXPECT_EQ(core.writes(NVDLA_PDP_S_POINTER), (std::vector<uint32_t>{ 0, 1, 0, 1 }));

	core.clear();
	irq(pdpDone[0]);
	EXPECT_EQ(enabled, (Operations{ 0, 1, 2 }));
	/* Nothing differs between operations 0 and 2: only the enables are written. */
	EXPECT_EQ(core.writes(NVDLA_PDP_D_OP_ENABLE).size(), 1u);
	EXPECT_TRUE(core.writes(NVDLA_PDP_D_DATA_CUBE_IN_WIDTH).empty());
	EXPECT_EQ(core.writes(NVDLA_PDP_S_POINTER), std::vector<uint32_t>{ 0 });

	irq(pdpDone[1]);
	irq(pdpDone[0] | pdpDone[1]);
	EXPECT_EQ(done, std::vector<int>{ 0 });
	EXPECT_EQ(completed, (Operations{ 0, 1, 2, 3 }));
}

TEST_F(Sequencer, OnlyChangedRegistersAreWritten)
{
	builder.addPdp();
	run();
	irq(pdpDone[0]);
	ASSERT_EQ(start(created.task.get()), 0);
	irq(pdpDone[1]);
	ASSERT_EQ(done.size(), 2u);

	/* Group 0 again, with another destination. */
	builder.pdpCubes(0).dst_data.offset = 0x400;
	core.clear();
	Created other = builder.create();
	ASSERT_EQ(start(other.task.get()), 0);
	EXPECT_EQ(core.writes(NVDLA_PDP_D_DST_BASE_ADDR_LOW),
		  std::vector<uint32_t>{ static_cast<uint32_t>(TaskBuilder::address(3) + 0x400) });
	/* Two pointers, the address, two enables. */
	EXPECT_EQ(core.log.size(), 5u);
	irq(pdpDone[0]);
}

TEST_F(Sequencer, GroupsBeginWhereTheCoreIs)
{
	core.readable[NVDLA_PDP_S_POINTER] = NVDLA_PDP_S_POINTER__CONSUMER;
	builder.addPdp();
	run();
	EXPECT_EQ(core.writes(NVDLA_PDP_S_POINTER), std::vector<uint32_t>{ 1 });
	EXPECT_EQ(core.writes(NVDLA_PDP_RDMA_S_POINTER), std::vector<uint32_t>{ 0 });
	irq(pdpDone[0]);
	EXPECT_TRUE(done.empty());
	irq(pdpDone[1]);
	EXPECT_EQ(done, std::vector<int>{ 0 });
}

TEST_F(Sequencer, RdmaGroupsMoveOnlyWhenUsed)
{
	/* PDP with RDMA, then without, then with. */
	builder.addPdp();
	builder.addSdpPdp();
	builder.addPdp();
	builder.edge(0, 2, NVDLA_EVENT_OP_COMPLETED);
	builder.edge(2, 3, NVDLA_EVENT_OP_COMPLETED);
	run();
	EXPECT_EQ(core.writes(NVDLA_PDP_RDMA_S_POINTER), std::vector<uint32_t>{ 0 });
	irq(pdpDone[0]);
	irq(sdpDone[0] | pdpDone[1]);
	EXPECT_EQ(core.writes(NVDLA_PDP_RDMA_S_POINTER), (std::vector<uint32_t>{ 0, 1 }));
	EXPECT_EQ(core.writes(NVDLA_PDP_RDMA_D_OP_ENABLE).size(), 2u);
	irq(pdpDone[0]);
	EXPECT_EQ(done, std::vector<int>{ 0 });
}

TEST_F(Sequencer, StreamConsumersAreEnabledFirst)
{
	builder.addSdpPdp();
	run();
	EXPECT_EQ(enabled, (Operations{ 1, 0 }));
	EXPECT_LT(core.position(NVDLA_PDP_D_OP_ENABLE), core.position(NVDLA_SDP_D_OP_ENABLE));
	EXPECT_TRUE(core.writes(NVDLA_PDP_RDMA_D_OP_ENABLE).empty());
}

TEST_F(Sequencer, FetchEventsReleaseWaiters)
{
	builder.addConv();
	builder.addPdp();
	builder.addCdp();
	builder.edge(0, 2, NVDLA_EVENT_CDMA_WT_DONE);
	builder.edge(0, 3, NVDLA_EVENT_CDMA_DT_DONE);
	run();
	EXPECT_EQ(enabled, (Operations{ 1, 0 }));
	irq(weightDone[0]);
	EXPECT_EQ(enabled, (Operations{ 1, 0, 2 }));
	irq(weightDone[0]);
	irq(dataDone[0]);
	EXPECT_EQ(enabled, (Operations{ 1, 0, 2, 3 }));
}

/* Sums can be out while CDMA still reads memory that would be somebody else's soon. */
TEST_F(Sequencer, ConvolutionEndsWithItsLastFetch)
{
	builder.addConv();
	builder.addPdp();
	builder.edge(0, 2, NVDLA_EVENT_OP_COMPLETED);
	run();
	irq(sumsDone[0] | sdpDone[0]);
	EXPECT_EQ(completed, Operations{ 1 });
	irq(dataDone[0]);
	EXPECT_EQ(completed, Operations{ 1 });
	irq(weightDone[0]);
	EXPECT_EQ(completed, (Operations{ 1, 0 }));
	EXPECT_EQ(enabled, (Operations{ 1, 0, 2 }));
}

/* The second has fetched its weights before the first one's sums are out. */
TEST_F(Sequencer, FetchesOfTheNextConvolutionAreRemembered)
{
	for (int i = 0; i < 3; i++)
		builder.addConv();
	run();
	irq(dataDone[0] | weightDone[0]);
	irq(weightDone[1]);
	irq(sumsDone[0] | sdpDone[0]);
	EXPECT_EQ(completed, (Operations{ 0, 1 }));
	irq(dataDone[1] | sumsDone[1] | sdpDone[1]);
	EXPECT_EQ(completed, (Operations{ 0, 1, 2, 3 }));

	/* What the group's first operation raised does not count for its second. */
	irq(sumsDone[0] | sdpDone[0]);
	EXPECT_TRUE(done.empty());
	irq(dataDone[0] | weightDone[0]);
	EXPECT_EQ(done, std::vector<int>{ 0 });
}

TEST_F(Sequencer, UnexpectedInterruptsAreIgnored)
{
	irq(~0u);
	builder.addPdp();
	run();
	irq(pdpDone[1] | sdpDone[0] | convDone[1] | bdmaDone[0]);
	EXPECT_TRUE(done.empty());
	irq(pdpDone[0]);
	irq(pdpDone[0]);
	EXPECT_EQ(done, std::vector<int>{ 0 });
}

TEST_F(Sequencer, YoungerGroupDoesNotOvertake)
{
	builder.addPdp();
	builder.addPdp();
	run();
	irq(pdpDone[1]);
	EXPECT_TRUE(completed.empty());
}

TEST_F(Sequencer, LutIsUploadedOnce)
{
	builder.useLut(builder.addSdp());
	builder.addSdp();
	builder.sdp(1).y_op = builder.sdp(0).y_op;
	builder.sdp(1).lut_index = 0;
	run();
	EXPECT_EQ(core.writes(NVDLA_SDP_S_LUT_ACCESS_DATA).size(), 65u + 257u);
	EXPECT_EQ(enabled, (Operations{ 0, 1 }));
	irq(sdpDone[0] | sdpDone[1]);

	/* Nor for the next task with the same contents. */
	core.clear();
	Created again = builder.create();
	ASSERT_EQ(start(again.task.get()), 0);
	EXPECT_TRUE(core.writes(NVDLA_SDP_S_LUT_ACCESS_DATA).empty());
}

TEST_F(Sequencer, LutIsNotReplacedWhileItsEngineRuns)
{
	builder.useLut(builder.addSdp());
	builder.useLut(builder.addSdp());
	run();
	EXPECT_EQ(enabled, Operations{ 0 });
	EXPECT_EQ(core.writes(NVDLA_SDP_S_LUT_ACCESS_DATA).size(), 65u + 257u);
	core.clear();
	irq(sdpDone[0]);
	EXPECT_EQ(core.writes(NVDLA_SDP_S_LUT_ACCESS_DATA).size(), 65u + 257u);
	EXPECT_LT(core.position(NVDLA_SDP_S_LUT_ACCESS_DATA), core.position(NVDLA_SDP_D_OP_ENABLE));
	EXPECT_EQ(enabled, (Operations{ 0, 1 }));
}

TEST_F(Sequencer, LutRegistersOfCdp)
{
	builder.addCdp();
	nvdla_lut_desc &lut = builder.luts[0];
	lut.method = NVDLA_LUT_EXPONENTIAL;
	lut.le_offset.field.value = -20;
	lut.lo_offset.field.value = -3;
	lut.le_start = static_cast<uint64_t>(-5);
	lut.le_end = 0x2f12345678;
	lut.le_underflow.field = { -2, -3, 0 };
	lut.le_overflow.field = { 7, 4, 0 };
	lut.hybrid_priority = 1;
	run();
	EXPECT_EQ(core.writes(NVDLA_CDP_S_LUT_INFO), std::vector<uint32_t>{ 0xfd00ec });
	EXPECT_EQ(core.writes(NVDLA_CDP_S_LUT_CFG), std::vector<uint32_t>{ 0x40 });
	EXPECT_EQ(core.writes(NVDLA_CDP_S_LUT_LE_START_LOW), std::vector<uint32_t>{ 0xfffffffb });
	EXPECT_EQ(core.writes(NVDLA_CDP_S_LUT_LE_START_HIGH), std::vector<uint32_t>{ 0x3f });
	EXPECT_EQ(core.writes(NVDLA_CDP_S_LUT_LE_END_LOW), std::vector<uint32_t>{ 0x12345678 });
	EXPECT_EQ(core.writes(NVDLA_CDP_S_LUT_LE_END_HIGH), std::vector<uint32_t>{ 0x2f });
	EXPECT_EQ(core.writes(NVDLA_CDP_S_LUT_LE_SLOPE_SCALE), std::vector<uint32_t>{ 0x7fffe });
	EXPECT_EQ(core.writes(NVDLA_CDP_S_LUT_LE_SLOPE_SHIFT),
		  std::vector<uint32_t>{ (4 << 5) | 0x1d });
}

TEST_F(Sequencer, BdmaQueuesTransfersThenLaunches)
{
	builder.addBdma(3);
	run();
	EXPECT_EQ(core.writes(NVDLA_BDMA_CFG_OP).size(), 3u);
	EXPECT_EQ(core.writes(NVDLA_BDMA_CFG_LAUNCH0), std::vector<uint32_t>{ 1 });
	EXPECT_TRUE(core.writes(NVDLA_BDMA_CFG_LAUNCH1).empty());
	EXPECT_EQ(core.writes(NVDLA_BDMA_CFG_LINE), (std::vector<uint32_t>{ 1, 1, 1 }));
	irq(bdmaDone[0]);
	EXPECT_EQ(done, std::vector<int>{ 0 });
}

TEST_F(Sequencer, BdmaFillsOneGroupAtATimeAndNeverTooManySlots)
{
	builder.addBdma(12);
	builder.addBdma(8);
	builder.addBdma(1);
	builder.addBdma(20);
	run();
	/* 12 run and 8 are queued behind them; the third has to wait for a group. */
	EXPECT_EQ(enabled, (Operations{ 0, 1 }));
	EXPECT_EQ(core.writes(NVDLA_BDMA_CFG_OP).size(), 20u);
	irq(bdmaDone[0]);
	EXPECT_EQ(enabled, (Operations{ 0, 1, 2 }));
	irq(bdmaDone[1]);
	/* 1 + 20 transfers would be too many. */
	EXPECT_EQ(enabled, (Operations{ 0, 1, 2 }));
	irq(bdmaDone[0]);
	EXPECT_EQ(enabled, (Operations{ 0, 1, 2, 3 }));
	irq(bdmaDone[1]);
	EXPECT_EQ(done, std::vector<int>{ 0 });
}

TEST_F(Sequencer, EmptyCopyCompletesByItself)
{
	builder.addBdma(0);
	run();
	EXPECT_EQ(done, std::vector<int>{ 0 });
	EXPECT_TRUE(core.writes(NVDLA_BDMA_CFG_LAUNCH0).empty());
}

TEST_F(Sequencer, EmptyCopyDoesNotMoveBdmaGroups)
{
	builder.addBdma(1);
	builder.addBdma(0);
	builder.addBdma(1);
	run();
	EXPECT_EQ(enabled, Operations{ 0 });
	irq(bdmaDone[0]);
	EXPECT_EQ(enabled, (Operations{ 0, 1, 2 }));
	EXPECT_EQ(core.writes(NVDLA_BDMA_CFG_LAUNCH1), std::vector<uint32_t>{ 1 });
	irq(bdmaDone[1]);
	EXPECT_EQ(done, std::vector<int>{ 0 });
}

TEST_F(Sequencer, BdmaWithoutFreeSlotsIsAnError)
{
	core.readable[NVDLA_BDMA_STATUS] = 0;
	builder.addBdma(1);
	created = builder.create();
	ASSERT_EQ(created.result, 0);
	EXPECT_EQ(start(created.task.get()), -EIO);
	EXPECT_TRUE(done.empty());
	EXPECT_EQ(core.delays, 1000u);
	EXPECT_EQ(snapshot().task, nullptr);
	EXPECT_EQ(start(created.task.get()), -EIO);

	core.readable[NVDLA_BDMA_STATUS] = 0x114;
	nvdla_sequencer_reset(sequencer.get());
	EXPECT_EQ(start(created.task.get()), 0);
}

TEST_F(Sequencer, ErrorAfterAnInterruptEndsTheTask)
{
	builder.addPdp();
	builder.addConv();
	builder.edge(0, 1, NVDLA_EVENT_OP_COMPLETED);
	core.readable[NVDLA_CDMA_S_CBUF_FLUSH_STATUS] = 0;
	run();
	irq(pdpDone[0]);
	EXPECT_EQ(done, std::vector<int>{ -EIO });
	EXPECT_TRUE(core.writes(NVDLA_CDMA_D_OP_ENABLE).empty());
	EXPECT_EQ(start(created.task.get()), -EIO);
}

TEST_F(Sequencer, BufferFlushIsWaitedForOncePerReset)
{
	builder.addConv();
	run();
	const auto polls = [this] {
		return std::count_if(core.log.begin(), core.log.end(), [](const Access &access) {
			return !access.write && access.reg == NVDLA_CDMA_S_CBUF_FLUSH_STATUS;
		});
	};
	EXPECT_EQ(polls(), 1);
	irq(convDone[0] | sdpDone[0]);
	ASSERT_EQ(start(created.task.get()), 0);
	EXPECT_EQ(polls(), 1);
	irq(convDone[1] | sdpDone[1]);
	nvdla_sequencer_reset(sequencer.get());
	ASSERT_EQ(start(created.task.get()), 0);
	EXPECT_EQ(polls(), 2);
}

TEST_F(Sequencer, OneTaskAtATime)
{
	builder.addPdp();
	run();
	EXPECT_EQ(start(created.task.get()), -EBUSY);
}

TEST_F(Sequencer, AbortForgetsTheTaskUntilReset)
{
	EXPECT_EQ(nvdla_sequencer_abort(sequencer.get()), nullptr);
	builder.addPdp();
	run();
	EXPECT_EQ(nvdla_sequencer_abort(sequencer.get()), created.task.get());
	irq(pdpDone[0]);
	EXPECT_TRUE(done.empty());
	EXPECT_EQ(start(created.task.get()), -EIO);

	nvdla_sequencer_reset(sequencer.get());
	core.clear();
	EXPECT_EQ(start(created.task.get()), 0);
	/* Nothing is taken for granted after a reset. */
	EXPECT_EQ(core.writes(NVDLA_PDP_D_DATA_CUBE_IN_WIDTH).size(), 1u);
	EXPECT_EQ(core.writes(NVDLA_PDP_S_POINTER), std::vector<uint32_t>{ 0 });
	irq(pdpDone[0]);
	EXPECT_EQ(done, std::vector<int>{ 0 });
}

TEST_F(Sequencer, SnapshotShowsGroups)
{
	builder.addPdp();
	builder.addPdp();
	builder.addCdp();
	builder.edge(0, 1, NVDLA_EVENT_OP_COMPLETED);
	run();
	const struct nvdla_sequencer_snapshot now = snapshot();
	EXPECT_EQ(now.task, created.task.get());
	EXPECT_EQ(now.num_operations, 3u);
	EXPECT_EQ(now.num_completed, 0u);
	EXPECT_EQ(now.engine[NVDLA_OP_PDP].group[0].state, static_cast<u32>(NVDLA_GROUP_ENABLED));
	EXPECT_EQ(now.engine[NVDLA_OP_PDP].group[1].state,
		  static_cast<u32>(NVDLA_GROUP_PROGRAMMED));
	EXPECT_EQ(now.engine[NVDLA_OP_PDP].group[1].operation, 1u);
	EXPECT_EQ(now.engine[NVDLA_OP_PDP].group[1].waits_for, 1u);
	EXPECT_EQ(programmed, (Operations{ 0, 1, 2 }));
	EXPECT_EQ(enabled, (Operations{ 0, 2 }));
	EXPECT_EQ(now.engine[NVDLA_OP_CDP].group[0].operation, 2u);
	EXPECT_EQ(now.engine[NVDLA_OP_SDP].group[0].state, static_cast<u32>(NVDLA_GROUP_IDLE));
}

TEST_F(Sequencer, ProgramsAreWhatIsWritten)
{
	builder.addCdp();
	builder.addPdp();
	run();
	EXPECT_EQ(nvdla_task_num_completed(created.task.get()), 0u);
	for (u32 operation = 0; operation < 2; operation++) {
		u32 count = 0;
		const nvdla_reg_write *program =
			nvdla_task_program(created.task.get(), operation, &count);
		ASSERT_GT(count, 10u);
		for (u32 i = 0; i < count; i++)
			EXPECT_EQ(core.writes(program[i].reg),
				  std::vector<uint32_t>{ program[i].value })
				<< std::hex << program[i].reg;
	}
	irq(cdpDone[0]);
	EXPECT_EQ(nvdla_task_num_completed(created.task.get()), 1u);
}

TEST_F(Sequencer, StatisticsAreReadFromTheRightGroup)
{
	builder.flags = NVDLA_TASK_STATISTICS;
	builder.addConv();
	builder.addCdp();
	core.readable[NVDLA_CDMA_D_PERF_DAT_READ_STALL] = 11;
	core.readable[NVDLA_CACC_D_OUT_SATURATION] = 12;
	core.readable[NVDLA_SDP_RDMA_D_PERF_BRDMA_READ_STALL] = 13;
	core.readable[NVDLA_CDP_D_PERF_LUT_LO_HIT] = 14;
	run();
	EXPECT_EQ(core.writes(NVDLA_CDMA_D_PERF_ENABLE), std::vector<uint32_t>{ 1 });
	EXPECT_EQ(core.writes(NVDLA_SDP_D_PERF_ENABLE), std::vector<uint32_t>{ 0xf });
	irq(convDone[0] | sdpDone[0]);
	const nvdla_operation_stats *conv = nvdla_task_stats(created.task.get(), 0);
	const nvdla_operation_stats *sdp = nvdla_task_stats(created.task.get(), 1);
	const nvdla_operation_stats *cdp = nvdla_task_stats(created.task.get(), 2);
	EXPECT_TRUE(conv->valid);
	EXPECT_EQ(conv->conv.data_read_stall, 11u);
	EXPECT_EQ(conv->conv.saturation, 12u);
	EXPECT_EQ(sdp->sdp.x1_read_stall, 13u);
	EXPECT_FALSE(cdp->valid);
	irq(cdpDone[0]);
	EXPECT_TRUE(cdp->valid);
	EXPECT_EQ(cdp->op_type, static_cast<u32>(NVDLA_OP_CDP));
	EXPECT_EQ(cdp->pool.lut.lo_hit, 14u);
}

TEST_F(Sequencer, WithoutStatisticsNothingIsRead)
{
	builder.addConv();
	run();
	core.clear();
	irq(convDone[0] | sdpDone[0]);
	EXPECT_TRUE(core.log.empty());
	EXPECT_EQ(nvdla_task_stats(created.task.get(), 0), nullptr);
}

} /* namespace nvdla::test */
