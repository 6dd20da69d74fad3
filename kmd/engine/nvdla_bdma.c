// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * BDMA: copies between memories. Its registers are not shadowed; each transfer
 * is written to the same registers and queued.
 */

#include <nvdla/hw/registers.h>

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

/* Limits of the descriptor interface; the registers could hold more. */
#define BDMA_MAX_REPEAT 8192

static void check_transfer(struct nvdla_check *check, const struct nvdla_bdma_transfer *transfer)
{
	const u32 atom = check->variant->atom_bytes;
	const u64 max_line = ((u64)NVDLA_BDMA_CFG_LINE__SIZE + 1) * atom;

	nvdla_need(check,
		   transfer->line_size > 0 && transfer->line_size <= max_line &&
			   IS_ALIGNED(transfer->line_size, atom),
		   DRM_NVDLA_RULE_BDMA_LINE_SIZE, transfer->line_size, max_line,
		   NVDLA_FIELD(transfer->line_size));
	nvdla_need(check, transfer->line_repeat >= 1 && transfer->line_repeat <= BDMA_MAX_REPEAT,
		   DRM_NVDLA_RULE_BDMA_REPEAT, transfer->line_repeat, BDMA_MAX_REPEAT,
		   NVDLA_FIELD(transfer->line_repeat));
	nvdla_need(check, transfer->surf_repeat >= 1 && transfer->surf_repeat <= BDMA_MAX_REPEAT,
		   DRM_NVDLA_RULE_BDMA_REPEAT, transfer->surf_repeat, BDMA_MAX_REPEAT,
		   NVDLA_FIELD(transfer->surf_repeat));

	nvdla_need(check, IS_ALIGNED(transfer->src_line, atom),
		   DRM_NVDLA_RULE_BDMA_STRIDE_ALIGNMENT, transfer->src_line, atom,
		   NVDLA_FIELD(transfer->src_line));
	nvdla_need(check, IS_ALIGNED(transfer->dst_line, atom),
		   DRM_NVDLA_RULE_BDMA_STRIDE_ALIGNMENT, transfer->dst_line, atom,
		   NVDLA_FIELD(transfer->dst_line));
	nvdla_need(check, IS_ALIGNED(transfer->src_surf, atom),
		   DRM_NVDLA_RULE_BDMA_STRIDE_ALIGNMENT, transfer->src_surf, atom,
		   NVDLA_FIELD(transfer->src_surf));
	nvdla_need(check, IS_ALIGNED(transfer->dst_surf, atom),
		   DRM_NVDLA_RULE_BDMA_STRIDE_ALIGNMENT, transfer->dst_surf, atom,
		   NVDLA_FIELD(transfer->dst_surf));

	nvdla_need(check, transfer->line_repeat == 1 || transfer->src_line >= transfer->line_size,
		   DRM_NVDLA_RULE_BDMA_STRIDE, transfer->src_line, transfer->line_size,
		   NVDLA_FIELD(transfer->src_line));
	nvdla_need(check, transfer->line_repeat == 1 || transfer->dst_line >= transfer->line_size,
		   DRM_NVDLA_RULE_BDMA_STRIDE, transfer->dst_line, transfer->line_size,
		   NVDLA_FIELD(transfer->dst_line));
}

/* Where one side of a transfer begins, as the core sees it. */
static u32 bind_side(struct nvdla_check *check, const struct nvdla_bdma_transfer *transfer,
		     bool write, const u8 *mem_type)
{
	const struct nvdla_dim dims[] = {
		{ transfer->line_repeat, write ? transfer->dst_line : transfer->src_line },
		{ transfer->surf_repeat, write ? transfer->dst_surf : transfer->src_surf },
	};
	const struct nvdla_field side = write ? NVDLA_FIELD(transfer->dst_address) :
						NVDLA_FIELD(transfer->src_address);
	struct nvdla_access_request request = {
		.type_field = NVDLA_FIELD(*mem_type),
		.address_field = side,
		.offset_field = side,
		.field = side,
		.mem_type = *mem_type,
		.address = write ? transfer->dst_address : transfer->src_address,
		.alignment = check->variant->atom_bytes,
		.alignment_rule = DRM_NVDLA_RULE_CUBE_ALIGNMENT,
		.access = write ? NVDLA_ACCESS_WRITE : NVDLA_ACCESS_READ,
	};

	/* Cannot overflow: two products of 32 and 13 bits and a line. */
	nvdla_walk_bytes(transfer->line_size, dims, ARRAY_SIZE(dims), &request.bytes);
	return nvdla_add_access(check, &request);
}

static void program_transfer(struct nvdla_check *check, const struct nvdla_bdma_transfer *transfer,
			     u32 src, u32 dst, u32 cmd)
{
	nvdla_emit_address(check, NVDLA_BDMA_CFG_SRC_ADDR_HIGH, NVDLA_BDMA_CFG_SRC_ADDR_LOW, src);
	nvdla_emit_address(check, NVDLA_BDMA_CFG_DST_ADDR_HIGH, NVDLA_BDMA_CFG_DST_ADDR_LOW, dst);
	nvdla_emit(check, NVDLA_BDMA_CFG_LINE,
		   nvdla_put_minus_one(check, NVDLA_BDMA_CFG_LINE__SIZE,
				       transfer->line_size / check->variant->atom_bytes,
				       NVDLA_FIELD(transfer->line_size)));
	nvdla_emit(check, NVDLA_BDMA_CFG_CMD, cmd);
	nvdla_emit(check, NVDLA_BDMA_CFG_LINE_REPEAT,
		   nvdla_put_minus_one(check, NVDLA_BDMA_CFG_LINE_REPEAT__NUMBER,
				       transfer->line_repeat, NVDLA_FIELD(transfer->line_repeat)));
	nvdla_emit(check, NVDLA_BDMA_CFG_SRC_LINE, transfer->src_line);
	nvdla_emit(check, NVDLA_BDMA_CFG_DST_LINE, transfer->dst_line);
	nvdla_emit(check, NVDLA_BDMA_CFG_SURF_REPEAT,
		   nvdla_put_minus_one(check, NVDLA_BDMA_CFG_SURF_REPEAT__NUMBER,
				       transfer->surf_repeat, NVDLA_FIELD(transfer->surf_repeat)));
	nvdla_emit(check, NVDLA_BDMA_CFG_SRC_SURF, transfer->src_surf);
	nvdla_emit(check, NVDLA_BDMA_CFG_DST_SURF, transfer->dst_surf);
	nvdla_emit(check, NVDLA_BDMA_CFG_OP, NVDLA_BDMA_CFG_OP__EN);
}

void nvdla_check_bdma(struct nvdla_check *check, const union nvdla_surface_desc *desc)
{
	const struct nvdla_bdma_surface_desc *surface = &desc->bdma;
	const u32 slots = min_t(u32, check->variant->bdma_slots, NVDLA_BDMA_MAX_TRANSFERS);
	u32 cmd;
	u32 i;

	nvdla_need(check, surface->num_transfers <= slots, DRM_NVDLA_RULE_BDMA_TRANSFERS,
		   surface->num_transfers, slots, NVDLA_FIELD(surface->num_transfers));
	if (check->failed)
		return;

	check->current_op->num_transfers = surface->num_transfers;
	cmd = nvdla_put(check, NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE, nvdla_ram_type(surface->src_type),
			NVDLA_FIELD(surface->src_type)) |
	      nvdla_put(check, NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE, nvdla_ram_type(surface->dst_type),
			NVDLA_FIELD(surface->dst_type));

	for (i = 0; i < surface->num_transfers; i++) {
		const struct nvdla_bdma_transfer *transfer = &surface->transfers[i];
		u32 src;
		u32 dst;

		check_transfer(check, transfer);
		if (check->failed)
			return;

		src = bind_side(check, transfer, false, &surface->src_type);
		dst = bind_side(check, transfer, true, &surface->dst_type);
		program_transfer(check, transfer, src, dst, cmd);
	}
}
