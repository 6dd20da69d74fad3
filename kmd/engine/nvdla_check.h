/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_CHECK_H
#define NVDLA_CHECK_H

#include <drm/nvdla_descriptors.h>

#include "nvdla_platform.h"
#include "nvdla_task.h"

struct nvdla_operation;
struct nvdla_prepared;
struct nvdla_task;

/**
 * struct nvdla_field - the part of what was submitted that a rule is about
 * @at: where it lies in the arrays of struct nvdla_task_source, NULL if nowhere
 * @size: its bytes
 */
struct nvdla_field {
	const void *at;
	u32 size;
};

/** NVDLA_FIELD() - a member of a descriptor, as a struct nvdla_field */
#define NVDLA_FIELD(member) ((struct nvdla_field) { &(member), sizeof(member) })

/** NVDLA_NO_FIELD - a rule is about no member of a descriptor */
#define NVDLA_NO_FIELD ((struct nvdla_field) { NULL, 0 })

/**
 * struct nvdla_check - state of the examination of one task
 * @variant: core that the task is for
 * @source: what was submitted
 * @prepared: what is being built
 * @rehearsal: a run of it on an imagined core
 * @error: where to report the first violation; may be NULL
 * @operation: index of the operation that is looked at
 * @op_type: its engine
 * @current_op: its entry in @prepared
 * @failed: a rule was violated
 * @writes_left: room for register writes
 * @accesses_left: room for accesses
 *
 * The first violation is kept, later ones are ignored. A checking function can
 * thus state one rule after the other and look at @failed before it relies on
 * what they guarantee.
 */
struct nvdla_check {
	const struct nvdla_variant *variant;
	const struct nvdla_task_source *source;
	struct nvdla_prepared *prepared;
	struct nvdla_task *rehearsal;
	struct drm_nvdla_error *error;
	u32 operation;
	u32 op_type;
	struct nvdla_operation *current_op;
	bool failed;
	u32 writes_left;
	u32 accesses_left;
};

/**
 * nvdla_check_set_operation() - look at another operation
 * @check: examination
 * @operation: index, valid
 */
void nvdla_check_set_operation(struct nvdla_check *check, u32 operation);

/**
 * nvdla_need() - state a rule
 * @check: examination
 * @fulfilled: what the rule asks for
 * @rule: which rule it is
 * @value: the value that is looked at
 * @limit: what it is held against
 * @field: where @value comes from
 *
 * Return: @fulfilled.
 */
bool nvdla_need(struct nvdla_check *check, bool fulfilled, enum drm_nvdla_rule rule, s64 value,
		s64 limit, struct nvdla_field field);

/**
 * nvdla_nan_to_zero() - what the current operation says of NaN
 * @check: examination
 * @precision: enum nvdla_precision that it computes in
 *
 * Return: 1 if its engine takes NaN as zero, otherwise 0.
 */
u32 nvdla_nan_to_zero(struct nvdla_check *check, u32 precision);

/**
 * nvdla_bytes_per_element() - size of an element
 * @precision: enum nvdla_precision
 *
 * Return: 1 or 2.
 */
static inline u32 nvdla_bytes_per_element(u32 precision)
{
	return precision == NVDLA_PRECISION_INT8 ? 1 : 2;
}

/**
 * struct nvdla_dim - one dimension of a walk through memory
 * @count: number of steps, 1 or more
 * @stride: bytes from step to step
 */
struct nvdla_dim {
	u64 count;
	u64 stride;
};

/**
 * nvdla_walk_bytes() - bytes from the first to the last one that a walk touches
 * @unit: bytes touched at each step
 * @dims: dimensions
 * @num_dims: number of dimensions
 * @bytes: result
 *
 * Return: false if the result does not fit 64 bits.
 */
bool nvdla_walk_bytes(u64 unit, const struct nvdla_dim *dims, u32 num_dims, u64 *bytes);

/**
 * struct nvdla_access_request - memory that an operation touches
 * @type_field: where @mem_type comes from
 * @address_field: where @address comes from
 * @offset_field: where @offset comes from
 * @field: what describes the whole access
 * @mem_type: enum nvdla_mem_type, as the descriptor says
 * @address: index into the address table
 * @offset: bytes from there
 * @bytes: how many bytes are touched from there on
 * @alignment: what the resulting address has to be a multiple of
 * @alignment_rule: the rule that says so
 * @access: NVDLA_ACCESS_READ or NVDLA_ACCESS_WRITE
 */
struct nvdla_access_request {
	struct nvdla_field type_field;
	struct nvdla_field address_field;
	struct nvdla_field offset_field;
	struct nvdla_field field;
	u32 mem_type;
	s32 address;
	u64 offset;
	u64 bytes;
	u32 alignment;
	enum drm_nvdla_rule alignment_rule;
	u32 access;
};

/**
 * nvdla_cube_access() - an access to the memory of a data cube
 * @cube: the cube as it was submitted
 * @access: NVDLA_ACCESS_READ or NVDLA_ACCESS_WRITE
 *
 * Return: a request that lacks its bytes and its alignment.
 */
static inline struct nvdla_access_request nvdla_cube_access(const struct nvdla_data_cube *cube,
							    u32 access)
{
	return (struct nvdla_access_request) {
		.type_field = NVDLA_FIELD(cube->type),
		.address_field = NVDLA_FIELD(cube->address),
		.offset_field = NVDLA_FIELD(cube->offset),
		.field = NVDLA_FIELD(*cube),
		.mem_type = cube->type,
		.address = cube->address,
		.offset = cube->offset,
		.alignment_rule = DRM_NVDLA_RULE_CUBE_ALIGNMENT,
		.access = access,
	};
}

/** NVDLA_NO_ACCESS - nothing is touched, its address is 0 */
#define NVDLA_NO_ACCESS U32_MAX

/**
 * nvdla_add_access() - note memory that the current operation touches
 * @check: examination
 * @request: what is touched
 *
 * What it names is checked here, the memory behind it by nvdla_task_bind().
 *
 * Return: the access, for nvdla_emit_address(), or NVDLA_NO_ACCESS on violations.
 */
u32 nvdla_add_access(struct nvdla_check *check, const struct nvdla_access_request *request);

/**
 * struct nvdla_feature_use - how an engine walks through a feature cube
 * @cube: the cube as it was submitted
 * @access: NVDLA_ACCESS_READ or NVDLA_ACCESS_WRITE
 * @atom_bytes: bytes of one atom in memory
 * @atom_elements: channels in one atom
 * @surface_multiple: the engine touches a multiple of this many surfaces
 * @batches: number of cubes, 1 or more
 * @batch_stride: bytes from cube to cube
 * @alignment: of strides
 * @address_alignment: of the address
 * @address_rule: the rule that says so
 */
struct nvdla_feature_use {
	const struct nvdla_data_cube *cube;
	u32 access;
	u32 atom_bytes;
	u32 atom_elements;
	u32 surface_multiple;
	u32 batches;
	u32 batch_stride;
	u32 alignment;
	u32 address_alignment;
	enum drm_nvdla_rule address_rule;
};

/**
 * nvdla_feature_use_init() - the usual walk: one cube of packed atoms
 * @check: examination
 * @use: filled
 * @cube: the cube as it was submitted
 * @access: NVDLA_ACCESS_READ or NVDLA_ACCESS_WRITE
 * @precision: enum nvdla_precision of the cube, valid
 */
void nvdla_feature_use_init(const struct nvdla_check *check, struct nvdla_feature_use *use,
			    const struct nvdla_data_cube *cube, u32 access, u32 precision);

/**
 * nvdla_check_feature_shape() - rules of a feature cube, wherever it is
 * @check: examination
 * @cube: the cube
 * @use: how it is used
 */
void nvdla_check_feature_shape(struct nvdla_check *check, const struct nvdla_data_cube *cube,
			       const struct nvdla_feature_use *use);

/**
 * nvdla_add_feature_access() - rules and extent of a feature cube in memory
 * @check: examination
 * @cube: the cube
 * @use: how it is used
 *
 * Return: the access, for nvdla_emit_address(), or NVDLA_NO_ACCESS on violations.
 */
u32 nvdla_add_feature_access(struct nvdla_check *check, const struct nvdla_data_cube *cube,
			     const struct nvdla_feature_use *use);

/* One function per engine: check the current operation and write its program. */
void nvdla_check_bdma(struct nvdla_check *check, const union nvdla_surface_desc *surface);
void nvdla_check_conv(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
		      const struct nvdla_conv_surface_desc *surface);
void nvdla_check_sdp(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		     const struct nvdla_sdp_surface_desc *surface);
void nvdla_check_pdp(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
		     const struct nvdla_pdp_surface_desc *surface);
void nvdla_check_cdp(struct nvdla_check *check, const struct nvdla_cdp_op_desc *op,
		     const struct nvdla_cdp_surface_desc *surface);
void nvdla_check_rubik(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
		       const struct nvdla_rubik_surface_desc *surface);

/**
 * nvdla_check_lut() - rules of a look-up table for one engine and precision
 * @check: examination
 * @index: index of the table, valid
 * @precision: enum nvdla_precision of the engine's pipeline
 *
 * Notes in the current operation which table it needs.
 */
void nvdla_check_lut(struct nvdla_check *check, u32 index, u32 precision);

#endif /* NVDLA_CHECK_H */
