// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rules of SDP.
 */
#include "../nvdla_platform.h"
#include "nvdla_test_rules.h"

static void make_sdp(struct nvdla_test_task *t)
{
	nvdla_test_add_sdp(t);
}

/* The least operands that fit X1's registers of 16 bits; descriptors have 32 bits for them. */
static void make_negative_operands(struct nvdla_test_task *t)
{
	struct nvdla_sdp_op *unit = &t->operations[nvdla_test_add_sdp(t)].sdp.x1_op;

	unit->mode = NVDLA_SDP_PER_LAYER;
	unit->alu_operand = S16_MIN;
	unit->mul_operand = S16_MIN;
}

static void make_conv(struct nvdla_test_task *t)
{
	nvdla_test_add_conv(t);
}

static void make_winograd(struct nvdla_test_task *t)
{
	nvdla_test_add_winograd(t);
}

static void make_sdp_pdp(struct nvdla_test_task *t)
{
	nvdla_test_add_sdp_pdp(t);
}

static void make_compare(struct nvdla_test_task *t)
{
	nvdla_test_add_comparison(t);
}

static void make_lut(struct nvdla_test_task *t)
{
	nvdla_test_use_lut(t, nvdla_test_add_sdp(t));
}

static void make_batch_with_y(struct nvdla_test_task *t)
{
	nvdla_test_add_batch(t);
	t->operations[1].sdp.y_op.enable = 1;
}

/* From INT16 to INT8, SDP reads surfaces in pairs: two, although 16 channels fit into one. */
static void make_narrowing(struct nvdla_test_task *t)
{
	nvdla_test_add_sdp(t);
	t->operations[0].sdp.src_precision = NVDLA_PRECISION_INT16;
	t->surfaces[0].sdp.src_data = nvdla_test_feature(0, 0, 8, 8, 16, 2);
	t->surfaces[0].sdp.dst_data = nvdla_test_feature(2, 0, 8, 8, 16, 1);
	t->surfaces[0].sdp.x1_data.channel = 16;
	t->extents[0].size = 2 * 8 * 8 * 32;
}

/* FP16, with an operand in memory for both Y's multiplier and its ALU. */
static void make_fp16(struct nvdla_test_task *t)
{
	struct nvdla_sdp_op_desc *op = &t->operations[nvdla_test_add_sdp(t)].sdp;

	op->src_precision = NVDLA_PRECISION_FP16;
	op->dst_precision = NVDLA_PRECISION_FP16;
	memset(&op->x1_op, 0, sizeof(op->x1_op));
	op->y_op.enable = 1;
	op->y_op.type = NVDLA_SDP_OP_BOTH;
	op->y_op.mode = NVDLA_SDP_PER_KERNEL;
	op->y_op.precision = NVDLA_PRECISION_FP16;
	op->y_op.alu_cvt.enable = 1;
	op->y_op.mul_cvt.enable = 1;
	t->surfaces[0].sdp.src_data = nvdla_test_feature(0, 0, 8, 8, 32, 2);
	t->surfaces[0].sdp.dst_data = nvdla_test_feature(2, 0, 8, 8, 32, 2);
	t->surfaces[0].sdp.y_data = nvdla_test_feature(1, 0, 1, 1, 32, 2);
}

static void sdp_mode_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, SDP_PRECISION, OPERATION(sdp, src_precision), make_sdp,
		     t->operations[0].sdp.src_precision = 3);
	NVDLA_BREAKS(test, SDP_PRECISION, OPERATION(sdp, dst_precision), make_sdp,
		     t->operations[0].sdp.dst_precision = 3);
	NVDLA_BREAKS(test, SDP_PRECISION_PAIR, OPERATION(sdp, dst_precision), make_sdp,
		     t->operations[0].sdp.dst_precision = NVDLA_PRECISION_FP16);
	NVDLA_BREAKS(test, SDP_PRECISION_PAIR, OPERATION(sdp, dst_precision), make_sdp,
		     t->operations[0].sdp.src_precision = NVDLA_PRECISION_FP16);
	NVDLA_BREAKS(test, SDP_FLYING_PRECISION, OPERATION(sdp, dst_precision), make_conv,
		     t->operations[1].sdp.src_precision = NVDLA_PRECISION_INT16);
	NVDLA_BREAKS(test, SDP_PDP_PRECISION, OPERATION(sdp, dst_precision), make_sdp_pdp,
		     t->operations[0].sdp.dst_precision = NVDLA_PRECISION_INT16);
	NVDLA_BREAKS(test, SDP_MODE, OPERATION(sdp, conv_mode), make_sdp,
		     t->operations[0].sdp.conv_mode = 2);
	NVDLA_BREAKS(test, SDP_BATCH, OPERATION(sdp, batch_num), make_sdp,
		     t->operations[0].sdp.batch_num = 0);
	NVDLA_BREAKS(test, SDP_BATCH, OPERATION(sdp, batch_num), make_conv,
		     t->operations[1].sdp.batch_num = 33);
	NVDLA_BREAKS(test, SDP_OFFLINE, OPERATION(sdp, batch_num), make_sdp,
		     t->operations[0].sdp.batch_num = 2);
	NVDLA_BREAKS(test, SDP_OFFLINE, OPERATION(sdp, conv_mode), make_sdp,
		     t->operations[0].sdp.conv_mode = NVDLA_CONV_MODE_WINOGRAD);
	NVDLA_BREAKS(test, SDP_BATCH_ALIGNMENT, SURFACE(sdp, dst_data.offset), nvdla_test_add_batch,
		     t->surfaces[1].sdp.dst_data.offset = 32);
	NVDLA_BREAKS(test, SDP_BATCH_ALIGNMENT, SURFACE(sdp, dst_data.line_stride),
		     nvdla_test_add_batch,
		     t->surfaces[1].sdp.dst_data.line_stride += 32);
	NVDLA_BREAKS(test, SDP_BATCH_ALIGNMENT, SURFACE(sdp, dst_data.surf_stride),
		     nvdla_test_add_batch,
		     t->surfaces[1].sdp.dst_data.surf_stride += 32);
	NVDLA_BREAKS(test, SDP_BATCH_ALIGNMENT, SURFACE(sdp, x1_data.offset), nvdla_test_add_batch,
		     t->surfaces[1].sdp.x1_data.offset += 32);

	NVDLA_VALID(test, nvdla_test_add_batch);
	t->operations[1].sdp.x2_op = t->operations[1].sdp.x1_op;
	t->surfaces[1].sdp.x2_data = t->surfaces[1].sdp.x1_data;
	t->surfaces[1].sdp.x2_data.offset += 32;
	NVDLA_REFUSED(test, SDP_BATCH_ALIGNMENT, SURFACE(sdp, x2_data.offset));

	NVDLA_VALID(test, nvdla_test_add_batch);
	t->operations[1].sdp.y_op = t->operations[1].sdp.x1_op;
	t->operations[1].sdp.y_op.act = NVDLA_ACT_NONE;
	t->surfaces[1].sdp.y_data = t->surfaces[1].sdp.x1_data;
	t->surfaces[1].sdp.y_data.offset += 32;
	NVDLA_REFUSED(test, SDP_BATCH_ALIGNMENT, SURFACE(sdp, y_data.offset));

	NVDLA_BREAKS(test, CUBE_STRIDE_ALIGNMENT, OPERATION(sdp, batch_stride),
		     nvdla_test_add_batch,
		     t->operations[1].sdp.batch_stride = 4100);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(sdp, dst_data), nvdla_test_add_batch,
		     t->operations[1].sdp.batch_stride = NVDLA_TEST_EXTENT_BYTES);
	NVDLA_BREAKS(test, SDP_SIZE, SURFACE(sdp, dst_data.width), make_sdp,
		     t->surfaces[0].sdp.dst_data = nvdla_test_feature(2, 0, 7, 8, 32, 1));
	NVDLA_BREAKS(test, SDP_SIZE, SURFACE(sdp, x1_data.channel), make_sdp,
		     t->surfaces[0].sdp.x1_data.channel = 16);
	NVDLA_BREAKS(test, SDP_SIZE, SURFACE(sdp, x1_data.width), make_sdp,
		     t->surfaces[0].sdp.x1_data.width = 8);
	NVDLA_BREAKS(test, SDP_SIZE, SURFACE(sdp, y_data.height), make_compare,
		     t->surfaces[0].sdp.y_data.height = 7);
	/* The memory has room for one surface, but SDP reads two. */
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(sdp, src_data), make_narrowing,
		     t->extents[0].size = 8 * 8 * 32);
}

static void sdp_unit_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, SDP_UNIT_FLAG, OPERATION(sdp, x1_op.enable), make_sdp,
		     t->operations[0].sdp.x1_op.enable = 2);
	NVDLA_BREAKS(test, SDP_UNIT_TYPE, OPERATION(sdp, x1_op.type), make_sdp,
		     t->operations[0].sdp.x1_op.type = 4);
	NVDLA_BREAKS(test, SDP_UNIT_MODE, OPERATION(sdp, x1_op.mode), make_sdp,
		     t->operations[0].sdp.x1_op.mode = 3);
	NVDLA_BREAKS(test, SDP_ALU_TYPE, OPERATION(sdp, x1_op.alu_type), make_sdp,
		     t->operations[0].sdp.x1_op.alu_type = NVDLA_ALU_EQL);
	NVDLA_BREAKS(test, SDP_ALU_TYPE, OPERATION(sdp, y_op.alu_type), make_compare,
		     t->operations[0].sdp.y_op.alu_type = 4);
	NVDLA_BREAKS(test, SDP_ACTIVATION, OPERATION(sdp, x1_op.act), make_sdp,
		     t->operations[0].sdp.x1_op.act = NVDLA_ACT_LUT);
	NVDLA_BREAKS(test, SDP_ACTIVATION, OPERATION(sdp, y_op.act), make_lut,
		     t->operations[0].sdp.y_op.act = NVDLA_ACT_RELU);

	NVDLA_VALID(test, make_sdp);
	t->operations[0].sdp.x1_op.mode = NVDLA_SDP_PER_LAYER;
	t->operations[0].sdp.x1_op.alu_operand = 65536;
	NVDLA_REFUSED(test, SDP_OPERAND, OPERATION(sdp, x1_op.alu_operand));

	NVDLA_VALID(test, make_negative_operands);
	t->operations[0].sdp.x1_op.mul_operand = S16_MIN - 1;
	NVDLA_REFUSED(test, SDP_OPERAND, OPERATION(sdp, x1_op.mul_operand));

	NVDLA_BREAKS(test, SDP_OPERAND_PRECISION, OPERATION(sdp, x1_op.precision), make_sdp,
		     t->operations[0].sdp.x1_op.precision = NVDLA_PRECISION_FP16);
	NVDLA_BREAKS(test, SDP_OPERAND_PRECISION, OPERATION(sdp, y_op.precision), make_fp16,
		     t->operations[0].sdp.y_op.precision = NVDLA_PRECISION_INT16);
	NVDLA_BREAKS(test, SDP_PRELU, OPERATION(sdp, x1_op.type), make_sdp,
		     t->operations[0].sdp.x1_op.act = NVDLA_ACT_PRELU);
	NVDLA_BREAKS(test, SDP_LUT, OPERATION(sdp, lut_index), make_lut,
		     t->operations[0].sdp.lut_index = 1);
	NVDLA_BREAKS(test, SDP_LUT, OPERATION(sdp, lut_index), make_lut,
		     t->operations[0].sdp.lut_index = -1);
	NVDLA_BREAKS(test, SDP_FP16_CVT, OPERATION(sdp, y_op.alu_cvt.enable), make_fp16,
		     t->operations[0].sdp.y_op.alu_cvt.enable = 0);
	NVDLA_BREAKS(test, SDP_FP16_CVT, OPERATION(sdp, y_op.mul_cvt.enable), make_fp16,
		     t->operations[0].sdp.y_op.mul_cvt.enable = 0);
	NVDLA_BREAKS(test, SDP_EQL_UNIT, OPERATION(sdp, y_op.type), make_compare,
		     t->operations[0].sdp.y_op.type = NVDLA_SDP_OP_BOTH);

	NVDLA_VALID(test, make_compare);
	t->operations[0].sdp.lut_index = nvdla_test_add_lut(t);
	t->operations[0].sdp.y_op.act = NVDLA_ACT_LUT;
	NVDLA_REFUSED(test, SDP_EQL_UNIT, OPERATION(sdp, y_op.act));

	NVDLA_BREAKS(test, SDP_EQL_UNIT, OPERATION(sdp, y_op.alu_cvt.enable), make_compare,
		     t->operations[0].sdp.y_op.alu_cvt.enable = 1);
	NVDLA_BREAKS(test, SDP_EQL_MODE, OPERATION(sdp, dst_precision), make_compare,
		     t->operations[0].sdp.dst_precision = NVDLA_PRECISION_INT16);

	NVDLA_VALID(test, make_batch_with_y);
	t->operations[1].sdp.y_op.type = NVDLA_SDP_OP_ADD;
	t->operations[1].sdp.y_op.alu_type = NVDLA_ALU_EQL;
	NVDLA_REFUSED(test, SDP_EQL_MODE, OPERATION(sdp, batch_num));

	NVDLA_VALID(test, make_winograd);
	t->operations[1].sdp.y_op.enable = 1;
	t->operations[1].sdp.y_op.type = NVDLA_SDP_OP_ADD;
	t->operations[1].sdp.y_op.alu_type = NVDLA_ALU_EQL;
	NVDLA_REFUSED(test, SDP_EQL_MODE, OPERATION(sdp, conv_mode));

	NVDLA_VALID(test, make_sdp_pdp);
	t->operations[0].sdp.y_op.enable = 1;
	t->operations[0].sdp.y_op.type = NVDLA_SDP_OP_ADD;
	t->operations[0].sdp.y_op.alu_type = NVDLA_ALU_EQL;
	NVDLA_REFUSED(test, SDP_EQL_DST, SURFACE(sdp, dst_data.type));

	NVDLA_BREAKS(test, SDP_NO_Y, OPERATION(sdp, y_op.enable), make_lut,
		     t->variant.has_sdp_y = false);

	NVDLA_BREAKS(test, FIELD_WIDTH, OPERATION(sdp, x1_op.shift_value), make_sdp,
		     t->operations[0].sdp.x1_op.shift_value = 64);
	NVDLA_BREAKS(test, FIELD_WIDTH, OPERATION(sdp, out_cvt.truncate), make_sdp,
		     t->operations[0].sdp.out_cvt.truncate = 64);
}

static struct kunit_case nvdla_sdp_rules_cases[] = {
	KUNIT_CASE(sdp_mode_rules),
	KUNIT_CASE(sdp_unit_rules),
	{}
};

static struct kunit_suite nvdla_sdp_rules_suite = {
	.name = "nvdla_sdp_rules",
	.init = nvdla_rules_init,
	.test_cases = nvdla_sdp_rules_cases,
};

kunit_test_suite(nvdla_sdp_rules_suite);
