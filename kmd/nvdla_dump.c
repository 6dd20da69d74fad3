// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Core dumps of failed jobs in /sys/class/devcoredump, and the text about jobs and register groups,
 * which debugfs shows too. Documentation/failed-jobs.md describes the text.
 *
 * The state is captured before the job's fence signals, so the capture's allocations must not wait
 * for memory. The job's tasks are not copied: the dump takes them over when the job is freed. A
 * worker writes the text.
 */
#include <linux/devcoredump.h>
#include <linux/ktime.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>

#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include "engine/nvdla_result.h"
#include "nvdla_context.h"
#include "nvdla_counters.h"
#include "nvdla_dump.h"
#include "nvdla_file.h"
#include "nvdla_hw.h"
#include "nvdla_job.h"
#include "nvdla_user_task.h"

/* Most dumps a minute. Any client can make jobs fail, and no job runs while a dump is captured. */
#define NVDLA_COREDUMPS_PER_MINUTE 16

/**
 * struct nvdla_coredump - the state of a core and a failed job
 * @time_ns: CLOCK_MONOTONIC of the capture
 * @job: the job
 * @groups: state of the register groups
 * @registers: the registers
 * @tasks: the job's tasks, once the job is freed
 * @user_tasks: references to the prepared tasks of @tasks
 */
struct nvdla_coredump {
	u64 time_ns;
	struct nvdla_job_record job;
	struct nvdla_sequencer_snapshot groups;
	struct nvdla_register_dump registers;
	struct nvdla_task **tasks;
	struct nvdla_user_task **user_tasks;
};

/**
 * nvdla_job_record_fill() - record identity and progress of a job
 * @record: filled
 * @job: job that the scheduler knows; &nvdla_hw.lock is held
 * @error: 0, or the -errno of a failed job
 */
void nvdla_job_record_fill(struct nvdla_job_record *record, const struct nvdla_job *job, int error)
{
	*record = (struct nvdla_job_record) {
		.context = job->base.s_fence->finished.context,
		.seqno = job->base.s_fence->finished.seqno,
		.client_id = job->context->file->usage.client_id,
		.num_tasks = job->num_tasks,
		.task = job->next_task - 1,
		.error = error,
	};
	if (!job->next_task)
		return;

	record->num_operations = nvdla_task_num_operations(job->tasks[record->task]);
	record->num_completed = nvdla_task_num_completed(job->tasks[record->task]);
}

/* Prints the record of a job, one member a line. */
void nvdla_job_record_print(const struct nvdla_job_record *record, struct drm_printer *p)
{
	drm_printf(p, "job: %llu:%llu\n", record->context, record->seqno);
	drm_printf(p, "client: %llu\n", record->client_id);
	drm_printf(p, "error: %d\n", record->error);
	drm_printf(p, "tasks: %u\n", record->num_tasks);
	if (record->task == ~0U)
		return;

	drm_printf(p, "task: %u\n", record->task);
	drm_printf(p, "operations: %u\n", record->num_operations);
	drm_printf(p, "completed: %u\n", record->num_completed);
}

/**
 * nvdla_snapshot_print() - print the state of the register groups
 * @snapshot: state of a sequencer
 * @p: printer of the text
 */
void nvdla_snapshot_print(const struct nvdla_sequencer_snapshot *snapshot, struct drm_printer *p)
{
	static const char * const states[] = {
		[NVDLA_GROUP_IDLE] = "idle",
		[NVDLA_GROUP_PROGRAMMED] = "programmed",
		[NVDLA_GROUP_ENABLED] = "enabled",
	};
	u32 type, group;

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		for (group = 0; group < 2; group++) {
			drm_printf(p, "%s group %u: %s", nvdla_engine_name(type), group,
				   states[snapshot->engine[type].group[group].state]);
			if (snapshot->engine[type].group[group].state != NVDLA_GROUP_IDLE)
				drm_printf(p, ", operation %u, waits for %u events",
					   snapshot->engine[type].group[group].operation,
					   snapshot->engine[type].group[group].waits_for);
			drm_puts(p, "\n");
		}
	}
}

static void nvdla_coredump_free(struct nvdla_coredump *dump)
{
	nvdla_user_tasks_free(dump->tasks, dump->user_tasks, dump->job.num_tasks);
	kfree(dump);
}

/**
 * nvdla_coredump_capture() - record the state of the core
 * @job: job that failed and is on the hardware, which is awake; &nvdla_hw.lock is held
 */
void nvdla_coredump_capture(struct nvdla_job *job)
{
	struct nvdla_coredump *dump;
	u32 unit;

	lockdep_assert_held(&job->hw->lock);

	if (!IS_ENABLED(CONFIG_DEV_COREDUMP) || job->coredump ||
	    !__ratelimit(&job->hw->coredumps.limit))
		return;

	dump = kzalloc(sizeof(*dump), GFP_NOWAIT | __GFP_NOWARN);
	if (!dump)
		return;

	dump->time_ns = ktime_get_ns();
	nvdla_job_record_fill(&dump->job, job, job->error);
	nvdla_sequencer_snapshot(job->hw->seq, &dump->groups);
	for (unit = 0; unit < NVDLA_NUM_UNITS; unit++)
		nvdla_registers_read(job->hw, unit, &dump->registers);
	job->coredump = dump;
}

/**
 * nvdla_coredump_publish() - hand a job's dump to user space
 * @job: job that is about to be freed
 *
 * The dump takes the job's tasks over. If an earlier dump has not been written or read
 * yet, the earlier one is kept: the first failure is the most useful one.
 */
void nvdla_coredump_publish(struct nvdla_job *job)
{
	struct nvdla_hw *hw = job->hw;
	struct nvdla_coredump *dump = job->coredump;

	if (!dump)
		return;

	dump->tasks = job->tasks;
	dump->user_tasks = job->user_tasks;
	job->coredump = NULL;
	job->tasks = NULL;
	job->user_tasks = NULL;
	job->num_tasks = 0;

	if (cmpxchg(&hw->coredumps.pending, NULL, dump))
		nvdla_coredump_free(dump);
	else
		queue_work(system_long_wq, &hw->coredumps.work);
}

static const char *nvdla_operation_state(const struct nvdla_task *task, u32 operation)
{
	struct drm_nvdla_operation_result result;

	nvdla_result_operation(task, operation, &result);
	if (result.flags & DRM_NVDLA_OPERATION_COMPLETED)
		return "completed";
	return result.flags & DRM_NVDLA_OPERATION_STARTED ? "enabled" : "not enabled";
}

static void nvdla_coredump_print_programs(const struct nvdla_task *task, struct drm_printer *p)
{
	struct nvdla_reg_write write;
	u32 i, j;

	for (i = 0; i < nvdla_task_num_operations(task); i++) {
		drm_printf(p, "operation %u: %s, %s\n", i,
			   nvdla_engine_name(nvdla_task_op_type(task, i)),
			   nvdla_operation_state(task, i));
		for (j = 0; j < nvdla_task_num_writes(task, i); j++) {
			write = nvdla_task_write(task, i, j);
			nvdla_registers_print(&write, 1, p);
		}
	}
}

static size_t nvdla_coredump_print(struct nvdla_hw *hw, const struct nvdla_coredump *dump,
				   void *buffer, size_t size)
{
	struct drm_print_iterator iterator = { .data = buffer, .remain = size };
	struct drm_printer p = drm_coredump_printer(&iterator);

	drm_puts(&p, "nvdla coredump 2\n");
	drm_printf(&p, "device: %s\n", dev_name(hw->drm->dev));
	drm_printf(&p, "variant: %s\n", hw->variant->name);
	drm_printf(&p, "hardware version: 0x%06x\n", hw->hw_version);
	drm_printf(&p, "kernel: %s\n", init_utsname()->release);
	drm_printf(&p, "time: %llu ns\n", dump->time_ns);

	drm_puts(&p, "\n[job]\n");
	nvdla_job_record_print(&dump->job, &p);

	drm_puts(&p, "\n[groups]\n");
	nvdla_snapshot_print(&dump->groups, &p);

	drm_puts(&p, "\n[registers]\n");
	nvdla_registers_print(dump->registers.values, dump->registers.count, &p);

	if (dump->job.task != ~0U) {
		drm_puts(&p, "\n[programs]\n");
		nvdla_coredump_print_programs(dump->tasks[dump->job.task], &p);
	}

	return size - iterator.remain;
}

static void nvdla_coredump_work(struct work_struct *work)
{
	struct nvdla_hw *hw = container_of(work, struct nvdla_hw, coredumps.work);
	struct nvdla_coredump *dump = hw->coredumps.pending;
	size_t size = nvdla_coredump_print(hw, dump, NULL, SSIZE_MAX);
	void *text = vmalloc(size);

	if (text) {
		size = nvdla_coredump_print(hw, dump, text, size);
		dev_coredumpv(hw->drm->dev, text, size, GFP_KERNEL);
	}

	nvdla_coredump_free(dump);
	/* Pairs with the cmpxchg() that sets the next pending dump. */
	smp_store_release(&hw->coredumps.pending, NULL);
}

/* Prepares a core for core dumps. */
void nvdla_coredump_init(struct nvdla_hw *hw)
{
	INIT_WORK(&hw->coredumps.work, nvdla_coredump_work);
	ratelimit_state_init(&hw->coredumps.limit, 60 * HZ, NVDLA_COREDUMPS_PER_MINUTE);
	ratelimit_set_flags(&hw->coredumps.limit, RATELIMIT_MSG_ON_RELEASE);
}

/* Waits until the last dump of a core without jobs is handed over. */
void nvdla_coredump_fini(struct nvdla_hw *hw)
{
	flush_work(&hw->coredumps.work);
}
