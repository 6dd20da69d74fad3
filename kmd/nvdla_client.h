/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_CLIENT_H__
#define __NVDLA_CLIENT_H__

#include <linux/atomic.h>
#include <linux/ratelimit_types.h>
#include <linux/types.h>

struct drm_nvdla_client_info;
struct nvdla_device;
struct nvdla_file;

/**
 * struct nvdla_client - what an open file does to others, and others to it
 * @guilty_jobs: its jobs that failed and had the core reset
 * @innocent_jobs: its jobs that a reset for another reason took off the core
 * @failures: how many guilty jobs it may have
 * @banned: it had too many: its jobs do not run any more
 */
struct nvdla_client {
	atomic64_t guilty_jobs;
	atomic64_t innocent_jobs;
	struct ratelimit_state failures;
	bool banned;
};

void nvdla_client_init(struct nvdla_client *client);
void nvdla_client_blame(struct nvdla_device *ndev, struct nvdla_file *file);
void nvdla_client_query(struct nvdla_device *ndev, struct nvdla_file *file,
			struct drm_nvdla_client_info *info);

bool nvdla_client_is_trusted(void);
bool nvdla_client_is_banned(const struct nvdla_client *client);
u64 nvdla_client_max_sram(struct nvdla_device *ndev);
u32 nvdla_client_max_timeout_ms(void);

#endif /* __NVDLA_CLIENT_H__ */
