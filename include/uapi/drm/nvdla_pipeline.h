/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of convolutions, SDP operations and look-up tables. See nvdla_descriptors.h.
 */
#ifndef _UAPI_DRM_NVDLA_PIPELINE_H_
#define _UAPI_DRM_NVDLA_PIPELINE_H_

#include "nvdla_graph.h"

/* Types of 64-bit members of structures that are aligned to only four bytes. */
typedef __u64 __attribute__((aligned(4))) nvdla_u64_a4;
typedef __s64 __attribute__((aligned(4))) nvdla_s64_a4;

/**
 * enum nvdla_conv_mode - how a convolution is computed
 */
enum nvdla_conv_mode {
	/** @NVDLA_CONV_MODE_DIRECT: without transformation */
	NVDLA_CONV_MODE_DIRECT = 0,
	/** @NVDLA_CONV_MODE_WINOGRAD: on tiles of 4x4, with transformed 3x3 kernels */
	NVDLA_CONV_MODE_WINOGRAD = 1,
};

/**
 * enum nvdla_weight_format - how weights lie in memory
 */
enum nvdla_weight_format {
	/** @NVDLA_WEIGHT_UNCOMPRESSED: all weights, zeros included */
	NVDLA_WEIGHT_UNCOMPRESSED = 0,
	/** @NVDLA_WEIGHT_COMPRESSED: without zeros, beside a mask and the sizes of kernel groups */
	NVDLA_WEIGHT_COMPRESSED = 1,
};

/**
 * enum nvdla_data_format - memory layout of a convolution input
 *
 * Values 0 to 35 are the pixel formats, in the order of the table "Pixel
 * formats and valid setting" of the in-memory format document.
 */
enum nvdla_data_format {
	/** @NVDLA_FORMAT_FIRST_PIXEL: R8 */
	NVDLA_FORMAT_FIRST_PIXEL = 0,
	/** @NVDLA_FORMAT_LAST_PIXEL: Y16___V16U16_N444 */
	NVDLA_FORMAT_LAST_PIXEL = 35,
	/** @NVDLA_FORMAT_FEATURE: a feature cube, which consists of atoms of channels */
	NVDLA_FORMAT_FEATURE = 36,
};

/**
 * struct nvdla_conv_surface_desc - cubes of a convolution
 * @weight_data: weights; width, height and channel are ignored
 * @wmb_data: mask of compressed weights
 * @wgs_data: sizes of the kernel groups of compressed weights
 * @src_data: input
 * @dst_data: output, always a stream to SDP
 * @offset_u: bytes from the first to the second plane of an image
 * @in_line_uv_stride: bytes from line to line of the second plane
 */
struct nvdla_conv_surface_desc {
	struct nvdla_data_cube weight_data, wmb_data, wgs_data, src_data, dst_data;
	nvdla_s64_a4 offset_u;
	__u32 in_line_uv_stride;
};

/**
 * struct nvdla_conv_op_desc - convolution
 * @conv_mode: enum nvdla_conv_mode
 * @data_reuse: 1: some or all of the input is in the convolution buffer already
 * @weight_reuse: 1: the weights are in the convolution buffer already
 * @skip_data_rls: 1: the input stays in the convolution buffer for the next convolution
 * @skip_weight_rls: 1: the weights stay in the convolution buffer for the next convolution
 * @reserved0: ignored
 * @entry_per_slice: entries of the convolution buffer that a line takes
 * @data_format: enum nvdla_data_format
 * @pixel_mapping: 0: pitch linear
 * @fetch_grain: lines that CDMA fetches before it checks the buffer for room again
 * @reserved_b: ignored
 * @batch: input cubes, 1 to 32
 * @weight_format: enum nvdla_weight_format
 * @data_bank: banks of the convolution buffer for the input
 * @weight_bank: banks of the convolution buffer for the weights
 * @batch_stride: bytes from input cube to input cube
 * @post_extension: images: kernel lines that a MAC cell takes at once: 0: one, 1: two, 2: four
 * @pixel_override: 1: unsigned pixels are taken as signed ones
 * @release: lines of the input whose place in the convolution buffer is freed at the end
 * @input_width_csc: width of the input as CSC, the unit that feeds the MACs, sees it
 * @input_height_csc: height of the input as CSC sees it
 * @input_channel_csc: channels of the input as CSC sees it
 * @kernel_width_csc: width of the kernel as CSC sees it
 * @kernel_height_csc: height of the kernel as CSC sees it
 * @kernel_channel_csc: channels of the kernel as CSC sees it
 * @input_width_cmac: width of the output
 * @input_height_cmac: height of the output
 * @bytes_per_kernel: size of one kernel before compression
 * @mean_ry: subtracted from R or Y of pixels
 * @mean_gu: subtracted from G or U of pixels
 * @mean_bv: subtracted from B or V of pixels
 * @mean_ax: subtracted from A or X of pixels
 * @mean_format: 1: the means are used
 * @conv_stride_x: columns from window to window, 1 to 8
 * @conv_stride_y: lines from window to window, 1 to 8
 * @pad_x_left: columns of padding before the input
 * @pad_x_right: columns of padding behind the input
 * @pad_y_top: lines of padding above the input
 * @pad_y_bottom: lines of padding below the input
 * @dilation_x: input columns from one column of the kernel to the next, 1 to 32
 * @dilation_y: input lines from one line of the kernel to the next, 1 to 32
 * @reserved2: ignored
 * @pra_truncate: bits that the Winograd pre-addition truncates, 0 to 2
 * @in_precision: enum nvdla_precision of the input in memory
 * @out_precision: enum nvdla_precision of the computation
 * @pad_val: value of the padding
 * @in_cvt: converter of the input
 * @out_cvt: converter of the output; only its truncation is used
 */
struct nvdla_conv_op_desc {
	__u8 conv_mode;
	__u8 data_reuse, weight_reuse, skip_data_rls, skip_weight_rls;
	__u8 reserved0;
	__u16 entry_per_slice;
	__u8 data_format, pixel_mapping;
	__u16 fetch_grain;
	__u8 reserved_b[8];
	__u8 batch, weight_format, data_bank, weight_bank;
	__u32 batch_stride;
	__u8 post_extension, pixel_override;
	__u16 release;
	__u16 input_width_csc, input_height_csc, input_channel_csc;
	__u16 kernel_width_csc, kernel_height_csc, kernel_channel_csc;
	__u16 input_width_cmac, input_height_cmac;
	__u32 bytes_per_kernel;
	__s16 mean_ry, mean_gu, mean_bv, mean_ax;
	__u8 mean_format, conv_stride_x, conv_stride_y;
	__u8 pad_x_left, pad_x_right, pad_y_top, pad_y_bottom;
	__u8 dilation_x, dilation_y;
	__u8 reserved2[2];
	__u8 pra_truncate, in_precision, out_precision;
	__s16 pad_val;
	struct nvdla_cvt_param in_cvt, out_cvt;
};

/**
 * enum nvdla_lut_method - how LE, the first table of &struct nvdla_lut_desc, is indexed
 */
enum nvdla_lut_method {
	/** @NVDLA_LUT_EXPONENTIAL: by the logarithm to base 2 of the distance from the start */
	NVDLA_LUT_EXPONENTIAL = 0,
	/** @NVDLA_LUT_LINEAR: by the distance from the start, in equal steps */
	NVDLA_LUT_LINEAR = 1,
};

/**
 * enum nvdla_lut_priority - table that gives the result if both tables could
 */
enum nvdla_lut_priority {
	/** @NVDLA_LUT_PRIORITY_LE: LE, the linear or exponential table */
	NVDLA_LUT_PRIORITY_LE = 0,
	/** @NVDLA_LUT_PRIORITY_LO: LO, the linear-only table */
	NVDLA_LUT_PRIORITY_LO = 1,
};

/** NVDLA_LUT_LE_ENTRIES - entries of LE */
#define NVDLA_LUT_LE_ENTRIES 65
/** NVDLA_LUT_LO_ENTRIES - entries of LO */
#define NVDLA_LUT_LO_ENTRIES 257

/**
 * union nvdla_lut_offset - exponent offset (exponential) or index select (linear)
 * @field: the parts
 * @field.value: log2 of the distance from start to entry 0 (offset), or of the step (select)
 * @field.reserved: ignored
 * @raw: both parts as one number
 */
union nvdla_lut_offset {
	struct {
		__s8 value;
		__u8 reserved;
	} field;
	__u16 raw;
};

/**
 * union nvdla_lut_slope - slope beyond an edge: integer scale and shift, or FP16
 * @field: the parts of an integer slope
 * @field.scale: factor; an FP16 slope lies in the same bits
 * @field.shifter: bits to shift right, -16 to 15
 * @field.reserved: ignored
 * @raw: all parts as one number
 */
union nvdla_lut_slope {
	struct {
		__s16 scale;
		__s8 shifter;
		__u8 reserved;
	} field;
	__u32 raw;
};

/**
 * struct nvdla_lut_desc - a pair of look-up tables, for SDP or CDP
 * @le_table: LE, the linear or exponential table
 * @lo_table: LO, the linear-only table
 * @le_offset: exponent offset or index select of LE
 * @lo_offset: index select of LO
 * @le_start: first value that LE covers
 * @le_end: last value that LE covers
 * @lo_start: first value that LO covers
 * @lo_end: last value that LO covers
 * @le_underflow: slope below LE
 * @le_overflow: slope above LE
 * @lo_underflow: slope below LO
 * @lo_overflow: slope above LO
 * @hybrid_priority: enum nvdla_lut_priority for values inside both tables, or below one and above
 *	the other
 * @underflow_priority: enum nvdla_lut_priority for values below both tables
 * @overflow_priority: enum nvdla_lut_priority for values above both tables
 * @method: enum nvdla_lut_method of LE
 */
struct nvdla_lut_desc {
	__s16 le_table[NVDLA_LUT_LE_ENTRIES], lo_table[NVDLA_LUT_LO_ENTRIES];
	union nvdla_lut_offset le_offset, lo_offset;
	nvdla_u64_a4 le_start, le_end, lo_start, lo_end;
	union nvdla_lut_slope le_underflow, le_overflow, lo_underflow, lo_overflow;
	__u8 hybrid_priority, underflow_priority, overflow_priority, method;
};

/**
 * enum nvdla_activation - last step of an SDP unit
 */
enum nvdla_activation {
	/** @NVDLA_ACT_NONE: none */
	NVDLA_ACT_NONE = 0,
	/** @NVDLA_ACT_RELU: negative values become zero; only in X1 and X2 */
	NVDLA_ACT_RELU = 1,
	/** @NVDLA_ACT_LUT: look-up table; only in Y */
	NVDLA_ACT_LUT = 2,
	/** @NVDLA_ACT_PRELU: only negative values are multiplied */
	NVDLA_ACT_PRELU = 3,
};

/**
 * enum nvdla_sdp_op_type - which parts of an X1, X2 or Y unit are used
 */
enum nvdla_sdp_op_type {
	/** @NVDLA_SDP_OP_NONE: neither multiplier nor ALU */
	NVDLA_SDP_OP_NONE = 0,
	/** @NVDLA_SDP_OP_MUL: the multiplier */
	NVDLA_SDP_OP_MUL = 1,
	/** @NVDLA_SDP_OP_ADD: the ALU */
	NVDLA_SDP_OP_ADD = 2,
	/** @NVDLA_SDP_OP_BOTH: both: in X1 and X2 first the ALU, in Y first the multiplier */
	NVDLA_SDP_OP_BOTH = 3,
};

/**
 * enum nvdla_alu_type - function of an SDP unit's ALU
 */
enum nvdla_alu_type {
	/** @NVDLA_ALU_MAX: maximum */
	NVDLA_ALU_MAX = 0,
	/** @NVDLA_ALU_MIN: minimum */
	NVDLA_ALU_MIN = 1,
	/** @NVDLA_ALU_SUM: sum */
	NVDLA_ALU_SUM = 2,
	/** @NVDLA_ALU_EQL: comparison; only in Y */
	NVDLA_ALU_EQL = 3,
};

/**
 * enum nvdla_sdp_op_mode - where the operands of an SDP unit come from
 */
enum nvdla_sdp_op_mode {
	/** @NVDLA_SDP_PER_LAYER: registers */
	NVDLA_SDP_PER_LAYER = 0,
	/** @NVDLA_SDP_PER_KERNEL: memory, one per channel */
	NVDLA_SDP_PER_KERNEL = 1,
	/** @NVDLA_SDP_PER_POINT: memory, one per element */
	NVDLA_SDP_PER_POINT = 2,
};

/**
 * struct nvdla_sdp_op - one of the SDP units X1, X2, Y
 * @enable: 1 to use the unit
 * @alu_type: enum nvdla_alu_type
 * @type: enum nvdla_sdp_op_type
 * @mode: enum nvdla_sdp_op_mode
 * @act: enum nvdla_activation
 * @shift_value: bits that the operand of the ALU is shifted left; only X1 and X2
 * @truncate: bits that the product is shifted right
 * @precision: enum nvdla_precision of operands in memory
 * @alu_operand: operand of the ALU with NVDLA_SDP_PER_LAYER
 * @mul_operand: operand of the multiplier with NVDLA_SDP_PER_LAYER
 * @alu_cvt: converter of the ALU's operand; only Y
 * @mul_cvt: converter of the multiplier's operand; only Y
 */
struct nvdla_sdp_op {
	__u8 enable, alu_type, type, mode, act;
	__u8 shift_value, truncate, precision;
	__s32 alu_operand, mul_operand;
	struct nvdla_cvt_param alu_cvt, mul_cvt;
};

/**
 * struct nvdla_sdp_surface_desc - cubes of an SDP operation
 * @src_data: input
 * @x1_data: operands of X1
 * @x2_data: operands of X2
 * @y_data: operands of Y
 * @dst_data: output
 */
struct nvdla_sdp_surface_desc {
	struct nvdla_data_cube src_data, x1_data, x2_data, y_data, dst_data;
};

/**
 * struct nvdla_sdp_op_desc - SDP operation
 * @src_precision: enum nvdla_precision of the input
 * @dst_precision: enum nvdla_precision of the output
 * @lut_index: index into the task's look-up tables, -1 for none
 * @out_cvt: converter of the output
 * @conv_mode: enum nvdla_conv_mode of the convolution whose stream SDP takes
 * @batch_num: cubes, 1 to 32
 * @reserved0: ignored
 * @batch_stride: bytes from output cube to output cube
 * @x1_op: first unit
 * @x2_op: second unit
 * @y_op: third unit
 */
struct nvdla_sdp_op_desc {
	__u8 src_precision, dst_precision;
	__s16 lut_index;
	struct nvdla_cvt_param out_cvt;
	__u8 conv_mode, batch_num;
	__u16 reserved0;
	__u32 batch_stride;
	struct nvdla_sdp_op x1_op, x2_op, y_op;
};

#endif /* _UAPI_DRM_NVDLA_PIPELINE_H_ */
