/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_GEM_H__
#define __NVDLA_GEM_H__

#include <linux/list.h>
#include <linux/scatterlist.h>

#include <drm/drm_gem.h>

struct drm_file;
struct nvdla_device;

/**
 * struct nvdla_bo - buffer object
 *
 * The core has no MMU: a buffer is one contiguous range of DMA addresses for
 * as long as it exists, so that a checked address stays a good address.
 */
struct nvdla_bo {
	/** @base: GEM object */
	struct drm_gem_object base;

	/** @sgt: the memory, one DMA segment; NULL once the device is gone */
	struct sg_table *sgt;

	/** @link: place in &nvdla_device.bos; under &nvdla_device.bos_lock, as is @sgt's end */
	struct list_head link;

	/** @vaddr: the kernel's mapping, NULL until somebody needs it */
	void *vaddr;

	/** @dma_addr: address of the first byte as the core sees it */
	dma_addr_t dma_addr;
};

static inline struct nvdla_bo *to_nvdla_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct nvdla_bo, base);
}

u64 nvdla_bo_max_size(void);
void *nvdla_bo_vmap(struct nvdla_bo *bo);
void nvdla_bo_sync_for_device(struct nvdla_bo *bo);

int nvdla_gem_init(struct nvdla_device *ndev);
void nvdla_gem_fini(struct nvdla_device *ndev);

int nvdla_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_bo_prep(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_bo_fini(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* __NVDLA_GEM_H__ */
