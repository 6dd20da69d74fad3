// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <nvdla/hw/registers.h>

#include "../nvdla_platform.h"
#include "nvdla_test_core.h"

static u32 nvdla_test_read(void *context, u32 reg)
{
	struct nvdla_test_core *core = context;
	struct nvdla_test_access access = { .reg = reg };
	u32 i;

	for (i = 0; i < core->num_readable; i++)
		if (core->readable[i].reg == reg)
			access.value = core->readable[i].value;
	if (core->num_accesses < NVDLA_TEST_MAX_ACCESSES)
		core->accesses[core->num_accesses++] = access;
	return access.value;
}

static void nvdla_test_write(void *context, u32 reg, u32 value)
{
	struct nvdla_test_core *core = context;

	if (core->num_accesses < NVDLA_TEST_MAX_ACCESSES)
		core->accesses[core->num_accesses++] = (struct nvdla_test_access) {
			.write = true,
			.reg = reg,
			.value = value,
		};
}

static void nvdla_test_delay(void *context, u32 us)
{
	struct nvdla_test_core *core = context;

	core->delays++;
}

static u64 nvdla_test_now(void *context)
{
	struct nvdla_test_core *core = context;

	return ++core->now_ns;
}

static void nvdla_test_note(struct nvdla_test_list *list, s64 value)
{
	if (list->count < NVDLA_TEST_MAX_EVENTS)
		list->values[list->count++] = value;
}

static void nvdla_test_task_done(void *context, struct nvdla_task *task, int why)
{
	struct nvdla_test_core *core = context;

	nvdla_test_note(&core->done, why);
}

static void nvdla_test_op_programmed(void *context, const struct nvdla_task *task, u32 operation)
{
	struct nvdla_test_core *core = context;

	nvdla_test_note(&core->programmed, operation);
}

static void nvdla_test_op_enabled(void *context, struct nvdla_task *task, u32 operation)
{
	struct nvdla_test_core *core = context;

	nvdla_test_note(&core->enabled, operation);
}

static void nvdla_test_op_completed(void *context, struct nvdla_task *task, u32 operation)
{
	struct nvdla_test_core *core = context;

	nvdla_test_note(&core->completed, operation);
}

static const struct nvdla_sequencer_ops nvdla_test_ops = {
	.task_done = nvdla_test_task_done,
	.op_programmed = nvdla_test_op_programmed,
	.op_enabled = nvdla_test_op_enabled,
	.op_completed = nvdla_test_op_completed,
};

/**
 * nvdla_test_core_init() - set up a core as a test's private data, before each test of a suite
 * @test: test
 *
 * Return: 0.
 */
int nvdla_test_core_init(struct kunit *test)
{
	struct nvdla_test_core *core = kunit_kzalloc(test, sizeof(*core), GFP_KERNEL);
	struct nvdla_io io = {
		.context = core,
		.read = nvdla_test_read,
		.write = nvdla_test_write,
		.delay = nvdla_test_delay,
		.now = nvdla_test_now,
	};

	KUNIT_ASSERT_NOT_NULL(test, core);
	core->graph = nvdla_test_task_new(test);
	nvdla_test_core_reads(core, NVDLA_CDMA_S_CBUF_FLUSH_STATUS, 1);
	nvdla_test_core_reads(core, NVDLA_BDMA_STATUS, 0x114);
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_create(nvdla_variant_nv_full(), &io, &nvdla_test_ops,
						     core, &core->sequencer), 0);
	test->priv = core;
	return 0;
}

/**
 * nvdla_test_core_exit() - free the core of nvdla_test_core_init(), after each test of a suite
 * @test: test
 */
void nvdla_test_core_exit(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;

	if (!core)
		return;

	nvdla_sequencer_abort(core->sequencer);
	nvdla_sequencer_destroy(core->sequencer);
	while (core->num_tasks)
		nvdla_task_destroy(core->tasks[--core->num_tasks]);
}

/**
 * nvdla_test_core_reads() - set the value that a register reads from now on
 * @core: core
 * @reg: the register
 * @value: its value
 */
void nvdla_test_core_reads(struct nvdla_test_core *core, u32 reg, u32 value)
{
	u32 i;

	for (i = 0; i < core->num_readable; i++)
		if (core->readable[i].reg == reg)
			break;
	if (i == core->num_readable)
		core->num_readable++;
	core->readable[i].reg = reg;
	core->readable[i].value = value;
}

/**
 * nvdla_test_core_create() - make a task of the core's graph
 * @test: test
 *
 * Return: the task, which is freed after the test.
 */
struct nvdla_task *nvdla_test_core_create(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_refusal why = {};
	struct nvdla_task *task = NULL;

	KUNIT_ASSERT_EQ(test, nvdla_test_task_create(core->graph, &why, &task), 0);
	core->tasks[core->num_tasks++] = task;
	return task;
}

/**
 * nvdla_test_core_run() - make a task of the core's graph and start it
 * @test: test
 *
 * Return: the task.
 */
struct nvdla_task *nvdla_test_core_run(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_task *task = nvdla_test_core_create(test);

	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	return task;
}

static u32 nvdla_test_num_accesses(const struct nvdla_test_core *core, u32 reg, bool write)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < core->num_accesses; i++)
		count += core->accesses[i].write == write && core->accesses[i].reg == reg;
	return count;
}

/**
 * nvdla_test_num_writes() - count the writes of a register
 * @core: core
 * @reg: the register
 *
 * Return: the number.
 */
u32 nvdla_test_num_writes(const struct nvdla_test_core *core, u32 reg)
{
	return nvdla_test_num_accesses(core, reg, true);
}

/**
 * nvdla_test_num_reads() - count the reads of a register
 * @core: core
 * @reg: the register
 *
 * Return: the number.
 */
u32 nvdla_test_num_reads(const struct nvdla_test_core *core, u32 reg)
{
	return nvdla_test_num_accesses(core, reg, false);
}

/**
 * nvdla_test_position() - find the first write of a register among all accesses
 * @core: core
 * @reg: the register
 *
 * Return: the number of accesses before it, or of all accesses if there was no write.
 */
u32 nvdla_test_position(const struct nvdla_test_core *core, u32 reg)
{
	u32 i;

	for (i = 0; i < core->num_accesses; i++)
		if (core->accesses[i].write && core->accesses[i].reg == reg)
			break;
	return i;
}

/**
 * nvdla_test_expect_list() - see NVDLA_EXPECT_LIST()
 * @test: test
 * @list: events that the test recorded
 * @expected: events that should have happened
 * @count: entries of @expected
 * @line: line of the test
 */
void nvdla_test_expect_list(struct kunit *test, const struct nvdla_test_list *list,
			    const s64 *expected, u32 count, int line)
{
	u32 i;

	KUNIT_EXPECT_EQ_MSG(test, list->count, count, "line %d", line);
	for (i = 0; i < min(list->count, count); i++)
		KUNIT_EXPECT_EQ_MSG(test, list->values[i], expected[i], "line %d, entry %u", line,
				    i);
}

/**
 * nvdla_test_expect_writes() - see NVDLA_EXPECT_WRITES()
 * @test: test
 * @reg: the register
 * @expected: values that should have been written
 * @count: entries of @expected
 * @line: line of the test
 */
void nvdla_test_expect_writes(struct kunit *test, u32 reg, const s64 *expected, u32 count,
			      int line)
{
	const struct nvdla_test_core *core = test->priv;
	u32 found = 0;
	u32 i;

	KUNIT_EXPECT_EQ_MSG(test, nvdla_test_num_writes(core, reg), count, "line %d", line);
	for (i = 0; i < core->num_accesses; i++) {
		const struct nvdla_test_access *access = &core->accesses[i];

		if (!access->write || access->reg != reg || found == count)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, access->value, expected[found], "line %d, entry %u",
				    line, found);
		found++;
	}
}
