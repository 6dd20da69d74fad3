/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Proofs for a bounded model checker, CBMC: each function is one, of all values at once. None of
 * them has a loop, so nothing is bounded but a task to one access. scripts/check-kmd --prove runs
 * them, for the variant of the number VARIANT.
 */
#include <nvdla_args.c>
#include <nvdla_program.c>
#include <nvdla_task.c>

struct nvdla_access nondet_access(void);
struct nvdla_task_extent nondet_extent(void);
struct drm_nvdla_address nondet_entry(void);
u32 nondet_u32(void);
s32 nondet_s32(void);
bool nondet_bool(void);

/* CBMC's: what is not so is out of question; what has to be so. */
void __CPROVER_assume(_Bool condition);
void __CPROVER_assert(_Bool condition, const char *text);

#define assume __CPROVER_assume
#define prove __CPROVER_assert

static bool is_inside(u64 address, u64 bytes, const struct nvdla_task_extent *extent)
{
	return address >= extent->dma_addr && address - extent->dma_addr <= extent->size &&
	       bytes <= extent->size - (address - extent->dma_addr);
}

/* An access that nvdla_task_bind() allows lies in the memory that its address names. */
void prove_bind(void)
{
	const struct nvdla_variant *variant = &nvdla_variants[VARIANT];
	struct nvdla_access access = nondet_access();
	struct nvdla_task_extent extent = nondet_extent();
	struct nvdla_operation operation;
	struct nvdla_prepared prepared = { .variant = variant, .operations = &operation };
	struct nvdla_refusal why;
	u64 address, end;

	/* nvdla_add_access() and the engines' checks have seen to that. */
	assume(access.bytes && !__builtin_add_overflow(access.offset, access.bytes, &end));
	assume(access.alignment && !(access.alignment & (access.alignment - 1)));
	access.operation = 0;
	if (bind_access(&prepared, &access, &extent, &address, nondet_bool() ? &why : NULL))
		return;

	prove(extent.present && extent.mem_type == access.mem_type, "memory of that kind");
	prove(is_inside(address, access.bytes, &extent), "inside the extent");
	prove(address - extent.dma_addr == access.offset, "at the offset");
	prove(address + (access.bytes - 1) >= address, "without a wrap");
	prove(variant->address_bits == 64 ||
	      !((address + (access.bytes - 1)) >> variant->address_bits), "within the core's reach");
	prove(!(address & (access.alignment - 1)), "aligned");
}

/* The bytes that an entry of an address table names lie in its buffer. */
void prove_extent(void)
{
	struct drm_nvdla_address entry = nondet_entry();
	struct nvdla_task_extent buffer = nondet_extent(), extent;
	struct nvdla_refusal why;
	u64 end;

	assume(!__builtin_add_overflow(buffer.dma_addr, buffer.size, &end) && buffer.present);
	if (nvdla_args_extent(&entry, 0, nondet_bool() ? &buffer : NULL, &extent,
			      nondet_bool() ? &why : NULL))
		return;

	prove(!extent.present == !entry.handle, "no handle names no memory");
	prove(!extent.present || is_inside(extent.dma_addr, extent.size, &buffer),
	      "inside the buffer");
	prove(!extent.present || extent.mem_type == buffer.mem_type, "of the buffer's memory");
}

/* For each value of a member, only the bits of its field are written, and they hold the value. */
void prove_encode(void)
{
	const u32 mask = nondet_u32(), low = mask & (~mask + 1);
	const enum nvdla_encoding encoding = nondet_bool() ? NVDLA_MINUS_ONE : NVDLA_AS_IT_IS;
	struct nvdla_task_source source = { 0 };
	struct nvdla_check check = { .source = &source };
	const u32 member = nondet_u32();
	const s32 number = nondet_s32();
	const bool is_signed = nondet_bool();
	u32 bits;

	/* A field: bits that follow each other, the highest bit of a register perhaps. */
	assume(mask && !((mask + low) & mask));
	bits = is_signed ? nvdla_encode(&check, mask, encoding, NVDLA_FIELD(number)) :
			   nvdla_encode(&check, mask, encoding, NVDLA_FIELD(member));
	prove(!(bits & ~mask), "no bit of another field");
	if (check.failed || is_signed)
		return;
	prove((u64)bits / low + (encoding == NVDLA_MINUS_ONE) == member, "the member's value");
}
