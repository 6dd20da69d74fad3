/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_COREDUMP_H__
#define __NVDLA_COREDUMP_H__

#include <linux/ratelimit_types.h>
#include <linux/workqueue.h>

struct nvdla_coredump;
struct nvdla_device;
struct nvdla_job;

/**
 * struct nvdla_coredumps - how dumps get to user space
 * @limit: how often a core's state is captured
 * @work: writes @pending as text and hands it over
 * @pending: the dump that waits for @work, or NULL
 */
struct nvdla_coredumps {
	struct ratelimit_state limit;
	struct work_struct work;
	struct nvdla_coredump *pending;
};

void nvdla_coredump_init(struct nvdla_device *ndev);
void nvdla_coredump_fini(struct nvdla_device *ndev);

void nvdla_coredump_capture(struct nvdla_job *job);
void nvdla_coredump_publish(struct nvdla_job *job);

#endif /* __NVDLA_COREDUMP_H__ */
