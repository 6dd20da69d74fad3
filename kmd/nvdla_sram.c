// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Buffers in on-chip memory (CVSRAM).
 *
 * The CPU cannot reach it. What the last owner left there is overwritten by the
 * core itself, in a job of the driver's own that every job with the buffer waits
 * for. If that job fails, jobs with the buffer fail too: they never see the content.
 */
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include <nvdla/hw/descriptors.h>

#include "nvdla_compat.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_pm.h"
#include "nvdla_sram.h"

/* Pages that one transfer clears: BDMA repeats a surface that often. */
#define NVDLA_SRAM_CLEAR_PAGES 8192U

/**
 * struct nvdla_sram_bo - buffer in on-chip memory
 * @bo: the buffer
 * @node: its place
 */
struct nvdla_sram_bo {
	struct nvdla_bo bo;
	struct drm_mm_node node;
};

/* The content lives as long as the core is awake. */
static int nvdla_sram_take(struct nvdla_device *ndev, struct nvdla_sram_bo *sbo)
{
	struct nvdla_sram *sram = &ndev->sram;
	int ret;

	ret = nvdla_pm_get(ndev);
	if (ret)
		return ret;

	mutex_lock(&sram->lock);
	ret = drm_mm_insert_node_generic(&sram->mm, &sbo->node, sbo->bo.base.size, PAGE_SIZE, 0,
					 DRM_MM_INSERT_BEST);
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

/* The page of zeroes, with a reference to it. */
static struct nvdla_bo *nvdla_sram_get_zeroes(struct nvdla_device *ndev)
{
	struct nvdla_sram *sram = &ndev->sram;
	struct nvdla_bo *bo;

	mutex_lock(&sram->lock);
	bo = sram->zeroes;
	if (!bo) {
		bo = nvdla_bo_create(ndev, PAGE_SIZE, 0);
		if (!IS_ERR(bo))
			sram->zeroes = bo;
	}
	if (!IS_ERR(bo))
		drm_gem_object_get(&bo->base);
	mutex_unlock(&sram->lock);

	return bo;
}

/**
 * struct nvdla_sram_clear - descriptors of a task that clears a buffer
 * @node: one operation
 * @operation: its operation descriptor
 * @surface: its surface descriptor
 */
struct nvdla_sram_clear {
	struct nvdla_graph_node node;
	union nvdla_operation_desc operation;
	union nvdla_surface_desc surface;
};

/* The page of zeroes is copied to each page: a surface that does not advance at its source. */
static void nvdla_sram_describe_clear(struct nvdla_sram_clear *clear, u32 pages)
{
	struct nvdla_bdma_surface_desc *bdma = &clear->surface.bdma;
	u32 i;

	clear->node.op_type = NVDLA_OP_BDMA;
	clear->node.fused_parent.index = -1;
	for (i = 0; i < ARRAY_SIZE(clear->node.consumers); i++)
		clear->node.consumers[i].index = -1;

	bdma->src_type = NVDLA_MEM_MC;
	bdma->dst_type = NVDLA_MEM_CV;
	for (i = 0; pages; i++) {
		bdma->transfers[i].src_address = 0;
		bdma->transfers[i].dst_address = 1 + i;
		bdma->transfers[i].line_size = PAGE_SIZE;
		bdma->transfers[i].line_repeat = 1;
		bdma->transfers[i].surf_repeat = min(pages, NVDLA_SRAM_CLEAR_PAGES);
		bdma->transfers[i].dst_surf = PAGE_SIZE;
		pages -= bdma->transfers[i].surf_repeat;
	}
	bdma->num_transfers = i;
	clear->operation.bdma.num_transfers = i;
}

static int nvdla_sram_clear_task(struct nvdla_device *ndev, const struct nvdla_bo *zeroes,
				 const struct nvdla_bo *bo, struct nvdla_task **task)
{
	struct nvdla_task_extent extents[1 + NVDLA_BDMA_MAX_TRANSFERS] = {
		{ zeroes->dma_addr, zeroes->base.size, NVDLA_MEM_MC, true },
	};
	struct nvdla_task_source source = { .extents = extents, .num_operations = 1 };
	const u64 step = (u64)NVDLA_SRAM_CLEAR_PAGES << PAGE_SHIFT;
	struct nvdla_sram_clear *clear;
	u64 offset;
	int ret;

	clear = kzalloc(sizeof(*clear), GFP_KERNEL);
	if (!clear)
		return -ENOMEM;

	nvdla_sram_describe_clear(clear, bo->base.size >> PAGE_SHIFT);
	source.graph = &clear->node;
	source.operations = &clear->operation;
	source.surfaces = &clear->surface;
	source.num_extents = 1;
	for (offset = 0; offset < bo->base.size; offset += step) {
		extents[source.num_extents++] = (struct nvdla_task_extent){
			bo->dma_addr + offset, bo->base.size - offset, NVDLA_MEM_CV, true
		};
	}

	ret = nvdla_task_create(ndev->variant, &source, NULL, task);
	kfree(clear);
	return ret;
}

/* A job with the task in it, and both buffers: it may be the last to know them. */
static struct nvdla_job *nvdla_sram_clear_job(struct nvdla_device *ndev, struct nvdla_bo *bo)
{
	struct nvdla_context *context;
	struct nvdla_bo *zeroes;
	struct nvdla_job *job;
	int ret;

	context = nvdla_context_find(ndev->sram.file, 0);
	job = nvdla_job_create(ndev, context, 1);
	if (IS_ERR(job)) {
		nvdla_context_put(context);
		return job;
	}
	job->restartable = true;
	job->timeout = msecs_to_jiffies(NVDLA_DEFAULT_TIMEOUT_MS);

	job->bos = kvcalloc(2, sizeof(*job->bos), GFP_KERNEL);
	if (!job->bos) {
		ret = -ENOMEM;
		goto err_destroy;
	}

	zeroes = nvdla_sram_get_zeroes(ndev);
	if (IS_ERR(zeroes)) {
		ret = PTR_ERR(zeroes);
		goto err_destroy;
	}
	drm_gem_object_get(&bo->base);
	job->bos[0].obj = &zeroes->base;
	job->bos[1].obj = &bo->base;
	job->bos[1].write = true;
	job->num_bos = 2;

	ret = nvdla_sram_clear_task(ndev, zeroes, bo, &job->tasks[0]);
	if (ret)
		goto err_destroy;
	job->num_tasks = 1;
	return job;

err_destroy:
	nvdla_job_destroy(job);
	return ERR_PTR(ret);
}

/* Have the core clear the buffer. Nobody else knows it yet. */
static int nvdla_sram_clear(struct nvdla_device *ndev, struct nvdla_bo *bo)
{
	struct nvdla_context *context;
	struct nvdla_job *job;
	int ret;

	job = nvdla_sram_clear_job(ndev, bo);
	if (IS_ERR(job))
		return PTR_ERR(job);
	context = job->context;

	dma_resv_lock(bo->base.resv, NULL);
	ret = dma_resv_reserve_fences(bo->base.resv, 1);
	if (!ret)
		ret = nvdla_sched_job_init(&job->base, &context->entity, context->file, 0);
	if (ret) {
		dma_resv_unlock(bo->base.resv);
		nvdla_job_destroy(job);
		return ret;
	}

	/* The job takes its reference with it. */
	nvdla_context_get(context);
	mutex_lock(&context->submit_lock);
	drm_sched_job_arm(&job->base);
	bo->defined = dma_fence_get(&job->base.s_fence->finished);
	dma_resv_add_fence(bo->base.resv, bo->defined, DMA_RESV_USAGE_KERNEL);
	drm_sched_entity_push_job(&job->base);
	mutex_unlock(&context->submit_lock);
	nvdla_context_put(context);

	dma_resv_unlock(bo->base.resv);
	return 0;
}

/**
 * nvdla_sram_create() - create a buffer in on-chip memory
 * @ndev: device
 * @size: bytes, a multiple of the page size
 *
 * Its content does not survive the core's losing power: it keeps the core awake,
 * but not the system.
 *
 * Return: the buffer, zeroed for every job that comes later, or an ERR_PTR();
 * -ENOSPC if there is no range of that size.
 */
struct nvdla_bo *nvdla_sram_create(struct nvdla_device *ndev, size_t size)
{
	struct nvdla_sram *sram = &ndev->sram;
	struct nvdla_sram_bo *sbo;
	int ret;

	sbo = kzalloc(sizeof(*sbo), GFP_KERNEL);
	if (!sbo)
		return ERR_PTR(-ENOMEM);

	sbo->bo.base.funcs = &nvdla_sram_funcs;
	sbo->bo.mem_type = NVDLA_MEM_CV;
	drm_gem_private_object_init(&ndev->drm, &sbo->bo.base, size);

	if (size > sram->size) {
		ret = -ENOSPC;
		goto err_put;
	}

	ret = nvdla_sram_take(ndev, sbo);
	if (ret)
		goto err_put;
	sbo->bo.dma_addr = sbo->node.start;

	ret = nvdla_sram_clear(ndev, &sbo->bo);
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

	nvdla_file_close(sram->file);
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
	int ret;

	ret = drmm_mutex_init(&ndev->drm, &sram->lock);
	if (ret)
		return ret;

	/* What one operation can clear */
	sram->size = min_t(u64, round_down(sram->size, PAGE_SIZE),
			   (u64)NVDLA_BDMA_MAX_TRANSFERS * NVDLA_SRAM_CLEAR_PAGES << PAGE_SHIFT);

	sram->file = nvdla_file_create(ndev, 0, DRM_NVDLA_PRIORITY_HIGH);
	if (IS_ERR(sram->file))
		return PTR_ERR(sram->file);
	if (sram->size)
		drm_mm_init(&sram->mm, sram->base, sram->size);
	return drmm_add_action_or_reset(&ndev->drm, nvdla_sram_release, sram);
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
