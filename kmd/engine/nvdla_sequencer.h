/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_SEQUENCER_H
#define NVDLA_SEQUENCER_H

#include <drm/nvdla_descriptors.h>

#include "nvdla_io.h"
#include "nvdla_task.h"
#include "nvdla_types.h"
#include "nvdla_variant.h"

/**
 * struct nvdla_sequencer_ops - functions with which a sequencer notifies its owner
 * @task_done: the task ended. @error is 0, or -EIO if the core malfunctions
 *	(the core has to be reset then). The task is no longer used
 *	by the sequencer; another one may be started right here.
 * @op_programmed: registers of an operation of the running or the following task were written to a
 *	register group; optional
 * @op_enabled: an operation's op_enable (BDMA: launch) was written; optional
 * @op_completed: an operation completed; optional
 *
 * Called from within nvdla_sequencer_start() and nvdla_sequencer_irq(), with
 * the locks that their caller holds.
 */
struct nvdla_sequencer_ops {
	void (*task_done)(void *context, struct nvdla_task *task, int error);
	void (*op_programmed)(void *context, const struct nvdla_task *task, u32 operation);
	void (*op_enabled)(void *context, struct nvdla_task *task, u32 operation);
	void (*op_completed)(void *context, struct nvdla_task *task, u32 operation);
};

/**
 * struct nvdla_sequencer_snapshot - state of a sequencer
 * @task: the task that runs, or NULL
 * @num_operations: operations of that task
 * @num_completed: operations of that task that completed
 * @engine: state of each engine, by enum nvdla_op_type
 * @engine.group: state of the engine's two register groups
 * @engine.group.state: enum nvdla_group_state
 * @engine.group.operation: index of the operation in the group, if the group is not idle
 * @engine.group.waits_for: number of events for which that operation still waits
 */
struct nvdla_sequencer_snapshot {
	const struct nvdla_task *task;
	u32 num_operations;
	u32 num_completed;
	struct {
		struct {
			u32 state;
			u32 operation;
			u32 waits_for;
		} group[NVDLA_NUM_GROUPS];
	} engine[NVDLA_NUM_OP_TYPES];
};

/**
 * struct nvdla_sequencer - runs tasks on one core, one at a time
 *
 * It programs the engines' register groups, orders their op_enable and follows
 * their interrupts. It has no lock: the owner calls one function at a time. No
 * function here sleeps or allocates memory, except create and destroy.
 */
struct nvdla_sequencer;

/**
 * nvdla_sequencer_create() - make a sequencer for one core
 * @variant: the core's configuration
 * @io: access to its registers; copied
 * @ops: notification functions; kept, not copied
 * @context: passed to @ops
 * @sequencer: filled on success, to be freed with nvdla_sequencer_destroy()
 *
 * The core must have been reset, or never used since it was powered. Nothing
 * is written to it before nvdla_sequencer_start().
 *
 * Return: 0 or -ENOMEM.
 */
int nvdla_sequencer_create(const struct nvdla_variant *variant, const struct nvdla_io *io,
			   const struct nvdla_sequencer_ops *ops, void *context,
			   struct nvdla_sequencer **sequencer);

/**
 * nvdla_sequencer_destroy() - free a sequencer
 * @sequencer: a sequencer that runs no task, or NULL
 */
void nvdla_sequencer_destroy(struct nvdla_sequencer *sequencer);

/**
 * nvdla_sequencer_start() - run a task
 * @sequencer: an idle sequencer
 * @task: must stay until task_done, or until nvdla_sequencer_abort() returned it
 *
 * task_done may be called before this returns (a task whose BDMA operations have no transfers needs
 * no interrupt). The first convolution after a reset waits, at most about 1 ms, until the
 * convolution buffer is flushed: in this function or in nvdla_sequencer_irq().
 *
 * Return: 0, -EBUSY if a task runs or another one was to follow, -EIO if the core has to
 * be reset first. On errors task_done is not called.
 */
int nvdla_sequencer_start(struct nvdla_sequencer *sequencer, struct nvdla_task *task);

/**
 * nvdla_sequencer_follow() - program the next task while a task runs
 * @sequencer: a sequencer that runs a task
 * @task: the task that is started next; must stay until then, or until nvdla_sequencer_abort()
 *
 * The registers of its operations are written to register groups that the running task will not use
 * any more, but none is enabled before nvdla_sequencer_start().
 *
 * Return: 0, -EBUSY if no task runs or one follows already, -EIO if the core has to be reset.
 */
int nvdla_sequencer_follow(struct nvdla_sequencer *sequencer, struct nvdla_task *task);

/**
 * nvdla_sequencer_irq() - handle interrupts
 * @sequencer: a sequencer
 * @status: bits of GLB's S_INTR_STATUS, which the caller has read and cleared
 *
 * Bits of engines without an enabled operation are ignored. Call it once per read of the register:
 * then a bit never stands for two completions of one group.
 */
void nvdla_sequencer_irq(struct nvdla_sequencer *sequencer, u32 status);

/**
 * nvdla_sequencer_abort() - forget the task that runs, and the one that follows
 * @sequencer: a sequencer
 *
 * Nothing more is programmed for the two tasks, and task_done is not called. The core may still be
 * working: reset the core, then call nvdla_sequencer_reset(), before the next start (which fails
 * with -EIO until then).
 *
 * Return: the task that ran, or NULL if none did.
 */
struct nvdla_task *nvdla_sequencer_abort(struct nvdla_sequencer *sequencer);

/**
 * nvdla_sequencer_reset() - tell a sequencer that the core was reset
 * @sequencer: a sequencer that runs no task
 *
 * Forgets the contents of the core: register groups, look-up tables, the
 * convolution buffer. Call it after power-up too.
 */
void nvdla_sequencer_reset(struct nvdla_sequencer *sequencer);

/**
 * nvdla_sequencer_snapshot() - look at a sequencer, for dumps and debugfs
 * @sequencer: a sequencer
 * @snapshot: filled
 */
void nvdla_sequencer_snapshot(const struct nvdla_sequencer *sequencer,
			      struct nvdla_sequencer_snapshot *snapshot);

#endif /* NVDLA_SEQUENCER_H */
