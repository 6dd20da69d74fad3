// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Jobs: what happens to a submit from the scheduler to its fence.
 *
 * One job is on the hardware at a time. Its tasks run one after the other in
 * nvdla_sequencer, which keeps both register groups of all engines busy.
 */
#include <linux/dma-fence.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_job.h"
#include "nvdla_trace.h"

static const char *nvdla_fence_driver_name(struct dma_fence *fence)
{
	return "nvdla";
}

static const char *nvdla_fence_timeline_name(struct dma_fence *fence)
{
	return "nvdla-core";
}

static const struct dma_fence_ops nvdla_fence_ops = {
	.get_driver_name = nvdla_fence_driver_name,
	.get_timeline_name = nvdla_fence_timeline_name,
};

static struct nvdla_job *to_nvdla_job(struct drm_sched_job *sched_job)
{
	return container_of(sched_job, struct nvdla_job, base);
}

/**
 * nvdla_job_create() - allocate a job
 * @ndev: device
 * @num_tasks: number of tasks it is going to have
 *
 * Return: the job, to be freed with nvdla_job_destroy(), or an ERR_PTR().
 */
struct nvdla_job *nvdla_job_create(struct nvdla_device *ndev, u32 num_tasks)
{
	struct nvdla_job *job;

	job = kzalloc(sizeof(*job), GFP_KERNEL);
	if (!job)
		return ERR_PTR(-ENOMEM);

	job->ndev = ndev;
	atomic_inc(&ndev->num_jobs);

	job->tasks = kcalloc(num_tasks, sizeof(*job->tasks), GFP_KERNEL);
	/* Needed on the way to a fence that others wait for: no allocation there. */
	job->fence = kzalloc(sizeof(*job->fence), GFP_KERNEL);
	if (!job->tasks || !job->fence) {
		nvdla_job_destroy(job);
		return ERR_PTR(-ENOMEM);
	}

	return job;
}

/**
 * nvdla_job_destroy() - free a job that is not in the scheduler's hands
 * @job: job; a scheduler job inside it must have been cleaned up
 */
void nvdla_job_destroy(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;
	u32 i;

	for (i = 0; i < job->num_bos; i++)
		drm_gem_object_put(job->bos[i].obj);
	kvfree(job->bos);

	for (i = 0; i < job->num_tasks; i++)
		nvdla_task_destroy(job->tasks[i]);
	kfree(job->tasks);

	if (job->fence_live)
		dma_fence_put(job->fence);
	else
		kfree(job->fence);
	nvdla_usage_put(job->usage);
	kfree(job);

	if (atomic_dec_and_test(&ndev->num_jobs))
		wake_up_all(&ndev->jobs_gone);
}

/* The job on the hardware cannot go on: have the scheduler call timedout_job(). */
static void nvdla_job_fail(struct nvdla_job *job, int error)
{
	lockdep_assert_held(&job->ndev->lock);

	if (!job->error)
		job->error = error;
	drm_sched_fault(&job->ndev->sched);
}

static void nvdla_job_start_next_task(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;
	struct nvdla_task *task = job->tasks[job->next_task++];
	int ret;

	trace_nvdla_task_start(job, job->next_task - 1, nvdla_task_num_operations(task));
	ret = nvdla_sequencer_start(ndev->seq, task);
	if (ret)
		nvdla_job_fail(job, ret);
}

static void nvdla_job_task_done(void *context, struct nvdla_task *task, int error)
{
	struct nvdla_device *ndev = context;
	struct nvdla_job *job = ndev->active;

	lockdep_assert_held(&ndev->lock);

	trace_nvdla_task_done(job, job->next_task - 1, error);
	if (error) {
		nvdla_job_fail(job, error);
		return;
	}

	if (job->next_task < job->num_tasks) {
		nvdla_job_start_next_task(job);
		return;
	}

	ndev->active = NULL;
	cancel_delayed_work(&ndev->hang_work);
	trace_nvdla_job_done(job, 0);
	dma_fence_signal(job->fence);
}

static void nvdla_job_op_programmed(void *context, struct nvdla_task *task, u32 operation)
{
	struct nvdla_device *ndev = context;
	struct nvdla_job *job = ndev->active;

	trace_nvdla_op_program(job, job->next_task - 1, operation,
			       nvdla_task_op_type(task, operation));
}

static void nvdla_job_op_enabled(void *context, struct nvdla_task *task, u32 operation)
{
	struct nvdla_device *ndev = context;
	struct nvdla_job *job = ndev->active;
	u32 engine = nvdla_task_op_type(task, operation);

	trace_nvdla_op_enable(job, job->next_task - 1, operation, engine);
	nvdla_counters_op_enabled(&ndev->counters, job->usage, engine);
}

static void nvdla_job_op_completed(void *context, struct nvdla_task *task, u32 operation)
{
	struct nvdla_device *ndev = context;
	struct nvdla_job *job = ndev->active;

	trace_nvdla_op_complete(job, job->next_task - 1, operation,
				nvdla_task_op_type(task, operation));
	nvdla_counters_op_completed(&ndev->counters, task, operation);
}

const struct nvdla_sequencer_ops nvdla_job_sequencer_ops = {
	.task_done = nvdla_job_task_done,
	.op_programmed = nvdla_job_op_programmed,
	.op_enabled = nvdla_job_op_enabled,
	.op_completed = nvdla_job_op_completed,
};

static void nvdla_job_hang_work(struct work_struct *work)
{
	struct nvdla_device *ndev = container_of(work, struct nvdla_device, hang_work.work);

	mutex_lock(&ndev->lock);
	if (ndev->active && time_after_eq(jiffies, ndev->active->deadline))
		nvdla_job_fail(ndev->active, -ETIMEDOUT);
	mutex_unlock(&ndev->lock);
}

static struct dma_fence *nvdla_job_run(struct drm_sched_job *sched_job)
{
	struct nvdla_job *job = to_nvdla_job(sched_job);
	struct nvdla_device *ndev = job->ndev;

	/* The file was closed before the job's turn came. */
	if (sched_job->s_fence->finished.error)
		return NULL;

	mutex_lock(&ndev->lock);

	if (ndev->dead) {
		mutex_unlock(&ndev->lock);
		return ERR_PTR(-ENODEV);
	}

	dma_fence_init(job->fence, &nvdla_fence_ops, &ndev->fence_lock,
		       ndev->fence_context, ++ndev->fence_seqno);
	job->fence_live = true;

	ndev->active = job;
	job->deadline = jiffies + job->timeout;
	mod_delayed_work(system_highpri_wq, &ndev->hang_work, job->timeout);
	trace_nvdla_job_run(job);
	nvdla_job_start_next_task(job);

	mutex_unlock(&ndev->lock);

	return dma_fence_get(job->fence);
}

static void nvdla_job_report(struct nvdla_job *job, const struct nvdla_sequencer_snapshot *state)
{
	struct drm_device *drm = &job->ndev->drm;
	u32 type, group;

	drm_err(drm, "job failed: %d, task %u of %u, %u of its %u operations completed\n",
		job->error, job->next_task, job->num_tasks, state->num_completed,
		state->num_operations);

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		for (group = 0; group < 2; group++) {
			if (state->engine[type].group[group].state == NVDLA_GROUP_IDLE)
				continue;
			drm_err(drm, "engine %u group %u: operation %u, state %u, waits for %u\n",
				type, group, state->engine[type].group[group].operation,
				state->engine[type].group[group].state,
				state->engine[type].group[group].waits_for);
		}
	}
}

/* The end of a job that a reset took off the hardware. */
static void nvdla_job_end_aborted(struct nvdla_job *job)
{
	int error = job->error ?: -ENODEV;

	trace_nvdla_job_done(job, error);
	dma_fence_set_error(job->fence, error);
	dma_fence_signal(job->fence);
}

static enum drm_gpu_sched_stat nvdla_job_timedout(struct drm_sched_job *sched_job)
{
	struct nvdla_job *job = to_nvdla_job(sched_job);
	struct nvdla_device *ndev = job->ndev;
	struct nvdla_sequencer_snapshot state;
	bool guilty;

	drm_sched_stop(&ndev->sched, sched_job);

	mutex_lock(&ndev->lock);
	guilty = ndev->active == job && job->error;
	if (guilty)
		nvdla_sequencer_snapshot(ndev->seq, &state);
	mutex_unlock(&ndev->lock);

	if (guilty) {
		if (!ndev->dead)
			nvdla_job_report(job, &state);
		cancel_delayed_work(&ndev->hang_work);
		/* It is not there any more if a removal was faster. */
		if (nvdla_device_reset(ndev) == job)
			nvdla_job_end_aborted(job);
	}

	/*
	 * drm_sched_stop() took the hardware fence away from the job, and
	 * drm_sched_start() would cancel it for the lack of one. With the fence
	 * back, the job ends with the fence's error or goes on as before.
	 */
	if (job->fence_live && !sched_job->s_fence->parent)
		sched_job->s_fence->parent = dma_fence_get(job->fence);

	nvdla_sched_start(&ndev->sched);
	return DRM_GPU_SCHED_STAT_RESET;
}

static void nvdla_job_free(struct drm_sched_job *sched_job)
{
	drm_sched_job_cleanup(sched_job);
	nvdla_job_destroy(to_nvdla_job(sched_job));
}

static const struct drm_sched_backend_ops nvdla_sched_ops = {
	.run_job = nvdla_job_run,
	.timedout_job = nvdla_job_timedout,
	.free_job = nvdla_job_free,
};

static void nvdla_sched_release(struct drm_device *drm, void *data)
{
	drm_sched_fini(data);
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
	int ret;

	spin_lock_init(&ndev->fence_lock);
	ndev->fence_context = dma_fence_context_alloc(1);
	atomic_set(&ndev->num_jobs, 0);
	init_waitqueue_head(&ndev->jobs_gone);
	INIT_DELAYED_WORK(&ndev->hang_work, nvdla_job_hang_work);

	ret = nvdla_sched_init(&ndev->sched, &nvdla_sched_ops, dev_name(ndev->drm.dev),
			       ndev->drm.dev);
	if (ret)
		return ret;

	return drmm_add_action_or_reset(&ndev->drm, nvdla_sched_release, &ndev->sched);
}

/**
 * nvdla_job_fini() - end all jobs
 * @ndev: device that takes no more submits; the lock of its parent is held
 *
 * The job on the hardware is taken off it, those in the queue fail when their
 * turn comes.
 */
void nvdla_job_fini(struct nvdla_device *ndev)
{
	struct nvdla_job *job = NULL;
	bool busy;

	mutex_lock(&ndev->lock);
	WRITE_ONCE(ndev->dead, true);
	busy = ndev->active;
	mutex_unlock(&ndev->lock);

	if (busy)
		job = nvdla_device_reset_locked(ndev);
	if (job)
		nvdla_job_end_aborted(job);

	wait_event(ndev->jobs_gone, !atomic_read(&ndev->num_jobs));
	cancel_delayed_work_sync(&ndev->hang_work);
}
