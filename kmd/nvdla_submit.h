/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_SUBMIT_H__
#define __NVDLA_SUBMIT_H__

#include <linux/types.h>
#include <linux/xarray.h>

struct dma_fence;
struct drm_device;
struct drm_file;
struct nvdla_refusal;
struct drm_nvdla_submit;
struct nvdla_device;
struct nvdla_job;
struct nvdla_out_sync;

/* Longest timeout of a submit without CAP_SYS_NICE; with it, NVDLA_MAX_TIMEOUT_MS */
#define NVDLA_USER_TIMEOUT_MS 10000

/**
 * struct nvdla_submit - one submit on its way into the scheduler
 * @ndev: device
 * @file: file of the submit
 * @args: the ioctl's argument
 * @job: the job; NULL once the scheduler owns it
 * @bo_of_handle: index into the job's buffers, by GEM handle
 * @bo_capacity: entries that fit into &nvdla_job.bos
 * @out_syncs: syncobjs to signal, as many as @args has
 */
struct nvdla_submit {
	struct nvdla_device *ndev;
	struct drm_file *file;
	const struct drm_nvdla_submit *args;
	struct nvdla_job *job;
	struct xarray bo_of_handle;
	u32 bo_capacity;
	struct nvdla_out_sync *out_syncs;
};

int nvdla_submit_refuse(struct nvdla_submit *submit, u32 task, struct nvdla_refusal *why);

int nvdla_submit_get_bo(struct nvdla_submit *submit, u32 handle);
int nvdla_submit_add_task(struct nvdla_submit *submit, u32 index);

int nvdla_submit_add_in_syncs(struct nvdla_submit *submit);
int nvdla_submit_find_out_syncs(struct nvdla_submit *submit);
void nvdla_submit_signal_out_syncs(struct nvdla_submit *submit, struct dma_fence *fence);
void nvdla_submit_free_out_syncs(struct nvdla_submit *submit);

int nvdla_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* __NVDLA_SUBMIT_H__ */
