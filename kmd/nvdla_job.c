// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Jobs: what happens to a submit from the scheduler to its fence, except while
 * it is on the hardware, which is in nvdla_run.c.
 */
#include <linux/dma-fence.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/wait_bit.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_managed.h>

#include "nvdla_compat.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_domain.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_pm.h"
#include "nvdla_user_task.h"

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
 * @context: queue that it is for; on success the job takes over the reference
 * @num_tasks: number of tasks it is going to have
 *
 * Return: the job, to be freed with nvdla_job_destroy(), or an ERR_PTR(); -EBUSY if the file has
 * as many as it may have.
 */
struct nvdla_job *nvdla_job_create(struct nvdla_device *ndev, struct nvdla_context *context,
				   u32 num_tasks)
{
	struct nvdla_file *file = context->file;
	struct nvdla_job *job;

	if (!atomic_add_unless(&file->num_jobs, 1, NVDLA_MAX_JOBS))
		return ERR_PTR(-EBUSY);

	job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	if (!job)
		goto err_uncount;

	job->tasks = kcalloc(num_tasks, sizeof(*job->tasks), GFP_KERNEL_ACCOUNT);
	job->user_tasks = kcalloc(num_tasks, sizeof(*job->user_tasks), GFP_KERNEL_ACCOUNT);
	/* Needed on the way to a fence that others wait for: no allocation there. */
	job->fence = kzalloc(sizeof(*job->fence), GFP_KERNEL_ACCOUNT);
	if (!job->tasks || !job->user_tasks || !job->fence)
		goto err_free;

	job->ndev = ndev;
	job->context = context;
	job->counted = true;
	job->submit_ns = ktime_get_ns();
	return job;

err_free:
	kfree(job->fence);
	kfree(job->user_tasks);
	kfree(job->tasks);
	kfree(job);
err_uncount:
	atomic_dec(&file->num_jobs);
	return ERR_PTR(-ENOMEM);
}

/**
 * nvdla_job_uncount() - the job's file may have another one in its place
 * @job: job that has ended, or never began
 */
void nvdla_job_uncount(struct nvdla_job *job)
{
	if (job->counted)
		atomic_dec(&job->context->file->num_jobs);
	job->counted = false;
}

/* A handle may be closed while the job is under way, and the driver's own buffers have none. */
static int nvdla_job_map_bos(struct nvdla_job *job)
{
	struct nvdla_domain *domain = job->context->file->domain;
	int ret;

	for (; job->num_mapped < job->num_bos; job->num_mapped++) {
		ret = nvdla_domain_map(domain, to_nvdla_bo(job->bos[job->num_mapped].obj));
		if (ret)
			return ret;
	}
	return 0;
}

static void nvdla_job_put_bos(struct nvdla_job *job)
{
	struct nvdla_domain *domain = job->context->file->domain;
	u32 i;

	for (i = 0; i < job->num_mapped; i++)
		nvdla_domain_unmap(domain, to_nvdla_bo(job->bos[i].obj));
	for (i = 0; i < job->num_bos; i++)
		drm_gem_object_put(job->bos[i].obj);
	kvfree(job->bos);
}

/**
 * nvdla_job_admit() - have the device there and awake until the job is destroyed
 * @job: job with all its buffers that is about to be queued; the caller is between
 *	drm_dev_enter() and drm_dev_exit()
 *
 * From here on an unplug waits for the job, so the job must not wait for user space.
 *
 * Return: 0, -ENODEV if the core does not wake, -ENOMEM.
 */
int nvdla_job_admit(struct nvdla_job *job)
{
	int ret;

	ret = nvdla_job_map_bos(job);
	if (ret)
		return ret;

	ret = nvdla_pm_get(job->ndev);
	if (ret)
		return ret;

	atomic_inc(&job->ndev->num_jobs);
	job->admitted = true;
	return 0;
}

/**
 * nvdla_job_free_tasks() - free tasks, and give up what they were prepared as
 * @tasks: array of @count tasks, any of which may be NULL; freed, too
 * @user_tasks: array of as many prepared tasks or NULL; freed, too
 * @count: tasks
 */
void nvdla_job_free_tasks(struct nvdla_task **tasks, struct nvdla_user_task **user_tasks, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		nvdla_task_destroy(tasks[i]);
		if (user_tasks[i])
			nvdla_user_task_put(user_tasks[i]);
	}
	kfree(user_tasks);
	kfree(tasks);
}

/**
 * nvdla_job_destroy() - free a job that is not in the scheduler's hands
 * @job: job; a scheduler job inside it must have been cleaned up
 */
void nvdla_job_destroy(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;
	bool admitted = job->admitted;

	nvdla_job_uncount(job);
	if (job->result)
		nvdla_bo_vunmap_range(job->result);
	nvdla_job_put_bos(job);
	nvdla_coredump_publish(job);
	nvdla_job_free_tasks(job->tasks, job->user_tasks, job->num_tasks);

	if (job->fence_live)
		dma_fence_put(job->fence);
	else
		kfree(job->fence);
	nvdla_context_put(job->context);
	kfree(job);

	if (!admitted)
		return;
	nvdla_pm_put(ndev);
	if (atomic_dec_and_test(&ndev->num_jobs))
		wake_up_var(&ndev->num_jobs);
}

static struct dma_fence *nvdla_job_run(struct drm_sched_job *sched_job)
{
	struct nvdla_job *job = to_nvdla_job(sched_job);
	struct nvdla_device *ndev = job->ndev;
	struct dma_fence *fence;
	bool cookie;

	cookie = dma_fence_begin_signalling();
	mutex_lock(&ndev->lock);
	dma_fence_init(job->fence, &nvdla_core_fence_ops, &ndev->fence_lock,
		       ndev->fence_context, ++ndev->fence_seqno);
	job->fence_live = true;
	fence = dma_fence_get(job->fence);
	nvdla_job_put_on(job);
	mutex_unlock(&ndev->lock);
	dma_fence_end_signalling(cookie);

	return fence;
}

static void nvdla_job_free_work(struct work_struct *work)
{
	nvdla_job_destroy(container_of(work, struct nvdla_job, free_work));
}

/*
 * The next job runs behind this, so others' fences wait for it. Buffers take locks
 * with which memory is allocated, those of exporters among them: not here.
 */
static void nvdla_job_free(struct drm_sched_job *sched_job)
{
	struct nvdla_job *job = to_nvdla_job(sched_job);
	struct nvdla_device *ndev = job->ndev;
	bool cookie;

	cookie = dma_fence_begin_signalling();
	drm_sched_job_cleanup(sched_job);
	INIT_WORK(&job->free_work, nvdla_job_free_work);

	/* The scheduler has just set the timer anew for the job behind this one. */
	mutex_lock(&ndev->lock);
	nvdla_jobs_arm_timeout(ndev);
	mutex_unlock(&ndev->lock);

	queue_work(ndev->free_wq, &job->free_work);
	dma_fence_end_signalling(cookie);
}

/*
 * The scheduler has jobs that have ended and were not freed yet: the first of those that it gave
 * out need not be the one on the hardware, and it may be too early for that, whose own timeout
 * counts.
 *
 * A reset ends the job. Its fence tells the scheduler, with the error, as that of any
 * job does, and the next one runs: there is nothing that would have to be stopped
 * meanwhile or run again. All the scheduler has to do is to go on with what it has.
 */
static enum drm_gpu_sched_stat nvdla_job_timedout(struct drm_sched_job *sched_job)
{
	struct nvdla_device *ndev = to_nvdla_job(sched_job)->ndev;
	bool cookie = dma_fence_begin_signalling();
	enum drm_gpu_sched_stat stat;

	if (!nvdla_jobs_recover(ndev))
		queue_work(ndev->timeout_wq, &ndev->rearm_work);
	stat = nvdla_sched_keep_job(sched_job);
	nvdla_fault_in_timeout(ndev);
	dma_fence_end_signalling(cookie);
	return stat;
}

/*
 * When the callback above has returned, the scheduler sets its timer to its own timeout,
 * whatever that of the job is which has begun meanwhile. This comes behind it.
 */
static void nvdla_job_rearm_work(struct work_struct *work)
{
	struct nvdla_device *ndev = container_of(work, struct nvdla_device, rearm_work);

	mutex_lock(&ndev->lock);
	/* An unplug ends the job on the hardware by itself. */
	if (!nvdla_device_is_gone(ndev))
		nvdla_jobs_arm_timeout(ndev);
	mutex_unlock(&ndev->lock);
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
 * The scheduler lives as long as the DRM device does, because open files have
 * entities in it even after an unplug.
 *
 * Return: 0 or -errno.
 */
int nvdla_job_init(struct nvdla_device *ndev)
{
	struct drm_sched_init_args args = {
		.ops = &nvdla_sched_ops,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = NVDLA_JOB_CREDITS,
		.timeout = msecs_to_jiffies(NVDLA_DEFAULT_TIMEOUT_MS),
		.name = dev_name(ndev->drm.dev),
		.dev = ndev->drm.dev,
	};
	int ret;

	spin_lock_init(&ndev->fence_lock);
	ndev->fence_context = dma_fence_context_alloc(1);
	atomic_set(&ndev->num_jobs, 0);

	ndev->sched_wq = alloc_ordered_workqueue("%s", WQ_MEM_RECLAIM, dev_name(ndev->drm.dev));
	if (!ndev->sched_wq)
		return -ENOMEM;

	INIT_WORK(&ndev->rearm_work, nvdla_job_rearm_work);
	INIT_WORK(&ndev->recover_work, nvdla_jobs_recover_work);
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
 * @ndev: device that is unplugged; the lock of its parent is held
 *
 * The job on the hardware is taken off it, or waited for if there is no reset; those in the queue
 * fail when their turn comes.
 */
void nvdla_job_fini(struct nvdla_device *ndev)
{
	bool busy;

	/* From here on none takes its place: the device is unplugged. */
	mutex_lock(&ndev->lock);
	busy = ndev->active;
	mutex_unlock(&ndev->lock);

	if (busy && ndev->bus_ops->reset)
		nvdla_device_reset(ndev);
	else if (busy)
		nvdla_job_drain(ndev);

	wait_var_event(&ndev->num_jobs, !atomic_read(&ndev->num_jobs));
	/* Whoever brought the number to zero may not have returned. */
	flush_workqueue(ndev->free_wq);
}
