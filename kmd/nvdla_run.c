// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Runs the job on the hardware: starts its tasks and handles the core's events. nvdla_recover.c
 * handles hangs, nvdla_reset.c handles resets.
 *
 * One job is on the hardware at a time, and no register is written for another job meanwhile. Only
 * nvdla_job_begin() puts a job there, so all checks before a start are in it. The job's tasks run
 * one after the other in nvdla_sequencer, which keeps both register groups of all engines busy: a
 * task is programmed while the one before it runs.
 */
#include <linux/dma-fence.h>
#include <linux/timekeeping.h>

#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include <nvdla/hw/registers.h>

#include "engine/nvdla_args.h"
#include "engine/nvdla_result.h"
#include "nvdla_context.h"
#include "nvdla_dump.h"
#include "nvdla_file.h"
#include "nvdla_gem.h"
#include "nvdla_hw.h"
#include "nvdla_job.h"
#include "nvdla_run.h"
#include "nvdla_trace.h"

/*
 * Runs the recovery from failed jobs. All cores share one workqueue: its work waits for the lock of
 * a core's bus device, &device.mutex, and a removal may free the core's workqueues under that lock.
 */
static struct workqueue_struct *nvdla_recovery_wq;

/* Writes the result of a job, if its submit asked for one. */
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
	u64 size;

	if (!job->result)
		return;

	/* Beside the result, the job's operations may have written to the same cache lines. */
	size = nvdla_result_size(job->tasks, job->num_tasks);
	nvdla_bo_begin_cpu_write(job->result_bo, job->result_offset, size);
	nvdla_result_write(&source, job->result);
	nvdla_bo_end_cpu_write(job->result_bo, job->result_offset, size);
}

/* Lets the file submit another job, because this one has ended or never began. */
void nvdla_job_uncount(struct nvdla_job *job)
{
	if (job->counted)
		atomic_dec(&job->context->file->num_jobs);
	job->counted = false;
}

/**
 * nvdla_job_end() - take a job off the hardware
 * @job: job that is &nvdla_hw.active, and may be freed when this returns; &nvdla_hw.lock is held
 * @status: 0 or -errno
 */
void nvdla_job_end(struct nvdla_job *job, int status)
{
	struct nvdla_hw *hw = job->hw;

	lockdep_assert_held(&hw->lock);

	hw->active = NULL;
	nvdla_job_write_result(job, status);
	if (job->num_runs)
		nvdla_job_record_fill(&hw->last_job, job, status);
	trace_nvdla_job_done(job, status);
	if (status)
		dma_fence_set_error(job->fence, status);
	nvdla_job_uncount(job);
	dma_fence_signal(job->fence);
}

/**
 * nvdla_jobs_queue_recovery() - queue the recovery of a failed job
 * @hw: core
 *
 * The recovery needs the lock of the core's bus device, &device.mutex, which may be held for long:
 * a worker waits for the lock.
 */
void nvdla_jobs_queue_recovery(struct nvdla_hw *hw)
{
	drm_dev_get(hw->drm);
	if (!queue_work(nvdla_recovery_wq, &hw->recover_work))
		drm_dev_put(hw->drm);
}

/* Marks the job on the hardware as failed. Its fence signals only after a reset of the core. */
static void nvdla_job_fail(struct nvdla_job *job, int error)
{
	lockdep_assert_held(&job->hw->lock);

	job->error = error;
	nvdla_jobs_queue_recovery(job->hw);
}

/* Programs the next task into register groups that the running task does not need. */
static void nvdla_job_program_ahead(struct nvdla_job *job)
{
	if (job->next_task == job->num_tasks)
		return;
	if (nvdla_sequencer_follow(job->hw->seq, job->tasks[job->next_task]) == -EIO)
		nvdla_job_fail(job, -EIO);
}

/**
 * nvdla_job_extend() - restart the timeout of a job
 * @job: job on the hardware; &nvdla_hw.lock is held
 *
 * A core whose operations begin and end does not hang, even if it is slow, as in a virtual machine
 * with little processor time. @last_deadline_ns bounds the total time. Deadlines are not in
 * jiffies, which jump after the processor was stopped.
 */
void nvdla_job_extend(struct nvdla_job *job)
{
	job->deadline_ns = min(ktime_get_ns() + job->timeout_ns, job->last_deadline_ns);
}

/* Returns whether the deadline of a job has passed; &nvdla_hw.lock is held. */
bool nvdla_job_is_late(const struct nvdla_job *job)
{
	return ktime_get_ns() >= job->deadline_ns;
}

/* A loop, because a task that needs no interrupt ends within nvdla_sequencer_start(). */
static void nvdla_job_start_tasks(struct nvdla_job *job)
{
	struct nvdla_hw *hw = job->hw;
	int ret;

	while (job->next_task < job->num_tasks) {
		struct nvdla_task *task = job->tasks[job->next_task++];

		job->task_running = true;
		trace_nvdla_task_start(job, job->next_task - 1, nvdla_task_num_operations(task));
		ret = nvdla_sequencer_start(hw->seq, task);
		if (ret) {
			nvdla_job_fail(job, ret);
			return;
		}
		if (job->task_running)
			nvdla_job_program_ahead(job);
		if (job->task_running || job->error)
			return;
	}

	nvdla_job_end(job, 0);
}

static void nvdla_job_task_done(void *context, struct nvdla_task *task, int error)
{
	struct nvdla_hw *hw = context;
	struct nvdla_job *job = hw->active;

	lockdep_assert_held(&hw->lock);

	job->task_running = false;
	if (job->scrubbing) {
		if (error)
			nvdla_job_fail(job, error);
		else
			job->scrubbing = false;
		return;
	}

	trace_nvdla_task_done(job, job->next_task - 1, error);
	if (error)
		nvdla_job_fail(job, error);
}

static void nvdla_job_op_programmed(void *context, const struct nvdla_task *task, u32 operation)
{
	struct nvdla_hw *hw = context;
	struct nvdla_job *job = hw->active;
	u32 index = job->next_task - 1;

	if (job->scrubbing)
		return;

	/* The operation may belong to the next task of the job. */
	if (task != job->tasks[index])
		index++;
	trace_nvdla_op_program(job, index, operation, nvdla_task_op_type(task, operation));
}

static void nvdla_job_op_enabled(void *context, struct nvdla_task *task, u32 operation)
{
	struct nvdla_hw *hw = context;
	struct nvdla_job *job = hw->active;
	u32 engine = nvdla_task_op_type(task, operation);

	nvdla_job_extend(job);
	if (job->scrubbing)
		return;
	trace_nvdla_op_enable(job, job->next_task - 1, operation, engine);
	nvdla_counters_op_enabled(&hw->counters, &job->context->file->usage, engine);
}

static void nvdla_job_op_completed(void *context, struct nvdla_task *task, u32 operation)
{
	struct nvdla_hw *hw = context;
	struct nvdla_job *job = hw->active;

	nvdla_job_extend(job);
	if (job->scrubbing)
		return;
	trace_nvdla_op_complete(job, job->next_task - 1, operation,
				nvdla_task_op_type(task, operation));
	nvdla_counters_op_completed(&hw->counters, task, operation);
}

const struct nvdla_sequencer_ops nvdla_job_sequencer_ops = {
	.task_done = nvdla_job_task_done,
	.op_programmed = nvdla_job_op_programmed,
	.op_enabled = nvdla_job_op_enabled,
	.op_completed = nvdla_job_op_completed,
};

/* Starts job->scrub, which clears another client's data from the convolution buffer. */
static void nvdla_job_start_scrub(struct nvdla_job *job)
{
	struct nvdla_hw *hw = job->hw;
	struct nvdla_task *scrub = job->scrub;
	int ret;

	job->scrub = NULL;
	job->scrubbing = true;
	job->task_running = true;
	ret = nvdla_sequencer_start(hw->seq, scrub);
	if (ret)
		nvdla_job_fail(job, ret);
}

/* Starts the job's next task, unless a task is running or the job failed. */
static void nvdla_job_go_on(struct nvdla_job *job)
{
	if (job->error || job->task_running)
		return;
	if (job->scrub)
		nvdla_job_start_scrub(job);
	else
		nvdla_job_start_tasks(job);
}

/**
 * nvdla_hw_attend() - handle the core's interrupt status
 * @hw: core; &nvdla_hw.lock is held
 *
 * A level interrupt stays asserted until every status bit is cleared. A PCI function sends a
 * message whenever an unmasked bit rises, and again after a write that leaves a bit set. So one
 * read of the status per interrupt is enough for both kinds.
 *
 * Return: whether the core had an interrupt.
 */
bool nvdla_hw_attend(struct nvdla_hw *hw)
{
	struct nvdla_job *job = hw->active;
	u32 status;

	lockdep_assert_held(&hw->lock);

	/* Another device may share the line. A core that sleeps or is dead may have no clocks. */
	if (hw->stopped || hw->dead)
		return false;
	status = nvdla_hw_read(hw, NVDLA_GLB_S_INTR_STATUS);
	/* A device that was removed reads as all ones. */
	if (!status || status & ~hw->variant->intr_mask)
		return false;

	nvdla_hw_write(hw, NVDLA_GLB_S_INTR_STATUS, status);
	trace_nvdla_irq(hw, status);

	/* The state of a failed job must not change before the core dump at the reset. */
	if (job && !job->error) {
		nvdla_sequencer_irq(hw->seq, status);
		nvdla_job_go_on(job);
	}
	return true;
}

static bool nvdla_job_has_undefined_bo(const struct nvdla_job *job)
{
	u32 i;

	for (i = 0; i < job->num_bos; i++)
		if (nvdla_bo_is_undefined(to_nvdla_bo(job->bos[i].obj)))
			return true;
	return false;
}

/*
 * Returns 0 if the job may run, or -errno. Checked before every run: the job before it may have
 * failed to define a buffer, or a reset may have failed between two runs.
 */
static int nvdla_job_check(const struct nvdla_job *job)
{
	if (nvdla_hw_is_gone(job->hw))
		return -ENODEV;
	if (nvdla_job_has_undefined_bo(job))
		return -EIO;
	return 0;
}

/**
 * nvdla_job_begin() - put a job on the hardware and start its first task
 * @job: job that is &nvdla_hw.active, on a core that is not stopped; &nvdla_hw.lock is held
 *
 * A job that must not run ends immediately, with an error.
 */
void nvdla_job_begin(struct nvdla_job *job)
{
	int ret;
	u32 i;

	ret = nvdla_job_check(job);
	if (ret) {
		nvdla_job_end(job, ret);
		return;
	}

	for (i = 0; job->num_runs && i < job->num_tasks; i++)
		nvdla_task_rewind(job->tasks[i]);
	job->num_runs++;
	job->next_task = 0;
	job->task_running = false;
	job->start_ns = ktime_get_ns();
	trace_nvdla_job_run(job);
	job->last_deadline_ns = job->start_ns + NVDLA_TIMEOUT_FACTOR * job->timeout_ns;
	nvdla_job_extend(job);

	job->scrub = nvdla_cbuf_claim(job);
	nvdla_job_go_on(job);
}

/**
 * nvdla_job_put_on() - take over a job from the scheduler
 * @job: job for a core that has no other job; &nvdla_hw.lock is held
 */
void nvdla_job_put_on(struct nvdla_job *job)
{
	struct nvdla_hw *hw = job->hw;

	lockdep_assert_held(&hw->lock);

	hw->active = job;
	if (!hw->stopped)
		nvdla_job_begin(job);
}

/* Sets up the recovery of all devices. Returns 0 or -ENOMEM. */
int nvdla_recovery_init(void)
{
	nvdla_recovery_wq = alloc_workqueue("nvdla-recovery",
					    WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	return nvdla_recovery_wq ? 0 : -ENOMEM;
}

/* Undoes nvdla_recovery_init(), once no device exists. */
void nvdla_recovery_fini(void)
{
	destroy_workqueue(nvdla_recovery_wq);
}
