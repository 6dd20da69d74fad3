// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The syncobjs that a submit waits for and signals.
 */
#include <linux/dma-fence-chain.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_syncobj.h>
#include <drm/nvdla_accel.h>

#include "nvdla_job.h"
#include "nvdla_submit.h"

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
		/* Not drm_sched_job_add_syncobj_dependency(), whose points have 32 bits. */
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
	struct drm_nvdla_sync sync;
	int ret;

	if (!count)
		return 0;

	submit->syncobjs = kcalloc(count, sizeof(*submit->syncobjs), GFP_KERNEL_ACCOUNT);
	submit->chains = kcalloc(count, sizeof(*submit->chains), GFP_KERNEL_ACCOUNT);
	submit->points = kcalloc(count, sizeof(*submit->points), GFP_KERNEL_ACCOUNT);
	if (!submit->syncobjs || !submit->chains || !submit->points)
		return -ENOMEM;

	for (i = 0; i < count; i++) {
		ret = nvdla_submit_copy_sync(submit, submit->args->out_syncs, i, &sync);
		if (ret)
			return ret;

		submit->syncobjs[i] = drm_syncobj_find(submit->file, sync.handle);
		if (!submit->syncobjs[i])
			return -ENOENT;

		submit->points[i] = sync.point;
		if (!sync.point)
			continue;
		submit->chains[i] = dma_fence_chain_alloc();
		if (!submit->chains[i])
			return -ENOMEM;
	}
	return 0;
}

void nvdla_submit_signal_out_syncs(struct nvdla_submit *submit, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < submit->args->num_out_syncs; i++) {
		if (submit->chains[i]) {
			drm_syncobj_add_point(submit->syncobjs[i], submit->chains[i], fence,
					      submit->points[i]);
			submit->chains[i] = NULL;
		} else {
			drm_syncobj_replace_fence(submit->syncobjs[i], fence);
		}
	}
}

void nvdla_submit_free_out_syncs(struct nvdla_submit *submit)
{
	u32 i;

	for (i = 0; submit->syncobjs && i < submit->args->num_out_syncs; i++) {
		if (submit->syncobjs[i])
			drm_syncobj_put(submit->syncobjs[i]);
		if (submit->chains)
			dma_fence_chain_free(submit->chains[i]);
	}
	kfree(submit->syncobjs);
	kfree(submit->chains);
	kfree(submit->points);
}
