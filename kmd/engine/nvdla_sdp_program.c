// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * SDP: register programs. X1, X2 and Y are BS, BN and EW in register names.
 */

#include <nvdla/hw/registers.h>

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"
#include "nvdla_sdp.h"

/* Where RDMA finds a unit's operands; field masks are the same for all units. */
struct operand_registers {
	u32 cfg;
	u32 low;
	u32 high;
	u32 line_stride;
	u32 surf_stride;
	u32 batch_stride;
};

static const struct operand_registers operand_registers[NVDLA_SDP_NUM_UNITS] = {
	[NVDLA_SDP_X1] = {
		NVDLA_SDP_RDMA_D_BRDMA_CFG, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW,
		NVDLA_SDP_RDMA_D_BS_BASE_ADDR_HIGH, NVDLA_SDP_RDMA_D_BS_LINE_STRIDE,
		NVDLA_SDP_RDMA_D_BS_SURFACE_STRIDE, NVDLA_SDP_RDMA_D_BS_BATCH_STRIDE,
	},
	[NVDLA_SDP_X2] = {
		NVDLA_SDP_RDMA_D_NRDMA_CFG, NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW,
		NVDLA_SDP_RDMA_D_BN_BASE_ADDR_HIGH, NVDLA_SDP_RDMA_D_BN_LINE_STRIDE,
		NVDLA_SDP_RDMA_D_BN_SURFACE_STRIDE, NVDLA_SDP_RDMA_D_BN_BATCH_STRIDE,
	},
	[NVDLA_SDP_Y] = {
		NVDLA_SDP_RDMA_D_ERDMA_CFG, NVDLA_SDP_RDMA_D_EW_BASE_ADDR_LOW,
		NVDLA_SDP_RDMA_D_EW_BASE_ADDR_HIGH, NVDLA_SDP_RDMA_D_EW_LINE_STRIDE,
		NVDLA_SDP_RDMA_D_EW_SURFACE_STRIDE, NVDLA_SDP_RDMA_D_EW_BATCH_STRIDE,
	},
};

/* What an X unit does; field masks are the same for both. */
struct x_registers {
	u32 cfg;
	u32 alu_cfg;
	u32 alu_value;
	u32 mul_cfg;
	u32 mul_value;
};

static const struct x_registers x_registers[] = {
	[NVDLA_SDP_X1] = {
		NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_ALU_CFG,
		NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE, NVDLA_SDP_D_DP_BS_MUL_CFG,
		NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE,
	},
	[NVDLA_SDP_X2] = {
		NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_ALU_CFG,
		NVDLA_SDP_D_DP_BN_ALU_SRC_VALUE, NVDLA_SDP_D_DP_BN_MUL_CFG,
		NVDLA_SDP_D_DP_BN_MUL_SRC_VALUE,
	},
};

static u32 data_use(u32 type)
{
	switch (type) {
	case NVDLA_SDP_OP_ADD:
		return NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE__ALU;
	case NVDLA_SDP_OP_BOTH:
		return NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE__BOTH;
	default:
		return NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE__MUL;
	}
}

static void program_operand(struct nvdla_check *check, const struct nvdla_sdp_unit_info *info,
			    const struct nvdla_sdp_plan *plan)
{
	const struct operand_registers *registers = &operand_registers[info->unit];
	const struct nvdla_sdp_op *unit = info->op;

	nvdla_emit_address(check, registers->high, registers->low, plan->unit_access[info->unit]);
	if (!plan->unit_rdma[info->unit]) {
		nvdla_emit(check, registers->cfg, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE);
		return;
	}

	nvdla_emit(check, registers->cfg,
		   nvdla_put(check, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE,
			     data_use(unit->type), NVDLA_FIELD(unit->type)) |
		   nvdla_put(check, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_SIZE,
			     unit->precision != NVDLA_PRECISION_INT8,
			     NVDLA_FIELD(unit->precision)) |
		   nvdla_put(check, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_MODE,
			     unit->mode == NVDLA_SDP_PER_POINT, NVDLA_FIELD(unit->mode)) |
		   nvdla_put(check, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_RAM_TYPE,
			     nvdla_ram_type(info->cube->type),
			     NVDLA_FIELD(info->cube->type)));
	nvdla_emit(check, registers->line_stride, plan->line_stride[info->unit]);
	nvdla_emit(check, registers->surf_stride, plan->surf_stride[info->unit]);
	/* The descriptor has none: all cubes of a batch share their operands. */
	nvdla_emit(check, registers->batch_stride, 0);
}

static void program_rdma(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
			 const struct nvdla_sdp_unit_info *infos,
			 const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *src = plan->src;
	u32 i;

	nvdla_emit(check, NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH,
		   nvdla_put_minus_one(check, NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH__WIDTH, src->width,
				       NVDLA_FIELD(src->width)));
	nvdla_emit(check, NVDLA_SDP_RDMA_D_DATA_CUBE_HEIGHT,
		   nvdla_put_minus_one(check, NVDLA_SDP_RDMA_D_DATA_CUBE_HEIGHT__HEIGHT,
				       src->height, NVDLA_FIELD(src->height)));
	nvdla_emit(check, NVDLA_SDP_RDMA_D_DATA_CUBE_CHANNEL,
		   nvdla_put_minus_one(check, NVDLA_SDP_RDMA_D_DATA_CUBE_CHANNEL__CHANNEL,
				       src->channel, NVDLA_FIELD(src->channel)));
	nvdla_emit_address(check, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_HIGH,
			   NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW, plan->src_access);
	if (!plan->flying_in) {
		nvdla_emit(check, NVDLA_SDP_RDMA_D_SRC_LINE_STRIDE, src->line_stride);
		nvdla_emit(check, NVDLA_SDP_RDMA_D_SRC_SURFACE_STRIDE, src->surf_stride);
		nvdla_emit(check, NVDLA_SDP_RDMA_D_SRC_DMA_CFG, nvdla_ram_type(src->type));
	}
	for (i = 0; i < NVDLA_SDP_NUM_UNITS; i++)
		program_operand(check, &infos[i], plan);

	nvdla_emit(check, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG,
		   nvdla_put(check, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__FLYING_MODE,
			     plan->flying_in, NVDLA_FIELD(src->type)) |
		   nvdla_put(check, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__WINOGRAD,
			     op->conv_mode, NVDLA_FIELD(op->conv_mode)) |
		   nvdla_put(check, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__IN_PRECISION,
			     op->src_precision, NVDLA_FIELD(op->src_precision)) |
		   nvdla_put(check, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__PROC_PRECISION,
			     plan->proc, NVDLA_FIELD(op->src_precision)) |
		   nvdla_put(check, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__OUT_PRECISION,
			     op->dst_precision, NVDLA_FIELD(op->dst_precision)) |
		   nvdla_put_minus_one(check,
				       NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__BATCH_NUMBER,
				       op->batch_num, NVDLA_FIELD(op->batch_num)));
	nvdla_emit_counting(check, NVDLA_SDP_RDMA_D_PERF_ENABLE,
			    NVDLA_SDP_RDMA_D_PERF_ENABLE__PERF_DMA_EN |
			    NVDLA_SDP_RDMA_D_PERF_ENABLE__PERF_NAN_INF_COUNT_EN);
}

/* Bits that X1, X2 and Y have in common. */
static u32 unit_cfg(const struct nvdla_sdp_op *unit)
{
	u32 cfg = 0;

	if (!unit->enable)
		cfg |= NVDLA_SDP_D_DP_BS_CFG__BS_BYPASS;
	if (!unit->enable || !(unit->type & NVDLA_SDP_OP_ADD))
		cfg |= NVDLA_SDP_D_DP_BS_CFG__BS_ALU_BYPASS;
	if (!unit->enable || !(unit->type & NVDLA_SDP_OP_MUL))
		cfg |= NVDLA_SDP_D_DP_BS_CFG__BS_MUL_BYPASS;
	if (unit->enable && unit->act == NVDLA_ACT_PRELU)
		cfg |= NVDLA_SDP_D_DP_BS_CFG__BS_MUL_PRELU;

	return cfg;
}

static void program_x(struct nvdla_check *check, const struct nvdla_sdp_unit_info *info)
{
	const struct x_registers *registers = &x_registers[info->unit];
	const struct nvdla_sdp_op *unit = info->op;
	bool memory = unit->mode != NVDLA_SDP_PER_LAYER;
	u32 cfg = unit_cfg(unit);

	if (!unit->enable || unit->act != NVDLA_ACT_RELU)
		cfg |= NVDLA_SDP_D_DP_BS_CFG__BS_RELU_BYPASS;
	if (unit->enable)
		cfg |= nvdla_put(check, NVDLA_SDP_D_DP_BS_CFG__BS_ALU_ALGO, unit->alu_type,
				 NVDLA_FIELD(unit->alu_type));
	nvdla_emit(check, registers->cfg, cfg);
	if (!unit->enable)
		return;

	nvdla_emit(check, registers->alu_cfg,
		   nvdla_put(check, NVDLA_SDP_D_DP_BS_ALU_CFG__BS_ALU_SRC, memory,
			     NVDLA_FIELD(unit->mode)) |
		   nvdla_put(check, NVDLA_SDP_D_DP_BS_ALU_CFG__BS_ALU_SHIFT_VALUE,
			     unit->shift_value, NVDLA_FIELD(unit->shift_value)));
	/* The truncation works even where the multiplier is bypassed. */
	nvdla_emit(check, registers->mul_cfg,
		   nvdla_put(check, NVDLA_SDP_D_DP_BS_MUL_CFG__BS_MUL_SRC, memory,
			     NVDLA_FIELD(unit->mode)) |
		   nvdla_put(check, NVDLA_SDP_D_DP_BS_MUL_CFG__BS_MUL_SHIFT_VALUE,
			     unit->truncate, NVDLA_FIELD(unit->truncate)));
	if (memory)
		return;
	nvdla_emit(check, registers->alu_value,
		   unit->alu_operand & NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE__BS_ALU_OPERAND);
	nvdla_emit(check, registers->mul_value,
		   unit->mul_operand & NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE__BS_MUL_OPERAND);
}

static void program_y_alu(struct nvdla_check *check, const struct nvdla_sdp_op *unit)
{
	bool memory = unit->mode != NVDLA_SDP_PER_LAYER;

	nvdla_emit(check, NVDLA_SDP_D_DP_EW_ALU_CFG,
		   nvdla_put(check, NVDLA_SDP_D_DP_EW_ALU_CFG__EW_ALU_SRC, memory,
			     NVDLA_FIELD(unit->mode)) |
		   nvdla_put(check, NVDLA_SDP_D_DP_EW_ALU_CFG__EW_ALU_CVT_BYPASS,
			     !unit->alu_cvt.enable, NVDLA_FIELD(unit->alu_cvt.enable)));
	if (!memory) {
		nvdla_emit(check, NVDLA_SDP_D_DP_EW_ALU_SRC_VALUE, (u32)unit->alu_operand);
		return;
	}
	nvdla_emit(check, NVDLA_SDP_D_DP_EW_ALU_CVT_OFFSET_VALUE, (u32)unit->alu_cvt.offset);
	nvdla_emit(check, NVDLA_SDP_D_DP_EW_ALU_CVT_SCALE_VALUE,
		   nvdla_put_signed(check, NVDLA_SDP_D_DP_EW_ALU_CVT_SCALE_VALUE__EW_ALU_CVT_SCALE,
				    unit->alu_cvt.scale, NVDLA_FIELD(unit->alu_cvt.scale)));
	nvdla_emit(check, NVDLA_SDP_D_DP_EW_ALU_CVT_TRUNCATE_VALUE,
		   nvdla_put(check, NVDLA_SDP_D_DP_EW_ALU_CVT_TRUNCATE_VALUE__EW_ALU_CVT_TRUNCATE,
			     unit->alu_cvt.truncate, NVDLA_FIELD(unit->alu_cvt.truncate)));
}

static void program_y_mul(struct nvdla_check *check, const struct nvdla_sdp_op *unit)
{
	bool memory = unit->mode != NVDLA_SDP_PER_LAYER;

	nvdla_emit(check, NVDLA_SDP_D_DP_EW_MUL_CFG,
		   nvdla_put(check, NVDLA_SDP_D_DP_EW_MUL_CFG__EW_MUL_SRC, memory,
			     NVDLA_FIELD(unit->mode)) |
		   nvdla_put(check, NVDLA_SDP_D_DP_EW_MUL_CFG__EW_MUL_CVT_BYPASS,
			     !unit->mul_cvt.enable, NVDLA_FIELD(unit->mul_cvt.enable)));
	if (!memory) {
		nvdla_emit(check, NVDLA_SDP_D_DP_EW_MUL_SRC_VALUE, (u32)unit->mul_operand);
		return;
	}
	nvdla_emit(check, NVDLA_SDP_D_DP_EW_MUL_CVT_OFFSET_VALUE, (u32)unit->mul_cvt.offset);
	nvdla_emit(check, NVDLA_SDP_D_DP_EW_MUL_CVT_SCALE_VALUE,
		   nvdla_put_signed(check, NVDLA_SDP_D_DP_EW_MUL_CVT_SCALE_VALUE__EW_MUL_CVT_SCALE,
				    unit->mul_cvt.scale, NVDLA_FIELD(unit->mul_cvt.scale)));
	nvdla_emit(check, NVDLA_SDP_D_DP_EW_MUL_CVT_TRUNCATE_VALUE,
		   nvdla_put(check, NVDLA_SDP_D_DP_EW_MUL_CVT_TRUNCATE_VALUE__EW_MUL_CVT_TRUNCATE,
			     unit->mul_cvt.truncate, NVDLA_FIELD(unit->mul_cvt.truncate)));
}

static void program_y(struct nvdla_check *check, const struct nvdla_sdp_op *unit)
{
	u32 cfg = unit_cfg(unit);

	if (!unit->enable || unit->act != NVDLA_ACT_LUT)
		cfg |= NVDLA_SDP_D_DP_EW_CFG__EW_LUT_BYPASS;
	if (unit->enable)
		cfg |= nvdla_put(check, NVDLA_SDP_D_DP_EW_CFG__EW_ALU_ALGO, unit->alu_type,
				 NVDLA_FIELD(unit->alu_type));
	nvdla_emit(check, NVDLA_SDP_D_DP_EW_CFG, cfg);
	if (!unit->enable)
		return;

	if (unit->type & NVDLA_SDP_OP_ADD)
		program_y_alu(check, unit);
	if (unit->type & NVDLA_SDP_OP_MUL)
		program_y_mul(check, unit);
	nvdla_emit(check, NVDLA_SDP_D_DP_EW_TRUNCATE_VALUE, unit->truncate);
}

static void program_output(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
			   const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *dst = plan->dst;

	nvdla_emit_address(check, NVDLA_SDP_D_DST_BASE_ADDR_HIGH, NVDLA_SDP_D_DST_BASE_ADDR_LOW,
			   plan->dst_access);
	if (!plan->flying_out && !plan->comparison) {
		nvdla_emit(check, NVDLA_SDP_D_DST_LINE_STRIDE, dst->line_stride);
		nvdla_emit(check, NVDLA_SDP_D_DST_SURFACE_STRIDE, dst->surf_stride);
		nvdla_emit(check, NVDLA_SDP_D_DST_DMA_CFG, nvdla_ram_type(dst->type));
		nvdla_emit(check, NVDLA_SDP_D_DST_BATCH_STRIDE,
			   op->batch_num > 1 ? op->batch_stride : 0);
	}

	nvdla_emit(check, NVDLA_SDP_D_DATA_FORMAT,
		   nvdla_put(check, NVDLA_SDP_D_DATA_FORMAT__PROC_PRECISION, plan->proc,
			     NVDLA_FIELD(op->src_precision)) |
		   nvdla_put(check, NVDLA_SDP_D_DATA_FORMAT__OUT_PRECISION,
			     op->dst_precision, NVDLA_FIELD(op->dst_precision)));
	nvdla_emit(check, NVDLA_SDP_D_CVT_OFFSET, (u32)op->out_cvt.offset);
	nvdla_emit(check, NVDLA_SDP_D_CVT_SCALE,
		   nvdla_put_signed(check, NVDLA_SDP_D_CVT_SCALE__CVT_SCALE, op->out_cvt.scale,
				    NVDLA_FIELD(op->out_cvt.scale)));
	nvdla_emit(check, NVDLA_SDP_D_CVT_SHIFT,
		   nvdla_put(check, NVDLA_SDP_D_CVT_SHIFT__CVT_SHIFT, op->out_cvt.truncate,
			     NVDLA_FIELD(op->out_cvt.truncate)));
}

void nvdla_program_sdp(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		       const struct nvdla_sdp_unit_info *infos, const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *src = plan->src;

	if (check->current_op->uses_rdma)
		program_rdma(check, op, infos, plan);

	nvdla_emit(check, NVDLA_SDP_D_DATA_CUBE_WIDTH,
		   nvdla_put_minus_one(check, NVDLA_SDP_D_DATA_CUBE_WIDTH__WIDTH, src->width,
				       NVDLA_FIELD(src->width)));
	nvdla_emit(check, NVDLA_SDP_D_DATA_CUBE_HEIGHT,
		   nvdla_put_minus_one(check, NVDLA_SDP_D_DATA_CUBE_HEIGHT__HEIGHT, src->height,
				       NVDLA_FIELD(src->height)));
	nvdla_emit(check, NVDLA_SDP_D_DATA_CUBE_CHANNEL,
		   nvdla_put_minus_one(check, NVDLA_SDP_D_DATA_CUBE_CHANNEL__CHANNEL, src->channel,
				       NVDLA_FIELD(src->channel)));
	program_x(check, &infos[NVDLA_SDP_X1]);
	program_x(check, &infos[NVDLA_SDP_X2]);
	program_y(check, infos[NVDLA_SDP_Y].op);
	program_output(check, op, plan);

	nvdla_emit(check, NVDLA_SDP_D_FEATURE_MODE_CFG,
		   nvdla_put(check, NVDLA_SDP_D_FEATURE_MODE_CFG__FLYING_MODE, plan->flying_in,
			     NVDLA_FIELD(src->type)) |
		   nvdla_put(check, NVDLA_SDP_D_FEATURE_MODE_CFG__OUTPUT_DST,
			     plan->flying_out, NVDLA_FIELD(plan->dst->type)) |
		   nvdla_put(check, NVDLA_SDP_D_FEATURE_MODE_CFG__WINOGRAD, op->conv_mode,
			     NVDLA_FIELD(op->conv_mode)) |
		   (nvdla_nan_to_zero(check, plan->proc) ?
		    NVDLA_SDP_D_FEATURE_MODE_CFG__NAN_TO_ZERO : 0) |
		   nvdla_put_minus_one(check, NVDLA_SDP_D_FEATURE_MODE_CFG__BATCH_NUMBER,
				       op->batch_num, NVDLA_FIELD(op->batch_num)));
	nvdla_emit_counting(check, NVDLA_SDP_D_PERF_ENABLE,
			    NVDLA_SDP_D_PERF_ENABLE__PERF_DMA_EN |
			    NVDLA_SDP_D_PERF_ENABLE__PERF_LUT_EN |
			    NVDLA_SDP_D_PERF_ENABLE__PERF_SAT_EN |
			    NVDLA_SDP_D_PERF_ENABLE__PERF_NAN_INF_COUNT_EN);
}
