// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tasks: prepared tasks with addresses, ready for a sequencer. nvdla_prepared.c checks and prepares
 * task graphs.
 */

#include "nvdla_task.h"

#include "nvdla_internal.h"
#include "nvdla_platform.h"

struct nvdla_task *nvdla_task_allocate(const struct nvdla_prepared *prepared, u32 flags)
{
	struct nvdla_task *task = kvzalloc(sizeof(*task), GFP_KERNEL_ACCOUNT);
	const u32 count = prepared->num_operations;

	if (!task)
		return NULL;

	task->prepared = prepared;
	task->state = kvcalloc(count, sizeof(*task->state), GFP_KERNEL_ACCOUNT);
	task->addresses = kvcalloc(prepared->num_accesses + 1, sizeof(*task->addresses),
				   GFP_KERNEL_ACCOUNT);
	if (flags & NVDLA_TASK_STATISTICS)
		task->counted = kvcalloc(count, sizeof(*task->counted), GFP_KERNEL_ACCOUNT);

	if (!task->state || !task->addresses ||
	    (!task->counted && (flags & NVDLA_TASK_STATISTICS))) {
		nvdla_task_destroy(task);
		return NULL;
	}

	return task;
}

/* Computes the core's address of an access. Returns -EINVAL if the access is not allowed. */
static int bind_access(const struct nvdla_prepared *prepared, const struct nvdla_access *access,
		       const struct nvdla_task_extent *extent, u64 *address,
		       struct nvdla_refusal *why)
{
	const u32 address_bits = prepared->variant->address_bits;
	const u64 end = access->offset + access->bytes;
	const struct nvdla_surface_member *member;
	const char *rule;
	u64 value, limit, last;

	if (!extent->present) {
		rule = "no memory was given for this address";
		member = &access->address_member;
		value = access->address;
		limit = 0;
	} else if (extent->mem_type != access->mem_type) {
		rule = "the address lies in another kind of memory";
		member = &access->type_member;
		value = access->mem_type;
		limit = extent->mem_type;
	} else if (end > extent->size) {
		rule = "the cube reaches beyond the memory of its address";
		member = &access->member;
		value = end;
		limit = extent->size;
	} else if (check_add_overflow(extent->dma_addr, access->offset, address) ||
		   check_add_overflow(*address, access->bytes - 1, &last)) {
		rule = "the size of the cube overflows";
		member = &access->offset_member;
		value = access->offset;
		limit = access->bytes;
	} else if (address_bits < 64 && last >> address_bits) {
		rule = "the core cannot address this memory";
		member = &access->address_member;
		value = last;
		limit = address_bits;
	} else if (!IS_ALIGNED(*address, access->alignment)) {
		rule = access->alignment_rule;
		member = &access->offset_member;
		value = *address;
		limit = access->alignment;
	} else {
		return 0;
	}

	if (why)
		*why = (struct nvdla_refusal) {
			.error.operation = access->operation,
			.error.member_of = DRM_NVDLA_STRUCT_SURFACE,
			.error.index = access->operation,
			.error.offset = member->offset,
			.error.size = member->size,
			.op_type = prepared->operations[access->operation].op_type,
			.rule = rule,
			.value = value,
			.limit = limit,
		};
	return -EINVAL;
}

int nvdla_task_bind(const struct nvdla_prepared *prepared, const struct nvdla_task_extent *extents,
		    u32 flags, struct nvdla_refusal *why, struct nvdla_task **task)
{
	struct nvdla_task *bound = nvdla_task_allocate(prepared, flags);
	u32 i;

	if (!bound)
		return -ENOMEM;

	for (i = 0; i < prepared->num_accesses; i++) {
		const struct nvdla_access *access = &prepared->accesses[i];
		int ret = bind_access(prepared, access, &extents[access->address],
				      &bound->addresses[i], why);

		if (ret) {
			nvdla_task_destroy(bound);
			return ret;
		}
	}

	nvdla_task_rewind(bound);
	*task = bound;
	return 0;
}

void nvdla_prepared_destroy(struct nvdla_prepared *prepared)
{
	if (!prepared)
		return;

	kvfree(prepared->use);
	kvfree(prepared->lut_alias);
	kvfree(prepared->luts);
	kvfree(prepared->accesses);
	kvfree(prepared->writes);
	kvfree(prepared->queue_entries);
	kvfree(prepared->operations);
	kvfree(prepared);
}

u64 nvdla_prepared_bytes(const struct nvdla_prepared *prepared)
{
	return prepared->bytes;
}

u32 nvdla_prepared_num_addresses(const struct nvdla_prepared *prepared)
{
	return prepared->num_extents;
}

void nvdla_task_destroy(struct nvdla_task *task)
{
	if (!task)
		return;

	nvdla_prepared_destroy(task->owned);
	kvfree(task->counted);
	kvfree(task->addresses);
	kvfree(task->state);
	kvfree(task);
}

void nvdla_task_set_owner(struct nvdla_task *task, u64 owner)
{
	task->owner = owner;
}

u32 nvdla_task_num_operations(const struct nvdla_task *task)
{
	return task->prepared->num_operations;
}

u32 nvdla_task_op_type(const struct nvdla_task *task, u32 operation)
{
	return task->prepared->operations[operation].op_type;
}

bool nvdla_task_uses(const struct nvdla_task *task, u32 op_type)
{
	return task->prepared->queue[op_type].count > 0;
}

u32 nvdla_task_access(const struct nvdla_task *task, u32 address)
{
	return task->prepared->use[address];
}

u32 nvdla_task_num_writes(const struct nvdla_task *task, u32 operation)
{
	return task->prepared->operations[operation].num_writes;
}

struct nvdla_reg_write nvdla_task_write(const struct nvdla_task *task, u32 operation, u32 index)
{
	const struct nvdla_prepared *prepared = task->prepared;
	const struct nvdla_write *write =
		&prepared->writes[prepared->operations[operation].first_write + index];

	return (struct nvdla_reg_write) { write->reg, nvdla_task_value(task, write) };
}

u32 nvdla_task_num_completed(const struct nvdla_task *task)
{
	return task->num_completed;
}

void nvdla_task_rewind(struct nvdla_task *task)
{
	const struct nvdla_prepared *prepared = task->prepared;
	u32 i;

	task->num_completed = 0;
	for (i = 0; i < prepared->num_operations; i++) {
		task->state[i] = (struct nvdla_op_state) { .waits = prepared->operations[i].waits };
		if (task->counted)
			task->counted[i].flags = 0;
	}
}

const struct nvdla_operation_times *nvdla_task_times(const struct nvdla_task *task, u32 operation)
{
	return &task->state[operation].times;
}
