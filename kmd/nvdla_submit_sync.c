// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Syncobjs that a submit waits for and signals. */
#include <linux/dma-fence-chain.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_syncobj.h>
#include <drm/nvdla_accel.h>

#include "nvdla_job.h"
#include "nvdla_submit.h"

/**
 * struct nvdla_out_sync - a syncobj to signal
 * @syncobj: the syncobj; holds a reference
 * @chain: the timeline's node, NULL for a binary syncobj
 * @point: the point on the timeline
 */
struct nvdla_out_sync {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

static int nvdla_submit_copy_sync(const struct nvdla_submit *submit, u64 user, u32 index,
				  struct drm_nvdla_sync *sync)
{
	int ret;

	ret = copy_struct_from_user(sync, sizeof(*sync),
				    u64_to_user_ptr(user) + (size_t)index * submit->args->sync_size,
				    submit->args->sync_size);
	if (ret)
		return ret;
	return sync->reserved ? -EINVAL : 0;
}

int nvdla_submit_add_in_syncs(struct nvdla_submit *submit)
{
	struct drm_nvdla_sync sync;
	struct dma_fence *fence;
	u32 i;
	int ret;

	for (i = 0; i < submit->args->num_in_syncs; i++) {
		ret = nvdla_submit_copy_sync(submit, submit->args->in_syncs, i, &sync);
		if (ret)
			return ret;
		/* Not drm_sched_job_add_syncobj_dependency(): its points have only 32 bits. */
		ret = drm_syncobj_find_fence(submit->file, sync.handle, sync.point, 0, &fence);
		if (ret)
			return ret;
		ret = drm_sched_job_add_dependency(&submit->job->base, fence);
		if (ret)
			return ret;
	}
	return 0;
}

int nvdla_submit_find_out_syncs(struct nvdla_submit *submit)
{
	u32 i, count = submit->args->num_out_syncs;
	struct nvdla_out_sync *out;
	struct drm_nvdla_sync sync;
	int ret;

	if (!count)
		return 0;

	submit->out_syncs = kcalloc(count, sizeof(*submit->out_syncs), GFP_KERNEL_ACCOUNT);
	if (!submit->out_syncs)
		return -ENOMEM;

	for (i = 0; i < count; i++) {
		ret = nvdla_submit_copy_sync(submit, submit->args->out_syncs, i, &sync);
		if (ret)
			return ret;

		out = &submit->out_syncs[i];
		out->syncobj = drm_syncobj_find(submit->file, sync.handle);
		if (!out->syncobj)
			return -ENOENT;

		out->point = sync.point;
		if (!sync.point)
			continue;
		out->chain = dma_fence_chain_alloc();
		if (!out->chain)
			return -ENOMEM;
	}
	return 0;
}

void nvdla_submit_signal_out_syncs(struct nvdla_submit *submit, struct dma_fence *fence)
{
	struct nvdla_out_sync *out;
	u32 i;

	for (i = 0; i < submit->args->num_out_syncs; i++) {
		out = &submit->out_syncs[i];
		if (out->chain)
			drm_syncobj_add_point(out->syncobj, out->chain, fence, out->point);
		else
			drm_syncobj_replace_fence(out->syncobj, fence);
		out->chain = NULL;
	}
}

void nvdla_submit_free_out_syncs(struct nvdla_submit *submit)
{
	u32 i;

	for (i = 0; submit->out_syncs && i < submit->args->num_out_syncs; i++) {
		if (submit->out_syncs[i].syncobj)
			drm_syncobj_put(submit->out_syncs[i].syncobj);
		dma_fence_chain_free(submit->out_syncs[i].chain);
	}
	kfree(submit->out_syncs);
}
