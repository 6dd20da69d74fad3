/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_DEVICE_H__
#define __NVDLA_DEVICE_H__

#include <linux/atomic.h>
#include <linux/clk.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pm.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/gpu_scheduler.h>

#include "engine/nvdla_sequencer.h"
#include "engine/nvdla_variant.h"
#include "nvdla_counters.h"
#include "nvdla_dump.h"
#include "nvdla_sram.h"

struct nvdla_bo;
struct nvdla_device;
struct nvdla_job;
struct nvdla_scrub;
struct nvdla_task;
struct reset_control;

/**
 * struct nvdla_bus_ops - operations of the bus that a core is on
 * @reset: bring the core back to its state after power-on. Called with the
 *	core stopped and the parent's lock held. Return: 0 or -errno. NULL if the
 *	bus has no means to do so.
 * @disable_dma: keep the core from reaching memory for ever, because it could
 *	not be reset and may still be at work. Return: 0, or -errno if it may
 *	go on reaching memory. NULL if @reset is.
 * @power_up: make the registers accessible. The core is as a reset leaves it, or as
 *	nvdla_device_stop() left it; when the driver is bound it was reset, if
 *	there is @reset. Return: 0 or -errno. Optional.
 * @power_down: undo @power_up. Optional.
 */
struct nvdla_bus_ops {
	int (*reset)(struct nvdla_device *ndev);
	int (*disable_dma)(struct nvdla_device *ndev);
	int (*power_up)(struct nvdla_device *ndev);
	void (*power_down)(struct nvdla_device *ndev);
};

/**
 * struct nvdla_device - one NVDLA core
 */
struct nvdla_device {
	/** @drm: the accel device */
	struct drm_device drm;

	/** @variant: configuration of the core, constant */
	const struct nvdla_variant *variant;

	/** @bus_ops: bus specific operations, constant */
	const struct nvdla_bus_ops *bus_ops;

	/** @regs: the core's CSB space */
	void __iomem *regs;

	/** @irq: Linux interrupt number */
	int irq;

	/** @clks: clocks that are on while the core is awake */
	struct clk_bulk_data *clks;

	/** @num_clks: entries at @clks */
	u32 num_clks;

	/** @core_clk: the one of @clks that the engines run at, NULL if that is not known */
	struct clk *core_clk;

	/** @clks_enabled: @clks are enabled; for the bus operations */
	bool clks_enabled;

	/** @reset: reset lines, NULL where the bus has another way, or none */
	struct reset_control *reset;

	/** @awake: the core has power; written by the PM callbacks, one at a time */
	bool awake;

	/** @hw_version: S_NVDLA_HW_VERSION as read at probe */
	u32 hw_version;

	/** @sram: on-chip memory the engines can reach */
	struct nvdla_sram sram;

	/** @zeroes: system memory that buffers inside the core are cleared from */
	struct nvdla_bo *zeroes;

	/** @scrub: tasks that clear the convolution buffer */
	struct nvdla_scrub *scrub;

	/** @memory_owner: device that contiguous memory is allocated for, NULL behind an IOMMU */
	struct device *memory_owner;

	/** @sched_wq: workqueue of the scheduler */
	struct workqueue_struct *sched_wq;

	/** @timeout_wq: workqueue of timeouts; reclaim may wait for it */
	struct workqueue_struct *timeout_wq;

	/** @recover_work: resets a core whose job failed or hangs; holds a reference to @drm */
	struct work_struct recover_work;

	/** @free_wq: workqueue that frees jobs */
	struct workqueue_struct *free_wq;

	/** @sched: gives out the job that goes to the hardware, one at a time */
	struct drm_gpu_scheduler sched;

	/** @fence_lock: lock of the hardware fences */
	spinlock_t fence_lock;

	/** @num_jobs: jobs from nvdla_job_submit() to their end; a removal waits for 0 */
	atomic_t num_jobs;

	/** @counters: counters of the engines */
	struct nvdla_counters counters;

	/** @coredumps: core dumps on their way to user space */
	struct nvdla_coredumps coredumps;

	/** @bos_lock: protects @bos */
	struct mutex bos_lock;

	/** @bos: buffers that are mapped for the device */
	struct list_head bos;

	/** @num_bos: those and buffers that are just being unmapped; a removal waits for 0 */
	atomic_t num_bos;

	/** @lock: protects the members below and all register accesses behind them */
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
static inline u32 nvdla_device_read(struct nvdla_device *ndev, u32 reg)
{
	return readl(ndev->regs + nvdla_variant_register(ndev->variant, reg));
}

static inline void nvdla_device_write(struct nvdla_device *ndev, u32 reg, u32 value)
{
	writel(value, ndev->regs + nvdla_variant_register(ndev->variant, reg));
}

static inline struct nvdla_device *to_nvdla_device(struct drm_device *drm)
{
	return container_of(drm, struct nvdla_device, drm);
}

/* Jobs fail with -ENODEV: the core cannot be used, or the driver has to let go of it. */
static inline bool nvdla_device_is_gone(struct nvdla_device *ndev)
{
	return ndev->dead || drm_dev_is_unplugged(&ndev->drm);
}

struct nvdla_device *nvdla_device_alloc(struct device *parent);
int nvdla_device_init(struct nvdla_device *ndev);
void nvdla_device_fini(struct nvdla_device *ndev);

void nvdla_device_start(struct nvdla_device *ndev);
void nvdla_device_stop(struct nvdla_device *ndev);

void nvdla_device_reset_prepare(struct nvdla_device *ndev);
void nvdla_device_reset_done(struct nvdla_device *ndev, int error);
void nvdla_device_reset(struct nvdla_device *ndev);
bool nvdla_device_attend(struct nvdla_device *ndev);
int nvdla_device_force_reset(struct nvdla_device *ndev);

extern const struct dev_pm_ops nvdla_pm_ops;

int nvdla_pm_init(struct nvdla_device *ndev);
void nvdla_pm_fini(struct nvdla_device *ndev);
void nvdla_pm_allow(struct nvdla_device *ndev);
void nvdla_pm_forbid(struct nvdla_device *ndev);
int nvdla_pm_get(struct nvdla_device *ndev);
void nvdla_pm_put(struct nvdla_device *ndev);

int nvdla_cbuf_init(struct nvdla_device *ndev);
struct nvdla_task *nvdla_cbuf_claim(struct nvdla_job *job);

void nvdla_debugfs_init(struct nvdla_device *ndev);

#endif /* __NVDLA_DEVICE_H__ */
