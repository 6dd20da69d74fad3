/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_DUMP_H__
#define __NVDLA_DUMP_H__

#include <linux/ratelimit_types.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "engine/nvdla_task.h"

struct drm_printer;
struct nvdla_coredump;
struct nvdla_device;
struct nvdla_job;
struct nvdla_sequencer_snapshot;

/**
 * struct nvdla_job_record - description of a job that may be gone
 * @context: context of the fence that its submit returned
 * @seqno: number of that fence
 * @client_id: &drm_file.client_id of the file that submitted it
 * @num_tasks: tasks that it has
 * @task: the one that is on the hardware, or was the last there; ~0 if none was
 * @num_operations: operations of that task
 * @num_completed: those among them that completed
 * @error: 0, or why it failed
 */
struct nvdla_job_record {
	u64 context;
	u64 seqno;
	u64 client_id;
	u32 num_tasks;
	u32 task;
	u32 num_operations;
	u32 num_completed;
	int error;
};

/**
 * struct nvdla_coredumps - core dumps of a device
 * @limit: rate limit of dumps
 * @work: writes @pending as text and hands it over
 * @pending: the dump that waits for @work, or NULL
 */
struct nvdla_coredumps {
	struct ratelimit_state limit;
	struct work_struct work;
	struct nvdla_coredump *pending;
};

/* All that a core has, and a few more */
#define NVDLA_NUM_REGISTERS 448

/**
 * struct nvdla_register_dump - values of registers
 * @count: entries at @values
 * @values: in the order in which they were read; those that each register group has come twice,
 *	first all of group 0
 */
struct nvdla_register_dump {
	u32 count;
	struct nvdla_reg_write values[2 * NVDLA_NUM_REGISTERS];
};

void nvdla_registers_read(struct nvdla_device *ndev, u32 index, struct nvdla_register_dump *dump);
bool nvdla_registers_are_idle(struct nvdla_device *ndev);
void nvdla_registers_print(const struct nvdla_reg_write *values, u32 count, struct drm_printer *p);

void nvdla_job_record_fill(struct nvdla_job_record *record, const struct nvdla_job *job, int error);
void nvdla_job_record_print(const struct nvdla_job_record *record, struct drm_printer *p);
void nvdla_snapshot_print(const struct nvdla_sequencer_snapshot *snapshot, struct drm_printer *p);

void nvdla_coredump_init(struct nvdla_device *ndev);
void nvdla_coredump_fini(struct nvdla_device *ndev);

void nvdla_coredump_capture(struct nvdla_job *job);
void nvdla_coredump_publish(struct nvdla_job *job);

#endif /* __NVDLA_DUMP_H__ */
