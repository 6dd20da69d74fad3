// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Counters of completed operations. They stay in the register group until the
 * group is enabled again.
 */

#include "nvdla_stats.h"

#include <nvdla/hw/registers.h>

#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_sequencer_internal.h"

/* Reads a register of one group. */
static u32 read_group(struct nvdla_sequencer *sequencer, u32 group, u32 reg)
{
	nvdla_issue_select(sequencer, reg / NVDLA_UNIT_SIZE, group);
	return sequencer->io.read(sequencer->io.context, reg);
}

/* Field of a register as the operation in a group was programmed. */
#define HELD(sequencer, group, name, field) \
	FIELD_GET(NVDLA_##name##__##field, \
		  nvdla_sequencer_held(sequencer, group, NVDLA_##name))

static void read_conv(struct nvdla_sequencer *sequencer, u32 group, struct nvdla_conv_stats *conv)
{
	conv->data_read_stall = read_group(sequencer, group, NVDLA_CDMA_D_PERF_DAT_READ_STALL);
	conv->weight_read_stall = read_group(sequencer, group, NVDLA_CDMA_D_PERF_WT_READ_STALL);
	conv->data_read_latency = read_group(sequencer, group, NVDLA_CDMA_D_PERF_DAT_READ_LATENCY);
	conv->weight_read_latency =
		read_group(sequencer, group, NVDLA_CDMA_D_PERF_WT_READ_LATENCY);
	conv->saturation = read_group(sequencer, group, NVDLA_CACC_D_OUT_SATURATION);
	if (HELD(sequencer, group, CDMA_D_MISC_CFG, IN_PRECISION) !=
		    NVDLA_CDMA_D_MISC_CFG__IN_PRECISION__FP16 &&
	    HELD(sequencer, group, CDMA_D_MISC_CFG, PROC_PRECISION) !=
		    NVDLA_CDMA_D_MISC_CFG__PROC_PRECISION__FP16)
		return;

	conv->nan_data = read_group(sequencer, group, NVDLA_CDMA_D_NAN_INPUT_DATA_NUM);
	conv->nan_weight = read_group(sequencer, group, NVDLA_CDMA_D_NAN_INPUT_WEIGHT_NUM);
	conv->inf_data = read_group(sequencer, group, NVDLA_CDMA_D_INF_INPUT_DATA_NUM);
	conv->inf_weight = read_group(sequencer, group, NVDLA_CDMA_D_INF_INPUT_WEIGHT_NUM);
}

static void read_sdp_lut(struct nvdla_sequencer *sequencer, u32 group, struct nvdla_lut_stats *lut)
{
	lut->underflow = read_group(sequencer, group, NVDLA_SDP_D_PERF_LUT_UFLOW);
	lut->overflow = read_group(sequencer, group, NVDLA_SDP_D_PERF_LUT_OFLOW);
	lut->le_hit = read_group(sequencer, group, NVDLA_SDP_D_PERF_LUT_LE_HIT);
	lut->lo_hit = read_group(sequencer, group, NVDLA_SDP_D_PERF_LUT_LO_HIT);
	lut->hybrid = read_group(sequencer, group, NVDLA_SDP_D_PERF_LUT_HYBRID);
}

static void read_sdp_rdma(struct nvdla_sequencer *sequencer, u32 group, struct nvdla_sdp_stats *sdp)
{
	/* SDP's own counters of its input stay zero. */
	if (HELD(sequencer, group, SDP_RDMA_D_FEATURE_MODE_CFG, IN_PRECISION) ==
	    NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__IN_PRECISION__FP16) {
		sdp->nan_input = read_group(sequencer, group,
					    NVDLA_SDP_RDMA_D_STATUS_NAN_INPUT_NUM);
		sdp->inf_input = read_group(sequencer, group,
					    NVDLA_SDP_RDMA_D_STATUS_INF_INPUT_NUM);
	}
	if (!HELD(sequencer, group, SDP_RDMA_D_FEATURE_MODE_CFG, FLYING_MODE))
		sdp->src_read_stall = read_group(sequencer, group,
						 NVDLA_SDP_RDMA_D_PERF_MRDMA_READ_STALL);
	if (!HELD(sequencer, group, SDP_RDMA_D_BRDMA_CFG, BRDMA_DISABLE))
		sdp->x1_read_stall = read_group(sequencer, group,
						NVDLA_SDP_RDMA_D_PERF_BRDMA_READ_STALL);
	if (!HELD(sequencer, group, SDP_RDMA_D_NRDMA_CFG, NRDMA_DISABLE))
		sdp->x2_read_stall = read_group(sequencer, group,
						NVDLA_SDP_RDMA_D_PERF_NRDMA_READ_STALL);
	if (!HELD(sequencer, group, SDP_RDMA_D_ERDMA_CFG, ERDMA_DISABLE))
		sdp->y_read_stall = read_group(sequencer, group,
					       NVDLA_SDP_RDMA_D_PERF_ERDMA_READ_STALL);
}

static void read_sdp(struct nvdla_sequencer *sequencer, u32 group, const struct nvdla_operation *op,
		     u32 rdma_group, struct nvdla_sdp_stats *sdp)
{
	sdp->write_stall = read_group(sequencer, group, NVDLA_SDP_D_PERF_WDMA_WRITE_STALL);
	sdp->saturation = read_group(sequencer, group, NVDLA_SDP_D_PERF_OUT_SATURATION);
	if (op->comparison)
		sdp->status = read_group(sequencer, group, NVDLA_SDP_D_STATUS);
	if (HELD(sequencer, group, SDP_D_DATA_FORMAT, OUT_PRECISION) ==
	    NVDLA_SDP_D_DATA_FORMAT__OUT_PRECISION__FP16)
		sdp->nan_output = read_group(sequencer, group, NVDLA_SDP_D_STATUS_NAN_OUTPUT_NUM);
	if (op->lut != NVDLA_NO_LUT)
		read_sdp_lut(sequencer, group, &sdp->lut);
	if (op->uses_rdma)
		read_sdp_rdma(sequencer, rdma_group, sdp);
}

static void read_pdp(struct nvdla_sequencer *sequencer, u32 group, bool rdma, u32 rdma_group,
		     struct nvdla_pool_stats *pool)
{
	pool->write_stall = read_group(sequencer, group, NVDLA_PDP_D_PERF_WRITE_STALL);
	if (HELD(sequencer, group, PDP_D_DATA_FORMAT, INPUT_DATA) ==
	    NVDLA_PDP_D_DATA_FORMAT__INPUT_DATA__FP16) {
		pool->nan_input = read_group(sequencer, group, NVDLA_PDP_D_NAN_INPUT_NUM);
		pool->inf_input = read_group(sequencer, group, NVDLA_PDP_D_INF_INPUT_NUM);
		pool->nan_output = read_group(sequencer, group, NVDLA_PDP_D_NAN_OUTPUT_NUM);
	}
	if (rdma)
		pool->read_stall =
			read_group(sequencer, rdma_group, NVDLA_PDP_RDMA_D_PERF_READ_STALL);
}

static void read_cdp(struct nvdla_sequencer *sequencer, u32 group, u32 rdma_group,
		     struct nvdla_pool_stats *pool)
{
	pool->read_stall = read_group(sequencer, rdma_group, NVDLA_CDP_RDMA_D_PERF_READ_STALL);
	pool->write_stall = read_group(sequencer, group, NVDLA_CDP_D_PERF_WRITE_STALL);
	pool->saturation = read_group(sequencer, group, NVDLA_CDP_D_OUT_SATURATION);
	if (HELD(sequencer, group, CDP_D_DATA_FORMAT, INPUT_DATA_TYPE) ==
	    NVDLA_CDP_D_DATA_FORMAT__INPUT_DATA_TYPE__FP16) {
		pool->nan_input = read_group(sequencer, group, NVDLA_CDP_D_NAN_INPUT_NUM);
		pool->inf_input = read_group(sequencer, group, NVDLA_CDP_D_INF_INPUT_NUM);
		pool->nan_output = read_group(sequencer, group, NVDLA_CDP_D_NAN_OUTPUT_NUM);
	}
	pool->lut.underflow = read_group(sequencer, group, NVDLA_CDP_D_PERF_LUT_UFLOW);
	pool->lut.overflow = read_group(sequencer, group, NVDLA_CDP_D_PERF_LUT_OFLOW);
	pool->lut.le_hit = read_group(sequencer, group, NVDLA_CDP_D_PERF_LUT_LE_HIT);
	pool->lut.lo_hit = read_group(sequencer, group, NVDLA_CDP_D_PERF_LUT_LO_HIT);
	pool->lut.hybrid = read_group(sequencer, group, NVDLA_CDP_D_PERF_LUT_HYBRID);
}

/* BDMA's counters are not grouped by a pointer: there are two sets. */
static void read_bdma(struct nvdla_sequencer *sequencer, u32 bdma_group,
		      struct nvdla_copy_stats *copy)
{
	const struct nvdla_io *io = &sequencer->io;

	copy->read_stall = io->read(io->context, bdma_group ?
				    NVDLA_BDMA_STATUS_GRP1_READ_STALL :
				    NVDLA_BDMA_STATUS_GRP0_READ_STALL);
	copy->write_stall = io->read(io->context, bdma_group ?
				     NVDLA_BDMA_STATUS_GRP1_WRITE_STALL :
				     NVDLA_BDMA_STATUS_GRP0_WRITE_STALL);
}

static void read_rubik(struct nvdla_sequencer *sequencer, u32 group,
		       struct nvdla_copy_stats *copy)
{
	copy->read_stall = read_group(sequencer, group, NVDLA_RBK_D_PERF_READ_STALL);
	copy->write_stall = read_group(sequencer, group, NVDLA_RBK_D_PERF_WRITE_STALL);
}

void nvdla_stats_read(struct nvdla_sequencer *sequencer, u32 operation, u32 group)
{
	const struct nvdla_operation *op = &sequencer->task->prepared->operations[operation];
	struct nvdla_operation_stats *stats = &sequencer->task->stats[operation];
	u32 rdma_group = sequencer->rdma_group[op->op_type][group];

	switch (op->op_type) {
	case NVDLA_OP_BDMA:
		/* A copy of nothing was never launched: its counters are zero. */
		if (op->num_transfers > 0)
			read_bdma(sequencer, sequencer->bdma_group[group], &stats->copy);
		break;
	case NVDLA_OP_CONV:
		read_conv(sequencer, group, &stats->conv);
		break;
	case NVDLA_OP_SDP:
		read_sdp(sequencer, group, op, rdma_group, &stats->sdp);
		break;
	case NVDLA_OP_PDP:
		read_pdp(sequencer, group, op->uses_rdma, rdma_group, &stats->pool);
		break;
	case NVDLA_OP_CDP:
		read_cdp(sequencer, group, rdma_group, &stats->pool);
		break;
	case NVDLA_OP_RUBIK:
		read_rubik(sequencer, group, &stats->copy);
		break;
	}
	stats->valid = true;
}
