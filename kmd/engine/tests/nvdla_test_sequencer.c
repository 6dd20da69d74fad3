// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The order in which the sequencer writes to a core, and its reactions to interrupts.
 */
#include <nvdla/hw/registers.h>

#include "../nvdla_platform.h"
#include "nvdla_test_core.h"

/* Returns the task that the core's sequencer runs, or NULL. */
static const struct nvdla_task *core_task(const struct nvdla_test_core *core)
{
	struct nvdla_sequencer_snapshot snapshot;

	nvdla_sequencer_snapshot(core->sequencer, &snapshot);
	return snapshot.task;
}

static void sequencer_task_ends_when_all_operations_completed(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_add_conv(t);
	nvdla_test_core_run(test);
	nvdla_sequencer_irq(core->sequencer, CONV_DONE(0));
	KUNIT_EXPECT_EQ(test, core->done.count, 0);
	nvdla_sequencer_irq(core->sequencer, SDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
	NVDLA_EXPECT_LIST(test, &core->completed, 0, 1);
	KUNIT_EXPECT_PTR_EQ(test, core_task(core), NULL);
}

static void sequencer_both_groups_are_kept_busy(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	u32 i;

	for (i = 0; i < 4; i++)
		nvdla_test_add_pdp(t);
	nvdla_test_core_run(test);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1);
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_S_POINTER, 0, 1);

	core->num_accesses = 0;
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1, 2);
	/* Nothing differs between operations 0 and 2: only the enables are written. */
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_PDP_D_OP_ENABLE), 1);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH), 0);
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_S_POINTER, 0);

	nvdla_sequencer_irq(core->sequencer, PDP_DONE(1));
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0) | PDP_DONE(1));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
	NVDLA_EXPECT_LIST(test, &core->completed, 0, 1, 2, 3);
}

/* op_enable of an idle engine is written before the registers of later operations. */
static void sequencer_what_is_ready_is_enabled_before_more_is_written(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	u32 i;

	for (i = 0; i < 3; i++) {
		nvdla_test_add_pdp(t);
		t->surfaces[i].pdp.dst_data.offset = 0x400 * i;
		if (i)
			nvdla_test_edge(t, i - 1, i, NVDLA_EVENT_OP_COMPLETED);
	}
	nvdla_test_core_run(test);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0);
	NVDLA_EXPECT_LIST(test, &core->programmed, 0, 1);

	core->num_accesses = 0;
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1);
	KUNIT_EXPECT_EQ(test, nvdla_test_position(core, NVDLA_PDP_RDMA_D_OP_ENABLE), 0);
	KUNIT_EXPECT_EQ(test, nvdla_test_position(core, NVDLA_PDP_D_OP_ENABLE), 1);
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_D_DST_BASE_ADDR_LOW,
			    (u32)t->extents[3].dma_addr + 0x800);
}

static void sequencer_only_changed_registers_are_written(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_task *task;

	nvdla_test_add_pdp(t);
	task = nvdla_test_core_run(test);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(1));
	KUNIT_ASSERT_EQ(test, core->done.count, 2);

	/* The third run uses group 0 again. Only the destination differs from the first run. */
	t->surfaces[0].pdp.dst_data.offset = 0x400;
	core->num_accesses = 0;
	nvdla_test_core_run(test);
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_D_DST_BASE_ADDR_LOW,
			    (u32)t->extents[3].dma_addr + 0x400);
	/* Five accesses: two register pointers, the address, two enables. */
	KUNIT_EXPECT_EQ(test, core->num_accesses, 5);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
}

static void sequencer_groups_begin_where_the_core_is(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_core_reads(core, NVDLA_PDP_S_POINTER, NVDLA_PDP_S_POINTER__CONSUMER);
	nvdla_test_add_pdp(t);
	nvdla_test_core_run(test);
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_S_POINTER, 1);
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_RDMA_S_POINTER, 0);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	KUNIT_EXPECT_EQ(test, core->done.count, 0);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(1));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
}

static void sequencer_rdma_groups_move_only_when_used(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	/* PDP with its RDMA, then without (it takes SDP's stream), then with it again. */
	nvdla_test_add_pdp(t);
	nvdla_test_add_sdp_pdp(t);
	nvdla_test_add_pdp(t);
	nvdla_test_edge(t, 0, 2, NVDLA_EVENT_OP_COMPLETED);
	nvdla_test_edge(t, 2, 3, NVDLA_EVENT_OP_COMPLETED);
	nvdla_test_core_run(test);
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_RDMA_S_POINTER, 0);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	nvdla_sequencer_irq(core->sequencer, SDP_DONE(0) | PDP_DONE(1));
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_RDMA_S_POINTER, 0, 1);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_PDP_RDMA_D_OP_ENABLE), 2);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
}

static void sequencer_stream_consumers_are_enabled_first(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_add_sdp_pdp(t);
	nvdla_test_core_run(test);
	NVDLA_EXPECT_LIST(test, &core->enabled, 1, 0);
	KUNIT_EXPECT_LT(test, nvdla_test_position(core, NVDLA_PDP_D_OP_ENABLE),
			nvdla_test_position(core, NVDLA_SDP_D_OP_ENABLE));
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_PDP_RDMA_D_OP_ENABLE), 0);
}

static void sequencer_unexpected_interrupts_are_ignored(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_sequencer_irq(core->sequencer, ~0U);
	nvdla_test_add_pdp(t);
	nvdla_test_core_run(test);
	nvdla_sequencer_irq(core->sequencer,
			    PDP_DONE(1) | SDP_DONE(0) | CONV_DONE(1) | BDMA_DONE(0));
	KUNIT_EXPECT_EQ(test, core->done.count, 0);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
}

static void sequencer_younger_group_does_not_overtake(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_add_pdp(t);
	nvdla_test_add_pdp(t);
	nvdla_test_core_run(test);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(1));
	KUNIT_EXPECT_EQ(test, core->completed.count, 0);
}

static void sequencer_error_after_an_interrupt_ends_the_task(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_task *task;

	nvdla_test_add_pdp(t);
	nvdla_test_add_conv(t);
	nvdla_test_edge(t, 0, 1, NVDLA_EVENT_OP_COMPLETED);
	nvdla_test_core_reads(core, NVDLA_CDMA_S_CBUF_FLUSH_STATUS, 0);
	task = nvdla_test_core_run(test);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, -EIO);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_CDMA_D_OP_ENABLE), 0);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, task), -EIO);
}

static void sequencer_one_task_at_a_time(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_task *task;

	nvdla_test_add_pdp(t);
	task = nvdla_test_core_run(test);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, task), -EBUSY);
}

static void sequencer_abort_forgets_the_task_until_reset(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_task *task;

	KUNIT_EXPECT_PTR_EQ(test, nvdla_sequencer_abort(core->sequencer), NULL);
	nvdla_test_add_pdp(t);
	task = nvdla_test_core_run(test);
	KUNIT_EXPECT_PTR_EQ(test, nvdla_sequencer_abort(core->sequencer), task);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	KUNIT_EXPECT_EQ(test, core->done.count, 0);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, task), -EIO);

	nvdla_sequencer_reset(core->sequencer);
	core->num_accesses = 0;
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	/* After a reset, no register is assumed to hold an earlier value. */
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH), 1);
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_S_POINTER, 0);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
}

static void sequencer_snapshot_shows_groups(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_sequencer_snapshot now;
	struct nvdla_task *task;

	nvdla_test_add_pdp(t);
	nvdla_test_add_pdp(t);
	nvdla_test_add_cdp(t);
	nvdla_test_edge(t, 0, 1, NVDLA_EVENT_OP_COMPLETED);
	task = nvdla_test_core_run(test);
	nvdla_sequencer_snapshot(core->sequencer, &now);
	KUNIT_EXPECT_PTR_EQ(test, now.task, task);
	KUNIT_EXPECT_EQ(test, now.num_operations, 3);
	KUNIT_EXPECT_EQ(test, now.num_completed, 0);
	KUNIT_EXPECT_EQ(test, now.engine[NVDLA_OP_PDP].group[0].state, NVDLA_GROUP_ENABLED);
	KUNIT_EXPECT_EQ(test, now.engine[NVDLA_OP_PDP].group[1].state, NVDLA_GROUP_PROGRAMMED);
	KUNIT_EXPECT_EQ(test, now.engine[NVDLA_OP_PDP].group[1].operation, 1);
	KUNIT_EXPECT_EQ(test, now.engine[NVDLA_OP_PDP].group[1].waits_for, 1);
	/* Operation 2 is programmed before 1, because its engine is idle. */
	NVDLA_EXPECT_LIST(test, &core->programmed, 0, 2, 1);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 2);
	KUNIT_EXPECT_EQ(test, now.engine[NVDLA_OP_CDP].group[0].operation, 2);
	KUNIT_EXPECT_EQ(test, now.engine[NVDLA_OP_SDP].group[0].state, NVDLA_GROUP_IDLE);
}

static void sequencer_programs_are_what_is_written(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_task *task;
	struct nvdla_reg_write write;
	u32 operation;
	u32 count;
	u32 i;

	nvdla_test_add_cdp(t);
	nvdla_test_add_pdp(t);
	task = nvdla_test_core_run(test);
	KUNIT_EXPECT_EQ(test, nvdla_task_num_completed(task), 0);
	for (operation = 0; operation < 2; operation++) {
		count = nvdla_task_num_writes(task, operation);
		KUNIT_EXPECT_GT(test, count, 10);
		for (i = 0; i < count; i++) {
			write = nvdla_task_write(task, operation, i);
			NVDLA_EXPECT_WRITES(test, write.reg, write.value);
		}
	}
	nvdla_sequencer_irq(core->sequencer, CDP_DONE(0));
	KUNIT_EXPECT_EQ(test, nvdla_task_num_completed(task), 1);
}

static struct kunit_case nvdla_sequencer_cases[] = {
	KUNIT_CASE(sequencer_task_ends_when_all_operations_completed),
	KUNIT_CASE(sequencer_both_groups_are_kept_busy),
	KUNIT_CASE(sequencer_what_is_ready_is_enabled_before_more_is_written),
	KUNIT_CASE(sequencer_only_changed_registers_are_written),
	KUNIT_CASE(sequencer_groups_begin_where_the_core_is),
	KUNIT_CASE(sequencer_rdma_groups_move_only_when_used),
	KUNIT_CASE(sequencer_stream_consumers_are_enabled_first),
	KUNIT_CASE(sequencer_unexpected_interrupts_are_ignored),
	KUNIT_CASE(sequencer_younger_group_does_not_overtake),
	KUNIT_CASE(sequencer_error_after_an_interrupt_ends_the_task),
	KUNIT_CASE(sequencer_one_task_at_a_time),
	KUNIT_CASE(sequencer_abort_forgets_the_task_until_reset),
	KUNIT_CASE(sequencer_snapshot_shows_groups),
	KUNIT_CASE(sequencer_programs_are_what_is_written),
	{}
};

static struct kunit_suite nvdla_sequencer_suite = {
	.name = "nvdla_sequencer",
	.init = nvdla_test_core_init,
	.exit = nvdla_test_core_exit,
	.test_cases = nvdla_sequencer_cases,
};

kunit_test_suite(nvdla_sequencer_suite);
