// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Arguments of a submit: counts, sizes and the address table, before anything
 * that they describe is looked at.
 */

#include "nvdla_args.h"

#include "nvdla_platform.h"
#include "nvdla_prepared.h"
#include "nvdla_task.h"

/**
 * struct nvdla_limit - what a 32-bit member of a structure may be
 * @rule: enum drm_nvdla_rule that is violated otherwise
 * @offset: bytes from the start of the structure to the member
 * @least: smallest value
 * @most: largest value
 * @multiple: the value is a multiple of this, 1 or more
 */
struct nvdla_limit {
	u32 rule;
	u32 offset;
	u32 least;
	u32 most;
	u32 multiple;
};

/**
 * struct nvdla_unused - a member of a structure that has to be zero
 * @offset: bytes from the start of the structure to the member
 * @size: its bytes, 4 or 8
 */
struct nvdla_unused {
	u32 offset;
	u32 size;
};

static_assert(offsetofend(struct drm_nvdla_task, lut_size) == NVDLA_MIN_TASK_SIZE);

static int refuse(struct drm_nvdla_error *error, enum drm_nvdla_rule rule, u64 value, u64 limit,
		  enum drm_nvdla_struct member_of, u32 index, u32 offset, u32 size)
{
	if (!error)
		return -EINVAL;

	*error = (struct drm_nvdla_error) {
		.operation = NVDLA_TASK_NO_OPERATION,
		.op_type = ~0U,
		.rule = rule,
		.value = value,
		.limit = limit,
		.member_of = member_of,
		.index = index,
		.offset = offset,
		.size = size,
	};
	return -EINVAL;
}

static int check_limits(const void *args, enum drm_nvdla_struct member_of,
			const struct nvdla_limit *limits, u32 count, struct drm_nvdla_error *error)
{
	u32 i;

	for (i = 0; i < count; i++) {
		const struct nvdla_limit *limit = &limits[i];
		const u32 value = *(const u32 *)((const char *)args + limit->offset);

		if (value < limit->least || value > limit->most || value % limit->multiple)
			return refuse(error, limit->rule, value,
				      value < limit->least ? limit->least : limit->most,
				      member_of, 0, limit->offset, sizeof(value));
	}

	return 0;
}

static int check_unused(const struct drm_nvdla_task *args, enum drm_nvdla_rule rule,
			const struct nvdla_unused *members, u32 count,
			struct drm_nvdla_error *error)
{
	u32 i;

	for (i = 0; i < count; i++) {
		const void *at = (const char *)args + members[i].offset;
		u64 value = members[i].size == sizeof(u64) ? *(const u64 *)at : *(const u32 *)at;

		if (value)
			return refuse(error, rule, value, 0, DRM_NVDLA_STRUCT_TASK, 0,
				      members[i].offset, members[i].size);
	}

	return 0;
}

/* A limit of a member of struct drm_nvdla_submit, or drm_nvdla_task. */
#define SUBMIT_LIMIT(rule, member, least, most) \
	{ rule, offsetof(struct drm_nvdla_submit, member), least, most, 1 }
#define TASK_LIMIT(rule, member, least, most) \
	{ rule, offsetof(struct drm_nvdla_task, member), least, most, 1 }

/* Descriptors may be shorter than any known: what is missing is zero. */
#define DESCRIPTOR_LIMIT(member) \
	{ DRM_NVDLA_RULE_SUBMIT_SIZE, offsetof(struct drm_nvdla_task, member), \
	  NVDLA_DESCRIPTOR_MULTIPLE, NVDLA_MAX_ELEMENT_SIZE, NVDLA_DESCRIPTOR_MULTIPLE }

static const struct nvdla_limit submit_limits[] = {
	SUBMIT_LIMIT(DRM_NVDLA_RULE_SUBMIT_COUNT, num_tasks, 1, NVDLA_MAX_TASKS),
	SUBMIT_LIMIT(DRM_NVDLA_RULE_SUBMIT_COUNT, num_in_syncs, 0, NVDLA_MAX_SYNCS),
	SUBMIT_LIMIT(DRM_NVDLA_RULE_SUBMIT_COUNT, num_out_syncs, 0, NVDLA_MAX_SYNCS),
	SUBMIT_LIMIT(DRM_NVDLA_RULE_SUBMIT_COUNT, timeout_ms, 0, NVDLA_MAX_TIMEOUT_MS),
	SUBMIT_LIMIT(DRM_NVDLA_RULE_SUBMIT_SIZE, task_size,
		     NVDLA_MIN_TASK_SIZE, NVDLA_MAX_ELEMENT_SIZE),
};

static const struct nvdla_limit sync_limit =
	SUBMIT_LIMIT(DRM_NVDLA_RULE_SUBMIT_SIZE, sync_size,
		     offsetofend(struct drm_nvdla_sync, point), NVDLA_MAX_ELEMENT_SIZE);

static const struct nvdla_limit count_limits[] = {
	TASK_LIMIT(DRM_NVDLA_RULE_TASK_NUM_OPERATIONS, num_operations, 1,
		   NVDLA_TASK_MAX_OPERATIONS),
	TASK_LIMIT(DRM_NVDLA_RULE_TASK_NUM_LUTS, num_luts, 0, NVDLA_TASK_MAX_LUTS),
	TASK_LIMIT(DRM_NVDLA_RULE_TASK_NUM_ADDRESSES, num_addresses, 1, NVDLA_TASK_MAX_ADDRESSES),
};

static const struct nvdla_limit address_limit =
	TASK_LIMIT(DRM_NVDLA_RULE_SUBMIT_SIZE, address_size,
		   offsetofend(struct drm_nvdla_address, size), NVDLA_MAX_ELEMENT_SIZE);

static const struct nvdla_limit size_limits[] = {
	DESCRIPTOR_LIMIT(node_size),
	DESCRIPTOR_LIMIT(operation_size),
	DESCRIPTOR_LIMIT(surface_size),
};

static const struct nvdla_limit lut_limit = DESCRIPTOR_LIMIT(lut_size);

/* A member of struct drm_nvdla_task that has to be zero. */
#define TASK_UNUSED(member) \
	{ offsetof(struct drm_nvdla_task, member), sizeof_field(struct drm_nvdla_task, member) }

static const struct nvdla_unused no_descriptors[] = {
	TASK_UNUSED(graph),
	TASK_UNUSED(operations),
	TASK_UNUSED(surfaces),
	TASK_UNUSED(luts),
	TASK_UNUSED(num_operations),
	TASK_UNUSED(num_luts),
	TASK_UNUSED(node_size),
	TASK_UNUSED(operation_size),
	TASK_UNUSED(surface_size),
	TASK_UNUSED(lut_size),
};

static const struct nvdla_unused no_addresses[] = {
	TASK_UNUSED(addresses),
	TASK_UNUSED(address_size),
	TASK_UNUSED(handle),
};

static const struct nvdla_unused reserved = TASK_UNUSED(reserved);

#define SUBMIT_FLAGS (DRM_NVDLA_SUBMIT_STATISTICS | DRM_NVDLA_SUBMIT_RESTARTABLE)

int nvdla_args_check_submit(const struct drm_nvdla_submit *args, struct drm_nvdla_error *error)
{
	int ret;

	if (args->flags & ~SUBMIT_FLAGS)
		return refuse(error, DRM_NVDLA_RULE_SUBMIT_FLAGS, args->flags, SUBMIT_FLAGS,
			      DRM_NVDLA_STRUCT_SUBMIT, 0,
			      offsetof(struct drm_nvdla_submit, flags), sizeof(args->flags));
	if (!args->result_handle &&
	    (args->result_offset || args->flags & DRM_NVDLA_SUBMIT_STATISTICS))
		return refuse(error, DRM_NVDLA_RULE_SUBMIT_RESULT, 0, 1, DRM_NVDLA_STRUCT_SUBMIT,
			      0, offsetof(struct drm_nvdla_submit, result_handle),
			      sizeof(args->result_handle));

	ret = check_limits(args, DRM_NVDLA_STRUCT_SUBMIT, submit_limits,
			   ARRAY_SIZE(submit_limits), error);
	if (!ret && (args->num_in_syncs || args->num_out_syncs))
		ret = check_limits(args, DRM_NVDLA_STRUCT_SUBMIT, &sync_limit, 1, error);
	return ret;
}

int nvdla_args_check_counts(const struct drm_nvdla_task *args, struct drm_nvdla_error *error)
{
	return check_limits(args, DRM_NVDLA_STRUCT_TASK, count_limits, ARRAY_SIZE(count_limits),
			    error);
}

static int check_descriptors(const struct drm_nvdla_task *args, struct drm_nvdla_error *error)
{
	int ret;

	ret = nvdla_args_check_counts(args, error);
	if (!ret)
		ret = check_limits(args, DRM_NVDLA_STRUCT_TASK, size_limits,
				   ARRAY_SIZE(size_limits), error);
	if (!ret && args->num_luts)
		ret = check_limits(args, DRM_NVDLA_STRUCT_TASK, &lut_limit, 1, error);
	return ret;
}

int nvdla_args_check_task(const struct drm_nvdla_task *args, struct drm_nvdla_error *error)
{
	int ret;

	ret = check_unused(args, DRM_NVDLA_RULE_TASK_RESERVED, &reserved, 1, error);
	if (ret)
		return ret;

	if (args->handle)
		ret = check_unused(args, DRM_NVDLA_RULE_TASK_PREPARED, no_descriptors,
				   ARRAY_SIZE(no_descriptors), error);
	else
		ret = check_descriptors(args, error);
	if (!ret)
		ret = check_limits(args, DRM_NVDLA_STRUCT_TASK, &address_limit, 1, error);
	return ret;
}

int nvdla_args_check_template(const struct drm_nvdla_task *args, struct drm_nvdla_error *error)
{
	int ret;

	ret = check_unused(args, DRM_NVDLA_RULE_TASK_RESERVED, &reserved, 1, error);
	if (!ret)
		ret = check_unused(args, DRM_NVDLA_RULE_TASK_TEMPLATE, no_addresses,
				   ARRAY_SIZE(no_addresses), error);
	if (!ret)
		ret = check_descriptors(args, error);
	return ret;
}

int nvdla_args_check_prepared(const struct drm_nvdla_task *args,
			      const struct nvdla_prepared *prepared,
			      struct drm_nvdla_error *error)
{
	u32 expected = nvdla_prepared_num_addresses(prepared);

	if (args->num_addresses == expected)
		return 0;
	return refuse(error, DRM_NVDLA_RULE_TASK_PREPARED_ADDRESSES, args->num_addresses,
		      expected, DRM_NVDLA_STRUCT_TASK, 0,
		      offsetof(struct drm_nvdla_task, num_addresses),
		      sizeof(args->num_addresses));
}

int nvdla_args_extent(const struct drm_nvdla_address *address, u32 index,
		      const struct nvdla_task_extent *buffer, struct nvdla_task_extent *extent,
		      struct drm_nvdla_error *error)
{
	u64 size;

	if (address->reserved)
		return refuse(error, DRM_NVDLA_RULE_ADDRESS_RESERVED, address->reserved, 0,
			      DRM_NVDLA_STRUCT_ADDRESS, index,
			      offsetof(struct drm_nvdla_address, reserved),
			      sizeof(address->reserved));

	*extent = (struct nvdla_task_extent) {};
	if (!address->handle)
		return 0;
	if (!buffer)
		return refuse(error, DRM_NVDLA_RULE_ADDRESS_HANDLE, address->handle, 0,
			      DRM_NVDLA_STRUCT_ADDRESS, index,
			      offsetof(struct drm_nvdla_address, handle), sizeof(address->handle));
	if (address->offset > buffer->size)
		return refuse(error, DRM_NVDLA_RULE_ADDRESS_RANGE, address->offset, buffer->size,
			      DRM_NVDLA_STRUCT_ADDRESS, index,
			      offsetof(struct drm_nvdla_address, offset), sizeof(address->offset));

	size = buffer->size - address->offset;
	if (address->size > size)
		return refuse(error, DRM_NVDLA_RULE_ADDRESS_RANGE, address->size, size,
			      DRM_NVDLA_STRUCT_ADDRESS, index,
			      offsetof(struct drm_nvdla_address, size), sizeof(address->size));

	*extent = *buffer;
	extent->dma_addr += address->offset;
	extent->size = address->size ? address->size : size;
	return 0;
}
