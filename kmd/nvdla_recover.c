// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Hangs: decides which job has to be taken off the hardware, and when. */
#include <linux/delay.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "engine/nvdla_args.h"
#include "nvdla_hw.h"
#include "nvdla_job.h"
#include "nvdla_run.h"

/* Longest time that a suspend of the system, or a removal of the driver, waits for a job. */
#define NVDLA_DRAIN_MS (NVDLA_DEFAULT_TIMEOUT_MS + 1000)

/* A register read takes microseconds. If a read takes longer than this, the machine was paused. */
#define NVDLA_SLOW_NS (20 * NSEC_PER_MSEC)

/*
 * Reads the status of the core, because the deadline of a job has passed. The interrupt may be
 * lost, or late: after a pause a virtual machine runs timers first. The read waits for all earlier
 * writes; if it takes long, the machine was paused, and the job gets more time. The job may end
 * here.
 */
static void nvdla_job_ask_core(struct nvdla_job *job)
{
	struct nvdla_hw *hw = job->hw;
	u64 asked_ns = ktime_get_ns();

	nvdla_hw_attend(hw);
	if (hw->active == job && ktime_get_ns() - asked_ns > NVDLA_SLOW_NS)
		nvdla_job_extend(job);
}

/* Returns whether only a reset can take the job off the core; then sets &nvdla_job.error. */
static bool nvdla_job_is_stuck(struct nvdla_job *job)
{
	struct nvdla_hw *hw = job->hw;

	if (!job->error && nvdla_job_is_late(job))
		nvdla_job_ask_core(job);
	if (hw->active != job)
		return false;

	if (!job->error && nvdla_job_is_late(job))
		job->error = -ETIMEDOUT;
	return job->error;
}

/* Returns whether there is a job on the core that only a reset takes off. */
static bool nvdla_jobs_are_stuck(struct nvdla_hw *hw)
{
	bool stuck;

	mutex_lock(&hw->lock);
	stuck = hw->active && !hw->stopped && nvdla_job_is_stuck(hw->active);
	mutex_unlock(&hw->lock);
	return stuck;
}

/* Returns whether the job on the hardware failed or timed out, and will be taken off. */
bool nvdla_jobs_recover(struct nvdla_hw *hw)
{
	if (!nvdla_jobs_are_stuck(hw))
		return false;
	nvdla_jobs_queue_recovery(hw);
	return true;
}

/* Work item that nvdla_jobs_queue_recovery() queues. */
void nvdla_jobs_recover_work(struct work_struct *work)
{
	struct nvdla_hw *hw = container_of(work, struct nvdla_hw, recover_work);

	device_lock(hw->drm->dev);
	/* Another reset may have come first. A removal of the driver resets a busy core itself. */
	if (!drm_dev_is_unplugged(hw->drm) && nvdla_jobs_are_stuck(hw))
		nvdla_hw_reset(hw);
	device_unlock(hw->drm->dev);
	drm_dev_put(hw->drm);
}

/**
 * nvdla_job_drain() - make the core idle before a sleep of the system or a removal of the driver
 * @hw: core that is &nvdla_hw.sleeping with a stopped scheduler, or that is unplugged; the lock of
 *	its device, &device.mutex, is held
 *
 * A job that failed, timed out, or runs longer than NVDLA_DRAIN_MS is taken off the core. The job
 * ends or starts again when the core wakes; if the device is unplugged, the job ends at once.
 */
void nvdla_job_drain(struct nvdla_hw *hw)
{
	unsigned long end = jiffies + msecs_to_jiffies(NVDLA_DRAIN_MS);
	bool busy;

	do {
		mutex_lock(&hw->lock);
		busy = hw->active;
		mutex_unlock(&hw->lock);
		if (!busy)
			return;
		fsleep(1000);
	} while (!nvdla_jobs_are_stuck(hw) && !time_after(jiffies, end));

	nvdla_hw_reset(hw);
}
