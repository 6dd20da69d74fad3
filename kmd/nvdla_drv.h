/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_DRV_H__
#define __NVDLA_DRV_H__

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include <drm/drm_drv.h>

#include "nvdla_counters.h"

struct drm_file;
struct nvdla_device;

/**
 * struct nvdla_file - one open of the accel node
 *
 * Kept by the open file and by its contexts, which its jobs keep.
 */
struct nvdla_file {
	/** @refcount: references of the open file and of contexts */
	struct kref refcount;

	/** @contexts: contexts that jobs can be submitted to, by their number */
	struct xarray contexts;

	/** @tasks: prepared tasks by their handles */
	struct xarray tasks;

	/** @num_jobs: jobs that have not ended, those that are just being submitted too */
	atomic_t num_jobs;

	/** @task_bytes: memory of prepared tasks, those too whose handle was destroyed */
	atomic64_t task_bytes;

	/** @lock: protects @alive */
	spinlock_t lock;

	/** @alive: all contexts, those that were destroyed and still have jobs too */
	struct list_head alive;

	/** @usage: time that its jobs kept the engines busy */
	struct nvdla_usage usage;

	/** @guilty_jobs: its jobs that failed and had the core reset */
	atomic64_t guilty_jobs;

	/** @innocent_jobs: its jobs that a reset for another reason took off the core */
	atomic64_t innocent_jobs;
};

extern const struct drm_driver nvdla_drm_driver;

#if IS_ENABLED(CONFIG_PCI)
int nvdla_pci_register(void);
void nvdla_pci_unregister(void);
#else
static inline int nvdla_pci_register(void)
{
	return 0;
}

static inline void nvdla_pci_unregister(void)
{
}
#endif

int nvdla_platform_register(void);
void nvdla_platform_unregister(void);

bool nvdla_is_trusted(void);
u64 nvdla_max_sram(struct nvdla_device *ndev);
struct nvdla_file *nvdla_file_get(struct nvdla_file *file);
void nvdla_file_put(struct nvdla_file *file);

#endif /* __NVDLA_DRV_H__ */
