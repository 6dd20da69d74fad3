// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rules and extents: what all engines' checks are made of.
 */

#include "nvdla_check.h"

#include "nvdla_internal.h"
#include "nvdla_platform.h"

void nvdla_check_set_operation(struct nvdla_check *check, u32 operation)
{
	check->operation = operation;
	check->op_type = check->source->graph[operation].op_type;
	check->current_op = &check->prepared->operations[operation];
}

/* Names the member that a field is, if it lies in this array. */
static bool locate(struct drm_nvdla_error *error, const struct nvdla_field *field,
		   enum drm_nvdla_struct member_of, const void *array, u32 count, size_t size)
{
	const size_t offset = (uintptr_t)field->at - (uintptr_t)array;

	if (offset >= count * size)
		return false;

	error->member_of = member_of;
	error->index = offset / size;
	error->offset = offset % size;
	error->size = field->size;
	return true;
}

static void name_field(struct drm_nvdla_error *error, const struct nvdla_field *field,
		       const struct nvdla_task_source *source)
{
	const u32 count = source->num_operations;

	if (locate(error, field, DRM_NVDLA_STRUCT_NODE, source->graph, count,
		   sizeof(*source->graph)) ||
	    locate(error, field, DRM_NVDLA_STRUCT_OPERATION, source->operations, count,
		   sizeof(*source->operations)) ||
	    locate(error, field, DRM_NVDLA_STRUCT_SURFACE, source->surfaces, count,
		   sizeof(*source->surfaces)))
		return;
	locate(error, field, DRM_NVDLA_STRUCT_LUT, source->luts, source->num_luts,
	       sizeof(*source->luts));
}

bool nvdla_need(struct nvdla_check *check, bool fulfilled, enum drm_nvdla_rule rule, s64 value,
		s64 limit, struct nvdla_field field)
{
	struct drm_nvdla_error *error = check->error;

	if (fulfilled || check->failed)
		return fulfilled;

	check->failed = true;
	if (!error)
		return false;

	error->operation = check->operation;
	error->op_type = check->op_type;
	error->rule = rule;
	error->value = value;
	error->limit = limit;
	name_field(error, &field, check->source);

	return false;
}

u32 nvdla_nan_to_zero(struct nvdla_check *check, u32 precision)
{
	const u8 *nan_to_zero = &check->source->operations[check->operation].extended.nan_to_zero;
	u32 limit = precision == NVDLA_PRECISION_FP16;

	nvdla_need(check, *nan_to_zero <= limit, DRM_NVDLA_RULE_OPERATION_NAN, *nan_to_zero, limit,
		   NVDLA_FIELD(*nan_to_zero));
	return *nan_to_zero;
}

bool nvdla_walk_bytes(u64 unit, const struct nvdla_dim *dims, u32 num_dims, u64 *bytes)
{
	u64 total = unit;
	u32 i;

	for (i = 0; i < num_dims; i++) {
		u64 reach;

		if (check_mul_overflow(dims[i].count - 1, dims[i].stride, &reach) ||
		    check_add_overflow(total, reach, &total))
			return false;
	}

	*bytes = total;
	return true;
}

/* A part of the current operation's surface descriptor. */
static struct nvdla_surface_member member_of_surface(const struct nvdla_check *check,
						     struct nvdla_field field)
{
	const void *surface = &check->source->surfaces[check->operation];

	return (struct nvdla_surface_member) {
		.offset = (uintptr_t)field.at - (uintptr_t)surface,
		.size = field.size,
	};
}

u32 nvdla_add_access(struct nvdla_check *check, const struct nvdla_access_request *request)
{
	struct nvdla_prepared *prepared = check->prepared;
	u64 end;

	nvdla_need(check, request->mem_type == NVDLA_MEM_MC || request->mem_type == NVDLA_MEM_CV,
		   DRM_NVDLA_RULE_CUBE_MEM_TYPE, request->mem_type, NVDLA_MEM_CV,
		   request->type_field);
	nvdla_need(check, request->mem_type == NVDLA_MEM_MC || check->variant->has_cvsram,
		   DRM_NVDLA_RULE_CUBE_NO_CVSRAM, request->mem_type, NVDLA_MEM_MC,
		   request->type_field);
	nvdla_need(check, request->address >= 0 && request->address < check->source->num_extents,
		   DRM_NVDLA_RULE_CUBE_ADDRESS, request->address,
		   (s64)check->source->num_extents - 1, request->address_field);
	nvdla_need(check, !check_add_overflow(request->offset, request->bytes, &end),
		   DRM_NVDLA_RULE_CUBE_OVERFLOW, request->offset, request->bytes,
		   request->offset_field);
	nvdla_need(check, request->bytes > 0, DRM_NVDLA_RULE_CUBE_EXTENT, request->bytes, 1,
		   request->field);
	/* nvdla_max_accesses() is a property of this code, not of the input. */
	nvdla_need(check, check->accesses_left > 0, DRM_NVDLA_RULE_CUBE_ADDRESS,
		   request->address, 0, request->address_field);
	if (check->failed)
		return NVDLA_NO_ACCESS;

	check->accesses_left--;
	prepared->use[request->address] |= request->access;
	prepared->accesses[prepared->num_accesses] = (struct nvdla_access) {
		.offset = request->offset,
		.bytes = request->bytes,
		.alignment = request->alignment,
		.alignment_rule = request->alignment_rule,
		.operation = check->operation,
		.address = request->address,
		.mem_type = request->mem_type,
		.type_member = member_of_surface(check, request->type_field),
		.address_member = member_of_surface(check, request->address_field),
		.offset_member = member_of_surface(check, request->offset_field),
		.member = member_of_surface(check, request->field),
	};
	return prepared->num_accesses++;
}

void nvdla_feature_use_init(const struct nvdla_check *check, struct nvdla_feature_use *use,
			    const struct nvdla_data_cube *cube, u32 access, u32 precision)
{
	u32 atom_bytes = check->variant->atom_bytes;

	*use = (struct nvdla_feature_use) {
		.cube = cube,
		.access = access,
		.atom_bytes = atom_bytes,
		.atom_elements = atom_bytes / nvdla_bytes_per_element(precision),
		.surface_multiple = 1,
		.batches = 1,
		.alignment = atom_bytes,
		.address_alignment = atom_bytes,
		.address_rule = DRM_NVDLA_RULE_CUBE_ALIGNMENT,
	};
}

void nvdla_check_feature_shape(struct nvdla_check *check, const struct nvdla_data_cube *cube,
			       const struct nvdla_feature_use *use)
{
	u64 line_bytes = (u64)cube->width * use->atom_bytes;

	nvdla_need(check, cube->width > 0, DRM_NVDLA_RULE_CUBE_EMPTY, 0, 1,
		   NVDLA_FIELD(use->cube->width));
	nvdla_need(check, cube->height > 0, DRM_NVDLA_RULE_CUBE_EMPTY, 0, 1,
		   NVDLA_FIELD(use->cube->height));
	nvdla_need(check, cube->channel > 0, DRM_NVDLA_RULE_CUBE_EMPTY, 0, 1,
		   NVDLA_FIELD(use->cube->channel));
	nvdla_need(check, IS_ALIGNED(cube->line_stride, use->alignment),
		   DRM_NVDLA_RULE_CUBE_STRIDE_ALIGNMENT, cube->line_stride, use->alignment,
		   NVDLA_FIELD(use->cube->line_stride));
	nvdla_need(check, IS_ALIGNED(cube->surf_stride, use->alignment),
		   DRM_NVDLA_RULE_CUBE_STRIDE_ALIGNMENT, cube->surf_stride, use->alignment,
		   NVDLA_FIELD(use->cube->surf_stride));
	nvdla_need(check, cube->line_stride >= line_bytes, DRM_NVDLA_RULE_CUBE_LINE_STRIDE,
		   cube->line_stride, line_bytes, NVDLA_FIELD(use->cube->line_stride));

	if (cube->width != 1 || cube->height != 1)
		return;
	nvdla_need(check, cube->line_stride == use->atom_bytes, DRM_NVDLA_RULE_CUBE_PACKED,
		   cube->line_stride, use->atom_bytes, NVDLA_FIELD(use->cube->line_stride));
	nvdla_need(check, cube->surf_stride == use->atom_bytes, DRM_NVDLA_RULE_CUBE_PACKED,
		   cube->surf_stride, use->atom_bytes, NVDLA_FIELD(use->cube->surf_stride));
}

u32 nvdla_add_feature_access(struct nvdla_check *check, const struct nvdla_data_cube *cube,
			     const struct nvdla_feature_use *use)
{
	u32 surfaces = DIV_ROUND_UP((u32)cube->channel, use->atom_elements);
	struct nvdla_dim dims[3];
	struct nvdla_access_request request = nvdla_cube_access(use->cube, use->access);

	nvdla_check_feature_shape(check, cube, use);
	if (check->failed)
		return NVDLA_NO_ACCESS;

	request.alignment = use->address_alignment;
	request.alignment_rule = use->address_rule;
	surfaces = DIV_ROUND_UP(surfaces, use->surface_multiple) * use->surface_multiple;
	dims[0] = (struct nvdla_dim) { cube->height, cube->line_stride };
	dims[1] = (struct nvdla_dim) { surfaces, cube->surf_stride };
	dims[2] = (struct nvdla_dim) { use->batches, use->batch_stride };
	if (!nvdla_walk_bytes((u64)cube->width * use->atom_bytes, dims, ARRAY_SIZE(dims),
			      &request.bytes)) {
		nvdla_need(check, false, DRM_NVDLA_RULE_CUBE_OVERFLOW, cube->surf_stride, surfaces,
			   NVDLA_FIELD(use->cube->surf_stride));
		return NVDLA_NO_ACCESS;
	}

	return nvdla_add_access(check, &request);
}
