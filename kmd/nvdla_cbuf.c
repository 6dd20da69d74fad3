// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The convolution buffer keeps bytes and pointers of the last convolution. Before another client's
 * convolutions, a task of the driver clears the buffer. It is the first task of that client's job,
 * and its time counts for the job.
 */
#include <linux/mm.h>

#include <drm/drm_gem.h>
#include <drm/drm_managed.h>

#include <drm/nvdla_descriptors.h>

#include "engine/nvdla_scrub.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_file.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_run.h"

static void nvdla_cbuf_release(struct drm_device *drm, void *data)
{
	struct nvdla_hw *hw = data;

	nvdla_scrub_destroy(hw->scrub);
	drm_gem_object_put(&hw->zeroes->base);
}

/**
 * nvdla_cbuf_init() - prepare the tasks that clear the convolution buffer, and their memory
 * @hw: core of a device on which nvdla_gem_init() was called
 *
 * Return: 0 or -errno; after an error nothing has to be undone.
 */
int nvdla_cbuf_init(struct nvdla_hw *hw)
{
	struct nvdla_task_extent extent = {
		.size = nvdla_scrub_memory_size(hw->variant),
		.mem_type = NVDLA_MEM_MC,
		.present = true,
	};
	struct nvdla_bo *zeroes;
	int ret;

	zeroes = nvdla_bo_create(to_nvdla_device(hw->drm), PAGE_ALIGN(extent.size), 0);
	if (IS_ERR(zeroes))
		return PTR_ERR(zeroes);

	hw->zeroes = zeroes;
	ret = drmm_add_action_or_reset(hw->drm, nvdla_cbuf_release, hw);
	if (ret)
		return ret;

	extent.dma_addr = zeroes->dma_addr;
	return nvdla_scrub_create(hw->variant, &extent, &hw->scrub);
}

/**
 * nvdla_cbuf_claim() - give the convolution buffer to the job that is about to begin
 * @job: job; &nvdla_hw.lock is held
 *
 * Return: the task to run first, or NULL if no other client left data in the buffer.
 */
struct nvdla_task *nvdla_cbuf_claim(struct nvdla_job *job)
{
	struct nvdla_hw *hw = job->hw;
	u64 client_id = job->context->file->usage.client_id;
	struct nvdla_task *task;
	bool convolves = false;
	u32 i;

	lockdep_assert_held(&hw->lock);

	for (i = 0; i < job->num_tasks; i++)
		convolves |= nvdla_task_uses(job->tasks[i], NVDLA_OP_CONV);
	if (!convolves || hw->cbuf_owner == client_id)
		return NULL;

	hw->cbuf_owner = client_id;
	task = nvdla_scrub_task(hw->scrub, hw->seq);
	hw->num_scrubs += !!task;
	return task;
}
