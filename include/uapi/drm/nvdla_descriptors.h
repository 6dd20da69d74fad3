/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of an NVDLA task graph, as a submit hands them to the driver.
 *
 * These are the layouts that existing compilers write into loadables (firmware
 * interface 0.12, 32-byte data cubes). They are little endian and have no
 * alignment above four bytes. A task is a set of arrays that share one index: graph node i,
 * operation i and surface i describe the same hardware operation.
 *
 * They may grow at their ends, see &struct drm_nvdla_task. Members named reserved are not looked
 * at, since compilers leave anything there. Documents that are named here are NVDLA's.
 */
#ifndef _UAPI_DRM_NVDLA_DESCRIPTORS_H_
#define _UAPI_DRM_NVDLA_DESCRIPTORS_H_

#include <linux/types.h>

/* Two layouts have 64-bit members in structures aligned to four bytes. */
typedef __u64 __attribute__((aligned(4))) nvdla_u64_a4;
typedef __s64 __attribute__((aligned(4))) nvdla_s64_a4;

/**
 * enum nvdla_op_type - hardware engine that runs an operation
 */
enum nvdla_op_type {
	/** @NVDLA_OP_BDMA: copies between memories */
	NVDLA_OP_BDMA = 0,
	/** @NVDLA_OP_CONV: convolution pipeline: CDMA, CSC, CMAC, CACC */
	NVDLA_OP_CONV = 1,
	/** @NVDLA_OP_SDP: single point processing: bias, activation, element-wise */
	NVDLA_OP_SDP = 2,
	/** @NVDLA_OP_PDP: pooling */
	NVDLA_OP_PDP = 3,
	/** @NVDLA_OP_CDP: local response normalisation */
	NVDLA_OP_CDP = 4,
	/** @NVDLA_OP_RUBIK: reshaping */
	NVDLA_OP_RUBIK = 5,
};

/** NVDLA_NUM_OP_TYPES - values of enum nvdla_op_type */
#define NVDLA_NUM_OP_TYPES 6

/**
 * enum nvdla_event - what a consumer in the task graph waits for
 */
enum nvdla_event {
	/** @NVDLA_EVENT_NONE: nothing */
	NVDLA_EVENT_NONE = 0,
	/** @NVDLA_EVENT_OP_COMPLETED: the producer has completed */
	NVDLA_EVENT_OP_COMPLETED = 1,
	/** @NVDLA_EVENT_OP_PROGRAMMED: the producer's registers are written */
	NVDLA_EVENT_OP_PROGRAMMED = 2,
	/** @NVDLA_EVENT_OP_ENABLED: the producer is enabled */
	NVDLA_EVENT_OP_ENABLED = 3,
	/** @NVDLA_EVENT_CDMA_WT_DONE: a convolution has fetched its weights */
	NVDLA_EVENT_CDMA_WT_DONE = 4,
	/** @NVDLA_EVENT_CDMA_DT_DONE: a convolution has fetched its data */
	NVDLA_EVENT_CDMA_DT_DONE = 5,
};

/**
 * enum nvdla_mem_type - where a data cube lives
 */
enum nvdla_mem_type {
	/** @NVDLA_MEM_MC: system memory, reached through MCIF */
	NVDLA_MEM_MC = 0,
	/** @NVDLA_MEM_CV: on-chip CVSRAM, reached through CVIF */
	NVDLA_MEM_CV = 1,
	/** @NVDLA_MEM_HW: on the fly: a stream between two engines */
	NVDLA_MEM_HW = 2,
};

/**
 * enum nvdla_precision - what an element is
 */
enum nvdla_precision {
	/** @NVDLA_PRECISION_INT8: 8-bit integer */
	NVDLA_PRECISION_INT8 = 0,
	/** @NVDLA_PRECISION_INT16: 16-bit integer */
	NVDLA_PRECISION_INT16 = 1,
	/** @NVDLA_PRECISION_FP16: half precision floating point */
	NVDLA_PRECISION_FP16 = 2,
};

/**
 * enum nvdla_conv_mode - how a convolution is computed
 */
enum nvdla_conv_mode {
	/** @NVDLA_CONV_MODE_DIRECT: as it is written down */
	NVDLA_CONV_MODE_DIRECT = 0,
	/** @NVDLA_CONV_MODE_WINOGRAD: on tiles of 4x4, with transformed 3x3 kernels */
	NVDLA_CONV_MODE_WINOGRAD = 1,
};

/**
 * enum nvdla_weight_format - how weights lie in memory
 */
enum nvdla_weight_format {
	/** @NVDLA_WEIGHT_UNCOMPRESSED: all of them */
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
	/** @NVDLA_FORMAT_FEATURE: feature data, atoms of channels */
	NVDLA_FORMAT_FEATURE = 36,
};

/**
 * enum nvdla_activation - last step of an SDP unit
 */
enum nvdla_activation {
	/** @NVDLA_ACT_NONE: none */
	NVDLA_ACT_NONE = 0,
	/** @NVDLA_ACT_RELU: negative values become zero; X1 and X2 */
	NVDLA_ACT_RELU = 1,
	/** @NVDLA_ACT_LUT: look-up table; Y */
	NVDLA_ACT_LUT = 2,
	/** @NVDLA_ACT_PRELU: only negative values are multiplied */
	NVDLA_ACT_PRELU = 3,
};

/**
 * enum nvdla_sdp_op_type - which halves of an X1, X2 or Y unit work
 */
enum nvdla_sdp_op_type {
	/** @NVDLA_SDP_OP_NONE: neither */
	NVDLA_SDP_OP_NONE = 0,
	/** @NVDLA_SDP_OP_MUL: the multiplier */
	NVDLA_SDP_OP_MUL = 1,
	/** @NVDLA_SDP_OP_ADD: the ALU */
	NVDLA_SDP_OP_ADD = 2,
	/** @NVDLA_SDP_OP_BOTH: the ALU, then the multiplier */
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
	/** @NVDLA_ALU_EQL: comparison; Y */
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
 * enum nvdla_pool_mode - what pooling makes of a window
 */
enum nvdla_pool_mode {
	/** @NVDLA_POOL_AVG: the average */
	NVDLA_POOL_AVG = 0,
	/** @NVDLA_POOL_MAX: the maximum */
	NVDLA_POOL_MAX = 1,
	/** @NVDLA_POOL_MIN: the minimum */
	NVDLA_POOL_MIN = 2,
};

/**
 * enum nvdla_rubik_mode - how RUBIK reshapes
 */
enum nvdla_rubik_mode {
	/** @NVDLA_RUBIK_CONTRACT: channels become columns and lines, for deconvolution */
	NVDLA_RUBIK_CONTRACT = 0,
	/** @NVDLA_RUBIK_SPLIT: feature data becomes planes */
	NVDLA_RUBIK_SPLIT = 1,
	/** @NVDLA_RUBIK_MERGE: planes become feature data */
	NVDLA_RUBIK_MERGE = 2,
};

/**
 * enum nvdla_lut_method - how LE is indexed
 */
enum nvdla_lut_method {
	/** @NVDLA_LUT_EXPONENTIAL: by the exponent */
	NVDLA_LUT_EXPONENTIAL = 0,
	/** @NVDLA_LUT_LINEAR: in equal steps */
	NVDLA_LUT_LINEAR = 1,
};

/**
 * enum nvdla_lut_priority - which table answers where both could
 */
enum nvdla_lut_priority {
	/** @NVDLA_LUT_PRIORITY_LE: LE */
	NVDLA_LUT_PRIORITY_LE = 0,
	/** @NVDLA_LUT_PRIORITY_LO: LO */
	NVDLA_LUT_PRIORITY_LO = 1,
};

/**
 * struct nvdla_consumer - edge of the task graph
 * @index: node that waits, or -1
 * @event: enum nvdla_event it waits for
 * @reserved: ignored
 */
struct nvdla_consumer {
	__s16 index;
	__u8 event;
	__u8 reserved;
};

/**
 * struct nvdla_graph_node - one operation in the task graph
 * @index: position of the node; compilers do not always write it
 * @roi_index: region of interest, unused by one-region tasks
 * @op_type: enum nvdla_op_type
 * @dependency_count: number of edges that lead here
 * @reserved: ignored
 * @consumers: nodes that wait for this one, indexed by their engine
 * @fused_parent: the producer this operation is fused with (SDP: CONV)
 */
struct nvdla_graph_node {
	__s16 index;
	__s8 roi_index;
	__u8 op_type;
	__u8 dependency_count;
	__u8 reserved[3];
	struct nvdla_consumer consumers[NVDLA_NUM_OP_TYPES];
	struct nvdla_consumer fused_parent;
};

/**
 * struct nvdla_data_cube - place and layout of a cube in memory
 * @type: enum nvdla_mem_type
 * @address: index into the task's address table, -1 with NVDLA_MEM_HW
 * @offset: bytes from that address to the cube
 * @size: bytes, as the compiler counted; informative
 * @width: elements
 * @height: elements
 * @channel: elements
 * @reserved: ignored
 * @line_stride: bytes from line to line
 * @surf_stride: bytes from surface to surface
 * @plane_stride: bytes from plane to plane (planar data)
 */
struct nvdla_data_cube {
	__u16 type;
	__s16 address;
	__u32 offset;
	__u32 size;
	__u16 width, height, channel;
	__u16 reserved;
	__u32 line_stride, surf_stride, plane_stride;
};

/**
 * struct nvdla_cvt_param - converter: (x - offset) * scale >> truncate
 * @scale: factor, or the bits of an FP16 number
 * @truncate: bits to shift right
 * @enable: 1 if it works, where it can be bypassed
 * @offset: is subtracted first
 */
struct nvdla_cvt_param {
	__s16 scale;
	__u8 truncate;
	__u8 enable;
	__s32 offset;
};

/** NVDLA_BDMA_MAX_TRANSFERS - copies of one BDMA operation, at most */
#define NVDLA_BDMA_MAX_TRANSFERS 20

/**
 * struct nvdla_bdma_transfer - one copy; sizes and strides in bytes
 * @src_address: index into the task's address table
 * @dst_address: index into the task's address table
 * @line_size: bytes of a line, a multiple of 32
 * @line_repeat: lines of a surface, 1 or more
 * @src_line: stride of source lines
 * @dst_line: stride of destination lines
 * @surf_repeat: surfaces, 1 or more
 * @src_surf: stride of source surfaces
 * @dst_surf: stride of destination surfaces
 */
struct nvdla_bdma_transfer {
	__s16 src_address, dst_address;
	__u32 line_size, line_repeat, src_line, dst_line;
	__u32 surf_repeat, src_surf, dst_surf;
};

/**
 * struct nvdla_bdma_surface_desc - copies of a BDMA operation
 * @src_type: enum nvdla_mem_type of all sources
 * @dst_type: enum nvdla_mem_type of all destinations
 * @num_transfers: entries of @transfers that are used, may be zero
 * @transfers: the copies, in their order
 */
struct nvdla_bdma_surface_desc {
	__u8 src_type, dst_type;
	__u16 num_transfers;
	struct nvdla_bdma_transfer transfers[NVDLA_BDMA_MAX_TRANSFERS];
};

/**
 * struct nvdla_bdma_op_desc - BDMA operation
 * @num_transfers: as in the surface; ignored
 * @reserved: ignored
 */
struct nvdla_bdma_op_desc {
	__u16 num_transfers;
	__u16 reserved;
};

/**
 * struct nvdla_conv_surface_desc - cubes of a convolution
 * @weight_data: weights; of its size only the bytes count
 * @wmb_data: mask of compressed weights
 * @wgs_data: sizes of the kernel groups of compressed weights
 * @src_data: input
 * @dst_data: output, always a stream to SDP
 * @offset_u: bytes from the first to the second plane of an image
 * @in_line_uv_stride: bytes from line to line of the second plane
 */
struct nvdla_conv_surface_desc {
	struct nvdla_data_cube weight_data, wmb_data, wgs_data;
	struct nvdla_data_cube src_data, dst_data;
	nvdla_s64_a4 offset_u;
	__u32 in_line_uv_stride;
};

/**
 * struct nvdla_conv_op_desc - convolution
 * @conv_mode: enum nvdla_conv_mode
 * @data_reuse: 1: some or all of the input is in the convolution buffer
 * @weight_reuse: 1: the weights are in the convolution buffer
 * @skip_data_rls: 1: the input stays in the convolution buffer
 * @skip_weight_rls: 1: the weights stay in the convolution buffer
 * @reserved0: ignored
 * @entry_per_slice: entries of the convolution buffer that a line takes
 * @data_format: enum nvdla_data_format
 * @pixel_mapping: 0: pitch linear
 * @fetch_grain: lines that are fetched before the engine looks for more room
 * @reserved_b: ignored
 * @batch: input cubes, 1 to 32
 * @weight_format: enum nvdla_weight_format
 * @data_bank: banks of the convolution buffer for the input
 * @weight_bank: banks of the convolution buffer for the weights
 * @batch_stride: bytes from input cube to input cube
 * @post_extension: channel post-extension: 0, 1 (two lines), 2 (four lines)
 * @pixel_override: 1: unsigned pixels are taken as signed ones
 * @release: lines of the input that are released at the end
 * @input_width_csc: width of the input as CSC sees it
 * @input_height_csc: height of the input as CSC sees it
 * @input_channel_csc: channels of the input as CSC sees it
 * @kernel_width_csc: width of the kernel as CSC sees it
 * @kernel_height_csc: height of the kernel as CSC sees it
 * @kernel_channel_csc: channels of the kernel as CSC sees it
 * @input_width_cmac: width of the output
 * @input_height_cmac: height of the output
 * @bytes_per_kernel: of one kernel, before compression
 * @mean_ry: is subtracted from R or Y of pixels
 * @mean_gu: is subtracted from G or U of pixels
 * @mean_bv: is subtracted from B or V of pixels
 * @mean_ax: is subtracted from A or X of pixels
 * @mean_format: 1: the means are used
 * @conv_stride_x: columns from window to window, 1 to 8
 * @conv_stride_y: lines from window to window, 1 to 8
 * @pad_x_left: columns of padding before the input
 * @pad_x_right: columns of padding behind the input
 * @pad_y_top: lines of padding above the input
 * @pad_y_bottom: lines of padding below the input
 * @dilation_x: distance of the kernel's columns, 1 to 32
 * @dilation_y: distance of the kernel's lines, 1 to 32
 * @reserved2: ignored
 * @pra_truncate: bits that the Winograd pre-addition truncates, 0 to 2
 * @in_precision: enum nvdla_precision of the input in memory
 * @out_precision: enum nvdla_precision that is computed in
 * @pad_val: value of the padding
 * @in_cvt: converter of the input
 * @out_cvt: of the output; only truncates
 */
struct nvdla_conv_op_desc {
	__u8 conv_mode;
	__u8 data_reuse, weight_reuse;
	__u8 skip_data_rls, skip_weight_rls;
	__u8 reserved0;
	__u16 entry_per_slice;
	__u8 data_format;
	__u8 pixel_mapping;
	__u16 fetch_grain;
	__u8 reserved_b[8];
	__u8 batch;
	__u8 weight_format;
	__u8 data_bank, weight_bank;
	__u32 batch_stride;
	__u8 post_extension;
	__u8 pixel_override;
	__u16 release;
	__u16 input_width_csc, input_height_csc, input_channel_csc;
	__u16 kernel_width_csc, kernel_height_csc, kernel_channel_csc;
	__u16 input_width_cmac, input_height_cmac;
	__u32 bytes_per_kernel;
	__s16 mean_ry, mean_gu, mean_bv, mean_ax;
	__u8 mean_format;
	__u8 conv_stride_x, conv_stride_y;
	__u8 pad_x_left, pad_x_right, pad_y_top, pad_y_bottom;
	__u8 dilation_x, dilation_y;
	__u8 reserved2[2];
	__u8 pra_truncate;
	__u8 in_precision, out_precision;
	__s16 pad_val;
	struct nvdla_cvt_param in_cvt, out_cvt;
};

/** NVDLA_LUT_LE_ENTRIES - entries of the linear or exponential table */
#define NVDLA_LUT_LE_ENTRIES 65
/** NVDLA_LUT_LO_ENTRIES - entries of the linear-only table */
#define NVDLA_LUT_LO_ENTRIES 257

/**
 * union nvdla_lut_offset - exponent offset (exponential) or index select (linear)
 * @field: the parts
 * @field.value: signed
 * @field.reserved: ignored
 * @raw: both
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
 * @raw: all of it
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
 * @le_table: linear or exponential table
 * @lo_table: linear-only table
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
 * @hybrid_priority: enum nvdla_lut_priority where both or neither are hit
 * @underflow_priority: enum nvdla_lut_priority below both
 * @overflow_priority: enum nvdla_lut_priority above both
 * @method: enum nvdla_lut_method of LE
 */
struct nvdla_lut_desc {
	__s16 le_table[NVDLA_LUT_LE_ENTRIES], lo_table[NVDLA_LUT_LO_ENTRIES];
	union nvdla_lut_offset le_offset, lo_offset;
	nvdla_u64_a4 le_start, le_end, lo_start, lo_end;
	union nvdla_lut_slope le_underflow, le_overflow, lo_underflow, lo_overflow;
	__u8 hybrid_priority, underflow_priority, overflow_priority;
	__u8 method;
};

/**
 * struct nvdla_sdp_op - one of the SDP units X1, X2, Y
 * @enable: 1 if it works
 * @alu_type: enum nvdla_alu_type
 * @type: enum nvdla_sdp_op_type
 * @mode: enum nvdla_sdp_op_mode
 * @act: enum nvdla_activation
 * @shift_value: bits that the operand of the ALU is shifted left; X1 and X2
 * @truncate: bits that the product is shifted right
 * @precision: enum nvdla_precision of operands in memory
 * @alu_operand: with NVDLA_SDP_PER_LAYER
 * @mul_operand: with NVDLA_SDP_PER_LAYER
 * @alu_cvt: converter of the ALU's operand; Y
 * @mul_cvt: converter of the multiplier's operand; Y
 */
struct nvdla_sdp_op {
	__u8 enable;
	__u8 alu_type;
	__u8 type;
	__u8 mode;
	__u8 act;
	__u8 shift_value, truncate;
	__u8 precision;
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
	struct nvdla_data_cube src_data;
	struct nvdla_data_cube x1_data, x2_data, y_data;
	struct nvdla_data_cube dst_data;
};

/**
 * struct nvdla_sdp_op_desc - SDP operation
 * @src_precision: enum nvdla_precision of the input
 * @dst_precision: enum nvdla_precision of the output
 * @lut_index: look-up table of the task, -1 for none
 * @out_cvt: converter of the output
 * @conv_mode: enum nvdla_conv_mode of the convolution whose stream it takes
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
	__u8 conv_mode;
	__u8 batch_num;
	__u16 reserved0;
	__u32 batch_stride;
	struct nvdla_sdp_op x1_op, x2_op, y_op;
};

/**
 * struct nvdla_pair_surface_desc - cubes of an engine with one input and no operands
 * @src_data: input
 * @dst_data: output
 */
struct nvdla_pair_surface_desc {
	struct nvdla_data_cube src_data, dst_data;
};

/**
 * struct nvdla_pdp_op_desc - pooling
 * @partial_in_width_first: input columns of the first part of a split
 * @partial_in_width_mid: input columns of each part in the middle
 * @partial_in_width_last: input columns of the last part
 * @partial_width_first: output columns of the first part of a split
 * @partial_width_mid: output columns of each part in the middle
 * @partial_width_last: output columns of the last part
 * @split_num: parts, 1 to 64
 * @pool_mode: enum nvdla_pool_mode
 * @pool_width: width of the kernel - 1
 * @pool_height: height of the kernel - 1
 * @stride_x: columns from window to window, 1 to 16
 * @stride_y: lines from window to window, 1 to 16
 * @pad_left: columns of padding before the input
 * @pad_right: columns of padding behind the input
 * @pad_top: lines of padding above the input
 * @pad_bottom: lines of padding below the input
 * @precision: enum nvdla_precision
 * @reserved0: ignored
 * @padding_value: sums of 1 to 7 padded elements of a window
 */
struct nvdla_pdp_op_desc {
	__u16 partial_in_width_first, partial_in_width_mid, partial_in_width_last;
	__u16 partial_width_first, partial_width_mid, partial_width_last;
	__u8 split_num;
	__u8 pool_mode;
	__u8 pool_width, pool_height;
	__u8 stride_x, stride_y;
	__u8 pad_left, pad_right, pad_top, pad_bottom;
	__u8 precision;
	__u8 reserved0;
	__s32 padding_value[7];
};

/**
 * struct nvdla_cdp_op_desc - local response normalisation
 * @in_precision: enum nvdla_precision of the input
 * @out_precision: enum nvdla_precision of the output, the same
 * @lut_index: look-up table of the task
 * @in_cvt: converter of the input
 * @out_cvt: converter of the output
 * @local_size: channels of a sum: 3, 5, 7 or 9
 * @bypass_sqsum: 1: the table is indexed by the input, not by the sum
 * @bypass_out_mul: 1: the output is the table's, not multiplied by the input
 * @reserved0: ignored
 */
struct nvdla_cdp_op_desc {
	__u8 in_precision, out_precision;
	__s16 lut_index;
	struct nvdla_cvt_param in_cvt, out_cvt;
	__u8 local_size;
	__u8 bypass_sqsum, bypass_out_mul;
	__u8 reserved0;
};

/**
 * struct nvdla_rubik_op_desc - reshape
 * @mode: enum nvdla_rubik_mode
 * @precision: enum nvdla_precision
 * @stride_x: NVDLA_RUBIK_CONTRACT: columns of an input element, 1 to 32
 * @stride_y: NVDLA_RUBIK_CONTRACT: lines of an input element, 1 to 32
 */
struct nvdla_rubik_op_desc {
	__u8 mode;
	__u8 precision;
	__u8 stride_x, stride_y;
};

/** NVDLA_OP_DESC_BYTES - size of the operation descriptors that compilers write */
#define NVDLA_OP_DESC_BYTES 116

/**
 * struct nvdla_extended_op_desc - members of an operation behind its engine's descriptor
 * @engine: the descriptor of the engine
 * @nan_to_zero: 1: NaN that the engine reads counts as zero; where it computes in FP16, not
 *               of NVDLA_OP_BDMA and NVDLA_OP_RUBIK
 * @pixel_x_offset: NVDLA_OP_CONV of an image: pixels from the address of each plane to the
 *                  first one of the region that is read. They lie in the same 32 bytes; a
 *                  second plane begins at that many of its pixels, modulo 32 bytes
 * @reserved: zero
 */
struct nvdla_extended_op_desc {
	__u8 engine[NVDLA_OP_DESC_BYTES];
	__u8 nan_to_zero;
	__u8 pixel_x_offset;
	__u16 reserved;
};

/**
 * union nvdla_surface_desc - entry of a task's surface list, by engine
 * @bdma: of NVDLA_OP_BDMA
 * @conv: of NVDLA_OP_CONV
 * @sdp: of NVDLA_OP_SDP
 * @pdp: of NVDLA_OP_PDP
 * @cdp: of NVDLA_OP_CDP
 * @rubik: of NVDLA_OP_RUBIK
 */
union nvdla_surface_desc {
	struct nvdla_bdma_surface_desc bdma;
	struct nvdla_conv_surface_desc conv;
	struct nvdla_sdp_surface_desc sdp;
	struct nvdla_pair_surface_desc pdp, cdp, rubik;
};

/**
 * union nvdla_operation_desc - entry of a task's operation list, by engine
 * @bdma: of NVDLA_OP_BDMA
 * @conv: of NVDLA_OP_CONV
 * @sdp: of NVDLA_OP_SDP
 * @pdp: of NVDLA_OP_PDP
 * @cdp: of NVDLA_OP_CDP
 * @rubik: of NVDLA_OP_RUBIK
 * @extended: of all
 */
union nvdla_operation_desc {
	struct nvdla_bdma_op_desc bdma;
	struct nvdla_conv_op_desc conv;
	struct nvdla_sdp_op_desc sdp;
	struct nvdla_pdp_op_desc pdp;
	struct nvdla_cdp_op_desc cdp;
	struct nvdla_rubik_op_desc rubik;
	struct nvdla_extended_op_desc extended;
};

#endif /* _UAPI_DRM_NVDLA_DESCRIPTORS_H_ */
