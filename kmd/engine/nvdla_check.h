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
 * struct nvdla_field - the member of a descriptor or argument that a rule is about
 * @at: address of the member in the arrays of struct nvdla_task_source
 * @size: size of the member in bytes
 * @is_signed: the member is a signed number
 */
struct nvdla_field {
	const void *at;
	u32 size;
	bool is_signed;
};

/** NVDLA_FIELD() - a number in a descriptor, as a struct nvdla_field */
#define NVDLA_FIELD(member) \
	((struct nvdla_field) { .is_signed = is_signed_type(typeof(member)), \
				.at = &(member), .size = sizeof(member) })

/** NVDLA_WHOLE() - a structure or an array in a descriptor, as a struct nvdla_field */
#define NVDLA_WHOLE(member) ((struct nvdla_field) { &(member), sizeof(member), false })

/**
 * struct nvdla_check - the check of one task, which collects the first error
 * @variant: core that the task is for
 * @source: the submitted task graph
 * @args: the structure to check in place of @source, for nvdla_args.c
 * @structure: type of @args
 * @index: index of @args in its array
 * @prepared: the prepared task that is being built
 * @rehearsal: simulated run of @prepared
 * @why: filled with the first violation; may be NULL
 * @operation: index of the current operation
 * @op_type: engine of the current operation
 * @current_op: entry of the current operation in @prepared
 * @failed: a rule was violated
 * @writes_left: register writes that the current operation may still add
 * @accesses_left: accesses that the current operation may still add
 *
 * Violations after the first are ignored: a checking function states one rule after the
 * other, and looks at @failed before it relies on them.
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

/* Implementation of need() and the macros below. */
s64 nvdla_field_value(struct nvdla_field field);
bool nvdla_state(struct nvdla_check *check, bool fulfilled, s64 value, s64 limit,
		 struct nvdla_field field, const char *rule);
bool nvdla_state_range(struct nvdla_check *check, struct nvdla_field field, s64 least, s64 most,
		       const char *rule);
bool nvdla_state_multiple(struct nvdla_check *check, struct nvdla_field field, u32 unit,
			  const char *rule);

/*
 * States a rule about @member, a number in a descriptor: that @fulfilled is true. A violation is
 * reported with the @limit of the member and the @rule in words. Returns @fulfilled.
 */
#define need(check, fulfilled, member, limit, rule) \
	nvdla_state(check, fulfilled, (member), limit, NVDLA_FIELD(member), rule)

/* The rule is that @member is @least to @most. */
#define need_range(check, member, least, most, rule) \
	nvdla_state_range(check, NVDLA_FIELD(member), least, most, rule)

/* The rule is that @member is @expected. */
#define need_equal(check, member, expected, rule) \
	nvdla_state(check, (member) == (expected), (member), expected, NVDLA_FIELD(member), rule)

/* The rule is that @member is a multiple of @unit, a power of two. */
#define need_multiple(check, member, unit, rule) \
	nvdla_state_multiple(check, NVDLA_FIELD(member), unit, rule)

/* The rule is that @value, which depends on @member, is @most or less. */
#define need_room(check, value, most, member, rule) \
	nvdla_state(check, (value) <= (most), value, most, NVDLA_FIELD(member), rule)

/* The rule is that @member is a precision that the core has. */
#define need_precision(check, member) \
	need(check, (member) <= NVDLA_PRECISION_FP16 && \
		   (check)->variant->precisions & BIT(member), member, NVDLA_PRECISION_FP16, \
		   "no such precision")

void nvdla_need_same_size(struct nvdla_check *check, const struct nvdla_data_cube *cube,
			  const struct nvdla_data_cube *other, const char *rule);
u32 nvdla_nan_to_zero(struct nvdla_check *check, u32 precision);

/* Size of an element of a valid enum nvdla_precision, in bytes. */
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
 * @type_field: the member with the memory type, enum nvdla_mem_type
 * @address_field: the member with the index into the address table
 * @offset_field: the member with @offset
 * @field: the member that describes the whole access
 * @offset: bytes from the start of the memory that the address table entry names
 * @bytes: number of bytes from @offset on
 * @alignment: alignment of the resulting address, bytes
 * @alignment_rule: the alignment rule in words; NULL for words that fit all kinds of data
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

/** NVDLA_NO_ACCESS - index for no access to memory; the address registers are set to 0 */
#define NVDLA_NO_ACCESS U32_MAX

u32 nvdla_add_access(struct nvdla_check *check, const struct nvdla_access_request *request);

/**
 * struct nvdla_feature_use - walk of an engine through a feature cube, which consists of atoms
 * @cube: the cube
 * @access: NVDLA_ACCESS_READ or NVDLA_ACCESS_WRITE
 * @line_stride: bytes from line to line
 * @surf_stride: bytes from surface to surface
 * @atom_bytes: bytes of one atom in memory
 * @atom_elements: channels in one atom
 * @surface_multiple: the engine touches a multiple of this many surfaces
 * @batches: number of cubes, 1 or more
 * @batch_stride: bytes from cube to cube
 * @alignment: alignment of the address, bytes
 * @alignment_rule: the alignment rule in words; NULL for words that fit all kinds of data
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
