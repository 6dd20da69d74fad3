// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tasks: from what was submitted to what a sequencer can run.
 */

#include "nvdla_task.h"

#include "nvdla_args.h"
#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

/* What compilers write into loadables; a later member goes to the end. */
static_assert(sizeof(struct nvdla_graph_node) == 36);
static_assert(sizeof(struct nvdla_data_cube) == 32);
static_assert(sizeof(struct nvdla_bdma_surface_desc) == 644);
static_assert(sizeof(struct nvdla_bdma_op_desc) == 4);
static_assert(sizeof(struct nvdla_conv_surface_desc) == 172);
static_assert(sizeof(struct nvdla_conv_op_desc) == 92);
static_assert(sizeof(struct nvdla_lut_desc) == 700);
static_assert(sizeof(struct nvdla_sdp_surface_desc) == 160);
static_assert(sizeof(struct nvdla_sdp_op_desc) == 116);
static_assert(sizeof(struct nvdla_pdp_surface_desc) == 64);
static_assert(sizeof(struct nvdla_pdp_op_desc) == 52);
static_assert(sizeof(struct nvdla_cdp_op_desc) == 24);
static_assert(sizeof(struct nvdla_rubik_op_desc) == 4);
static_assert(sizeof(union nvdla_surface_desc) == 644);
static_assert(sizeof(union nvdla_operation_desc) == 116);

static int check_counts(const struct nvdla_task_source *source, struct drm_nvdla_error *error)
{
	const struct drm_nvdla_task counts = {
		.num_operations = source->num_operations,
		.num_luts = source->num_luts,
		.num_addresses = source->num_extents,
	};

	return nvdla_args_check_counts(&counts, error);
}

/* Room for all programs, by engine; unknown engines are refused later. */
static u32 count_writes(const struct nvdla_task_source *source)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < source->num_operations; i++)
		count += nvdla_max_writes(source->graph[i].op_type);

	return count;
}

static struct nvdla_task *allocate_task(const struct nvdla_variant *variant,
					const struct nvdla_task_source *source)
{
	struct nvdla_task *task = kvzalloc(sizeof(*task), GFP_KERNEL_ACCOUNT);

	if (!task)
		return NULL;

	task->variant = variant;
	task->num_operations = source->num_operations;
	task->num_extents = source->num_extents;
	task->num_luts = source->num_luts;

	/* Never zero elements: a task may have no tables and no addresses. */
	task->operations = kvcalloc(source->num_operations, sizeof(*task->operations),
				    GFP_KERNEL_ACCOUNT);
	task->state = kvcalloc(source->num_operations, sizeof(*task->state), GFP_KERNEL_ACCOUNT);
	task->queue_entries = kvcalloc(source->num_operations, sizeof(*task->queue_entries),
				       GFP_KERNEL_ACCOUNT);
	task->writes = kvcalloc(count_writes(source), sizeof(*task->writes), GFP_KERNEL_ACCOUNT);
	task->luts = kvcalloc(source->num_luts + 1, sizeof(*task->luts), GFP_KERNEL_ACCOUNT);
	task->lut_alias = kvcalloc(source->num_luts + 1, sizeof(*task->lut_alias),
				   GFP_KERNEL_ACCOUNT);
	task->access = kvcalloc(source->num_extents + 1, sizeof(*task->access), GFP_KERNEL_ACCOUNT);
	if (source->flags & NVDLA_TASK_STATISTICS)
		task->stats = kvcalloc(source->num_operations, sizeof(*task->stats),
				       GFP_KERNEL_ACCOUNT);

	if (!task->operations || !task->state || !task->queue_entries || !task->writes ||
	    !task->luts || !task->lut_alias || !task->access ||
	    (!task->stats && (source->flags & NVDLA_TASK_STATISTICS))) {
		nvdla_task_destroy(task);
		return NULL;
	}

	return task;
}

/* Equal tables share an index, so that one is uploaded only once. */
static void copy_luts(struct nvdla_task *task, const struct nvdla_lut_desc *luts)
{
	u32 same;
	u32 i;

	for (i = 0; i < task->num_luts; i++) {
		task->luts[i] = luts[i];
		for (same = 0; same < i; same++)
			if (!memcmp(&task->luts[same], &task->luts[i], sizeof(*luts)))
				break;
		task->lut_alias[i] = same;
	}
}

static void copy_operations(struct nvdla_task *task, const struct nvdla_task_source *source)
{
	u32 i;

	for (i = 0; i < source->num_operations; i++) {
		struct nvdla_operation *op = &task->operations[i];

		op->op_type = source->graph[i].op_type;
		op->lut = NVDLA_NO_LUT;
		op->producer = NVDLA_NO_OP;
		op->consumer = NVDLA_NO_OP;
		if (task->stats)
			task->stats[i].op_type = op->op_type;
	}
}

static void check_operation(struct nvdla_check *check, u32 operation)
{
	const union nvdla_operation_desc *op = &check->source->operations[operation];
	const union nvdla_surface_desc *surface = &check->source->surfaces[operation];

	nvdla_check_set_operation(check, operation);
	check->current_op->first_write = check->task->num_writes;
	check->writes_left = nvdla_max_writes(check->op_type);

	switch (check->op_type) {
	case NVDLA_OP_BDMA:
		nvdla_check_bdma(check, surface);
		break;
	case NVDLA_OP_CONV:
		nvdla_check_conv(check, &op->conv, &surface->conv);
		break;
	case NVDLA_OP_SDP:
		nvdla_check_sdp(check, &op->sdp, &surface->sdp);
		break;
	case NVDLA_OP_PDP:
		nvdla_check_pdp(check, &op->pdp, &surface->pdp);
		break;
	case NVDLA_OP_CDP:
		nvdla_check_cdp(check, &op->cdp, &surface->cdp);
		break;
	case NVDLA_OP_RUBIK:
		nvdla_check_rubik(check, &op->rubik, &surface->rubik);
		break;
	}
}

static void check_task(struct nvdla_check *check)
{
	u32 i;

	nvdla_graph_build(check);
	for (i = 0; i < check->task->num_operations && !check->failed; i++)
		check_operation(check, i);
	if (check->failed)
		return;

	nvdla_graph_check_pairs(check);
	if (check->failed)
		return;
	nvdla_graph_check_progress(check);
}

int nvdla_task_create(const struct nvdla_variant *variant, const struct nvdla_task_source *source,
		      struct drm_nvdla_error *error, struct nvdla_task **task)
{
	struct nvdla_check check = {
		.variant = variant,
		.source = source,
		.error = error,
		.operation = NVDLA_TASK_NO_OPERATION,
		.op_type = ~0U,
	};

	if (error)
		memset(error, 0, sizeof(*error));
	if (check_counts(source, error))
		return -EINVAL;

	check.task = allocate_task(variant, source);
	if (!check.task)
		return -ENOMEM;

	copy_operations(check.task, source);
	copy_luts(check.task, source->luts);
	check_task(&check);
	if (check.failed) {
		nvdla_task_destroy(check.task);
		return -EINVAL;
	}

	/* The checks have let it run without a core. */
	nvdla_task_rewind(check.task);
	*task = check.task;
	return 0;
}

void nvdla_task_destroy(struct nvdla_task *task)
{
	if (!task)
		return;

	kvfree(task->stats);
	kvfree(task->access);
	kvfree(task->lut_alias);
	kvfree(task->luts);
	kvfree(task->writes);
	kvfree(task->queue_entries);
	kvfree(task->state);
	kvfree(task->operations);
	kvfree(task);
}

u32 nvdla_task_num_operations(const struct nvdla_task *task)
{
	return task->num_operations;
}

u32 nvdla_task_op_type(const struct nvdla_task *task, u32 operation)
{
	return task->operations[operation].op_type;
}

bool nvdla_task_uses(const struct nvdla_task *task, u32 op_type)
{
	return task->queue[op_type].count > 0;
}

u32 nvdla_task_access(const struct nvdla_task *task, u32 address)
{
	return task->access[address];
}

const struct nvdla_reg_write *nvdla_task_program(const struct nvdla_task *task, u32 operation,
						 u32 *count)
{
	*count = task->operations[operation].num_writes;
	return &task->writes[task->operations[operation].first_write];
}

u32 nvdla_task_num_completed(const struct nvdla_task *task)
{
	return task->num_completed;
}

void nvdla_task_rewind(struct nvdla_task *task)
{
	u32 i;

	task->num_completed = 0;
	for (i = 0; i < task->num_operations; i++) {
		task->state[i] = (struct nvdla_op_state) { .waits = task->operations[i].waits };
		if (task->stats)
			task->stats[i].valid = false;
	}
}

const struct nvdla_operation_times *nvdla_task_times(const struct nvdla_task *task, u32 operation)
{
	return &task->state[operation].times;
}

const struct nvdla_operation_stats *nvdla_task_stats(const struct nvdla_task *task, u32 operation)
{
	return task->stats ? &task->stats[operation] : NULL;
}
