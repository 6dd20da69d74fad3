// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One NVDLA core: registers, interrupt, reset, and its place in DRM.
 */
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/timekeeping.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include <nvdla/hw/registers.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_dump.h"
#include "nvdla_sram.h"
#include "nvdla_trace.h"

static u32 nvdla_reg_read(void *context, u32 reg)
{
	return nvdla_device_read(context, reg);
}

static void nvdla_reg_write(void *context, u32 reg, u32 value)
{
	nvdla_device_write(context, reg, value);
}

static void nvdla_reg_delay(void *context, u32 us)
{
	fsleep(us);
}

static u64 nvdla_now(void *context)
{
	return ktime_get_ns();
}

static const struct nvdla_io nvdla_mmio = {
	.read = nvdla_reg_read,
	.write = nvdla_reg_write,
	.delay = nvdla_reg_delay,
	.now = nvdla_now,
};

/**
 * nvdla_device_attend() - handle the core's interrupt status
 * @ndev: device, locked
 *
 * A level stands until every status bit is cleared. A PCI function sends a message
 * whenever an unmasked bit rises, and again after a write that leaves one standing.
 * So one read for each interrupt is enough, whichever of the two it is.
 *
 * Return: whether the core had an interrupt.
 */
bool nvdla_device_attend(struct nvdla_device *ndev)
{
	u32 status;

	lockdep_assert_held(&ndev->lock);

	/*
	 * The line may be another device's as well. A core that sleeps or is dead may be without
	 * clocks.
	 */
	if (ndev->stopped || ndev->dead)
		return false;
	status = nvdla_device_read(ndev, NVDLA_GLB_S_INTR_STATUS);
	/* All ones is what a device that is gone reads as. */
	if (!status || status & ~ndev->variant->intr_mask)
		return false;

	nvdla_device_write(ndev, NVDLA_GLB_S_INTR_STATUS, status);
	trace_nvdla_irq(ndev, status);
	nvdla_job_irq(ndev, status);
	return true;
}

static irqreturn_t nvdla_irq_thread(int irq, void *data)
{
	bool cookie = dma_fence_begin_signalling();
	struct nvdla_device *ndev = data;
	bool handled;

	mutex_lock(&ndev->lock);
	handled = nvdla_device_attend(ndev);
	mutex_unlock(&ndev->lock);
	dma_fence_end_signalling(cookie);
	return IRQ_RETVAL(handled);
}

static int nvdla_hw_start(struct nvdla_device *ndev)
{
	u32 version = nvdla_device_read(ndev, NVDLA_GLB_S_NVDLA_HW_VERSION);

	if (version != ndev->variant->hw_version) {
		drm_err(&ndev->drm, "hardware version %#x, %#x expected\n", version,
			ndev->variant->hw_version);
		return -ENODEV;
	}
	ndev->hw_version = version;

	nvdla_device_write(ndev, NVDLA_GLB_S_INTR_STATUS, ndev->variant->intr_mask);
	nvdla_device_write(ndev, NVDLA_GLB_S_INTR_MASK, 0);
	return 0;
}

/*
 * Whether the core has forgotten what it was told: nvdla_device_stop() leaves another mask. The
 * function stays powered, for example, if it has no power states and the system sleeps.
 */
static bool nvdla_hw_was_reset(struct nvdla_device *ndev)
{
	return !nvdla_device_read(ndev, NVDLA_GLB_S_INTR_MASK);
}

/*
 * The core cannot be used any more. What it was at work on must stay its own if it goes on. The
 * bus takes locks under which memory is allocated: not under one that signals fences.
 */
static void nvdla_device_die(struct nvdla_device *ndev)
{
	mutex_lock(&ndev->lock);
	ndev->dead = true;
	mutex_unlock(&ndev->lock);
	if (ndev->bus_ops->disable_dma && !ndev->bus_ops->disable_dma(ndev))
		return;

	drm_err(&ndev->drm, "the core cannot be stopped: the buffers of its job are never freed\n");
	mutex_lock(&ndev->lock);
	nvdla_jobs_leak_memory(ndev);
	mutex_unlock(&ndev->lock);
}

/* A core of which nothing is known and that kept its state: did anybody leave it in good order? */
static int nvdla_hw_take_over(struct nvdla_device *ndev)
{
	if (ndev->bus_ops->reset) {
		drm_err(&ndev->drm, "a reset leaves the core as it was\n");
		return -EIO;
	}
	if (!nvdla_registers_are_idle(ndev)) {
		drm_err(&ndev->drm, "the core is at work for nobody, and there is no reset\n");
		return -EBUSY;
	}
	return 0;
}

/**
 * nvdla_device_start() - have the core run jobs
 * @ndev: device whose core is idle: it was reset, or stopped by nvdla_device_stop()
 *
 * A core that was stopped may have kept its state, other clients' data among it. Then what is
 * known of it stays true. If the core does not answer, it is marked dead and later jobs fail. So
 * it is where nothing is known of it, unless it was reset, or cannot be and is idle.
 */
void nvdla_device_start(struct nvdla_device *ndev)
{
	const bool known = ndev->hw_version;
	bool was_reset;
	int error;

	mutex_lock(&ndev->lock);
	was_reset = nvdla_hw_was_reset(ndev);
	error = nvdla_hw_start(ndev);
	if (!error && !known && (!was_reset || !ndev->bus_ops->reset))
		error = nvdla_hw_take_over(ndev);
	mutex_unlock(&ndev->lock);

	if (error)
		nvdla_device_die(ndev);

	mutex_lock(&ndev->lock);
	if (was_reset || !known)
		nvdla_sequencer_reset(ndev->seq);
	nvdla_jobs_start(ndev);
	mutex_unlock(&ndev->lock);
}

/**
 * nvdla_device_stop() - nothing is started on the core any more, and it does not interrupt
 * @ndev: device, locked
 */
void nvdla_device_stop(struct nvdla_device *ndev)
{
	lockdep_assert_held(&ndev->lock);

	nvdla_jobs_stop(ndev);
	if (!ndev->dead)
		nvdla_device_write(ndev, NVDLA_GLB_S_INTR_MASK, ndev->variant->intr_mask);
}

/**
 * nvdla_device_reset_prepare() - the core is going to be reset, or to lose its power
 * @ndev: device; the lock of its parent, &device.mutex, is held
 *
 * Until nvdla_device_reset_done() nothing is started on the core.
 */
void nvdla_device_reset_prepare(struct nvdla_device *ndev)
{
	device_lock_assert(ndev->drm.dev);

	mutex_lock(&ndev->lock);
	/* The mask is not what a reset makes it, by which that can be told to have happened. */
	nvdla_device_stop(ndev);
	mutex_unlock(&ndev->lock);
}

/**
 * nvdla_device_reset_done() - the core was reset
 * @ndev: device; the lock of its parent, &device.mutex, is held
 * @error: 0, or -errno if that is known to have failed
 *
 * The job that was on the core ends, or starts again. If the core did not come
 * back, it is marked dead and later jobs fail.
 */
void nvdla_device_reset_done(struct nvdla_device *ndev, int error)
{
	device_lock_assert(ndev->drm.dev);

	mutex_lock(&ndev->lock);
	if (!error && !nvdla_hw_was_reset(ndev))
		error = -EIO;
	if (!error)
		error = nvdla_hw_start(ndev);
	mutex_unlock(&ndev->lock);

	if (error) {
		drm_err(&ndev->drm, "cannot reset the core: %d\n", error);
		nvdla_device_die(ndev);
	}

	mutex_lock(&ndev->lock);
	nvdla_sequencer_reset(ndev->seq);
	trace_nvdla_reset(ndev, error);
	atomic64_inc(&ndev->sram.losses);
	nvdla_jobs_start(ndev);
	mutex_unlock(&ndev->lock);
}

/**
 * nvdla_device_reset() - reset the core
 * @ndev: device; the lock of its parent, &device.mutex, is held
 */
void nvdla_device_reset(struct nvdla_device *ndev)
{
	int error;

	nvdla_device_reset_prepare(ndev);
	error = ndev->bus_ops->reset ? ndev->bus_ops->reset(ndev) : -EOPNOTSUPP;
	nvdla_device_reset_done(ndev, error);
}

/**
 * nvdla_device_force_reset() - reset the core for no reason of its own
 * @ndev: device
 *
 * The job on the core is not to blame: it starts again if it may. This is for a file in debugfs:
 * whoever removes the driver has the lock of the device's parent, and waits for those who have
 * such a file in use, so that the lock cannot simply be taken.
 *
 * Return: 0, -ENODEV if the device is being removed or does not come back, or -EOPNOTSUPP if
 * there is no reset.
 */
int nvdla_device_force_reset(struct nvdla_device *ndev)
{
	int ret;

	if (!ndev->bus_ops->reset)
		return -EOPNOTSUPP;

	ret = nvdla_pm_get(ndev);
	if (ret)
		return ret;

	while (!device_trylock(ndev->drm.dev)) {
		if (drm_dev_is_unplugged(&ndev->drm)) {
			ret = -ENODEV;
			goto out_put;
		}
		fsleep(1000);
	}
	if (!ndev->dead)
		nvdla_device_reset(ndev);
	ret = ndev->dead ? -ENODEV : 0;
	device_unlock(ndev->drm.dev);

out_put:
	nvdla_pm_put(ndev);
	return ret;
}

static void nvdla_sequencer_release(struct drm_device *drm, void *data)
{
	nvdla_sequencer_destroy(data);
}

/**
 * nvdla_device_alloc() - allocate a device
 * @parent: device on its bus; owns the memory and gets it as its driver data
 *
 * Return: the device or an ERR_PTR().
 */
struct nvdla_device *nvdla_device_alloc(struct device *parent)
{
	struct nvdla_device *ndev;

	ndev = devm_drm_dev_alloc(parent, &nvdla_drm_driver, struct nvdla_device, drm);
	if (!IS_ERR(ndev))
		dev_set_drvdata(parent, ndev);

	return ndev;
}

/* Only resources that the parent's devres or the DRM device releases by itself. */
static int nvdla_device_init_managed(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	struct nvdla_io io = nvdla_mmio;
	int ret;

	spin_lock_init(&ndev->counters.lock);
	nvdla_coredump_init(ndev);

	ret = drmm_mutex_init(&ndev->drm, &ndev->lock);
	if (ret)
		return ret;

	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(ndev->variant->address_bits));
	if (ret)
		return dev_err_probe(dev, ret, "no usable DMA addresses\n");
	dma_set_max_seg_size(dev, UINT_MAX);

	ret = nvdla_gem_init(ndev);
	if (ret)
		return ret;
	ret = nvdla_cbuf_init(ndev);
	if (ret)
		return dev_err_probe(dev, ret, "no memory to clear the core's buffers from\n");

	io.context = ndev;
	ret = nvdla_sequencer_create(ndev->variant, &io, &nvdla_job_sequencer_ops, ndev,
				     &ndev->seq);
	if (ret)
		return ret;
	ret = drmm_add_action_or_reset(&ndev->drm, nvdla_sequencer_release, ndev->seq);
	if (ret)
		return ret;

	ret = nvdla_job_init(ndev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot set up the job scheduler\n");

	ret = nvdla_sram_init(ndev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot set up the on-chip memory\n");

	ndev->stopped = true;
	/* Edge or level is for the bus to say. */
	ret = devm_request_threaded_irq(dev, ndev->irq, NULL, nvdla_irq_thread,
					IRQF_ONESHOT | IRQF_SHARED, dev_name(dev), ndev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot request interrupt %d\n", ndev->irq);
	return 0;
}

/**
 * nvdla_device_init() - bring up a core and register it
 * @ndev: device whose variant, bus_ops, regs and irq are set, and for which the
 *	bus holds a reference of runtime PM
 *
 * Return: 0 or -errno; nothing has to be undone then.
 */
int nvdla_device_init(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	int ret;

	ret = nvdla_device_init_managed(ndev);
	if (ret)
		return ret;

	ret = nvdla_pm_init(ndev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot start the core\n");

	ret = drm_dev_register(&ndev->drm, 0);
	if (ret) {
		nvdla_pm_fini(ndev);
		return dev_err_probe(dev, ret, "cannot register the accel device\n");
	}
	nvdla_debugfs_init(ndev);

	drm_info(&ndev->drm, "%s, hardware version %#x\n", ndev->variant->name,
		 ndev->hw_version);
	nvdla_pm_allow(ndev);
	return 0;
}

/**
 * nvdla_device_fini() - unregister a device
 * @ndev: device
 *
 * All jobs have ended when this returns, and no buffer is mapped for the device.
 * Files may stay open; whatever they ask for fails with -ENODEV.
 */
void nvdla_device_fini(struct nvdla_device *ndev)
{
	drm_dev_unplug(&ndev->drm);
	nvdla_pm_forbid(ndev);
	nvdla_job_fini(ndev);
	nvdla_pm_fini(ndev);
	nvdla_coredump_fini(ndev);
	nvdla_sram_fini(ndev);
	nvdla_gem_fini(ndev);
}
