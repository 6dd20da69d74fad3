/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_LUT_H
#define NVDLA_LUT_H

#include <drm/nvdla_descriptors.h>

#include "nvdla_io.h"
#include "nvdla_types.h"

/**
 * struct nvdla_lut - a look-up table as an engine holds it
 * @desc: checked table
 * @fp16: the table's slopes are FP16
 */
struct nvdla_lut {
	const struct nvdla_lut_desc *desc;
	bool fp16;
};

/**
 * nvdla_lut_upload() - write a look-up table to an engine
 * @io: access to the core
 * @op_type: NVDLA_OP_SDP or NVDLA_OP_CDP; the engine must not be running
 * @table: table
 * @held: table that the engine holds, or NULL; only differences are written
 */
void nvdla_lut_upload(const struct nvdla_io *io, u32 op_type, const struct nvdla_lut *table,
		      const struct nvdla_lut *held);

#endif /* NVDLA_LUT_H */
