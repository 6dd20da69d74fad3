// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The job on the hardware: its tasks, what the core says, hangs and resets.
 *
 * One job is on the hardware at a time. Its tasks run one after the other in
 * nvdla_sequencer, which keeps both register groups of all engines busy.
 */
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/timekeeping.h>

#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "engine/nvdla_result.h"
#include "nvdla_cbuf.h"
#include "nvdla_client.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_iommu.h"
#include "nvdla_job.h"
#include "nvdla_trace.h"

/**
 * nvdla_job_write_result() - tell user space how a job went, if it wants to know
 * @job: job
 * @status: 0 or -errno
 */
void nvdla_job_write_result(struct nvdla_job *job, int status)
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
	u64 offset, size;

	if (!job->result)
		return;

	/* The job may have written beside its result. */
	offset = job->result - job->result_bo->vaddr;
	size = nvdla_result_size(job->tasks, job->num_tasks);
	nvdla_bo_begin_cpu_write(job->result_bo, offset, size);
	nvdla_result_write(&source, job->result);
	nvdla_bo_end_cpu_write(job->result_bo, offset, size);
}

/* The end of the job that is @active. It may be freed as soon as its fence has signalled. */
static void nvdla_job_end(struct nvdla_job *job, int status)
{
	struct nvdla_device *ndev = job->ndev;

	lockdep_assert_held(&ndev->lock);

	ndev->active = NULL;
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
	drm_sched_fault(&job->ndev->sched);
}

/* Tasks may be done at once, without an interrupt; @task_running tells. */
static void nvdla_job_start_tasks(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;
	int ret;

	/* Nothing of it has run: there is nothing to recover from. */
	ret = job->next_task ? 0 : nvdla_domain_enter(ndev, job->context->file->domain);
	if (ret) {
		nvdla_job_end(job, ret);
		return;
	}

	while (job->next_task < job->num_tasks) {
		struct nvdla_task *task = job->tasks[job->next_task++];

		job->task_running = true;
		trace_nvdla_task_start(job, job->next_task - 1, nvdla_task_num_operations(task));
		ret = nvdla_sequencer_start(ndev->seq, task);
		if (ret) {
			nvdla_job_fail(job, ret);
			return;
		}
		nvdla_fault_in_domain(ndev);
		if (job->task_running || job->error)
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
	if (job->scrubbing) {
		if (error)
			nvdla_job_fail(job, error);
		else
			job->scrubbing = false;
		return;
	}

	if (!error && nvdla_fault_strikes(&ndev->faults, NVDLA_FAULT_TASK))
		error = -EIO;
	if (!error && nvdla_iommu_has_faulted(ndev))
		error = -EFAULT;
	trace_nvdla_task_done(job, job->next_task - 1, error);
	if (error)
		nvdla_job_fail(job, error);
}

static void nvdla_job_op_programmed(void *context, struct nvdla_task *task, u32 operation)
{
	struct nvdla_device *ndev = context;
	struct nvdla_job *job = ndev->active;

	if (job->scrubbing)
		return;
	trace_nvdla_op_program(job, job->next_task - 1, operation,
			       nvdla_task_op_type(task, operation));
}

static void nvdla_job_op_enabled(void *context, struct nvdla_task *task, u32 operation)
{
	struct nvdla_device *ndev = context;
	struct nvdla_job *job = ndev->active;
	u32 engine = nvdla_task_op_type(task, operation);

	if (job->scrubbing)
		return;
	trace_nvdla_op_enable(job, job->next_task - 1, operation, engine);
	nvdla_counters_op_enabled(&ndev->counters, &job->context->file->usage, engine);
}

static void nvdla_job_op_completed(void *context, struct nvdla_task *task, u32 operation)
{
	struct nvdla_device *ndev = context;
	struct nvdla_job *job = ndev->active;

	if (job->scrubbing)
		return;
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

/* What another client left goes before anything of the job runs. */
static void nvdla_job_start_scrub(struct nvdla_job *job, struct nvdla_task *scrub)
{
	int ret;

	job->scrubbing = true;
	job->task_running = true;
	ret = nvdla_domain_enter(job->ndev, job->ndev->iommu.own);
	if (!ret)
		ret = nvdla_sequencer_start(job->ndev->seq, scrub);
	if (ret)
		nvdla_job_fail(job, ret);
}

/**
 * nvdla_jobs_arm_timeout() - have the scheduler look after the job on the hardware in time
 * @ndev: device, locked
 *
 * The scheduler has one timeout for all jobs, and takes it whenever a job begins or
 * is freed. Those that have another one get it here.
 */
void nvdla_jobs_arm_timeout(struct nvdla_device *ndev)
{
	const struct nvdla_job *job = ndev->active;
	unsigned long now = jiffies;

	lockdep_assert_held(&ndev->lock);

	if (!job || !job->num_runs)
		return;
	if (job->error || time_after_eq(now, job->deadline))
		drm_sched_fault(&ndev->sched);
	else
		drm_sched_resume_timeout(&ndev->sched, job->deadline - now);
}

/**
 * nvdla_job_begin() - put a job on the hardware, from its first task on
 * @job: job that is &nvdla_device.active; the device is locked
 */
void nvdla_job_begin(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;
	struct nvdla_task *scrub;
	u32 i;

	for (i = 0; job->num_runs && i < job->num_tasks; i++)
		nvdla_task_rewind(job->tasks[i]);
	job->num_runs++;
	job->next_task = 0;
	job->start_ns = ktime_get_ns();
	trace_nvdla_job_run(job);
	job->deadline = jiffies + job->timeout;
	nvdla_jobs_arm_timeout(ndev);

	scrub = nvdla_cbuf_claim(job);
	if (scrub)
		nvdla_job_start_scrub(job, scrub);
	else
		nvdla_job_start_tasks(job);
}

static void nvdla_job_report(struct nvdla_job *job)
{
	struct drm_device *drm = &job->ndev->drm;
	struct nvdla_sequencer_snapshot state;
	u32 type, group;

	nvdla_sequencer_snapshot(job->ndev->seq, &state);
	/* Whoever can submit can have jobs fail, as often as they like. */
	drm_err_ratelimited(drm,
			    "job failed: %d, task %u of %u, %u of its %u operations completed\n",
			    job->error, job->next_task, job->num_tasks, state.num_completed,
			    state.num_operations);

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		for (group = 0; group < 2; group++) {
			if (state.engine[type].group[group].state == NVDLA_GROUP_IDLE)
				continue;
			drm_err_ratelimited(drm,
					    "%s group %u: operation %u, state %u, waits for %u\n",
					    nvdla_engine_name(type), group,
					    state.engine[type].group[group].operation,
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

	/* It was not its own task that failed. The reset has done what that was for. */
	if (job->scrubbing) {
		job->scrubbing = false;
		job->error = 0;
		job->num_runs = 0;
	}

	if (job->error)
		nvdla_client_blame(ndev, job->context->file);
	else if (job->num_runs)
		atomic64_inc(&job->context->file->client.innocent_jobs);

	if (job->error)
		nvdla_job_end(job, job->error);
	else if (nvdla_device_is_gone(ndev))
		nvdla_job_end(job, -ENODEV);
	else if (job->num_runs && !job->restartable)
		nvdla_job_end(job, -EIO);
	else
		nvdla_job_begin(job);
}

/**
 * nvdla_jobs_abandon_bos() - keep the buffers of the job on the hardware for ever
 * @ndev: device, locked, whose core may go on using them
 */
void nvdla_jobs_abandon_bos(struct nvdla_device *ndev)
{
	const struct nvdla_job *job = ndev->active;
	u32 i;

	lockdep_assert_held(&ndev->lock);

	for (i = 0; job && i < job->num_bos; i++)
		drm_gem_object_get(job->bos[i].obj);
	if (job && job->scrubbing)
		nvdla_cbuf_abandon(ndev);
}

/* Is there a job on the core that only a reset takes off it? */
static bool nvdla_jobs_are_stuck(struct nvdla_device *ndev)
{
	struct nvdla_job *job;
	bool stuck;

	mutex_lock(&ndev->lock);
	job = ndev->active;
	if (job && !ndev->stopped && !job->error) {
		if (nvdla_iommu_has_faulted(ndev))
			job->error = -EFAULT;
		else if (time_after_eq(jiffies, job->deadline))
			job->error = -ETIMEDOUT;
	}
	stuck = job && job->error;
	mutex_unlock(&ndev->lock);
	return stuck;
}

/**
 * nvdla_jobs_recover() - take a job that failed, or has had its time, off the hardware
 * @ndev: device
 *
 * Nothing happens if there is none.
 */
void nvdla_jobs_recover(struct nvdla_device *ndev)
{
	if (!nvdla_jobs_are_stuck(ndev) || nvdla_device_lock(ndev))
		return;

	/* Another reset may have come first. */
	if (nvdla_jobs_are_stuck(ndev))
		nvdla_device_reset(ndev);
	nvdla_device_unlock(ndev);
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
		if (nvdla_jobs_are_stuck(ndev))
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
