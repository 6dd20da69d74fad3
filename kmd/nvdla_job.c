// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Jobs: what happens to a submit from the scheduler to its fence.
 *
 * One job is on the hardware at a time. Its tasks run one after the other in
 * nvdla_sequencer, which keeps both register groups of all engines busy.
 */
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "engine/nvdla_result.h"
#include "nvdla_compat.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_pm.h"
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
 * @context: queue that it is for; on success the job takes over the reference
 * @num_tasks: number of tasks it is going to have
 *
 * Return: the job, to be freed with nvdla_job_destroy(), or an ERR_PTR().
 */
struct nvdla_job *nvdla_job_create(struct nvdla_device *ndev, struct nvdla_context *context,
				   u32 num_tasks)
{
	struct nvdla_job *job;
	int ret;

	job = kzalloc(sizeof(*job), GFP_KERNEL);
	if (!job)
		return ERR_PTR(-ENOMEM);

	job->tasks = kcalloc(num_tasks, sizeof(*job->tasks), GFP_KERNEL);
	/* Needed on the way to a fence that others wait for: no allocation there. */
	job->fence = kzalloc(sizeof(*job->fence), GFP_KERNEL);
	if (!job->tasks || !job->fence) {
		ret = -ENOMEM;
		goto err_free;
	}

	ret = nvdla_pm_get(ndev);
	if (ret)
		goto err_free;

	job->ndev = ndev;
	job->context = context;
	job->submit_ns = ktime_get_ns();
	atomic_inc(&ndev->num_jobs);
	return job;

err_free:
	kfree(job->fence);
	kfree(job->tasks);
	kfree(job);
	return ERR_PTR(ret);
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

	nvdla_coredump_publish(job);
	for (i = 0; i < job->num_tasks; i++)
		nvdla_task_destroy(job->tasks[i]);
	kfree(job->tasks);

	if (job->fence_live)
		dma_fence_put(job->fence);
	else
		kfree(job->fence);
	nvdla_context_put(job->context);
	kfree(job);

	nvdla_pm_put(ndev);
	if (atomic_dec_and_test(&ndev->num_jobs))
		wake_up_all(&ndev->jobs_gone);
}

static void nvdla_job_write_result(struct nvdla_job *job, int status)
{
	const struct nvdla_result_source source = {
		.tasks = job->tasks,
		.num_tasks = job->num_tasks,
		.num_started = job->next_task,
		.status = status,
		.num_runs = job->num_runs,
		.submit_ns = job->submit_ns,
		.start_ns = job->start_ns,
		.end_ns = ktime_get_ns(),
	};

	if (!job->result)
		return;

	nvdla_result_write(&source, job->result);
	nvdla_bo_sync_for_device(job->result_bo);
}

/* The end of the job that is @active. It may be freed as soon as its fence has signalled. */
static void nvdla_job_end(struct nvdla_job *job, int status)
{
	struct nvdla_device *ndev = job->ndev;

	lockdep_assert_held(&ndev->lock);

	ndev->active = NULL;
	cancel_delayed_work(&ndev->hang_work);
	nvdla_job_write_result(job, status);
	nvdla_job_record_fill(&ndev->last_job, job, status);
	trace_nvdla_job_done(job, status);
	if (status)
		dma_fence_set_error(job->fence, status);
	dma_fence_signal(job->fence);
}

/* The job on the hardware cannot go on. Its fence has to wait until the core was reset. */
static void nvdla_job_fail(struct nvdla_job *job, int error)
{
	lockdep_assert_held(&job->ndev->lock);

	job->error = error;
	mod_delayed_work(system_highpri_wq, &job->ndev->hang_work, 0);
}

/* Tasks may be done at once, without an interrupt; @task_running tells. */
static void nvdla_job_start_tasks(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;
	int ret;

	while (job->next_task < job->num_tasks) {
		struct nvdla_task *task = job->tasks[job->next_task++];

		job->task_running = true;
		trace_nvdla_task_start(job, job->next_task - 1, nvdla_task_num_operations(task));
		ret = nvdla_sequencer_start(ndev->seq, task);
		if (ret) {
			nvdla_job_fail(job, ret);
			return;
		}
		if (job->task_running)
			return;
	}

	nvdla_job_end(job, 0);
}

static void nvdla_job_task_done(void *context, struct nvdla_task *task, int error)
{
	struct nvdla_device *ndev = context;
	struct nvdla_job *job = ndev->active;

	lockdep_assert_held(&ndev->lock);

	job->task_running = false;
	if (!error && nvdla_fault_strikes(&ndev->faults, NVDLA_FAULT_TASK))
		error = -EIO;
	trace_nvdla_task_done(job, job->next_task - 1, error);
	if (error)
		nvdla_job_fail(job, error);
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
	nvdla_counters_op_enabled(&ndev->counters, &job->context->file->usage, engine);
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

/**
 * nvdla_job_irq() - the core has interrupted
 * @ndev: device, locked
 * @status: bits of S_INTR_STATUS
 */
void nvdla_job_irq(struct nvdla_device *ndev, u32 status)
{
	struct nvdla_job *job = ndev->active;

	lockdep_assert_held(&ndev->lock);

	/* A job that failed stays as it is until the reset, for those who want to know why. */
	if (!job || job->error || ndev->stopped)
		return;

	nvdla_sequencer_irq(ndev->seq, status);
	if (!job->error && !job->task_running)
		nvdla_job_start_tasks(job);
}

/* Puts the job on the hardware, from its first task on. */
static void nvdla_job_begin(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;
	u32 i;

	for (i = 0; job->num_runs && i < job->num_tasks; i++)
		nvdla_task_rewind(job->tasks[i]);
	job->num_runs++;
	job->next_task = 0;
	job->start_ns = ktime_get_ns();
	trace_nvdla_job_run(job);
	job->deadline = jiffies + job->timeout;
	mod_delayed_work(system_highpri_wq, &ndev->hang_work, job->timeout);
	nvdla_job_start_tasks(job);
}

static bool nvdla_job_has_undefined_bo(const struct nvdla_job *job)
{
	u32 i;

	for (i = 0; i < job->num_bos; i++)
		if (nvdla_bo_is_undefined(to_nvdla_bo(job->bos[i].obj)))
			return true;
	return false;
}

static struct dma_fence *nvdla_job_run(struct drm_sched_job *sched_job)
{
	struct nvdla_job *job = to_nvdla_job(sched_job);
	struct nvdla_device *ndev = job->ndev;
	int error = 0;

	mutex_lock(&ndev->lock);

	if (ndev->dead)
		error = -ENODEV;
	else if (nvdla_job_has_undefined_bo(job))
		error = -EIO;
	if (error) {
		nvdla_job_write_result(job, error);
		mutex_unlock(&ndev->lock);
		return ERR_PTR(error);
	}

	dma_fence_init(job->fence, &nvdla_fence_ops, &ndev->fence_lock,
		       ndev->fence_context, ++ndev->fence_seqno);
	job->fence_live = true;

	ndev->active = job;
	if (!ndev->stopped)
		nvdla_job_begin(job);

	mutex_unlock(&ndev->lock);

	return dma_fence_get(job->fence);
}

static void nvdla_job_report(struct nvdla_job *job)
{
	struct drm_device *drm = &job->ndev->drm;
	struct nvdla_sequencer_snapshot state;
	u32 type, group;

	nvdla_sequencer_snapshot(job->ndev->seq, &state);
	drm_err(drm, "job failed: %d, task %u of %u, %u of its %u operations completed\n",
		job->error, job->next_task, job->num_tasks, state.num_completed,
		state.num_operations);

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		for (group = 0; group < 2; group++) {
			if (state.engine[type].group[group].state == NVDLA_GROUP_IDLE)
				continue;
			drm_err(drm, "engine %u group %u: operation %u, state %u, waits for %u\n",
				type, group, state.engine[type].group[group].operation,
				state.engine[type].group[group].state,
				state.engine[type].group[group].waits_for);
		}
	}
}

/**
 * nvdla_jobs_stop() - the core is going to be reset
 * @ndev: device, locked
 *
 * Nothing more is started on it. The job on it keeps its memory, because the
 * core may be at work until it is reset.
 */
void nvdla_jobs_stop(struct nvdla_device *ndev)
{
	lockdep_assert_held(&ndev->lock);

	ndev->stopped = true;
	cancel_delayed_work(&ndev->hang_work);
	if (ndev->active && ndev->active->error && !ndev->dead) {
		nvdla_job_report(ndev->active);
		nvdla_coredump_capture(ndev->active);
	}
	nvdla_sequencer_abort(ndev->seq);
	nvdla_counters_stop(&ndev->counters);
}

/**
 * nvdla_jobs_start() - the core was reset, or is dead
 * @ndev: device, locked
 *
 * A job that was on the core ends if it is to blame or must not be run again.
 * One that was waiting to be put on it starts.
 */
void nvdla_jobs_start(struct nvdla_device *ndev)
{
	struct nvdla_job *job = ndev->active;

	lockdep_assert_held(&ndev->lock);

	nvdla_sequencer_reset(ndev->seq);
	ndev->stopped = false;
	if (!job)
		return;

	if (job->error)
		nvdla_job_end(job, job->error);
	else if (ndev->dead)
		nvdla_job_end(job, -ENODEV);
	else if (job->num_runs && !job->restartable)
		nvdla_job_end(job, -EIO);
	else
		nvdla_job_begin(job);
}

/* Is there a job on the core that only a reset takes off it? */
static bool nvdla_job_is_stuck(struct nvdla_device *ndev)
{
	struct nvdla_job *job;
	bool stuck;

	mutex_lock(&ndev->lock);
	job = ndev->active;
	if (job && !ndev->stopped && !job->error && time_after_eq(jiffies, job->deadline))
		job->error = -ETIMEDOUT;
	stuck = job && job->error;
	mutex_unlock(&ndev->lock);
	return stuck;
}

/*
 * The scheduler has a timeout too, but one for all jobs, and it would have the
 * jobs that wait started anew by the driver. Here they never notice.
 */
static void nvdla_job_hang_work(struct work_struct *work)
{
	struct nvdla_device *ndev = container_of(work, struct nvdla_device, hang_work.work);

	if (!nvdla_job_is_stuck(ndev) || nvdla_device_lock(ndev))
		return;

	/* Another reset may have come first. */
	if (nvdla_job_is_stuck(ndev))
		nvdla_device_reset(ndev);
	nvdla_device_unlock(ndev);
}

static void nvdla_job_free(struct drm_sched_job *sched_job)
{
	drm_sched_job_cleanup(sched_job);
	nvdla_job_destroy(to_nvdla_job(sched_job));
}

static const struct drm_sched_backend_ops nvdla_sched_ops = {
	.run_job = nvdla_job_run,
	.free_job = nvdla_job_free,
};

static void nvdla_sched_release(struct drm_device *drm, void *data)
{
	struct nvdla_device *ndev = data;

	drm_sched_fini(&ndev->sched);
	destroy_workqueue(ndev->sched_wq);
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

	/* Freezable: no job starts while the system goes to sleep. */
	ndev->sched_wq = alloc_ordered_workqueue("%s", WQ_FREEZABLE | WQ_MEM_RECLAIM,
						 dev_name(ndev->drm.dev));
	if (!ndev->sched_wq)
		return -ENOMEM;

	ret = nvdla_sched_init(&ndev->sched, &nvdla_sched_ops, ndev->sched_wq,
			       dev_name(ndev->drm.dev), ndev->drm.dev);
	if (ret) {
		destroy_workqueue(ndev->sched_wq);
		return ret;
	}

	return drmm_add_action_or_reset(&ndev->drm, nvdla_sched_release, ndev);
}

/**
 * nvdla_job_fini() - end all jobs
 * @ndev: device that is unplugged; the lock of its parent is held
 *
 * The job on the hardware is taken off it, those in the queue fail when their
 * turn comes.
 */
void nvdla_job_fini(struct nvdla_device *ndev)
{
	bool busy;

	mutex_lock(&ndev->lock);
	ndev->dead = true;
	busy = ndev->active;
	mutex_unlock(&ndev->lock);

	if (busy)
		nvdla_device_reset(ndev);

	wait_event(ndev->jobs_gone, !atomic_read(&ndev->num_jobs));
	cancel_delayed_work_sync(&ndev->hang_work);
}

/**
 * nvdla_job_drain() - wait until the core has nothing to do
 * @ndev: device whose scheduler stands still; the lock of its parent is held
 *
 * A job that failed, or has had its time, is taken off the core here.
 *
 * Return: 0, or -EBUSY if there is a job that takes too long to wait for.
 */
int nvdla_job_drain(struct nvdla_device *ndev)
{
	unsigned long end = jiffies + msecs_to_jiffies(NVDLA_DRAIN_MS);
	bool busy;

	for (;;) {
		if (nvdla_job_is_stuck(ndev))
			nvdla_device_reset(ndev);

		mutex_lock(&ndev->lock);
		busy = ndev->active;
		mutex_unlock(&ndev->lock);
		if (!busy)
			return 0;
		if (time_after(jiffies, end))
			return -EBUSY;
		fsleep(1000);
	}
}
