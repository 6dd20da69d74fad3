/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_RUN_H__
#define __NVDLA_RUN_H__

#include <linux/types.h>

/*
 * Functions that put jobs on the core and take them off. Each file calls only functions of the
 * files before it: nvdla_cbuf.c, nvdla_run.c, nvdla_reset.c, nvdla_recover.c.
 */
struct nvdla_hw;
struct nvdla_job;
struct nvdla_task;
struct work_struct;

int nvdla_cbuf_init(struct nvdla_hw *hw);
struct nvdla_task *nvdla_cbuf_claim(struct nvdla_job *job);

extern const struct nvdla_sequencer_ops nvdla_job_sequencer_ops;

void nvdla_job_uncount(struct nvdla_job *job);
void nvdla_job_put_on(struct nvdla_job *job);
void nvdla_job_begin(struct nvdla_job *job);
void nvdla_job_end(struct nvdla_job *job, int status);
void nvdla_job_extend(struct nvdla_job *job);
bool nvdla_job_is_late(const struct nvdla_job *job);
bool nvdla_hw_attend(struct nvdla_hw *hw);
void nvdla_jobs_queue_recovery(struct nvdla_hw *hw);
int nvdla_recovery_init(void);
void nvdla_recovery_fini(void);

void nvdla_hw_start(struct nvdla_hw *hw);
void nvdla_hw_stop(struct nvdla_hw *hw);
void nvdla_hw_reset_prepare(struct nvdla_hw *hw);
void nvdla_hw_reset_done(struct nvdla_hw *hw, int error);
void nvdla_hw_reset(struct nvdla_hw *hw);

bool nvdla_jobs_recover(struct nvdla_hw *hw);
void nvdla_jobs_recover_work(struct work_struct *work);
void nvdla_job_drain(struct nvdla_hw *hw);

#endif /* __NVDLA_RUN_H__ */
