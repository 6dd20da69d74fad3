// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What one client may take from the others: time on the core, resets, on-chip memory.
 */
#include <linux/capability.h>
#include <linux/ratelimit.h>
#include <linux/user_namespace.h>

#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include "nvdla_client.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_job.h"

/* So many guilty jobs in such a time are bad luck, one more is not. */
#define NVDLA_MAX_FAILURES 8
#define NVDLA_FAILURES_SECONDS 60

/**
 * nvdla_client_is_trusted() - whether the calling process may take from others
 *
 * Asked by queries, too, which try nothing: it leaves no trace in the audit log.
 *
 * Return: true for those who may give themselves a high priority.
 */
bool nvdla_client_is_trusted(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_NICE);
}

/**
 * nvdla_client_init() - a file that has done nothing yet
 * @client: memory that was zeroed
 */
void nvdla_client_init(struct nvdla_client *client)
{
	ratelimit_state_init(&client->failures, NVDLA_FAILURES_SECONDS * HZ, NVDLA_MAX_FAILURES);
	ratelimit_set_flags(&client->failures, RATELIMIT_MSG_ON_RELEASE);
}

/**
 * nvdla_client_blame() - a job of a file made a reset necessary
 * @ndev: device
 * @file: file
 *
 * Each reset costs all clients time, and what they had in on-chip memory. A file
 * whose jobs go on failing is banned: they fail without being run.
 */
void nvdla_client_blame(struct nvdla_device *ndev, struct nvdla_file *file)
{
	struct nvdla_client *client = &file->client;

	atomic64_inc(&client->guilty_jobs);
	if (client->banned || __ratelimit(&client->failures))
		return;

	WRITE_ONCE(client->banned, true);
	drm_info(&ndev->drm, "client %llu is banned: more than %u of its jobs failed within %u s\n",
		 file->usage.client_id, NVDLA_MAX_FAILURES, NVDLA_FAILURES_SECONDS);
}

/**
 * nvdla_client_is_banned() - whether jobs of a file must not be run
 * @client: of the file
 *
 * Return: true if too many of its jobs failed.
 */
bool nvdla_client_is_banned(const struct nvdla_client *client)
{
	return READ_ONCE(client->banned);
}

/**
 * nvdla_client_max_sram() - on-chip memory for all buffers of a user
 * @ndev: device
 *
 * Return: bytes that the calling process may have.
 */
u64 nvdla_client_max_sram(struct nvdla_device *ndev)
{
	return nvdla_client_is_trusted() ? ndev->sram.size : ndev->sram.size / 2;
}

/**
 * nvdla_client_max_timeout_ms() - longest time on the core that a job may be given
 *
 * Return: milliseconds that the calling process may ask for.
 */
u32 nvdla_client_max_timeout_ms(void)
{
	return nvdla_client_is_trusted() ? NVDLA_MAX_TIMEOUT_MS : NVDLA_USER_TIMEOUT_MS;
}

/**
 * nvdla_client_query() - answer DRM_NVDLA_QUERY_CLIENT
 * @ndev: device
 * @file: who asks
 * @info: filled
 */
void nvdla_client_query(struct nvdla_device *ndev, struct nvdla_file *file,
			struct drm_nvdla_client_info *info)
{
	const struct nvdla_client *client = &file->client;

	*info = (struct drm_nvdla_client_info){
		.guilty_jobs = atomic64_read(&client->guilty_jobs),
		.innocent_jobs = atomic64_read(&client->innocent_jobs),
		.sram_losses = atomic64_read(&ndev->sram.losses),
		.banned = nvdla_client_is_banned(client),
	};
}
