// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Look-up tables of SDP and CDP: rules, and upload to an engine. */

#include "nvdla_lut.h"

#include "nvdla_check.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_program.h"

/* Limits of an engine's look-up table in one precision (programming guide, "Limitation", LUT). */
struct lut_range {
	s32 offset_min;
	s32 offset_max;
	s32 le_min;
	s32 le_max;
	s32 lo_min;
	s32 lo_max;
};

static const struct lut_range sdp_ranges[] = {
	[NVDLA_PRECISION_INT8] = { -64, 31, -6, 25, -8, 23 },
	[NVDLA_PRECISION_INT16] = { -64, 31, -6, 25, -8, 23 },
	[NVDLA_PRECISION_FP16] = { -126, 127, -128, 121, -128, 119 },
};

static const struct lut_range cdp_ranges[] = {
	[NVDLA_PRECISION_INT8] = { -64, 20, -6, 15, -8, 13 },
	[NVDLA_PRECISION_INT16] = { -64, 36, -6, 31, -8, 29 },
	[NVDLA_PRECISION_FP16] = { -126, 127, -128, 121, -128, 119 },
};

#define FP32_SIGN 0x80000000U
#define FP32_BIAS 127
#define FP32_INFINITE 255
#define FP32_MANTISSA_BITS 23

/* Width in bits of the values with which the pipelines index their tables. */
#define SDP_LUT_BITS 32
#define CDP_LUT_BITS 38

static void check_edge(struct nvdla_check *check, const nvdla_u64_a4 *edge, u32 bits)
{
	/* Compilers write sign-extended values or the bits alone, so both forms are accepted. */
	need_range(check, *edge, -(1LL << (bits - 1)), (1LL << bits) - 1,
		   "a start or end exceeds the engine's range");
}

/* A linear FP16 table ends at start + 2^bits, which has to differ from start in FP32. */
static void check_start(struct nvdla_check *check, const nvdla_u64_a4 *start, s32 bits)
{
	u32 limit = (u32)min(bits + 24 + FP32_BIAS, FP32_INFINITE) << FP32_MANTISSA_BITS;
	u32 magnitude = (u32)*start & ~FP32_SIGN;

	nvdla_state(check, (u32)*start != magnitude || magnitude < limit, magnitude, limit,
		    NVDLA_FIELD(*start), "an FP16 table that starts here ends where it starts");
}

static void check_shift(struct nvdla_check *check, const union nvdla_lut_slope *slope)
{
	need_range(check, slope->field.shifter, -16, 15, "a slope is shifted by -16 to 15");
}

/*
 * Checks the look-up table of a valid index for the engine of the current operation, whose pipeline
 * works in @precision, and records that the operation needs the table.
 */
void nvdla_check_lut(struct nvdla_check *check, u32 index, u32 precision)
{
	const struct nvdla_lut_desc *lut = &check->source->luts[index];
	bool sdp = check->op_type == NVDLA_OP_SDP;
	const struct lut_range *range = sdp ? &sdp_ranges[precision] : &cdp_ranges[precision];
	bool exponential = lut->method == NVDLA_LUT_EXPONENTIAL;
	u32 bits = sdp ? SDP_LUT_BITS : CDP_LUT_BITS;
	const char *priority = "a priority is LE or LO";
	s32 le = lut->le_offset.field.value;
	s32 lo = lut->lo_offset.field.value;

	need_range(check, lut->method, 0, NVDLA_LUT_LINEAR, "no such look-up method");
	need_range(check, lut->hybrid_priority, 0, NVDLA_LUT_PRIORITY_LO, priority);
	need_range(check, lut->underflow_priority, 0, NVDLA_LUT_PRIORITY_LO, priority);
	need_range(check, lut->overflow_priority, 0, NVDLA_LUT_PRIORITY_LO, priority);

	if (exponential)
		nvdla_state(check, le >= range->offset_min && le <= range->offset_max, le,
			    range->offset_max, NVDLA_WHOLE(lut->le_offset),
			    "the index offset exceeds the engine's range");
	else
		nvdla_state(check, le >= range->le_min && le <= range->le_max, le, range->le_max,
			    NVDLA_WHOLE(lut->le_offset),
			    "the index select of LE exceeds the engine's range");
	nvdla_state(check, lo >= range->lo_min && lo <= range->lo_max, lo, range->lo_max,
		    NVDLA_WHOLE(lut->lo_offset),
		    "the index select of LO exceeds the engine's range");

	check_edge(check, &lut->le_start, bits);
	check_edge(check, &lut->le_end, bits);
	check_edge(check, &lut->lo_start, bits);
	check_edge(check, &lut->lo_end, bits);

	if (precision == NVDLA_PRECISION_FP16) {
		if (!exponential)
			check_start(check, &lut->le_start, le + 6);
		check_start(check, &lut->lo_start, lo + 8);
	} else {
		check_shift(check, &lut->le_underflow);
		check_shift(check, &lut->le_overflow);
		check_shift(check, &lut->lo_underflow);
		check_shift(check, &lut->lo_overflow);
	}

	check->current_op->lut = check->prepared->lut_alias[index];
	check->current_op->lut_fp16 = precision == NVDLA_PRECISION_FP16;
}

/*
 * The table registers of SDP and CDP have the same order and fields up to LUT_INFO: CDP's are at
 * SDP's addresses plus CDP_STEP. After LUT_INFO, CDP has a second register for the high half of
 * each edge. The settings are the registers from LUT_CFG to LUT_LO_SLOPE_SHIFT.
 */
#define CDP_STEP (NVDLA_CDP_S_LUT_ACCESS_CFG - NVDLA_SDP_S_LUT_ACCESS_CFG)
#define SDP_SETTINGS \
	((NVDLA_SDP_S_LUT_LO_SLOPE_SHIFT - NVDLA_SDP_S_LUT_CFG) / sizeof(u32) + 1)
#define CDP_SETTINGS \
	((NVDLA_CDP_S_LUT_LO_SLOPE_SHIFT - NVDLA_CDP_S_LUT_CFG) / sizeof(u32) + 1)

static_assert(NVDLA_CDP_S_LUT_LE_START_LOW - NVDLA_SDP_S_LUT_LE_START == CDP_STEP);
static_assert(CDP_SETTINGS - SDP_SETTINGS == 4);

struct lut_settings {
	u32 value[CDP_SETTINGS];
	u32 count;
};

/* Writes the entries that differ from @held, the engine's present table (NULL: all entries). */
static void upload_table(const struct nvdla_io *io, u32 step, bool lo, const __s16 *entries,
			 const __s16 *held, u32 count)
{
	const u32 table = nvdla_field_bits(NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_TABLE_ID, lo) |
			  NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ACCESS_TYPE;
	const u32 field = NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ADDR;
	u32 next = U32_MAX;
	u32 i;

	for (i = 0; i < count; i++) {
		if (held && held[i] == entries[i])
			continue;
		/* The address register counts up with each entry. */
		if (i != next)
			io->write(io->context, NVDLA_SDP_S_LUT_ACCESS_CFG + step,
				  nvdla_field_bits(field, i) | table);
		io->write(io->context, NVDLA_SDP_S_LUT_ACCESS_DATA + step, (u16)entries[i]);
		next = i + 1;
	}
}

static u32 info_value(const struct nvdla_lut_desc *lut)
{
	bool exponential = lut->method == NVDLA_LUT_EXPONENTIAL;
	u32 le_mask = exponential ? NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_OFFSET :
				    NVDLA_SDP_S_LUT_INFO__LUT_LE_INDEX_SELECT;

	return nvdla_field_bits(le_mask, lut->le_offset.field.value) |
	       nvdla_field_bits(NVDLA_SDP_S_LUT_INFO__LUT_LO_INDEX_SELECT,
				lut->lo_offset.field.value);
}

static void add_setting(struct lut_settings *settings, u32 value)
{
	settings->value[settings->count++] = value;
}

static void add_slopes(struct lut_settings *settings, const union nvdla_lut_slope *underflow,
		       const union nvdla_lut_slope *overflow, bool fp16)
{
	/* The register holds an FP16 slope in the same bits as an integer slope's scale. */
	add_setting(settings,
		    nvdla_field_bits(NVDLA_SDP_S_LUT_LE_SLOPE_SCALE__LUT_LE_SLOPE_UFLOW_SCALE,
				     underflow->raw & 0xffff) |
		    nvdla_field_bits(NVDLA_SDP_S_LUT_LE_SLOPE_SCALE__LUT_LE_SLOPE_OFLOW_SCALE,
				     overflow->raw & 0xffff));
	add_setting(settings, fp16 ? 0 :
		    nvdla_field_bits(NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_UFLOW_SHIFT,
				     underflow->field.shifter) |
		    nvdla_field_bits(NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT__LUT_LE_SLOPE_OFLOW_SHIFT,
				     overflow->field.shifter));
}

static struct lut_settings settings_of(const struct nvdla_lut *table, bool cdp)
{
	const struct nvdla_lut_desc *lut = table->desc;
	const u64 edges[] = { lut->le_start, lut->le_end, lut->lo_start, lut->lo_end };
	struct lut_settings settings = {};
	u32 i;

	add_setting(&settings,
		    nvdla_field_bits(NVDLA_SDP_S_LUT_CFG__LUT_LE_FUNCTION, lut->method) |
		    nvdla_field_bits(NVDLA_SDP_S_LUT_CFG__LUT_UFLOW_PRIORITY,
				     lut->underflow_priority) |
		    nvdla_field_bits(NVDLA_SDP_S_LUT_CFG__LUT_OFLOW_PRIORITY,
				     lut->overflow_priority) |
		    nvdla_field_bits(NVDLA_SDP_S_LUT_CFG__LUT_HYBRID_PRIORITY,
				     lut->hybrid_priority));
	add_setting(&settings, info_value(lut));

	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		add_setting(&settings, lower_32_bits(edges[i]));
		if (cdp)
			add_setting(&settings, upper_32_bits(edges[i]) &
				    NVDLA_CDP_S_LUT_LE_START_HIGH__LUT_LE_START_HIGH);
	}

	add_slopes(&settings, &lut->le_underflow, &lut->le_overflow, table->fp16);
	add_slopes(&settings, &lut->lo_underflow, &lut->lo_overflow, table->fp16);
	return settings;
}

void nvdla_lut_upload(const struct nvdla_io *io, u32 op_type, const struct nvdla_lut *table,
		      const struct nvdla_lut *held)
{
	const bool cdp = op_type == NVDLA_OP_CDP;
	const u32 step = cdp ? CDP_STEP : 0;
	const struct nvdla_lut_desc *lut = table->desc;
	const struct lut_settings settings = settings_of(table, cdp);
	struct lut_settings held_settings = {};
	u32 i;

	upload_table(io, step, false, lut->le_table, held ? held->desc->le_table : NULL,
		     ARRAY_SIZE(lut->le_table));
	upload_table(io, step, true, lut->lo_table, held ? held->desc->lo_table : NULL,
		     ARRAY_SIZE(lut->lo_table));

	if (held)
		held_settings = settings_of(held, cdp);
	for (i = 0; i < settings.count; i++)
		if (!held || held_settings.value[i] != settings.value[i])
			io->write(io->context, NVDLA_SDP_S_LUT_CFG + step + i * sizeof(u32),
				  settings.value[i]);
}
