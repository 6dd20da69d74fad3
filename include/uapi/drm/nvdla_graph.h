/* SPDX-License-Identifier: MIT */
/* Task graphs: operations, their edges, and cubes in memory. See nvdla_descriptors.h. */
#ifndef _UAPI_DRM_NVDLA_GRAPH_H_
#define _UAPI_DRM_NVDLA_GRAPH_H_

#include <linux/types.h>

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

/** NVDLA_NUM_OP_TYPES - number of values of enum nvdla_op_type */
#define NVDLA_NUM_OP_TYPES 6

/**
 * enum nvdla_event - event that a consumer in the task graph waits for
 */
enum nvdla_event {
	/** @NVDLA_EVENT_NONE: no event; only where there is no edge */
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
 * enum nvdla_precision - type of an element
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
 * struct nvdla_consumer - edge of the task graph
 * @index: node that waits, or -1 for no edge
 * @event: enum nvdla_event that the node waits for
 * @reserved: ignored
 */
struct nvdla_consumer {
	__s16 index;
	__u8 event, reserved;
};

/**
 * struct nvdla_graph_node - one operation in the task graph
 * @index: position of the node; ignored, because compilers do not always write it
 * @roi_index: region of interest; must be 0, as only tasks of one region are supported
 * @op_type: enum nvdla_op_type
 * @dependency_count: number of edges that lead here; ignored, as the driver counts them itself
 * @reserved: ignored
 * @consumers: nodes that wait for this one, indexed by their engine (enum nvdla_op_type)
 * @fused_parent: the producer whose stream this operation takes (CONV for SDP, SDP for PDP); the
 *	producer waits for this operation's event
 */
struct nvdla_graph_node {
	__s16 index;
	__s8 roi_index;
	__u8 op_type, dependency_count, reserved[3];
	struct nvdla_consumer consumers[NVDLA_NUM_OP_TYPES];
	struct nvdla_consumer fused_parent;
};

/**
 * struct nvdla_data_cube - place and layout of a cube in memory
 * @type: enum nvdla_mem_type
 * @address: index into the task's address table, -1 with NVDLA_MEM_HW
 * @offset: bytes from that address to the cube
 * @size: size in bytes according to the compiler; informative
 * @width: number of columns
 * @height: number of lines
 * @channel: number of channels
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
 * @enable: 1 to use the converter; only for converters that can be bypassed
 * @offset: subtracted from the input
 */
struct nvdla_cvt_param {
	__s16 scale;
	__u8 truncate, enable;
	__s32 offset;
};

#endif /* _UAPI_DRM_NVDLA_GRAPH_H_ */
