// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Hangs and resets: how a job is taken off the hardware, and how it ends. */
#include <linux/delay.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_file.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"

/*
 * Takes failed jobs off the hardware. Not a workqueue of each device: its work waits for the lock
 * of the device's parent, under which a removal may drop the last reference to the device.
 */
static struct workqueue_struct *nvdla_recovery_wq;

/* Rate limited, because any client can have jobs fail. The core dump tells more. */
static void nvdla_job_report(struct nvdla_job *job)
{
	struct nvdla_sequencer_snapshot state;

	nvdla_sequencer_snapshot(job->ndev->seq, &state);
	drm_err_ratelimited(&job->ndev->drm,
			    "%s failed: %d, task %u of %u, %u of its %u operations completed\n",
			    job->scrubbing ? "clearing the convolution buffer for a job" : "job",
			    job->error, job->next_task, job->num_tasks, state.num_completed,
			    state.num_operations);
}

/**
 * nvdla_jobs_stop() - the core is going to be reset
 * @ndev: device, locked
 *
 * No further operation is started on the core. The job on it keeps its memory, because the
 * core may access that memory until it is reset.
 */
void nvdla_jobs_stop(struct nvdla_device *ndev)
{
	struct nvdla_job *job = ndev->active;

	lockdep_assert_held(&ndev->lock);

	if (job && job->error && !ndev->dead && !ndev->stopped) {
		nvdla_job_report(job);
		/* A dump belongs to a job and its tasks; a scrub before them has none. */
		if (!job->scrubbing)
			nvdla_coredump_capture(job);
	}
	ndev->stopped = true;
	nvdla_sequencer_abort(ndev->seq);
	nvdla_counters_stop(&ndev->counters);
}

/**
 * nvdla_jobs_start() - the core is idle, and was started anew; or it is dead
 * @ndev: device, locked
 *
 * A job that was on the core ends if it is to blame or must not be run again.
 * One that was waiting to be put on it starts. While the system goes to sleep nothing of that
 * happens yet: the job waits for the core to wake.
 */
void nvdla_jobs_start(struct nvdla_device *ndev)
{
	struct nvdla_job *job = ndev->active;

	lockdep_assert_held(&ndev->lock);

	if (ndev->sleeping)
		return;
	ndev->stopped = false;
	if (!job)
		return;

	/*
	 * None of its tasks has run: it begins as if for the first time. The reset has cleared the
	 * convolution buffer, as its scrub task was to do.
	 */
	if (!job->next_task) {
		job->scrubbing = false;
		job->error = 0;
		job->num_runs = 0;
	}

	if (job->error && !job->own)
		atomic64_inc(&job->context->file->guilty_jobs);
	else if (!job->error && job->num_runs)
		atomic64_inc(&job->context->file->innocent_jobs);

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
 * nvdla_jobs_leak_memory() - keep the memory of the job on the hardware for ever
 * @ndev: device, locked, whose core may go on using them
 */
void nvdla_jobs_leak_memory(struct nvdla_device *ndev)
{
	const struct nvdla_job *job = ndev->active;
	u32 i;

	lockdep_assert_held(&ndev->lock);

	for (i = 0; job && i < job->num_bos; i++)
		to_nvdla_bo(job->bos[i].obj)->memory.leaked = true;
	if (job && (job->scrubbing || job->own))
		ndev->zeroes->memory.leaked = true;
}

/*
 * The deadline of a job has passed. Its interrupt may be lost, or late: a virtual machine that
 * was paused for seconds runs its timers at once. Reading the status waits for all earlier
 * writes; if the read takes long, the machine was paused, and the job gets more time. The job
 * may end here.
 */
static void nvdla_job_ask_core(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;
	u64 asked_ns = ktime_get_ns();

	nvdla_device_attend(ndev);
	if (ndev->active == job && ktime_get_ns() - asked_ns > NVDLA_SLOW_NS)
		nvdla_job_extend(job);
}

/* Whether only a reset takes a job off the core; if so, &nvdla_job.error says why. */
static bool nvdla_job_is_stuck(struct nvdla_job *job)
{
	struct nvdla_device *ndev = job->ndev;

	if (!job->error && nvdla_job_is_late(job))
		nvdla_job_ask_core(job);
	if (ndev->active != job)
		return false;

	if (!job->error && nvdla_job_is_late(job))
		job->error = -ETIMEDOUT;
	return job->error;
}

/* Whether there is a job on the core that only a reset takes off it. */
static bool nvdla_jobs_are_stuck(struct nvdla_device *ndev)
{
	bool stuck;

	mutex_lock(&ndev->lock);
	stuck = ndev->active && !ndev->stopped && nvdla_job_is_stuck(ndev->active);
	mutex_unlock(&ndev->lock);
	return stuck;
}

/**
 * nvdla_jobs_queue_recovery() - queue the recovery of a failed job
 * @ndev: device
 *
 * The recovery takes the lock of the device's parent, which may be held for long, so a worker
 * does it.
 */
void nvdla_jobs_queue_recovery(struct nvdla_device *ndev)
{
	drm_dev_get(&ndev->drm);
	if (!queue_work(nvdla_recovery_wq, &ndev->recover_work))
		drm_dev_put(&ndev->drm);
}

/**
 * nvdla_jobs_recover() - look after the job on the hardware
 * @ndev: device
 *
 * Return: whether it failed, or has had its time, and is going to be taken off.
 */
bool nvdla_jobs_recover(struct nvdla_device *ndev)
{
	if (!nvdla_jobs_are_stuck(ndev))
		return false;
	nvdla_jobs_queue_recovery(ndev);
	return true;
}

/**
 * nvdla_jobs_recover_work() - carry out a recovery of nvdla_jobs_queue_recovery()
 * @work: &nvdla_device.recover_work
 */
void nvdla_jobs_recover_work(struct work_struct *work)
{
	struct nvdla_device *ndev = container_of(work, struct nvdla_device, recover_work);

	device_lock(ndev->drm.dev);
	/* Another reset may have come first. A removal resets a busy core itself. */
	if (!drm_dev_is_unplugged(&ndev->drm) && nvdla_jobs_are_stuck(ndev))
		nvdla_device_reset(ndev);
	device_unlock(ndev->drm.dev);
	drm_dev_put(&ndev->drm);
}

/**
 * nvdla_recovery_init() - set up the work queue with which all devices recover
 *
 * Return: 0 or -ENOMEM.
 */
int nvdla_recovery_init(void)
{
	nvdla_recovery_wq = alloc_workqueue("nvdla-recovery",
					    WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	return nvdla_recovery_wq ? 0 : -ENOMEM;
}

/**
 * nvdla_recovery_fini() - undo nvdla_recovery_init(), once there are no devices
 */
void nvdla_recovery_fini(void)
{
	destroy_workqueue(nvdla_recovery_wq);
}

/**
 * nvdla_job_drain() - wait until the core has nothing to do, because the system goes to sleep
 * @ndev: device that is &nvdla_device.sleeping, and whose scheduler stands still, or that is
 *	unplugged; the lock of its parent is held
 *
 * A job that failed, timed out, or takes too long to wait for, is taken off the core.
 * nvdla_jobs_start() ends it or starts it again when the core wakes.
 */
void nvdla_job_drain(struct nvdla_device *ndev)
{
	unsigned long end = jiffies + msecs_to_jiffies(NVDLA_DRAIN_MS);
	bool busy;

	do {
		mutex_lock(&ndev->lock);
		busy = ndev->active;
		mutex_unlock(&ndev->lock);
		if (!busy)
			return;
		fsleep(1000);
	} while (!nvdla_jobs_are_stuck(ndev) && !time_after(jiffies, end));

	nvdla_device_reset(ndev);
}
