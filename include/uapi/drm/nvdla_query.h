/* SPDX-License-Identifier: MIT */
/* Properties of the device, and the state of a client. See nvdla_accel.h. */
#ifndef _UAPI_DRM_NVDLA_QUERY_H_
#define _UAPI_DRM_NVDLA_QUERY_H_

#include <linux/types.h>

/**
 * enum drm_nvdla_query_type - what DRM_IOCTL_NVDLA_DEV_QUERY returns
 */
enum drm_nvdla_query_type {
	/** @DRM_NVDLA_QUERY_DEVICE: struct drm_nvdla_device_info */
	DRM_NVDLA_QUERY_DEVICE = 0,
	/** @DRM_NVDLA_QUERY_CLIENT: struct drm_nvdla_client_info */
	DRM_NVDLA_QUERY_CLIENT,
};

/**
 * enum drm_nvdla_variant - configuration of the core
 */
enum drm_nvdla_variant {
	/** @DRM_NVDLA_VARIANT_NV_FULL: nvdlav1, all engines, INT8/INT16/FP16 */
	DRM_NVDLA_VARIANT_NV_FULL = 0,
	/** @DRM_NVDLA_VARIANT_NV_SMALL: INT8, atoms of 8 bytes, 8 x 8 multipliers */
	DRM_NVDLA_VARIANT_NV_SMALL = 1,
	/** @DRM_NVDLA_VARIANT_NV_LARGE: INT8, atoms of 32 bytes, 64 x 32 multipliers */
	DRM_NVDLA_VARIANT_NV_LARGE = 2,
	/** @DRM_NVDLA_VARIANT_NV_SMALL_256: as NV_SMALL, 32 x 8 multipliers */
	DRM_NVDLA_VARIANT_NV_SMALL_256 = 3,
	/** @DRM_NVDLA_VARIANT_NV_SMALL_256_FULL: as NV_SMALL_256, with SDP's unit Y */
	DRM_NVDLA_VARIANT_NV_SMALL_256_FULL = 4,
};

/**
 * enum drm_nvdla_capability - capabilities that only some cores have, bits of
 * &drm_nvdla_device_info.capabilities
 */
enum drm_nvdla_capability {
	/** @DRM_NVDLA_CAPABILITY_WINOGRAD: convolutions in winograd mode */
	DRM_NVDLA_CAPABILITY_WINOGRAD = 1u << 0,
	/** @DRM_NVDLA_CAPABILITY_COMPRESSION: compressed weights */
	DRM_NVDLA_CAPABILITY_COMPRESSION = 1u << 1,
	/** @DRM_NVDLA_CAPABILITY_SDP_Y: SDP's unit Y and its look-up table */
	DRM_NVDLA_CAPABILITY_SDP_Y = 1u << 2,
};

/**
 * enum drm_nvdla_feature - what the driver can do, bits of &drm_nvdla_device_info.features
 */
enum drm_nvdla_feature {
	/** @DRM_NVDLA_FEATURE_CONTEXTS: DRM_IOCTL_NVDLA_CONTEXT_CREATE and priorities */
	DRM_NVDLA_FEATURE_CONTEXTS = 1u << 0,
	/** @DRM_NVDLA_FEATURE_RESULTS: &drm_nvdla_submit.result_handle */
	DRM_NVDLA_FEATURE_RESULTS = 1u << 1,
	/** @DRM_NVDLA_FEATURE_STATISTICS: DRM_NVDLA_SUBMIT_STATISTICS */
	DRM_NVDLA_FEATURE_STATISTICS = 1u << 2,
	/** @DRM_NVDLA_FEATURE_SRAM: DRM_NVDLA_BO_SRAM */
	DRM_NVDLA_FEATURE_SRAM = 1u << 3,
	/** @DRM_NVDLA_FEATURE_PRIME: buffers can be exported and imported as dma-buf */
	DRM_NVDLA_FEATURE_PRIME = 1u << 4,
	/** @DRM_NVDLA_FEATURE_TIMELINE: syncobjs may be timelines */
	DRM_NVDLA_FEATURE_TIMELINE = 1u << 5,
	/** @DRM_NVDLA_FEATURE_WRITE_COMBINE: DRM_NVDLA_BO_WRITE_COMBINE */
	DRM_NVDLA_FEATURE_WRITE_COMBINE = 1u << 6,
	/** @DRM_NVDLA_FEATURE_PREPARED_TASKS: DRM_IOCTL_NVDLA_TASK_CREATE */
	DRM_NVDLA_FEATURE_PREPARED_TASKS = 1u << 7,
};

/**
 * struct drm_nvdla_device_info - answer to DRM_NVDLA_QUERY_DEVICE
 * @variant: enum drm_nvdla_variant
 * @hw_version: the core's S_NVDLA_HW_VERSION register
 * @engines: bit n is set if operations of enum nvdla_op_type n can run
 * @precisions: bit n is set if enum nvdla_precision n is supported
 * @atom_bytes: bytes of an atom; alignment of feature data
 * @max_operations: operations in one task, at most
 * @max_luts: look-up tables in one task, at most
 * @max_addresses: entries in the address table of one task, at most
 * @max_tasks: tasks in one submit, at most
 * @default_timeout_ms: see &drm_nvdla_submit.timeout_ms, used if a submit has 0
 * @max_timeout_ms: longest time a submit of the caller may ask for
 * @max_jobs: jobs of one open file that have not ended, at most; 0 if there is no limit
 * @cvsram_bytes: size of the on-chip memory, 0 if there is none
 * @max_bo_bytes: size of the largest buffer object
 * @features: bits of enum drm_nvdla_feature
 * @core_clock_hz: present clock of the core, 0 if not known
 * @priorities: bit n is set if the caller may use enum drm_nvdla_priority n
 * @max_contexts: contexts of one open file, at most
 * @max_sram_bytes: on-chip memory that all buffers of the caller's user may take
 * @max_task_bytes: kernel memory that all prepared tasks of an open file may take
 * @capabilities: bits of enum drm_nvdla_capability
 * @max_batch: input cubes of one convolution, at most
 * @weight_alignment: alignment of weights, bytes
 * @weight_size_alignment: alignment of the size of weights, bytes
 * @mac_channels: channels that a MAC cell takes at a time: the size of a block of weights
 * @int8_kernels: kernels of a group of INT8 weights; half as many of other precisions
 * @cbuf_banks: banks of the convolution buffer
 * @cbuf_bank_entries: entries of a bank
 * @cbuf_entry_bytes: bytes of an entry
 * @reserved: zero
 */
struct drm_nvdla_device_info {
	__u32 variant, hw_version;
	__u32 engines, precisions, atom_bytes;
	__u32 max_operations, max_luts, max_addresses, max_tasks;
	__u32 default_timeout_ms, max_timeout_ms, max_jobs;
	__u64 cvsram_bytes, max_bo_bytes;
	__u64 features, core_clock_hz;
	__u32 priorities, max_contexts;
	__u64 max_sram_bytes, max_task_bytes;
	__u32 capabilities, max_batch;
	__u32 weight_alignment, weight_size_alignment;
	__u32 mac_channels, int8_kernels;
	__u32 cbuf_banks, cbuf_bank_entries, cbuf_entry_bytes;
	__u32 reserved;
};

/**
 * struct drm_nvdla_client_info - answer to DRM_NVDLA_QUERY_CLIENT, about the calling open file
 * @guilty_jobs: jobs that failed and had the core reset
 * @innocent_jobs: jobs that a reset for another reason took off the core, whether they failed or
 * were run again
 * @sram_losses: times that the on-chip memory lost its content, by resets of the core and sleeps of
 *        the system. Data written to a buffer with DRM_NVDLA_BO_SRAM are intact if the number has
 *        not changed since.
 */
struct drm_nvdla_client_info {
	__u64 guilty_jobs, innocent_jobs, sram_losses;
};

/**
 * struct drm_nvdla_dev_query - argument of DRM_IOCTL_NVDLA_DEV_QUERY
 * @type: Input: enum drm_nvdla_query_type
 * @size: Input: bytes at @pointer. Output: size of the kernel's structure; further bytes at
 *        @pointer are zeroed. With a zero @pointer only the size is returned.
 * @pointer: Input: user memory for the answer
 */
struct drm_nvdla_dev_query {
	__u32 type, size;
	__u64 pointer;
};

#endif /* _UAPI_DRM_NVDLA_QUERY_H_ */
