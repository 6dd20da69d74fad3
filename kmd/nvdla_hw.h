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
 * struct nvdla_bus_ops - operations of the bus that a core is on, whose device they get
 * @reset: bring the core back to its state after power-on. Called with the
 *	core stopped and the device's lock held. Return: 0 or -errno. NULL if the
 *	bus has no means to do so.
 * @disable_dma: keep the core from reaching memory for ever, because it could
 *	not be reset and may still be at work. Return: 0, or -errno if it may
 *	go on reaching memory. NULL if @reset is.
 * @power_up: make the registers accessible. The core is as a reset leaves it, or as
 *	nvdla_hw_stop() left it; when the driver is bound it was reset, if
 *	there is @reset. Return: 0 or -errno. Optional.
 * @power_down: undo @power_up. Optional.
 */
struct nvdla_bus_ops {
	int (*reset)(struct device *dev);
	int (*disable_dma)(struct device *dev);
	int (*power_up)(struct device *dev);
	void (*power_down)(struct device *dev);
};

/**
 * struct nvdla_job_record - description of a job, which may be freed already
 * @context: context of the fence that its submit returned
 * @seqno: number of that fence
 * @client_id: &drm_file.client_id of the file that submitted it
 * @num_tasks: tasks that it has
 * @task: the one that is on the hardware, or was the last there; ~0 if none was
 * @num_operations: operations of that task
 * @num_completed: those among them that completed
 * @error: 0, or why it failed
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

/**
 * struct nvdla_hw - the core, and what is on it
 */
struct nvdla_hw {
	/** @drm: the accel device that it belongs to */
	struct drm_device *drm;

	/** @variant: configuration of the core, constant */
	const struct nvdla_variant *variant;

	/** @bus_ops: bus specific operations, constant */
	const struct nvdla_bus_ops *bus_ops;

	/** @regs: the core's CSB space */
	void __iomem *regs;

	/** @hw_version: S_NVDLA_HW_VERSION as read at probe */
	u32 hw_version;

	/** @zeroes: system memory that buffers inside the core are cleared from */
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

	/** @sram_losses: times that what on-chip memory held was lost */
	atomic64_t sram_losses;

	/** @lock: protects the members below, and all register accesses through them */
	struct mutex lock;

	/** @seq: state machine that drives the engines */
	struct nvdla_sequencer *seq;

	/** @cbuf_owner: &drm_file.client_id of the last convolution's job, 0 if there was none */
	u64 cbuf_owner;

	/** @num_scrubs: times that the convolution buffer was cleared */
	u64 num_scrubs;

	/** @active: job on the hardware, or NULL */
	struct nvdla_job *active;

	/** @last_job: the job that was on the hardware before; all zero if none was */
	struct nvdla_job_record last_job;

	/**
	 * @stopped: the core is being reset, or asleep, and its registers are left alone; @active
	 * waits to be started
	 */
	bool stopped;

	/** @sleeping: the system sleeps, or is about to: a core that is @stopped stays so */
	bool sleeping;

	/** @dead: set when the core cannot be used any more, and must be left alone */
	bool dead;
};

/* Registers by their names, NVDLA_<UNIT>_<REGISTER>. */
static inline u32 nvdla_hw_read(struct nvdla_hw *hw, u32 reg)
{
	return readl(hw->regs + nvdla_variant_register(hw->variant, reg));
}

static inline void nvdla_hw_write(struct nvdla_hw *hw, u32 reg, u32 value)
{
	writel(value, hw->regs + nvdla_variant_register(hw->variant, reg));
}

/* True if jobs fail with -ENODEV: the core cannot be used, or the driver is being unbound. */
static inline bool nvdla_hw_is_gone(struct nvdla_hw *hw)
{
	return hw->dead || drm_dev_is_unplugged(hw->drm);
}

#endif /* __NVDLA_HW_H__ */
