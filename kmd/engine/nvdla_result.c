// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Writes results of jobs for user space. */

#include "nvdla_result.h"

#include <drm/nvdla_accel.h>

#include "nvdla_internal.h"
#include "nvdla_platform.h"

/** NO_INDEX - index that stands for no task or no operation */
#define NO_INDEX (~0U)

/**
 * nvdla_result_size() - room that the result of a job takes
 * @tasks: the job's tasks
 * @num_tasks: entries at @tasks
 *
 * Return: bytes, less than INT_MAX even for the largest possible job.
 */
u32 nvdla_result_size(struct nvdla_task *const *tasks, u32 num_tasks)
{
	u32 num_operations = 0;
	u32 i;

	for (i = 0; i < num_tasks; i++)
		num_operations += tasks[i]->prepared->num_operations;

	return sizeof(struct drm_nvdla_job_result) +
	       num_operations * sizeof(struct drm_nvdla_operation_result);
}

/**
 * nvdla_result_operation() - result of an operation in the current or last run
 * @task: task of the operation
 * @operation: index, less than nvdla_task_num_operations()
 * @result: filled
 */
void nvdla_result_operation(const struct nvdla_task *task, u32 operation,
			    struct drm_nvdla_operation_result *result)
{
	const struct nvdla_op_state *state = &task->state[operation];

	if (task->counted && task->counted[operation].flags)
		*result = task->counted[operation];
	else
		memset(result, 0, sizeof(*result));
	result->op_type = task->prepared->operations[operation].op_type;
	if (state->enabled) {
		result->start_ns = state->times.start_ns;
		result->flags |= DRM_NVDLA_OPERATION_STARTED;
	}
	if (state->completed) {
		result->end_ns = state->times.end_ns;
		result->flags |= DRM_NVDLA_OPERATION_COMPLETED;
	}
}

/* Returns the operation that was enabled first, of those that did not complete. */
static u32 find_stuck(const struct nvdla_task *task)
{
	u32 found = NO_INDEX;
	u32 i;

	for (i = 0; i < task->prepared->num_operations; i++) {
		const struct nvdla_op_state *state = &task->state[i];

		if (!state->enabled || state->completed)
			continue;
		if (found == NO_INDEX ||
		    state->times.start_ns < task->state[found].times.start_ns)
			found = i;
	}

	return found;
}

/**
 * nvdla_result_write() - write the result of a job for user space
 * @source: facts about the job
 * @to: nvdla_result_size() bytes, aligned to 8: struct drm_nvdla_job_result, then the operations'
 *	results
 *
 * Never reads from @to: user space may write there at the same time.
 */
void nvdla_result_write(const struct nvdla_result_source *source, void *to)
{
	struct drm_nvdla_operation_result *operations =
		to + sizeof(struct drm_nvdla_job_result);
	struct drm_nvdla_operation_result operation;
	struct drm_nvdla_job_result job = {
		.header_size = sizeof(job),
		.operation_size = sizeof(operation),
		.status = source->status,
		.failed_task = NO_INDEX,
		.failed_operation = NO_INDEX,
		.num_runs = source->num_runs,
		.submit_ns = source->submit_ns,
		.start_ns = source->start_ns,
		.end_ns = source->end_ns,
	};
	u32 task;
	u32 i;

	for (task = 0; task < source->num_tasks; task++) {
		for (i = 0; i < source->tasks[task]->prepared->num_operations; i++) {
			nvdla_result_operation(source->tasks[task], i, &operation);
			memcpy(operations++, &operation, sizeof(operation));
		}
		job.num_operations += source->tasks[task]->prepared->num_operations;
		job.num_completed += source->tasks[task]->num_completed;
	}

	if (source->status && source->num_started) {
		job.failed_task = source->num_started - 1;
		job.failed_operation = find_stuck(source->tasks[job.failed_task]);
	}
	memcpy(to, &job, sizeof(job));
}
