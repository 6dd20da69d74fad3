// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* SDP: rules and extents. The program is in nvdla_sdp_program.c. */

#include "nvdla_sdp.h"

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"

/*
 * Returns the precision that the pipeline works in. Between two integer precisions it is INT8 if
 * either side is INT8; in all other cases it is the input's.
 */
static u32 proc_precision(u32 src, u32 dst)
{
	if (src == NVDLA_PRECISION_INT16 && dst == NVDLA_PRECISION_INT8)
		return NVDLA_PRECISION_INT8;

	return src;
}

static void check_op(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		     const struct nvdla_sdp_plan *plan)
{
	const char *offline = "winograd and batches need the convolution's stream";
	const u32 src = op->src_precision;
	const u32 dst = op->dst_precision;

	need_precision(check, op->src_precision);
	need_precision(check, op->dst_precision);
	need(check, !(src == NVDLA_PRECISION_INT8 && dst == NVDLA_PRECISION_FP16) &&
	     !(src == NVDLA_PRECISION_FP16 && dst == NVDLA_PRECISION_INT8),
	     op->dst_precision, src, "SDP cannot convert between these precisions");
	need(check, !plan->flying_in || src != NVDLA_PRECISION_INT16 || dst != NVDLA_PRECISION_INT8,
	     op->dst_precision, src, "INT16 to INT8 does not work on the fly");
	need(check, !plan->flying_out || src == dst, op->dst_precision, src,
	     "no conversion is possible on the way to PDP");
	need_range(check, op->conv_mode, 0, NVDLA_CONV_MODE_WINOGRAD, "no such convolution mode");
	need_range(check, op->batch_num, 1, check->variant->max_batch,
		   "no number of cubes that a batch of this core can have");
	if (plan->flying_in)
		return;
	need_equal(check, op->conv_mode, NVDLA_CONV_MODE_DIRECT, offline);
	need_equal(check, op->batch_num, 1, offline);
}

static bool unit_uses_memory(const struct nvdla_sdp_op *unit)
{
	return unit->enable && unit->type != NVDLA_SDP_OP_NONE &&
	       unit->mode != NVDLA_SDP_PER_LAYER;
}

static void check_operands(struct nvdla_check *check, const struct nvdla_sdp_op *unit,
			   const struct nvdla_sdp_unit_info *info, u32 proc)
{
	const char *fit = "the operand does not fit its register";
	const char *converter = "with FP16, operands from memory need their converter enabled";

	/* X units have 16-bit operands, signed or the bits of an FP16 number. */
	if (!info->is_y && unit->mode == NVDLA_SDP_PER_LAYER) {
		need_range(check, unit->alu_operand, S16_MIN, U16_MAX, fit);
		need_range(check, unit->mul_operand, S16_MIN, U16_MAX, fit);
	}

	if (!unit_uses_memory(unit))
		return;
	/* Only the INT8 pipeline has a choice: INT8 or INT16 operands. */
	need(check, unit->precision == proc || (proc == NVDLA_PRECISION_INT8 &&
						unit->precision == NVDLA_PRECISION_INT16),
	     unit->precision, proc, "the operands' precision does not fit the pipeline's");

	if (!info->is_y || proc != NVDLA_PRECISION_FP16)
		return;
	if (unit->type & NVDLA_SDP_OP_ADD)
		need_range(check, unit->alu_cvt.enable, 1, U8_MAX, converter);
	if (unit->type & NVDLA_SDP_OP_MUL)
		need_range(check, unit->mul_cvt.enable, 1, U8_MAX, converter);
}

static void check_unit(struct nvdla_check *check, const struct nvdla_sdp_op *unit,
		       const struct nvdla_sdp_unit_info *info, u32 proc)
{
	/* X units end with ReLU, Y ends with the look-up table. */
	const u32 last_act = info->is_y ? NVDLA_ACT_LUT : NVDLA_ACT_RELU;

	need_range(check, unit->enable, 0, 1, "a unit is enabled by 1 and disabled by 0");
	if (!unit->enable)
		return;
	need_range(check, unit->enable, 0, !info->is_y || check->variant->has_sdp_y,
		   "this core's SDP has no unit Y");
	need_range(check, unit->type, 0, NVDLA_SDP_OP_BOTH, "no such kind of operation");
	need_range(check, unit->mode, 0, NVDLA_SDP_PER_POINT, "no such operand mode");
	need_range(check, unit->alu_type, 0, info->is_y ? NVDLA_ALU_EQL : NVDLA_ALU_SUM,
		   "no such ALU function");
	need(check, unit->act == NVDLA_ACT_NONE || unit->act == NVDLA_ACT_PRELU ||
	     unit->act == last_act, unit->act, last_act,
	     "the unit does not have this activation");
	need(check, unit->act != NVDLA_ACT_PRELU || unit->type == NVDLA_SDP_OP_MUL, unit->type,
	     NVDLA_SDP_OP_MUL, "PReLU needs the multiplier, with the ALU bypassed");
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
	const char *alone = "a comparison needs the ALU alone, without converter and activation";
	const char *plain = "a comparison works without winograd, batches and precision conversion";
	const struct nvdla_sdp_op *unit = &op->y_op;

	need_equal(check, unit->type, NVDLA_SDP_OP_ADD, alone);
	need_equal(check, unit->act, NVDLA_ACT_NONE, alone);
	need(check, !unit->alu_cvt.enable || op->src_precision == NVDLA_PRECISION_FP16,
	     unit->alu_cvt.enable, 0, alone);
	need_equal(check, op->conv_mode, NVDLA_CONV_MODE_DIRECT, plain);
	need_equal(check, op->batch_num, 1, plain);
	need_equal(check, op->dst_precision, op->src_precision, plain);
	need(check, surface->dst_data.type != NVDLA_MEM_HW, surface->dst_data.type,
	     NVDLA_MEM_CV, "a comparison has no output for PDP");
}

static const char batch_alignment[] =
	"with batches, addresses and strides are multiples of two atoms";
static const char same_size[] = "input, operands and output have to have the same size";

/* Raises a cube's alignment: in a batch, more than the alignment of an atom may be needed. */
static void need_alignment(struct nvdla_feature_use *use, u32 alignment)
{
	if (alignment <= use->alignment)
		return;
	use->alignment = alignment;
	use->alignment_rule = batch_alignment;
}

/*
 * Records the access to a unit's operands. Operands have atoms of their own size: as many elements
 * as the pipeline takes at once, each with one or two components (for ALU, multiplier) of one or
 * two bytes.
 */
static u32 add_operand(struct nvdla_check *check, const struct nvdla_sdp_op *unit,
		       const struct nvdla_sdp_unit_info *info, struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *cube = info->cube;
	struct nvdla_feature_use use = nvdla_feature_use(check, cube, NVDLA_ACCESS_READ,
							 plan->proc);

	use.atom_bytes = use.atom_elements * nvdla_bytes_per_element(unit->precision) *
			 (unit->type == NVDLA_SDP_OP_BOTH ? 2 : 1);
	if (unit->mode == NVDLA_SDP_PER_POINT) {
		nvdla_need_same_size(check, cube, plan->src, same_size);
	} else {
		need_equal(check, cube->width, 1, same_size);
		need_equal(check, cube->height, 1, same_size);
		need_equal(check, cube->channel, plan->src->channel, same_size);
		/*
		 * One operand per channel is always packed. The descriptor's strides are ignored:
		 * compilers write those of a single component even if there are two.
		 */
		use.line_stride = use.atom_bytes;
		use.surf_stride = use.atom_bytes;
	}

	plan->line_stride[info->unit] = use.line_stride;
	plan->surf_stride[info->unit] = use.surf_stride;
	need_alignment(&use, plan->alignment);
	return nvdla_add_feature_use(check, &use);
}

/*
 * Returns the number of surfaces that SDP reads or writes together; a surface has the channels of
 * one atom. If only one side (input or output) is INT16, the channels that the INT8 pipeline takes
 * at once fill two atoms on that side.
 */
static u32 surface_multiple(u32 precision, u32 proc)
{
	return nvdla_bytes_per_element(precision) / nvdla_bytes_per_element(proc) ?: 1;
}

static u32 add_source(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		      const struct nvdla_sdp_plan *plan)
{
	struct nvdla_feature_use use = nvdla_feature_use(check, plan->src, NVDLA_ACCESS_READ,
							 op->src_precision);

	use.surface_multiple = surface_multiple(op->src_precision, plan->proc);
	return nvdla_add_feature_use(check, &use);
}

static u32 add_destination(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
			   const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_data_cube *dst = plan->dst;
	/* Cubes of a single pixel are packed: in a batch, each may begin at any atom. */
	bool point = dst->width == 1 && dst->height == 1;
	u32 alignment = point ? check->variant->atom_bytes : plan->alignment;
	struct nvdla_feature_use use = nvdla_feature_use(check, dst, NVDLA_ACCESS_WRITE,
							 op->dst_precision);

	use.surface_multiple = surface_multiple(op->dst_precision, plan->proc);
	use.batches = op->batch_num;
	use.batch_stride = op->batch_stride;
	if (op->batch_num > 1) {
		need_multiple(check, dst->line_stride, alignment, batch_alignment);
		need_multiple(check, dst->surf_stride, alignment, batch_alignment);
		need_multiple(check, op->batch_stride, use.atom_bytes,
			      "the stride is not aligned as this kind of data needs");
	}
	need_alignment(&use, alignment);
	return nvdla_add_feature_use(check, &use);
}

static void add_cubes(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		      const struct nvdla_sdp_unit_info *infos, struct nvdla_sdp_plan *plan)
{
	u32 i;

	if (!plan->flying_in)
		plan->src_access = add_source(check, op, plan);
	/* A comparison writes nothing; its only result is a status bit. */
	if (!plan->flying_out && !plan->comparison)
		plan->dst_access = add_destination(check, op, plan);
	for (i = 0; i < NVDLA_SDP_NUM_UNITS; i++) {
		plan->unit_rdma[i] = unit_uses_memory(infos[i].op);
		if (plan->unit_rdma[i])
			plan->unit_access[i] = add_operand(check, infos[i].op, &infos[i], plan);
	}
}

static void check_lut_use(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op, u32 proc)
{
	if (op->y_op.enable && op->y_op.act == NVDLA_ACT_LUT &&
	    need_range(check, op->lut_index, 0, (s64)check->source->num_luts - 1,
		       "the activation needs a look-up table of this task"))
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

	check_op(check, op, &plan);
	if (check->failed)
		return;
	plan.proc = proc_precision(op->src_precision, op->dst_precision);
	/* In a batch, addresses and strides have to be multiples of two atoms (programming guide,
	 * "Limitation", SDP). */
	if (op->batch_num > 1)
		plan.alignment *= 2;

	nvdla_need_same_size(check, plan.dst, plan.src, same_size);
	for (i = 0; i < NVDLA_SDP_NUM_UNITS; i++)
		check_unit(check, infos[i].op, &infos[i], plan.proc);
	if (plan.comparison)
		check_comparison(check, op, surface);
	if (check->failed)
		return;

	check_lut_use(check, op, plan.proc);
	add_cubes(check, op, infos, &plan);
	if (check->failed)
		return;

	check->current_op->flying_in = plan.flying_in;
	check->current_op->flying_out = plan.flying_out;
	check->current_op->comparison = plan.comparison;
	check->current_op->uses_rdma = !plan.flying_in || plan.unit_rdma[NVDLA_SDP_X1] ||
				       plan.unit_rdma[NVDLA_SDP_X2] || plan.unit_rdma[NVDLA_SDP_Y];
	nvdla_program_sdp(check, op, infos, &plan);
}
