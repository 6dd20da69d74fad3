// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Buffers in on-chip memory (CVSRAM), which the CPU cannot reach.
 *
 * For each new buffer, a job of the driver lets the core overwrite the last owner's data; all other
 * jobs with the buffer wait for that job. It is queued for the file that creates the buffer, so a
 * client that creates many buffers takes no time from other clients. If it fails, jobs with the
 * buffer fail too, so they never read the old contents.
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

#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_file.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_pm.h"
#include "nvdla_sched.h"
#include "nvdla_sram.h"

/* Most pages that one transfer clears: the number of times that BDMA can repeat a surface. */
#define NVDLA_SRAM_CLEAR_PAGES 8192U
/* Most bytes that one operation clears. */
#define NVDLA_SRAM_CLEAR_MAX \
	((u64)NVDLA_BDMA_MAX_TRANSFERS * NVDLA_SRAM_CLEAR_PAGES << PAGE_SHIFT)

/**
 * struct nvdla_sram_bo - buffer in on-chip memory
 * @bo: the buffer
 * @node: the buffer's range
 * @user: user of the process that created the buffer
 */
struct nvdla_sram_bo {
	struct nvdla_bo bo;
	struct drm_mm_node node;
	kuid_t user;
};

/*
 * Returns the bytes of all buffers of a user. The limit is per user and not per file, because a
 * user can open many files.
 */
static u64 nvdla_sram_used_by(struct nvdla_device *ndev, kuid_t user)
{
	const struct nvdla_sram_bo *sbo;
	struct drm_mm_node *node;
	u64 bytes = 0;

	lockdep_assert_held(&ndev->sram.lock);

	drm_mm_for_each_node(node, &ndev->sram.mm) {
		sbo = container_of(node, struct nvdla_sram_bo, node);
		if (uid_eq(sbo->user, user))
			bytes += node->size;
	}
	return bytes;
}

/**
 * nvdla_max_sram() - get the limit for all on-chip buffers of the caller's user
 * @ndev: device
 *
 * Return: bytes.
 */
u64 nvdla_max_sram(struct nvdla_device *ndev)
{
	return nvdla_is_trusted() ? ndev->sram.size : ndev->sram.size / 2;
}

/* Takes a range of the memory, and keeps the core awake for the buffer's content. */
static int nvdla_sram_take(struct nvdla_device *ndev, struct nvdla_sram_bo *sbo)
{
	int ret;

	ret = nvdla_pm_get(&ndev->drm);
	if (ret)
		return ret;

	mutex_lock(&ndev->sram.lock);
	if (nvdla_sram_used_by(ndev, sbo->user) + sbo->bo.base.size > nvdla_max_sram(ndev))
		ret = -ENOSPC;
	else
		ret = drm_mm_insert_node_generic(&ndev->sram.mm, &sbo->node, sbo->bo.base.size,
						 PAGE_SIZE, 0, DRM_MM_INSERT_BEST);
	mutex_unlock(&ndev->sram.lock);
	if (ret)
		nvdla_pm_put(&ndev->drm);

	return ret;
}

static void nvdla_sram_give(struct nvdla_device *ndev, struct drm_mm_node *node)
{
	lockdep_assert_held(&ndev->sram.lock);

	if (!drm_mm_node_allocated(node))
		return;

	drm_mm_remove_node(node);
	nvdla_pm_put(&ndev->drm);
}

static struct nvdla_sram_bo *to_nvdla_sram_bo(struct drm_gem_object *obj)
{
	return container_of(to_nvdla_bo(obj), struct nvdla_sram_bo, bo);
}

/* Jobs hold references to their buffers, so the core no longer uses this one. */
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
 * struct nvdla_sram_clear - descriptors of a task that clears a buffer
 * @node: one operation
 * @operation: operation descriptor of @node
 * @surface: surface descriptor of @node
 */
struct nvdla_sram_clear {
	struct nvdla_graph_node node;
	union nvdla_operation_desc operation;
	union nvdla_surface_desc surface;
};

/* The source surface stride is 0, so one page of zeroes is copied to each page of the buffer. */
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

static int nvdla_sram_clear_task(struct nvdla_hw *hw, const struct nvdla_bo *bo,
				 struct nvdla_task **task)
{
	struct nvdla_task_extent extents[1 + NVDLA_BDMA_MAX_TRANSFERS] = {
		{ hw->zeroes->dma_addr, hw->zeroes->base.size, NVDLA_MEM_MC, true },
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

	ret = nvdla_task_create(hw->variant, &source, NULL, task);
	kfree(clear);
	return ret;
}

/*
 * Adds the task and the buffer to a clearing job. The job has a reference to the buffer, because
 * user space may close it first. The zeroes to copy live as long as the device. They are no buffer
 * of the job: their reservation object would keep the job's fence, and the fence the module.
 */
static int nvdla_sram_fill_job(struct nvdla_job *job, struct nvdla_bo *bo)
{
	int ret;

	job->bos = kvcalloc(1, sizeof(*job->bos), GFP_KERNEL_ACCOUNT);
	if (!job->bos)
		return -ENOMEM;

	drm_gem_object_get(&bo->base);
	job->bos[0].obj = &bo->base;
	job->bos[0].write = true;
	job->num_bos = 1;

	ret = nvdla_sram_clear_task(job->hw, bo, &job->tasks[0]);
	job->num_tasks = !ret;
	return ret;
}

static int nvdla_sram_clear(struct nvdla_device *ndev, struct nvdla_file *file, struct nvdla_bo *bo)
{
	struct dma_fence *fence;
	struct nvdla_job *job;
	int ret;

	job = nvdla_job_create(ndev, nvdla_context_find(file, 0), 1);
	if (IS_ERR(job))
		return PTR_ERR(job);
	job->own = true;
	job->restartable = true;

	ret = nvdla_sram_fill_job(job, bo);
	if (ret)
		goto err_destroy;

	fence = nvdla_job_submit(job);
	if (IS_ERR(fence)) {
		ret = PTR_ERR(fence);
		goto err_destroy;
	}
	bo->defined = fence;
	return 0;

err_destroy:
	nvdla_job_destroy(job);
	return ret;
}

/**
 * nvdla_sram_create() - create a buffer in on-chip memory
 * @ndev: device
 * @file: file for which the buffer is created
 * @size: bytes, a multiple of the page size
 *
 * The buffer keeps the core (not the system) awake: without power, the memory loses its content.
 *
 * Return: the buffer, zeroed for every job that comes later, or an ERR_PTR(); -ENOSPC if no range
 * of that size is free or the user's limit is reached.
 */
struct nvdla_bo *nvdla_sram_create(struct nvdla_device *ndev, struct nvdla_file *file,
				   size_t size)
{
	struct nvdla_sram_bo *sbo;
	int ret;

	sbo = kzalloc(sizeof(*sbo), GFP_KERNEL_ACCOUNT);
	if (!sbo)
		return ERR_PTR(-ENOMEM);

	sbo->bo.base.funcs = &nvdla_sram_funcs;
	sbo->bo.mem_type = NVDLA_MEM_CV;
	sbo->user = current_euid();
	drm_gem_private_object_init(&ndev->drm, &sbo->bo.base, size);

	if (size > ndev->sram.size) {
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
	drm_dbg(&ndev->drm, "no on-chip buffer of %zu bytes, of %llu: %d\n", size, ndev->sram.size,
		ret);
	drm_gem_object_put(&sbo->bo.base);
	return ERR_PTR(ret);
}

static void nvdla_sram_release(struct drm_device *drm, void *data)
{
	struct nvdla_device *ndev = data;

	drm_mm_takedown(&ndev->sram.mm);
}

/**
 * nvdla_sram_init() - prepare the on-chip memory for buffers
 * @ndev: device whose scheduler is set up, and whose &nvdla_device.sram has its base and size
 *
 * Return: 0 or -errno; after an error nothing has to be undone.
 */
int nvdla_sram_init(struct nvdla_device *ndev)
{
	int ret;

	ret = drmm_mutex_init(&ndev->drm, &ndev->sram.lock);
	if (ret)
		return ret;

	ndev->sram.size = nvdla_variant_sram_bytes(ndev->hw.variant, ndev->sram.size);
	ndev->sram.size = min_t(u64, round_down(ndev->sram.size, PAGE_SIZE), NVDLA_SRAM_CLEAR_MAX);

	if (!ndev->sram.size)
		return 0;

	drm_mm_init(&ndev->sram.mm, ndev->sram.base, ndev->sram.size);
	return drmm_add_action_or_reset(&ndev->drm, nvdla_sram_release, ndev);
}

/**
 * nvdla_sram_fini() - free all ranges of on-chip memory
 * @ndev: device that is unplugged and has no jobs
 */
void nvdla_sram_fini(struct nvdla_device *ndev)
{
	struct drm_mm_node *node, *next;

	mutex_lock(&ndev->sram.lock);
	if (drm_mm_initialized(&ndev->sram.mm))
		drm_mm_for_each_node_safe(node, next, &ndev->sram.mm)
			nvdla_sram_give(ndev, node);
	mutex_unlock(&ndev->sram.lock);
}
