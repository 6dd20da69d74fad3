// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Jobs and register groups as text: the same in debugfs and in core dumps.
 */
#include <drm/drm_print.h>

#include "nvdla_context.h"
#include "nvdla_counters.h"
#include "nvdla_drv.h"
#include "nvdla_dump.h"
#include "nvdla_job.h"

/**
 * nvdla_job_record_fill() - write down what a job is and how far it has come
 * @record: filled
 * @job: job that the scheduler knows; its device is locked
 * @error: 0, or why it failed
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

/**
 * nvdla_job_record_print() - print what was written down
 * @record: a job
 * @p: where to
 */
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
 * nvdla_snapshot_print() - print what the register groups are doing
 * @snapshot: state of a sequencer
 * @p: where to
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
