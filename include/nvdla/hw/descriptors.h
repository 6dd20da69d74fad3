/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of an NVDLA task graph.
 *
 * These are the layouts that existing compilers write into loadables (firmware
 * interface 0.12, 32-byte data cubes). They are little endian and have no
 * alignment above four bytes. A task is a set of arrays that share one index: graph node i,
 * operation i and surface i describe the same hardware operation.
 *
 * Older files (firmware interface 0.10 and 0.11) carry a 28-byte data cube
 * without the offset member; user space converts those, nobody else sees them.
 */
#ifndef NVDLA_HW_DESCRIPTORS_H
#define NVDLA_HW_DESCRIPTORS_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/build_bug.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
#define NVDLA_ASSERT_SIZE(type, size) static_assert(sizeof(type) == (size), #type)
#else
#define NVDLA_ASSERT_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#endif

/* Two layouts have 64-bit members in structures aligned to four bytes. */
typedef __u64 __attribute__((aligned(4))) nvdla_u64_a4;
typedef __s64 __attribute__((aligned(4))) nvdla_s64_a4;

/** enum nvdla_op_type - hardware engine that runs an operation */
enum nvdla_op_type {
	NVDLA_OP_BDMA = 0,
	NVDLA_OP_CONV = 1,
	NVDLA_OP_SDP = 2,
	NVDLA_OP_PDP = 3,
	NVDLA_OP_CDP = 4,
	NVDLA_OP_RUBIK = 5,
};

#define NVDLA_NUM_OP_TYPES 6

/** enum nvdla_event - what a consumer in the task graph waits for */
enum nvdla_event {
	NVDLA_EVENT_NONE = 0,
	NVDLA_EVENT_OP_COMPLETED = 1,
	NVDLA_EVENT_OP_PROGRAMMED = 2,
	NVDLA_EVENT_OP_ENABLED = 3,
	NVDLA_EVENT_CDMA_WT_DONE = 4,
	NVDLA_EVENT_CDMA_DT_DONE = 5,
};

/** enum nvdla_mem_type - where a data cube lives */
enum nvdla_mem_type {
	NVDLA_MEM_MC = 0,	/* system memory, reached through MCIF */
	NVDLA_MEM_CV = 1,	/* on-chip CVSRAM, reached through CVIF */
	NVDLA_MEM_HW = 2,	/* on the fly: a stream between two engines */
};

enum nvdla_precision {
	NVDLA_PRECISION_INT8 = 0,
	NVDLA_PRECISION_INT16 = 1,
	NVDLA_PRECISION_FP16 = 2,
};

enum nvdla_conv_mode {
	NVDLA_CONV_MODE_DIRECT = 0,
	NVDLA_CONV_MODE_WINOGRAD = 1,
};

enum nvdla_weight_format {
	NVDLA_WEIGHT_UNCOMPRESSED = 0,
	NVDLA_WEIGHT_COMPRESSED = 1,
};

/**
 * enum nvdla_data_format - memory layout of a convolution input
 *
 * Values 0 to 35 are the pixel formats, in the order of the table "Pixel
 * formats and valid setting" of the in-memory format document.
 */
enum nvdla_data_format {
	NVDLA_FORMAT_FIRST_PIXEL = 0,
	NVDLA_FORMAT_LAST_PIXEL = 35,
	NVDLA_FORMAT_FEATURE = 36,
};

enum nvdla_activation {
	NVDLA_ACT_NONE = 0,
	NVDLA_ACT_RELU = 1,
	NVDLA_ACT_LUT = 2,
	NVDLA_ACT_PRELU = 3,
};

/** enum nvdla_sdp_op_type - which halves of an X1, X2 or Y unit work */
enum nvdla_sdp_op_type {
	NVDLA_SDP_OP_NONE = 0,
	NVDLA_SDP_OP_MUL = 1,
	NVDLA_SDP_OP_ADD = 2,
	NVDLA_SDP_OP_BOTH = 3,
};

enum nvdla_alu_type {
	NVDLA_ALU_MAX = 0,
	NVDLA_ALU_MIN = 1,
	NVDLA_ALU_SUM = 2,
	NVDLA_ALU_EQL = 3,
};

/** enum nvdla_sdp_op_mode - where the operands of an SDP unit come from */
enum nvdla_sdp_op_mode {
	NVDLA_SDP_PER_LAYER = 0,	/* registers */
	NVDLA_SDP_PER_KERNEL = 1,	/* memory, one per channel */
	NVDLA_SDP_PER_POINT = 2,	/* memory, one per element */
};

enum nvdla_pool_mode {
	NVDLA_POOL_AVG = 0,
	NVDLA_POOL_MAX = 1,
	NVDLA_POOL_MIN = 2,
};

enum nvdla_rubik_mode {
	NVDLA_RUBIK_CONTRACT = 0,
	NVDLA_RUBIK_SPLIT = 1,
	NVDLA_RUBIK_MERGE = 2,
};

enum nvdla_lut_method {
	NVDLA_LUT_EXPONENTIAL = 0,
	NVDLA_LUT_LINEAR = 1,
};

enum nvdla_lut_priority {
	NVDLA_LUT_PRIORITY_LE = 0,
	NVDLA_LUT_PRIORITY_LO = 1,
};

/** struct nvdla_network_desc - root of a task, first bytes of its first address */
struct nvdla_network_desc {
	__s16 operation_desc_index;
	__s16 surface_desc_index;
	__s16 dependency_graph_index;
	__s16 lut_data_index;
	__s16 roi_array_index;
	__s16 surface_index;
	__s16 stat_list_index;
	__s16 reserved1;
	__s16 op_head[NVDLA_NUM_OP_TYPES];
	__u16 num_rois;
	__u16 num_operations;
	__u16 num_luts;
	__u16 num_addresses;
	__s16 input_layer;
	__u8 dynamic_roi;
	__u8 reserved;
};

NVDLA_ASSERT_SIZE(struct nvdla_network_desc, 40);

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

NVDLA_ASSERT_SIZE(struct nvdla_consumer, 4);

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

NVDLA_ASSERT_SIZE(struct nvdla_graph_node, 36);

/**
 * struct nvdla_data_cube - where and how a cube lies in memory
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
	__u16 width;
	__u16 height;
	__u16 channel;
	__u16 reserved;
	__u32 line_stride;
	__u32 surf_stride;
	__u32 plane_stride;
};

NVDLA_ASSERT_SIZE(struct nvdla_data_cube, 32);

/** struct nvdla_cvt_param - converter: (x - offset) * scale >> truncate */
struct nvdla_cvt_param {
	__s16 scale;
	__u8 truncate;
	__u8 enable;
	__s32 offset;
};

NVDLA_ASSERT_SIZE(struct nvdla_cvt_param, 8);

#define NVDLA_BDMA_MAX_TRANSFERS 20

/** struct nvdla_bdma_transfer - one copy; sizes and strides in bytes */
struct nvdla_bdma_transfer {
	__s16 src_address;
	__s16 dst_address;
	__u32 line_size;
	__u32 line_repeat;
	__u32 src_line;
	__u32 dst_line;
	__u32 surf_repeat;
	__u32 src_surf;
	__u32 dst_surf;
};

NVDLA_ASSERT_SIZE(struct nvdla_bdma_transfer, 32);

struct nvdla_bdma_surface_desc {
	__u8 src_type;
	__u8 dst_type;
	__u16 num_transfers;
	struct nvdla_bdma_transfer transfers[NVDLA_BDMA_MAX_TRANSFERS];
};

NVDLA_ASSERT_SIZE(struct nvdla_bdma_surface_desc, 644);

struct nvdla_bdma_op_desc {
	__u16 num_transfers;
	__u16 reserved;
};

NVDLA_ASSERT_SIZE(struct nvdla_bdma_op_desc, 4);

struct nvdla_conv_surface_desc {
	struct nvdla_data_cube weight_data;
	struct nvdla_data_cube wmb_data;
	struct nvdla_data_cube wgs_data;
	struct nvdla_data_cube src_data;
	struct nvdla_data_cube dst_data;
	nvdla_s64_a4 offset_u;
	__u32 in_line_uv_stride;
};

NVDLA_ASSERT_SIZE(struct nvdla_conv_surface_desc, 172);

struct nvdla_conv_op_desc {
	__u8 conv_mode;
	__u8 data_reuse;
	__u8 weight_reuse;
	__u8 skip_data_rls;
	__u8 skip_weight_rls;
	__u8 reserved0;
	__u16 entry_per_slice;
	__u8 data_format;
	__u8 pixel_mapping;
	__u16 fetch_grain;
	__u8 reserved_b[8];
	__u8 batch;
	__u8 weight_format;
	__u8 data_bank;
	__u8 weight_bank;
	__u32 batch_stride;
	__u8 post_extension;
	__u8 pixel_override;
	__u16 release;
	__u16 input_width_csc;
	__u16 input_height_csc;
	__u16 input_channel_csc;
	__u16 kernel_width_csc;
	__u16 kernel_height_csc;
	__u16 kernel_channel_csc;
	__u16 input_width_cmac;
	__u16 input_height_cmac;
	__u32 bytes_per_kernel;
	__s16 mean_ry;
	__s16 mean_gu;
	__s16 mean_bv;
	__s16 mean_ax;
	__u8 mean_format;
	__u8 conv_stride_x;
	__u8 conv_stride_y;
	__u8 pad_x_left;
	__u8 pad_x_right;
	__u8 pad_y_top;
	__u8 pad_y_bottom;
	__u8 dilation_x;
	__u8 dilation_y;
	__u8 reserved2[2];
	__u8 pra_truncate;
	__u8 in_precision;
	__u8 out_precision;
	__s16 pad_val;
	struct nvdla_cvt_param in_cvt;
	struct nvdla_cvt_param out_cvt;
};

NVDLA_ASSERT_SIZE(struct nvdla_conv_op_desc, 92);

#define NVDLA_LUT_LE_ENTRIES 65
#define NVDLA_LUT_LO_ENTRIES 257

/** union nvdla_lut_offset - exponent offset (exponential) or index select (linear) */
union nvdla_lut_offset {
	struct {
		__s8 value;
		__u8 reserved;
	} field;
	__u16 raw;
};

/** union nvdla_lut_slope - slope beyond an edge: integer scale and shift, or FP16 */
union nvdla_lut_slope {
	struct {
		__s16 scale;
		__s8 shifter;
		__u8 reserved;
	} field;
	__u32 raw;
};

struct nvdla_lut_desc {
	__s16 le_table[NVDLA_LUT_LE_ENTRIES];
	__s16 lo_table[NVDLA_LUT_LO_ENTRIES];
	union nvdla_lut_offset le_offset;
	union nvdla_lut_offset lo_offset;
	nvdla_u64_a4 le_start;
	nvdla_u64_a4 le_end;
	nvdla_u64_a4 lo_start;
	nvdla_u64_a4 lo_end;
	union nvdla_lut_slope le_underflow;
	union nvdla_lut_slope le_overflow;
	union nvdla_lut_slope lo_underflow;
	union nvdla_lut_slope lo_overflow;
	__u8 hybrid_priority;
	__u8 underflow_priority;
	__u8 overflow_priority;
	__u8 method;
};

NVDLA_ASSERT_SIZE(struct nvdla_lut_desc, 700);

/** struct nvdla_sdp_op - one of the SDP units X1, X2, Y */
struct nvdla_sdp_op {
	__u8 enable;
	__u8 alu_type;
	__u8 type;
	__u8 mode;
	__u8 act;
	__u8 shift_value;
	__u8 truncate;
	__u8 precision;
	__s32 alu_operand;
	__s32 mul_operand;
	struct nvdla_cvt_param alu_cvt;
	struct nvdla_cvt_param mul_cvt;
};

NVDLA_ASSERT_SIZE(struct nvdla_sdp_op, 32);

struct nvdla_sdp_surface_desc {
	struct nvdla_data_cube src_data;
	struct nvdla_data_cube x1_data;
	struct nvdla_data_cube x2_data;
	struct nvdla_data_cube y_data;
	struct nvdla_data_cube dst_data;
};

NVDLA_ASSERT_SIZE(struct nvdla_sdp_surface_desc, 160);

struct nvdla_sdp_op_desc {
	__u8 src_precision;
	__u8 dst_precision;
	__s16 lut_index;
	struct nvdla_cvt_param out_cvt;
	__u8 conv_mode;
	__u8 batch_num;
	__u16 reserved0;
	__u32 batch_stride;
	struct nvdla_sdp_op x1_op;
	struct nvdla_sdp_op x2_op;
	struct nvdla_sdp_op y_op;
};

NVDLA_ASSERT_SIZE(struct nvdla_sdp_op_desc, 116);

struct nvdla_pdp_surface_desc {
	struct nvdla_data_cube src_data;
	struct nvdla_data_cube dst_data;
};

NVDLA_ASSERT_SIZE(struct nvdla_pdp_surface_desc, 64);

struct nvdla_pdp_op_desc {
	__u16 partial_in_width_first;
	__u16 partial_in_width_mid;
	__u16 partial_in_width_last;
	__u16 partial_width_first;
	__u16 partial_width_mid;
	__u16 partial_width_last;
	__u8 split_num;
	__u8 pool_mode;
	__u8 pool_width;	/* kernel width - 1 */
	__u8 pool_height;	/* kernel height - 1 */
	__u8 stride_x;
	__u8 stride_y;
	__u8 pad_left;
	__u8 pad_right;
	__u8 pad_top;
	__u8 pad_bottom;
	__u8 precision;
	__u8 reserved0;
	__s32 padding_value[7];
};

NVDLA_ASSERT_SIZE(struct nvdla_pdp_op_desc, 52);

struct nvdla_cdp_surface_desc {
	struct nvdla_data_cube src_data;
	struct nvdla_data_cube dst_data;
};

NVDLA_ASSERT_SIZE(struct nvdla_cdp_surface_desc, 64);

struct nvdla_cdp_op_desc {
	__u8 in_precision;
	__u8 out_precision;
	__s16 lut_index;
	struct nvdla_cvt_param in_cvt;
	struct nvdla_cvt_param out_cvt;
	__u8 local_size;
	__u8 bypass_sqsum;
	__u8 bypass_out_mul;
	__u8 reserved0;
};

NVDLA_ASSERT_SIZE(struct nvdla_cdp_op_desc, 24);

struct nvdla_rubik_surface_desc {
	struct nvdla_data_cube src_data;
	struct nvdla_data_cube dst_data;
};

NVDLA_ASSERT_SIZE(struct nvdla_rubik_surface_desc, 64);

struct nvdla_rubik_op_desc {
	__u8 mode;
	__u8 precision;
	__u8 stride_x;
	__u8 stride_y;
};

NVDLA_ASSERT_SIZE(struct nvdla_rubik_op_desc, 4);

/** union nvdla_surface_desc - entry of a task's surface list */
union nvdla_surface_desc {
	struct nvdla_bdma_surface_desc bdma;
	struct nvdla_conv_surface_desc conv;
	struct nvdla_sdp_surface_desc sdp;
	struct nvdla_pdp_surface_desc pdp;
	struct nvdla_cdp_surface_desc cdp;
	struct nvdla_rubik_surface_desc rubik;
};

NVDLA_ASSERT_SIZE(union nvdla_surface_desc, 644);

/** union nvdla_operation_desc - entry of a task's operation list */
union nvdla_operation_desc {
	struct nvdla_bdma_op_desc bdma;
	struct nvdla_conv_op_desc conv;
	struct nvdla_sdp_op_desc sdp;
	struct nvdla_pdp_op_desc pdp;
	struct nvdla_cdp_op_desc cdp;
	struct nvdla_rubik_op_desc rubik;
};

NVDLA_ASSERT_SIZE(union nvdla_operation_desc, 116);

#ifdef __cplusplus
}
#endif

#endif /* NVDLA_HW_DESCRIPTORS_H */
