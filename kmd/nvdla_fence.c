// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Fences that leave the driver.
 *
 * Sync files, syncobjs and other drivers' buffers keep a fence as long as they like, and ask
 * it for its names. The scheduler's own has them from the scheduler, which is in the device:
 * before Linux learned to part a signalled fence from its driver, the answer came from freed
 * memory once the device was unbound. The fences of this file stand on their own, and the
 * module stays as long as they do.
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
	/* The return from here still runs the module's code: see nvdla_fences_fini(). */
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
 * nvdla_fence_follow() - a fence that signals when a job's does, with the same error
 * @fence: zeroed memory for it, which belongs to the fence from here on
 * @finished: the scheduler's fence of a job that was armed; the caller holds a reference
 *
 * It has the context and number of @finished, by which the scheduler knows that a context need
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
 * For the module's end. Its last fence is gone, but the thread that released that fence may have
 * been preempted after dropping the module reference, before it returned.
 */
void nvdla_fences_fini(void)
{
	synchronize_rcu_tasks();
}
