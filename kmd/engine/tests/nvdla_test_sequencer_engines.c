// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Behaviour of the sequencer for single engines: convolution, copies, counters.
 */
#include <nvdla/hw/registers.h>

#include "../nvdla_platform.h"
#include "../nvdla_result.h"
#include "nvdla_test_core.h"

/* Returns the task that the core's sequencer runs, or NULL. */
static const struct nvdla_task *core_task(const struct nvdla_test_core *core)
{
	struct nvdla_sequencer_snapshot snapshot;

	nvdla_sequencer_snapshot(core->sequencer, &snapshot);
	return snapshot.task;
}

static void sequencer_convolution_is_enabled_from_its_end_to_its_beginning(struct kunit *test)
{
	static const u32 order[] = {
		NVDLA_SDP_RDMA_D_OP_ENABLE, NVDLA_SDP_D_OP_ENABLE,
		NVDLA_CACC_D_OP_ENABLE, NVDLA_CMAC_A_D_OP_ENABLE,
		NVDLA_CMAC_B_D_OP_ENABLE, NVDLA_CSC_D_OP_ENABLE, NVDLA_CDMA_D_OP_ENABLE,
	};
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	u32 i;

	nvdla_test_add_conv(t);
	nvdla_test_core_run(test);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		NVDLA_EXPECT_WRITES(test, order[i], 1);
		if (i > 0)
			KUNIT_EXPECT_LT(test, nvdla_test_position(core, order[i - 1]),
					nvdla_test_position(core, order[i]));
	}
	NVDLA_EXPECT_LIST(test, &core->enabled, 1, 0);
}

static void sequencer_fetch_events_release_waiters(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_add_conv(t);
	nvdla_test_add_pdp(t);
	nvdla_test_add_cdp(t);
	nvdla_test_edge(t, 0, 2, NVDLA_EVENT_CDMA_WT_DONE);
	nvdla_test_edge(t, 0, 3, NVDLA_EVENT_CDMA_DT_DONE);
	nvdla_test_core_run(test);
	NVDLA_EXPECT_LIST(test, &core->enabled, 1, 0);
	nvdla_sequencer_irq(core->sequencer, WEIGHT_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->enabled, 1, 0, 2);
	nvdla_sequencer_irq(core->sequencer, WEIGHT_DONE(0));
	nvdla_sequencer_irq(core->sequencer, DATA_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->enabled, 1, 0, 2, 3);
}

/* CDMA can still read memory when all sums are done; the memory must not be freed before that. */
static void sequencer_convolution_ends_with_its_last_fetch(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_add_conv(t);
	nvdla_test_add_pdp(t);
	nvdla_test_edge(t, 0, 2, NVDLA_EVENT_OP_COMPLETED);
	nvdla_test_core_run(test);
	nvdla_sequencer_irq(core->sequencer, SUMS_DONE(0) | SDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->completed, 1);
	nvdla_sequencer_irq(core->sequencer, DATA_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->completed, 1);
	nvdla_sequencer_irq(core->sequencer, WEIGHT_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->completed, 1, 0);
	NVDLA_EXPECT_LIST(test, &core->enabled, 1, 0, 2);
}

/* The second convolution has fetched its weights before the first one has delivered its sums. */
static void sequencer_fetches_of_the_next_convolution_are_remembered(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	u32 i;

	for (i = 0; i < 3; i++)
		nvdla_test_add_conv(t);
	nvdla_test_core_run(test);
	nvdla_sequencer_irq(core->sequencer, DATA_DONE(0) | WEIGHT_DONE(0));
	nvdla_sequencer_irq(core->sequencer, WEIGHT_DONE(1));
	nvdla_sequencer_irq(core->sequencer, SUMS_DONE(0) | SDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->completed, 0, 1);
	nvdla_sequencer_irq(core->sequencer, DATA_DONE(1) | SUMS_DONE(1) | SDP_DONE(1));
	NVDLA_EXPECT_LIST(test, &core->completed, 0, 1, 2, 3);

	/* Interrupts of the group's first operation do not count for its second. */
	nvdla_sequencer_irq(core->sequencer, SUMS_DONE(0) | SDP_DONE(0));
	KUNIT_EXPECT_EQ(test, core->done.count, 0);
	nvdla_sequencer_irq(core->sequencer, DATA_DONE(0) | WEIGHT_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
}

static void sequencer_bdma_queues_transfers_then_launches(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_add_bdma(t, 3);
	nvdla_test_core_run(test);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_BDMA_CFG_OP), 3);
	NVDLA_EXPECT_WRITES(test, NVDLA_BDMA_CFG_LAUNCH0, 1);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_BDMA_CFG_LAUNCH1), 0);
	/* BDMA's registers keep their values, so an equal value is written only once. */
	NVDLA_EXPECT_WRITES(test, NVDLA_BDMA_CFG_LINE, 1);
	nvdla_sequencer_irq(core->sequencer, BDMA_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
}

static void sequencer_bdma_is_asked_for_slots_when_none_are_known(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_add_bdma(t, 8);
	nvdla_test_add_bdma(t, 8);
	nvdla_test_add_bdma(t, 8);
	nvdla_test_core_run(test);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_reads(core, NVDLA_BDMA_STATUS), 1);
	/* The operation needs 8 slots; only 4 are known to be free, so the status is read. */
	nvdla_sequencer_irq(core->sequencer, BDMA_DONE(0));
	KUNIT_EXPECT_EQ(test, nvdla_test_num_reads(core, NVDLA_BDMA_STATUS), 2);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1, 2);
}

static void sequencer_bdma_fills_one_group_at_a_time_and_never_too_many_slots(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_add_bdma(t, 12);
	nvdla_test_add_bdma(t, 8);
	nvdla_test_add_bdma(t, 1);
	nvdla_test_add_bdma(t, 20);
	nvdla_test_core_run(test);
	/* 12 transfers run and 8 are queued; the third operation has to wait for a group. */
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_BDMA_CFG_OP), 20);
	nvdla_sequencer_irq(core->sequencer, BDMA_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1, 2);
	nvdla_sequencer_irq(core->sequencer, BDMA_DONE(1));
	/* 1 + 20 transfers would need more than the 20 slots. */
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1, 2);
	nvdla_sequencer_irq(core->sequencer, BDMA_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1, 2, 3);
	nvdla_sequencer_irq(core->sequencer, BDMA_DONE(1));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
}

static void sequencer_empty_copy_completes_by_itself(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_add_bdma(t, 0);
	nvdla_test_core_run(test);
	NVDLA_EXPECT_LIST(test, &core->done, 0);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_BDMA_CFG_LAUNCH0), 0);
}

static void sequencer_empty_copy_does_not_move_bdma_groups(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_add_bdma(t, 1);
	nvdla_test_add_bdma(t, 0);
	nvdla_test_add_bdma(t, 1);
	nvdla_test_core_run(test);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0);
	nvdla_sequencer_irq(core->sequencer, BDMA_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1, 2);
	NVDLA_EXPECT_WRITES(test, NVDLA_BDMA_CFG_LAUNCH1, 1);
	nvdla_sequencer_irq(core->sequencer, BDMA_DONE(1));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
}

static void sequencer_bdma_without_free_slots_is_an_error(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_task *task;

	nvdla_test_core_reads(core, NVDLA_BDMA_STATUS, 0);
	nvdla_test_add_bdma(t, 1);
	task = nvdla_test_core_create(test);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, task), -EIO);
	KUNIT_EXPECT_EQ(test, core->done.count, 0);
	KUNIT_EXPECT_EQ(test, core->delays, 1000);
	KUNIT_EXPECT_PTR_EQ(test, core_task(core), NULL);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, task), -EIO);

	nvdla_test_core_reads(core, NVDLA_BDMA_STATUS, 0x114);
	nvdla_sequencer_reset(core->sequencer);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
}

static void sequencer_buffer_flush_is_waited_for_once_per_reset(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_task *task;

	nvdla_test_add_conv(t);
	task = nvdla_test_core_run(test);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_reads(core, NVDLA_CDMA_S_CBUF_FLUSH_STATUS), 1);
	nvdla_sequencer_irq(core->sequencer, CONV_DONE(0) | SDP_DONE(0));
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_reads(core, NVDLA_CDMA_S_CBUF_FLUSH_STATUS), 1);
	nvdla_sequencer_irq(core->sequencer, CONV_DONE(1) | SDP_DONE(1));
	nvdla_sequencer_reset(core->sequencer);
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_reads(core, NVDLA_CDMA_S_CBUF_FLUSH_STATUS), 2);
}

static void sequencer_nan_is_flushed_by_whoever_is_told_to(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	u32 i;

	/*
	 * Two operations in each register group: the first keeps NaN, the second flushes it, so
	 * that the register has to be written again.
	 */
	for (i = 0; i < 4; i++) {
		nvdla_test_add_pdp(t);
		t->operations[i].pdp.precision = NVDLA_PRECISION_FP16;
		t->operations[i].extended.nan_to_zero = i / 2;
	}
	nvdla_test_core_run(test);
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_D_NAN_FLUSH_TO_ZERO, 0, 0);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0) | PDP_DONE(1));
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_D_NAN_FLUSH_TO_ZERO, 0, 0, 1, 1);
}

static void sequencer_statistics_are_read_from_the_right_group(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct drm_nvdla_operation_result conv, sdp, cdp;
	struct nvdla_task *task;

	t->flags = NVDLA_TASK_STATISTICS;
	nvdla_test_add_conv(t);
	nvdla_test_add_cdp(t);
	nvdla_test_core_reads(core, NVDLA_CDMA_D_PERF_DAT_READ_STALL, 11);
	nvdla_test_core_reads(core, NVDLA_CACC_D_OUT_SATURATION, 12);
	nvdla_test_core_reads(core, NVDLA_SDP_RDMA_D_PERF_BRDMA_READ_STALL, 13);
	nvdla_test_core_reads(core, NVDLA_CDP_D_PERF_LUT_LO_HIT, 14);
	task = nvdla_test_core_run(test);
	NVDLA_EXPECT_WRITES(test, NVDLA_CDMA_D_PERF_ENABLE, 1);
	NVDLA_EXPECT_WRITES(test, NVDLA_SDP_D_PERF_ENABLE, 0xf);
	nvdla_sequencer_irq(core->sequencer, CONV_DONE(0) | SDP_DONE(0));
	nvdla_result_operation(task, 0, &conv);
	nvdla_result_operation(task, 1, &sdp);
	nvdla_result_operation(task, 2, &cdp);
	KUNIT_EXPECT_TRUE(test, conv.flags & DRM_NVDLA_OPERATION_COUNTED);
	KUNIT_EXPECT_EQ(test, conv.read_stall, 11);
	KUNIT_EXPECT_EQ(test, conv.saturation, 12);
	KUNIT_EXPECT_EQ(test, sdp.operand_read_stall[0], 13);
	KUNIT_EXPECT_FALSE(test, cdp.flags & DRM_NVDLA_OPERATION_COUNTED);
	nvdla_sequencer_irq(core->sequencer, CDP_DONE(0));
	nvdla_result_operation(task, 2, &cdp);
	KUNIT_EXPECT_TRUE(test, cdp.flags & DRM_NVDLA_OPERATION_COUNTED);
	KUNIT_EXPECT_EQ(test, cdp.op_type, NVDLA_OP_CDP);
	KUNIT_EXPECT_EQ(test, cdp.lut.lo_hit, 14);
}

/* The CPU has to wait for each read of a register, so needless reads are avoided. */
static void sequencer_counters_that_stay_zero_are_not_read(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	u32 reads = 0;
	u32 i;

	t->flags = NVDLA_TASK_STATISTICS;
	nvdla_test_add_conv(t);
	nvdla_test_core_run(test);
	core->num_accesses = 0;
	nvdla_sequencer_irq(core->sequencer, CONV_DONE(0) | SDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
	for (i = 0; i < core->num_accesses; i++)
		reads += !core->accesses[i].write;
	/* CDMA has 4 counters, CACC 1, SDP 2, its only operand 1; no FP16, no look-up table. */
	KUNIT_EXPECT_EQ(test, reads, 8);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_reads(core, NVDLA_SDP_RDMA_D_PERF_BRDMA_READ_STALL),
			1);
}

static void sequencer_without_statistics_nothing_is_read(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct drm_nvdla_operation_result conv;
	struct nvdla_task *task;

	nvdla_test_add_conv(t);
	task = nvdla_test_core_run(test);
	core->num_accesses = 0;
	nvdla_sequencer_irq(core->sequencer, CONV_DONE(0) | SDP_DONE(0));
	KUNIT_EXPECT_EQ(test, core->num_accesses, 0);
	nvdla_result_operation(task, 0, &conv);
	KUNIT_EXPECT_FALSE(test, conv.flags & DRM_NVDLA_OPERATION_COUNTED);
}

static struct kunit_case nvdla_sequencer_engines_cases[] = {
	KUNIT_CASE(sequencer_convolution_is_enabled_from_its_end_to_its_beginning),
	KUNIT_CASE(sequencer_fetch_events_release_waiters),
	KUNIT_CASE(sequencer_convolution_ends_with_its_last_fetch),
	KUNIT_CASE(sequencer_fetches_of_the_next_convolution_are_remembered),
	KUNIT_CASE(sequencer_bdma_queues_transfers_then_launches),
	KUNIT_CASE(sequencer_bdma_is_asked_for_slots_when_none_are_known),
	KUNIT_CASE(sequencer_bdma_fills_one_group_at_a_time_and_never_too_many_slots),
	KUNIT_CASE(sequencer_empty_copy_completes_by_itself),
	KUNIT_CASE(sequencer_empty_copy_does_not_move_bdma_groups),
	KUNIT_CASE(sequencer_bdma_without_free_slots_is_an_error),
	KUNIT_CASE(sequencer_buffer_flush_is_waited_for_once_per_reset),
	KUNIT_CASE(sequencer_nan_is_flushed_by_whoever_is_told_to),
	KUNIT_CASE(sequencer_statistics_are_read_from_the_right_group),
	KUNIT_CASE(sequencer_counters_that_stay_zero_are_not_read),
	KUNIT_CASE(sequencer_without_statistics_nothing_is_read),
	{}
};

static struct kunit_suite nvdla_sequencer_engines_suite = {
	.name = "nvdla_sequencer_engines",
	.init = nvdla_test_core_init,
	.exit = nvdla_test_core_exit,
	.test_cases = nvdla_sequencer_engines_cases,
};

kunit_test_suite(nvdla_sequencer_engines_suite);
