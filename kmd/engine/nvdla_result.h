/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_RESULT_H
#define NVDLA_RESULT_H

#include "nvdla_task.h"

struct drm_nvdla_operation_result;

/**
 * struct nvdla_result_source - an ended job and the facts about it that its tasks do not contain
 * @tasks: the job's tasks, in the order in which they run
 * @num_tasks: entries at @tasks
 * @num_started: tasks that were put on the hardware in the last run
 * @status: 0, or the -errno with which the job failed
 * @num_runs: times that the job was put on the hardware
 * @submit_ns: CLOCK_MONOTONIC at the submit
 * @start_ns: CLOCK_MONOTONIC when the job was last put on the hardware, or 0
 * @end_ns: CLOCK_MONOTONIC when the job ended
 */
struct nvdla_result_source {
	struct nvdla_task *const *tasks;
	u32 num_tasks;
	u32 num_started;
	s32 status;
	u32 num_runs;
	u64 submit_ns;
	u64 start_ns;
	u64 end_ns;
};

u32 nvdla_result_size(struct nvdla_task *const *tasks, u32 num_tasks);
/** NVDLA_MAX_ENGINE_COUNTERS - counter registers of one engine, at most */
#define NVDLA_MAX_ENGINE_COUNTERS 15

/**
 * struct nvdla_counter - a register that counts
 * @name: name in sysfs, NULL if the sum of its values is meaningless
 * @reg: the register, NVDLA_<UNIT>_<REGISTER>
 * @when: enum counts of nvdla_stats.c: condition under which the value can differ from zero
 * @offset: offset of the __u32 member for the value in struct drm_nvdla_operation_result
 */
struct nvdla_counter {
	const char *name;
	u32 reg;
	u16 when;
	u16 offset;
};

const struct nvdla_counter *nvdla_counters_of(u32 op_type, u32 *count);
void nvdla_result_operation(const struct nvdla_task *task, u32 operation,
			    struct drm_nvdla_operation_result *result);
void nvdla_result_write(const struct nvdla_result_source *source, void *to);

#endif /* NVDLA_RESULT_H */
