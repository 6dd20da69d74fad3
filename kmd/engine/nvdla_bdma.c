// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * BDMA: copies between memories. It has no register groups: each transfer is written to the same
 * registers and then queued (programming guide, "BDMA programming").
 */

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

/* Limit of the driver's interface; the register fields could hold more. */
#define BDMA_MAX_REPEAT 8192

static void check_transfer(struct nvdla_check *check, const struct nvdla_bdma_transfer *transfer)
{
	const char *repeat = "lines and surfaces are repeated 1 to 8192 times";
	const char *multiple = "strides are multiples of 32 bytes";
	const char *stride = "a line does not fit its stride";
	const u32 least_stride = transfer->line_repeat == 1 ? 0 : transfer->line_size;
	const u32 atom = check->variant->atom_bytes;
	const u64 max_line = ((u64)NVDLA_BDMA_CFG_LINE__SIZE + 1) * atom;

	need(check, transfer->line_size && transfer->line_size <= max_line &&
	     IS_ALIGNED(transfer->line_size, atom), transfer->line_size, max_line,
	     "a line is a multiple of 32 bytes, 32 to 262144");
	need_range(check, transfer->line_repeat, 1, BDMA_MAX_REPEAT, repeat);
	need_range(check, transfer->surf_repeat, 1, BDMA_MAX_REPEAT, repeat);
	need_multiple(check, transfer->src_line, atom, multiple);
	need_multiple(check, transfer->dst_line, atom, multiple);
	need_multiple(check, transfer->src_surf, atom, multiple);
	need_multiple(check, transfer->dst_surf, atom, multiple);
	need_range(check, transfer->src_line, least_stride, U32_MAX, stride);
	need_range(check, transfer->dst_line, least_stride, U32_MAX, stride);
}

/* Records the memory access of a transfer's source or destination, as nvdla_add_access() does. */
static u32 bind_side(struct nvdla_check *check, const struct nvdla_bdma_transfer *transfer,
		     struct nvdla_field address, struct nvdla_field mem_type, u32 access)
{
	bool write = access == NVDLA_ACCESS_WRITE;
	const struct nvdla_dim dims[] = {
		{ transfer->line_repeat, write ? transfer->dst_line : transfer->src_line },
		{ transfer->surf_repeat, write ? transfer->dst_surf : transfer->src_surf },
	};
	struct nvdla_access_request request = {
		.type_field = mem_type,
		.address_field = address,
		.offset_field = address,
		.field = address,
		.alignment = check->variant->atom_bytes,
		.access = access,
	};

	/* Fits 64 bits: two products of a 32-bit and a 13-bit number, plus the bytes of a line. */
	nvdla_walk_bytes(transfer->line_size, dims, ARRAY_SIZE(dims), &request.bytes);
	return nvdla_add_access(check, &request);
}

static void program_transfer(struct nvdla_check *check, const struct nvdla_bdma_transfer *transfer,
			     const struct nvdla_bdma_surface_desc *surface, u32 src, u32 dst)
{
	const u32 line = transfer->line_size / check->variant->atom_bytes - 1;

	emit_address(check, BDMA_CFG_SRC_ADDR, src);
	emit_address(check, BDMA_CFG_DST_ADDR, dst);
	emit(check, BDMA_CFG_LINE, nvdla_field_bits(NVDLA_BDMA_CFG_LINE__SIZE, line));
	emit(check, BDMA_CFG_CMD,
	     nvdla_field_bits(NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE, nvdla_ram_type(surface->src_type)) |
	     nvdla_field_bits(NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE, nvdla_ram_type(surface->dst_type)));
	put_count(check, BDMA_CFG_LINE_REPEAT, NUMBER, transfer->line_repeat);
	emit(check, BDMA_CFG_SRC_LINE, transfer->src_line);
	emit(check, BDMA_CFG_DST_LINE, transfer->dst_line);
	put_count(check, BDMA_CFG_SURF_REPEAT, NUMBER, transfer->surf_repeat);
	emit(check, BDMA_CFG_SRC_SURF, transfer->src_surf);
	emit(check, BDMA_CFG_DST_SURF, transfer->dst_surf);
	emit(check, BDMA_CFG_OP, NVDLA_BDMA_CFG_OP__EN);
}

void nvdla_check_bdma(struct nvdla_check *check, const union nvdla_surface_desc *desc)
{
	const struct nvdla_bdma_surface_desc *surface = &desc->bdma;
	const u32 slots = min_t(u32, check->variant->bdma_slots, NVDLA_BDMA_MAX_TRANSFERS);
	u32 src, dst;
	u32 i;

	if (!need_range(check, surface->num_transfers, 0, slots,
			"more transfers than the engine queues"))
		return;

	check->current_op->num_transfers = surface->num_transfers;
	for (i = 0; i < surface->num_transfers; i++) {
		const struct nvdla_bdma_transfer *transfer = &surface->transfers[i];

		check_transfer(check, transfer);
		if (check->failed)
			return;

		src = bind_side(check, transfer, NVDLA_FIELD(transfer->src_address),
				NVDLA_FIELD(surface->src_type), NVDLA_ACCESS_READ);
		dst = bind_side(check, transfer, NVDLA_FIELD(transfer->dst_address),
				NVDLA_FIELD(surface->dst_type), NVDLA_ACCESS_WRITE);
		program_transfer(check, transfer, surface, src, dst);
	}
}
