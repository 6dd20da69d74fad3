// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Power: a core sleeps when nobody needs it, and while the system does.
 *
 * Users of the core hold a reference, nvdla_pm_get(): a job from its submit
 * to its end, a buffer in on-chip memory for as long as it exists. Without any,
 * the core goes to sleep after a while and forgets its registers.
 */
#include <linux/pm_runtime.h>

#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_job.h"

/* Longer than the gaps between the jobs of one inference. */
#define NVDLA_AUTOSUSPEND_MS 100

/* A core that does not wake is dead: nothing touches it any more, and jobs fail. */
static void nvdla_pm_wake(struct nvdla_device *ndev)
{
	int ret = 0;

	if (!ndev->dead && ndev->bus_ops->power_up)
		ret = ndev->bus_ops->power_up(ndev);

	mutex_lock(&ndev->lock);
	if (ret) {
		drm_err(&ndev->drm, "cannot power the core: %d\n", ret);
		ndev->dead = true;
	}
	if (ndev->dead)
		nvdla_jobs_start(ndev);
	mutex_unlock(&ndev->lock);

	if (!ndev->dead)
		nvdla_device_start(ndev);
	if (ndev->dead)
		return;

	ndev->awake = true;
}

static void nvdla_pm_sleep(struct nvdla_device *ndev)
{
	if (!ndev->awake)
		return;

	ndev->awake = false;
	mutex_lock(&ndev->lock);
	nvdla_device_stop(ndev);
	mutex_unlock(&ndev->lock);

	if (ndev->bus_ops->power_down)
		ndev->bus_ops->power_down(ndev);
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
	mutex_lock(&ndev->lock);
	ndev->sleeping = sleeping;
	mutex_unlock(&ndev->lock);
}

/*
 * The job that is on the hardware ends or is taken off it, and no other takes its place before
 * the system is back. Until here jobs run as ever: other drivers' devices are on
 * their way to sleep too, and may wait for them first.
 */
static int nvdla_pm_suspend(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	if (!ndev->awake)
		return 0;

	drm_sched_wqueue_stop(&ndev->sched);
	nvdla_pm_set_sleeping(ndev, true);
	nvdla_job_drain(ndev);
	nvdla_pm_sleep(ndev);
	return 0;
}

static int nvdla_pm_resume(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	if (pm_runtime_status_suspended(dev))
		return 0;

	atomic64_inc(&ndev->sram.losses);
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
 * @ndev: device that is active for runtime PM, which the bus holds a reference
 *	of; its interrupt is requested, and the core is stopped
 *
 * Return: 0 or -errno; nothing has to be undone then.
 */
int nvdla_pm_init(struct nvdla_device *ndev)
{
	nvdla_pm_wake(ndev);
	return ndev->dead ? -ENODEV : 0;
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

/**
 * nvdla_pm_allow() - let the core sleep from now on
 * @ndev: device; the bus's reference of runtime PM goes
 */
void nvdla_pm_allow(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;

	pm_runtime_set_autosuspend_delay(dev, NVDLA_AUTOSUSPEND_MS);
	pm_runtime_use_autosuspend(dev);
	nvdla_pm_put(ndev);
}

/**
 * nvdla_pm_forbid() - keep the core awake from now on
 * @ndev: device
 *
 * Undoes nvdla_pm_allow().
 */
void nvdla_pm_forbid(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;

	pm_runtime_get_sync(dev);
	pm_runtime_dont_use_autosuspend(dev);
}

/**
 * nvdla_pm_get() - wake the core
 * @ndev: device
 *
 * The core keeps its registers until nvdla_pm_put(), except over a sleep of the
 * whole system. May sleep.
 *
 * Return: 0, also for a core that is dead, or -ENODEV if the bus does not wake.
 */
int nvdla_pm_get(struct nvdla_device *ndev)
{
	return pm_runtime_resume_and_get(ndev->drm.dev) < 0 ? -ENODEV : 0;
}

/**
 * nvdla_pm_put() - the caller of nvdla_pm_get() does not need the core any more
 * @ndev: device
 */
void nvdla_pm_put(struct nvdla_device *ndev)
{
	pm_runtime_mark_last_busy(ndev->drm.dev);
	pm_runtime_put_autosuspend(ndev->drm.dev);
}
