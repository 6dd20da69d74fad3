// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Buffer objects.
 *
 * The memory comes from dma_alloc_noncontiguous(): behind an IOMMU that is
 * scattered pages in one range of DMA addresses, without one it is contiguous
 * memory, from CMA where there is any.
 */
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/drm_utils.h>
#include <drm/nvdla_accel.h>

#include "nvdla_device.h"
#include "nvdla_gem.h"

/* What an int of pages and the u32 sizes of the descriptors can both express. */
#define NVDLA_BO_MAX_SIZE SZ_2G

u64 nvdla_bo_max_size(void)
{
	return NVDLA_BO_MAX_SIZE;
}

static void nvdla_bo_free(struct drm_gem_object *obj)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	if (bo->sgt)
		dma_free_noncontiguous(obj->dev->dev, obj->size, bo->sgt, DMA_BIDIRECTIONAL);

	drm_gem_object_release(obj);
	kfree(bo);
}

static int nvdla_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	/* The offset only told drm_gem_mmap() which object it is. */
	vma->vm_pgoff -= drm_vma_node_start(&obj->vma_node);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);

	return dma_mmap_noncontiguous(obj->dev->dev, vma, obj->size, bo->sgt);
}

static const struct vm_operations_struct nvdla_bo_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

static const struct drm_gem_object_funcs nvdla_bo_funcs = {
	.free = nvdla_bo_free,
	.mmap = nvdla_bo_mmap,
	.vm_ops = &nvdla_bo_vm_ops,
};

static struct nvdla_bo *nvdla_bo_create(struct nvdla_device *ndev, size_t size)
{
	struct device *dev = ndev->drm.dev;
	struct nvdla_bo *bo;
	int ret;

	bo = kzalloc(sizeof(*bo), GFP_KERNEL);
	if (!bo)
		return ERR_PTR(-ENOMEM);

	bo->base.funcs = &nvdla_bo_funcs;
	drm_gem_private_object_init(&ndev->drm, &bo->base, size);

	ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret)
		goto err_put;

	/*
	 * A request for more than there is fails; it must not have the OOM
	 * killer look for room.
	 */
	bo->sgt = dma_alloc_noncontiguous(dev, size, DMA_BIDIRECTIONAL,
					  GFP_KERNEL | __GFP_RETRY_MAYFAIL |
					  __GFP_ZERO | __GFP_NOWARN, 0);
	if (!bo->sgt) {
		drm_dbg(&ndev->drm, "no %zu bytes of contiguous DMA addresses\n", size);
		ret = -ENOMEM;
		goto err_put;
	}
	bo->dma_addr = sg_dma_address(bo->sgt->sgl);

	return bo;

err_put:
	drm_gem_object_put(&bo->base);
	return ERR_PTR(ret);
}

int nvdla_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(drm);
	struct drm_nvdla_bo_create *args = data;
	struct nvdla_bo *bo;
	int ret;

	if (args->flags) {
		drm_dbg(drm, "buffer flags %#x are not supported\n", args->flags);
		return -EINVAL;
	}
	if (!args->size || args->size > NVDLA_BO_MAX_SIZE) {
		drm_dbg(drm, "buffer size %llu is not in 1..%u\n", args->size, NVDLA_BO_MAX_SIZE);
		return -EINVAL;
	}

	bo = nvdla_bo_create(ndev, PAGE_ALIGN(args->size));
	if (IS_ERR(bo))
		return PTR_ERR(bo);

	args->size = bo->base.size;
	ret = drm_gem_handle_create(file, &bo->base, &args->handle);
	drm_gem_object_put(&bo->base);
	return ret;
}

int nvdla_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;

	if (args->flags)
		return -EINVAL;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return 0;
}

int nvdla_ioctl_bo_prep(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_bo_prep *args = data;
	struct drm_gem_object *obj;
	bool write;
	long ret;
	int idx;

	if (!args->flags || args->flags & ~(DRM_NVDLA_BO_READ | DRM_NVDLA_BO_WRITE))
		return -EINVAL;
	write = args->flags & DRM_NVDLA_BO_WRITE;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	ret = dma_resv_wait_timeout(obj->resv, dma_resv_usage_rw(write), true,
				    drm_timeout_abs_to_jiffies(args->timeout_ns));
	if (!ret)
		ret = -ETIMEDOUT;
	if (ret < 0)
		goto out_put;

	/* Only here, because an unplug must not have to wait for the above. */
	if (!drm_dev_enter(drm, &idx)) {
		ret = -ENODEV;
		goto out_put;
	}
	dma_sync_sgtable_for_cpu(drm->dev, to_nvdla_bo(obj)->sgt, DMA_BIDIRECTIONAL);
	drm_dev_exit(idx);
	ret = 0;

out_put:
	drm_gem_object_put(obj);
	return ret;
}

int nvdla_ioctl_bo_fini(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_bo_fini *args = data;
	struct drm_gem_object *obj;

	if (args->flags)
		return -EINVAL;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	dma_sync_sgtable_for_device(drm->dev, to_nvdla_bo(obj)->sgt, DMA_BIDIRECTIONAL);
	drm_gem_object_put(obj);
	return 0;
}
