// SPDX-License-Identifier: GPL-2.0-only OR MIT

#include "nvdla_variant.h"

#include <drm/nvdla_descriptors.h>

#include "nvdla_platform.h"

/* enum drm_nvdla_variant; the engine does not depend on DRM's headers. */
#define NVDLA_VARIANT_ID_NV_FULL 0

static const struct nvdla_variant nv_full = {
	.name = "nv_full",
	.id = NVDLA_VARIANT_ID_NV_FULL,
	.hw_version = 0x303031,
	.engines = BIT(NVDLA_OP_BDMA) | BIT(NVDLA_OP_CONV) | BIT(NVDLA_OP_SDP) |
		   BIT(NVDLA_OP_PDP) | BIT(NVDLA_OP_CDP) | BIT(NVDLA_OP_RUBIK),
	.precisions = BIT(NVDLA_PRECISION_INT8) | BIT(NVDLA_PRECISION_INT16) |
		      BIT(NVDLA_PRECISION_FP16),
	.address_bits = 64,
	.atom_bytes = 32,
	.weight_alignment = 256,
	.weight_size_alignment = 128,
	.mac_channels = 64,
	.mac_kernels = 16,
	.cbuf_banks = 16,
	.cbuf_bank_entries = 256,
	.cbuf_entry_bytes = 128,
	.pdp_line_bytes = 7 * 1024,
	.bdma_slots = 20,
	.has_weight_compression = true,
	.has_cvsram = true,
	.intr_mask = 0x3f03ff,
};

const struct nvdla_variant *nvdla_variant_nv_full(void)
{
	return &nv_full;
}
