/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_SCHEDULE_H
#define NVDLA_SCHEDULE_H

#include <drm/nvdla_descriptors.h>

#include "nvdla_internal.h"

struct nvdla_schedule;

/**
 * struct nvdla_schedule_ops - actions of a schedule on a core
 * @program: write the registers of a task's operation to a group
 * @enable: start a programmed operation
 * @complete: an operation completed; called before its group is used again
 *
 * A negative return value ends the schedule.
 */
struct nvdla_schedule_ops {
	int (*program)(void *context, const struct nvdla_task *task, u32 operation, u32 group);
	int (*enable)(void *context, u32 operation, u32 group);
	void (*complete)(void *context, u32 operation, u32 group);
};

/**
 * struct nvdla_schedule_group - a register group
 * @state: enum nvdla_group_state
 * @operation: index of the operation in the group, if the group is not idle
 */
struct nvdla_schedule_group {
	u8 state;
	u16 operation;
};

/**
 * struct nvdla_schedule_engine - an engine's progress through its queue
 * @head: number of the queue's entries that were programmed
 * @next_group: group that the next operation goes to
 * @lut: index of the look-up table that is loaded, or NVDLA_NO_LUT
 * @lut_fp16: @lut was loaded for FP16
 * @group: register groups
 */
struct nvdla_schedule_engine {
	u32 head;
	u8 next_group;
	u16 lut;
	bool lut_fp16;
	struct nvdla_schedule_group group[NVDLA_NUM_GROUPS];
};

/**
 * struct nvdla_schedule - decides which operation is programmed or enabled next
 * @task: the task
 * @before: schedule of the running task while @task is only programmed ahead, or NULL
 * @ops: functions that write to a core, or NULL
 * @context: passed to @ops
 * @engine: progress of each engine, by enum nvdla_op_type
 *
 * The schedule knows engines, groups and dependencies, but no registers. The same code runs a task
 * on a core and, before the task is accepted, checks that it can run to its end.
 *
 * Each engine takes the operations of its queue in order. Up to two are
 * programmed; they are enabled in order, each once its dependencies are met and
 * the consumer of its stream is enabled. Operations are enabled before others are
 * programmed, so that engines work while registers are written.
 *
 * The next task may be programmed while a task runs: it gets the groups of an engine once the
 * running task has programmed all its operations for that engine. Operations of the next task are
 * not enabled before nvdla_schedule_lead().
 */
struct nvdla_schedule {
	struct nvdla_task *task;
	const struct nvdla_schedule *before;
	const struct nvdla_schedule_ops *ops;
	void *context;
	struct nvdla_schedule_engine engine[NVDLA_NUM_OP_TYPES];
};

/**
 * nvdla_schedule_init() - set a schedule to the beginning of a task
 * @schedule: schedule
 * @task: task, which is rewound
 * @ops: functions that write to a core; NULL for a rehearsal
 * @context: passed to @ops
 */
void nvdla_schedule_init(struct nvdla_schedule *schedule, struct nvdla_task *task,
			 const struct nvdla_schedule_ops *ops, void *context);

/* Makes a schedule follow another one, which must exist until nvdla_schedule_lead(). */
static inline void nvdla_schedule_follow(struct nvdla_schedule *schedule,
					 const struct nvdla_schedule *before)
{
	schedule->before = before;
}

/* Tells a schedule that the previous task is done: it enables operations from now on. */
void nvdla_schedule_lead(struct nvdla_schedule *schedule);

/* Programs and enables all operations that can be. Returns 0 or the error of a function of @ops. */
int nvdla_schedule_run(struct nvdla_schedule *schedule);

/* Tells a schedule that @event, a CDMA_WT_DONE or CDMA_DT_DONE, of an operation occurred. */
void nvdla_schedule_event(struct nvdla_schedule *schedule, u32 operation, u32 event);

/* Tells a schedule that the enabled operation in an engine's group completed; frees the group. */
void nvdla_schedule_complete(struct nvdla_schedule *schedule, u32 op_type, u32 group);

/* Returns the group that was enabled first, or NVDLA_NUM_GROUPS if none is enabled. */
u32 nvdla_schedule_oldest(const struct nvdla_schedule *schedule, u32 op_type);

/* Returns the group that will be enabled next, or NVDLA_NUM_GROUPS if none is programmed. */
u32 nvdla_schedule_next(const struct nvdla_schedule *schedule, u32 op_type);

/* True if every operation completed. */
static inline bool nvdla_schedule_done(const struct nvdla_schedule *schedule)
{
	return schedule->task->num_completed == schedule->task->prepared->num_operations;
}

#endif /* NVDLA_SCHEDULE_H */
