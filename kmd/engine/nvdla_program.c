// SPDX-License-Identifier: GPL-2.0-only OR MIT

#include "nvdla_program.h"

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"

/* Number of register writes for one BDMA transfer. */
#define BDMA_TRANSFER_WRITES 13

/* Returns the most register writes that an operation of an engine can need. */
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

/* Returns the most memory accesses that an operation of an engine can have. */
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

/* Adds a register write to the current operation's program. */
void nvdla_emit_kind(struct nvdla_check *check, u32 reg, enum nvdla_write_kind kind, u32 value)
{
	struct nvdla_prepared *prepared = check->prepared;

	/* writes_left becomes 0 only if nvdla_max_writes() is wrong: refuse the task then. */
	if (!nvdla_state(check, check->writes_left > 0, reg, 0,
			 NVDLA_WHOLE(check->source->graph[check->operation]),
			 "the value does not fit its register field"))
		return;

	check->writes_left--;
	check->current_op->num_writes++;
	prepared->writes[prepared->num_writes++] = (struct nvdla_write) { reg, kind, value };
}

void nvdla_emit_bits(struct nvdla_check *check, u32 reg, u32 bits)
{
	struct nvdla_write *last = &check->prepared->writes[check->prepared->num_writes] - 1;

	if (check->current_op->num_writes && last->reg == reg)
		last->value |= bits;
	else
		nvdla_emit_kind(check, reg, NVDLA_WRITE_VALUE, bits);
}

void nvdla_emit_access(struct nvdla_check *check, u32 high, u32 low, u32 access)
{
	bool used = access != NVDLA_NO_ACCESS;

	nvdla_emit_kind(check, high, used ? NVDLA_WRITE_ADDRESS_HIGH : NVDLA_WRITE_VALUE,
			used ? access : 0);
	nvdla_emit_kind(check, low, used ? NVDLA_WRITE_ADDRESS_LOW : NVDLA_WRITE_VALUE,
			used ? access : 0);
}

/*
 * Encodes a number of a descriptor, or that number minus one, for a register's field. For a signed
 * number, the two's complement has to fit the field.
 */
u32 nvdla_encode(struct nvdla_check *check, u32 mask, enum nvdla_encoding encoding,
		 struct nvdla_field field)
{
	s64 reduced = encoding == NVDLA_MINUS_ONE ? 1 : 0;
	s64 most = mask / (mask & (~mask + 1));
	s64 least = 0;

	if (field.is_signed) {
		most /= 2;
		least = -most - 1;
	}
	if (!nvdla_state_range(check, field, least + reduced, most + reduced,
			       "the value does not fit its register field"))
		return 0;

	return nvdla_field_bits(mask, nvdla_field_value(field) - reduced);
}
