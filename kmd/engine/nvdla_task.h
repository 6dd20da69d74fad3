/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_TASK_H
#define NVDLA_TASK_H

#include <drm/nvdla_accel.h>

#include "nvdla_io.h"
#include "nvdla_types.h"
#include "nvdla_variant.h"

/** NVDLA_TASK_MAX_OPERATIONS - operations in one task, at most */
#define NVDLA_TASK_MAX_OPERATIONS 4096
/** NVDLA_TASK_MAX_LUTS - look-up tables in one task, at most */
#define NVDLA_TASK_MAX_LUTS 256
/** NVDLA_TASK_MAX_ADDRESSES - entries in one task's address table, at most */
#define NVDLA_TASK_MAX_ADDRESSES 8192

/** NVDLA_TASK_NO_OPERATION - operation index of an error that concerns the whole task */
#define NVDLA_TASK_NO_OPERATION (~0U)

/** NVDLA_TASK_STATISTICS - enable the core's counters, and keep their values */
#define NVDLA_TASK_STATISTICS (1U << 0)

/** NVDLA_ACCESS_READ - an operation of the task reads from this address */
#define NVDLA_ACCESS_READ (1U << 0)
/** NVDLA_ACCESS_WRITE - an operation of the task writes to this address */
#define NVDLA_ACCESS_WRITE (1U << 1)

/**
 * struct nvdla_refusal - why a task is not acceptable
 * @error: the member that violates the rule, as reported to user space
 * @op_type: enum nvdla_op_type of the operation, ~0 if there is none
 * @rule: the rule in words
 * @value: value of the member
 * @limit: limit that the value violates
 */
struct nvdla_refusal {
	struct drm_nvdla_error error;
	u32 op_type;
	const char *rule;
	s64 value;
	s64 limit;
};

/**
 * struct nvdla_task_extent - memory that one entry of the address table names
 * @dma_addr: first byte, as the core addresses it
 * @size: bytes that may be accessed
 * @mem_type: NVDLA_MEM_MC or NVDLA_MEM_CV
 * @present: the entry names memory; if not, no operation may use it
 */
struct nvdla_task_extent {
	u64 dma_addr;
	u64 size;
	u32 mem_type;
	bool present;
};

/**
 * struct nvdla_task_source - a task graph as it was submitted
 * @graph: @num_operations nodes
 * @operations: @num_operations operation descriptors
 * @surfaces: @num_operations surface descriptors
 * @luts: @num_luts look-up tables; may be NULL if there are none
 * @extents: @num_extents entries of the address table, resolved by the caller
 * @num_operations: 1 to NVDLA_TASK_MAX_OPERATIONS
 * @num_luts: 0 to NVDLA_TASK_MAX_LUTS
 * @num_extents: 1 to NVDLA_TASK_MAX_ADDRESSES
 * @flags: NVDLA_TASK_STATISTICS or 0
 *
 * The arrays must not be writable by anybody else during nvdla_task_create(): in the kernel they
 * are copies of user memory. They are not used after the call.
 */
struct nvdla_task_source {
	const struct nvdla_graph_node *graph;
	const union nvdla_operation_desc *operations;
	const union nvdla_surface_desc *surfaces;
	const struct nvdla_lut_desc *luts;
	const struct nvdla_task_extent *extents;
	u32 num_operations;
	u32 num_luts;
	u32 num_extents;
	u32 flags;
};

/**
 * struct nvdla_reg_write - one register write of an operation's program
 * @reg: byte offset in the CSB space
 * @value: complete value of the register
 */
struct nvdla_reg_write {
	u32 reg;
	u32 value;
};

/**
 * struct nvdla_prepared - a checked task graph that lacks its addresses
 *
 * A prepared task is constant: any number of tasks may be made from it, and run at the same time.
 * The prepared task has to outlive them.
 */
struct nvdla_prepared;

/**
 * nvdla_prepared_create() - check a task graph and compute its register programs
 * @variant: the core on which the graph is going to run
 * @source: the submitted graph; of the extents only @source->num_extents is used
 * @why: on -EINVAL, the violated rule; the caller fills in @why->error.task; may be NULL
 * @prepared: filled on success, to be freed with nvdla_prepared_destroy()
 *
 * Checks every field that reaches a register. nvdla_task_bind() then only checks that the bytes
 * that the core will touch lie in memory. May sleep (it allocates memory).
 *
 * Return: 0, -EINVAL if the graph is not acceptable, -ENOMEM.
 */
int nvdla_prepared_create(const struct nvdla_variant *variant,
			  const struct nvdla_task_source *source, struct nvdla_refusal *why,
			  struct nvdla_prepared **prepared);

/**
 * nvdla_prepared_destroy() - free a prepared task
 * @prepared: prepared task from which no task exists any more, or NULL
 */
void nvdla_prepared_destroy(struct nvdla_prepared *prepared);

/**
 * nvdla_prepared_bytes() - get the memory that a prepared task takes
 * @prepared: a prepared task
 *
 * Return: bytes.
 */
u64 nvdla_prepared_bytes(const struct nvdla_prepared *prepared);

/**
 * nvdla_prepared_num_addresses() - get the size of a prepared task's address tables
 * @prepared: a prepared task
 *
 * Return: entries of an address table.
 */
u32 nvdla_prepared_num_addresses(const struct nvdla_prepared *prepared);

/** struct nvdla_task - a checked task, ready to be run any number of times */
struct nvdla_task;

/**
 * nvdla_task_bind() - make a runnable task from a prepared task and an address table
 * @prepared: the prepared task
 * @extents: nvdla_prepared_num_addresses() entries of the address table
 * @flags: NVDLA_TASK_STATISTICS or 0
 * @why: on -EINVAL, the violated rule; the caller fills in @why->error.task; may be NULL
 * @task: filled on success, to be freed with nvdla_task_destroy()
 *
 * Checks that every byte that the core will access lies within @extents. @extents is not kept.
 *
 * Return: 0, -EINVAL if memory is missing or too small, -ENOMEM.
 */
int nvdla_task_bind(const struct nvdla_prepared *prepared, const struct nvdla_task_extent *extents,
		    u32 flags, struct nvdla_refusal *why, struct nvdla_task **task);

/**
 * nvdla_task_create() - prepare a task graph and bind it to its addresses
 * @variant: the core on which the task is going to run
 * @source: the submitted graph
 * @why: on -EINVAL, the violated rule; the caller fills in @why->error.task; may be NULL
 * @task: filled on success, to be freed with nvdla_task_destroy()
 *
 * nvdla_prepared_create() and nvdla_task_bind() in one, for tasks that run once: checks every field
 * that reaches a register, and that every byte that the core will touch lies within the extents.
 * Running the task does not need @source. May sleep (it allocates memory).
 *
 * Return: 0, -EINVAL if the graph is not acceptable, -ENOMEM.
 */
int nvdla_task_create(const struct nvdla_variant *variant,
		      const struct nvdla_task_source *source,
		      struct nvdla_refusal *why, struct nvdla_task **task);

/**
 * nvdla_task_destroy() - free a task
 * @task: task that no sequencer runs, or NULL
 */
void nvdla_task_destroy(struct nvdla_task *task);

/**
 * nvdla_task_set_owner() - set the client that a task belongs to
 * @task: task that no sequencer runs
 * @owner: a number for each client; 0 until this is called
 *
 * Entries of a look-up table that an engine already holds are skipped for the same owner only.
 */
void nvdla_task_set_owner(struct nvdla_task *task, u64 owner);

/*
 * Properties of a task. @operation is less than nvdla_task_num_operations(), @op_type is enum
 * nvdla_op_type, @address is an index into the address table, less than source->num_extents.
 * nvdla_task_access() returns NVDLA_ACCESS_*.
 */
u32 nvdla_task_num_operations(const struct nvdla_task *task);
u32 nvdla_task_op_type(const struct nvdla_task *task, u32 operation);
bool nvdla_task_uses(const struct nvdla_task *task, u32 op_type);
u32 nvdla_task_access(const struct nvdla_task *task, u32 address);

/*
 * Register writes of an operation, in their order. Register groups, registers that need no write,
 * look-up tables and op_enable are decided when the operation runs. @index is less than
 * nvdla_task_num_writes().
 */
u32 nvdla_task_num_writes(const struct nvdla_task *task, u32 operation);
struct nvdla_reg_write nvdla_task_write(const struct nvdla_task *task, u32 operation, u32 index);

/*
 * Progress of the current or last run. nvdla_task_rewind(), for a task that no sequencer runs,
 * resets it to that of a task that never ran. The start of an operation is valid from its
 * op_enabled notification on, its end from op_completed on (&struct nvdla_sequencer_ops).
 */
u32 nvdla_task_num_completed(const struct nvdla_task *task);
void nvdla_task_rewind(struct nvdla_task *task);
const struct nvdla_operation_times *nvdla_task_times(const struct nvdla_task *task,
						     u32 operation);

#endif /* NVDLA_TASK_H */
