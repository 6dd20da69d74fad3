// SPDX-License-Identifier: GPL-2.0-only OR MIT

#include "nvdla_variant.h"

#include <drm/nvdla_accel.h>

#include "nvdla_platform.h"

#define KIB(n) ((n) * 1024)

static const u32 first_map[NVDLA_NUM_UNITS] = {
	NVDLA_GLB_BASE, NVDLA_GEC_BASE, NVDLA_MCIF_BASE, NVDLA_CVIF_BASE, NVDLA_BDMA_BASE,
	NVDLA_CDMA_BASE, NVDLA_CSC_BASE, NVDLA_CMAC_A_BASE, NVDLA_CMAC_B_BASE, NVDLA_CACC_BASE,
	NVDLA_SDP_RDMA_BASE, NVDLA_SDP_BASE, NVDLA_PDP_RDMA_BASE, NVDLA_PDP_BASE,
	NVDLA_CDP_RDMA_BASE, NVDLA_CDP_BASE, NVDLA_RBK_BASE,
};

/*
 * Base addresses of the units in the cores after nv_full; units are in nv_full's order. The page at
 * 0 is the configuration ROM. Units that some of these cores lack have the highest addresses.
 */
static const u32 later_map[NVDLA_NUM_UNITS] = {
	0x01000, 0x0e000, 0x02000, 0x0f000, 0x10000, 0x03000, 0x04000, 0x05000, 0x06000,
	0x07000, 0x08000, 0x09000, 0x0a000, 0x0b000, 0x0c000, 0x0d000, 0x11000,
};

/* Members that are the same in all cores after nv_full. */
#define LATER_CORE \
	.hw_version = 0x303031, \
	.unit_base = later_map, \
	.engines = BIT(NVDLA_OP_CONV) | BIT(NVDLA_OP_SDP) | BIT(NVDLA_OP_PDP) | \
		   BIT(NVDLA_OP_CDP), \
	.precisions = BIT(NVDLA_PRECISION_INT8), \
	.weight_alignment = 256, \
	.weight_slack = 64, \
	.max_batch = 1, \
	.intr_mask = 0x3f003f, \
	.fetches_unpacked_by_line = true, \
	.image_stride_in_kernel = true

#define SMALL_256 \
	.address_bits = 32, \
	.atom_bytes = 8, \
	.weight_size_alignment = 32, \
	.mac_channels = 32, \
	.int8_kernels = 8, \
	.cbuf_banks = 32, \
	.cbuf_bank_entries = 128, \
	.cbuf_entry_bytes = 32, \
	.pdp_line_bytes = KIB(7) / 4

const struct nvdla_variant nvdla_variants[NVDLA_NUM_VARIANTS] = {
	{
		.name = "nv_full",
		.id = DRM_NVDLA_VARIANT_NV_FULL,
		.hw_version = 0x303031,
		.unit_base = first_map,
		.engines = BIT(NVDLA_OP_BDMA) | BIT(NVDLA_OP_CONV) | BIT(NVDLA_OP_SDP) |
			   BIT(NVDLA_OP_PDP) | BIT(NVDLA_OP_CDP) | BIT(NVDLA_OP_RUBIK),
		.precisions = BIT(NVDLA_PRECISION_INT8) | BIT(NVDLA_PRECISION_INT16) |
			      BIT(NVDLA_PRECISION_FP16),
		.address_bits = 64,
		.atom_bytes = 32,
		.weight_alignment = 256,
		.weight_size_alignment = 128,
		.weight_slack = 128,
		.mac_channels = 64,
		.int8_kernels = 32,
		.cbuf_banks = 16,
		.cbuf_bank_entries = 256,
		.cbuf_entry_bytes = 128,
		.pdp_line_bytes = KIB(7),
		.bdma_slots = 20,
		.max_batch = 32,
		.has_winograd = true,
		.has_weight_compression = true,
		.has_sdp_y = true,
		.has_cvsram = true,
		.intr_mask = 0x3f03ff,
	}, {
		.name = "nv_small",
		.id = DRM_NVDLA_VARIANT_NV_SMALL,
		LATER_CORE,
		.address_bits = 32,
		.atom_bytes = 8,
		.weight_size_alignment = 8,
		.mac_channels = 8,
		.int8_kernels = 8,
		.cbuf_banks = 32,
		.cbuf_bank_entries = 512,
		.cbuf_entry_bytes = 8,
		.pdp_line_bytes = KIB(7) / 4,
	}, {
		.name = "nv_large",
		.id = DRM_NVDLA_VARIANT_NV_LARGE,
		LATER_CORE,
		.address_bits = 64,
		.atom_bytes = 32,
		.weight_size_alignment = 64,
		.mac_channels = 64,
		.int8_kernels = 32,
		.cbuf_banks = 16,
		.cbuf_bank_entries = 512,
		.cbuf_entry_bytes = 64,
		.pdp_line_bytes = KIB(7),
		.has_sdp_y = true,
		.has_cvsram = true,
	}, {
		.name = "nv_small_256",
		.id = DRM_NVDLA_VARIANT_NV_SMALL_256,
		LATER_CORE,
		SMALL_256,
	}, {
		.name = "nv_small_256_full",
		.id = DRM_NVDLA_VARIANT_NV_SMALL_256_FULL,
		LATER_CORE,
		SMALL_256,
		.has_sdp_y = true,
		.has_cvsram = true,
	},
};

void nvdla_variant_tell(const struct nvdla_variant *variant, struct drm_nvdla_device_info *info)
{
	info->variant = variant->id;
	info->engines = variant->engines;
	info->precisions = variant->precisions;
	info->atom_bytes = variant->atom_bytes;
	info->capabilities =
		(variant->has_winograd ? DRM_NVDLA_CAPABILITY_WINOGRAD : 0) |
		(variant->has_weight_compression ? DRM_NVDLA_CAPABILITY_COMPRESSION : 0) |
		(variant->has_sdp_y ? DRM_NVDLA_CAPABILITY_SDP_Y : 0);
	info->max_batch = variant->max_batch;
	info->weight_alignment = variant->weight_alignment;
	info->weight_size_alignment = variant->weight_size_alignment;
	info->mac_channels = variant->mac_channels;
	info->int8_kernels = variant->int8_kernels;
	info->cbuf_banks = variant->cbuf_banks;
	info->cbuf_bank_entries = variant->cbuf_bank_entries;
	info->cbuf_entry_bytes = variant->cbuf_entry_bytes;
}

u32 nvdla_variant_csb_bytes(const struct nvdla_variant *variant)
{
	/* In later_map, BDMA and RUBIK come after the units that all cores have. */
	return variant->engines & (BIT(NVDLA_OP_BDMA) | BIT(NVDLA_OP_RUBIK)) ? NVDLA_CSB_SIZE :
									       KIB(64);
}
