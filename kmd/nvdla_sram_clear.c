// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What the last owner of on-chip memory left there is overwritten by the core itself,
 * because the CPU cannot: in a job of the driver's own that every job with the buffer
 * waits for. It is queued as a job of the file that the buffer is for, so that whoever
 * creates many buffers takes the time from nobody else. If that job fails, jobs with the
 * buffer fail too: they never see the content.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>

#include <drm/nvdla_descriptors.h>

#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_sram.h"

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

/*
 * The task and the buffer, which the job may be the last to know. The zeroes live as long as the
 * device. They are no buffer of the job, because they would keep its fence, and that the module.
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

	ret = nvdla_sram_clear_task(job->ndev, job->ndev->sram.zeroes, bo, &job->tasks[0]);
	job->num_tasks = !ret;
	return ret;
}

/**
 * nvdla_sram_clear() - have the core clear a buffer
 * @ndev: device
 * @file: whose buffer it is
 * @bo: buffer in on-chip memory that nobody else knows yet
 *
 * Jobs with the buffer wait for that, without being asked.
 *
 * Return: 0 or -errno.
 */
int nvdla_sram_clear(struct nvdla_device *ndev, struct nvdla_file *file, struct nvdla_bo *bo)
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
