// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Buffers in on-chip memory (CVSRAM), which the CPU cannot reach.
 */
#include <linux/cred.h>
#include <linux/dma-fence.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include <drm/drm_gem.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include <drm/nvdla_descriptors.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_pm.h"
#include "nvdla_sram.h"

/**
 * struct nvdla_sram_bo - buffer in on-chip memory
 * @bo: the buffer
 * @node: its place
 * @user: whose process created it
 */
struct nvdla_sram_bo {
	struct nvdla_bo bo;
	struct drm_mm_node node;
	kuid_t user;
};

/* A user has as many open files as they like: it is users who share the memory. */
static u64 nvdla_sram_used_by(struct nvdla_sram *sram, kuid_t user)
{
	const struct nvdla_sram_bo *sbo;
	struct drm_mm_node *node;
	u64 bytes = 0;

	lockdep_assert_held(&sram->lock);

	drm_mm_for_each_node(node, &sram->mm) {
		sbo = container_of(node, struct nvdla_sram_bo, node);
		if (uid_eq(sbo->user, user))
			bytes += node->size;
	}
	return bytes;
}

/* The content lives as long as the core is awake. */
static int nvdla_sram_take(struct nvdla_device *ndev, struct nvdla_sram_bo *sbo)
{
	struct nvdla_sram *sram = &ndev->sram;
	int ret;

	ret = nvdla_pm_get(ndev);
	if (ret)
		return ret;

	mutex_lock(&sram->lock);
	if (nvdla_sram_used_by(sram, sbo->user) + sbo->bo.base.size > nvdla_max_sram(ndev))
		ret = -ENOSPC;
	else
		ret = drm_mm_insert_node_generic(&sram->mm, &sbo->node, sbo->bo.base.size,
						 PAGE_SIZE, 0, DRM_MM_INSERT_BEST);
	mutex_unlock(&sram->lock);
	if (ret)
		nvdla_pm_put(ndev);

	return ret;
}

static void nvdla_sram_give(struct nvdla_device *ndev, struct drm_mm_node *node)
{
	lockdep_assert_held(&ndev->sram.lock);

	if (!drm_mm_node_allocated(node))
		return;

	drm_mm_remove_node(node);
	nvdla_pm_put(ndev);
}

static struct nvdla_sram_bo *to_nvdla_sram_bo(struct drm_gem_object *obj)
{
	return container_of(to_nvdla_bo(obj), struct nvdla_sram_bo, bo);
}

/* Jobs hold their buffers: by now the core is done with it. */
static void nvdla_sram_free(struct drm_gem_object *obj)
{
	struct nvdla_device *ndev = to_nvdla_device(obj->dev);
	struct nvdla_sram_bo *sbo = to_nvdla_sram_bo(obj);

	mutex_lock(&ndev->sram.lock);
	nvdla_sram_give(ndev, &sbo->node);
	mutex_unlock(&ndev->sram.lock);

	dma_fence_put(sbo->bo.defined);
	drm_gem_object_release(obj);
	kfree(sbo);
}

static struct dma_buf *nvdla_sram_export(struct drm_gem_object *obj, int flags)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static const struct drm_gem_object_funcs nvdla_sram_funcs = {
	.free = nvdla_sram_free,
	.export = nvdla_sram_export,
};

/**
 * nvdla_sram_create() - create a buffer in on-chip memory
 * @ndev: device
 * @file: who is going to use it
 * @size: bytes, a multiple of the page size
 *
 * Its content does not survive the core's losing power: it keeps the core awake,
 * but not the system.
 *
 * Return: the buffer, zeroed for every job that comes later, or an ERR_PTR();
 * -ENOSPC if there is no range of that size, or it is more than the user may have.
 */
struct nvdla_bo *nvdla_sram_create(struct nvdla_device *ndev, struct nvdla_file *file,
				   size_t size)
{
	struct nvdla_sram *sram = &ndev->sram;
	struct nvdla_sram_bo *sbo;
	int ret;

	sbo = kzalloc(sizeof(*sbo), GFP_KERNEL_ACCOUNT);
	if (!sbo)
		return ERR_PTR(-ENOMEM);

	sbo->bo.base.funcs = &nvdla_sram_funcs;
	sbo->bo.mem_type = NVDLA_MEM_CV;
	sbo->user = current_euid();
	drm_gem_private_object_init(&ndev->drm, &sbo->bo.base, size);

	if (size > sram->size) {
		ret = -ENOSPC;
		goto err_put;
	}

	ret = nvdla_sram_take(ndev, sbo);
	if (ret)
		goto err_put;
	sbo->bo.dma_addr = sbo->node.start;

	ret = nvdla_sram_clear(ndev, file, &sbo->bo);
	if (ret)
		goto err_put;

	return &sbo->bo;

err_put:
	drm_dbg(&ndev->drm, "no on-chip buffer of %zu bytes, of %llu: %d\n", size, sram->size,
		ret);
	drm_gem_object_put(&sbo->bo.base);
	return ERR_PTR(ret);
}

static void nvdla_sram_release(struct drm_device *drm, void *data)
{
	struct nvdla_sram *sram = data;

	if (sram->zeroes)
		drm_gem_object_put(&sram->zeroes->base);
	if (drm_mm_initialized(&sram->mm))
		drm_mm_takedown(&sram->mm);
}

/**
 * nvdla_sram_init() - prepare the on-chip memory for buffers
 * @ndev: device whose scheduler is set up, and whose &nvdla_sram.base and size are set
 *
 * Return: 0 or -errno; nothing has to be undone then.
 */
int nvdla_sram_init(struct nvdla_device *ndev)
{
	struct nvdla_sram *sram = &ndev->sram;
	struct nvdla_bo *zeroes;
	int ret;

	ret = drmm_mutex_init(&ndev->drm, &sram->lock);
	if (ret)
		return ret;

	sram->size = nvdla_variant_sram_bytes(ndev->variant, sram->size);
	sram->size = min_t(u64, round_down(sram->size, PAGE_SIZE), NVDLA_SRAM_CLEAR_MAX);

	ret = drmm_add_action_or_reset(&ndev->drm, nvdla_sram_release, sram);
	if (ret || !sram->size)
		return ret;

	drm_mm_init(&sram->mm, sram->base, sram->size);
	zeroes = nvdla_bo_create(ndev, PAGE_SIZE, 0);
	if (IS_ERR(zeroes))
		return PTR_ERR(zeroes);
	sram->zeroes = zeroes;
	return 0;
}

/**
 * nvdla_sram_fini() - drop what the driver itself holds, take the memory from the buffers
 * @ndev: device that is unplugged and has no jobs
 */
void nvdla_sram_fini(struct nvdla_device *ndev)
{
	struct nvdla_sram *sram = &ndev->sram;
	struct drm_mm_node *node, *next;

	mutex_lock(&sram->lock);
	if (drm_mm_initialized(&sram->mm)) {
		drm_mm_for_each_node_safe(node, next, &sram->mm)
			nvdla_sram_give(ndev, node);
	}
	if (sram->zeroes)
		drm_gem_object_put(&sram->zeroes->base);
	sram->zeroes = NULL;
	mutex_unlock(&sram->lock);
}
