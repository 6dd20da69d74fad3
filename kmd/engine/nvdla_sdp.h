/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_SDP_H
#define NVDLA_SDP_H

#include <drm/nvdla_descriptors.h>

#include "nvdla_check.h"
#include "nvdla_types.h"

/** enum nvdla_sdp_unit - units of SDP; the registers call them BS, BN and EW */
enum nvdla_sdp_unit {
	NVDLA_SDP_X1 = 0,
	NVDLA_SDP_X2 = 1,
	NVDLA_SDP_Y = 2,
};

#define NVDLA_SDP_NUM_UNITS 3

/**
 * struct nvdla_sdp_unit_info - one unit of an operation
 * @unit: the unit
 * @is_y: the unit is Y, which has converters and a look-up table
 * @op: the unit's part of the operation descriptor
 * @cube: the unit's operands in memory
 */
struct nvdla_sdp_unit_info {
	enum nvdla_sdp_unit unit;
	bool is_y;
	const struct nvdla_sdp_op *op;
	const struct nvdla_data_cube *cube;
};

/**
 * struct nvdla_sdp_plan - results of the check of an operation
 * @src: source cube; all other cubes have its size
 * @dst: destination cube
 * @flying_in: the source is the convolution's stream
 * @flying_out: the output is a stream to PDP
 * @comparison: Y compares; nothing is written
 * @proc: enum nvdla_precision that the pipeline works in
 * @alignment: alignment of addresses and strides, bytes
 * @src_access: index in &nvdla_prepared.accesses of the source, or NVDLA_NO_ACCESS
 * @dst_access: index in &nvdla_prepared.accesses of the destination, or NVDLA_NO_ACCESS
 * @unit_rdma: per unit: its operands come from memory
 * @unit_access: per unit: index in &nvdla_prepared.accesses of its operands, or NVDLA_NO_ACCESS
 * @line_stride: per unit: line stride of its operands, bytes
 * @surf_stride: per unit: surface stride of its operands, bytes
 */
struct nvdla_sdp_plan {
	const struct nvdla_data_cube *src;
	const struct nvdla_data_cube *dst;
	bool flying_in;
	bool flying_out;
	bool comparison;
	u32 proc;
	u32 alignment;
	u32 src_access;
	u32 dst_access;
	bool unit_rdma[NVDLA_SDP_NUM_UNITS];
	u32 unit_access[NVDLA_SDP_NUM_UNITS];
	u32 line_stride[NVDLA_SDP_NUM_UNITS];
	u32 surf_stride[NVDLA_SDP_NUM_UNITS];
};

void nvdla_program_sdp(struct nvdla_check *check, const struct nvdla_sdp_op_desc *op,
		       const struct nvdla_sdp_unit_info *infos, const struct nvdla_sdp_plan *plan);

#endif /* NVDLA_SDP_H */
