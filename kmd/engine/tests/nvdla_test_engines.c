// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "../nvdla_platform.h"
#include "nvdla_test_task.h"

/**
 * nvdla_test_add_bdma() - add a BDMA operation that copies a few lines in each transfer
 * @t: task graph
 * @transfers: number of transfers; the descriptor has room for 20, further ones are only counted
 *
 * Return: the index of the operation.
 */
u32 nvdla_test_add_bdma(struct nvdla_test_task *t, u32 transfers)
{
	u32 index = nvdla_test_add(t, NVDLA_OP_BDMA);
	struct nvdla_bdma_surface_desc *surface = &t->surfaces[index].bdma;
	u32 i;

	surface->src_type = NVDLA_MEM_MC;
	surface->dst_type = NVDLA_MEM_MC;
	surface->num_transfers = transfers;
	for (i = 0; i < min_t(u32, transfers, NVDLA_BDMA_MAX_TRANSFERS); i++)
		surface->transfers[i] = (struct nvdla_bdma_transfer) {
			.src_address = 0,
			.dst_address = 2,
			.line_size = 64,
			.line_repeat = 2,
			.src_line = 96,
			.dst_line = 64,
			.surf_repeat = 3,
			.src_surf = 256,
			.dst_surf = 128,
		};
	return index;
}

/**
 * nvdla_test_add_sdp() - add bias and ReLU of an 8x8x32 INT8 cube, from memory to memory
 * @t: task graph
 *
 * Return: the index of the operation.
 */
u32 nvdla_test_add_sdp(struct nvdla_test_task *t)
{
	u32 index = nvdla_test_add(t, NVDLA_OP_SDP);
	struct nvdla_sdp_op_desc *op = &t->operations[index].sdp;
	struct nvdla_sdp_surface_desc *cubes = &t->surfaces[index].sdp;

	op->lut_index = -1;
	op->batch_num = 1;
	op->out_cvt = (struct nvdla_cvt_param) { .scale = 1, .enable = 1 };
	op->x1_op.enable = 1;
	op->x1_op.alu_type = NVDLA_ALU_SUM;
	op->x1_op.type = NVDLA_SDP_OP_ADD;
	op->x1_op.mode = NVDLA_SDP_PER_KERNEL;
	op->x1_op.act = NVDLA_ACT_RELU;
	op->x1_op.precision = NVDLA_PRECISION_INT16;
	cubes->src_data = nvdla_test_feature(0, 0, 8, 8, 32, 1);
	cubes->x1_data = nvdla_test_feature(1, 0x100000, 1, 1, 32, 1);
	cubes->dst_data = nvdla_test_feature(2, 0, 8, 8, 32, 1);
	return index;
}

/**
 * nvdla_test_add_comparison() - add an SDP operation that compares two cubes of 8x8x32 INT8
 * @t: task graph
 *
 * Return: the index of the operation.
 */
u32 nvdla_test_add_comparison(struct nvdla_test_task *t)
{
	u32 index = nvdla_test_add_sdp(t);
	struct nvdla_sdp_op_desc *op = &t->operations[index].sdp;

	memset(&op->x1_op, 0, sizeof(op->x1_op));
	op->y_op.enable = 1;
	op->y_op.type = NVDLA_SDP_OP_ADD;
	op->y_op.alu_type = NVDLA_ALU_EQL;
	op->y_op.mode = NVDLA_SDP_PER_POINT;
	t->surfaces[index].sdp.y_data = nvdla_test_feature(1, 0, 8, 8, 32, 1);
	return index;
}

/**
 * nvdla_test_add_pdp() - add max pooling of an 8x8x32 INT8 cube, 2x2 with stride 2
 * @t: task graph
 *
 * Return: the index of the operation.
 */
u32 nvdla_test_add_pdp(struct nvdla_test_task *t)
{
	u32 index = nvdla_test_add(t, NVDLA_OP_PDP);
	struct nvdla_pdp_op_desc *op = &t->operations[index].pdp;

	op->split_num = 1;
	op->pool_mode = NVDLA_POOL_MAX;
	op->pool_width = 1;
	op->pool_height = 1;
	op->stride_x = 2;
	op->stride_y = 2;
	t->surfaces[index].pdp.src_data = nvdla_test_feature(2, 0, 8, 8, 32, 1);
	t->surfaces[index].pdp.dst_data = nvdla_test_feature(3, 0, 4, 4, 32, 1);
	return index;
}

/**
 * nvdla_test_add_split_pdp() - add pooling of a cube of 96 columns, split in three parts
 * @t: task graph
 *
 * Return: the index of the operation.
 */
u32 nvdla_test_add_split_pdp(struct nvdla_test_task *t)
{
	u32 index = nvdla_test_add_pdp(t);
	struct nvdla_pdp_op_desc *op = &t->operations[index].pdp;

	/* A 3x3 kernel with stride 1 and a column of padding on both sides. */
	op->pool_width = 2;
	op->pool_height = 2;
	op->stride_x = 1;
	op->stride_y = 1;
	op->pad_left = 1;
	op->pad_right = 1;
	op->pad_top = 1;
	op->pad_bottom = 1;
	op->split_num = 3;
	op->partial_width_first = 32;
	op->partial_width_mid = 32;
	op->partial_width_last = 32;
	op->partial_in_width_first = 33;
	op->partial_in_width_mid = 32;
	op->partial_in_width_last = 31;
	t->surfaces[index].pdp.src_data = nvdla_test_feature(2, 0, 96, 8, 32, 1);
	t->surfaces[index].pdp.dst_data = nvdla_test_feature(3, 0, 96, 8, 32, 1);
	return index;
}

/**
 * nvdla_test_add_sdp_pdp() - add an SDP operation whose output streams to a PDP operation
 * @t: task graph
 *
 * Return: the index of PDP, which is behind that of SDP.
 */
u32 nvdla_test_add_sdp_pdp(struct nvdla_test_task *t)
{
	u32 producer = nvdla_test_add_sdp(t);
	u32 consumer = nvdla_test_add_pdp(t);

	t->surfaces[producer].sdp.dst_data = nvdla_test_stream(8, 8, 32, 1);
	t->surfaces[consumer].pdp.src_data = nvdla_test_stream(8, 8, 32, 1);
	nvdla_test_fuse(t, producer, consumer);
	return consumer;
}

/**
 * nvdla_test_add_cdp() - add normalisation of an 8x8x32 INT8 cube, with a look-up table
 * @t: task graph
 *
 * Return: the index of the operation.
 */
u32 nvdla_test_add_cdp(struct nvdla_test_task *t)
{
	u32 index = nvdla_test_add(t, NVDLA_OP_CDP);
	struct nvdla_cdp_op_desc *op = &t->operations[index].cdp;

	op->lut_index = nvdla_test_add_lut(t);
	op->local_size = 5;
	op->in_cvt = (struct nvdla_cvt_param) { .scale = 1, .enable = 1 };
	op->out_cvt = (struct nvdla_cvt_param) { .scale = 1, .enable = 1 };
	t->surfaces[index].cdp.src_data = nvdla_test_feature(2, 0, 8, 8, 32, 1);
	t->surfaces[index].cdp.dst_data = nvdla_test_feature(3, 0, 8, 8, 32, 1);
	return index;
}

/**
 * nvdla_test_add_rubik() - add a reshape of a small INT8 cube
 * @t: task graph
 * @mode: enum nvdla_rubik_mode
 *
 * Return: the index of the operation.
 */
u32 nvdla_test_add_rubik(struct nvdla_test_task *t, u32 mode)
{
	u32 index = nvdla_test_add(t, NVDLA_OP_RUBIK);
	struct nvdla_rubik_op_desc *op = &t->operations[index].rubik;
	struct nvdla_pair_surface_desc *cubes = &t->surfaces[index].rubik;
	struct nvdla_data_cube *planes;

	op->mode = mode;
	cubes->src_data = nvdla_test_feature(0, 0, 8, 8, 32, 1);
	cubes->dst_data = nvdla_test_feature(2, 0, 8, 8, 32, 1);
	if (mode == NVDLA_RUBIK_CONTRACT) {
		op->stride_x = 2;
		op->stride_y = 2;
		cubes->src_data = nvdla_test_feature(0, 0, 4, 4, 128, 1);
		return index;
	}
	planes = mode == NVDLA_RUBIK_SPLIT ? &cubes->dst_data : &cubes->src_data;
	planes->line_stride = 64;
	planes->surf_stride = 0;
	planes->plane_stride = 512;
	return index;
}
