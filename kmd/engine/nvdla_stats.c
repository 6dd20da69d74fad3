// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Counters of completed operations. A register group holds its counters until the group is enabled
 * again.
 */

#include <drm/nvdla_accel.h>

#include <nvdla/hw/registers.h>

#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_result.h"
#include "nvdla_sequencer_internal.h"

/* Conditions under which a counter can be other than zero. */
enum counts {
	ALWAYS,
	FP16,		/* only if the input is FP16 */
	FP16_OUT,	/* only if the output is FP16 */
	LUT,		/* only if a look-up table is used */
	COMPARISON,	/* only if the operation compares its two inputs */
	RDMA,		/* only if the source is in memory */
	X1_RDMA,	/* only if X1's operands are in memory */
	X2_RDMA,	/* only if X2's operands are in memory */
	Y_RDMA,		/* only if Y's operands are in memory */
};

#define COUNTER(when, register, member, name) \
	{ name, NVDLA_##register, when, offsetof(struct drm_nvdla_operation_result, member) }
#define CYCLES(when, register, member, name) COUNTER(when, register, member, name "_cycles")

static const struct nvdla_counter conv_counters[] = {
	CYCLES(ALWAYS, CDMA_D_PERF_DAT_READ_STALL, read_stall, "read_stall"),
	CYCLES(ALWAYS, CDMA_D_PERF_WT_READ_STALL, weight_read_stall, "weight_read_stall"),
	CYCLES(ALWAYS, CDMA_D_PERF_DAT_READ_LATENCY, read_latency, "read_latency"),
	CYCLES(ALWAYS, CDMA_D_PERF_WT_READ_LATENCY, weight_read_latency, "weight_read_latency"),
	COUNTER(ALWAYS, CACC_D_OUT_SATURATION, saturation, "saturation"),
	COUNTER(FP16, CDMA_D_NAN_INPUT_DATA_NUM, nan_input, "nan_input"),
	COUNTER(FP16, CDMA_D_NAN_INPUT_WEIGHT_NUM, nan_weight, "nan_weight"),
	COUNTER(FP16, CDMA_D_INF_INPUT_DATA_NUM, inf_input, "inf_input"),
	COUNTER(FP16, CDMA_D_INF_INPUT_WEIGHT_NUM, inf_weight, "inf_weight"),
};

/* SDP's counters of NaNs and infinities in the convolution's stream are not listed: always zero. */
static const struct nvdla_counter sdp_counters[] = {
	CYCLES(ALWAYS, SDP_D_PERF_WDMA_WRITE_STALL, write_stall, "write_stall"),
	COUNTER(ALWAYS, SDP_D_PERF_OUT_SATURATION, saturation, "saturation"),
	COUNTER(COMPARISON, SDP_D_STATUS, unequal, NULL),
	COUNTER(FP16_OUT, SDP_D_STATUS_NAN_OUTPUT_NUM, nan_output, "nan_output"),
	COUNTER(LUT, SDP_D_PERF_LUT_UFLOW, lut.underflow, "lut_underflow"),
	COUNTER(LUT, SDP_D_PERF_LUT_OFLOW, lut.overflow, "lut_overflow"),
	COUNTER(LUT, SDP_D_PERF_LUT_LE_HIT, lut.le_hit, "lut_le_hit"),
	COUNTER(LUT, SDP_D_PERF_LUT_LO_HIT, lut.lo_hit, "lut_lo_hit"),
	COUNTER(LUT, SDP_D_PERF_LUT_HYBRID, lut.hybrid, "lut_hybrid"),
	COUNTER(FP16, SDP_RDMA_D_STATUS_NAN_INPUT_NUM, nan_input, "nan_input"),
	COUNTER(FP16, SDP_RDMA_D_STATUS_INF_INPUT_NUM, inf_input, "inf_input"),
	CYCLES(RDMA, SDP_RDMA_D_PERF_MRDMA_READ_STALL, read_stall, "read_stall"),
	CYCLES(X1_RDMA, SDP_RDMA_D_PERF_BRDMA_READ_STALL, operand_read_stall[0], "x1_read_stall"),
	CYCLES(X2_RDMA, SDP_RDMA_D_PERF_NRDMA_READ_STALL, operand_read_stall[1], "x2_read_stall"),
	CYCLES(Y_RDMA, SDP_RDMA_D_PERF_ERDMA_READ_STALL, operand_read_stall[2], "y_read_stall"),
};

static const struct nvdla_counter pdp_counters[] = {
	CYCLES(ALWAYS, PDP_D_PERF_WRITE_STALL, write_stall, "write_stall"),
	COUNTER(FP16, PDP_D_NAN_INPUT_NUM, nan_input, "nan_input"),
	COUNTER(FP16, PDP_D_INF_INPUT_NUM, inf_input, "inf_input"),
	COUNTER(FP16, PDP_D_NAN_OUTPUT_NUM, nan_output, "nan_output"),
	CYCLES(RDMA, PDP_RDMA_D_PERF_READ_STALL, read_stall, "read_stall"),
};

static const struct nvdla_counter cdp_counters[] = {
	CYCLES(RDMA, CDP_RDMA_D_PERF_READ_STALL, read_stall, "read_stall"),
	CYCLES(ALWAYS, CDP_D_PERF_WRITE_STALL, write_stall, "write_stall"),
	COUNTER(ALWAYS, CDP_D_OUT_SATURATION, saturation, "saturation"),
	COUNTER(FP16, CDP_D_NAN_INPUT_NUM, nan_input, "nan_input"),
	COUNTER(FP16, CDP_D_INF_INPUT_NUM, inf_input, "inf_input"),
	COUNTER(FP16, CDP_D_NAN_OUTPUT_NUM, nan_output, "nan_output"),
	COUNTER(LUT, CDP_D_PERF_LUT_UFLOW, lut.underflow, "lut_underflow"),
	COUNTER(LUT, CDP_D_PERF_LUT_OFLOW, lut.overflow, "lut_overflow"),
	COUNTER(LUT, CDP_D_PERF_LUT_LE_HIT, lut.le_hit, "lut_le_hit"),
	COUNTER(LUT, CDP_D_PERF_LUT_LO_HIT, lut.lo_hit, "lut_lo_hit"),
	COUNTER(LUT, CDP_D_PERF_LUT_HYBRID, lut.hybrid, "lut_hybrid"),
};

static const struct nvdla_counter rubik_counters[] = {
	CYCLES(ALWAYS, RBK_D_PERF_READ_STALL, read_stall, "read_stall"),
	CYCLES(ALWAYS, RBK_D_PERF_WRITE_STALL, write_stall, "write_stall"),
};

/* BDMA has no register pointer: each of its groups has counters at addresses of its own. */
static const struct nvdla_counter bdma_counters[NVDLA_NUM_GROUPS][2] = {
	{
		CYCLES(ALWAYS, BDMA_STATUS_GRP0_READ_STALL, read_stall, "read_stall"),
		CYCLES(ALWAYS, BDMA_STATUS_GRP0_WRITE_STALL, write_stall, "write_stall"),
	}, {
		CYCLES(ALWAYS, BDMA_STATUS_GRP1_READ_STALL, read_stall, "read_stall"),
		CYCLES(ALWAYS, BDMA_STATUS_GRP1_WRITE_STALL, write_stall, "write_stall"),
	},
};

/* Value of a register's field as it was programmed for the operation in @group. */
#define HELD(sequencer, group, name, field) \
	FIELD_GET(NVDLA_##name##__##field, \
		  nvdla_sequencer_held(sequencer, group, NVDLA_##name))

/* Returns the conditions that an operation fulfils: bit n is enum counts n. */
static u32 counts_of(const struct nvdla_sequencer *sequencer, const struct nvdla_operation *op,
		     u32 group, u32 rdma)
{
	u32 counts = BIT(ALWAYS) | (op->comparison ? BIT(COMPARISON) : 0) |
		     (op->lut != NVDLA_NO_LUT ? BIT(LUT) : 0) | (op->uses_rdma ? BIT(RDMA) : 0);
	bool fp16 = false;

	switch (op->op_type) {
	case NVDLA_OP_CONV:
		fp16 = HELD(sequencer, group, CDMA_D_MISC_CFG, IN_PRECISION) ==
			       NVDLA_PRECISION_FP16 ||
		       HELD(sequencer, group, CDMA_D_MISC_CFG, PROC_PRECISION) ==
			       NVDLA_PRECISION_FP16;
		break;
	case NVDLA_OP_PDP:
		fp16 = HELD(sequencer, group, PDP_D_DATA_FORMAT, INPUT_DATA) ==
		       NVDLA_PRECISION_FP16;
		break;
	case NVDLA_OP_CDP:
		fp16 = HELD(sequencer, group, CDP_D_DATA_FORMAT, INPUT_DATA_TYPE) ==
		       NVDLA_PRECISION_FP16;
		break;
	case NVDLA_OP_SDP:
		if (HELD(sequencer, group, SDP_D_DATA_FORMAT, OUT_PRECISION) ==
		    NVDLA_PRECISION_FP16)
			counts |= BIT(FP16_OUT);
		if (!op->uses_rdma)
			break;
		fp16 = HELD(sequencer, rdma, SDP_RDMA_D_FEATURE_MODE_CFG, IN_PRECISION) ==
		       NVDLA_PRECISION_FP16;
		if (HELD(sequencer, rdma, SDP_RDMA_D_FEATURE_MODE_CFG, FLYING_MODE))
			counts &= ~BIT(RDMA);
		if (!HELD(sequencer, rdma, SDP_RDMA_D_BRDMA_CFG, BRDMA_DISABLE))
			counts |= BIT(X1_RDMA);
		if (!HELD(sequencer, rdma, SDP_RDMA_D_NRDMA_CFG, NRDMA_DISABLE))
			counts |= BIT(X2_RDMA);
		if (!HELD(sequencer, rdma, SDP_RDMA_D_ERDMA_CFG, ERDMA_DISABLE))
			counts |= BIT(Y_RDMA);
		break;
	}
	return counts | (fp16 ? BIT(FP16) : 0);
}

/**
 * nvdla_counters_of() - list the core's counters for operations of an engine
 * @op_type: enum nvdla_op_type
 * @count: set to their number, NVDLA_MAX_ENGINE_COUNTERS at most
 *
 * Return: the counters.
 */
const struct nvdla_counter *nvdla_counters_of(u32 op_type, u32 *count)
{
	static const struct {
		const struct nvdla_counter *counters;
		u32 count;
	} engines[NVDLA_NUM_OP_TYPES] = {
		[NVDLA_OP_BDMA] = { bdma_counters[0], ARRAY_SIZE(bdma_counters[0]) },
		[NVDLA_OP_CONV] = { conv_counters, ARRAY_SIZE(conv_counters) },
		[NVDLA_OP_SDP] = { sdp_counters, ARRAY_SIZE(sdp_counters) },
		[NVDLA_OP_PDP] = { pdp_counters, ARRAY_SIZE(pdp_counters) },
		[NVDLA_OP_CDP] = { cdp_counters, ARRAY_SIZE(cdp_counters) },
		[NVDLA_OP_RUBIK] = { rubik_counters, ARRAY_SIZE(rubik_counters) },
	};

	static_assert(ARRAY_SIZE(sdp_counters) == NVDLA_MAX_ENGINE_COUNTERS);
	*count = engines[op_type].count;
	return engines[op_type].counters;
}

/**
 * nvdla_stats_read() - read the core's counters of a completed operation into its task
 * @sequencer: sequencer
 * @operation: index of the operation in the task
 * @group: register group in which the operation ran
 *
 * The engine's next operation may wait for these register reads, so counters that stay zero (NaNs
 * of integers, an unused table or operand) are not read.
 */
void nvdla_stats_read(struct nvdla_sequencer *sequencer, u32 operation, u32 group)
{
	const struct nvdla_operation *op = &sequencer->task->prepared->operations[operation];
	struct drm_nvdla_operation_result *result = &sequencer->task->counted[operation];
	const u32 rdma_group = sequencer->rdma_group[op->op_type][group];
	const u32 counts = counts_of(sequencer, op, group, rdma_group);
	const struct nvdla_counter *counters;
	u32 count, unit, i;

	memset(result, 0, sizeof(*result));
	counters = nvdla_counters_of(op->op_type, &count);
	if (op->op_type == NVDLA_OP_BDMA) {
		counters = bdma_counters[sequencer->bdma_group[group]];
		/* An operation without transfers was never launched: its counters are zero. */
		count = op->num_transfers ? count : 0;
	}
	for (i = 0; i < count; i++) {
		if (!(counts & BIT(counters[i].when)))
			continue;
		unit = counters[i].reg / NVDLA_UNIT_SIZE;
		if (op->op_type != NVDLA_OP_BDMA)
			nvdla_issue_select(sequencer, unit,
					   nvdla_unit_is_rdma(unit) ? rdma_group : group);
		*(u32 *)((char *)result + counters[i].offset) =
			sequencer->io.read(sequencer->io.context, counters[i].reg);
	}
	result->flags = DRM_NVDLA_OPERATION_COUNTED;
}
