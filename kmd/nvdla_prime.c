// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Export of buffers as dma-bufs, and import of other drivers' dma-bufs. */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>

#include <drm/nvdla_descriptors.h>

#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_gem.h"

MODULE_IMPORT_NS("DMA_BUF");

/* Exports: DRM's operations, plus cache maintenance. */

static struct sg_table *nvdla_dma_buf_map(struct dma_buf_attachment *attach,
					  enum dma_data_direction direction)
{
	struct sg_table *sgt = drm_gem_map_dma_buf(attach, direction);

	if (!IS_ERR(sgt))
		attach->priv = sgt;
	return sgt;
}

static void nvdla_dma_buf_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
				enum dma_data_direction direction)
{
	attach->priv = NULL;
	drm_gem_unmap_dma_buf(attach, sgt, direction);
}

typedef void (*nvdla_sync_fn)(struct device *dev, struct sg_table *sgt,
			      enum dma_data_direction direction);

/* Synchronises the mappings of all devices, because some devices may not snoop the CPU's caches. */
static int nvdla_dma_buf_sync(struct dma_buf *dma_buf, enum dma_data_direction direction,
			      nvdla_sync_fn sync)
{
	struct drm_gem_object *obj = dma_buf->priv;
	struct dma_buf_attachment *attach;
	int idx;

	dma_resv_lock(obj->resv, NULL);
	list_for_each_entry(attach, &dma_buf->attachments, node)
		if (attach->priv)
			sync(attach->dev, attach->priv, direction);
	dma_resv_unlock(obj->resv);

	if (drm_dev_enter(obj->dev, &idx)) {
		sync(obj->dev->dev, to_nvdla_bo(obj)->sgt, direction);
		drm_dev_exit(idx);
	}
	return 0;
}

static int nvdla_dma_buf_begin_cpu_access(struct dma_buf *dma_buf,
					  enum dma_data_direction direction)
{
	return nvdla_dma_buf_sync(dma_buf, direction, dma_sync_sgtable_for_cpu);
}

static int nvdla_dma_buf_end_cpu_access(struct dma_buf *dma_buf, enum dma_data_direction direction)
{
	return nvdla_dma_buf_sync(dma_buf, direction, dma_sync_sgtable_for_device);
}

static const struct dma_buf_ops nvdla_dma_buf_ops = {
	.attach = drm_gem_map_attach,
	.detach = drm_gem_map_detach,
	.map_dma_buf = nvdla_dma_buf_map,
	.unmap_dma_buf = nvdla_dma_buf_unmap,
	.release = drm_gem_dmabuf_release,
	.mmap = drm_gem_dmabuf_mmap,
	.vmap = drm_gem_dmabuf_vmap,
	.vunmap = drm_gem_dmabuf_vunmap,
	.begin_cpu_access = nvdla_dma_buf_begin_cpu_access,
	.end_cpu_access = nvdla_dma_buf_end_cpu_access,
};

/**
 * nvdla_prime_export() - export a buffer with its own memory as a dma-buf
 * @obj: the buffer
 * @flags: flags of the dma-buf's file
 *
 * Return: the dma-buf, which keeps the buffer and its memory even after an unplug, or an ERR_PTR().
 */
struct dma_buf *nvdla_prime_export(struct drm_gem_object *obj, int flags)
{
	struct dma_buf_export_info info = {
		.exp_name = KBUILD_MODNAME,
		.owner = THIS_MODULE,
		.ops = &nvdla_dma_buf_ops,
		.size = obj->size,
		.flags = flags,
		.priv = obj,
		.resv = obj->resv,
	};

	return drm_gem_dmabuf_export(obj->dev, &info);
}

/* Imports */

static void nvdla_import_free(struct drm_gem_object *obj)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	nvdla_bo_unmap(bo);
	if (!bo->memory.leaked)
		dma_buf_put(bo->dma_buf);
	drm_gem_object_release(obj);
	kfree(bo);
}

static int nvdla_import_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	int ret;

	/*
	 * The mapping will belong to the exporter. It keeps the dma-buf, but not this GEM object.
	 */
	vma->vm_private_data = NULL;
	vma->vm_ops = NULL;
	vm_flags_set(vma, VM_DONTEXPAND);

	ret = dma_buf_mmap(to_nvdla_bo(obj)->dma_buf, vma, 0);
	if (!ret)
		drm_gem_object_put(obj);
	return ret;
}

static const struct drm_gem_object_funcs nvdla_import_funcs = {
	.free = nvdla_import_free,
	.mmap = nvdla_import_mmap,
};

/**
 * nvdla_prime_import_sg_table() - make a buffer from a mapped dma-buf
 * @drm: device
 * @attach: the device's attachment to the dma-buf
 * @sgt: the mapping
 *
 * Return: the buffer, which takes over attachment and mapping, or an ERR_PTR(); -EINVAL if the
 * mapping is not one range of DMA addresses.
 */
struct drm_gem_object *nvdla_prime_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt)
{
	size_t size = attach->dmabuf->size;
	struct nvdla_bo *bo;
	int ret;

	if (!size || !PAGE_ALIGNED(size) || size > NVDLA_BO_MAX_SIZE) {
		drm_dbg(drm, "dma-buf size %zu is not whole pages up to %u\n", size,
			NVDLA_BO_MAX_SIZE);
		return ERR_PTR(-EINVAL);
	}
	if (drm_prime_get_contiguous_size(sgt) < size) {
		drm_dbg(drm, "dma-buf of %zu bytes has %u segments, the first of %lu bytes; the core needs one range (use an IOMMU or contiguous memory)\n",
			size, sgt->nents, drm_prime_get_contiguous_size(sgt));
		return ERR_PTR(-EINVAL);
	}

	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return ERR_PTR(-ENOMEM);

	bo->base.funcs = &nvdla_import_funcs;
	bo->mem_type = NVDLA_MEM_MC;
	drm_gem_private_object_init(drm, &bo->base, size);

	ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret) {
		drm_gem_object_release(&bo->base);
		kfree(bo);
		return ERR_PTR(ret);
	}

	bo->dma_buf = attach->dmabuf;
	bo->base.import_attach = attach;
	nvdla_bo_set_mapped(bo, sgt);
	return &bo->base;
}

/**
 * nvdla_prime_import() - make a buffer from a dma-buf
 * @drm: device
 * @dma_buf: dma-buf
 *
 * Excludes an unplug during the import, because the new mapping belongs to the device.
 *
 * Return: the buffer, with a reference to it, or an ERR_PTR().
 */
struct drm_gem_object *nvdla_prime_import(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj = dma_buf->priv;
	int idx;

	if (dma_buf->ops == &nvdla_dma_buf_ops && obj->dev == drm) {
		drm_gem_object_get(obj);
		return obj;
	}

	if (!drm_dev_enter(drm, &idx))
		return ERR_PTR(-ENODEV);
	obj = drm_gem_prime_import(drm, dma_buf);
	drm_dev_exit(idx);
	return obj;
}
