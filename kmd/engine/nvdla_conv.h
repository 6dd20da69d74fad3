/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_CONV_H
#define NVDLA_CONV_H

#include <drm/nvdla_descriptors.h>

#include "nvdla_check.h"
#include "nvdla_types.h"

/*
 * Masks of register fields that CDMA (fetches input and weights) and CSC (feeds the MACs) share, as
 * wide as in the core with the most banks and entries.
 */
#define NVDLA_CONV_DATA_BANK 0x0000001fU
#define NVDLA_CONV_WEIGHT_BANK 0x001f0000U
#define NVDLA_CONV_ENTRIES 0x00003fffU

/**
 * struct nvdla_pixel_format - a row of the table of pixel formats in NVDLA's documents
 * @precision: enum nvdla_precision as which pixels are read
 * @channels: channels of a pixel
 * @bytes: bytes of a pixel in the first plane
 * @uv_bytes: bytes of a pixel in the second plane, 0 if there is none
 */
struct nvdla_pixel_format {
	u8 precision;
	u8 channels;
	u8 bytes;
	u8 uv_bytes;
};

const struct nvdla_pixel_format *nvdla_pixel_format(u32 format);

/**
 * struct nvdla_conv_plan - results of the check of a convolution
 * @image: the input is an image
 * @winograd: winograd mode
 * @compressed: weights are compressed
 * @pixel_x_offset: pixels that are skipped at the start of each line of an image
 * @src_access: index in &nvdla_prepared.accesses of the source, or of its first plane
 * @uv_access: index in &nvdla_prepared.accesses of an image's second plane, or NVDLA_NO_ACCESS
 * @weight_access: index in &nvdla_prepared.accesses of the weights
 * @wmb_access: index in &nvdla_prepared.accesses of the weights' mask, or NVDLA_NO_ACCESS
 * @wgs_access: index in &nvdla_prepared.accesses of kernel groups' sizes, or NVDLA_NO_ACCESS
 */
struct nvdla_conv_plan {
	bool image;
	bool winograd;
	bool compressed;
	u32 pixel_x_offset;
	u32 src_access;
	u32 uv_access;
	u32 weight_access;
	u32 wmb_access;
	u32 wgs_access;
};

/*
 * Returns the number of kernels that share one pass over the input. The core derives it from
 * PROC_PRECISION, which is @op->out_precision, not from the input's precision.
 */
static inline u32 nvdla_group_kernels(const struct nvdla_variant *variant,
				      const struct nvdla_conv_op_desc *op)
{
	return variant->int8_kernels / nvdla_bytes_per_element(op->out_precision);
}

void nvdla_check_conv_op(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			 const struct nvdla_conv_surface_desc *surface,
			 const struct nvdla_conv_plan *plan);
void nvdla_program_conv(struct nvdla_check *check, const struct nvdla_conv_op_desc *op,
			const struct nvdla_conv_surface_desc *surface,
			const struct nvdla_conv_plan *plan);
void nvdla_check_conv_reuse(struct nvdla_check *check);

#endif /* NVDLA_CONV_H */
