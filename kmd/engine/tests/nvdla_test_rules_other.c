// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rules of BDMA, PDP, CDP and RUBIK.
 */
#include "../nvdla_platform.h"
#include "nvdla_test_rules.h"

static void make_bdma(struct nvdla_test_task *t)
{
	nvdla_test_add_bdma(t, 2);
}

static void make_pdp(struct nvdla_test_task *t)
{
	nvdla_test_add_pdp(t);
}

static void make_fp16_pdp(struct nvdla_test_task *t)
{
	nvdla_test_add_pdp(t);
	t->operations[0].pdp.precision = NVDLA_PRECISION_FP16;
}

static void make_split(struct nvdla_test_task *t)
{
	nvdla_test_add_split_pdp(t);
}

static void make_sdp_pdp(struct nvdla_test_task *t)
{
	nvdla_test_add_sdp_pdp(t);
}

/* Changes the widths of input and output in nvdla_test_add_split_pdp(). */
static void set_widths(struct nvdla_test_task *t, u32 in, u32 out)
{
	t->surfaces[0].pdp.src_data = nvdla_test_feature(2, 0, in, 8, 32, 1);
	t->surfaces[0].pdp.dst_data = nvdla_test_feature(3, 0, out, 8, 32, 1);
}

/* Sets the output and input columns of the first, each middle and the last part. */
static void set_parts(struct nvdla_test_task *t, u32 count, u32 out_first, u32 out_mid,
		      u32 out_last, u32 in_first, u32 in_mid, u32 in_last)
{
	struct nvdla_pdp_op_desc *op = &t->operations[0].pdp;

	op->split_num = count;
	op->partial_width_first = out_first;
	op->partial_width_mid = out_mid;
	op->partial_width_last = out_last;
	op->partial_in_width_first = in_first;
	op->partial_in_width_mid = in_mid;
	op->partial_in_width_last = in_last;
}

static void make_cdp(struct nvdla_test_task *t)
{
	nvdla_test_add_cdp(t);
}

static void make_conv(struct nvdla_test_task *t)
{
	nvdla_test_add_conv(t);
}

static void make_contract(struct nvdla_test_task *t)
{
	nvdla_test_add_rubik(t, NVDLA_RUBIK_CONTRACT);
}

static void make_split_planes(struct nvdla_test_task *t)
{
	nvdla_test_add_rubik(t, NVDLA_RUBIK_SPLIT);
}

static void make_merge(struct nvdla_test_task *t)
{
	nvdla_test_add_rubik(t, NVDLA_RUBIK_MERGE);
}

static void bdma_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, BDMA_TRANSFERS, SURFACE(bdma, num_transfers), make_bdma,
		     t->surfaces[0].bdma.num_transfers = 21);
	NVDLA_BREAKS(test, BDMA_LINE_SIZE, SURFACE(bdma, transfers[1].line_size), make_bdma,
		     t->surfaces[0].bdma.transfers[1].line_size = 48);
	NVDLA_BREAKS(test, BDMA_LINE_SIZE, SURFACE(bdma, transfers[0].line_size), make_bdma,
		     t->surfaces[0].bdma.transfers[0].line_size = 0);
	NVDLA_BREAKS(test, BDMA_LINE_SIZE, SURFACE(bdma, transfers[0].line_size), make_bdma,
		     t->surfaces[0].bdma.transfers[0].line_size = 262176);
	NVDLA_BREAKS(test, BDMA_REPEAT, SURFACE(bdma, transfers[0].line_repeat), make_bdma,
		     t->surfaces[0].bdma.transfers[0].line_repeat = 0);
	NVDLA_BREAKS(test, BDMA_REPEAT, SURFACE(bdma, transfers[0].surf_repeat), make_bdma,
		     t->surfaces[0].bdma.transfers[0].surf_repeat = 8193);
	NVDLA_BREAKS(test, BDMA_STRIDE_ALIGNMENT, SURFACE(bdma, transfers[0].src_line), make_bdma,
		     t->surfaces[0].bdma.transfers[0].src_line = 100);
	NVDLA_BREAKS(test, BDMA_STRIDE_ALIGNMENT, SURFACE(bdma, transfers[0].dst_surf), make_bdma,
		     t->surfaces[0].bdma.transfers[0].dst_surf = 129);
	NVDLA_BREAKS(test, BDMA_STRIDE, SURFACE(bdma, transfers[0].src_line), make_bdma,
		     t->surfaces[0].bdma.transfers[0].src_line = 32);
	NVDLA_BREAKS(test, BDMA_STRIDE, SURFACE(bdma, transfers[1].dst_line), make_bdma,
		     t->surfaces[0].bdma.transfers[1].dst_line = 32);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(bdma, transfers[1].src_address), make_bdma,
		     t->surfaces[0].bdma.transfers[1].src_surf = NVDLA_TEST_EXTENT_BYTES / 2);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(bdma, transfers[0].dst_address), make_bdma,
		     t->extents[2].size = 383);
	NVDLA_BREAKS(test, CUBE_MEM_TYPE, SURFACE(bdma, dst_type), make_bdma,
		     t->surfaces[0].bdma.dst_type = NVDLA_MEM_HW);
}

static void pdp_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, PDP_PRECISION, OPERATION(pdp, precision), make_pdp,
		     t->operations[0].pdp.precision = 3);
	NVDLA_BREAKS(test, PDP_POOL_MODE, OPERATION(pdp, pool_mode), make_pdp,
		     t->operations[0].pdp.pool_mode = 3);
	NVDLA_BREAKS(test, PDP_KERNEL, OPERATION(pdp, pool_width), make_pdp,
		     t->operations[0].pdp.pool_width = 8);
	NVDLA_BREAKS(test, PDP_KERNEL, OPERATION(pdp, pool_height), make_pdp,
		     t->operations[0].pdp.pool_height = 8);
	NVDLA_BREAKS(test, PDP_STRIDE, OPERATION(pdp, stride_x), make_pdp,
		     t->operations[0].pdp.stride_x = 0);
	NVDLA_BREAKS(test, PDP_STRIDE, OPERATION(pdp, stride_y), make_pdp,
		     t->operations[0].pdp.stride_y = 17);
	NVDLA_BREAKS(test, PDP_PADDING, OPERATION(pdp, pad_left), make_pdp,
		     t->operations[0].pdp.pad_left = 2);
	NVDLA_BREAKS(test, PDP_PADDING, OPERATION(pdp, pad_right), make_pdp,
		     t->operations[0].pdp.pad_right = 2);
	NVDLA_BREAKS(test, PDP_PADDING, OPERATION(pdp, pad_top), make_pdp,
		     t->operations[0].pdp.pad_top = 2);
	NVDLA_BREAKS(test, PDP_PADDING, OPERATION(pdp, pad_bottom), make_pdp,
		     t->operations[0].pdp.pad_bottom = 2);
	NVDLA_BREAKS(test, PDP_PADDING_VALUE, OPERATION(pdp, padding_value[6]), make_fp16_pdp,
		     t->operations[0].pdp.padding_value[6] = 1);
	NVDLA_BREAKS(test, PDP_WINDOW_WIDTH, SURFACE(pdp, dst_data.width), make_pdp,
		     t->operations[0].pdp.pad_right = 1);
	NVDLA_BREAKS(test, PDP_WINDOW_HEIGHT, SURFACE(pdp, dst_data.height), make_pdp,
		     t->operations[0].pdp.pad_top = 1);
	NVDLA_BREAKS(test, PDP_CHANNELS, SURFACE(pdp, dst_data.channel), make_pdp,
		     t->surfaces[0].pdp.dst_data.channel = 16);
	NVDLA_BREAKS(test, PDP_DST_TYPE, SURFACE(pdp, dst_data.type), make_pdp,
		     t->surfaces[0].pdp.dst_data.type = NVDLA_MEM_HW);
	NVDLA_BREAKS(test, PDP_SPLIT, OPERATION(pdp, split_num), make_pdp,
		     t->operations[0].pdp.split_num = 0);
	NVDLA_BREAKS(test, PDP_SPLIT, OPERATION(pdp, split_num), make_pdp,
		     t->operations[0].pdp.split_num = 65);
	NVDLA_BREAKS(test, PDP_SPLIT_FLYING, OPERATION(pdp, split_num), make_sdp_pdp,
		     t->operations[1].pdp.split_num = 2);

	NVDLA_VALID(test, make_split);
	t->operations[0].pdp.partial_width_last = 31;
	t->operations[0].pdp.partial_in_width_last = 30;
	NVDLA_REFUSED(test, PDP_SPLIT_OUT, OPERATION(pdp, partial_width_last));

	NVDLA_BREAKS(test, PDP_SPLIT_IN, OPERATION(pdp, partial_in_width_first), make_split,
		     t->operations[0].pdp.partial_in_width_first = 32);
	NVDLA_BREAKS(test, PDP_SPLIT_IN, OPERATION(pdp, partial_in_width_mid), make_split,
		     t->operations[0].pdp.partial_in_width_mid = 33);

	/* Windows of 3 columns with stride 1 share 2 columns, but one of the parts has only 1. */
	NVDLA_VALID(test, make_split);
	set_widths(t, 32, 33);
	t->operations[0].pdp.pad_left = 2;
	set_parts(t, 2, 1, 0, 32, 1, 0, 31);
	NVDLA_REFUSED(test, PDP_SPLIT_OVERLAP, OPERATION(pdp, partial_in_width_first));

	NVDLA_VALID(test, make_split);
	set_widths(t, 65, 65);
	set_parts(t, 3, 32, 1, 32, 33, 1, 31);
	NVDLA_REFUSED(test, PDP_SPLIT_OVERLAP, OPERATION(pdp, partial_in_width_mid));

	NVDLA_VALID(test, make_split);
	set_widths(t, 65, 66);
	t->operations[0].pdp.pad_right = 2;
	set_parts(t, 3, 32, 31, 3, 33, 31, 1);
	NVDLA_REFUSED(test, PDP_SPLIT_OVERLAP, OPERATION(pdp, partial_in_width_last));

	/* Windows of 1 column with stride 3 skip 2 columns, but the first part has only 1. */
	NVDLA_VALID(test, make_split);
	set_widths(t, 193, 65);
	t->operations[0].pdp.pool_width = 0;
	t->operations[0].pdp.pad_left = 0;
	t->operations[0].pdp.pad_right = 0;
	t->operations[0].pdp.stride_x = 3;
	set_parts(t, 3, 1, 32, 32, 1, 96, 96);
	NVDLA_REFUSED(test, PDP_SPLIT_OVERLAP, OPERATION(pdp, partial_in_width_first));

	NVDLA_VALID(test, make_pdp);
	t->surfaces[0].pdp.src_data = nvdla_test_feature(2, 0, 258, 8, 32, 1);
	t->surfaces[0].pdp.dst_data = nvdla_test_feature(3, 0, 129, 4, 32, 1);
	NVDLA_REFUSED(test, PDP_LINE_BUFFER, SURFACE(pdp, dst_data.width));

	NVDLA_VALID(test, make_split);
	t->operations[0].pdp.partial_width_first = 33;
	t->operations[0].pdp.partial_in_width_first = 34;
	NVDLA_REFUSED(test, PDP_LINE_BUFFER, OPERATION(pdp, partial_width_first));

	NVDLA_BREAKS(test, FIELD_WIDTH, OPERATION(pdp, padding_value[2]), make_pdp,
		     t->operations[0].pdp.padding_value[2] = 1 << 18);
}

static void cdp_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, CDP_PRECISION, OPERATION(cdp, in_precision), make_cdp,
		     t->operations[0].cdp.in_precision = 3);
	NVDLA_BREAKS(test, CDP_PRECISION_PAIR, OPERATION(cdp, out_precision), make_cdp,
		     t->operations[0].cdp.out_precision = NVDLA_PRECISION_INT16);
	NVDLA_BREAKS(test, CDP_LOCAL_SIZE, OPERATION(cdp, local_size), make_cdp,
		     t->operations[0].cdp.local_size = 4);
	NVDLA_BREAKS(test, CDP_LOCAL_SIZE, OPERATION(cdp, local_size), make_cdp,
		     t->operations[0].cdp.local_size = 11);
	NVDLA_BREAKS(test, CDP_FLAG, OPERATION(cdp, bypass_sqsum), make_cdp,
		     t->operations[0].cdp.bypass_sqsum = 2);
	NVDLA_BREAKS(test, CDP_FLAG, OPERATION(cdp, bypass_out_mul), make_cdp,
		     t->operations[0].cdp.bypass_out_mul = 2);
	NVDLA_BREAKS(test, CDP_SIZE, SURFACE(cdp, dst_data.width), make_cdp,
		     t->surfaces[0].cdp.dst_data = nvdla_test_feature(3, 0, 7, 8, 32, 1));
	NVDLA_BREAKS(test, CDP_LUT, OPERATION(cdp, lut_index), make_cdp,
		     t->operations[0].cdp.lut_index = -1);
	NVDLA_BREAKS(test, CDP_LUT, OPERATION(cdp, lut_index), make_cdp,
		     t->operations[0].cdp.lut_index = 1);
	NVDLA_BREAKS(test, FIELD_WIDTH, OPERATION(cdp, in_cvt.truncate), make_cdp,
		     t->operations[0].cdp.in_cvt.truncate = 32);
	NVDLA_BREAKS(test, FIELD_WIDTH, OPERATION(cdp, in_cvt.offset), make_cdp,
		     t->operations[0].cdp.in_cvt.offset = 32768);
}

static void rubik_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, RUBIK_MODE, OPERATION(rubik, mode), make_contract,
		     t->operations[0].rubik.mode = 3);
	NVDLA_BREAKS(test, RUBIK_PRECISION, OPERATION(rubik, precision), make_contract,
		     t->operations[0].rubik.precision = 3);
	NVDLA_BREAKS(test, RUBIK_STRIDE, OPERATION(rubik, stride_x), make_contract,
		     t->operations[0].rubik.stride_x = 0);
	NVDLA_BREAKS(test, RUBIK_STRIDE, OPERATION(rubik, stride_y), make_contract,
		     t->operations[0].rubik.stride_y = 33);
	NVDLA_BREAKS(test, RUBIK_WIDTH, SURFACE(rubik, src_data.width), make_contract,
		     t->surfaces[0].rubik.src_data.width = 4097);
	NVDLA_BREAKS(test, RUBIK_SIZE, SURFACE(rubik, dst_data.width), make_contract,
		     t->surfaces[0].rubik.dst_data.width = 7);
	NVDLA_BREAKS(test, RUBIK_SIZE, SURFACE(rubik, dst_data.channel), make_contract,
		     t->surfaces[0].rubik.dst_data.channel = 31);
	NVDLA_BREAKS(test, RUBIK_SIZE, SURFACE(rubik, dst_data.channel), make_split_planes,
		     t->surfaces[0].rubik.dst_data.channel = 31);
	NVDLA_BREAKS(test, RUBIK_PLANE_STRIDE, SURFACE(rubik, dst_data.plane_stride),
		     make_split_planes, t->surfaces[0].rubik.dst_data.plane_stride = 480);
	NVDLA_BREAKS(test, CUBE_STRIDE_ALIGNMENT, SURFACE(rubik, src_data.line_stride), make_merge,
		     t->surfaces[0].rubik.src_data.line_stride = 96);
	NVDLA_BREAKS(test, CUBE_ALIGNMENT, SURFACE(rubik, src_data.offset), make_merge,
		     t->surfaces[0].rubik.src_data.offset = 32);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(rubik, src_data), make_merge,
		     t->extents[0].size = 32 * 512 - 1);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(rubik, src_data), make_contract,
		     t->extents[0].size = 4 * 4 * 128 - 1);
}

/* Rules of the members in struct nvdla_extended_op_desc, behind the engine's descriptor. */
static void extended_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, OPERATION_NAN, OPERATION(extended, nan_to_zero), make_fp16_pdp,
		     t->operations[0].extended.nan_to_zero = 2);
	NVDLA_BREAKS(test, OPERATION_NAN, OPERATION(extended, nan_to_zero), make_pdp,
		     t->operations[0].extended.nan_to_zero = 1);
	NVDLA_BREAKS(test, OPERATION_NAN, OPERATION(extended, nan_to_zero), make_cdp,
		     t->operations[0].extended.nan_to_zero = 1);
	NVDLA_BREAKS(test, OPERATION_NAN, OPERATION(extended, nan_to_zero), make_sdp_pdp,
		     t->operations[0].extended.nan_to_zero = 1);
	NVDLA_BREAKS(test, OPERATION_NAN, OPERATION(extended, nan_to_zero), make_conv,
		     t->operations[0].extended.nan_to_zero = 1);
	NVDLA_BREAKS(test, OPERATION_NAN, OPERATION(extended, nan_to_zero), make_merge,
		     t->operations[0].extended.nan_to_zero = 1);
	NVDLA_BREAKS(test, OPERATION_NAN, OPERATION(extended, nan_to_zero), make_bdma,
		     t->operations[0].extended.nan_to_zero = 1);
	NVDLA_BREAKS(test, CONV_PIXEL_X_OFFSET, OPERATION(extended, pixel_x_offset), make_pdp,
		     t->operations[0].extended.pixel_x_offset = 1);
	NVDLA_BREAKS(test, OPERATION_RESERVED, OPERATION(extended, reserved), make_pdp,
		     t->operations[0].extended.reserved = 1);
}

static struct kunit_case nvdla_other_rules_cases[] = {
	KUNIT_CASE(bdma_rules),
	KUNIT_CASE(pdp_rules),
	KUNIT_CASE(cdp_rules),
	KUNIT_CASE(rubik_rules),
	KUNIT_CASE(extended_rules),
	{}
};

static struct kunit_suite nvdla_other_rules_suite = {
	.name = "nvdla_other_rules",
	.init = nvdla_rules_init,
	.test_cases = nvdla_other_rules_cases,
};

kunit_test_suite(nvdla_other_rules_suite);
