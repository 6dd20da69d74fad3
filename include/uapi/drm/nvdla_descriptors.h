/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of an NVDLA task graph, as a submit hands them to the driver.
 *
 * These are the layouts that existing compilers write into loadables (firmware
 * interface 0.12, in which struct nvdla_data_cube has 32 bytes). They are little endian and have no
 * alignment above four bytes. A task is a set of arrays that share one index: graph node i,
 * operation i and surface i describe the same hardware operation.
 *
 * Structures may grow at their ends, see &struct drm_nvdla_task. Members named reserved are
 * ignored, because compilers leave arbitrary values there. Documents that are named here are
 * NVDLA's.
 */
#ifndef _UAPI_DRM_NVDLA_DESCRIPTORS_H_
#define _UAPI_DRM_NVDLA_DESCRIPTORS_H_

#include "nvdla_graph.h"
#include "nvdla_pipeline.h"

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
 * @num_transfers: ignored; the driver uses the number in struct nvdla_bdma_surface_desc
 * @reserved: ignored
 */
struct nvdla_bdma_op_desc {
	__u16 num_transfers, reserved;
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
 * enum nvdla_pool_mode - function of a pooling window
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
 * @padding_value: entry i is the sum of i + 1 elements of padding, added to sums of a window
 */
struct nvdla_pdp_op_desc {
	__u16 partial_in_width_first, partial_in_width_mid, partial_in_width_last;
	__u16 partial_width_first, partial_width_mid, partial_width_last;
	__u8 split_num, pool_mode;
	__u8 pool_width, pool_height, stride_x, stride_y;
	__u8 pad_left, pad_right, pad_top, pad_bottom;
	__u8 precision, reserved0;
	__s32 padding_value[7];
};

/**
 * struct nvdla_cdp_op_desc - local response normalisation
 * @in_precision: enum nvdla_precision of the input
 * @out_precision: enum nvdla_precision of the output, the same as @in_precision
 * @lut_index: index into the task's look-up tables
 * @in_cvt: converter of the input
 * @out_cvt: converter of the output
 * @local_size: channels whose squares are summed: 3, 5, 7 or 9
 * @bypass_sqsum: 1: the table is indexed by the input, not by the sum of squares
 * @bypass_out_mul: 1: the table's output is not multiplied by the input
 * @reserved0: ignored
 */
struct nvdla_cdp_op_desc {
	__u8 in_precision, out_precision;
	__s16 lut_index;
	struct nvdla_cvt_param in_cvt, out_cvt;
	__u8 local_size, bypass_sqsum, bypass_out_mul, reserved0;
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
 * struct nvdla_rubik_op_desc - reshape
 * @mode: enum nvdla_rubik_mode
 * @precision: enum nvdla_precision
 * @stride_x: NVDLA_RUBIK_CONTRACT: output columns for each input column, 1 to 32
 * @stride_y: NVDLA_RUBIK_CONTRACT: output lines for each input line, 1 to 32
 */
struct nvdla_rubik_op_desc {
	__u8 mode, precision, stride_x, stride_y;
};

/** NVDLA_OP_DESC_BYTES - size of the operation descriptors that compilers write */
#define NVDLA_OP_DESC_BYTES 116

/**
 * struct nvdla_extended_op_desc - members of an operation behind its engine's descriptor
 * @engine: the descriptor of the engine
 * @nan_to_zero: 1: NaN that the engine reads counts as zero; only for FP16, and not for
 *               NVDLA_OP_BDMA and NVDLA_OP_RUBIK
 * @pixel_x_offset: NVDLA_OP_CONV of an image: pixels from the address of the first plane to the
 *                  first pixel that is read. Both lie in the same atom
 *                  (&drm_nvdla_device_info.atom_bytes). In a second plane, the bytes of as many
 *                  pixels, modulo an atom, are skipped
 * @reserved: zero
 */
struct nvdla_extended_op_desc {
	__u8 engine[NVDLA_OP_DESC_BYTES];
	__u8 nan_to_zero, pixel_x_offset;
	__u16 reserved;
};

/**
 * union nvdla_surface_desc - entry of a task's surface list: one member for each engine
 * @bdma: for operations of NVDLA_OP_BDMA
 * @conv: for operations of NVDLA_OP_CONV
 * @sdp: for operations of NVDLA_OP_SDP
 * @pdp: for operations of NVDLA_OP_PDP
 * @cdp: for operations of NVDLA_OP_CDP
 * @rubik: for operations of NVDLA_OP_RUBIK
 */
union nvdla_surface_desc {
	struct nvdla_bdma_surface_desc bdma;
	struct nvdla_conv_surface_desc conv;
	struct nvdla_sdp_surface_desc sdp;
	struct nvdla_pair_surface_desc pdp, cdp, rubik;
};

/**
 * union nvdla_operation_desc - entry of a task's operation list: one member for each engine
 * @bdma: for operations of NVDLA_OP_BDMA
 * @conv: for operations of NVDLA_OP_CONV
 * @sdp: for operations of NVDLA_OP_SDP
 * @pdp: for operations of NVDLA_OP_PDP
 * @cdp: for operations of NVDLA_OP_CDP
 * @rubik: for operations of NVDLA_OP_RUBIK
 * @extended: for all operations: the member of the engine, followed by further members
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
