// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The sequencer programs the following task while another one runs. */
#include <nvdla/hw/registers.h>

#include "../nvdla_platform.h"
#include "nvdla_test_core.h"

/* Starts a task of the core's graph, programs a second task behind it, and returns the second. */
static struct nvdla_task *follow(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_task *task;

	nvdla_test_core_run(test);
	task = nvdla_test_core_create(test);
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_follow(core->sequencer, task), 0);
	return task;
}

static void follow_programs_and_enables_nothing(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_task *task;

	nvdla_test_add_pdp(core->graph);
	task = follow(test);
	NVDLA_EXPECT_LIST(test, &core->programmed, 0, 0);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0);
	NVDLA_EXPECT_WRITES(test, NVDLA_PDP_D_OP_ENABLE, 1);
	/* The program of the second task was written to the other group. */
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH), 2);

	/* An interrupt of the second task's group is ignored before the task is started. */
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(1));
	KUNIT_EXPECT_EQ(test, core->done.count, 0);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0);

	core->num_accesses = 0;
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 0);
	/* Only op_enable is written: of PDP's RDMA, and of PDP itself. */
	KUNIT_EXPECT_EQ(test, core->num_accesses, 2);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(1));
	NVDLA_EXPECT_LIST(test, &core->done, 0, 0);
	NVDLA_EXPECT_LIST(test, &core->completed, 0, 0);
}

static void follow_waits_for_groups(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_task *task;
	u32 i;

	for (i = 0; i < 3; i++)
		nvdla_test_add_pdp(core->graph);
	task = follow(test);
	NVDLA_EXPECT_LIST(test, &core->programmed, 0, 1);
	/* The free group goes to the running task's third operation, not to the second task. */
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->programmed, 0, 1, 2);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(1));
	NVDLA_EXPECT_LIST(test, &core->programmed, 0, 1, 2, 0);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1, 2);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);

	/* In the second task, groups continue to alternate. */
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1, 2, 0, 1);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(1));
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(1));
	NVDLA_EXPECT_LIST(test, &core->done, 0, 0);
}

/* Groups are kept for operations of the running task that are not programmed yet. */
static void follow_leaves_engines_to_the_task_that_runs(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_task *task;

	nvdla_test_add_rubik(t, NVDLA_RUBIK_CONTRACT);
	nvdla_test_add_pdp(t);
	nvdla_test_edge(t, 0, 1, NVDLA_EVENT_OP_COMPLETED);
	task = follow(test);
	/* RUBIK and PDP have one free group each, for the second task's operations. */
	NVDLA_EXPECT_LIST(test, &core->programmed, 1, 0, 1, 0);
	nvdla_sequencer_irq(core->sequencer, BIT(8));
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1, 0);
}

/* Both groups share the look-up table: it must not change while an operation uses it. */
static void follow_replaces_no_table_in_use(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_task *task;

	nvdla_test_add_cdp(core->graph);
	task = follow(test);
	NVDLA_EXPECT_LIST(test, &core->programmed, 0);
	nvdla_sequencer_irq(core->sequencer, CDP_DONE(0));
	NVDLA_EXPECT_LIST(test, &core->done, 0);
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 0);
	nvdla_sequencer_irq(core->sequencer, CDP_DONE(1));
	NVDLA_EXPECT_LIST(test, &core->done, 0, 0);
}

static void follow_fills_slots_and_launches_nothing(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_task *task;

	nvdla_test_add_bdma(core->graph, 10);
	task = follow(test);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_BDMA_CFG_OP), 20);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_BDMA_CFG_LAUNCH0), 1);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_BDMA_CFG_LAUNCH1), 0);
	nvdla_sequencer_irq(core->sequencer, BDMA_DONE(0));
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_BDMA_CFG_OP), 20);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_BDMA_CFG_LAUNCH1), 1);
	nvdla_sequencer_irq(core->sequencer, BDMA_DONE(1));
	NVDLA_EXPECT_LIST(test, &core->done, 0, 0);
}

static void follow_counts_slots(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;

	nvdla_test_add_bdma(core->graph, 11);
	follow(test);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_BDMA_CFG_OP), 11);
}

static void follow_is_for_one_task_behind_one_that_runs(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_task *running, *second, *third;

	nvdla_test_add_pdp(core->graph);
	second = nvdla_test_core_create(test);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_follow(core->sequencer, second), -EBUSY);
	running = nvdla_test_core_run(test);
	third = nvdla_test_core_create(test);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_follow(core->sequencer, running), -EBUSY);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_follow(core->sequencer, second), 0);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_follow(core->sequencer, third), -EBUSY);

	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, third), -EBUSY);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, second), 0);
}

static void follow_is_forgotten_with_a_reset(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_task *task;
	u32 writes;

	nvdla_test_add_pdp(core->graph);
	task = follow(test);
	writes = nvdla_test_num_writes(core, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH);
	KUNIT_EXPECT_PTR_EQ(test, nvdla_sequencer_abort(core->sequencer), core->tasks[0]);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, task), -EIO);
	nvdla_sequencer_reset(core->sequencer);
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH),
			writes + 1);

	/* An abort also forgets the second task if the first has ended and the second not begun. */
	task = nvdla_test_core_create(test);
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_follow(core->sequencer, task), 0);
	nvdla_sequencer_irq(core->sequencer, PDP_DONE(0));
	KUNIT_EXPECT_PTR_EQ(test, nvdla_sequencer_abort(core->sequencer), NULL);
	KUNIT_EXPECT_EQ(test, nvdla_sequencer_start(core->sequencer, task), -EIO);
}

static struct kunit_case nvdla_follow_cases[] = {
	KUNIT_CASE(follow_programs_and_enables_nothing),
	KUNIT_CASE(follow_waits_for_groups),
	KUNIT_CASE(follow_leaves_engines_to_the_task_that_runs),
	KUNIT_CASE(follow_replaces_no_table_in_use),
	KUNIT_CASE(follow_fills_slots_and_launches_nothing),
	KUNIT_CASE(follow_counts_slots),
	KUNIT_CASE(follow_is_for_one_task_behind_one_that_runs),
	KUNIT_CASE(follow_is_forgotten_with_a_reset),
	{}
};

static struct kunit_suite nvdla_follow_suite = {
	.name = "nvdla_follow",
	.init = nvdla_test_core_init,
	.exit = nvdla_test_core_exit,
	.test_cases = nvdla_follow_cases,
};

kunit_test_suite(nvdla_follow_suite);
