// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DRM_IOCTL_NVDLA_SUBMIT: makes a job from user memory and hands it to the scheduler.
 *
 * All arguments are copied from user memory once and checked afterwards, so later writes of
 * user space cannot change checked values. The owner of user memory can make a page fault last as
 * long as it likes, so no lock or resource that others wait for is held while copying.
 */
#include <linux/capability.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include "engine/nvdla_args.h"
#include "engine/nvdla_result.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_file.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_sched.h"
#include "nvdla_submit.h"
#include "nvdla_user_task.h"

/* Tells user space why a submit was refused; returns -EINVAL. */
int nvdla_submit_refuse(struct nvdla_submit *submit, u32 task, struct nvdla_refusal *why)
{
	return nvdla_user_refuse(&submit->ndev->drm, submit->args->error, submit->args->error_size,
				 task, why);
}

/* Maps the buffer of the result. Called after all tasks are added, which determine its size. */
static int nvdla_submit_add_result(struct nvdla_submit *submit)
{
	const struct drm_nvdla_submit *args = submit->args;
	struct nvdla_job *job = submit->job;
	u64 size, offset = args->result_offset;
	struct nvdla_bo *bo;
	int index;

	if (!args->result_handle)
		return 0;

	index = nvdla_submit_get_bo(submit, args->result_handle);
	if (index < 0)
		return index;
	bo = to_nvdla_bo(job->bos[index].obj);

	if (!bo->memory.num_pages) {
		drm_dbg(&submit->ndev->drm,
			"result in buffer %u, which is imported or on-chip memory\n",
			args->result_handle);
		return -EINVAL;
	}

	size = nvdla_result_size(job->tasks, job->num_tasks);
	if (!IS_ALIGNED(offset, sizeof(u64)) || offset > bo->base.size ||
	    size > bo->base.size - offset) {
		drm_dbg(&submit->ndev->drm, "result of %llu bytes at %llu, buffer of %zu bytes\n",
			size, offset, bo->base.size);
		return -EINVAL;
	}

	job->result = nvdla_bo_vmap_range(bo, offset, size);
	if (!job->result)
		return -ENOMEM;

	job->result_bo = bo;
	job->result_offset = offset;
	job->bos[index].write = true;
	return 0;
}

static int nvdla_submit_queue(struct nvdla_submit *submit)
{
	struct dma_fence *fence;
	int ret;

	ret = nvdla_submit_add_in_syncs(submit);
	if (ret)
		return ret;

	fence = nvdla_job_submit(submit->job);
	if (IS_ERR(fence))
		return PTR_ERR(fence);

	submit->job = NULL;
	nvdla_submit_signal_out_syncs(submit, fence);
	dma_fence_put(fence);
	return 0;
}

/* Reschedules between tasks, because checking the largest submits takes long. */
static int nvdla_submit_add_tasks(struct nvdla_submit *submit)
{
	u32 i;
	int ret;

	for (i = 0; i < submit->args->num_tasks; i++) {
		ret = nvdla_submit_add_task(submit, i);
		if (ret)
			return ret;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int nvdla_submit_create_job(struct nvdla_submit *submit)
{
	const struct drm_nvdla_submit *args = submit->args;
	struct nvdla_context *context;
	struct nvdla_job *job;

	context = nvdla_context_find(submit->file->driver_priv, args->context);
	if (!context)
		return -ENOENT;

	job = nvdla_job_create(submit->ndev, context, args->num_tasks);
	if (IS_ERR(job))
		return PTR_ERR(job);

	if (args->timeout_ms)
		job->timeout_ns = (u64)args->timeout_ms * NSEC_PER_MSEC;
	job->restartable = args->flags & DRM_NVDLA_SUBMIT_RESTARTABLE;
	submit->job = job;
	return 0;
}

int nvdla_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nvdla_submit submit = {
		.ndev = to_nvdla_device(drm),
		.file = file,
		.args = data,
	};
	struct nvdla_refusal why;
	int ret;

	if (drm_dev_is_unplugged(drm))
		return -ENODEV;

	if (nvdla_args_check_submit(submit.args, &why))
		return nvdla_submit_refuse(&submit, 0, &why);
	if (submit.args->timeout_ms > NVDLA_USER_TIMEOUT_MS && !capable(CAP_SYS_NICE))
		return -EACCES;

	ret = nvdla_submit_create_job(&submit);
	if (ret)
		return ret;
	xa_init(&submit.bo_of_handle);

	ret = nvdla_submit_find_out_syncs(&submit);
	if (!ret)
		ret = nvdla_submit_add_tasks(&submit);
	if (!ret)
		ret = nvdla_submit_add_result(&submit);
	if (!ret)
		ret = nvdla_submit_queue(&submit);

	nvdla_submit_free_out_syncs(&submit);
	xa_destroy(&submit.bo_of_handle);
	if (submit.job)
		nvdla_job_destroy(submit.job);
	return ret;
}
