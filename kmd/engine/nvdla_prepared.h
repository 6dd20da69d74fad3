/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_PREPARED_H
#define NVDLA_PREPARED_H

#include <drm/nvdla_accel.h>

#include "nvdla_task.h"
#include "nvdla_types.h"
#include "nvdla_variant.h"

/**
 * struct nvdla_prepared - a checked task graph without addresses
 *
 * It is constant: any number of tasks may be made of it, and run at the same time. It must
 * outlive them.
 */
struct nvdla_prepared;

/**
 * nvdla_prepared_create() - check a task graph and compute its register program
 * @variant: the core that it is going to run on
 * @source: the submitted graph; of its extents only their number is used
 * @why: filled if -EINVAL is returned, but for the task's index; may be NULL
 * @prepared: filled on success, to be freed with nvdla_prepared_destroy()
 *
 * Checks every field that reaches a register. nvdla_task_bind() then only has to
 * compare the bytes that the core will touch with the memory. May sleep (it allocates memory).
 *
 * Return: 0, -EINVAL if the graph is not acceptable, -ENOMEM.
 */
int nvdla_prepared_create(const struct nvdla_variant *variant,
			  const struct nvdla_task_source *source, struct nvdla_refusal *why,
			  struct nvdla_prepared **prepared);

/**
 * nvdla_prepared_destroy() - free a prepared task
 * @prepared: prepared task that no task is made of, or NULL
 */
void nvdla_prepared_destroy(struct nvdla_prepared *prepared);

/**
 * nvdla_prepared_bytes() - memory that a prepared task takes
 * @prepared: a prepared task
 *
 * Return: bytes.
 */
u64 nvdla_prepared_bytes(const struct nvdla_prepared *prepared);

/**
 * nvdla_prepared_num_addresses() - entries that its address tables have
 * @prepared: a prepared task
 *
 * Return: their number.
 */
u32 nvdla_prepared_num_addresses(const struct nvdla_prepared *prepared);

/**
 * nvdla_task_bind() - make a task of a prepared task and its addresses
 * @prepared: the prepared task
 * @extents: nvdla_prepared_num_addresses() entries of the address table
 * @flags: NVDLA_TASK_STATISTICS or 0
 * @why: filled if -EINVAL is returned, but for the task's index; may be NULL
 * @task: filled on success, to be freed with nvdla_task_destroy()
 *
 * Checks that every byte that the core will touch lies within the extents, which are not kept.
 *
 * Return: 0, -EINVAL if memory is missing or too small, -ENOMEM.
 */
int nvdla_task_bind(const struct nvdla_prepared *prepared, const struct nvdla_task_extent *extents,
		    u32 flags, struct nvdla_refusal *why, struct nvdla_task **task);

#endif /* NVDLA_PREPARED_H */
