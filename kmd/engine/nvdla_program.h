/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_PROGRAM_H
#define NVDLA_PROGRAM_H

#include "nvdla_check.h"
#include "nvdla_platform.h"

/**
 * nvdla_emit() - add a register write to the current operation's program
 * @check: examination
 * @reg: byte offset in the CSB space
 * @value: complete value of the register
 */
void nvdla_emit(struct nvdla_check *check, u32 reg, u32 value);

/**
 * nvdla_emit_counting() - add a register write that has the core count, if it is to
 * @check: examination
 * @reg: byte offset in the CSB space
 * @value: complete value of the register for tasks with NVDLA_TASK_STATISTICS; 0 for others
 */
void nvdla_emit_counting(struct nvdla_check *check, u32 reg, u32 value);

/**
 * nvdla_emit_address() - add the two register writes of an address
 * @check: examination
 * @high: register of bits 63 to 32
 * @low: register of bits 31 to 0
 * @access: whose address, of nvdla_add_access(), or NVDLA_NO_ACCESS
 *
 * Every operation writes all addresses of the units that it uses: the register group still has
 * those of an earlier operation, of another client perhaps.
 */
void nvdla_emit_address(struct nvdla_check *check, u32 high, u32 low, u32 access);

/**
 * nvdla_put() - an unsigned value in its place
 * @check: examination
 * @mask: bits of the field, as registers.h defines them
 * @value: value; refused if it does not fit
 * @field: descriptor field it comes from
 *
 * Return: the bits to or into the register.
 */
u32 nvdla_put(struct nvdla_check *check, u32 mask, u64 value, struct nvdla_field field);

/**
 * nvdla_put_minus_one() - a count, which registers hold reduced by one
 * @check: examination
 * @mask: bits of the field
 * @value: 1 or more; refused if it does not fit
 * @field: descriptor field it comes from
 *
 * Return: the bits to or into the register.
 */
u32 nvdla_put_minus_one(struct nvdla_check *check, u32 mask, u64 value, struct nvdla_field field);

/**
 * nvdla_put_signed() - a two's complement value in its place
 * @check: examination
 * @mask: bits of the field
 * @value: value; refused if it does not fit
 * @field: descriptor field it comes from
 *
 * Return: the bits to or into the register.
 */
u32 nvdla_put_signed(struct nvdla_check *check, u32 mask, s64 value, struct nvdla_field field);

/**
 * nvdla_put_stride() - a stride, whose lowest bits a register does not hold
 * @check: examination
 * @mask: bits of the register that exist
 * @value: bytes; refused if bits would be lost
 * @field: descriptor field it comes from
 *
 * Return: the register's value.
 */
u32 nvdla_put_stride(struct nvdla_check *check, u32 mask, u32 value, struct nvdla_field field);

/**
 * nvdla_ram_type() - a memory type as registers encode it
 * @mem_type: NVDLA_MEM_MC or NVDLA_MEM_CV
 *
 * Return: 1 for system memory, 0 for on-chip memory; the same in all units.
 */
static inline u32 nvdla_ram_type(u32 mem_type)
{
	return mem_type == NVDLA_MEM_MC ? 1 : 0;
}

/**
 * nvdla_max_writes() - room that an operation's program needs
 * @op_type: enum nvdla_op_type
 *
 * Return: number of register writes, at most.
 */
u32 nvdla_max_writes(u32 op_type);

/**
 * nvdla_max_accesses() - room that an operation's accesses need
 * @op_type: enum nvdla_op_type
 *
 * Return: their number, at most.
 */
u32 nvdla_max_accesses(u32 op_type);

#endif /* NVDLA_PROGRAM_H */
