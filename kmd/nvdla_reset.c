// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Start, stop and reset of the core, and their effect on the job on the core. */
#include <linux/device.h>

#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include <nvdla/hw/registers.h>

#include "nvdla_context.h"
#include "nvdla_dump.h"
#include "nvdla_file.h"
#include "nvdla_gem.h"
#include "nvdla_hw.h"
#include "nvdla_job.h"
#include "nvdla_run.h"
#include "nvdla_trace.h"

/* Rate limited, because any client can make jobs fail. The core dump contains the details. */
static void nvdla_job_report(struct nvdla_job *job)
{
	struct nvdla_sequencer_snapshot state;

	nvdla_sequencer_snapshot(job->hw->seq, &state);
	drm_err_ratelimited(job->hw->drm,
			    "%s failed: %d, task %u of %u, %u of its %u operations completed\n",
			    job->scrubbing ? "clearing the convolution buffer for a job" : "job",
			    job->error, job->next_task, job->num_tasks, state.num_completed,
			    state.num_operations);
}

/*
 * Stops starting operations, because the core is going to be reset. The job on the core keeps its
 * memory, because the core may access it until the reset.
 */
static void nvdla_jobs_stop(struct nvdla_hw *hw)
{
	struct nvdla_job *job = hw->active;

	lockdep_assert_held(&hw->lock);

	if (job && job->error && !hw->dead && !hw->stopped) {
		nvdla_job_report(job);
		/* A dump describes a job's own tasks, so none is made if the scrub task failed. */
		if (!job->scrubbing)
			nvdla_coredump_capture(job);
	}
	hw->stopped = true;
	nvdla_sequencer_abort(hw->seq);
	nvdla_counters_stop(&hw->counters);
}

/*
 * Called when the core is idle and was restarted, or is dead. The job that was on the core ends if
 * it is to blame or not restartable; otherwise it starts again, as does a job that waited for the
 * core. While the system goes to sleep, the job's end or start waits for the core to wake.
 */
static void nvdla_jobs_start(struct nvdla_hw *hw)
{
	struct nvdla_job *job = hw->active;

	lockdep_assert_held(&hw->lock);

	if (hw->sleeping)
		return;
	hw->stopped = false;
	if (!job)
		return;

	/*
	 * Only the scrub task ran, so this does not count as a run of the job. The reset
	 * has cleared the convolution buffer, so the scrub task is no longer needed.
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
	else if (nvdla_hw_is_gone(hw))
		nvdla_job_end(job, -ENODEV);
	else if (job->num_runs && !job->restartable)
		nvdla_job_end(job, -EIO);
	else
		nvdla_job_begin(job);
}

/* The core may still access the memory of the job on the hardware, so it is never freed. */
static void nvdla_jobs_leak_memory(struct nvdla_hw *hw)
{
	const struct nvdla_job *job = hw->active;
	u32 i;

	lockdep_assert_held(&hw->lock);

	for (i = 0; job && i < job->num_bos; i++)
		to_nvdla_bo(job->bos[i].obj)->memory.leaked = true;
	if (job && (job->scrubbing || job->own))
		hw->zeroes->memory.leaked = true;
}

static int nvdla_hw_unmask(struct nvdla_hw *hw)
{
	u32 version = nvdla_hw_read(hw, NVDLA_GLB_S_NVDLA_HW_VERSION);

	if (version != hw->variant->hw_version) {
		drm_err(hw->drm, "hardware version %#x, %#x expected\n", version,
			hw->variant->hw_version);
		return -ENODEV;
	}
	hw->hw_version = version;

	nvdla_hw_write(hw, NVDLA_GLB_S_INTR_STATUS, hw->variant->intr_mask);
	nvdla_hw_write(hw, NVDLA_GLB_S_INTR_MASK, 0);
	return 0;
}

/*
 * Returns whether the core lost its registers: nvdla_hw_stop() sets an interrupt mask that differs
 * from the reset value. A core may also keep its registers while the system sleeps, for example a
 * function without power states.
 */
static bool nvdla_hw_was_reset(struct nvdla_hw *hw)
{
	return !nvdla_hw_read(hw, NVDLA_GLB_S_INTR_MASK);
}

/*
 * Marks the core dead. If the core cannot be stopped, the memory that it accesses stays allocated.
 * The bus takes locks under which memory is allocated, so the caller must hold none that fence
 * signalling needs.
 */
static void nvdla_hw_die(struct nvdla_hw *hw)
{
	mutex_lock(&hw->lock);
	hw->dead = true;
	mutex_unlock(&hw->lock);
	if (hw->bus_ops->disable_dma && !hw->bus_ops->disable_dma(hw->drm->dev))
		return;

	drm_err(hw->drm, "the core cannot be stopped: the buffers of its job are never freed\n");
	mutex_lock(&hw->lock);
	nvdla_jobs_leak_memory(hw);
	mutex_unlock(&hw->lock);
}

/* Returns 0 if a core that was not reset can be used: the bus has no reset, the core is idle. */
static int nvdla_hw_take_over(struct nvdla_hw *hw)
{
	if (hw->bus_ops->reset) {
		drm_err(hw->drm, "a reset leaves the core as it was\n");
		return -EIO;
	}
	if (!nvdla_registers_are_idle(hw)) {
		drm_err(hw->drm, "the core is at work for nobody, and there is no reset\n");
		return -EBUSY;
	}
	return 0;
}

/**
 * nvdla_hw_start() - start the core
 * @hw: core that is idle after a reset or nvdla_hw_stop(), or that is dead
 *
 * A core that was stopped may have kept its state, with data of other clients; the driver's record
 * of that state then stays valid. The core is marked dead, so that later jobs fail, if it does not
 * answer. At the first start it is also marked dead if the bus can reset cores but this one was not
 * reset, or if the bus cannot reset cores and this one is busy.
 */
void nvdla_hw_start(struct nvdla_hw *hw)
{
	const bool known = hw->hw_version;
	bool was_reset = false;
	int error = 0;

	mutex_lock(&hw->lock);
	if (!hw->dead) {
		was_reset = nvdla_hw_was_reset(hw);
		error = nvdla_hw_unmask(hw);
		if (!error && !known && (!was_reset || !hw->bus_ops->reset))
			error = nvdla_hw_take_over(hw);
	}
	mutex_unlock(&hw->lock);

	if (error)
		nvdla_hw_die(hw);

	mutex_lock(&hw->lock);
	if (was_reset || !known)
		nvdla_sequencer_reset(hw->seq);
	nvdla_jobs_start(hw);
	mutex_unlock(&hw->lock);
}

/**
 * nvdla_hw_stop() - stop starting operations on the core, and mask its interrupts
 * @hw: core; &nvdla_hw.lock is held
 */
void nvdla_hw_stop(struct nvdla_hw *hw)
{
	lockdep_assert_held(&hw->lock);

	nvdla_jobs_stop(hw);
	if (!hw->dead)
		nvdla_hw_write(hw, NVDLA_GLB_S_INTR_MASK, hw->variant->intr_mask);
}

/**
 * nvdla_hw_reset_prepare() - prepare for a reset or power loss of the core
 * @hw: core; the lock of its device, &device.mutex, is held
 *
 * Until nvdla_hw_reset_done() nothing is started on the core.
 */
void nvdla_hw_reset_prepare(struct nvdla_hw *hw)
{
	device_lock_assert(hw->drm->dev);

	mutex_lock(&hw->lock);
	/* The mask differs from its reset value, so that a reset can be detected later. */
	nvdla_hw_stop(hw);
	mutex_unlock(&hw->lock);
}

/**
 * nvdla_hw_reset_done() - restart the core after a reset
 * @hw: core; the lock of its device, &device.mutex, is held
 * @error: 0, or -errno if the reset failed
 *
 * The job that was on the core ends, or starts again. If the core did not come
 * back, it is marked dead and later jobs fail.
 */
void nvdla_hw_reset_done(struct nvdla_hw *hw, int error)
{
	device_lock_assert(hw->drm->dev);

	mutex_lock(&hw->lock);
	if (!error && !nvdla_hw_was_reset(hw))
		error = -EIO;
	if (!error)
		error = nvdla_hw_unmask(hw);
	mutex_unlock(&hw->lock);

	if (error) {
		drm_err(hw->drm, "cannot reset the core: %d\n", error);
		nvdla_hw_die(hw);
	}

	mutex_lock(&hw->lock);
	nvdla_sequencer_reset(hw->seq);
	trace_nvdla_reset(hw, error);
	atomic64_inc(&hw->sram_losses);
	nvdla_jobs_start(hw);
	mutex_unlock(&hw->lock);
}

/* Resets the core; the lock of its device, &device.mutex, is held. */
void nvdla_hw_reset(struct nvdla_hw *hw)
{
	int error;

	nvdla_hw_reset_prepare(hw);
	error = hw->bus_ops->reset ? hw->bus_ops->reset(hw->drm->dev) : -EOPNOTSUPP;
	nvdla_hw_reset_done(hw, error);
}
