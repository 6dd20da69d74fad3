/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_VARIANT_H
#define NVDLA_VARIANT_H

#include "nvdla_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct nvdla_variant - configuration of a core
 * @name: for messages
 * @id: enum drm_nvdla_variant
 * @hw_version: what GLB's S_NVDLA_HW_VERSION reads
 * @engines: bit n is set if operations of enum nvdla_op_type n can run
 * @precisions: bit n is set if enum nvdla_precision n is supported
 * @address_bits: width of the memory interface's addresses
 * @atom_bytes: bytes of an atom: alignment of feature data, of strides and of
 *	BDMA lines
 * @weight_alignment: bytes that weight, WMB and WGS surfaces are aligned to
 * @weight_size_alignment: bytes that the size of those surfaces is a multiple of
 * @mac_channels: channels that a MAC cell takes at once
 * @mac_kernels: output channels at once, INT16 and FP16; twice that for INT8
 * @cbuf_banks: banks of the convolution buffer
 * @cbuf_bank_entries: entries in a bank
 * @cbuf_entry_bytes: bytes of an entry
 * @pdp_line_bytes: bytes of PDP's buffer for partial results
 * @bdma_slots: operations that BDMA queues
 * @has_weight_compression: WMB and WGS surfaces are understood
 * @has_cvsram: there is a second memory interface
 * @intr_mask: status bits that GLB implements
 *
 * All facts about a configuration that code depends on are here, none is an
 * #ifdef. Register offsets are the same in all of them.
 */
struct nvdla_variant {
	const char *name;
	u32 id;
	u32 hw_version;
	u32 engines;
	u32 precisions;
	u32 address_bits;
	u32 atom_bytes;
	u32 weight_alignment;
	u32 weight_size_alignment;
	u32 mac_channels;
	u32 mac_kernels;
	u32 cbuf_banks;
	u32 cbuf_bank_entries;
	u32 cbuf_entry_bytes;
	u32 pdp_line_bytes;
	u32 bdma_slots;
	bool has_weight_compression;
	bool has_cvsram;
	u32 intr_mask;
};

/**
 * nvdla_variant_nv_full() - the nvdlav1 configuration
 *
 * Return: a constant that is never freed.
 */
const struct nvdla_variant *nvdla_variant_nv_full(void);

#ifdef __cplusplus
}
#endif

#endif /* NVDLA_VARIANT_H */
