// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * CDP: local response normalisation across channels.
 */

#include <nvdla/hw/registers.h>

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

static void check_op(struct nvdla_check *check, const struct nvdla_cdp_op_desc *op)
{
	nvdla_need(check,
		   op->in_precision <= NVDLA_PRECISION_FP16 &&
			   (check->variant->precisions & BIT(op->in_precision)),
		   DRM_NVDLA_RULE_CDP_PRECISION, op->in_precision, NVDLA_PRECISION_FP16,
		   NVDLA_FIELD(op->in_precision));
	nvdla_need(check, op->out_precision == op->in_precision, DRM_NVDLA_RULE_CDP_PRECISION_PAIR,
		   op->out_precision, op->in_precision, NVDLA_FIELD(op->out_precision));
	nvdla_need(check,
		   op->local_size == 3 || op->local_size == 5 || op->local_size == 7 ||
			   op->local_size == 9,
		   DRM_NVDLA_RULE_CDP_LOCAL_SIZE, op->local_size, 9, NVDLA_FIELD(op->local_size));
	nvdla_need(check, op->bypass_sqsum <= 1, DRM_NVDLA_RULE_CDP_FLAG, op->bypass_sqsum, 1,
		   NVDLA_FIELD(op->bypass_sqsum));
	nvdla_need(check, op->bypass_out_mul <= 1, DRM_NVDLA_RULE_CDP_FLAG, op->bypass_out_mul, 1,
		   NVDLA_FIELD(op->bypass_out_mul));
	nvdla_need(check, op->lut_index >= 0 && (u32)op->lut_index < check->source->num_luts,
		   DRM_NVDLA_RULE_CDP_LUT, op->lut_index, (s64)check->source->num_luts - 1,
		   NVDLA_FIELD(op->lut_index));
}

static void check_size(struct nvdla_check *check, const struct nvdla_data_cube *src,
		       const struct nvdla_data_cube *dst)
{
	nvdla_need(check, dst->width == src->width, DRM_NVDLA_RULE_CDP_SIZE, dst->width,
		   src->width, NVDLA_FIELD(dst->width));
	nvdla_need(check, dst->height == src->height, DRM_NVDLA_RULE_CDP_SIZE, dst->height,
		   src->height, NVDLA_FIELD(dst->height));
	nvdla_need(check, dst->channel == src->channel, DRM_NVDLA_RULE_CDP_SIZE, dst->channel,
		   src->channel, NVDLA_FIELD(dst->channel));
}

static void program_rdma(struct nvdla_check *check, const struct nvdla_cdp_op_desc *op,
			 const struct nvdla_data_cube *src, u32 access)
{
	nvdla_emit(check, NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH,
		   nvdla_put_minus_one(check, NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH__WIDTH, src->width,
				       NVDLA_FIELD(src->width)));
	nvdla_emit(check, NVDLA_CDP_RDMA_D_DATA_CUBE_HEIGHT,
		   nvdla_put_minus_one(check, NVDLA_CDP_RDMA_D_DATA_CUBE_HEIGHT__HEIGHT,
				       src->height, NVDLA_FIELD(src->height)));
	nvdla_emit(check, NVDLA_CDP_RDMA_D_DATA_CUBE_CHANNEL,
		   nvdla_put_minus_one(check, NVDLA_CDP_RDMA_D_DATA_CUBE_CHANNEL__CHANNEL,
				       src->channel, NVDLA_FIELD(src->channel)));
	nvdla_emit_address(check, NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_HIGH,
			   NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_LOW, access);
	nvdla_emit(check, NVDLA_CDP_RDMA_D_SRC_LINE_STRIDE, src->line_stride);
	nvdla_emit(check, NVDLA_CDP_RDMA_D_SRC_SURFACE_STRIDE, src->surf_stride);
	nvdla_emit(check, NVDLA_CDP_RDMA_D_SRC_DMA_CFG, nvdla_ram_type(src->type));
	nvdla_emit(check, NVDLA_CDP_RDMA_D_DATA_FORMAT,
		   nvdla_put(check, NVDLA_CDP_RDMA_D_DATA_FORMAT__INPUT_DATA, op->in_precision,
			     NVDLA_FIELD(op->in_precision)));
	nvdla_emit_counting(check, NVDLA_CDP_RDMA_D_PERF_ENABLE,
			    NVDLA_CDP_RDMA_D_PERF_ENABLE__DMA_EN);
}

static void program_converters(struct nvdla_check *check, const struct nvdla_cdp_op_desc *op)
{
	nvdla_emit(check, NVDLA_CDP_D_DATIN_OFFSET,
		   nvdla_put_signed(check, NVDLA_CDP_D_DATIN_OFFSET__DATIN_OFFSET,
				    op->in_cvt.offset, NVDLA_FIELD(op->in_cvt.offset)));
	nvdla_emit(check, NVDLA_CDP_D_DATIN_SCALE,
		   nvdla_put_signed(check, NVDLA_CDP_D_DATIN_SCALE__DATIN_SCALE, op->in_cvt.scale,
				    NVDLA_FIELD(op->in_cvt.scale)));
	nvdla_emit(check, NVDLA_CDP_D_DATIN_SHIFTER,
		   nvdla_put(check, NVDLA_CDP_D_DATIN_SHIFTER__DATIN_SHIFTER, op->in_cvt.truncate,
			     NVDLA_FIELD(op->in_cvt.truncate)));
	nvdla_emit(check, NVDLA_CDP_D_DATOUT_OFFSET, (u32)op->out_cvt.offset);
	nvdla_emit(check, NVDLA_CDP_D_DATOUT_SCALE,
		   nvdla_put_signed(check, NVDLA_CDP_D_DATOUT_SCALE__DATOUT_SCALE,
				    op->out_cvt.scale, NVDLA_FIELD(op->out_cvt.scale)));
	nvdla_emit(check, NVDLA_CDP_D_DATOUT_SHIFTER,
		   nvdla_put(check, NVDLA_CDP_D_DATOUT_SHIFTER__DATOUT_SHIFTER,
			     op->out_cvt.truncate, NVDLA_FIELD(op->out_cvt.truncate)));
}

static void program_core(struct nvdla_check *check, const struct nvdla_cdp_op_desc *op,
			 const struct nvdla_data_cube *dst, u32 access)
{
	nvdla_emit(check, NVDLA_CDP_D_FUNC_BYPASS,
		   nvdla_put(check, NVDLA_CDP_D_FUNC_BYPASS__SQSUM_BYPASS, op->bypass_sqsum,
			     NVDLA_FIELD(op->bypass_sqsum)) |
		   nvdla_put(check, NVDLA_CDP_D_FUNC_BYPASS__MUL_BYPASS,
			     op->bypass_out_mul, NVDLA_FIELD(op->bypass_out_mul)));
	nvdla_emit_address(check, NVDLA_CDP_D_DST_BASE_ADDR_HIGH, NVDLA_CDP_D_DST_BASE_ADDR_LOW,
			   access);
	nvdla_emit(check, NVDLA_CDP_D_DST_LINE_STRIDE, dst->line_stride);
	nvdla_emit(check, NVDLA_CDP_D_DST_SURFACE_STRIDE, dst->surf_stride);
	nvdla_emit(check, NVDLA_CDP_D_DST_DMA_CFG, nvdla_ram_type(dst->type));
	nvdla_emit(check, NVDLA_CDP_D_DATA_FORMAT,
		   nvdla_put(check, NVDLA_CDP_D_DATA_FORMAT__INPUT_DATA_TYPE, op->in_precision,
			     NVDLA_FIELD(op->in_precision)));
	/* 3, 5, 7 and 9 are encoded as 0, 1, 2 and 3. */
	nvdla_emit(check, NVDLA_CDP_D_LRN_CFG,
		   nvdla_put(check, NVDLA_CDP_D_LRN_CFG__NORMALZ_LEN, (op->local_size - 3) / 2,
			     NVDLA_FIELD(op->local_size)));
	nvdla_emit(check, NVDLA_CDP_D_NAN_FLUSH_TO_ZERO,
		   nvdla_nan_to_zero(check, op->in_precision));
	nvdla_emit_counting(check, NVDLA_CDP_D_PERF_ENABLE,
			    NVDLA_CDP_D_PERF_ENABLE__DMA_EN | NVDLA_CDP_D_PERF_ENABLE__LUT_EN);
}

void nvdla_check_cdp(struct nvdla_check *check, const struct nvdla_cdp_op_desc *op,
		     const struct nvdla_cdp_surface_desc *surface)
{
	struct nvdla_feature_use use;
	u32 src_access;
	u32 dst_access;

	check_op(check, op);
	check_size(check, &surface->src_data, &surface->dst_data);
	if (check->failed)
		return;

	nvdla_check_lut(check, op->lut_index, op->in_precision);

	nvdla_feature_use_init(check, &use, &surface->src_data, NVDLA_ACCESS_READ,
			       op->in_precision);
	src_access = nvdla_add_feature_access(check, &surface->src_data, &use);
	nvdla_feature_use_init(check, &use, &surface->dst_data, NVDLA_ACCESS_WRITE,
			       op->out_precision);
	dst_access = nvdla_add_feature_access(check, &surface->dst_data, &use);

	check->current_op->uses_rdma = true;
	program_rdma(check, op, &surface->src_data, src_access);
	program_converters(check, op);
	program_core(check, op, &surface->dst_data, dst_access);
}
