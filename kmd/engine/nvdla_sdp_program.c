// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * SDP: register programs. X1, X2 and Y are BS, BN and EW in register names.
 */

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

#define OPERAND_CFG(field, value) \
	nvdla_field_bits(NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_##field, value)

static void program_operand(struct nvdla_check *check, const struct nvdla_sdp_unit_info *info,
			    const struct nvdla_sdp_plan *plan)
{
	const struct operand_registers *registers = &operand_registers[info->unit];
	const struct nvdla_sdp_op *unit = info->op;

	nvdla_emit_access(check, registers->high, registers->low, plan->unit_access[info->unit]);
	if (!plan->unit_rdma[info->unit]) {
		nvdla_emit_bits(check, registers->cfg, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE);
		return;
	}

	nvdla_emit_bits(check, registers->cfg,
			OPERAND_CFG(DATA_USE, data_use(unit->type)) |
			OPERAND_CFG(DATA_SIZE, unit->precision != NVDLA_PRECISION_INT8) |
			OPERAND_CFG(DATA_MODE, unit->mode == NVDLA_SDP_PER_POINT) |
			OPERAND_CFG(RAM_TYPE, nvdla_ram_type(info->cube->type)));
	nvdla_emit_bits(check, registers->line_stride, plan->line_stride[info->unit]);
	nvdla_emit_bits(check, registers->surf_stride, plan->surf_stride[info->unit]);
	/* The descriptor has none: all cubes of a batch share their operands. */
	nvdla_emit_bits(check, registers->batch_stride, 0);
}

static void program_rdma(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
			 const struct nvdla_sdp_unit_info *infos,
			 const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *src = plan->src;
	u32 i;

	nvdla_put_count(check, SDP_RDMA_D_DATA_CUBE_WIDTH, WIDTH, src->width);
	nvdla_put_count(check, SDP_RDMA_D_DATA_CUBE_HEIGHT, HEIGHT, src->height);
	nvdla_put_count(check, SDP_RDMA_D_DATA_CUBE_CHANNEL, CHANNEL, src->channel);
	nvdla_emit_address(check, SDP_RDMA_D_SRC_BASE_ADDR, plan->src_access);
	if (!plan->flying_in) {
		nvdla_emit(check, SDP_RDMA_D_SRC_LINE_STRIDE, src->line_stride);
		nvdla_emit(check, SDP_RDMA_D_SRC_SURFACE_STRIDE, src->surf_stride);
		nvdla_emit(check, SDP_RDMA_D_SRC_DMA_CFG, nvdla_ram_type(src->type));
	}
	for (i = 0; i < NVDLA_SDP_NUM_UNITS; i++)
		program_operand(check, &infos[i], plan);

	nvdla_put(check, SDP_RDMA_D_FEATURE_MODE_CFG, FLYING_MODE, plan->flying_in);
	nvdla_put(check, SDP_RDMA_D_FEATURE_MODE_CFG, WINOGRAD, op->conv_mode);
	nvdla_put(check, SDP_RDMA_D_FEATURE_MODE_CFG, IN_PRECISION, op->src_precision);
	nvdla_put(check, SDP_RDMA_D_FEATURE_MODE_CFG, PROC_PRECISION, plan->proc);
	nvdla_put(check, SDP_RDMA_D_FEATURE_MODE_CFG, OUT_PRECISION, op->dst_precision);
	nvdla_put_count(check, SDP_RDMA_D_FEATURE_MODE_CFG, BATCH_NUMBER, op->batch_num);
	nvdla_emit_counting(check, SDP_RDMA_D_PERF_ENABLE,
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

#define X_BITS(register, field, member) \
	nvdla_encode(check, NVDLA_SDP_D_DP_BS_##register##__BS_##field, NVDLA_AS_IT_IS, \
		     NVDLA_FIELD(member))

static void program_x(struct nvdla_check *check, const struct nvdla_sdp_unit_info *info)
{
	const struct x_registers *registers = &x_registers[info->unit];
	const struct nvdla_sdp_op *unit = info->op;
	const bool memory = unit->mode != NVDLA_SDP_PER_LAYER;
	u32 cfg = unit_cfg(unit);

	if (!unit->enable || unit->act != NVDLA_ACT_RELU)
		cfg |= NVDLA_SDP_D_DP_BS_CFG__BS_RELU_BYPASS;
	if (unit->enable)
		cfg |= X_BITS(CFG, ALU_ALGO, unit->alu_type);
	nvdla_emit_bits(check, registers->cfg, cfg);
	if (!unit->enable)
		return;

	nvdla_emit_bits(check, registers->alu_cfg, X_BITS(ALU_CFG, ALU_SRC, memory) |
			X_BITS(ALU_CFG, ALU_SHIFT_VALUE, unit->shift_value));
	/* The truncation works even where the multiplier is bypassed. */
	nvdla_emit_bits(check, registers->mul_cfg, X_BITS(MUL_CFG, MUL_SRC, memory) |
			X_BITS(MUL_CFG, MUL_SHIFT_VALUE, unit->truncate));
	if (memory)
		return;
	nvdla_emit_bits(check, registers->alu_value,
			unit->alu_operand & NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE__BS_ALU_OPERAND);
	nvdla_emit_bits(check, registers->mul_value,
			unit->mul_operand & NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE__BS_MUL_OPERAND);
}

static void program_y_alu(struct nvdla_check *check, const struct nvdla_sdp_op *unit)
{
	const bool memory = unit->mode != NVDLA_SDP_PER_LAYER;
	const bool bypass = !unit->alu_cvt.enable;

	nvdla_put(check, SDP_D_DP_EW_ALU_CFG, EW_ALU_SRC, memory);
	nvdla_put(check, SDP_D_DP_EW_ALU_CFG, EW_ALU_CVT_BYPASS, bypass);
	if (!memory) {
		nvdla_emit(check, SDP_D_DP_EW_ALU_SRC_VALUE, (u32)unit->alu_operand);
		return;
	}
	nvdla_emit(check, SDP_D_DP_EW_ALU_CVT_OFFSET_VALUE, (u32)unit->alu_cvt.offset);
	nvdla_put(check, SDP_D_DP_EW_ALU_CVT_SCALE_VALUE, EW_ALU_CVT_SCALE, unit->alu_cvt.scale);
	nvdla_put(check, SDP_D_DP_EW_ALU_CVT_TRUNCATE_VALUE, EW_ALU_CVT_TRUNCATE,
		  unit->alu_cvt.truncate);
}

static void program_y_mul(struct nvdla_check *check, const struct nvdla_sdp_op *unit)
{
	const bool memory = unit->mode != NVDLA_SDP_PER_LAYER;
	const bool bypass = !unit->mul_cvt.enable;

	nvdla_put(check, SDP_D_DP_EW_MUL_CFG, EW_MUL_SRC, memory);
	nvdla_put(check, SDP_D_DP_EW_MUL_CFG, EW_MUL_CVT_BYPASS, bypass);
	if (!memory) {
		nvdla_emit(check, SDP_D_DP_EW_MUL_SRC_VALUE, (u32)unit->mul_operand);
		return;
	}
	nvdla_emit(check, SDP_D_DP_EW_MUL_CVT_OFFSET_VALUE, (u32)unit->mul_cvt.offset);
	nvdla_put(check, SDP_D_DP_EW_MUL_CVT_SCALE_VALUE, EW_MUL_CVT_SCALE, unit->mul_cvt.scale);
	nvdla_put(check, SDP_D_DP_EW_MUL_CVT_TRUNCATE_VALUE, EW_MUL_CVT_TRUNCATE,
		  unit->mul_cvt.truncate);
}

static void program_y(struct nvdla_check *check, const struct nvdla_sdp_op *unit)
{
	u32 cfg = unit_cfg(unit);

	if (!unit->enable || unit->act != NVDLA_ACT_LUT)
		cfg |= NVDLA_SDP_D_DP_EW_CFG__EW_LUT_BYPASS;
	nvdla_emit(check, SDP_D_DP_EW_CFG, cfg);
	if (!unit->enable)
		return;

	nvdla_put(check, SDP_D_DP_EW_CFG, EW_ALU_ALGO, unit->alu_type);
	if (unit->type & NVDLA_SDP_OP_ADD)
		program_y_alu(check, unit);
	if (unit->type & NVDLA_SDP_OP_MUL)
		program_y_mul(check, unit);
	nvdla_emit(check, SDP_D_DP_EW_TRUNCATE_VALUE, unit->truncate);
}

/**
 * nvdla_program_sdp() - write the program of a checked operation
 * @check: examination
 * @op: operation
 * @infos: its units
 * @plan: result of the check
 */
void nvdla_program_sdp(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		       const struct nvdla_sdp_unit_info *infos, const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *src = plan->src;
	const struct nvdla_data_cube *dst = plan->dst;

	if (check->current_op->uses_rdma)
		program_rdma(check, op, infos, plan);

	nvdla_put_count(check, SDP_D_DATA_CUBE_WIDTH, WIDTH, src->width);
	nvdla_put_count(check, SDP_D_DATA_CUBE_HEIGHT, HEIGHT, src->height);
	nvdla_put_count(check, SDP_D_DATA_CUBE_CHANNEL, CHANNEL, src->channel);
	program_x(check, &infos[NVDLA_SDP_X1]);
	program_x(check, &infos[NVDLA_SDP_X2]);
	program_y(check, infos[NVDLA_SDP_Y].op);

	nvdla_emit_address(check, SDP_D_DST_BASE_ADDR, plan->dst_access);
	if (!plan->flying_out && !plan->comparison) {
		nvdla_emit(check, SDP_D_DST_LINE_STRIDE, dst->line_stride);
		nvdla_emit(check, SDP_D_DST_SURFACE_STRIDE, dst->surf_stride);
		nvdla_emit(check, SDP_D_DST_DMA_CFG, nvdla_ram_type(dst->type));
		nvdla_emit(check, SDP_D_DST_BATCH_STRIDE,
			   op->batch_num > 1 ? op->batch_stride : 0);
	}
	nvdla_put(check, SDP_D_DATA_FORMAT, PROC_PRECISION, plan->proc);
	nvdla_put(check, SDP_D_DATA_FORMAT, OUT_PRECISION, op->dst_precision);
	nvdla_emit(check, SDP_D_CVT_OFFSET, (u32)op->out_cvt.offset);
	nvdla_put(check, SDP_D_CVT_SCALE, CVT_SCALE, op->out_cvt.scale);
	nvdla_put(check, SDP_D_CVT_SHIFT, CVT_SHIFT, op->out_cvt.truncate);

	nvdla_put(check, SDP_D_FEATURE_MODE_CFG, FLYING_MODE, plan->flying_in);
	nvdla_put(check, SDP_D_FEATURE_MODE_CFG, OUTPUT_DST, plan->flying_out);
	nvdla_put(check, SDP_D_FEATURE_MODE_CFG, WINOGRAD, op->conv_mode);
	nvdla_emit(check, SDP_D_FEATURE_MODE_CFG, nvdla_nan_to_zero(check, plan->proc) ?
		   NVDLA_SDP_D_FEATURE_MODE_CFG__NAN_TO_ZERO : 0);
	nvdla_put_count(check, SDP_D_FEATURE_MODE_CFG, BATCH_NUMBER, op->batch_num);
	nvdla_emit_counting(check, SDP_D_PERF_ENABLE,
			    NVDLA_SDP_D_PERF_ENABLE__PERF_DMA_EN |
			    NVDLA_SDP_D_PERF_ENABLE__PERF_LUT_EN |
			    NVDLA_SDP_D_PERF_ENABLE__PERF_SAT_EN |
			    NVDLA_SDP_D_PERF_ENABLE__PERF_NAN_INF_COUNT_EN);
}
