/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Programs: the register writes of the current operation of a struct nvdla_check.
 *
 * Register names are those of registers.h without NVDLA_; field names omit the register's name. A
 * value that does not fit its field is refused.
 */
#ifndef NVDLA_PROGRAM_H
#define NVDLA_PROGRAM_H

#include <nvdla/hw/registers.h>

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"

/* How a number is written to a field: unchanged, or reduced by one (counts). */
enum nvdla_encoding {
	NVDLA_AS_IT_IS,
	NVDLA_MINUS_ONE,
};

void nvdla_emit_bits(struct nvdla_check *check, u32 reg, u32 bits);
void nvdla_emit_kind(struct nvdla_check *check, u32 reg, enum nvdla_write_kind kind, u32 value);
void nvdla_emit_access(struct nvdla_check *check, u32 high, u32 low, u32 access);
u32 nvdla_encode(struct nvdla_check *check, u32 mask, enum nvdla_encoding encoding,
		 struct nvdla_field field);

/* Write a register, or add bits to the previous write if that is to the same register. */
#define emit(check, register, bits) nvdla_emit_bits(check, NVDLA_##register, bits)

/* Write a register that enables counters: 0 for tasks without NVDLA_TASK_STATISTICS. */
#define emit_counting(check, register, value) \
	nvdla_emit_kind(check, NVDLA_##register, NVDLA_WRITE_COUNTING, value)

/*
 * Write the two registers of an address.
 *
 * Every operation writes all addresses of the units that it uses, because the register group may
 * still hold addresses of another client's operation.
 */
#define emit_address(check, registers, access) \
	nvdla_emit_access(check, NVDLA_##registers##_HIGH, NVDLA_##registers##_LOW, access)

/* Encode a number of a descriptor for a register's field. */
#define put(check, register, field, member) \
	nvdla_emit_bits(check, NVDLA_##register, \
			nvdla_encode(check, NVDLA_##register##__##field, NVDLA_AS_IT_IS, \
				     NVDLA_FIELD(member)))

/* put() for a count, in a field that holds the count minus one. */
#define put_count(check, register, field, member) \
	nvdla_emit_bits(check, NVDLA_##register, \
			nvdla_encode(check, NVDLA_##register##__##field, NVDLA_MINUS_ONE, \
				     NVDLA_FIELD(member)))

/* Shifts a number to a register's field. The upper bits of a negative number are cut off. */
static inline u32 nvdla_field_bits(u32 mask, u32 value)
{
	return (value * (mask & (~mask + 1))) & mask;
}

/* Returns a memory type as all units encode it: 1 for system memory, 0 for on-chip memory. */
static inline u32 nvdla_ram_type(u32 mem_type)
{
	return mem_type == NVDLA_MEM_MC ? 1 : 0;
}

u32 nvdla_max_writes(u32 op_type);
u32 nvdla_max_accesses(u32 op_type);

#endif /* NVDLA_PROGRAM_H */
