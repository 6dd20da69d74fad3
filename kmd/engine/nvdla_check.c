// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Rules and extents: functions that the checks of all engines share. */

#include "nvdla_check.h"

#include "nvdla_internal.h"
#include "nvdla_platform.h"

/* Makes @operation the current operation of @check. */
void nvdla_check_set_operation(struct nvdla_check *check, u32 operation)
{
	check->operation = operation;
	check->op_type = check->source->graph[operation].op_type;
	check->current_op = &check->prepared->operations[operation];
}

/* Returns whether @field lies in @array; if so, fills in its structure, index and offset. */
static bool locate(struct drm_nvdla_error *error, struct nvdla_field field,
		   enum drm_nvdla_struct member_of, const void *array, u32 count, size_t size)
{
	const size_t offset = (uintptr_t)field.at - (uintptr_t)array;

	if (offset >= count * size)
		return false;

	error->member_of = member_of;
	error->index = offset / size;
	error->offset = offset % size;
	error->size = field.size;
	return true;
}

static void name_field(const struct nvdla_check *check, struct drm_nvdla_error *error,
		       struct nvdla_field field)
{
	const struct nvdla_task_source *source = check->source;
	u32 count;

	if (check->args) {
		locate(error, field, check->structure, check->args, 1, SIZE_MAX);
		error->index = check->index;
		return;
	}

	count = source->num_operations;
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

/*
 * States a rule. If the rule is not @fulfilled and no earlier one was violated, reports the @value
 * of @field, the @limit that the value violates, and the @rule in words. Returns @fulfilled.
 */
bool nvdla_state(struct nvdla_check *check, bool fulfilled, s64 value, s64 limit,
		 struct nvdla_field field, const char *rule)
{
	if (fulfilled || check->failed)
		return fulfilled;

	check->failed = true;
	if (!check->why)
		return false;

	*check->why = (struct nvdla_refusal) {
		.error.operation = check->operation,
		.op_type = check->op_type,
		.rule = rule,
		.value = value,
		.limit = limit,
	};
	name_field(check, &check->why->error, field);
	return false;
}

/* Returns the value of a descriptor's member, which is a number. */
s64 nvdla_field_value(struct nvdla_field field)
{
	s64 value;

	switch (field.size) {
	case sizeof(u8):
		return field.is_signed ? *(const s8 *)field.at : *(const u8 *)field.at;
	case sizeof(u16):
		return field.is_signed ? *(const s16 *)field.at : *(const u16 *)field.at;
	case sizeof(u32):
		/* The conditional operator would convert both operands to unsigned. */
		if (field.is_signed)
			return *(const s32 *)field.at;
		return *(const u32 *)field.at;
	}
	/* 64-bit members of descriptors are aligned to 4 bytes only. */
	memcpy(&value, field.at, sizeof(value));
	return value;
}

bool nvdla_state_range(struct nvdla_check *check, struct nvdla_field field, s64 least, s64 most,
		       const char *rule)
{
	s64 value = nvdla_field_value(field);

	return nvdla_state(check, value >= least && value <= most, value,
			   value < least ? least : most, field, rule);
}

bool nvdla_state_multiple(struct nvdla_check *check, struct nvdla_field field, u32 unit,
			  const char *rule)
{
	s64 value = nvdla_field_value(field);

	return nvdla_state(check, IS_ALIGNED(value, unit), value, unit, field, rule);
}

/* States the rule that two cubes have the same size; a violation names a member of @cube. */
void nvdla_need_same_size(struct nvdla_check *check, const struct nvdla_data_cube *cube,
			  const struct nvdla_data_cube *other, const char *rule)
{
	need_equal(check, cube->width, other->width, rule);
	need_equal(check, cube->height, other->height, rule);
	need_equal(check, cube->channel, other->channel, rule);
}

/* Returns 1 if the current operation, computing in @precision, takes NaN as zero, else 0. */
u32 nvdla_nan_to_zero(struct nvdla_check *check, u32 precision)
{
	const u8 *nan_to_zero = &check->source->operations[check->operation].extended.nan_to_zero;

	need_range(check, *nan_to_zero, 0, precision == NVDLA_PRECISION_FP16,
		   "NaN is flushed by 1, by engines that read FP16");
	return *nan_to_zero;
}

/*
 * Sets @bytes to the distance from the first byte to the end of the last in a walk that touches
 * @unit bytes at each step. Returns false if the distance does not fit 64 bits.
 */
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

/* Returns a request for a data cube's memory; the caller fills in bytes and alignment. */
struct nvdla_access_request nvdla_cube_access(const struct nvdla_data_cube *cube, u32 access)
{
	return (struct nvdla_access_request) {
		.type_field = NVDLA_FIELD(cube->type),
		.address_field = NVDLA_FIELD(cube->address),
		.offset_field = NVDLA_FIELD(cube->offset),
		.field = NVDLA_WHOLE(*cube),
		.offset = cube->offset,
		.access = access,
	};
}

/* Returns the place of @field in the current operation's surface descriptor. */
static struct nvdla_surface_member member_of_surface(const struct nvdla_check *check,
						     struct nvdla_field field)
{
	const void *surface = &check->source->surfaces[check->operation];

	return (struct nvdla_surface_member) {
		.offset = (uintptr_t)field.at - (uintptr_t)surface,
		.size = field.size,
	};
}

/*
 * Records an access of the current operation to memory. The address index and the memory type are
 * checked here, the memory itself by nvdla_task_bind(). Returns the access's index in
 * &nvdla_prepared.accesses, for emit_address(), or NVDLA_NO_ACCESS on violations.
 */
u32 nvdla_add_access(struct nvdla_check *check, const struct nvdla_access_request *request)
{
	struct nvdla_prepared *prepared = check->prepared;
	const s64 mem_type = nvdla_field_value(request->type_field);
	const s64 address = nvdla_field_value(request->address_field);
	u64 end;

	nvdla_state_range(check, request->type_field, NVDLA_MEM_MC, NVDLA_MEM_CV,
			  "no such memory type for this cube");
	nvdla_state(check, mem_type == NVDLA_MEM_MC || check->variant->has_cvsram, mem_type,
		    NVDLA_MEM_MC, request->type_field, "this core has no on-chip memory");
	/* accesses_left becomes 0 only if nvdla_max_accesses() is wrong: refuse the task then. */
	nvdla_state(check, address >= 0 && address < check->source->num_extents &&
		    check->accesses_left, address, (s64)check->source->num_extents - 1,
		    request->address_field, "the task has no such address");
	nvdla_state(check, !check_add_overflow(request->offset, request->bytes, &end),
		    request->offset, request->bytes, request->offset_field,
		    "the size of the cube overflows");
	nvdla_state(check, request->bytes, request->bytes, 1, request->field,
		    "the cube reaches beyond the memory of its address");
	if (check->failed)
		return NVDLA_NO_ACCESS;

	check->accesses_left--;
	prepared->use[address] |= request->access;
	prepared->accesses[prepared->num_accesses] = (struct nvdla_access) {
		.offset = request->offset,
		.bytes = request->bytes,
		.alignment = request->alignment,
		.alignment_rule = request->alignment_rule ?:
				  "the address is not aligned as this kind of data needs",
		.operation = check->operation,
		.address = address,
		.mem_type = mem_type,
		.type_member = member_of_surface(check, request->type_field),
		.address_member = member_of_surface(check, request->address_field),
		.offset_member = member_of_surface(check, request->offset_field),
		.member = member_of_surface(check, request->field),
	};
	return prepared->num_accesses++;
}

/*
 * Describes an engine's walk through a feature cube with the cube's own strides. A feature cube
 * consists of atoms: the variant's atom_bytes bytes of successive channels of one pixel. A surface
 * is one atom of every pixel. @precision must be valid.
 */
struct nvdla_feature_use nvdla_feature_use(const struct nvdla_check *check,
					   const struct nvdla_data_cube *cube, u32 access,
					   u32 precision)
{
	u32 atom_bytes = check->variant->atom_bytes;

	return (struct nvdla_feature_use) {
		.cube = cube,
		.access = access,
		.line_stride = cube->line_stride,
		.surf_stride = cube->surf_stride,
		.atom_bytes = atom_bytes,
		.atom_elements = atom_bytes / nvdla_bytes_per_element(precision),
		.surface_multiple = 1,
		.batches = 1,
		.alignment = atom_bytes,
	};
}

/* States the rule that a cube has elements. */
void nvdla_need_cube(struct nvdla_check *check, const struct nvdla_data_cube *cube)
{
	need_range(check, cube->width, 1, U16_MAX, "a dimension is zero");
	need_range(check, cube->height, 1, U16_MAX, "a dimension is zero");
	need_range(check, cube->channel, 1, U16_MAX, "a dimension is zero");
}

/*
 * Rules of a feature cube in any memory or stream (programming guide, "Limitation", Data Format).
 */
static void check_shape(struct nvdla_check *check, const struct nvdla_feature_use *use)
{
	const char *multiple = "the stride is not aligned as this kind of data needs";
	const char *packed = "a 1x1 cube has to be line packed and surface packed";
	const struct nvdla_data_cube *cube = use->cube;
	const u32 atom = check->variant->atom_bytes;
	u64 line_bytes = (u64)cube->width * use->atom_bytes;

	nvdla_need_cube(check, cube);
	nvdla_state(check, IS_ALIGNED(use->line_stride, atom), use->line_stride, atom,
		    NVDLA_FIELD(cube->line_stride), multiple);
	nvdla_state(check, IS_ALIGNED(use->surf_stride, atom), use->surf_stride, atom,
		    NVDLA_FIELD(cube->surf_stride), multiple);
	nvdla_state(check, use->line_stride >= line_bytes, use->line_stride, line_bytes,
		    NVDLA_FIELD(cube->line_stride), "a line does not fit its stride");
	if (cube->width != 1 || cube->height != 1)
		return;
	nvdla_state(check, use->line_stride == use->atom_bytes, use->line_stride,
		    use->atom_bytes, NVDLA_FIELD(cube->line_stride), packed);
	nvdla_state(check, use->surf_stride == use->atom_bytes, use->surf_stride,
		    use->atom_bytes, NVDLA_FIELD(cube->surf_stride), packed);
}

/* Checks a feature cube and records its memory access. Returns as nvdla_add_access() does. */
u32 nvdla_add_feature_use(struct nvdla_check *check, const struct nvdla_feature_use *use)
{
	const struct nvdla_data_cube *cube = use->cube;
	u32 surfaces = DIV_ROUND_UP((u32)cube->channel, use->atom_elements);
	struct nvdla_access_request request = nvdla_cube_access(cube, use->access);
	struct nvdla_dim dims[] = {
		{ cube->height, use->line_stride },
		{ DIV_ROUND_UP(surfaces, use->surface_multiple) * use->surface_multiple,
		  use->surf_stride },
		{ use->batches, use->batch_stride },
	};

	check_shape(check, use);
	if (check->failed)
		return NVDLA_NO_ACCESS;

	request.alignment = use->alignment;
	request.alignment_rule = use->alignment_rule;
	if (!nvdla_state(check, nvdla_walk_bytes((u64)cube->width * use->atom_bytes, dims,
						 ARRAY_SIZE(dims), &request.bytes),
			 use->surf_stride, dims[1].count, NVDLA_FIELD(cube->surf_stride),
			 "the size of the cube overflows"))
		return NVDLA_NO_ACCESS;
	return nvdla_add_access(check, &request);
}

/* Like nvdla_add_feature_use(), for a cube that is read or written with its own strides. */
u32 nvdla_add_feature(struct nvdla_check *check, const struct nvdla_data_cube *cube, u32 access,
		      u32 precision)
{
	const struct nvdla_feature_use use = nvdla_feature_use(check, cube, access, precision);

	return nvdla_add_feature_use(check, &use);
}
