// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Programs: the register writes of an operation, with every value held against
 * the width of its field.
 */

#include "nvdla_program.h"

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"

/* Register writes of one BDMA transfer. */
#define BDMA_TRANSFER_WRITES 13

u32 nvdla_max_writes(u32 op_type)
{
	switch (op_type) {
	case NVDLA_OP_BDMA:
		return NVDLA_BDMA_MAX_TRANSFERS * BDMA_TRANSFER_WRITES;
	case NVDLA_OP_CONV:
		return 96;
	case NVDLA_OP_SDP:
		return 80;
	case NVDLA_OP_PDP:
		return 64;
	case NVDLA_OP_CDP:
		return 48;
	default:
		return 32;
	}
}

u32 nvdla_max_accesses(u32 op_type)
{
	switch (op_type) {
	case NVDLA_OP_BDMA:
		return NVDLA_BDMA_MAX_TRANSFERS * 2;
	case NVDLA_OP_CONV:
	case NVDLA_OP_SDP:
		return 5;
	default:
		return 2;
	}
}

static void emit(struct nvdla_check *check, u32 reg, enum nvdla_write_kind kind, u32 value)
{
	struct nvdla_prepared *prepared = check->prepared;

	/* nvdla_max_writes() is a property of this code, not of the input. */
	if (!nvdla_need(check, check->writes_left > 0, DRM_NVDLA_RULE_FIELD_WIDTH, reg, 0,
			NVDLA_NO_FIELD))
		return;

	check->writes_left--;
	check->current_op->num_writes++;
	prepared->writes[prepared->num_writes++] = (struct nvdla_write) { reg, kind, value };
}

void nvdla_emit(struct nvdla_check *check, u32 reg, u32 value)
{
	emit(check, reg, NVDLA_WRITE_VALUE, value);
}

void nvdla_emit_counting(struct nvdla_check *check, u32 reg, u32 value)
{
	emit(check, reg, NVDLA_WRITE_COUNTING, value);
}

void nvdla_emit_address(struct nvdla_check *check, u32 high, u32 low, u32 access)
{
	if (access == NVDLA_NO_ACCESS) {
		nvdla_emit(check, high, 0);
		nvdla_emit(check, low, 0);
		return;
	}
	emit(check, high, NVDLA_WRITE_ADDRESS_HIGH, access);
	emit(check, low, NVDLA_WRITE_ADDRESS_LOW, access);
}

/* The weight of a field's lowest bit. */
static u32 field_unit(u32 mask)
{
	return mask & (~mask + 1);
}

u32 nvdla_put(struct nvdla_check *check, u32 mask, u64 value, struct nvdla_field field)
{
	u32 limit = mask / field_unit(mask);

	if (!nvdla_need(check, value <= limit, DRM_NVDLA_RULE_FIELD_WIDTH, value, limit, field))
		return 0;

	return (u32)value * field_unit(mask);
}

u32 nvdla_put_minus_one(struct nvdla_check *check, u32 mask, u64 value, struct nvdla_field field)
{
	u64 limit = (u64)(mask / field_unit(mask)) + 1;

	if (!nvdla_need(check, value >= 1 && value <= limit, DRM_NVDLA_RULE_FIELD_WIDTH, value,
			limit, field))
		return 0;

	return (u32)(value - 1) * field_unit(mask);
}

u32 nvdla_put_signed(struct nvdla_check *check, u32 mask, s64 value, struct nvdla_field field)
{
	s64 limit = mask / field_unit(mask) / 2;

	if (!nvdla_need(check, value >= -limit - 1 && value <= limit, DRM_NVDLA_RULE_FIELD_WIDTH,
			value, limit, field))
		return 0;

	return ((u32)value * field_unit(mask)) & mask;
}

u32 nvdla_put_stride(struct nvdla_check *check, u32 mask, u32 value, struct nvdla_field field)
{
	if (!nvdla_need(check, (value & ~mask) == 0, DRM_NVDLA_RULE_FIELD_WIDTH, value, mask,
			field))
		return 0;

	return value;
}
