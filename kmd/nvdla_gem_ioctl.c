// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The ioctls that create buffers and give the CPU access to them. */
#include <linux/bitops.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/mm.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/drm_utils.h>
#include <drm/nvdla_accel.h>

#include <drm/nvdla_descriptors.h>

#include "nvdla_device.h"
#include "nvdla_gem.h"
#include "nvdla_sram.h"

int nvdla_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(drm);
	struct drm_nvdla_bo_create *args = data;
	struct nvdla_bo *bo;
	int ret;

	if (args->flags & ~(DRM_NVDLA_BO_SRAM | DRM_NVDLA_BO_WRITE_COMBINE) ||
	    hweight32(args->flags) > 1) {
		drm_dbg(drm, "buffer flags %#x are not supported\n", args->flags);
		return -EINVAL;
	}
	if (!args->size || args->size > NVDLA_BO_MAX_SIZE) {
		drm_dbg(drm, "buffer size %llu is not in 1..%u\n", args->size, NVDLA_BO_MAX_SIZE);
		return -EINVAL;
	}

	if (args->flags & DRM_NVDLA_BO_SRAM)
		bo = nvdla_sram_create(ndev, file->driver_priv, PAGE_ALIGN(args->size));
	else
		bo = nvdla_bo_create(ndev, PAGE_ALIGN(args->size), args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);

	args->size = bo->base.size;
	ret = drm_gem_handle_create(file, &bo->base, &args->handle);
	drm_gem_object_put(&bo->base);
	return ret;
}

/* Looks up a buffer that the CPU can access, and takes a reference. */
static struct drm_gem_object *nvdla_bo_lookup_for_cpu(struct drm_file *file, u32 handle)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, handle);

	if (!obj)
		return ERR_PTR(-ENOENT);

	if (to_nvdla_bo(obj)->mem_type != NVDLA_MEM_MC) {
		drm_gem_object_put(obj);
		return ERR_PTR(-EOPNOTSUPP);
	}
	return obj;
}

int nvdla_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;

	if (args->flags)
		return -EINVAL;

	obj = nvdla_bo_lookup_for_cpu(file, args->handle);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return 0;
}

/* Without drm_dev_enter() for imported buffers: an unplug must not wait for an exporter. */
static int nvdla_bo_begin_cpu_access(struct nvdla_bo *bo)
{
	struct drm_device *drm = bo->base.dev;
	int idx;

	if (bo->dma_buf)
		return dma_buf_begin_cpu_access(bo->dma_buf, DMA_BIDIRECTIONAL);

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	dma_sync_sgtable_for_cpu(drm->dev, bo->sgt, DMA_BIDIRECTIONAL);
	drm_dev_exit(idx);
	return 0;
}

static int nvdla_bo_end_cpu_access(struct nvdla_bo *bo)
{
	if (bo->dma_buf)
		return dma_buf_end_cpu_access(bo->dma_buf, DMA_BIDIRECTIONAL);

	nvdla_bo_sync_for_device(bo);
	return 0;
}

int nvdla_ioctl_bo_prep(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_bo_prep *args = data;
	struct drm_gem_object *obj;
	bool write;
	long ret;

	if (!args->flags || args->flags & ~(DRM_NVDLA_BO_READ | DRM_NVDLA_BO_WRITE))
		return -EINVAL;
	write = args->flags & DRM_NVDLA_BO_WRITE;

	obj = nvdla_bo_lookup_for_cpu(file, args->handle);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = dma_resv_wait_timeout(obj->resv, dma_resv_usage_rw(write), true,
				    drm_timeout_abs_to_jiffies(args->timeout_ns));
	if (!ret)
		ret = -ETIMEDOUT;
	if (ret < 0)
		goto out_put;

	ret = nvdla_bo_begin_cpu_access(to_nvdla_bo(obj));

out_put:
	drm_gem_object_put(obj);
	return ret;
}

int nvdla_ioctl_bo_fini(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_bo_fini *args = data;
	struct drm_gem_object *obj;
	int ret;

	if (args->flags)
		return -EINVAL;

	obj = nvdla_bo_lookup_for_cpu(file, args->handle);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ret = nvdla_bo_end_cpu_access(to_nvdla_bo(obj));
	drm_gem_object_put(obj);
	return ret;
}
