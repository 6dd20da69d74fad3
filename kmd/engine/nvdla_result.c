// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What became of a job, as user space reads it.
 */

#include "nvdla_result.h"

#include <drm/nvdla_accel.h>

#include "nvdla_internal.h"
#include "nvdla_platform.h"

/** NO_INDEX - no task, no operation */
#define NO_INDEX (~0U)

u32 nvdla_result_size(struct nvdla_task *const *tasks, u32 num_tasks)
{
	u32 num_operations = 0;
	u32 i;

	for (i = 0; i < num_tasks; i++)
		num_operations += tasks[i]->prepared->num_operations;

	return sizeof(struct drm_nvdla_job_result) +
	       num_operations * sizeof(struct drm_nvdla_operation_result);
}

static void convert_conv(const struct nvdla_conv_stats *conv,
			 struct drm_nvdla_operation_result *result)
{
	result->read_stall = conv->data_read_stall;
	result->weight_read_stall = conv->weight_read_stall;
	result->read_latency = conv->data_read_latency;
	result->weight_read_latency = conv->weight_read_latency;
	result->saturation = conv->saturation;
	result->nan_input = conv->nan_data;
	result->inf_input = conv->inf_data;
	result->nan_weight = conv->nan_weight;
	result->inf_weight = conv->inf_weight;
}

static void convert_lut(const struct nvdla_lut_stats *lut, struct drm_nvdla_lut_result *result)
{
	result->underflow = lut->underflow;
	result->overflow = lut->overflow;
	result->le_hit = lut->le_hit;
	result->lo_hit = lut->lo_hit;
	result->hybrid = lut->hybrid;
}

static void convert_sdp(const struct nvdla_sdp_stats *sdp, bool comparison,
			struct drm_nvdla_operation_result *result)
{
	result->read_stall = sdp->src_read_stall;
	result->write_stall = sdp->write_stall;
	result->operand_read_stall[0] = sdp->x1_read_stall;
	result->operand_read_stall[1] = sdp->x2_read_stall;
	result->operand_read_stall[2] = sdp->y_read_stall;
	result->saturation = sdp->saturation;
	result->nan_input = sdp->nan_input;
	result->inf_input = sdp->inf_input;
	result->nan_output = sdp->nan_output;
	result->unequal = comparison ? sdp->status : 0;
	convert_lut(&sdp->lut, &result->lut);
}

static void convert_pool(const struct nvdla_pool_stats *pool,
			 struct drm_nvdla_operation_result *result)
{
	result->read_stall = pool->read_stall;
	result->write_stall = pool->write_stall;
	result->saturation = pool->saturation;
	result->nan_input = pool->nan_input;
	result->inf_input = pool->inf_input;
	result->nan_output = pool->nan_output;
	convert_lut(&pool->lut, &result->lut);
}

static void convert_stats(const struct nvdla_operation *op,
			  const struct nvdla_operation_stats *stats,
			  struct drm_nvdla_operation_result *result)
{
	switch (stats->op_type) {
	case NVDLA_OP_CONV:
		convert_conv(&stats->conv, result);
		break;
	case NVDLA_OP_SDP:
		convert_sdp(&stats->sdp, op->comparison, result);
		break;
	case NVDLA_OP_PDP:
	case NVDLA_OP_CDP:
		convert_pool(&stats->pool, result);
		break;
	case NVDLA_OP_BDMA:
	case NVDLA_OP_RUBIK:
		result->read_stall = stats->copy.read_stall;
		result->write_stall = stats->copy.write_stall;
		break;
	}
	result->flags |= DRM_NVDLA_OPERATION_COUNTED;
}

void nvdla_result_operation(const struct nvdla_task *task, u32 operation,
			    struct drm_nvdla_operation_result *result)
{
	const struct nvdla_op_state *state = &task->state[operation];

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
	if (task->stats && task->stats[operation].valid)
		convert_stats(&task->prepared->operations[operation], &task->stats[operation],
			      result);
}

/* The operation that was enabled first of those that did not complete. */
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
