/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_SCHED_H__
#define __NVDLA_SCHED_H__

#include <linux/types.h>

struct nvdla_context;
struct nvdla_device;
struct nvdla_job;

int nvdla_job_init(struct nvdla_device *ndev);
void nvdla_job_fini(struct nvdla_device *ndev);

struct nvdla_job *nvdla_job_create(struct nvdla_device *ndev, struct nvdla_context *context,
				   u32 num_tasks);
struct dma_fence *nvdla_job_submit(struct nvdla_job *job);
void nvdla_job_destroy(struct nvdla_job *job);

#endif /* __NVDLA_SCHED_H__ */
