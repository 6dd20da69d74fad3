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
	check->current_op = &check->task->operations[operation];
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

/* The extent that an access names, or NULL if it names none that may be used. */
static const struct nvdla_task_extent *find_extent(struct nvdla_check *check,
						   const struct nvdla_access_request *request)
{
	const struct nvdla_task_extent *extent;

	if (!nvdla_need(check,
			request->mem_type == NVDLA_MEM_MC || request->mem_type == NVDLA_MEM_CV,
			DRM_NVDLA_RULE_CUBE_MEM_TYPE, request->mem_type, NVDLA_MEM_CV,
			request->type_field))
		return NULL;
	if (!nvdla_need(check, request->mem_type == NVDLA_MEM_MC || check->variant->has_cvsram,
			DRM_NVDLA_RULE_CUBE_NO_CVSRAM, request->mem_type, NVDLA_MEM_MC,
			request->type_field))
		return NULL;
	if (!nvdla_need(check,
			request->address >= 0 && request->address < check->source->num_extents,
			DRM_NVDLA_RULE_CUBE_ADDRESS, request->address,
			(s64)check->source->num_extents - 1, request->address_field))
		return NULL;

	extent = &check->source->extents[request->address];
	if (!nvdla_need(check, extent->present, DRM_NVDLA_RULE_CUBE_ABSENT, request->address, 0,
			request->address_field))
		return NULL;
	if (!nvdla_need(check, extent->mem_type == request->mem_type,
			DRM_NVDLA_RULE_CUBE_WRONG_MEMORY, request->mem_type, extent->mem_type,
			request->type_field))
		return NULL;

	return extent;
}

u64 nvdla_bind(struct nvdla_check *check, const struct nvdla_access_request *request)
{
	const struct nvdla_task_extent *extent;
	u64 last_address;
	u64 address;
	u64 end;

	extent = find_extent(check, request);
	if (!extent)
		return 0;

	if (check_add_overflow(request->offset, request->bytes, &end)) {
		nvdla_need(check, false, DRM_NVDLA_RULE_CUBE_OVERFLOW, request->offset,
			   request->bytes, request->offset_field);
		return 0;
	}
	if (!nvdla_need(check, request->bytes > 0 && end <= extent->size,
			DRM_NVDLA_RULE_CUBE_EXTENT, end, extent->size, request->field))
		return 0;

	if (check_add_overflow(extent->dma_addr, request->offset, &address) ||
	    check_add_overflow(address, request->bytes - 1, &last_address)) {
		nvdla_need(check, false, DRM_NVDLA_RULE_CUBE_OVERFLOW, request->offset,
			   request->bytes, request->offset_field);
		return 0;
	}
	if (!nvdla_need(check,
			check->variant->address_bits >= 64 ||
				last_address >> check->variant->address_bits == 0,
			DRM_NVDLA_RULE_CUBE_ADDRESS_BITS, last_address,
			check->variant->address_bits, request->address_field))
		return 0;
	if (!nvdla_need(check, IS_ALIGNED(address, request->alignment),
			DRM_NVDLA_RULE_CUBE_ALIGNMENT, address, request->alignment,
			request->offset_field))
		return 0;

	check->task->access[request->address] |= request->access;
	return address;
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

u64 nvdla_bind_feature(struct nvdla_check *check, const struct nvdla_data_cube *cube,
		       const struct nvdla_feature_use *use)
{
	u32 surfaces = DIV_ROUND_UP((u32)cube->channel, use->atom_elements);
	struct nvdla_dim dims[3];
	struct nvdla_access_request request = nvdla_cube_access(use->cube, use->access);

	nvdla_check_feature_shape(check, cube, use);
	if (check->failed)
		return 0;

	request.alignment = use->alignment;
	surfaces = DIV_ROUND_UP(surfaces, use->surface_multiple) * use->surface_multiple;
	dims[0] = (struct nvdla_dim) { cube->height, cube->line_stride };
	dims[1] = (struct nvdla_dim) { surfaces, cube->surf_stride };
	dims[2] = (struct nvdla_dim) { use->batches, use->batch_stride };
	if (!nvdla_walk_bytes((u64)cube->width * use->atom_bytes, dims, ARRAY_SIZE(dims),
			      &request.bytes)) {
		nvdla_need(check, false, DRM_NVDLA_RULE_CUBE_OVERFLOW, cube->surf_stride, surfaces,
			   NVDLA_FIELD(use->cube->surf_stride));
		return 0;
	}

	return nvdla_bind(check, &request);
}
