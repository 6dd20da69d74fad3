// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Fences that leave the driver.
 *
 * Sync files, syncobjs and other drivers' buffers keep a fence as long as they like, and may ask it
 * for its names. The scheduler's own fences get their names from the scheduler, which is freed with
 * the device: a use after free in kernels that do not separate signalled fences from their drivers.
 * The fences of this file do not refer to the device, and hold the module.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "nvdla_fence.h"

static const char *nvdla_fence_driver_name(struct dma_fence *fence)
{
	return "nvdla";
}

static const char *nvdla_fence_timeline_name(struct dma_fence *fence)
{
	return "nvdla-context";
}

static void nvdla_fence_release(struct dma_fence *fence)
{
	dma_fence_free(fence);
	/* The module's code runs until this function has returned: see nvdla_fences_fini(). */
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops nvdla_fence_ops = {
	.get_driver_name = nvdla_fence_driver_name,
	.get_timeline_name = nvdla_fence_timeline_name,
	.release = nvdla_fence_release,
};

static void nvdla_fence_signal(struct nvdla_fence *fence, struct dma_fence *finished)
{
	if (finished->error)
		dma_fence_set_error(&fence->base, finished->error);
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

static void nvdla_fence_finished(struct dma_fence *finished, struct dma_fence_cb *cb)
{
	nvdla_fence_signal(container_of(cb, struct nvdla_fence, cb), finished);
}

/**
 * nvdla_fence_follow() - make a fence that signals with the scheduler's fence, with the same error
 * @fence: zeroed memory for the fence, freed with it
 * @finished: the scheduler's fence of a job that was armed; the caller holds a reference
 *
 * The fence has the context and number of @finished, so that the scheduler sees that a context need
 * not wait for its own jobs.
 *
 * Return: the fence, with a reference for the caller.
 */
struct dma_fence *nvdla_fence_follow(struct nvdla_fence *fence, struct dma_fence *finished)
{
	__module_get(THIS_MODULE);
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, &nvdla_fence_ops, &fence->lock, finished->context,
		       finished->seqno);

	dma_fence_get(&fence->base);
	if (dma_fence_add_callback(finished, &fence->cb, nvdla_fence_finished))
		nvdla_fence_signal(fence, finished);
	return &fence->base;
}

/**
 * nvdla_fences_fini() - wait until no thread runs code of this file
 *
 * For the module's exit. All fences are freed, but the thread that released the last one may have
 * been preempted between dropping the module reference and returning.
 */
void nvdla_fences_fini(void)
{
	synchronize_rcu_tasks();
}
