// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * SDP: rules and extents. The program is in nvdla_sdp_program.c.
 */

#include "nvdla_sdp.h"

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"

/*
 * Precision that the pipeline works in. INT8 on either side of a conversion
 * between integers makes it INT8; otherwise it follows the input.
 */
static u32 proc_precision(u32 src, u32 dst)
{
	if (src == NVDLA_PRECISION_INT16 && dst == NVDLA_PRECISION_INT8)
		return NVDLA_PRECISION_INT8;

	return src;
}

static void check_precisions(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
			     const struct nvdla_sdp_surface_desc *surface)
{
	const u32 src = op->src_precision;
	const u32 dst = op->dst_precision;
	bool flying_in = surface->src_data.type == NVDLA_MEM_HW;
	bool flying_out = surface->dst_data.type == NVDLA_MEM_HW;

	nvdla_need(check, src <= NVDLA_PRECISION_FP16 && (check->variant->precisions & BIT(src)),
		   DRM_NVDLA_RULE_SDP_PRECISION, src, NVDLA_PRECISION_FP16,
		   NVDLA_FIELD(op->src_precision));
	nvdla_need(check, dst <= NVDLA_PRECISION_FP16 && (check->variant->precisions & BIT(dst)),
		   DRM_NVDLA_RULE_SDP_PRECISION, dst, NVDLA_PRECISION_FP16,
		   NVDLA_FIELD(op->dst_precision));
	nvdla_need(check,
		   !(src == NVDLA_PRECISION_INT8 && dst == NVDLA_PRECISION_FP16) &&
			   !(src == NVDLA_PRECISION_FP16 && dst == NVDLA_PRECISION_INT8),
		   DRM_NVDLA_RULE_SDP_PRECISION_PAIR, dst, src, NVDLA_FIELD(op->dst_precision));
	nvdla_need(check,
		   !flying_in || src != NVDLA_PRECISION_INT16 || dst != NVDLA_PRECISION_INT8,
		   DRM_NVDLA_RULE_SDP_FLYING_PRECISION, dst, src, NVDLA_FIELD(op->dst_precision));
	nvdla_need(check, !flying_out || src == dst, DRM_NVDLA_RULE_SDP_PDP_PRECISION, dst, src,
		   NVDLA_FIELD(op->dst_precision));
}

static void check_size(struct nvdla_check *check, const struct nvdla_data_cube *src,
		       const struct nvdla_data_cube *other)
{
	nvdla_need(check, other->width == src->width, DRM_NVDLA_RULE_SDP_SIZE, other->width,
		   src->width, NVDLA_FIELD(other->width));
	nvdla_need(check, other->height == src->height, DRM_NVDLA_RULE_SDP_SIZE, other->height,
		   src->height, NVDLA_FIELD(other->height));
	nvdla_need(check, other->channel == src->channel, DRM_NVDLA_RULE_SDP_SIZE, other->channel,
		   src->channel, NVDLA_FIELD(other->channel));
}

static void check_modes(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
			const struct nvdla_sdp_surface_desc *surface)
{
	bool flying_in = surface->src_data.type == NVDLA_MEM_HW;

	nvdla_need(check, op->conv_mode <= NVDLA_CONV_MODE_WINOGRAD, DRM_NVDLA_RULE_SDP_MODE,
		   op->conv_mode, NVDLA_CONV_MODE_WINOGRAD, NVDLA_FIELD(op->conv_mode));
	nvdla_need(check, op->batch_num >= 1 && op->batch_num <= check->variant->max_batch,
		   DRM_NVDLA_RULE_SDP_BATCH, op->batch_num, check->variant->max_batch,
		   NVDLA_FIELD(op->batch_num));
	nvdla_need(check, flying_in || op->conv_mode == NVDLA_CONV_MODE_DIRECT,
		   DRM_NVDLA_RULE_SDP_OFFLINE, op->conv_mode, NVDLA_CONV_MODE_DIRECT,
		   NVDLA_FIELD(op->conv_mode));
	nvdla_need(check, flying_in || op->batch_num == 1, DRM_NVDLA_RULE_SDP_OFFLINE,
		   op->batch_num, 1, NVDLA_FIELD(op->batch_num));
}

static bool unit_uses_memory(const struct nvdla_sdp_op *unit)
{
	return unit->enable && unit->type != NVDLA_SDP_OP_NONE &&
	       unit->mode != NVDLA_SDP_PER_LAYER;
}

static void check_operands(struct nvdla_check *check, const struct nvdla_sdp_op *unit,
			   const struct nvdla_sdp_unit_info *info, u32 proc)
{
	/* X units have 16-bit operands, signed or the bits of an FP16 number. */
	if (!info->is_y && unit->mode == NVDLA_SDP_PER_LAYER) {
		nvdla_need(check,
			   unit->alu_operand >= S16_MIN && unit->alu_operand <= (s32)U16_MAX,
			   DRM_NVDLA_RULE_SDP_OPERAND, unit->alu_operand, U16_MAX,
			   NVDLA_FIELD(unit->alu_operand));
		nvdla_need(check,
			   unit->mul_operand >= S16_MIN && unit->mul_operand <= (s32)U16_MAX,
			   DRM_NVDLA_RULE_SDP_OPERAND, unit->mul_operand, U16_MAX,
			   NVDLA_FIELD(unit->mul_operand));
	}

	if (!unit_uses_memory(unit))
		return;
	/* Only the INT8 pipeline has a choice: INT8 or INT16 operands. */
	nvdla_need(check,
		   unit->precision == proc || (proc == NVDLA_PRECISION_INT8 &&
					       unit->precision == NVDLA_PRECISION_INT16),
		   DRM_NVDLA_RULE_SDP_OPERAND_PRECISION, unit->precision, proc,
		   NVDLA_FIELD(unit->precision));

	if (!info->is_y || proc != NVDLA_PRECISION_FP16)
		return;
	if (unit->type & NVDLA_SDP_OP_ADD)
		nvdla_need(check, unit->alu_cvt.enable, DRM_NVDLA_RULE_SDP_FP16_CVT, 0, 1,
			   NVDLA_FIELD(unit->alu_cvt.enable));
	if (unit->type & NVDLA_SDP_OP_MUL)
		nvdla_need(check, unit->mul_cvt.enable, DRM_NVDLA_RULE_SDP_FP16_CVT, 0, 1,
			   NVDLA_FIELD(unit->mul_cvt.enable));
}

static void check_unit(struct nvdla_check *check, const struct nvdla_sdp_op *unit,
		       const struct nvdla_sdp_unit_info *info, u32 proc)
{
	const u32 last_alu = info->is_y ? NVDLA_ALU_EQL : NVDLA_ALU_SUM;
	bool activation;

	nvdla_need(check, unit->enable <= 1, DRM_NVDLA_RULE_SDP_UNIT_FLAG, unit->enable, 1,
		   NVDLA_FIELD(unit->enable));
	if (!unit->enable)
		return;
	nvdla_need(check, !info->is_y || check->variant->has_sdp_y, DRM_NVDLA_RULE_SDP_NO_Y, 1, 0,
		   NVDLA_FIELD(unit->enable));

	/* X units end with ReLU, Y ends with the look-up table. */
	activation = unit->act == NVDLA_ACT_NONE || unit->act == NVDLA_ACT_PRELU ||
		     unit->act == (info->is_y ? NVDLA_ACT_LUT : NVDLA_ACT_RELU);

	nvdla_need(check, unit->type <= NVDLA_SDP_OP_BOTH, DRM_NVDLA_RULE_SDP_UNIT_TYPE,
		   unit->type, NVDLA_SDP_OP_BOTH, NVDLA_FIELD(unit->type));
	nvdla_need(check, unit->mode <= NVDLA_SDP_PER_POINT, DRM_NVDLA_RULE_SDP_UNIT_MODE,
		   unit->mode, NVDLA_SDP_PER_POINT, NVDLA_FIELD(unit->mode));
	nvdla_need(check, unit->alu_type <= last_alu, DRM_NVDLA_RULE_SDP_ALU_TYPE, unit->alu_type,
		   last_alu, NVDLA_FIELD(unit->alu_type));
	nvdla_need(check, activation, DRM_NVDLA_RULE_SDP_ACTIVATION, unit->act,
		   info->is_y ? NVDLA_ACT_LUT : NVDLA_ACT_RELU, NVDLA_FIELD(unit->act));
	nvdla_need(check, unit->act != NVDLA_ACT_PRELU || unit->type == NVDLA_SDP_OP_MUL,
		   DRM_NVDLA_RULE_SDP_PRELU, unit->type, NVDLA_SDP_OP_MUL,
		   NVDLA_FIELD(unit->type));
	check_operands(check, unit, info, proc);
}

/* True if Y compares its two inputs instead of producing an output. */
static bool is_comparison(const struct nvdla_sdp_op_desc *op)
{
	return op->y_op.enable && (op->y_op.type & NVDLA_SDP_OP_ADD) &&
	       op->y_op.alu_type == NVDLA_ALU_EQL;
}

static void check_comparison(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
			     const struct nvdla_sdp_surface_desc *surface)
{
	const struct nvdla_sdp_op *unit = &op->y_op;

	nvdla_need(check, unit->type == NVDLA_SDP_OP_ADD, DRM_NVDLA_RULE_SDP_EQL_UNIT, unit->type,
		   NVDLA_SDP_OP_ADD, NVDLA_FIELD(unit->type));
	nvdla_need(check, unit->act == NVDLA_ACT_NONE, DRM_NVDLA_RULE_SDP_EQL_UNIT, unit->act,
		   NVDLA_ACT_NONE, NVDLA_FIELD(unit->act));
	nvdla_need(check, !unit->alu_cvt.enable || op->src_precision == NVDLA_PRECISION_FP16,
		   DRM_NVDLA_RULE_SDP_EQL_UNIT, unit->alu_cvt.enable, 0,
		   NVDLA_FIELD(unit->alu_cvt.enable));
	nvdla_need(check, op->conv_mode == NVDLA_CONV_MODE_DIRECT, DRM_NVDLA_RULE_SDP_EQL_MODE,
		   op->conv_mode, NVDLA_CONV_MODE_DIRECT, NVDLA_FIELD(op->conv_mode));
	nvdla_need(check, op->batch_num == 1, DRM_NVDLA_RULE_SDP_EQL_MODE, op->batch_num, 1,
		   NVDLA_FIELD(op->batch_num));
	nvdla_need(check, op->src_precision == op->dst_precision, DRM_NVDLA_RULE_SDP_EQL_MODE,
		   op->dst_precision, op->src_precision, NVDLA_FIELD(op->dst_precision));
	nvdla_need(check, surface->dst_data.type != NVDLA_MEM_HW, DRM_NVDLA_RULE_SDP_EQL_DST,
		   surface->dst_data.type, NVDLA_MEM_CV, NVDLA_FIELD(surface->dst_data.type));
}

/* More than an atom is what batches need. */
static void need_alignment(struct nvdla_feature_use *use, u32 alignment)
{
	if (alignment <= use->alignment)
		return;
	use->address_alignment = alignment;
	use->address_rule = DRM_NVDLA_RULE_SDP_BATCH_ALIGNMENT;
}

/*
 * Operands are packed: an atom holds as many elements as the pipeline takes at
 * once, each with one or two components (ALU, MUL) of one or two bytes.
 */
static u32 bind_operand(struct nvdla_check *check, const struct nvdla_sdp_op *unit,
			const struct nvdla_sdp_unit_info *info, struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *cube = info->cube;
	const struct nvdla_data_cube *src = plan->src;
	u32 elements = check->variant->atom_bytes / nvdla_bytes_per_element(plan->proc);
	u32 atom_bytes = elements * nvdla_bytes_per_element(unit->precision) *
			 (unit->type == NVDLA_SDP_OP_BOTH ? 2 : 1);
	struct nvdla_data_cube walked = *cube;
	struct nvdla_feature_use use;

	nvdla_feature_use_init(check, &use, cube, NVDLA_ACCESS_READ, plan->proc);
	use.atom_bytes = atom_bytes;
	use.atom_elements = elements;

	if (unit->mode == NVDLA_SDP_PER_POINT) {
		check_size(check, src, cube);
	} else {
		nvdla_need(check, cube->width == 1, DRM_NVDLA_RULE_SDP_SIZE, cube->width, 1,
			   NVDLA_FIELD(cube->width));
		nvdla_need(check, cube->height == 1, DRM_NVDLA_RULE_SDP_SIZE, cube->height, 1,
			   NVDLA_FIELD(cube->height));
		nvdla_need(check, cube->channel == src->channel, DRM_NVDLA_RULE_SDP_SIZE,
			   cube->channel, src->channel, NVDLA_FIELD(cube->channel));
		/*
		 * One operand per channel is always packed. Compilers write the
		 * stride of a single component even where there are two.
		 */
		walked.line_stride = atom_bytes;
		walked.surf_stride = atom_bytes;
	}

	plan->line_stride[info->unit] = walked.line_stride;
	plan->surf_stride[info->unit] = walked.surf_stride;
	need_alignment(&use, plan->alignment);
	return nvdla_add_feature_access(check, &walked, &use);
}

/* With INT16 on one side only, 32 channels are two atoms there. */
static u32 surface_multiple(u32 precision, u32 proc)
{
	return nvdla_bytes_per_element(precision) / nvdla_bytes_per_element(proc) ?: 1;
}

static void bind_source(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
			struct nvdla_sdp_plan *plan)
{
	struct nvdla_feature_use use;

	nvdla_feature_use_init(check, &use, plan->src, NVDLA_ACCESS_READ, op->src_precision);
	use.surface_multiple = surface_multiple(op->src_precision, plan->proc);
	plan->src_access = nvdla_add_feature_access(check, plan->src, &use);
}

static void bind_destination(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
			     struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *dst = plan->dst;
	/* Single elements are packed, which leaves no room; batches of them are at any atom. */
	bool point = dst->width == 1 && dst->height == 1;
	u32 alignment = point ? check->variant->atom_bytes : plan->alignment;
	struct nvdla_feature_use use;

	nvdla_feature_use_init(check, &use, plan->dst, NVDLA_ACCESS_WRITE, op->dst_precision);
	use.surface_multiple = surface_multiple(op->dst_precision, plan->proc);
	use.batches = op->batch_num;
	use.batch_stride = op->batch_stride;

	if (op->batch_num > 1) {
		nvdla_need(check, IS_ALIGNED(dst->line_stride, alignment),
			   DRM_NVDLA_RULE_SDP_BATCH_ALIGNMENT, dst->line_stride, alignment,
			   NVDLA_FIELD(dst->line_stride));
		nvdla_need(check, IS_ALIGNED(dst->surf_stride, alignment),
			   DRM_NVDLA_RULE_SDP_BATCH_ALIGNMENT, dst->surf_stride, alignment,
			   NVDLA_FIELD(dst->surf_stride));
		nvdla_need(check, IS_ALIGNED(op->batch_stride, use.atom_bytes),
			   DRM_NVDLA_RULE_CUBE_STRIDE_ALIGNMENT, op->batch_stride, use.atom_bytes,
			   NVDLA_FIELD(op->batch_stride));
	}
	need_alignment(&use, alignment);
	plan->dst_access = nvdla_add_feature_access(check, dst, &use);
}

static void bind_cubes(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		       const struct nvdla_sdp_unit_info *infos, struct nvdla_sdp_plan *plan)
{
	u32 i;

	if (!plan->flying_in)
		bind_source(check, op, plan);

	/* A comparison writes nothing; its only result is a status bit. */
	if (!plan->flying_out && !plan->comparison)
		bind_destination(check, op, plan);

	for (i = 0; i < NVDLA_SDP_NUM_UNITS; i++) {
		plan->unit_rdma[i] = unit_uses_memory(infos[i].op);
		if (plan->unit_rdma[i])
			plan->unit_access[i] = bind_operand(check, infos[i].op, &infos[i], plan);
	}
}

static void check_lut_use(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op, u32 proc)
{
	if (!op->y_op.enable || op->y_op.act != NVDLA_ACT_LUT)
		return;

	if (nvdla_need(check, op->lut_index >= 0 && (u32)op->lut_index < check->source->num_luts,
		       DRM_NVDLA_RULE_SDP_LUT, op->lut_index, (s64)check->source->num_luts - 1,
		       NVDLA_FIELD(op->lut_index)))
		nvdla_check_lut(check, op->lut_index, proc);
}

void nvdla_check_sdp(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		     const struct nvdla_sdp_surface_desc *surface)
{
	const struct nvdla_sdp_unit_info infos[NVDLA_SDP_NUM_UNITS] = {
		{ NVDLA_SDP_X1, false, &op->x1_op, &surface->x1_data },
		{ NVDLA_SDP_X2, false, &op->x2_op, &surface->x2_data },
		{ NVDLA_SDP_Y, true, &op->y_op, &surface->y_data },
	};
	struct nvdla_sdp_plan plan = {
		.src = &surface->src_data,
		.dst = &surface->dst_data,
		.flying_in = surface->src_data.type == NVDLA_MEM_HW,
		.flying_out = surface->dst_data.type == NVDLA_MEM_HW,
		.comparison = is_comparison(op),
		.alignment = check->variant->atom_bytes,
		.src_access = NVDLA_NO_ACCESS,
		.dst_access = NVDLA_NO_ACCESS,
		.unit_access = { NVDLA_NO_ACCESS, NVDLA_NO_ACCESS, NVDLA_NO_ACCESS },
	};
	u32 i;

	check_precisions(check, op, surface);
	check_modes(check, op, surface);
	if (check->failed)
		return;
	plan.proc = proc_precision(op->src_precision, op->dst_precision);
	/* Batches need addresses and strides of two atoms (guide, Limitation, SDP). */
	if (op->batch_num > 1)
		plan.alignment *= 2;

	check_size(check, plan.src, plan.dst);
	for (i = 0; i < NVDLA_SDP_NUM_UNITS; i++)
		check_unit(check, infos[i].op, &infos[i], plan.proc);
	if (plan.comparison)
		check_comparison(check, op, surface);
	if (check->failed)
		return;

	check_lut_use(check, op, plan.proc);
	bind_cubes(check, op, infos, &plan);
	if (check->failed)
		return;

	check->current_op->flying_in = plan.flying_in;
	check->current_op->flying_out = plan.flying_out;
	check->current_op->comparison = plan.comparison;
	check->current_op->uses_rdma = !plan.flying_in || plan.unit_rdma[NVDLA_SDP_X1] ||
				       plan.unit_rdma[NVDLA_SDP_X2] || plan.unit_rdma[NVDLA_SDP_Y];
	nvdla_program_sdp(check, op, infos, &plan);
}
