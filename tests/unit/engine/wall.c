/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#include "wall.h"

#include <nvdla_check.h>
#include <nvdla_internal.h>
#include <nvdla_program.h>

static void check_operation(struct nvdla_check *check)
{
	const union nvdla_operation_desc *op = check->source->operations;
	const union nvdla_surface_desc *surface = check->source->surfaces;

	switch (check->op_type) {
	case NVDLA_OP_BDMA:
		return nvdla_check_bdma(check, surface);
	case NVDLA_OP_CONV:
		return nvdla_check_conv(check, &op->conv, &surface->conv);
	case NVDLA_OP_SDP:
		return nvdla_check_sdp(check, &op->sdp, &surface->sdp);
	case NVDLA_OP_PDP:
		return nvdla_check_pdp(check, &op->pdp, &surface->pdp);
	case NVDLA_OP_CDP:
		return nvdla_check_cdp(check, &op->cdp, &surface->cdp);
	default:
		return nvdla_check_rubik(check, &op->rubik, &surface->rubik);
	}
}

/* An access is identified by its address: no two accesses of an operation share one here. */
static void tell(const struct nvdla_prepared *prepared, struct wall_verdict *verdict)
{
	u32 i;

	verdict->num_writes = prepared->num_writes;
	for (i = 0; i < prepared->num_writes; i++) {
		const struct nvdla_write *write = &prepared->writes[i];

		verdict->writes[i] = (struct wall_write) {
			.reg = write->reg,
			.is_address = write->kind == NVDLA_WRITE_ADDRESS_HIGH ||
				      write->kind == NVDLA_WRITE_ADDRESS_LOW,
			.value = write->value,
		};
	}
	verdict->num_accesses = prepared->num_accesses;
	for (i = 0; i < prepared->num_accesses; i++) {
		const struct nvdla_access *access = &prepared->accesses[i];

		verdict->accesses[i] = (struct wall_access) {
			.bytes = access->bytes,
			.alignment = access->alignment,
			.mem_type = access->mem_type,
			.reads = prepared->use[access->address] & NVDLA_ACCESS_READ,
			.writes = prepared->use[access->address] & NVDLA_ACCESS_WRITE,
		};
	}
}

bool wall_check(const struct nvdla_variant *variant, const struct nvdla_task_source *source,
		struct wall_verdict *verdict)
{
	struct nvdla_write writes[WALL_MOST_WRITES];
	struct nvdla_access accesses[WALL_MOST_ACCESSES];
	struct nvdla_operation operation = { .op_type = source->graph->op_type };
	u16 lut_alias[4] = { 0 };
	u8 use[16] = { 0 };
	struct nvdla_prepared prepared = {
		.variant = variant,
		.num_operations = 1,
		.num_extents = source->num_extents,
		.num_luts = source->num_luts,
		.operations = &operation,
		.writes = writes,
		.accesses = accesses,
		.luts = (struct nvdla_lut_desc *)source->luts,
		.lut_alias = lut_alias,
		.use = use,
	};
	struct nvdla_check check = {
		.variant = variant,
		.source = source,
		.prepared = &prepared,
	};

	nvdla_check_set_operation(&check, 0);
	check.writes_left = nvdla_max_writes(check.op_type);
	check.accesses_left = nvdla_max_accesses(check.op_type);
	if (!(variant->engines & BIT(check.op_type)))
		return false;
	check_operation(&check);
	if (check.failed)
		return false;
	tell(&prepared, verdict);
	return true;
}
