// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Arguments of a submit: counts, sizes and the address table are checked before the arrays that
 * they describe are read.
 */

#include "nvdla_args.h"

#include "nvdla_check.h"
#include "nvdla_platform.h"
#include "nvdla_task.h"

static_assert(offsetofend(struct drm_nvdla_task, lut_size) == NVDLA_MIN_TASK_SIZE);

/* Returns the state for a check of one argument structure, for which no task exists yet. */
static struct nvdla_check check_of(struct nvdla_refusal *why, enum drm_nvdla_struct structure,
				   u32 index, const void *args)
{
	return (struct nvdla_check) {
		.args = args,
		.structure = structure,
		.index = index,
		.why = why,
		.operation = NVDLA_TASK_NO_OPERATION,
		.op_type = ~0U,
	};
}

static int result(const struct nvdla_check *check)
{
	return check->failed ? -EINVAL : 0;
}

static const char element_size[] = "no size that an element of this array can have";

/* A descriptor may be shorter than in any known version: missing members count as zero. */
static void state_descriptor_size(struct nvdla_check *check, struct nvdla_field field)
{
	nvdla_state_range(check, field, NVDLA_DESCRIPTOR_MULTIPLE, NVDLA_MAX_ELEMENT_SIZE,
			  element_size);
	nvdla_state_multiple(check, field, NVDLA_DESCRIPTOR_MULTIPLE, element_size);
}

#define SUBMIT_FLAGS (DRM_NVDLA_SUBMIT_STATISTICS | DRM_NVDLA_SUBMIT_RESTARTABLE)

/**
 * nvdla_args_check_submit() - check the limits of a submit's own arguments
 * @args: the submit
 * @why: filled if -EINVAL is returned; may be NULL
 *
 * Return: 0 or -EINVAL.
 */
int nvdla_args_check_submit(const struct drm_nvdla_submit *args, struct nvdla_refusal *why)
{
	struct nvdla_check check = check_of(why, DRM_NVDLA_STRUCT_SUBMIT, 0, args);
	const char *range = "not in the accepted range";

	need(&check, !(args->flags & ~SUBMIT_FLAGS), args->flags, SUBMIT_FLAGS, "unknown flag");
	need(&check, args->result_handle || (!args->result_offset &&
					     !(args->flags & DRM_NVDLA_SUBMIT_STATISTICS)),
	     args->result_handle, 1, "statistics and an offset need a buffer for the result");
	need_range(&check, args->num_tasks, 1, NVDLA_MAX_TASKS, range);
	need_range(&check, args->num_in_syncs, 0, NVDLA_MAX_SYNCS, range);
	need_range(&check, args->num_out_syncs, 0, NVDLA_MAX_SYNCS, range);
	need_range(&check, args->timeout_ms, 0, NVDLA_MAX_TIMEOUT_MS, range);
	need_range(&check, args->task_size, NVDLA_MIN_TASK_SIZE, NVDLA_MAX_ELEMENT_SIZE,
		   element_size);
	if (args->num_in_syncs || args->num_out_syncs)
		need_range(&check, args->sync_size, offsetofend(struct drm_nvdla_sync, point),
			   NVDLA_MAX_ELEMENT_SIZE, element_size);
	return result(&check);
}

static void check_counts(struct nvdla_check *check, const struct drm_nvdla_task *args)
{
	need_range(check, args->num_operations, 1, NVDLA_TASK_MAX_OPERATIONS,
		   "a task needs at least one operation and has an upper limit");
	need_range(check, args->num_luts, 0, NVDLA_TASK_MAX_LUTS, "too many look-up tables");
	need_range(check, args->num_addresses, 1, NVDLA_TASK_MAX_ADDRESSES,
		   "a task needs at least one address and has an upper limit");
}

/**
 * nvdla_args_check_counts() - check a task's counts
 * @args: the task
 * @why: on -EINVAL, the violated rule; the caller fills in @why->error.task; may be NULL
 *
 * Return: 0 or -EINVAL.
 */
int nvdla_args_check_counts(const struct drm_nvdla_task *args, struct nvdla_refusal *why)
{
	struct nvdla_check check = check_of(why, DRM_NVDLA_STRUCT_TASK, 0, args);

	check_counts(&check, args);
	return result(&check);
}

static void check_descriptors(struct nvdla_check *check, const struct drm_nvdla_task *args)
{
	check_counts(check, args);
	state_descriptor_size(check, NVDLA_FIELD(args->node_size));
	state_descriptor_size(check, NVDLA_FIELD(args->operation_size));
	state_descriptor_size(check, NVDLA_FIELD(args->surface_size));
	if (args->num_luts)
		state_descriptor_size(check, NVDLA_FIELD(args->lut_size));
}

static void check_no_descriptors(struct nvdla_check *check, const struct drm_nvdla_task *args)
{
	const char *rule = "a prepared task has its descriptors already";

	need_equal(check, args->graph, 0, rule);
	need_equal(check, args->operations, 0, rule);
	need_equal(check, args->surfaces, 0, rule);
	need_equal(check, args->luts, 0, rule);
	need_equal(check, args->num_operations, 0, rule);
	need_equal(check, args->num_luts, 0, rule);
	need_equal(check, args->node_size, 0, rule);
	need_equal(check, args->operation_size, 0, rule);
	need_equal(check, args->surface_size, 0, rule);
	need_equal(check, args->lut_size, 0, rule);
}

/**
 * nvdla_args_check_task() - check a task's counts and sizes
 * @args: the task, with descriptors or prepared
 * @why: on -EINVAL, the violated rule; the caller fills in @why->error.task; may be NULL
 *
 * After success the task's arrays may be copied.
 *
 * Return: 0 or -EINVAL.
 */
int nvdla_args_check_task(const struct drm_nvdla_task *args, struct nvdla_refusal *why)
{
	struct nvdla_check check = check_of(why, DRM_NVDLA_STRUCT_TASK, 0, args);

	need_equal(&check, args->reserved, 0, "must be zero");
	if (args->handle)
		check_no_descriptors(&check, args);
	else
		check_descriptors(&check, args);
	need_range(&check, args->address_size, offsetofend(struct drm_nvdla_address, size),
		   NVDLA_MAX_ELEMENT_SIZE, element_size);
	return result(&check);
}

/**
 * nvdla_args_check_template() - check the counts and sizes of a task to prepare
 * @args: the task
 * @why: on -EINVAL, the violated rule; the caller fills in @why->error.task; may be NULL
 *
 * Return: 0 or -EINVAL.
 */
int nvdla_args_check_template(const struct drm_nvdla_task *args, struct nvdla_refusal *why)
{
	struct nvdla_check check = check_of(why, DRM_NVDLA_STRUCT_TASK, 0, args);
	const char *later = "a task that is prepared gets its addresses later";

	need_equal(&check, args->reserved, 0, "must be zero");
	need_equal(&check, args->addresses, 0, later);
	need_equal(&check, args->address_size, 0, later);
	need_equal(&check, args->handle, 0, later);
	check_descriptors(&check, args);
	return result(&check);
}

/**
 * nvdla_args_check_prepared() - check the address table of a prepared task
 * @args: the task of the submit, which names the prepared task by its handle
 * @expected: entries of the table that the prepared task needs
 * @why: on -EINVAL, the violated rule; the caller fills in @why->error.task; may be NULL
 *
 * Return: 0 or -EINVAL.
 */
int nvdla_args_check_prepared(const struct drm_nvdla_task *args, u32 expected,
			      struct nvdla_refusal *why)
{
	struct nvdla_check check = check_of(why, DRM_NVDLA_STRUCT_TASK, 0, args);

	need(&check, args->num_addresses == expected, args->num_addresses, expected,
	     "the task was prepared with another number of addresses");
	return result(&check);
}

/**
 * nvdla_args_extent() - get the memory that an entry of the address table names
 * @address: the entry; a zero handle names no memory
 * @index: place of the entry in the table
 * @buffer: the whole buffer of that handle, NULL if there is none
 * @extent: filled on success
 * @why: on -EINVAL, the violated rule; the caller fills in @why->error.task; may be NULL
 *
 * Return: 0 or -EINVAL.
 */
int nvdla_args_extent(const struct drm_nvdla_address *address, u32 index,
		      const struct nvdla_task_extent *buffer, struct nvdla_task_extent *extent,
		      struct nvdla_refusal *why)
{
	struct nvdla_check check = check_of(why, DRM_NVDLA_STRUCT_ADDRESS, index, address);
	u64 size;

	need_equal(&check, address->reserved, 0, "must be zero");
	need(&check, !address->handle || buffer, address->handle, 0, "no such buffer");
	*extent = (struct nvdla_task_extent) {};
	if (check.failed || !address->handle)
		return result(&check);

	size = buffer->size - address->offset;
	need(&check, address->offset <= buffer->size, address->offset, buffer->size,
	     "behind the end of the buffer");
	need(&check, address->size <= size, address->size, size, "behind the end of the buffer");
	if (check.failed)
		return -EINVAL;

	*extent = *buffer;
	extent->dma_addr += address->offset;
	extent->size = address->size ? address->size : size;
	return 0;
}
