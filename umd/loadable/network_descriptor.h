/* SPDX-License-Identifier: MIT */
/* A loadable's description of a task, before its descriptors; the driver never sees it. */
#pragma once

#include <drm/nvdla_descriptors.h>

/**
 * \brief Root of a task: the bytes at the first address of the task's list
 *
 * Indices are into the task's address list, -1 for none.
 */
struct nvdla_network_desc {
	__s16 operation_desc_index;
	__s16 surface_desc_index;
	__s16 dependency_graph_index;
	__s16 lut_data_index;
	__s16 roi_array_index;
	__s16 surface_index; /**< index of the first surface; unused */
	__s16 stat_list_index;
	__s16 reserved1;
	__s16 op_head[NVDLA_NUM_OP_TYPES]; /**< per engine: number of its first operation, or -1 */
	__u16 num_rois;
	__u16 num_operations; /**< number of entries of graph, operations and surfaces */
	__u16 num_luts;
	__u16 num_addresses;
	__s16 input_layer; /**< unused */
	__u8 dynamic_roi;  /**< unused */
	__u8 reserved;
};

static_assert(sizeof(nvdla_network_desc) == 40);
