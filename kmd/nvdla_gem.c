// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Buffer objects: those with memory of their own, and functions for all kinds. */
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/pfn.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/wait_bit.h>

#include <drm/drm_file.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include <drm/nvdla_descriptors.h>

#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_gem.h"

/**
 * nvdla_bo_is_undefined() - whether a buffer may hold another client's data
 * @bo: buffer
 *
 * Return: true if the job that had to write the buffer's first content failed.
 */
bool nvdla_bo_is_undefined(const struct nvdla_bo *bo)
{
	return bo->defined && dma_fence_get_status(bo->defined) < 0;
}

/**
 * nvdla_bo_set_mapped() - record that a buffer is mapped for the device
 * @bo: buffer
 * @sgt: mapping of its memory, one range of DMA addresses; taken over
 *
 * The mapping lasts until nvdla_bo_unmap() or the end of the device.
 */
void nvdla_bo_set_mapped(struct nvdla_bo *bo, struct sg_table *sgt)
{
	struct nvdla_device *ndev = to_nvdla_device(bo->base.dev);

	bo->dma_addr = bo->memory.pool ? bo->memory.owner_addr : sg_dma_address(sgt->sgl);

	mutex_lock(&ndev->bos_lock);
	bo->sgt = sgt;
	list_add(&bo->link, &ndev->bos);
	atomic_inc(&ndev->num_bos);
	mutex_unlock(&ndev->bos_lock);
}

static void nvdla_bo_release_sgt(struct nvdla_bo *bo, struct sg_table *sgt)
{
	struct drm_gem_object *obj = &bo->base;

	/* The core may still use the memory, so the exporter must keep the memory pinned. */
	if (bo->dma_buf && bo->memory.leaked)
		return;

	if (bo->dma_buf) {
		dma_buf_unmap_attachment_unlocked(obj->import_attach, sgt, DMA_BIDIRECTIONAL);
		dma_buf_detach(bo->dma_buf, obj->import_attach);
		obj->import_attach = NULL;
	} else {
		dma_unmap_sgtable(obj->dev->dev, sgt, DMA_BIDIRECTIONAL, 0);
		sg_free_table(sgt);
		kfree(sgt);
	}
}

/**
 * nvdla_bo_unmap() - take a buffer's memory from the device
 * @bo: buffer that no job uses; may have no mapping
 *
 * Unmaps without &nvdla_device.bos_lock: an exporter takes a lock of its own, under which other
 * threads take bos_lock.
 */
void nvdla_bo_unmap(struct nvdla_bo *bo)
{
	struct nvdla_device *ndev = to_nvdla_device(bo->base.dev);
	struct sg_table *sgt;

	mutex_lock(&ndev->bos_lock);
	sgt = bo->sgt;
	if (sgt) {
		bo->sgt = NULL;
		list_del(&bo->link);
	}
	mutex_unlock(&ndev->bos_lock);
	if (!sgt)
		return;

	nvdla_bo_release_sgt(bo, sgt);
	if (atomic_dec_and_test(&ndev->num_bos))
		wake_up_var(&ndev->num_bos);
}

static void nvdla_bo_free(struct drm_gem_object *obj)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	nvdla_bo_unmap(bo);
	nvdla_memory_free(&bo->memory);
	drm_gem_object_release(obj);
	kfree(bo);
}

static int nvdla_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	/* Private copies (copy-on-write) would not get the device's writes. */
	if (vma_is_cow_mapping(vma))
		return -EINVAL;

	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	if (to_nvdla_bo(obj)->memory.write_combine)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	return 0;
}

/* The memory belongs to the buffer, so mappings stay valid after an unplug. */
static vm_fault_t nvdla_bo_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct drm_gem_object *obj = vma->vm_private_data;
	const struct nvdla_memory *memory = &to_nvdla_bo(obj)->memory;
	unsigned long address, end, page;
	vm_fault_t ret = VM_FAULT_SIGBUS;

	/* Maps as many pages at a time as one page table holds. */
	address = max(vma->vm_start, ALIGN_DOWN(vmf->address, PMD_SIZE));
	end = min(vma->vm_end, ALIGN_DOWN(vmf->address, PMD_SIZE) + PMD_SIZE);
	page = vma->vm_pgoff - drm_vma_node_start(&obj->vma_node) +
	       ((address - vma->vm_start) >> PAGE_SHIFT);

	for (; address < end && page < memory->num_pages; address += PAGE_SIZE, page++) {
		ret = vmf_insert_pfn(vma, address, memory->pool ?
				     vmalloc_to_pfn(memory->pool + (page << PAGE_SHIFT)) :
				     page_to_pfn(memory->pages[page]));
		if (ret & VM_FAULT_ERROR)
			break;
	}
	return ret;
}

static const struct vm_operations_struct nvdla_bo_vm_ops = {
	.fault = nvdla_bo_fault,
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

/* Called when another device maps the buffer. Memory from a pool may have no struct pages. */
static struct sg_table *nvdla_bo_get_sg_table(struct drm_gem_object *obj)
{
	if (to_nvdla_bo(obj)->memory.pool)
		return ERR_PTR(-EOPNOTSUPP);
	return nvdla_memory_sg_table(&to_nvdla_bo(obj)->memory);
}

/**
 * nvdla_bo_vmap_range() - map a part of a buffer for the kernel
 * @bo: buffer with memory of its own
 * @offset: first byte of the part
 * @size: bytes, not 0
 *
 * User space may change the content at any time.
 *
 * Return: the first byte, to be undone with nvdla_memory_vunmap(), or NULL if there is no room
 * for the mapping.
 */
void *nvdla_bo_vmap_range(struct nvdla_bo *bo, u64 offset, u64 size)
{
	unsigned int first = offset >> PAGE_SHIFT;
	void *page;

	page = nvdla_memory_vmap(&bo->memory, first, PFN_UP(offset + size) - first);
	return page ? page + offset_in_page(offset) : NULL;
}

/**
 * nvdla_bo_sync_for_device() - make CPU writes visible to the device
 * @bo: buffer with memory of its own, of a device that is not unplugged
 */
void nvdla_bo_sync_for_device(struct nvdla_bo *bo)
{
	if (bo->memory.write_combine)
		wmb(); /* flush write-combined data that the CPU still buffers */
	dma_sync_sgtable_for_device(bo->base.dev->dev, bo->sgt, DMA_BIDIRECTIONAL);
}

typedef void (*nvdla_sync_range_fn)(struct device *dev, dma_addr_t addr, unsigned long offset,
				    size_t size, enum dma_data_direction direction);

/*
 * Synchronises whole cache lines, the smallest unit, and nothing more: beside them, a bounce buffer
 * may hold newer data of the device. Works page by page, because memory behind an IOMMU is
 * contiguous only within a page.
 */
static void nvdla_bo_sync_range(struct nvdla_bo *bo, u64 offset, u64 size, nvdla_sync_range_fn sync)
{
	const u64 line = dma_get_cache_alignment();
	u64 end = min(round_up(offset + size, line), bo->base.size);
	u64 piece;

	if (bo->memory.pool)
		return;
	for (offset = round_down(offset, line); offset < end; offset += piece) {
		piece = min(end, round_down(offset, PAGE_SIZE) + PAGE_SIZE) - offset;
		sync(bo->base.dev->dev, bo->dma_addr, offset, piece, DMA_BIDIRECTIONAL);
	}
}

/**
 * nvdla_bo_begin_cpu_write() - prepare a part of a buffer for a write by the kernel
 * @bo: buffer with memory of its own, mapped for the device, which does not use it now
 * @offset: first byte of the part
 * @size: bytes
 *
 * The CPU then sees all that the device wrote there and around it.
 */
void nvdla_bo_begin_cpu_write(struct nvdla_bo *bo, u64 offset, u64 size)
{
	nvdla_bo_sync_range(bo, offset, size, dma_sync_single_range_for_cpu);
}

/**
 * nvdla_bo_end_cpu_write() - finish a write by the kernel to a part of a buffer
 * @bo: buffer of nvdla_bo_begin_cpu_write()
 * @offset: first byte of the part
 * @size: bytes
 *
 * The device then sees all that the CPU wrote there.
 */
void nvdla_bo_end_cpu_write(struct nvdla_bo *bo, u64 offset, u64 size)
{
	if (bo->memory.write_combine)
		wmb(); /* flush write-combined data that the CPU still buffers */
	nvdla_bo_sync_range(bo, offset, size, dma_sync_single_range_for_device);
}

static int nvdla_bo_gem_vmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	const struct nvdla_memory *memory = &to_nvdla_bo(obj)->memory;
	void *vaddr = nvdla_memory_vmap(memory, 0, memory->num_pages);

	if (!vaddr)
		return -ENOMEM;
	iosys_map_set_vaddr(map, vaddr);
	return 0;
}

static void nvdla_bo_gem_vunmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	nvdla_memory_vunmap(&to_nvdla_bo(obj)->memory, map->vaddr);
}

/* For fdinfo. Called under a spinlock: takes no locks, so the status may be outdated. */
static enum drm_gem_object_status nvdla_bo_status(struct drm_gem_object *obj)
{
	return READ_ONCE(to_nvdla_bo(obj)->sgt) ? DRM_GEM_OBJECT_RESIDENT : 0;
}

static const struct drm_gem_object_funcs nvdla_bo_funcs = {
	.free = nvdla_bo_free,
	.export = nvdla_prime_export,
	.get_sg_table = nvdla_bo_get_sg_table,
	.vmap = nvdla_bo_gem_vmap,
	.vunmap = nvdla_bo_gem_vunmap,
	.mmap = nvdla_bo_mmap,
	.status = nvdla_bo_status,
	.vm_ops = &nvdla_bo_vm_ops,
};

/* Maps the buffer's memory for the device, to one range of addresses; nvdla_bo_free() unmaps it. */
static int nvdla_bo_map(struct nvdla_bo *bo)
{
	struct drm_device *drm = bo->base.dev;
	struct sg_table *sgt;
	int ret;

	sgt = nvdla_memory_sg_table(&bo->memory);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);

	ret = bo->memory.pool ? 0 : dma_map_sgtable(drm->dev, sgt, DMA_BIDIRECTIONAL, 0);
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
		return ret;
	}

	nvdla_bo_set_mapped(bo, sgt);
	if (sgt->nents <= 1)
		return 0;
	drm_dbg(drm, "%zu bytes became %u ranges of DMA addresses\n", bo->base.size, sgt->nents);
	return -ENOMEM;
}

/**
 * nvdla_bo_create() - create a buffer in system memory
 * @ndev: device
 * @size: bytes, a multiple of the page size
 * @flags: DRM_NVDLA_BO_WRITE_COMBINE or 0
 *
 * Return: the buffer, zeroed and mapped for the device, or an ERR_PTR().
 */
struct nvdla_bo *nvdla_bo_create(struct nvdla_device *ndev, size_t size, u32 flags)
{
	struct nvdla_bo *bo;
	int ret;

	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return ERR_PTR(-ENOMEM);

	bo->base.funcs = &nvdla_bo_funcs;
	bo->mem_type = NVDLA_MEM_MC;
	drm_gem_private_object_init(&ndev->drm, &bo->base, size);

	ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret)
		goto err_put;

	ret = nvdla_memory_alloc(ndev, &bo->memory, size, flags & DRM_NVDLA_BO_WRITE_COMBINE);
	if (ret) {
		drm_dbg(&ndev->drm, "no memory for a buffer of %zu bytes: %d\n", size, ret);
		goto err_put;
	}

	ret = nvdla_bo_map(bo);
	if (ret)
		goto err_put;

	return bo;

err_put:
	drm_gem_object_put(&bo->base);
	return ERR_PTR(ret);
}

/**
 * nvdla_gem_init() - prepare a device for buffers
 * @ndev: device
 *
 * Return: 0 or -errno; after an error nothing has to be undone.
 */
int nvdla_gem_init(struct nvdla_device *ndev)
{
	int ret;

	INIT_LIST_HEAD(&ndev->bos);
	atomic_set(&ndev->num_bos, 0);
	ret = drmm_mutex_init(&ndev->drm, &ndev->bos_lock);
	if (ret)
		return ret;
	return nvdla_memory_init(ndev);
}

/* Returns a mapped buffer that is not being freed, with a reference; NULL if there is none. */
static struct nvdla_bo *nvdla_gem_get_mapped(struct nvdla_device *ndev)
{
	struct nvdla_bo *bo, *found = NULL;

	mutex_lock(&ndev->bos_lock);
	list_for_each_entry(bo, &ndev->bos, link) {
		if (kref_get_unless_zero(&bo->base.refcount)) {
			found = bo;
			break;
		}
	}
	mutex_unlock(&ndev->bos_lock);
	return found;
}

/**
 * nvdla_gem_fini() - take the memory of all buffers from the device
 * @ndev: device that is unplugged and has no jobs
 *
 * A buffer keeps its memory as long as it has a handle, a mapping or a dma-buf; but DMA addresses
 * belong to the device and must not outlast the driver's binding.
 */
void nvdla_gem_fini(struct nvdla_device *ndev)
{
	struct nvdla_bo *bo;

	while ((bo = nvdla_gem_get_mapped(ndev))) {
		nvdla_bo_unmap(bo);
		drm_gem_object_put(&bo->base);
	}
	/* The remaining buffers are unmapped by the threads that dropped their last references. */
	wait_var_event(&ndev->num_bos, !atomic_read(&ndev->num_bos));
}
