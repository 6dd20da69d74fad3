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
#include <drm/drm_managed.h>
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

static void nvdla_bo_free_memory(struct nvdla_bo *bo)
{
	struct drm_gem_object *obj = &bo->base;

	lockdep_assert_held(&to_nvdla_device(obj->dev)->bos_lock);

	if (bo->vaddr)
		dma_vunmap_noncontiguous(obj->dev->dev, bo->vaddr);
	bo->vaddr = NULL;
	dma_free_noncontiguous(obj->dev->dev, obj->size, bo->sgt, DMA_BIDIRECTIONAL);
	bo->sgt = NULL;
	list_del(&bo->link);
}

static void nvdla_bo_free(struct drm_gem_object *obj)
{
	struct nvdla_device *ndev = to_nvdla_device(obj->dev);
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	mutex_lock(&ndev->bos_lock);
	if (bo->sgt)
		nvdla_bo_free_memory(bo);
	mutex_unlock(&ndev->bos_lock);

	drm_gem_object_release(obj);
	kfree(bo);
}

static int nvdla_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	/* A private copy of what the device writes is of no use. */
	if (is_cow_mapping(vma->vm_flags))
		return -EINVAL;

	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	return 0;
}

/*
 * Pages appear on access and not in mmap(): drm_dev_unplug() removes those of
 * all mappings, but would miss a mapping that mmap() has yet to return.
 */
static vm_fault_t nvdla_bo_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct drm_gem_object *obj = vma->vm_private_data;
	unsigned long address, end, page;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct sg_page_iter iter;
	int idx;

	if (!drm_dev_enter(obj->dev, &idx))
		return VM_FAULT_SIGBUS;

	/* As many at a time as one page table holds. */
	address = max(vma->vm_start, ALIGN_DOWN(vmf->address, PMD_SIZE));
	end = min(vma->vm_end, ALIGN_DOWN(vmf->address, PMD_SIZE) + PMD_SIZE);
	page = vma->vm_pgoff - drm_vma_node_start(&obj->vma_node) +
	       ((address - vma->vm_start) >> PAGE_SHIFT);

	for_each_sgtable_page(to_nvdla_bo(obj)->sgt, &iter, page) {
		if (address >= end)
			break;
		ret = vmf_insert_pfn(vma, address, page_to_pfn(sg_page_iter_page(&iter)));
		if (ret & VM_FAULT_ERROR)
			break;
		address += PAGE_SIZE;
	}

	drm_dev_exit(idx);
	return ret;
}

static const struct vm_operations_struct nvdla_bo_vm_ops = {
	.fault = nvdla_bo_fault,
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
	struct sg_table *sgt;
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
	sgt = dma_alloc_noncontiguous(dev, size, DMA_BIDIRECTIONAL,
				      GFP_KERNEL | __GFP_RETRY_MAYFAIL |
				      __GFP_ZERO | __GFP_NOWARN, 0);
	if (!sgt) {
		drm_dbg(&ndev->drm, "no %zu bytes of contiguous DMA addresses\n", size);
		ret = -ENOMEM;
		goto err_put;
	}
	bo->dma_addr = sg_dma_address(sgt->sgl);

	mutex_lock(&ndev->bos_lock);
	bo->sgt = sgt;
	list_add(&bo->link, &ndev->bos);
	mutex_unlock(&ndev->bos_lock);

	return bo;

err_put:
	drm_gem_object_put(&bo->base);
	return ERR_PTR(ret);
}

/**
 * nvdla_bo_vmap() - have a buffer mapped for the kernel
 * @bo: buffer of a device that is not unplugged
 *
 * It stays mapped as long as it has memory, because it is likely to be wanted
 * again. What is there is user space's: it may change at any time.
 *
 * Return: the first byte, or NULL if there is no room for the mapping.
 */
void *nvdla_bo_vmap(struct nvdla_bo *bo)
{
	struct device *dev = bo->base.dev->dev;
	void *vaddr;

	if (READ_ONCE(bo->vaddr))
		return bo->vaddr;

	vaddr = dma_vmap_noncontiguous(dev, bo->base.size, bo->sgt);
	if (vaddr && cmpxchg(&bo->vaddr, NULL, vaddr))
		dma_vunmap_noncontiguous(dev, vaddr);
	return bo->vaddr;
}

/**
 * nvdla_bo_sync_for_device() - what the CPU wrote becomes what the device sees
 * @bo: buffer of a device that is not unplugged
 */
void nvdla_bo_sync_for_device(struct nvdla_bo *bo)
{
	dma_sync_sgtable_for_device(bo->base.dev->dev, bo->sgt, DMA_BIDIRECTIONAL);
}

/**
 * nvdla_gem_init() - prepare a device for buffers
 * @ndev: device
 *
 * Return: 0 or -errno; nothing has to be undone then.
 */
int nvdla_gem_init(struct nvdla_device *ndev)
{
	INIT_LIST_HEAD(&ndev->bos);
	return drmm_mutex_init(&ndev->drm, &ndev->bos_lock);
}

/**
 * nvdla_gem_fini() - take the memory from all buffers
 * @ndev: device that is unplugged and has no jobs
 *
 * Buffers live as long as somebody has a handle or a mapping, but their
 * addresses are the device's: they cannot outlast the driver's hold on it.
 */
void nvdla_gem_fini(struct nvdla_device *ndev)
{
	struct nvdla_bo *bo, *next;

	mutex_lock(&ndev->bos_lock);
	list_for_each_entry_safe(bo, next, &ndev->bos, link)
		nvdla_bo_free_memory(bo);
	mutex_unlock(&ndev->bos_lock);
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

	nvdla_bo_sync_for_device(to_nvdla_bo(obj));
	drm_gem_object_put(obj);
	return 0;
}
