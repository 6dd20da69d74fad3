// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Counters of completed operations. They stay in the register group until the
 * group is enabled again.
 */

#include <drm/nvdla_accel.h>

#include <nvdla/hw/registers.h>

#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_sequencer_internal.h"

/* When a counter can be other than zero. */
enum counts {
	ALWAYS,
	FP16,		/* of what is read, numbers are FP16 */
	FP16_OUT,	/* of what is written */
	LUT,		/* a look-up table is used */
	COMPARISON,
	RDMA,		/* the source is in memory */
	X1_RDMA,	/* SDP's operands are */
	X2_RDMA,
	Y_RDMA,
};

/**
 * struct counter - a register that counts
 * @reg: the register
 * @when: enum counts
 * @offset: where in struct drm_nvdla_operation_result it is told
 */
struct counter {
	u32 reg;
	u16 when;
	u16 offset;
};

#define COUNTER(when, register, member) \
	{ NVDLA_##register, when, offsetof(struct drm_nvdla_operation_result, member) }

static const struct counter conv_counters[] = {
	COUNTER(ALWAYS, CDMA_D_PERF_DAT_READ_STALL, read_stall),
	COUNTER(ALWAYS, CDMA_D_PERF_WT_READ_STALL, weight_read_stall),
	COUNTER(ALWAYS, CDMA_D_PERF_DAT_READ_LATENCY, read_latency),
	COUNTER(ALWAYS, CDMA_D_PERF_WT_READ_LATENCY, weight_read_latency),
	COUNTER(ALWAYS, CACC_D_OUT_SATURATION, saturation),
	COUNTER(FP16, CDMA_D_NAN_INPUT_DATA_NUM, nan_input),
	COUNTER(FP16, CDMA_D_NAN_INPUT_WEIGHT_NUM, nan_weight),
	COUNTER(FP16, CDMA_D_INF_INPUT_DATA_NUM, inf_input),
	COUNTER(FP16, CDMA_D_INF_INPUT_WEIGHT_NUM, inf_weight),
};

/* SDP's own counters of its input stay zero. */
static const struct counter sdp_counters[] = {
	COUNTER(ALWAYS, SDP_D_PERF_WDMA_WRITE_STALL, write_stall),
	COUNTER(ALWAYS, SDP_D_PERF_OUT_SATURATION, saturation),
	COUNTER(COMPARISON, SDP_D_STATUS, unequal),
	COUNTER(FP16_OUT, SDP_D_STATUS_NAN_OUTPUT_NUM, nan_output),
	COUNTER(LUT, SDP_D_PERF_LUT_UFLOW, lut.underflow),
	COUNTER(LUT, SDP_D_PERF_LUT_OFLOW, lut.overflow),
	COUNTER(LUT, SDP_D_PERF_LUT_LE_HIT, lut.le_hit),
	COUNTER(LUT, SDP_D_PERF_LUT_LO_HIT, lut.lo_hit),
	COUNTER(LUT, SDP_D_PERF_LUT_HYBRID, lut.hybrid),
	COUNTER(FP16, SDP_RDMA_D_STATUS_NAN_INPUT_NUM, nan_input),
	COUNTER(FP16, SDP_RDMA_D_STATUS_INF_INPUT_NUM, inf_input),
	COUNTER(RDMA, SDP_RDMA_D_PERF_MRDMA_READ_STALL, read_stall),
	COUNTER(X1_RDMA, SDP_RDMA_D_PERF_BRDMA_READ_STALL, operand_read_stall[0]),
	COUNTER(X2_RDMA, SDP_RDMA_D_PERF_NRDMA_READ_STALL, operand_read_stall[1]),
	COUNTER(Y_RDMA, SDP_RDMA_D_PERF_ERDMA_READ_STALL, operand_read_stall[2]),
};

static const struct counter pdp_counters[] = {
	COUNTER(ALWAYS, PDP_D_PERF_WRITE_STALL, write_stall),
	COUNTER(FP16, PDP_D_NAN_INPUT_NUM, nan_input),
	COUNTER(FP16, PDP_D_INF_INPUT_NUM, inf_input),
	COUNTER(FP16, PDP_D_NAN_OUTPUT_NUM, nan_output),
	COUNTER(RDMA, PDP_RDMA_D_PERF_READ_STALL, read_stall),
};

static const struct counter cdp_counters[] = {
	COUNTER(RDMA, CDP_RDMA_D_PERF_READ_STALL, read_stall),
	COUNTER(ALWAYS, CDP_D_PERF_WRITE_STALL, write_stall),
	COUNTER(ALWAYS, CDP_D_OUT_SATURATION, saturation),
	COUNTER(FP16, CDP_D_NAN_INPUT_NUM, nan_input),
	COUNTER(FP16, CDP_D_INF_INPUT_NUM, inf_input),
	COUNTER(FP16, CDP_D_NAN_OUTPUT_NUM, nan_output),
	COUNTER(LUT, CDP_D_PERF_LUT_UFLOW, lut.underflow),
	COUNTER(LUT, CDP_D_PERF_LUT_OFLOW, lut.overflow),
	COUNTER(LUT, CDP_D_PERF_LUT_LE_HIT, lut.le_hit),
	COUNTER(LUT, CDP_D_PERF_LUT_LO_HIT, lut.lo_hit),
	COUNTER(LUT, CDP_D_PERF_LUT_HYBRID, lut.hybrid),
};

static const struct counter rubik_counters[] = {
	COUNTER(ALWAYS, RBK_D_PERF_READ_STALL, read_stall),
	COUNTER(ALWAYS, RBK_D_PERF_WRITE_STALL, write_stall),
};

/* BDMA's counters are not grouped by a pointer: there are two sets. */
static const struct counter bdma_counters[NVDLA_NUM_GROUPS][2] = {
	{
		COUNTER(ALWAYS, BDMA_STATUS_GRP0_READ_STALL, read_stall),
		COUNTER(ALWAYS, BDMA_STATUS_GRP0_WRITE_STALL, write_stall),
	}, {
		COUNTER(ALWAYS, BDMA_STATUS_GRP1_READ_STALL, read_stall),
		COUNTER(ALWAYS, BDMA_STATUS_GRP1_WRITE_STALL, write_stall),
	},
};

/* Field of a register as the operation in a group was programmed. */
#define HELD(sequencer, group, name, field) \
	FIELD_GET(NVDLA_##name##__##field, \
		  nvdla_sequencer_held(sequencer, group, NVDLA_##name))

/* The counters of an operation that count: bit n is enum counts n. */
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

static const struct counter *counters_of(const struct nvdla_sequencer *sequencer,
					 const struct nvdla_operation *op, u32 group, u32 *count)
{
	switch (op->op_type) {
	case NVDLA_OP_BDMA:
		/* A copy of nothing was never launched: its counters are zero. */
		*count = op->num_transfers ? ARRAY_SIZE(bdma_counters[0]) : 0;
		return bdma_counters[sequencer->bdma_group[group]];
	case NVDLA_OP_CONV:
		*count = ARRAY_SIZE(conv_counters);
		return conv_counters;
	case NVDLA_OP_SDP:
		*count = ARRAY_SIZE(sdp_counters);
		return sdp_counters;
	case NVDLA_OP_PDP:
		*count = ARRAY_SIZE(pdp_counters);
		return pdp_counters;
	case NVDLA_OP_CDP:
		*count = ARRAY_SIZE(cdp_counters);
		return cdp_counters;
	default:
		*count = ARRAY_SIZE(rubik_counters);
		return rubik_counters;
	}
}

/**
 * nvdla_stats_read() - keep what the core counted for a completed operation
 * @sequencer: sequencer
 * @operation: index
 * @group: register group that it ran in
 *
 * Each counter is a read, for which the engine's next operation may wait: those that stay zero
 * (NaNs of integers, a table or an operand that is not used) are not read.
 */
void nvdla_stats_read(struct nvdla_sequencer *sequencer, u32 operation, u32 group)
{
	const struct nvdla_operation *op = &sequencer->task->prepared->operations[operation];
	struct drm_nvdla_operation_result *result = &sequencer->task->counted[operation];
	const u32 rdma_group = sequencer->rdma_group[op->op_type][group];
	const u32 counts = counts_of(sequencer, op, group, rdma_group);
	const struct counter *counters;
	u32 count, unit, i;

	memset(result, 0, sizeof(*result));
	counters = counters_of(sequencer, op, group, &count);
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
