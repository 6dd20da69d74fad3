// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Scheduling of a task's operations over engines and their register groups. */

#include "nvdla_schedule.h"

#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_task.h"

void nvdla_schedule_init(struct nvdla_schedule *schedule, struct nvdla_task *task,
			 const struct nvdla_schedule_ops *ops, void *context)
{
	u32 i;

	nvdla_task_rewind(task);
	memset(schedule, 0, sizeof(*schedule));
	schedule->task = task;
	schedule->ops = ops;
	schedule->context = context;

	for (i = 0; i < NVDLA_NUM_OP_TYPES; i++)
		schedule->engine[i].lut = NVDLA_NO_LUT;
}

static void emit_event(struct nvdla_schedule *schedule, u32 operation, u32 event)
{
	struct nvdla_task *task = schedule->task;
	const struct nvdla_operation *op = &task->prepared->operations[operation];
	u32 i;

	if (task->state[operation].events & BIT(event))
		return;
	task->state[operation].events |= BIT(event);

	for (i = 0; i < op->num_edges; i++)
		if (op->edges[i].event == event)
			task->state[op->edges[i].target].waits--;
}

void nvdla_schedule_event(struct nvdla_schedule *schedule, u32 operation, u32 event)
{
	emit_event(schedule, operation, event);
}

/* Returns whether @group was programmed before the other group of the engine. */
static bool programmed_before(const struct nvdla_schedule_engine *engine, u32 group)
{
	/* Groups alternate, so the group to program next is the one that was programmed first. */
	return group == engine->next_group;
}

/* Returns the group in @state that was programmed first, NVDLA_NUM_GROUPS if there is none. */
static u32 oldest_in_state(const struct nvdla_schedule_engine *engine, u32 state)
{
	u32 found = NVDLA_NUM_GROUPS;
	u32 group;

	for (group = 0; group < NVDLA_NUM_GROUPS; group++) {
		if (engine->group[group].state != state)
			continue;
		if (found == NVDLA_NUM_GROUPS || programmed_before(engine, group))
			found = group;
	}

	return found;
}

u32 nvdla_schedule_oldest(const struct nvdla_schedule *schedule, u32 op_type)
{
	return oldest_in_state(&schedule->engine[op_type], NVDLA_GROUP_ENABLED);
}

u32 nvdla_schedule_next(const struct nvdla_schedule *schedule, u32 op_type)
{
	return oldest_in_state(&schedule->engine[op_type], NVDLA_GROUP_PROGRAMMED);
}

/**
 * struct occupant - operation in a register group
 * @state: enum nvdla_group_state
 * @op: the operation, of the schedule's task or of the previous task; NULL if the group is idle
 */
struct occupant {
	u32 state;
	const struct nvdla_operation *op;
};

static struct occupant occupant_of(const struct nvdla_schedule *schedule, u32 op_type, u32 group)
{
	struct occupant found = { NVDLA_GROUP_IDLE, NULL };

	for (; schedule && !found.op; schedule = schedule->before) {
		const struct nvdla_schedule_group *entry = &schedule->engine[op_type].group[group];

		if (entry->state == NVDLA_GROUP_IDLE)
			continue;
		found.state = entry->state;
		found.op = &schedule->task->prepared->operations[entry->operation];
	}

	return found;
}

/*
 * Returns the group for the engine's next operation. The first operation of a task that is
 * programmed ahead takes the group that follows those of the running task.
 */
static u32 group_to_program(const struct nvdla_schedule *schedule, u32 op_type)
{
	if (schedule->before && !schedule->engine[op_type].head)
		return schedule->before->engine[op_type].next_group;

	return schedule->engine[op_type].next_group;
}

static bool all_programmed(const struct nvdla_schedule *schedule, u32 op_type)
{
	return schedule->engine[op_type].head == schedule->task->prepared->queue[op_type].count;
}

/*
 * Both groups share the engine's look-up table. A table can be replaced only while the other group
 * does not run, and does not wait with a table of its own.
 */
static bool lut_ready(const struct nvdla_schedule_engine *engine, const struct nvdla_operation *op,
		      struct occupant other)
{
	if (op->lut == NVDLA_NO_LUT)
		return true;
	if (engine->lut == op->lut && engine->lut_fp16 == op->lut_fp16)
		return true;

	if (other.state == NVDLA_GROUP_ENABLED)
		return false;
	return other.state == NVDLA_GROUP_IDLE || other.op->lut == NVDLA_NO_LUT;
}

/*
 * BDMA has no shadow registers: each write belongs to the group that is launched next. So only one
 * group at a time is programmed, and only into slots that the running group leaves free.
 */
static bool bdma_ready(const struct nvdla_variant *variant, const struct nvdla_operation *op,
		       struct occupant other)
{
	if (other.state == NVDLA_GROUP_IDLE)
		return true;
	if (other.state == NVDLA_GROUP_PROGRAMMED)
		return false;

	return op->num_transfers + other.op->num_transfers <= variant->bdma_slots;
}

static bool can_program(const struct nvdla_schedule *schedule, u32 op_type)
{
	const struct nvdla_schedule_engine *engine = &schedule->engine[op_type];
	const struct nvdla_prepared *prepared = schedule->task->prepared;
	const struct nvdla_queue *queue = &prepared->queue[op_type];
	const u32 group = group_to_program(schedule, op_type);
	const struct nvdla_operation *op;
	struct occupant other;

	if (all_programmed(schedule, op_type) ||
	    (schedule->before && !all_programmed(schedule->before, op_type)) ||
	    occupant_of(schedule, op_type, group).op)
		return false;

	other = occupant_of(schedule, op_type, !group);
	op = &prepared->operations[prepared->queue_entries[queue->first + engine->head]];
	if (op_type == NVDLA_OP_BDMA)
		return bdma_ready(prepared->variant, op, other);

	return lut_ready(engine, op, other);
}

static int program_next(struct nvdla_schedule *schedule, u32 op_type)
{
	struct nvdla_schedule_engine *engine = &schedule->engine[op_type];
	struct nvdla_task *task = schedule->task;
	u32 entry = task->prepared->queue[op_type].first + engine->head;
	u16 operation = task->prepared->queue_entries[entry];
	const struct nvdla_operation *op = &task->prepared->operations[operation];
	u32 group = group_to_program(schedule, op_type);

	if (schedule->ops) {
		int ret = schedule->ops->program(schedule->context, task, operation, group);

		if (ret)
			return ret;
	}

	engine->head++;
	engine->next_group = !group;
	engine->group[group].state = NVDLA_GROUP_PROGRAMMED;
	engine->group[group].operation = operation;
	if (op->lut != NVDLA_NO_LUT) {
		engine->lut = op->lut;
		engine->lut_fp16 = op->lut_fp16;
	}
	emit_event(schedule, operation, NVDLA_EVENT_OP_PROGRAMMED);
	return 0;
}

static bool can_enable(const struct nvdla_schedule *schedule, u32 op_type, u32 group)
{
	const struct nvdla_schedule_engine *engine = &schedule->engine[op_type];
	const struct nvdla_task *task = schedule->task;
	const u32 operation = engine->group[group].operation;
	const struct nvdla_operation *op = &task->prepared->operations[operation];

	if (task->state[operation].waits > 0)
		return false;

	/* A stream flows only to an enabled consumer. */
	if (op->consumer != NVDLA_NO_OP && !task->state[op->consumer].enabled)
		return false;

	/* BDMA never launches an operation without transfers, so the schedule keeps its order. */
	return op_type != NVDLA_OP_BDMA || op->num_transfers > 0 ||
	       engine->group[!group].state != NVDLA_GROUP_ENABLED;
}

static int enable_group(struct nvdla_schedule *schedule, u32 op_type, u32 group)
{
	struct nvdla_schedule_engine *engine = &schedule->engine[op_type];
	struct nvdla_task *task = schedule->task;
	u32 operation = engine->group[group].operation;

	if (schedule->ops) {
		int ret = schedule->ops->enable(schedule->context, operation, group);

		if (ret)
			return ret;
	}

	engine->group[group].state = NVDLA_GROUP_ENABLED;
	task->state[operation].enabled = true;
	emit_event(schedule, operation, NVDLA_EVENT_OP_ENABLED);

	if (op_type == NVDLA_OP_BDMA && task->prepared->operations[operation].num_transfers == 0)
		nvdla_schedule_complete(schedule, op_type, group);
	return 0;
}

void nvdla_schedule_lead(struct nvdla_schedule *schedule)
{
	u32 type;

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++)
		schedule->engine[type].next_group = group_to_program(schedule, type);
	schedule->before = NULL;
}

/* Enables all operations that can be enabled; each may make further operations ready. */
static int enable_ready(struct nvdla_schedule *schedule)
{
	bool progress = !schedule->before;
	u32 group;
	u32 type;
	int ret;

	while (progress) {
		progress = false;
		for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
			group = nvdla_schedule_next(schedule, type);
			if (group == NVDLA_NUM_GROUPS || !can_enable(schedule, type, group))
				continue;
			ret = enable_group(schedule, type, group);
			if (ret)
				return ret;
			progress = true;
		}
	}

	return 0;
}

/*
 * Returns the engine whose next operation is to be programmed, preferably an idle engine, or
 * NVDLA_NUM_OP_TYPES if there is none.
 */
static u32 find_programmable(const struct nvdla_schedule *schedule)
{
	u32 found = NVDLA_NUM_OP_TYPES;
	u32 type;

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		if (!can_program(schedule, type))
			continue;
		if (!occupant_of(schedule, type, 0).op && !occupant_of(schedule, type, 1).op)
			return type;
		if (found == NVDLA_NUM_OP_TYPES)
			found = type;
	}

	return found;
}

int nvdla_schedule_run(struct nvdla_schedule *schedule)
{
	u32 type;
	int ret;

	for (;;) {
		/* Enable first: engines work while registers of later operations are written. */
		ret = enable_ready(schedule);
		if (ret)
			return ret;

		type = find_programmable(schedule);
		if (type == NVDLA_NUM_OP_TYPES)
			return 0;
		ret = program_next(schedule, type);
		if (ret)
			return ret;
	}
}

void nvdla_schedule_complete(struct nvdla_schedule *schedule, u32 op_type, u32 group)
{
	struct nvdla_schedule_group *entry = &schedule->engine[op_type].group[group];
	struct nvdla_task *task = schedule->task;
	u32 operation = entry->operation;

	if (schedule->ops)
		schedule->ops->complete(schedule->context, operation, group);

	entry->state = NVDLA_GROUP_IDLE;
	task->state[operation].completed = true;
	task->num_completed++;

	/* A convolution completes after its fetches. A simulated core does not report these. */
	if (op_type == NVDLA_OP_CONV) {
		emit_event(schedule, operation, NVDLA_EVENT_CDMA_WT_DONE);
		emit_event(schedule, operation, NVDLA_EVENT_CDMA_DT_DONE);
	}
	emit_event(schedule, operation, NVDLA_EVENT_OP_COMPLETED);
}
