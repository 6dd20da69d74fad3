/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_GEM_H__
#define __NVDLA_GEM_H__

#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>

#include <drm/drm_gem.h>

#include "nvdla_memory.h"

/* Largest size that fits both an int page count and the descriptors' u32 sizes. */
#define NVDLA_BO_MAX_SIZE SZ_2G

struct dma_buf;
struct dma_buf_attachment;
struct dma_fence;
struct drm_file;
struct nvdla_device;

/**
 * struct nvdla_bo - buffer object
 *
 * The core has no MMU: a buffer is one contiguous range of DMA addresses for
 * as long as the device exists, so a checked address stays valid.
 *
 * There are three kinds, each with its struct drm_gem_object_funcs: buffers with memory of their
 * own, imported dma-bufs, and on-chip memory.
 */
struct nvdla_bo {
	/** @base: GEM object */
	struct drm_gem_object base;

	/** @mem_type: NVDLA_MEM_MC or NVDLA_MEM_CV */
	u32 mem_type;

	/** @dma_addr: the core's address of the first byte */
	dma_addr_t dma_addr;

	/** @memory: the buffer's own memory; no pages if imported or on-chip */
	struct nvdla_memory memory;

	/** @dma_buf: the dma-buf of an imported buffer; holds a reference */
	struct dma_buf *dma_buf;

	/** @sgt: mapping of the memory for the device; NULL while it is not mapped */
	struct sg_table *sgt;

	/**
	 * @link: place in &nvdla_device.bos; &nvdla_device.bos_lock protects @link and changes of
	 * @sgt
	 */
	struct list_head link;

	/**
	 * @defined: fence of the job that writes the first content, NULL if there is no such job.
	 * If the job fails, no other job may use the buffer.
	 */
	struct dma_fence *defined;
};

static inline struct nvdla_bo *to_nvdla_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct nvdla_bo, base);
}

void *nvdla_bo_vmap_range(struct nvdla_bo *bo, u64 offset, u64 size);
void nvdla_bo_sync_for_device(struct nvdla_bo *bo);
void nvdla_bo_begin_cpu_write(struct nvdla_bo *bo, u64 offset, u64 size);
void nvdla_bo_end_cpu_write(struct nvdla_bo *bo, u64 offset, u64 size);

int nvdla_gem_init(struct nvdla_device *ndev);
void nvdla_gem_fini(struct nvdla_device *ndev);

struct nvdla_bo *nvdla_bo_create(struct nvdla_device *ndev, size_t size, u32 flags);
bool nvdla_bo_is_undefined(const struct nvdla_bo *bo);
void nvdla_bo_set_mapped(struct nvdla_bo *bo, struct sg_table *sgt);
void nvdla_bo_unmap(struct nvdla_bo *bo);

int nvdla_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_bo_prep(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_bo_fini(struct drm_device *drm, void *data, struct drm_file *file);

struct dma_buf *nvdla_prime_export(struct drm_gem_object *obj, int flags);
struct drm_gem_object *nvdla_prime_import(struct drm_device *drm, struct dma_buf *dma_buf);
struct drm_gem_object *nvdla_prime_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt);

#endif /* __NVDLA_GEM_H__ */
