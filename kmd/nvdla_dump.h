/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_DUMP_H__
#define __NVDLA_DUMP_H__

#include <linux/types.h>

#include "engine/nvdla_task.h"

struct drm_printer;
struct nvdla_hw;
struct nvdla_job;
struct nvdla_job_record;
struct nvdla_sequencer_snapshot;

/* At least the number of registers of the largest core. */
#define NVDLA_NUM_REGISTERS 448

/**
 * struct nvdla_register_dump - values of registers
 * @count: entries at @values
 * @values: in the order in which they were read; registers that each register group has appear
 *	twice, first all of group 0
 */
struct nvdla_register_dump {
	u32 count;
	struct nvdla_reg_write values[2 * NVDLA_NUM_REGISTERS];
};

void nvdla_registers_read(struct nvdla_hw *hw, u32 index, struct nvdla_register_dump *dump);
bool nvdla_registers_are_idle(struct nvdla_hw *hw);
void nvdla_registers_print(const struct nvdla_reg_write *values, u32 count, struct drm_printer *p);

void nvdla_job_record_fill(struct nvdla_job_record *record, const struct nvdla_job *job, int error);
void nvdla_job_record_print(const struct nvdla_job_record *record, struct drm_printer *p);
void nvdla_snapshot_print(const struct nvdla_sequencer_snapshot *snapshot, struct drm_printer *p);

void nvdla_coredump_init(struct nvdla_hw *hw);
void nvdla_coredump_fini(struct nvdla_hw *hw);

void nvdla_coredump_capture(struct nvdla_job *job);
void nvdla_coredump_publish(struct nvdla_job *job);

#endif /* __NVDLA_DUMP_H__ */
