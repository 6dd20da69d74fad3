/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_CBUF_H__
#define __NVDLA_CBUF_H__

#include <linux/mutex.h>
#include <linux/types.h>

struct nvdla_bo;
struct nvdla_device;
struct nvdla_job;
struct nvdla_scrub;
struct nvdla_task;

/**
 * struct nvdla_cbuf - the convolution buffer of a core, between clients
 */
struct nvdla_cbuf {
	/** @lock: protects the making of @zeroes and @scrub */
	struct mutex lock;

	/** @zeroes: memory of the scrub, made with it */
	struct nvdla_bo *zeroes;

	/** @scrub: tasks that clear the buffer, made when the first convolution is submitted */
	struct nvdla_scrub *scrub;

	/**
	 * @owner: &drm_file.client_id of whom the last convolution was for, 0 if there
	 * was none; under &nvdla_device.lock
	 */
	u64 owner;

	/** @scrubs: times that it was cleared, under &nvdla_device.lock */
	u64 scrubs;
};

void nvdla_cbuf_fini(struct nvdla_device *ndev);
int nvdla_cbuf_prepare(struct nvdla_job *job);
struct nvdla_task *nvdla_cbuf_claim(struct nvdla_job *job);

#endif /* __NVDLA_CBUF_H__ */
