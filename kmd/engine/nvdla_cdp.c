// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* CDP: local response normalisation across channels (programming guide, "Limitation", CDP). */

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

static void program_rdma(struct nvdla_check *check, const struct nvdla_cdp_op_desc *op,
			 const struct nvdla_data_cube *src, u32 access)
{
	put_count(check, CDP_RDMA_D_DATA_CUBE_WIDTH, WIDTH, src->width);
	put_count(check, CDP_RDMA_D_DATA_CUBE_HEIGHT, HEIGHT, src->height);
	put_count(check, CDP_RDMA_D_DATA_CUBE_CHANNEL, CHANNEL, src->channel);
	emit_address(check, CDP_RDMA_D_SRC_BASE_ADDR, access);
	emit(check, CDP_RDMA_D_SRC_LINE_STRIDE, src->line_stride);
	emit(check, CDP_RDMA_D_SRC_SURFACE_STRIDE, src->surf_stride);
	emit(check, CDP_RDMA_D_SRC_DMA_CFG, nvdla_ram_type(src->type));
	put(check, CDP_RDMA_D_DATA_FORMAT, INPUT_DATA, op->in_precision);
	emit_counting(check, CDP_RDMA_D_PERF_ENABLE, NVDLA_CDP_RDMA_D_PERF_ENABLE__DMA_EN);
}

static void program_core(struct nvdla_check *check, const struct nvdla_cdp_op_desc *op,
			 const struct nvdla_data_cube *dst, u32 access)
{
	put(check, CDP_D_DATIN_OFFSET, DATIN_OFFSET, op->in_cvt.offset);
	put(check, CDP_D_DATIN_SCALE, DATIN_SCALE, op->in_cvt.scale);
	put(check, CDP_D_DATIN_SHIFTER, DATIN_SHIFTER, op->in_cvt.truncate);
	emit(check, CDP_D_DATOUT_OFFSET, (u32)op->out_cvt.offset);
	put(check, CDP_D_DATOUT_SCALE, DATOUT_SCALE, op->out_cvt.scale);
	put(check, CDP_D_DATOUT_SHIFTER, DATOUT_SHIFTER, op->out_cvt.truncate);
	put(check, CDP_D_FUNC_BYPASS, SQSUM_BYPASS, op->bypass_sqsum);
	put(check, CDP_D_FUNC_BYPASS, MUL_BYPASS, op->bypass_out_mul);
	emit_address(check, CDP_D_DST_BASE_ADDR, access);
	emit(check, CDP_D_DST_LINE_STRIDE, dst->line_stride);
	emit(check, CDP_D_DST_SURFACE_STRIDE, dst->surf_stride);
	emit(check, CDP_D_DST_DMA_CFG, nvdla_ram_type(dst->type));
	put(check, CDP_D_DATA_FORMAT, INPUT_DATA_TYPE, op->in_precision);
	/* 3, 5, 7 and 9 are encoded as 0, 1, 2 and 3. */
	emit(check, CDP_D_LRN_CFG,
	     nvdla_field_bits(NVDLA_CDP_D_LRN_CFG__NORMALZ_LEN, (op->local_size - 3) / 2));
	emit(check, CDP_D_NAN_FLUSH_TO_ZERO, nvdla_nan_to_zero(check, op->in_precision));
	emit_counting(check, CDP_D_PERF_ENABLE,
		      NVDLA_CDP_D_PERF_ENABLE__DMA_EN | NVDLA_CDP_D_PERF_ENABLE__LUT_EN);
}

void nvdla_check_cdp(struct nvdla_check *check, const struct nvdla_cdp_op_desc *op,
		     const struct nvdla_pair_surface_desc *surface)
{
	u32 src_access, dst_access;

	need_precision(check, op->in_precision);
	need_equal(check, op->out_precision, op->in_precision,
		   "CDP does not convert between precisions");
	need(check, op->local_size >= 3 && op->local_size <= 9 && op->local_size % 2,
	     op->local_size, 9, "the local size is 3, 5, 7 or 9");
	need_range(check, op->bypass_sqsum, 0, 1, "a flag is 0 or 1");
	need_range(check, op->bypass_out_mul, 0, 1, "a flag is 0 or 1");
	need(check, op->lut_index >= 0 && op->lut_index < check->source->num_luts, op->lut_index,
	     (s64)check->source->num_luts - 1, "CDP needs a look-up table of this task");
	nvdla_need_same_size(check, &surface->dst_data, &surface->src_data,
			     "input and output have to have the same size");
	if (check->failed)
		return;

	nvdla_check_lut(check, op->lut_index, op->in_precision);
	src_access = nvdla_add_feature(check, &surface->src_data, NVDLA_ACCESS_READ,
				       op->in_precision);
	dst_access = nvdla_add_feature(check, &surface->dst_data, NVDLA_ACCESS_WRITE,
				       op->out_precision);

	check->current_op->uses_rdma = true;
	program_rdma(check, op, &surface->src_data, src_access);
	program_core(check, op, &surface->dst_data, dst_access);
}
