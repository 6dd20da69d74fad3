// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DRM_IOCTL_NVDLA_SUBMIT: from user memory to a job in the scheduler.
 *
 * Everything is copied from user memory once and checked afterwards, so that
 * nothing user space writes later can change what was checked. User memory can take as
 * long to arrive as its owner likes: nothing that others wait for is held meanwhile.
 */
#include <linux/capability.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_exec.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include "engine/nvdla_args.h"
#include "engine/nvdla_result.h"
#include "nvdla_cbuf.h"
#include "nvdla_compat.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_fence.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_submit.h"
#include "nvdla_trace.h"
#include "nvdla_user_task.h"

/* Tells user space why a submit was refused; returns -EINVAL. */
int nvdla_submit_refuse(struct nvdla_submit *submit, u32 task, struct drm_nvdla_error *error)
{
	return nvdla_user_refuse(&submit->ndev->drm, submit->args->error, submit->args->error_size,
				 task, error);
}

/* Where the result goes; its size is known once all tasks are. */
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

	if (!bo->memory.pages) {
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

static int nvdla_submit_lock_bos(struct nvdla_submit *submit, struct drm_exec *exec)
{
	struct nvdla_job *job = submit->job;
	int ret = 0;
	u32 i;

	drm_exec_until_all_locked(exec) {
		for (i = 0; i < job->num_bos; i++) {
			/*
			 * Two handles may name one buffer, or two that share their
			 * fences: room for the job as one that reads and one that writes.
			 */
			ret = drm_exec_prepare_obj(exec, job->bos[i].obj, 2);
			if (ret)
				break;
		}
		drm_exec_retry_on_contention(exec);
		if (ret)
			return ret;
	}

	for (i = 0; i < job->num_bos; i++) {
		ret = drm_sched_job_add_implicit_dependencies(&job->base, job->bos[i].obj,
							      job->bos[i].write);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Nothing fails in here: the job's fence is promised from drm_sched_job_arm() on. Buffers are
 * unlocked before the job may end: the locks keep references, and a buffer whose last one goes
 * takes the lock of its exporter, while others are locked yet.
 */
static void nvdla_submit_push(struct nvdla_submit *submit, struct drm_exec *exec,
			      struct nvdla_fence *memory)
{
	struct nvdla_job *job = submit->job;
	struct nvdla_context *context = job->context;
	struct dma_fence *fence;
	u32 i;

	/* The job takes its reference with it. */
	nvdla_context_get(context);
	mutex_lock(&context->submit_lock);

	drm_sched_job_arm(&job->base);
	fence = nvdla_fence_follow(memory, &job->base.s_fence->finished);

	for (i = 0; i < job->num_bos; i++)
		dma_resv_add_fence(job->bos[i].obj->resv, fence,
				   job->bos[i].write ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
	nvdla_submit_signal_out_syncs(submit, fence);
	trace_nvdla_job_queue(job);
	drm_exec_fini(exec);

	submit->job = NULL;
	drm_sched_entity_push_job(&job->base);

	mutex_unlock(&context->submit_lock);
	nvdla_context_put(context);
	dma_fence_put(fence);
}

static int nvdla_submit_lock_and_push(struct nvdla_submit *submit)
{
	struct nvdla_fence *fence;
	struct drm_exec exec;
	int ret, idx;

	fence = nvdla_fence_alloc();
	if (!fence)
		return -ENOMEM;

	if (!drm_dev_enter(&submit->ndev->drm, &idx)) {
		kfree(fence);
		return -ENODEV;
	}
	ret = nvdla_cbuf_prepare(submit->job);
	if (!ret)
		ret = nvdla_job_admit(submit->job);
	if (ret)
		goto out_exit;

	drm_exec_init(&exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES,
		      submit->job->num_bos);
	ret = nvdla_submit_lock_bos(submit, &exec);
	if (ret)
		drm_exec_fini(&exec);
	else
		nvdla_submit_push(submit, &exec, fence);

out_exit:
	drm_dev_exit(idx);
	if (ret)
		kfree(fence);
	return ret;
}

static int nvdla_submit_queue(struct nvdla_submit *submit)
{
	struct nvdla_job *job = submit->job;
	int ret;

	ret = drm_sched_job_init(&job->base, &job->context->entity, NVDLA_JOB_CREDITS,
				 job->context->file, submit->file->client_id);
	if (ret)
		return ret;

	ret = nvdla_submit_add_in_syncs(submit);
	if (!ret)
		ret = nvdla_submit_lock_and_push(submit);
	if (ret)
		drm_sched_job_cleanup(&job->base);
	return ret;
}

/* Checking the largest submits takes long. */
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
	if (IS_ERR(job)) {
		nvdla_context_put(context);
		return PTR_ERR(job);
	}

	job->timeout_ns = (u64)(args->timeout_ms ?: NVDLA_DEFAULT_TIMEOUT_MS) * NSEC_PER_MSEC;
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
	struct drm_nvdla_error error;
	int ret;

	if (drm_dev_is_unplugged(drm))
		return -ENODEV;

	if (nvdla_args_check_submit(submit.args, &error))
		return nvdla_submit_refuse(&submit, 0, &error);
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
