// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rules of look-up tables.
 */
#include "../nvdla_platform.h"
#include "nvdla_test_rules.h"

/* Adds an operation of SDP or CDP that uses a look-up table in @precision. */
static void add_table(struct nvdla_test_task *t, u32 engine, u32 precision)
{
	u32 bytes = precision == NVDLA_PRECISION_INT8 ? 1 : 2;
	struct nvdla_sdp_op_desc *sdp = &t->operations[0].sdp;
	struct nvdla_cdp_op_desc *cdp = &t->operations[0].cdp;

	if (engine == NVDLA_OP_SDP) {
		nvdla_test_use_lut(t, nvdla_test_add_sdp(t));
		memset(&sdp->x1_op, 0, sizeof(sdp->x1_op));
		sdp->src_precision = precision;
		sdp->dst_precision = precision;
		t->surfaces[0].sdp.src_data = nvdla_test_feature(0, 0, 8, 8, 32, bytes);
		t->surfaces[0].sdp.dst_data = nvdla_test_feature(2, 0, 8, 8, 32, bytes);
		return;
	}
	nvdla_test_add_cdp(t);
	cdp->in_precision = precision;
	cdp->out_precision = precision;
	t->surfaces[0].cdp.src_data = nvdla_test_feature(2, 0, 8, 8, 32, bytes);
	t->surfaces[0].cdp.dst_data = nvdla_test_feature(3, 0, 8, 8, 32, bytes);
}

static void make_lut(struct nvdla_test_task *t)
{
	add_table(t, NVDLA_OP_SDP, NVDLA_PRECISION_INT8);
}

static void make_fp16(struct nvdla_test_task *t)
{
	add_table(t, NVDLA_OP_SDP, NVDLA_PRECISION_FP16);
}

static void make_highest_le(struct nvdla_test_task *t)
{
	make_fp16(t);
	t->luts[0].le_offset.field.value = -128;
	t->luts[0].le_start = 0x0e7fffff;
}

static void make_highest_lo(struct nvdla_test_task *t)
{
	make_highest_le(t);
	t->luts[0].lo_offset.field.value = 119;
	t->luts[0].lo_start = 0x7f7fffff;
}

static void lut_value_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, LUT_METHOD, LUT(method), make_lut, t->luts[0].method = 2);
	NVDLA_BREAKS(test, LUT_PRIORITY, LUT(hybrid_priority), make_lut,
		     t->luts[0].hybrid_priority = 2);
	NVDLA_BREAKS(test, LUT_PRIORITY, LUT(overflow_priority), make_lut,
		     t->luts[0].overflow_priority = 2);
	NVDLA_BREAKS(test, LUT_RANGE, LUT(le_end), make_lut, t->luts[0].le_end = 1ULL << 32);
	NVDLA_BREAKS(test, LUT_RANGE, LUT(lo_start), make_lut, t->luts[0].lo_start = -2147483649LL);
	/*
	 * 0x1p30 and 0x1p32: so large that in FP32, with INDEX_SELECT 0, the end of the table
	 * (start plus 0x1p6 or 0x1p8) equals its start.
	 */
	NVDLA_BREAKS(test, LUT_START, LUT(le_start), make_fp16, t->luts[0].le_start = 0x4e800000);
	NVDLA_BREAKS(test, LUT_START, LUT(lo_start), make_fp16, t->luts[0].lo_start = 0x4f800000);
	NVDLA_BREAKS(test, LUT_START, LUT(lo_start), make_highest_lo,
		     t->luts[0].lo_start = 0x7f800000);
	NVDLA_BREAKS(test, LUT_START, LUT(le_start), make_highest_le,
		     t->luts[0].le_start = 0x0e800000);
	NVDLA_BREAKS(test, LUT_SHIFT, LUT(lo_underflow.field.shifter), make_lut,
		     t->luts[0].lo_underflow.field.shifter = 16);
	NVDLA_BREAKS(test, LUT_SHIFT, LUT(le_overflow.field.shifter), make_lut,
		     t->luts[0].le_overflow.field.shifter = -17);
}

/* The programming guide's limits of INDEX_SELECT and INDEX_OFFSET. */
static const struct nvdla_test_range {
	u32 engine;
	u32 precision;
	/* LE_INDEX_SELECT of a linear LE */
	int le_min, le_max;
	/* LO_INDEX_SELECT */
	int lo_min, lo_max;
	/* LE_INDEX_OFFSET of an exponential LE */
	int offset_min, offset_max;
} nvdla_test_ranges[] = {
	{ NVDLA_OP_SDP, NVDLA_PRECISION_INT8, -6, 25, -8, 23, -64, 31 },
	{ NVDLA_OP_SDP, NVDLA_PRECISION_INT16, -6, 25, -8, 23, -64, 31 },
	{ NVDLA_OP_SDP, NVDLA_PRECISION_FP16, -128, 121, -128, 119, -126, 127 },
	{ NVDLA_OP_CDP, NVDLA_PRECISION_INT8, -6, 15, -8, 13, -64, 20 },
	{ NVDLA_OP_CDP, NVDLA_PRECISION_INT16, -6, 31, -8, 29, -64, 36 },
	{ NVDLA_OP_CDP, NVDLA_PRECISION_FP16, -128, 121, -128, 119, -126, 127 },
};

enum nvdla_test_ends { LE_SELECT, LO_SELECT, OFFSET };

static const u32 nvdla_test_end_rules[] = {
	[LE_SELECT] = NVDLA_TEST_RULE_LUT_LE_SELECT,
	[LO_SELECT] = NVDLA_TEST_RULE_LUT_LO_SELECT,
	[OFFSET] = NVDLA_TEST_RULE_LUT_OFFSET,
};

/*
 * The end of a range is accepted, and the value beyond it is not, if a descriptor can express
 * that value.
 */
static void check_end(struct kunit *test, const struct nvdla_test_range *range,
		      enum nvdla_test_ends ends, int last, int beyond)
{
	const bool le = ends != LO_SELECT;
	struct nvdla_test_task *t = test->priv;
	union nvdla_lut_offset *offset = le ? &t->luts[0].le_offset : &t->luts[0].lo_offset;

	if (beyond < -128 || beyond > 127)
		return;

	nvdla_test_task_reset(t);
	add_table(t, range->engine, range->precision);
	t->luts[0].method = ends == OFFSET ? NVDLA_LUT_EXPONENTIAL : NVDLA_LUT_LINEAR;
	offset->field.value = last;
	nvdla_rules_accepted(test, __LINE__);
	offset->field.value = beyond;
	nvdla_rules_refused(test, nvdla_test_end_rules[ends],
			    le ? LUT(le_offset) : LUT(lo_offset), __LINE__);
}

static void lut_range_rules(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(nvdla_test_ranges); i++) {
		const struct nvdla_test_range *range = &nvdla_test_ranges[i];

		check_end(test, range, LE_SELECT, range->le_min, range->le_min - 1);
		check_end(test, range, LE_SELECT, range->le_max, range->le_max + 1);
		check_end(test, range, LO_SELECT, range->lo_min, range->lo_min - 1);
		check_end(test, range, LO_SELECT, range->lo_max, range->lo_max + 1);
		check_end(test, range, OFFSET, range->offset_min, range->offset_min - 1);
		check_end(test, range, OFFSET, range->offset_max, range->offset_max + 1);
	}
}

static struct kunit_case nvdla_lut_rules_cases[] = {
	KUNIT_CASE(lut_value_rules),
	KUNIT_CASE(lut_range_rules),
	{}
};

static struct kunit_suite nvdla_lut_rules_suite = {
	.name = "nvdla_lut_rules",
	.init = nvdla_rules_init,
	.test_cases = nvdla_lut_rules_cases,
};

kunit_test_suite(nvdla_lut_rules_suite);
