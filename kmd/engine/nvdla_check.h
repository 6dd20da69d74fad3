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
 * @at: where it lies in the arrays of struct nvdla_task_source
 * @size: its bytes
 * @is_signed: it is a signed number
 */
struct nvdla_field {
	const void *at;
	u32 size;
	bool is_signed;
};

/** NVDLA_FIELD() - a number in a descriptor, as a struct nvdla_field */
#define NVDLA_FIELD(member) \
	((struct nvdla_field) { &(member), sizeof(member), is_signed_type(typeof(member)) })

/** NVDLA_WHOLE() - a structure or an array in a descriptor, as a struct nvdla_field */
#define NVDLA_WHOLE(member) ((struct nvdla_field) { &(member), sizeof(member), false })

/**
 * struct nvdla_check - state of the examination of one task
 * @variant: core that the task is for
 * @source: what was submitted
 * @args: in place of @source: the one structure that is looked at, for nvdla_args.c
 * @structure: what @args is
 * @index: which element of its array @args is
 * @prepared: what is being built
 * @rehearsal: a run of it on an imagined core
 * @why: where to report the first violation; may be NULL
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
	const void *args;
	enum drm_nvdla_struct structure;
	u32 index;
	struct nvdla_prepared *prepared;
	struct nvdla_task *rehearsal;
	struct nvdla_refusal *why;
	u32 operation;
	u32 op_type;
	struct nvdla_operation *current_op;
	bool failed;
	u32 writes_left;
	u32 accesses_left;
};

void nvdla_check_set_operation(struct nvdla_check *check, u32 operation);

/* The functions behind nvdla_need() and its relatives. */
s64 nvdla_field_value(struct nvdla_field field);
bool nvdla_state(struct nvdla_check *check, bool fulfilled, s64 value, s64 limit,
		 struct nvdla_field field, const char *rule);
bool nvdla_state_range(struct nvdla_check *check, struct nvdla_field field, s64 least, s64 most,
		       const char *rule);
bool nvdla_state_multiple(struct nvdla_check *check, struct nvdla_field field, u32 unit,
			  const char *rule);

/**
 * nvdla_need() - state a rule
 * @check: examination
 * @fulfilled: what the rule asks for
 * @member: number in a descriptor that is looked at
 * @limit: what it is held against
 * @rule: the rule in words
 *
 * Return: @fulfilled.
 */
#define nvdla_need(check, fulfilled, member, limit, rule) \
	nvdla_state(check, fulfilled, (member), limit, NVDLA_FIELD(member), rule)

/* The rule is that @member is @least to @most. */
#define nvdla_need_range(check, member, least, most, rule) \
	nvdla_state_range(check, NVDLA_FIELD(member), least, most, rule)

/* The rule is that @member is @expected. */
#define nvdla_need_equal(check, member, expected, rule) \
	nvdla_state(check, (member) == (expected), (member), expected, NVDLA_FIELD(member), rule)

/* The rule is that @member is a multiple of @unit, a power of two. */
#define nvdla_need_multiple(check, member, unit, rule) \
	nvdla_state_multiple(check, NVDLA_FIELD(member), unit, rule)

/* The rule is that @value, which depends on @member, is @most or less. */
#define nvdla_need_room(check, value, most, member, rule) \
	nvdla_state(check, (value) <= (most), value, most, NVDLA_FIELD(member), rule)

/* The rule is that @member is a precision that the core has. */
#define nvdla_need_precision(check, member) \
	nvdla_need(check, (member) <= NVDLA_PRECISION_FP16 && \
		   (check)->variant->precisions & BIT(member), member, NVDLA_PRECISION_FP16, \
		   "no such precision")

void nvdla_need_same_size(struct nvdla_check *check, const struct nvdla_data_cube *cube,
			  const struct nvdla_data_cube *other, const char *rule);
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

bool nvdla_walk_bytes(u64 unit, const struct nvdla_dim *dims, u32 num_dims, u64 *bytes);

/**
 * struct nvdla_access_request - memory that an operation touches
 * @type_field: enum nvdla_mem_type
 * @address_field: index into the address table
 * @offset_field: where @offset comes from
 * @field: what describes the whole access
 * @offset: bytes from the address
 * @bytes: how many bytes are touched from there on
 * @alignment: what the resulting address has to be a multiple of
 * @alignment_rule: the rule that says so; NULL for that of each kind of data
 * @access: NVDLA_ACCESS_READ or NVDLA_ACCESS_WRITE
 */
struct nvdla_access_request {
	struct nvdla_field type_field;
	struct nvdla_field address_field;
	struct nvdla_field offset_field;
	struct nvdla_field field;
	u64 offset;
	u64 bytes;
	u32 alignment;
	const char *alignment_rule;
	u32 access;
};

struct nvdla_access_request nvdla_cube_access(const struct nvdla_data_cube *cube, u32 access);

/** NVDLA_NO_ACCESS - nothing is touched, its address is 0 */
#define NVDLA_NO_ACCESS U32_MAX

u32 nvdla_add_access(struct nvdla_check *check, const struct nvdla_access_request *request);

/**
 * struct nvdla_feature_use - how an engine walks through a feature cube
 * @cube: the cube
 * @access: NVDLA_ACCESS_READ or NVDLA_ACCESS_WRITE
 * @line_stride: bytes from line to line
 * @surf_stride: bytes from surface to surface
 * @atom_bytes: bytes of one atom in memory
 * @atom_elements: channels in one atom
 * @surface_multiple: the engine touches a multiple of this many surfaces
 * @batches: number of cubes, 1 or more
 * @batch_stride: bytes from cube to cube
 * @alignment: of the address
 * @alignment_rule: the rule that says so; NULL for that of each kind of data
 */
struct nvdla_feature_use {
	const struct nvdla_data_cube *cube;
	u32 access;
	u32 line_stride;
	u32 surf_stride;
	u32 atom_bytes;
	u32 atom_elements;
	u32 surface_multiple;
	u32 batches;
	u32 batch_stride;
	u32 alignment;
	const char *alignment_rule;
};

struct nvdla_feature_use nvdla_feature_use(const struct nvdla_check *check,
					   const struct nvdla_data_cube *cube, u32 access,
					   u32 precision);
void nvdla_need_cube(struct nvdla_check *check, const struct nvdla_data_cube *cube);
u32 nvdla_add_feature_use(struct nvdla_check *check, const struct nvdla_feature_use *use);
u32 nvdla_add_feature(struct nvdla_check *check, const struct nvdla_data_cube *cube, u32 access,
		      u32 precision);

/* One function per engine: check the current operation and write its program. */
void nvdla_check_bdma(struct nvdla_check *check, const union nvdla_surface_desc *surface);
void nvdla_check_conv(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
		      const struct nvdla_conv_surface_desc *surface);
void nvdla_check_sdp(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		     const struct nvdla_sdp_surface_desc *surface);
void nvdla_check_pdp(struct nvdla_check *check, const struct nvdla_pdp_op_desc *op,
		     const struct nvdla_pair_surface_desc *surface);
void nvdla_check_cdp(struct nvdla_check *check, const struct nvdla_cdp_op_desc *op,
		     const struct nvdla_pair_surface_desc *surface);
void nvdla_check_rubik(struct nvdla_check *check, const struct nvdla_rubik_op_desc *op,
		       const struct nvdla_pair_surface_desc *surface);
void nvdla_check_lut(struct nvdla_check *check, u32 index, u32 precision);

#endif /* NVDLA_CHECK_H */
