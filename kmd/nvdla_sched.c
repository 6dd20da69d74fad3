// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Jobs before and after their time on the hardware; nvdla_run.c handles the time in between. */
#include <linux/dma-fence.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/wait_bit.h>

#include <drm/drm_drv.h>
#include <drm/drm_exec.h>
#include <drm/drm_gem.h>
#include <drm/drm_managed.h>

#include "engine/nvdla_args.h"
#include "nvdla_compat.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_dump.h"
#include "nvdla_fence.h"
#include "nvdla_file.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_pm.h"
#include "nvdla_run.h"
#include "nvdla_sched.h"
#include "nvdla_trace.h"
#include "nvdla_user_task.h"

/* Credits of the scheduler: one job takes all, so that the next one begins after its end. */
#define NVDLA_JOB_CREDITS 1

/* Interval at which the deadline of the job on the hardware is checked. */
#define NVDLA_CHECK_MS 20

static const char *nvdla_core_fence_driver_name(struct dma_fence *fence)
{
	return "nvdla";
}

static const char *nvdla_core_fence_timeline_name(struct dma_fence *fence)
{
	return "nvdla-core";
}

static const struct dma_fence_ops nvdla_core_fence_ops = {
	.get_driver_name = nvdla_core_fence_driver_name,
	.get_timeline_name = nvdla_core_fence_timeline_name,
};

static struct nvdla_job *to_nvdla_job(struct drm_sched_job *sched_job)
{
	return container_of(sched_job, struct nvdla_job, base);
}

/**
 * nvdla_job_create() - allocate a job
 * @ndev: device
 * @context: queue of the job; its reference is taken over
 * @num_tasks: number of tasks that the job is going to have
 *
 * Return: the job, for nvdla_job_submit() or nvdla_job_destroy(), or an ERR_PTR(); -EBUSY if the
 * file has NVDLA_MAX_JOBS already.
 */
struct nvdla_job *nvdla_job_create(struct nvdla_device *ndev, struct nvdla_context *context,
				   u32 num_tasks)
{
	struct nvdla_file *file = context->file;
	struct nvdla_job *job;
	int ret = -ENOMEM;

	if (!atomic_add_unless(&file->num_jobs, 1, NVDLA_MAX_JOBS)) {
		ret = -EBUSY;
		goto err_put;
	}

	job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	if (!job)
		goto err_uncount;

	job->tasks = kcalloc(num_tasks, sizeof(*job->tasks), GFP_KERNEL_ACCOUNT);
	job->user_tasks = kcalloc(num_tasks, sizeof(*job->user_tasks), GFP_KERNEL_ACCOUNT);
	/* Allocated now: between arming and signalling no allocation is allowed. */
	job->fence = kzalloc(sizeof(*job->fence), GFP_KERNEL_ACCOUNT);
	if (!job->tasks || !job->user_tasks || !job->fence)
		goto err_free;

	ret = drm_sched_job_init(&job->base, &context->entity, NVDLA_JOB_CREDITS, file,
				 file->usage.client_id);
	if (ret)
		goto err_free;

	dma_fence_init(job->fence, &nvdla_core_fence_ops, &ndev->fence_lock,
		       dma_fence_context_alloc(1), 1);
	job->hw = &ndev->hw;
	job->context = context;
	job->counted = true;
	job->timeout_ns = (u64)NVDLA_DEFAULT_TIMEOUT_MS * NSEC_PER_MSEC;
	job->submit_ns = ktime_get_ns();
	return job;

err_free:
	kfree(job->fence);
	kfree(job->user_tasks);
	kfree(job->tasks);
	kfree(job);
err_uncount:
	atomic_dec(&file->num_jobs);
err_put:
	nvdla_context_put(context);
	return ERR_PTR(ret);
}

static void nvdla_job_put_bos(struct nvdla_job *job)
{
	u32 i;

	for (i = 0; i < job->num_bos; i++)
		drm_gem_object_put(job->bos[i].obj);
	kvfree(job->bos);
}

/*
 * Keeps the device plugged and awake until the job is destroyed. From here on an unplug waits for
 * the job, so the job must not wait for user space.
 */
static int nvdla_job_admit(struct nvdla_job *job)
{
	int ret;

	ret = nvdla_pm_get(job->hw->drm);
	if (ret)
		return ret;

	atomic_inc(&to_nvdla_device(job->hw->drm)->num_jobs);
	job->admitted = true;
	return 0;
}

static int nvdla_job_lock_bos(struct nvdla_job *job, struct drm_exec *exec)
{
	int ret = 0;
	u32 i;

	drm_exec_until_all_locked(exec) {
		for (i = 0; i < job->num_bos; i++) {
			/* Two buffers may share one dma_resv: reserve a read and a write fence. */
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
 * Cannot fail, because the fence has to signal once drm_sched_job_arm() was called. Buffers are
 * unlocked before the job may end: @exec holds references to them. Dropping the last reference to a
 * buffer takes its exporter's lock, which must not happen while other buffers are locked.
 */
static struct dma_fence *nvdla_job_push(struct nvdla_job *job, struct drm_exec *exec,
					struct nvdla_fence *memory)
{
	struct nvdla_context *context = job->context;
	struct dma_fence *fence;
	u32 i;

	/* After the push, the job may be freed at any time, with its reference to the context. */
	nvdla_context_get(context);
	mutex_lock(&context->submit_lock);

	drm_sched_job_arm(&job->base);
	fence = nvdla_fence_follow(memory, &job->base.s_fence->finished);

	for (i = 0; i < job->num_bos; i++)
		dma_resv_add_fence(job->bos[i].obj->resv, fence,
				   job->bos[i].write ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
	trace_nvdla_job_queue(job);
	drm_exec_fini(exec);
	drm_sched_entity_push_job(&job->base);

	mutex_unlock(&context->submit_lock);
	nvdla_context_put(context);
	return fence;
}

/**
 * nvdla_job_submit() - hand a job to the scheduler
 * @job: job with all its tasks, buffers and dependencies; on success the scheduler owns it
 *
 * The job waits for the fences of its buffers, and its fence is added to the buffers.
 *
 * Return: a reference to the fence of the job, or an ERR_PTR(); -ENODEV if the device is gone or
 * does not wake.
 */
struct dma_fence *nvdla_job_submit(struct nvdla_job *job)
{
	struct nvdla_fence *memory;
	struct dma_fence *fence;
	struct drm_exec exec;
	int ret, idx;

	memory = kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);
	if (!memory)
		return ERR_PTR(-ENOMEM);

	if (!drm_dev_enter(job->hw->drm, &idx)) {
		kfree(memory);
		return ERR_PTR(-ENODEV);
	}
	ret = nvdla_job_admit(job);
	if (ret)
		goto err_exit;

	drm_exec_init(&exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES,
		      job->num_bos);
	ret = nvdla_job_lock_bos(job, &exec);
	if (ret) {
		drm_exec_fini(&exec);
		goto err_exit;
	}
	fence = nvdla_job_push(job, &exec, memory);
	drm_dev_exit(idx);
	return fence;

err_exit:
	drm_dev_exit(idx);
	kfree(memory);
	return ERR_PTR(ret);
}

/**
 * nvdla_job_destroy() - free a job that the scheduler does not own
 * @job: job
 */
void nvdla_job_destroy(struct nvdla_job *job)
{
	struct nvdla_device *ndev = to_nvdla_device(job->hw->drm);
	bool admitted = job->admitted;

	if (job->base.s_fence)
		drm_sched_job_cleanup(&job->base);
	nvdla_job_uncount(job);
	if (job->result)
		nvdla_memory_vunmap(&job->result_bo->memory, job->result);
	nvdla_job_put_bos(job);
	nvdla_coredump_publish(job);
	nvdla_user_tasks_free(job->tasks, job->user_tasks, job->num_tasks);

	dma_fence_put(job->fence);
	nvdla_context_put(job->context);
	kfree(job);

	if (!admitted)
		return;
	nvdla_pm_put(&ndev->drm);
	if (atomic_dec_and_test(&ndev->num_jobs))
		wake_up_var(&ndev->num_jobs);
}

static struct dma_fence *nvdla_job_run(struct drm_sched_job *sched_job)
{
	struct nvdla_job *job = to_nvdla_job(sched_job);
	struct nvdla_hw *hw = job->hw;
	struct dma_fence *fence = dma_fence_get(job->fence);
	bool cookie;

	cookie = dma_fence_begin_signalling();
	mutex_lock(&hw->lock);
	nvdla_job_put_on(job);
	mutex_unlock(&hw->lock);
	dma_fence_end_signalling(cookie);

	return fence;
}

static void nvdla_job_free_work(struct work_struct *work)
{
	nvdla_job_destroy(container_of(work, struct nvdla_job, free_work));
}

/*
 * The scheduler calls this function before it runs the next job, so fences of other jobs wait for
 * this function. It must not take locks under which memory is allocated. Releasing buffers takes
 * such locks, for example those of their exporters, so a worker does that.
 */
static void nvdla_job_free(struct drm_sched_job *sched_job)
{
	struct nvdla_job *job = to_nvdla_job(sched_job);
	struct nvdla_device *ndev = to_nvdla_device(job->hw->drm);
	bool cookie;

	cookie = dma_fence_begin_signalling();
	drm_sched_job_cleanup(sched_job);
	INIT_WORK(&job->free_work, nvdla_job_free_work);

	queue_work(ndev->free_wq, &job->free_work);
	dma_fence_end_signalling(cookie);
}

/*
 * The scheduler's timeout only sets how often the job on the hardware is checked: that job has its
 * own timeout. @sched_job may be another job, which has ended but was not freed yet.
 *
 * If the job on the hardware is reset, its fence is signalled with the error, as at the end of any
 * job, and the scheduler runs the next one. So nothing has to be stopped or resubmitted here.
 */
static enum drm_gpu_sched_stat nvdla_job_timedout(struct drm_sched_job *sched_job)
{
	bool cookie = dma_fence_begin_signalling();
	enum drm_gpu_sched_stat stat;

	nvdla_jobs_recover(to_nvdla_job(sched_job)->hw);
	stat = nvdla_sched_keep_job(sched_job);
	dma_fence_end_signalling(cookie);
	return stat;
}

static const struct drm_sched_backend_ops nvdla_sched_ops = {
	.run_job = nvdla_job_run,
	.timedout_job = nvdla_job_timedout,
	.free_job = nvdla_job_free,
};

static void nvdla_sched_release(struct drm_device *drm, void *data)
{
	struct nvdla_device *ndev = data;

	drm_sched_fini(&ndev->sched);
	destroy_workqueue(ndev->sched_wq);
	destroy_workqueue(ndev->timeout_wq);
	destroy_workqueue(ndev->free_wq);
}

/**
 * nvdla_job_init() - set up the scheduler
 * @ndev: device
 *
 * The scheduler lives as long as the DRM device does, because open files have entities of the
 * scheduler even after an unplug.
 *
 * Return: 0 or -errno.
 */
int nvdla_job_init(struct nvdla_device *ndev)
{
	struct drm_sched_init_args args = {
		.ops = &nvdla_sched_ops,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = NVDLA_JOB_CREDITS,
		.timeout = msecs_to_jiffies(NVDLA_CHECK_MS),
		.name = dev_name(ndev->drm.dev),
		.dev = ndev->drm.dev,
	};
	int ret;

	spin_lock_init(&ndev->fence_lock);
	atomic_set(&ndev->num_jobs, 0);

	ndev->sched_wq = alloc_ordered_workqueue("%s", WQ_MEM_RECLAIM, dev_name(ndev->drm.dev));
	if (!ndev->sched_wq)
		return -ENOMEM;

	INIT_WORK(&ndev->hw.recover_work, nvdla_jobs_recover_work);
	ndev->timeout_wq = alloc_ordered_workqueue("%s-timeout", WQ_HIGHPRI | WQ_MEM_RECLAIM,
						   dev_name(ndev->drm.dev));
	if (!ndev->timeout_wq) {
		ret = -ENOMEM;
		goto err_sched_wq;
	}

	ndev->free_wq = alloc_workqueue("%s-free", WQ_UNBOUND, 0, dev_name(ndev->drm.dev));
	if (!ndev->free_wq) {
		ret = -ENOMEM;
		goto err_timeout_wq;
	}

	args.submit_wq = ndev->sched_wq;
	args.timeout_wq = ndev->timeout_wq;
	ret = drm_sched_init(&ndev->sched, &args);
	if (ret)
		goto err_free_wq;

	return drmm_add_action_or_reset(&ndev->drm, nvdla_sched_release, ndev);

err_free_wq:
	destroy_workqueue(ndev->free_wq);
err_timeout_wq:
	destroy_workqueue(ndev->timeout_wq);
err_sched_wq:
	destroy_workqueue(ndev->sched_wq);
	return ret;
}

/**
 * nvdla_job_fini() - end all jobs
 * @ndev: device that is unplugged; &device.mutex of its bus device is held, for nvdla_hw_reset()
 *
 * The job on the hardware is stopped by a reset, or waited for if there is no reset; the scheduler
 * then runs the queued jobs, which fail.
 */
void nvdla_job_fini(struct nvdla_device *ndev)
{
	struct nvdla_hw *hw = &ndev->hw;
	bool busy;

	/* The device is unplugged, so no other job starts after this point. */
	mutex_lock(&hw->lock);
	busy = hw->active;
	mutex_unlock(&hw->lock);

	if (busy && hw->bus_ops->reset)
		nvdla_hw_reset(hw);
	else if (busy)
		nvdla_job_drain(hw);

	wait_var_event(&ndev->num_jobs, !atomic_read(&ndev->num_jobs));
	/* The work item that freed the last job may not have returned yet. */
	flush_workqueue(ndev->free_wq);
}
