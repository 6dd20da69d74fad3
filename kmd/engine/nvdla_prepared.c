// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Prepared tasks: checked once at submission, then run with any addresses. */

#include "nvdla_args.h"
#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"
#include "nvdla_task.h"

/* Loadables contain these structures, so new members may only be added at the end. */
static_assert(sizeof(struct nvdla_graph_node) == 36);
static_assert(sizeof(struct nvdla_data_cube) == 32);
static_assert(sizeof(struct nvdla_bdma_surface_desc) == 644);
static_assert(sizeof(struct nvdla_bdma_op_desc) == 4);
static_assert(sizeof(struct nvdla_conv_surface_desc) == 172);
static_assert(sizeof(struct nvdla_conv_op_desc) == 92);
static_assert(sizeof(struct nvdla_lut_desc) == 700);
static_assert(sizeof(struct nvdla_sdp_surface_desc) == 160);
static_assert(sizeof(struct nvdla_sdp_op_desc) == 116);
static_assert(sizeof(struct nvdla_pair_surface_desc) == 64);
static_assert(sizeof(struct nvdla_pdp_op_desc) == 52);
static_assert(sizeof(struct nvdla_cdp_op_desc) == 24);
static_assert(sizeof(struct nvdla_rubik_op_desc) == 4);
static_assert(sizeof(union nvdla_surface_desc) == 644);
static_assert(offsetof(struct nvdla_extended_op_desc, nan_to_zero) == NVDLA_OP_DESC_BYTES);
static_assert(sizeof(union nvdla_operation_desc) == 120);

static int check_counts(const struct nvdla_task_source *source, struct nvdla_refusal *why)
{
	const struct drm_nvdla_task counts = {
		.num_operations = source->num_operations,
		.num_luts = source->num_luts,
		.num_addresses = source->num_extents,
	};

	return nvdla_args_check_counts(&counts, why);
}

/* Allocates one element more than @count, which may be 0: NULL then always means no memory. */
static void *allocate(struct nvdla_prepared *prepared, u32 count, size_t size)
{
	/* Cannot overflow, because counts were checked against their limits. */
	prepared->bytes += (u64)(count + 1) * size;
	return kvcalloc(count + 1, size, GFP_KERNEL_ACCOUNT);
}

static struct nvdla_prepared *allocate_prepared(const struct nvdla_variant *variant,
						const struct nvdla_task_source *source)
{
	struct nvdla_prepared *prepared = kvzalloc(sizeof(*prepared), GFP_KERNEL_ACCOUNT);
	const u32 count = source->num_operations;
	u32 accesses = 0;
	u32 writes = 0;
	u32 i;

	if (!prepared)
		return NULL;

	/* Room for the most that each operation can have. Unknown engines are refused later. */
	for (i = 0; i < count; i++) {
		accesses += nvdla_max_accesses(source->graph[i].op_type);
		writes += nvdla_max_writes(source->graph[i].op_type);
	}

	prepared->variant = variant;
	prepared->bytes = sizeof(*prepared);
	prepared->num_operations = count;
	prepared->num_extents = source->num_extents;
	prepared->num_luts = source->num_luts;
	prepared->operations = allocate(prepared, count, sizeof(*prepared->operations));
	prepared->queue_entries = allocate(prepared, count, sizeof(*prepared->queue_entries));
	prepared->writes = allocate(prepared, writes, sizeof(*prepared->writes));
	prepared->accesses = allocate(prepared, accesses, sizeof(*prepared->accesses));
	prepared->luts = allocate(prepared, source->num_luts, sizeof(*prepared->luts));
	prepared->lut_alias = allocate(prepared, source->num_luts, sizeof(*prepared->lut_alias));
	prepared->use = allocate(prepared, source->num_extents, sizeof(*prepared->use));

	if (!prepared->operations || !prepared->queue_entries || !prepared->writes ||
	    !prepared->accesses || !prepared->luts || !prepared->lut_alias || !prepared->use) {
		nvdla_prepared_destroy(prepared);
		return NULL;
	}

	return prepared;
}

/* Equal tables get the same index, so that such a table is uploaded only once. */
static void copy_luts(struct nvdla_prepared *prepared, const struct nvdla_lut_desc *luts)
{
	u32 same;
	u32 i;

	for (i = 0; i < prepared->num_luts; i++) {
		prepared->luts[i] = luts[i];
		for (same = 0; same < i; same++)
			if (!memcmp(&prepared->luts[same], &prepared->luts[i], sizeof(*luts)))
				break;
		prepared->lut_alias[i] = same;
	}
}

static void copy_operations(struct nvdla_prepared *prepared, const struct nvdla_task_source *source)
{
	u32 i;

	for (i = 0; i < source->num_operations; i++) {
		struct nvdla_operation *op = &prepared->operations[i];

		op->op_type = source->graph[i].op_type;
		op->lut = NVDLA_NO_LUT;
		op->producer = NVDLA_NO_OP;
		op->consumer = NVDLA_NO_OP;
	}
}

/* Checks members that more than one engine has; the engines' functions check all other members. */
static void check_extended(struct nvdla_check *check, const struct nvdla_extended_op_desc *op)
{
	if (check->op_type == NVDLA_OP_BDMA || check->op_type == NVDLA_OP_RUBIK)
		nvdla_nan_to_zero(check, NVDLA_PRECISION_INT8);
	if (check->op_type != NVDLA_OP_CONV)
		need_equal(check, op->pixel_x_offset, 0,
			   "the first pixel of an image is in the atom that its address names");
	need_equal(check, op->reserved, 0, "must be zero");
}

static void check_operation(struct nvdla_check *check, u32 operation)
{
	const union nvdla_operation_desc *op = &check->source->operations[operation];
	const union nvdla_surface_desc *surface = &check->source->surfaces[operation];

	nvdla_check_set_operation(check, operation);
	check->current_op->first_write = check->prepared->num_writes;
	check->writes_left = nvdla_max_writes(check->op_type);
	check->accesses_left = nvdla_max_accesses(check->op_type);
	check_extended(check, &op->extended);

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

static void check_graph(struct nvdla_check *check)
{
	u32 i;

	nvdla_graph_build(check);
	for (i = 0; i < check->prepared->num_operations && !check->failed; i++)
		check_operation(check, i);
	if (check->failed)
		return;

	nvdla_graph_check_pairs(check);
	if (check->failed)
		return;
	nvdla_graph_check_progress(check);
}

int nvdla_prepared_create(const struct nvdla_variant *variant,
			  const struct nvdla_task_source *source, struct nvdla_refusal *why,
			  struct nvdla_prepared **prepared)
{
	struct nvdla_check check = {
		.variant = variant,
		.source = source,
		.why = why,
		.operation = NVDLA_TASK_NO_OPERATION,
		.op_type = ~0U,
	};

	if (check_counts(source, why))
		return -EINVAL;

	check.prepared = allocate_prepared(variant, source);
	if (!check.prepared)
		return -ENOMEM;
	check.rehearsal = nvdla_task_allocate(check.prepared, 0);
	if (!check.rehearsal) {
		nvdla_prepared_destroy(check.prepared);
		return -ENOMEM;
	}

	copy_operations(check.prepared, source);
	copy_luts(check.prepared, source->luts);
	check_graph(&check);
	nvdla_task_destroy(check.rehearsal);
	if (check.failed) {
		nvdla_prepared_destroy(check.prepared);
		return -EINVAL;
	}

	*prepared = check.prepared;
	return 0;
}

int nvdla_task_create(const struct nvdla_variant *variant, const struct nvdla_task_source *source,
		      struct nvdla_refusal *why, struct nvdla_task **task)
{
	struct nvdla_prepared *prepared;
	int ret;

	ret = nvdla_prepared_create(variant, source, why, &prepared);
	if (ret)
		return ret;

	ret = nvdla_task_bind(prepared, source->extents, source->flags, why, task);
	if (ret) {
		nvdla_prepared_destroy(prepared);
		return ret;
	}

	(*task)->owned = prepared;
	return 0;
}
