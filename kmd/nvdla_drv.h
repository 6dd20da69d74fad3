/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_DRV_H__
#define __NVDLA_DRV_H__

#include <linux/mutex.h>

#include <drm/drm_drv.h>
#include <drm/gpu_scheduler.h>

struct drm_file;
struct drm_printer;
struct nvdla_usage;

/**
 * struct nvdla_file - one open of the accel node
 */
struct nvdla_file {
	/** @entity: queue of this file's jobs */
	struct drm_sched_entity entity;

	/** @submit_lock: keeps jobs in the order in which they got their fences */
	struct mutex submit_lock;

	/** @usage: what the file uses */
	struct nvdla_usage *usage;
};

extern const struct drm_driver nvdla_drm_driver;

void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file);

#endif /* __NVDLA_DRV_H__ */
