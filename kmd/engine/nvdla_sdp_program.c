// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* SDP: register programs. X1, X2 and Y are BS, BN and EW in register names. */

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"
#include "nvdla_sdp.h"

/* Registers of X2 and Y follow those of X1, in the same order and with the same fields. */
#define RDMA_STEP (NVDLA_SDP_RDMA_D_NRDMA_CFG - NVDLA_SDP_RDMA_D_BRDMA_CFG)
#define X_STEP (NVDLA_SDP_D_DP_BN_CFG - NVDLA_SDP_D_DP_BS_CFG)

static_assert(NVDLA_SDP_RDMA_D_EW_BATCH_STRIDE - NVDLA_SDP_RDMA_D_BS_BATCH_STRIDE ==
	      NVDLA_SDP_Y * RDMA_STEP);
static_assert(NVDLA_SDP_D_DP_BN_MUL_SRC_VALUE - NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE == X_STEP);

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
	const u32 step = info->unit * RDMA_STEP;
	const struct nvdla_sdp_op *unit = info->op;

	nvdla_emit_access(check, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_HIGH + step,
			  NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW + step, plan->unit_access[info->unit]);
	if (!plan->unit_rdma[info->unit]) {
		emit(check, SDP_RDMA_D_BRDMA_CFG + step, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE);
		return;
	}

	emit(check, SDP_RDMA_D_BRDMA_CFG + step,
	     OPERAND_CFG(DATA_USE, data_use(unit->type)) |
	     OPERAND_CFG(DATA_SIZE, unit->precision != NVDLA_PRECISION_INT8) |
	     OPERAND_CFG(DATA_MODE, unit->mode == NVDLA_SDP_PER_POINT) |
	     OPERAND_CFG(RAM_TYPE, nvdla_ram_type(info->cube->type)));
	emit(check, SDP_RDMA_D_BS_LINE_STRIDE + step, plan->line_stride[info->unit]);
	emit(check, SDP_RDMA_D_BS_SURFACE_STRIDE + step, plan->surf_stride[info->unit]);
	/* The descriptor has no batch stride of operands: all cubes of a batch share them. */
	emit(check, SDP_RDMA_D_BS_BATCH_STRIDE + step, 0);
}

static void program_rdma(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
			 const struct nvdla_sdp_unit_info *infos,
			 const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *src = plan->src;
	u32 i;

	put_count(check, SDP_RDMA_D_DATA_CUBE_WIDTH, WIDTH, src->width);
	put_count(check, SDP_RDMA_D_DATA_CUBE_HEIGHT, HEIGHT, src->height);
	put_count(check, SDP_RDMA_D_DATA_CUBE_CHANNEL, CHANNEL, src->channel);
	emit_address(check, SDP_RDMA_D_SRC_BASE_ADDR, plan->src_access);
	if (!plan->flying_in) {
		emit(check, SDP_RDMA_D_SRC_LINE_STRIDE, src->line_stride);
		emit(check, SDP_RDMA_D_SRC_SURFACE_STRIDE, src->surf_stride);
		emit(check, SDP_RDMA_D_SRC_DMA_CFG, nvdla_ram_type(src->type));
	}
	for (i = 0; i < NVDLA_SDP_NUM_UNITS; i++)
		program_operand(check, &infos[i], plan);

	put(check, SDP_RDMA_D_FEATURE_MODE_CFG, FLYING_MODE, plan->flying_in);
	put(check, SDP_RDMA_D_FEATURE_MODE_CFG, WINOGRAD, op->conv_mode);
	put(check, SDP_RDMA_D_FEATURE_MODE_CFG, IN_PRECISION, op->src_precision);
	put(check, SDP_RDMA_D_FEATURE_MODE_CFG, PROC_PRECISION, plan->proc);
	put(check, SDP_RDMA_D_FEATURE_MODE_CFG, OUT_PRECISION, op->dst_precision);
	put_count(check, SDP_RDMA_D_FEATURE_MODE_CFG, BATCH_NUMBER, op->batch_num);
	emit_counting(check, SDP_RDMA_D_PERF_ENABLE,
		      NVDLA_SDP_RDMA_D_PERF_ENABLE__PERF_DMA_EN |
		      NVDLA_SDP_RDMA_D_PERF_ENABLE__PERF_NAN_INF_COUNT_EN);
}

/* Encodes the bits that X1, X2 and Y have in common. */
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
	const u32 step = info->unit * X_STEP;
	const struct nvdla_sdp_op *unit = info->op;
	const bool memory = unit->mode != NVDLA_SDP_PER_LAYER;
	u32 cfg = unit_cfg(unit);

	if (!unit->enable || unit->act != NVDLA_ACT_RELU)
		cfg |= NVDLA_SDP_D_DP_BS_CFG__BS_RELU_BYPASS;
	if (unit->enable)
		cfg |= X_BITS(CFG, ALU_ALGO, unit->alu_type);
	emit(check, SDP_D_DP_BS_CFG + step, cfg);
	if (!unit->enable)
		return;

	emit(check, SDP_D_DP_BS_ALU_CFG + step, X_BITS(ALU_CFG, ALU_SRC, memory) |
	     X_BITS(ALU_CFG, ALU_SHIFT_VALUE, unit->shift_value));
	/* The truncation works even where the multiplier is bypassed. */
	emit(check, SDP_D_DP_BS_MUL_CFG + step, X_BITS(MUL_CFG, MUL_SRC, memory) |
	     X_BITS(MUL_CFG, MUL_SHIFT_VALUE, unit->truncate));
	if (memory)
		return;
	emit(check, SDP_D_DP_BS_ALU_SRC_VALUE + step,
	     unit->alu_operand & NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE__BS_ALU_OPERAND);
	emit(check, SDP_D_DP_BS_MUL_SRC_VALUE + step,
	     unit->mul_operand & NVDLA_SDP_D_DP_BS_MUL_SRC_VALUE__BS_MUL_OPERAND);
}

static void program_y_alu(struct nvdla_check *check, const struct nvdla_sdp_op *unit)
{
	const bool memory = unit->mode != NVDLA_SDP_PER_LAYER;
	const bool bypass = !unit->alu_cvt.enable;

	put(check, SDP_D_DP_EW_ALU_CFG, EW_ALU_SRC, memory);
	put(check, SDP_D_DP_EW_ALU_CFG, EW_ALU_CVT_BYPASS, bypass);
	if (!memory) {
		emit(check, SDP_D_DP_EW_ALU_SRC_VALUE, (u32)unit->alu_operand);
		return;
	}
	emit(check, SDP_D_DP_EW_ALU_CVT_OFFSET_VALUE, (u32)unit->alu_cvt.offset);
	put(check, SDP_D_DP_EW_ALU_CVT_SCALE_VALUE, EW_ALU_CVT_SCALE, unit->alu_cvt.scale);
	put(check, SDP_D_DP_EW_ALU_CVT_TRUNCATE_VALUE, EW_ALU_CVT_TRUNCATE, unit->alu_cvt.truncate);
}

static void program_y_mul(struct nvdla_check *check, const struct nvdla_sdp_op *unit)
{
	const bool memory = unit->mode != NVDLA_SDP_PER_LAYER;
	const bool bypass = !unit->mul_cvt.enable;

	put(check, SDP_D_DP_EW_MUL_CFG, EW_MUL_SRC, memory);
	put(check, SDP_D_DP_EW_MUL_CFG, EW_MUL_CVT_BYPASS, bypass);
	if (!memory) {
		emit(check, SDP_D_DP_EW_MUL_SRC_VALUE, (u32)unit->mul_operand);
		return;
	}
	emit(check, SDP_D_DP_EW_MUL_CVT_OFFSET_VALUE, (u32)unit->mul_cvt.offset);
	put(check, SDP_D_DP_EW_MUL_CVT_SCALE_VALUE, EW_MUL_CVT_SCALE, unit->mul_cvt.scale);
	put(check, SDP_D_DP_EW_MUL_CVT_TRUNCATE_VALUE, EW_MUL_CVT_TRUNCATE, unit->mul_cvt.truncate);
}

static void program_y(struct nvdla_check *check, const struct nvdla_sdp_op *unit)
{
	u32 cfg = unit_cfg(unit);

	if (!unit->enable || unit->act != NVDLA_ACT_LUT)
		cfg |= NVDLA_SDP_D_DP_EW_CFG__EW_LUT_BYPASS;
	emit(check, SDP_D_DP_EW_CFG, cfg);
	if (!unit->enable)
		return;

	put(check, SDP_D_DP_EW_CFG, EW_ALU_ALGO, unit->alu_type);
	if (unit->type & NVDLA_SDP_OP_ADD)
		program_y_alu(check, unit);
	if (unit->type & NVDLA_SDP_OP_MUL)
		program_y_mul(check, unit);
	emit(check, SDP_D_DP_EW_TRUNCATE_VALUE, unit->truncate);
}

/* Writes the program of a checked operation, whose units are @infos. */
void nvdla_program_sdp(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		       const struct nvdla_sdp_unit_info *infos, const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *src = plan->src;
	const struct nvdla_data_cube *dst = plan->dst;

	if (check->current_op->uses_rdma)
		program_rdma(check, op, infos, plan);

	put_count(check, SDP_D_DATA_CUBE_WIDTH, WIDTH, src->width);
	put_count(check, SDP_D_DATA_CUBE_HEIGHT, HEIGHT, src->height);
	put_count(check, SDP_D_DATA_CUBE_CHANNEL, CHANNEL, src->channel);
	program_x(check, &infos[NVDLA_SDP_X1]);
	program_x(check, &infos[NVDLA_SDP_X2]);
	program_y(check, infos[NVDLA_SDP_Y].op);

	emit_address(check, SDP_D_DST_BASE_ADDR, plan->dst_access);
	if (!plan->flying_out && !plan->comparison) {
		emit(check, SDP_D_DST_LINE_STRIDE, dst->line_stride);
		emit(check, SDP_D_DST_SURFACE_STRIDE, dst->surf_stride);
		emit(check, SDP_D_DST_DMA_CFG, nvdla_ram_type(dst->type));
		emit(check, SDP_D_DST_BATCH_STRIDE, op->batch_num > 1 ? op->batch_stride : 0);
	}
	put(check, SDP_D_DATA_FORMAT, PROC_PRECISION, plan->proc);
	put(check, SDP_D_DATA_FORMAT, OUT_PRECISION, op->dst_precision);
	emit(check, SDP_D_CVT_OFFSET, (u32)op->out_cvt.offset);
	put(check, SDP_D_CVT_SCALE, CVT_SCALE, op->out_cvt.scale);
	put(check, SDP_D_CVT_SHIFT, CVT_SHIFT, op->out_cvt.truncate);

	put(check, SDP_D_FEATURE_MODE_CFG, FLYING_MODE, plan->flying_in);
	put(check, SDP_D_FEATURE_MODE_CFG, OUTPUT_DST, plan->flying_out);
	put(check, SDP_D_FEATURE_MODE_CFG, WINOGRAD, op->conv_mode);
	emit(check, SDP_D_FEATURE_MODE_CFG, nvdla_nan_to_zero(check, plan->proc) ?
	     NVDLA_SDP_D_FEATURE_MODE_CFG__NAN_TO_ZERO : 0);
	put_count(check, SDP_D_FEATURE_MODE_CFG, BATCH_NUMBER, op->batch_num);
	emit_counting(check, SDP_D_PERF_ENABLE,
		      NVDLA_SDP_D_PERF_ENABLE__PERF_DMA_EN | NVDLA_SDP_D_PERF_ENABLE__PERF_LUT_EN |
		      NVDLA_SDP_D_PERF_ENABLE__PERF_SAT_EN |
		      NVDLA_SDP_D_PERF_ENABLE__PERF_NAN_INF_COUNT_EN);
}
