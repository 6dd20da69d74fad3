// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Brings up an NVDLA core that a bus driver found, up to the accel node, and takes it down again.
 */
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/timekeeping.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_dump.h"
#include "nvdla_gem.h"
#include "nvdla_pm.h"
#include "nvdla_probe.h"
#include "nvdla_run.h"
#include "nvdla_sched.h"
#include "nvdla_sram.h"

static u32 nvdla_reg_read(void *context, u32 reg)
{
	return nvdla_hw_read(context, reg);
}

static void nvdla_reg_write(void *context, u32 reg, u32 value)
{
	nvdla_hw_write(context, reg, value);
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

static irqreturn_t nvdla_irq_thread(int irq, void *data)
{
	bool cookie = dma_fence_begin_signalling();
	struct nvdla_hw *hw = data;
	bool handled;

	mutex_lock(&hw->lock);
	handled = nvdla_hw_attend(hw);
	mutex_unlock(&hw->lock);
	dma_fence_end_signalling(cookie);
	return IRQ_RETVAL(handled);
}

static void nvdla_sequencer_release(struct drm_device *drm, void *data)
{
	nvdla_sequencer_destroy(data);
}

/**
 * nvdla_device_alloc() - allocate a device
 * @parent: device on its bus; owns the memory and gets the pointer as its driver data
 *
 * Return: the device or an ERR_PTR().
 */
struct nvdla_device *nvdla_device_alloc(struct device *parent)
{
	struct nvdla_device *ndev;

	ndev = devm_drm_dev_alloc(parent, &nvdla_drm_driver, struct nvdla_device, drm);
	if (IS_ERR(ndev))
		return ndev;

	ndev->hw.drm = &ndev->drm;
	dev_set_drvdata(parent, ndev);
	return ndev;
}

/* Sets up only resources that the parent's devres or the DRM device releases by itself. */
static int nvdla_device_init_managed(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	struct nvdla_hw *hw = &ndev->hw;
	struct nvdla_io io = nvdla_mmio;
	int ret;

	spin_lock_init(&hw->counters.lock);
	nvdla_coredump_init(hw);

	ret = drmm_mutex_init(&ndev->drm, &hw->lock);
	if (ret)
		return ret;

	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(hw->variant->address_bits));
	if (ret)
		return dev_err_probe(dev, ret, "no usable DMA addresses\n");
	dma_set_max_seg_size(dev, UINT_MAX);

	ret = nvdla_gem_init(ndev);
	if (ret)
		return ret;
	ret = nvdla_cbuf_init(hw);
	if (ret)
		return dev_err_probe(dev, ret, "no memory to clear the core's buffers from\n");

	io.context = hw;
	ret = nvdla_sequencer_create(hw->variant, &io, &nvdla_job_sequencer_ops, hw, &hw->seq);
	if (ret)
		return ret;
	ret = drmm_add_action_or_reset(&ndev->drm, nvdla_sequencer_release, hw->seq);
	if (ret)
		return ret;

	ret = nvdla_job_init(ndev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot set up the job scheduler\n");

	ret = nvdla_sram_init(ndev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot set up the on-chip memory\n");

	hw->stopped = true;
	/* The bus has configured the trigger: edge or level. */
	ret = devm_request_threaded_irq(dev, ndev->irq, NULL, nvdla_irq_thread,
					IRQF_ONESHOT | IRQF_SHARED, dev_name(dev), hw);
	if (ret)
		return dev_err_probe(dev, ret, "cannot request interrupt %d\n", ndev->irq);
	return 0;
}

/**
 * nvdla_device_init() - bring up a core and register it
 * @ndev: device with irq and with hw's variant, bus_ops and regs set, for which the bus holds a
 *	runtime PM reference
 *
 * Return: 0 or -errno; after an error nothing has to be undone.
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

	drm_info(&ndev->drm, "%s, hardware version %#x\n", ndev->hw.variant->name,
		 ndev->hw.hw_version);
	nvdla_pm_allow(&ndev->drm);
	return 0;
}

/**
 * nvdla_device_fini() - unregister a device
 * @ndev: device
 *
 * All jobs have ended when this returns, and no buffer is mapped for the device. Files may stay
 * open; all their ioctls fail with -ENODEV.
 */
void nvdla_device_fini(struct nvdla_device *ndev)
{
	drm_dev_unplug(&ndev->drm);
	nvdla_pm_forbid(&ndev->drm);
	nvdla_job_fini(ndev);
	nvdla_pm_fini(ndev);
	nvdla_coredump_fini(&ndev->hw);
	nvdla_sram_fini(ndev);
	nvdla_gem_fini(ndev);
}
