// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Power: a core sleeps when it is not needed, and while the system sleeps.
 *
 * Users of the core hold a reference, nvdla_pm_get(): a job from its submit to its end, a buffer in
 * on-chip memory for as long as it exists. Without references, the core goes to sleep after
 * NVDLA_AUTOSUSPEND_MS and loses its registers.
 */
#include <linux/pm_runtime.h>

#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_pm.h"
#include "nvdla_run.h"

/* Longer than the pauses between the jobs of one inference. */
#define NVDLA_AUTOSUSPEND_MS 100

/* Starts the core. If it does not wake, it is marked dead, and all jobs fail. */
static void nvdla_pm_wake(struct nvdla_device *ndev)
{
	struct nvdla_hw *hw = &ndev->hw;
	int ret = 0;

	if (!hw->dead && hw->bus_ops->power_up)
		ret = hw->bus_ops->power_up(ndev->drm.dev);
	if (ret) {
		drm_err(&ndev->drm, "cannot power the core: %d\n", ret);
		mutex_lock(&hw->lock);
		hw->dead = true;
		mutex_unlock(&hw->lock);
	}

	nvdla_hw_start(hw);
	if (!hw->dead)
		ndev->awake = true;
}

static void nvdla_pm_sleep(struct nvdla_device *ndev)
{
	struct nvdla_hw *hw = &ndev->hw;

	if (!ndev->awake)
		return;

	ndev->awake = false;
	mutex_lock(&hw->lock);
	nvdla_hw_stop(hw);
	mutex_unlock(&hw->lock);

	if (hw->bus_ops->power_down)
		hw->bus_ops->power_down(ndev->drm.dev);
}

static int nvdla_pm_runtime_suspend(struct device *dev)
{
	nvdla_pm_sleep(dev_get_drvdata(dev));
	return 0;
}

static int nvdla_pm_runtime_resume(struct device *dev)
{
	nvdla_pm_wake(dev_get_drvdata(dev));
	return 0;
}

static void nvdla_pm_set_sleeping(struct nvdla_device *ndev, bool sleeping)
{
	mutex_lock(&ndev->hw.lock);
	ndev->hw.sleeping = sleeping;
	mutex_unlock(&ndev->hw.lock);
}

/*
 * Lets the job on the hardware end; a long or failed one is stopped, and ends or starts again at the
 * resume. No other job starts before. Until this callback jobs run normally, because drivers of
 * other devices may wait for jobs while they suspend.
 */
static int nvdla_pm_suspend(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	if (!ndev->awake)
		return 0;

	drm_sched_wqueue_stop(&ndev->sched);
	nvdla_pm_set_sleeping(ndev, true);
	nvdla_job_drain(&ndev->hw);
	nvdla_pm_sleep(ndev);
	return 0;
}

static int nvdla_pm_resume(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	if (pm_runtime_status_suspended(dev))
		return 0;

	atomic64_inc(&ndev->hw.sram_losses);
	nvdla_pm_set_sleeping(ndev, false);
	nvdla_pm_wake(ndev);
	drm_sched_wqueue_start(&ndev->sched);
	return 0;
}

const struct dev_pm_ops nvdla_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(nvdla_pm_suspend, nvdla_pm_resume)
	RUNTIME_PM_OPS(nvdla_pm_runtime_suspend, nvdla_pm_runtime_resume, NULL)
};

/**
 * nvdla_pm_init() - power the core and start it
 * @ndev: device that is active for runtime PM, with a reference of the bus; its interrupt is
 *	requested, and the core is stopped
 *
 * Return: 0 or -errno; after an error nothing has to be undone.
 */
int nvdla_pm_init(struct nvdla_device *ndev)
{
	nvdla_pm_wake(ndev);
	return ndev->hw.dead ? -ENODEV : 0;
}

/**
 * nvdla_pm_fini() - put the core to sleep for good
 * @ndev: device whose core is not in use
 *
 * Undoes nvdla_pm_init(). Devres would do this too late: a platform device may have left its
 * power domain by then.
 */
void nvdla_pm_fini(struct nvdla_device *ndev)
{
	nvdla_pm_sleep(ndev);
}

/* Lets the core sleep from now on: drops the bus's runtime PM reference. */
void nvdla_pm_allow(struct drm_device *drm)
{
	struct device *dev = drm->dev;

	pm_runtime_set_autosuspend_delay(dev, NVDLA_AUTOSUSPEND_MS);
	pm_runtime_use_autosuspend(dev);
	nvdla_pm_put(drm);
}

/* Keeps the core awake from now on: undoes nvdla_pm_allow(). */
void nvdla_pm_forbid(struct drm_device *drm)
{
	struct device *dev = drm->dev;

	pm_runtime_get_sync(dev);
	pm_runtime_dont_use_autosuspend(dev);
}

/**
 * nvdla_pm_get() - wake the core
 * @drm: device
 *
 * The core keeps its registers until nvdla_pm_put(), except over a sleep of the
 * whole system. May sleep.
 *
 * Return: 0, also for a core that is dead, or -ENODEV if the bus does not wake.
 */
int nvdla_pm_get(struct drm_device *drm)
{
	return pm_runtime_resume_and_get(drm->dev) < 0 ? -ENODEV : 0;
}

/* Drops a reference of nvdla_pm_get(): the caller does not need the core any more. */
void nvdla_pm_put(struct drm_device *drm)
{
	pm_runtime_mark_last_busy(drm->dev);
	pm_runtime_put_autosuspend(drm->dev);
}
