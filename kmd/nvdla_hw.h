/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_HW_H__
#define __NVDLA_HW_H__

#include <linux/atomic.h>
#include <linux/io.h>
#include <linux/mutex.h>
#include <linux/ratelimit_types.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>

#include "engine/nvdla_sequencer.h"
#include "engine/nvdla_variant.h"
#include "nvdla_counters.h"

struct device;
struct nvdla_bo;
struct nvdla_coredump;
struct nvdla_job;
struct nvdla_scrub;

/**
 * struct nvdla_bus_ops - operations of the bus that a core is on, called with its device
 * @reset: put the core into its state after power-on. Called with the core stopped and
 *	&device.mutex held. Return: 0 or -errno. NULL if the bus has no means to do so.
 * @disable_dma: permanently stop memory accesses of a core that could not be reset and may still be
 *	running. Return: 0, or -errno if accesses may continue. NULL if @reset is NULL.
 * @power_up: make the registers accessible. The core is in its state after reset or after
 *	nvdla_hw_stop(); at probe it was reset unless @reset is NULL. Return: 0 or -errno. Optional.
 * @power_down: undo @power_up. Optional.
 */
struct nvdla_bus_ops {
	int (*reset)(struct device *dev);
	int (*disable_dma)(struct device *dev);
	int (*power_up)(struct device *dev);
	void (*power_down)(struct device *dev);
};

/**
 * struct nvdla_job_record - description of a job that may already have been freed
 * @context: context of the fence that the submit returned
 * @seqno: number of that fence
 * @client_id: &drm_file.client_id of the file that submitted the job
 * @num_tasks: tasks of the job
 * @task: index of the task that is on the hardware or was there last, ~0 if none was
 * @num_operations: operations of that task
 * @num_completed: completed operations of that task
 * @error: 0, or the -errno of a failed job
 */
struct nvdla_job_record {
	u64 context;
	u64 seqno;
	u64 client_id;
	u32 num_tasks;
	u32 task;
	u32 num_operations;
	u32 num_completed;
	int error;
};

/** struct nvdla_hw - a core and the job on it */
struct nvdla_hw {
	/** @drm: the accel device of the core */
	struct drm_device *drm;

	/** @variant: configuration of the core, constant */
	const struct nvdla_variant *variant;

	/** @bus_ops: bus specific operations, constant */
	const struct nvdla_bus_ops *bus_ops;

	/** @regs: the core's CSB space */
	void __iomem *regs;

	/** @hw_version: S_NVDLA_HW_VERSION as read at probe */
	u32 hw_version;

	/** @zeroes: system memory, all zero; source for clearing CVSRAM and convolution buffer */
	struct nvdla_bo *zeroes;

	/** @scrub: tasks that clear the convolution buffer */
	struct nvdla_scrub *scrub;

	/** @recover_work: resets a core whose job failed or hangs; holds a reference to @drm */
	struct work_struct recover_work;

	/** @counters: counters of the engines */
	struct nvdla_counters counters;

	/** @coredumps: core dumps on their way to user space */
	struct {
		/** @coredumps.limit: rate limit of dumps */
		struct ratelimit_state limit;
		/** @coredumps.work: writes the pending dump as text and hands it over */
		struct work_struct work;
		/** @coredumps.pending: the dump that @coredumps.work has to write, or NULL */
		struct nvdla_coredump *pending;
	} coredumps;

	/** @sram_losses: times that the on-chip memory lost its content */
	atomic64_t sram_losses;

	/** @lock: protects the members below, and all register accesses through them */
	struct mutex lock;

	/** @seq: state machine that drives the engines */
	struct nvdla_sequencer *seq;

	/** @cbuf_owner: &drm_file.client_id of the last convolution's job, 0 if there was none */
	u64 cbuf_owner;

	/** @num_scrubs: times that the convolution buffer was cleared */
	u64 num_scrubs;

	/** @active: job on the core, or NULL */
	struct nvdla_job *active;

	/** @last_job: the job that was on the core before @active; all zero if none was */
	struct nvdla_job_record last_job;

	/**
	 * @stopped: the core is being reset, or asleep, and its registers must not be accessed;
	 * @active waits for a start
	 */
	bool stopped;

	/** @sleeping: the system sleeps or is about to: a core that is @stopped is not started */
	bool sleeping;

	/** @dead: the core cannot be used any more, and its registers must not be accessed */
	bool dead;
};

/* Reads a register by its name, NVDLA_<UNIT>_<REGISTER>. */
static inline u32 nvdla_hw_read(struct nvdla_hw *hw, u32 reg)
{
	return readl(hw->regs + nvdla_variant_register(hw->variant, reg));
}

static inline void nvdla_hw_write(struct nvdla_hw *hw, u32 reg, u32 value)
{
	writel(value, hw->regs + nvdla_variant_register(hw->variant, reg));
}

/* Returns true if jobs fail with -ENODEV: the core is dead, or the driver is being unbound. */
static inline bool nvdla_hw_is_gone(struct nvdla_hw *hw)
{
	return hw->dead || drm_dev_is_unplugged(hw->drm);
}

#endif /* __NVDLA_HW_H__ */
