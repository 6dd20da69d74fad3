// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Sequencer: runs a task on a core, driven by the core's interrupts. */

#include "nvdla_sequencer.h"

#include <nvdla/hw/registers.h>

#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_schedule.h"
#include "nvdla_sequencer_internal.h"

static int program_operation(void *context, const struct nvdla_task *task, u32 operation,
			     u32 group)
{
	struct nvdla_sequencer *sequencer = context;
	int ret = nvdla_issue_program(sequencer, task, operation, group);

	if (!ret && sequencer->ops->op_programmed)
		sequencer->ops->op_programmed(sequencer->context, task, operation);
	return ret;
}

static void complete_operation(void *context, u32 operation, u32 group)
{
	struct nvdla_sequencer *sequencer = context;

	sequencer->task->state[operation].times.end_ns = nvdla_sequencer_now(sequencer);
	if (sequencer->task->counted)
		nvdla_stats_read(sequencer, operation, group);
	if (sequencer->ops->op_completed)
		sequencer->ops->op_completed(sequencer->context, sequencer->task, operation);
}

static const struct nvdla_schedule_ops issue_ops = {
	.program = program_operation,
	.enable = nvdla_issue_enable,
	.complete = complete_operation,
};

/* Per engine and group: bits of GLB's S_INTR_STATUS that report the end of an operation. */
static const u32 done_bits[NVDLA_NUM_OP_TYPES][NVDLA_NUM_GROUPS] = {
	[NVDLA_OP_BDMA] = { NVDLA_GLB_S_INTR_STATUS__BDMA_DONE_STATUS0,
			    NVDLA_GLB_S_INTR_STATUS__BDMA_DONE_STATUS1 },
	[NVDLA_OP_CONV] = { NVDLA_GLB_S_INTR_STATUS__CACC_DONE_STATUS0,
			    NVDLA_GLB_S_INTR_STATUS__CACC_DONE_STATUS1 },
	[NVDLA_OP_SDP] = { NVDLA_GLB_S_INTR_STATUS__SDP_DONE_STATUS0,
			   NVDLA_GLB_S_INTR_STATUS__SDP_DONE_STATUS1 },
	[NVDLA_OP_PDP] = { NVDLA_GLB_S_INTR_STATUS__PDP_DONE_STATUS0,
			   NVDLA_GLB_S_INTR_STATUS__PDP_DONE_STATUS1 },
	[NVDLA_OP_CDP] = { NVDLA_GLB_S_INTR_STATUS__CDP_DONE_STATUS0,
			   NVDLA_GLB_S_INTR_STATUS__CDP_DONE_STATUS1 },
	[NVDLA_OP_RUBIK] = { NVDLA_GLB_S_INTR_STATUS__RUBIK_DONE_STATUS0,
			     NVDLA_GLB_S_INTR_STATUS__RUBIK_DONE_STATUS1 },
};

static const u32 weight_bits[NVDLA_NUM_GROUPS] = {
	NVDLA_GLB_S_INTR_STATUS__CDMA_WT_DONE_STATUS0,
	NVDLA_GLB_S_INTR_STATUS__CDMA_WT_DONE_STATUS1,
};

static const u32 data_bits[NVDLA_NUM_GROUPS] = {
	NVDLA_GLB_S_INTR_STATUS__CDMA_DAT_DONE_STATUS0,
	NVDLA_GLB_S_INTR_STATUS__CDMA_DAT_DONE_STATUS1,
};

int nvdla_sequencer_create(const struct nvdla_variant *variant, const struct nvdla_io *io,
			   const struct nvdla_sequencer_ops *ops, void *context,
			   struct nvdla_sequencer **sequencer)
{
	struct nvdla_sequencer *created = kvzalloc(sizeof(*created), GFP_KERNEL);

	if (!created)
		return -ENOMEM;

	created->variant = variant;
	created->io = *io;
	created->ops = ops;
	created->context = context;
	nvdla_issue_reset(created);

	*sequencer = created;
	return 0;
}

void nvdla_sequencer_destroy(struct nvdla_sequencer *sequencer)
{
	kvfree(sequencer);
}

/* Detaches and returns the task; records which group each engine runs next, for the next task. */
static struct nvdla_task *release_task(struct nvdla_sequencer *sequencer)
{
	struct nvdla_task *task = sequencer->task;
	u32 type;

	sequencer->task = NULL;
	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++)
		sequencer->next_group[type] = sequencer->schedule.engine[type].next_group;

	return task;
}

/*
 * While an engine runs, selects the register groups of its next operation. The engine is idle from
 * the end of an operation until the next op_enable, so only that write should be left to do
 * then.
 */
static void aim_at_next(struct nvdla_sequencer *sequencer)
{
	const struct nvdla_schedule *schedule;
	u32 group;
	u32 type;

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		schedule = &sequencer->schedule;
		group = nvdla_schedule_next(schedule, type);
		if (group == NVDLA_NUM_GROUPS && sequencer->ahead.task) {
			schedule = &sequencer->ahead;
			group = nvdla_schedule_next(schedule, type);
		}
		if (group != NVDLA_NUM_GROUPS)
			nvdla_issue_aim(sequencer, schedule->task,
					schedule->engine[type].group[group].operation, group);
	}
}

/* Programs and enables all operations that are ready. Returns whether the task ended or failed. */
static bool advance(struct nvdla_sequencer *sequencer, int *error)
{
	*error = nvdla_schedule_run(&sequencer->schedule);
	if (!*error && nvdla_schedule_done(&sequencer->schedule))
		return true;
	if (!*error && sequencer->ahead.task)
		*error = nvdla_schedule_run(&sequencer->ahead);
	if (*error)
		sequencer->needs_reset = true;
	else
		aim_at_next(sequencer);

	return *error;
}

static void begin_task(struct nvdla_sequencer *sequencer, struct nvdla_task *task)
{
	u32 type;

	nvdla_schedule_init(&sequencer->schedule, task, &issue_ops, sequencer);
	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++)
		sequencer->schedule.engine[type].next_group = sequencer->next_group[type];
}

/* Makes the task that was programmed ahead the running one. */
static void begin_next_task(struct nvdla_sequencer *sequencer)
{
	nvdla_schedule_lead(&sequencer->ahead);
	sequencer->schedule = sequencer->ahead;
	sequencer->ahead.task = NULL;
}

int nvdla_sequencer_start(struct nvdla_sequencer *sequencer, struct nvdla_task *task)
{
	int error;

	if (sequencer->task || (sequencer->ahead.task && sequencer->ahead.task != task))
		return -EBUSY;
	if (sequencer->needs_reset)
		return -EIO;

	nvdla_issue_read_pointers(sequencer);
	sequencer->task = task;
	if (sequencer->ahead.task)
		begin_next_task(sequencer);
	else
		begin_task(sequencer, task);

	if (!advance(sequencer, &error))
		return 0;

	release_task(sequencer);
	if (error)
		return error;
	sequencer->ops->task_done(sequencer->context, task, 0);
	return 0;
}

int nvdla_sequencer_follow(struct nvdla_sequencer *sequencer, struct nvdla_task *task)
{
	int error;

	if (!sequencer->task || sequencer->ahead.task || task == sequencer->task)
		return -EBUSY;
	if (sequencer->needs_reset)
		return -EIO;

	nvdla_schedule_init(&sequencer->ahead, task, &issue_ops, sequencer);
	nvdla_schedule_follow(&sequencer->ahead, &sequencer->schedule);
	error = nvdla_schedule_run(&sequencer->ahead);
	if (error)
		sequencer->needs_reset = true;
	else
		aim_at_next(sequencer);
	return error;
}

/* Returns all status bits that an enabled group of an engine raises until it is done. */
static u32 all_done_bits(const struct nvdla_sequencer *sequencer, u32 op_type, u32 group)
{
	if (op_type == NVDLA_OP_BDMA)
		group = sequencer->bdma_group[group];

	/* CACC may have delivered all sums while CDMA still reads data that no sum needs. */
	if (op_type == NVDLA_OP_CONV)
		return done_bits[op_type][group] | weight_bits[group] | data_bits[group];

	return done_bits[op_type][group];
}

/* Completes groups of an engine in the order in which the engine runs them. */
static void complete_engine(struct nvdla_sequencer *sequencer, u32 op_type, u32 status)
{
	u32 group = nvdla_schedule_oldest(&sequencer->schedule, op_type);

	while (group != NVDLA_NUM_GROUPS) {
		u32 needed = all_done_bits(sequencer, op_type, group);

		if ((status & needed) != needed)
			return;
		nvdla_schedule_complete(&sequencer->schedule, op_type, group);
		group = nvdla_schedule_oldest(&sequencer->schedule, op_type);
	}
}

/*
 * Collects the three status bits of convolutions, which come separately. Returns all seen so far.
 */
static u32 collect_convolution(struct nvdla_sequencer *sequencer, u32 status)
{
	struct nvdla_schedule *schedule = &sequencer->schedule;
	u32 collected = 0;
	u32 group;

	for (group = 0; group < NVDLA_NUM_GROUPS; group++) {
		const struct nvdla_schedule_group *entry =
			&schedule->engine[NVDLA_OP_CONV].group[group];
		u32 *seen = &sequencer->conv_seen[group];

		if (entry->state != NVDLA_GROUP_ENABLED)
			continue;
		*seen |= status & all_done_bits(sequencer, NVDLA_OP_CONV, group);
		collected |= *seen;
		if (*seen & weight_bits[group])
			nvdla_schedule_event(schedule, entry->operation, NVDLA_EVENT_CDMA_WT_DONE);
		if (*seen & data_bits[group])
			nvdla_schedule_event(schedule, entry->operation, NVDLA_EVENT_CDMA_DT_DONE);
	}

	return collected;
}

void nvdla_sequencer_irq(struct nvdla_sequencer *sequencer, u32 status)
{
	struct nvdla_task *task = sequencer->task;
	u32 type;
	int error;

	if (!task)
		return;

	status |= collect_convolution(sequencer, status);
	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++)
		complete_engine(sequencer, type, status);

	if (!advance(sequencer, &error))
		return;
	release_task(sequencer);
	sequencer->ops->task_done(sequencer->context, task, error);
}

struct nvdla_task *nvdla_sequencer_abort(struct nvdla_sequencer *sequencer)
{
	if (!sequencer->task && !sequencer->ahead.task)
		return NULL;

	sequencer->needs_reset = true;
	sequencer->ahead.task = NULL;
	return sequencer->task ? release_task(sequencer) : NULL;
}

void nvdla_sequencer_reset(struct nvdla_sequencer *sequencer)
{
	sequencer->ahead.task = NULL;
	nvdla_issue_reset(sequencer);
}

void nvdla_sequencer_snapshot(const struct nvdla_sequencer *sequencer,
			      struct nvdla_sequencer_snapshot *snapshot)
{
	const struct nvdla_task *task = sequencer->task;
	u32 group;
	u32 type;

	memset(snapshot, 0, sizeof(*snapshot));
	if (!task)
		return;

	snapshot->task = task;
	snapshot->num_operations = task->prepared->num_operations;
	snapshot->num_completed = task->num_completed;
	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		const struct nvdla_schedule_engine *engine = &sequencer->schedule.engine[type];

		for (group = 0; group < NVDLA_NUM_GROUPS; group++) {
			u32 operation = engine->group[group].operation;

			if (engine->group[group].state == NVDLA_GROUP_IDLE)
				continue;
			snapshot->engine[type].group[group].state = engine->group[group].state;
			snapshot->engine[type].group[group].operation = operation;
			snapshot->engine[type].group[group].waits_for =
				task->state[operation].waits;
		}
	}
}
