/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_DEVICE_H__
#define __NVDLA_DEVICE_H__

#include <linux/atomic.h>
#include <linux/clk.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <drm/drm_device.h>
#include <drm/drm_mm.h>
#include <drm/gpu_scheduler.h>

#include "nvdla_hw.h"

struct reset_control;

/** struct nvdla_device - one NVDLA core, and its place in the system */
struct nvdla_device {
	/** @drm: the accel device */
	struct drm_device drm;

	/** @hw: the core */
	struct nvdla_hw hw;

	/** @irq: Linux interrupt number */
	int irq;

	/** @clks: clocks that are on while the core is awake */
	struct clk_bulk_data *clks;

	/** @num_clks: entries at @clks */
	u32 num_clks;

	/** @core_clk: clock of the engines, one of @clks; NULL if not known */
	struct clk *core_clk;

	/** @clks_enabled: @clks are enabled; used by the bus operations only */
	bool clks_enabled;

	/** @reset: reset lines; NULL if the bus resets the core in another way, or not at all */
	struct reset_control *reset;

	/** @awake: the core has power; written by the PM callbacks, one at a time */
	bool awake;

	/** @sram: the on-chip memory that the engines can reach */
	struct {
		/** @sram.base: first address of the memory as the engines see it, constant */
		u64 base;
		/** @sram.size: bytes, 0 if there is none; constant */
		u64 size;
		/** @sram.lock: protects the ranges */
		struct mutex lock;
		/** @sram.mm: allocator of the buffers' ranges */
		struct drm_mm mm;
	} sram;

	/** @memory_owner: device that contiguous memory is allocated for, NULL behind an IOMMU */
	struct device *memory_owner;

	/**
	 * @has_pool: contiguous memory comes from reserved memory that the kernel maps for the
	 * driver only
	 */
	bool has_pool;

	/** @sched_wq: workqueue of the scheduler */
	struct workqueue_struct *sched_wq;

	/** @timeout_wq: workqueue of timeouts, with WQ_MEM_RECLAIM */
	struct workqueue_struct *timeout_wq;

	/** @free_wq: workqueue that frees jobs */
	struct workqueue_struct *free_wq;

	/** @sched: the scheduler, which has one job on the hardware at a time */
	struct drm_gpu_scheduler sched;

	/** @fence_lock: lock of the hardware fences */
	spinlock_t fence_lock;

	/** @num_jobs: jobs from nvdla_job_submit() to their end; a removal waits until it is 0 */
	atomic_t num_jobs;

	/** @bos_lock: protects @bos */
	struct mutex bos_lock;

	/** @bos: buffers that are mapped for the device */
	struct list_head bos;

	/** @num_bos: buffers in @bos or just being unmapped; a removal waits until it is 0 */
	atomic_t num_bos;
};

static inline struct nvdla_device *to_nvdla_device(struct drm_device *drm)
{
	return container_of(drm, struct nvdla_device, drm);
}

#endif /* __NVDLA_DEVICE_H__ */
