/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_STATS_H
#define NVDLA_STATS_H

#include "nvdla_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct nvdla_conv_stats - what the convolution pipeline counted
 * @data_read_stall: cycles the data read DMA was stalled
 * @weight_read_stall: cycles the weight read DMA was stalled
 * @data_read_latency: sum of the latencies of data reads, cycles
 * @weight_read_latency: sum of the latencies of weight reads, cycles
 * @saturation: outputs that CACC saturated
 * @nan_data: NaNs in the input cube, FP16
 * @nan_weight: NaNs in the weights, FP16
 * @inf_data: infinities in the input cube, FP16
 * @inf_weight: infinities in the weights, FP16
 */
struct nvdla_conv_stats {
	u32 data_read_stall;
	u32 weight_read_stall;
	u32 data_read_latency;
	u32 weight_read_latency;
	u32 saturation;
	u32 nan_data;
	u32 nan_weight;
	u32 inf_data;
	u32 inf_weight;
};

/**
 * struct nvdla_lut_stats - how the values that passed a look-up table met it
 * @underflow: below both tables
 * @overflow: above both tables
 * @le_hit: inside the raw table
 * @lo_hit: inside the density table
 * @hybrid: inside or outside both, or outside on different sides
 */
struct nvdla_lut_stats {
	u32 underflow;
	u32 overflow;
	u32 le_hit;
	u32 lo_hit;
	u32 hybrid;
};

/**
 * struct nvdla_sdp_stats - what SDP counted
 * @status: 1 if a word of the output, or of an EQL comparison's differences, was not 0
 * @src_read_stall: cycles the read DMA of the source was stalled
 * @x1_read_stall: the same, operands of X1
 * @x2_read_stall: the same, operands of X2
 * @y_read_stall: the same, operands of Y
 * @write_stall: cycles the write DMA was stalled
 * @saturation: outputs that were saturated
 * @nan_input: NaNs in the source, if it lies in memory, FP16
 * @inf_input: infinities in the source, if it lies in memory, FP16
 * @nan_output: NaNs in the output, FP16
 * @lut: use of the look-up table
 */
struct nvdla_sdp_stats {
	u32 status;
	u32 src_read_stall;
	u32 x1_read_stall;
	u32 x2_read_stall;
	u32 y_read_stall;
	u32 write_stall;
	u32 saturation;
	u32 nan_input;
	u32 inf_input;
	u32 nan_output;
	struct nvdla_lut_stats lut;
};

/**
 * struct nvdla_pool_stats - what PDP and CDP counted
 * @read_stall: cycles the read DMA was stalled
 * @write_stall: cycles the write DMA was stalled
 * @saturation: outputs that were saturated (CDP only)
 * @nan_input: NaNs in the source, FP16
 * @inf_input: infinities in the source, FP16
 * @nan_output: NaNs in the output, FP16
 * @lut: use of the look-up table (CDP only)
 */
struct nvdla_pool_stats {
	u32 read_stall;
	u32 write_stall;
	u32 saturation;
	u32 nan_input;
	u32 inf_input;
	u32 nan_output;
	struct nvdla_lut_stats lut;
};

/**
 * struct nvdla_copy_stats - what BDMA and RUBIK counted
 * @read_stall: cycles the read DMA was stalled
 * @write_stall: cycles the write DMA was stalled
 */
struct nvdla_copy_stats {
	u32 read_stall;
	u32 write_stall;
};

/**
 * struct nvdla_operation_stats - counters of one operation
 * @op_type: enum nvdla_op_type, says which member of the union is meant
 * @valid: the operation completed and its counters were read
 * @conv: NVDLA_OP_CONV
 * @sdp: NVDLA_OP_SDP
 * @pool: NVDLA_OP_PDP and NVDLA_OP_CDP
 * @copy: NVDLA_OP_BDMA and NVDLA_OP_RUBIK
 */
struct nvdla_operation_stats {
	u32 op_type;
	bool valid;
	union {
		struct nvdla_conv_stats conv;
		struct nvdla_sdp_stats sdp;
		struct nvdla_pool_stats pool;
		struct nvdla_copy_stats copy;
	};
};

#ifdef __cplusplus
}
#endif

#endif /* NVDLA_STATS_H */
