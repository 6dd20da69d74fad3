/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_JOB_H__
#define __NVDLA_JOB_H__

#include <linux/types.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

struct dma_fence;
struct drm_gem_object;
struct nvdla_bo;
struct nvdla_context;
struct nvdla_coredump;
struct nvdla_hw;
struct nvdla_task;
struct nvdla_user_task;

/**
 * struct nvdla_job_bo - a buffer that a job uses
 * @obj: the buffer; the job holds a reference
 * @write: an operation of the job writes to it
 */
struct nvdla_job_bo {
	struct drm_gem_object *obj;
	bool write;
};

/** struct nvdla_job - one submit */
struct nvdla_job {
	/** @base: the scheduler's job */
	struct drm_sched_job base;

	/** @hw: core on which the job runs */
	struct nvdla_hw *hw;

	/** @context: queue of the job; the job holds a reference */
	struct nvdla_context *context;

	/** @tasks: checked task graphs, run in this order */
	struct nvdla_task **tasks;

	/** @user_tasks: per entry of @tasks, a reference to the prepared task, or NULL */
	struct nvdla_user_task **user_tasks;

	/** @num_tasks: entries at @tasks and @user_tasks */
	u32 num_tasks;

	/** @next_task: index in @tasks of the task to start when the current one is done */
	u32 next_task;

	/** @scrub: task to run before the first of @tasks, see nvdla_cbuf_claim(); or NULL */
	struct nvdla_task *scrub;

	/** @scrubbing: @scrub is running */
	bool scrubbing;

	/** @task_running: the sequencer runs the task before @next_task, or the scrub task */
	bool task_running;

	/** @restartable: the job may be run again if a reset takes it off the hardware */
	bool restartable;

	/** @counted: &nvdla_file.num_jobs counts the job */
	bool counted;

	/** @own: a job that the driver made for a client; the client is not to blame if it fails */
	bool own;

	/** @num_runs: times that the job was put on the hardware */
	u32 num_runs;

	/** @bos: buffers in use, each once */
	struct nvdla_job_bo *bos;

	/** @num_bos: entries at @bos */
	u32 num_bos;

	/** @admitted: the job keeps the device awake, and an unplug waits for the job */
	bool admitted;

	/** @fence: signalled when the hardware is done with the job */
	struct dma_fence *fence;

	/** @result: mapping of the job's result in @result_bo, or NULL without a result */
	void *result;

	/** @result_bo: buffer that @result is in, one of @bos */
	struct nvdla_bo *result_bo;

	/** @result_offset: offset of the result in @result_bo, in bytes */
	u64 result_offset;

	/** @submit_ns: CLOCK_MONOTONIC at the submit */
	u64 submit_ns;

	/** @start_ns: CLOCK_MONOTONIC when the job was last put on the hardware, or 0 */
	u64 start_ns;

	/** @timeout_ns: longest time on the hardware in which no operation begins or ends */
	u64 timeout_ns;

	/** @deadline_ns: CLOCK_MONOTONIC at which @timeout_ns is over */
	u64 deadline_ns;

	/** @last_deadline_ns: CLOCK_MONOTONIC at which the job times out even if operations end */
	u64 last_deadline_ns;

	/** @coredump: dump of the core, from when the job failed; or NULL */
	struct nvdla_coredump *coredump;

	/** @error: -errno if the core has to be reset because of the job, or 0 */
	int error;

	/** @free_work: work item that frees the job once the scheduler no longer uses it */
	struct work_struct free_work;
};

#endif /* __NVDLA_JOB_H__ */
