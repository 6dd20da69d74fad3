/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_VARIANT_H
#define NVDLA_VARIANT_H

#include <nvdla/hw/registers.h>

#include "nvdla_types.h"

/** NVDLA_NUM_UNITS - units with registers, GLB to RUBIK; each has a page of 4 KiB */
#define NVDLA_NUM_UNITS 17

/** NVDLA_NUM_VARIANTS - entries of nvdla_variants */
#define NVDLA_NUM_VARIANTS 5

/** NVDLA_NUM_GROUPS - register groups of an engine */
#define NVDLA_NUM_GROUPS 2

/**
 * enum nvdla_group_state - state of a register group of an engine
 * @NVDLA_GROUP_IDLE: free
 * @NVDLA_GROUP_PROGRAMMED: registers are written, the operation waits for its dependencies
 * @NVDLA_GROUP_ENABLED: op_enable is set, the operation runs or is queued
 */
enum nvdla_group_state {
	NVDLA_GROUP_IDLE = 0,
	NVDLA_GROUP_PROGRAMMED = 1,
	NVDLA_GROUP_ENABLED = 2,
};

/**
 * struct nvdla_variant - configuration of a core
 * @name: for messages
 * @id: enum drm_nvdla_variant, NVDLA_PCI_VARIANT_*
 * @hw_version: value of GLB's S_NVDLA_HW_VERSION
 * @unit_base: per unit, in nv_full's order: byte offset of its registers in the CSB space
 * @engines: bit n is set if operations of enum nvdla_op_type n can run
 * @precisions: bit n is set if enum nvdla_precision n is supported
 * @address_bits: width of the memory interface's addresses
 * @atom_bytes: bytes of an atom: alignment of feature data, of strides and of BDMA lines
 * @weight_alignment: bytes that weight, WMB and WGS surfaces are aligned to
 * @weight_size_alignment: bytes; sizes of weight and WMB surfaces are multiples of this (an entry)
 * @weight_slack: bytes to leave free behind a kernel group in the weight banks, for the next group
 * @mac_channels: channels that a MAC cell takes at a time
 * @int8_kernels: output channels that are computed at a time in INT8; half as many in other
 *	precisions
 * @cbuf_banks: banks of the convolution buffer
 * @cbuf_bank_entries: entries in a bank
 * @cbuf_entry_bytes: bytes of an entry
 * @pdp_line_bytes: bytes of PDP's buffer for partial results
 * @bdma_slots: transfers that BDMA queues, 0 without BDMA
 * @max_batch: input cubes of one convolution, at most
 * @has_winograd: convolutions have winograd mode
 * @has_weight_compression: weights may be compressed (WMB and WGS surfaces)
 * @has_sdp_y: SDP has its unit Y, with operands in memory and a look-up table
 * @has_cvsram: the core has the second memory interface, which leads to on-chip memory
 * @fetches_unpacked_by_line: CDMA fetches lines that have gaps between them one at a time
 * @image_stride_in_kernel: a convolution of an image must not skip columns between two windows
 * @intr_mask: interrupt status bits that GLB implements
 *
 * Code depends on a configuration only through this structure, never through an #ifdef. Offsets of
 * registers inside a unit are the same in all configurations.
 */
struct nvdla_variant {
	const char *name;
	u32 id;
	u32 hw_version;
	const u32 *unit_base;
	u32 engines;
	u32 precisions;
	u32 address_bits;
	u32 atom_bytes;
	u32 weight_alignment;
	u32 weight_size_alignment;
	u32 weight_slack;
	u32 mac_channels;
	u32 int8_kernels;
	u32 cbuf_banks;
	u32 cbuf_bank_entries;
	u32 cbuf_entry_bytes;
	u32 pdp_line_bytes;
	u32 bdma_slots;
	u32 max_batch;
	bool has_winograd;
	bool has_weight_compression;
	bool has_sdp_y;
	bool has_cvsram;
	bool fetches_unpacked_by_line;
	bool image_stride_in_kernel;
	u32 intr_mask;
};

/** nvdla_variants - all configurations, by &nvdla_variant.id */
extern const struct nvdla_variant nvdla_variants[NVDLA_NUM_VARIANTS];

/**
 * nvdla_variant_nv_full() - the nvdlav1 configuration
 *
 * Return: a constant that is never freed.
 */
static inline const struct nvdla_variant *nvdla_variant_nv_full(void)
{
	return &nvdla_variants[0];
}

/**
 * nvdla_variant_sram_bytes() - on-chip memory that the driver can use
 * @variant: the core
 * @bytes: size of the on-chip memory
 *
 * Return: @bytes, or 0 if the core has no interface to that memory, or no BDMA to clear it.
 */
static inline u64 nvdla_variant_sram_bytes(const struct nvdla_variant *variant, u64 bytes)
{
	return variant->has_cvsram && variant->bdma_slots ? bytes : 0;
}

struct drm_nvdla_device_info;

/**
 * nvdla_variant_tell() - describe a core to user space
 * @variant: the core
 * @info: device information; the members that follow from the variant are filled
 */
void nvdla_variant_tell(const struct nvdla_variant *variant, struct drm_nvdla_device_info *info);

/**
 * nvdla_variant_register() - offset of a register in a core
 * @variant: the core
 * @reg: name of the register, NVDLA_<UNIT>_<REGISTER>: its byte offset in nv_full
 *
 * Return: its byte offset in the core's CSB space.
 */
static inline u32 nvdla_variant_register(const struct nvdla_variant *variant, u32 reg)
{
	return variant->unit_base[reg / NVDLA_UNIT_SIZE] + reg % NVDLA_UNIT_SIZE;
}

/**
 * nvdla_variant_csb_bytes() - get the least size of a core's CSB space
 * @variant: the core
 *
 * Return: bytes from the beginning of the space to the end of the core's last unit.
 */
u32 nvdla_variant_csb_bytes(const struct nvdla_variant *variant);

#endif /* NVDLA_VARIANT_H */
