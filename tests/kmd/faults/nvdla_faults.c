// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Faults to order, for tests of what the driver does about them. This is linked into the driver
 * that tests load, see faults.mk; the driver's own sources know nothing of it. Files in debugfs
 * say how often each fault is to happen from now on.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/mutex.h>

#include <drm/drm_managed.h>

#include <nvdla/hw/registers.h>

#include "engine/nvdla_task.h"

#include "nvdla_device.h"
#include "nvdla_faults.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_run.h"

enum fault {
	LOSE_INTERRUPT,	/* an interrupt of the core is lost */
	FAIL_TASK,	/* a task that completed is taken for one that did not */
	FAIL_RESET,	/* the core does not come back from a reset */
	WRONG_ADDRESS,	/* an entry of an address table is taken for the newest buffer's */
	SLOW_TIMEOUT,	/* much happens before the scheduler knows that a timeout was handled */
	NUM_FAULTS,
};

static const char * const fault_names[NUM_FAULTS] = {
	[LOSE_INTERRUPT] = "lose_interrupt",
	[FAIL_TASK] = "fail_task",
	[FAIL_RESET] = "fail_reset",
	[WRONG_ADDRESS] = "wrong_address",
	[SLOW_TIMEOUT] = "slow_timeout",
};

/* Those of a device, and what the device has instead of the driver's operations. */
struct faults {
	struct nvdla_device *ndev;
	struct list_head link;
	atomic_t count[NUM_FAULTS];
	const struct nvdla_bus_ops *real_bus_ops;
	const struct drm_sched_backend_ops *real_sched_ops;
	struct nvdla_bus_ops bus_ops;
	struct drm_sched_backend_ops sched_ops;
	struct nvdla_sequencer_ops sequencer_ops;
};

static DEFINE_MUTEX(devices_lock);
static LIST_HEAD(devices);

static struct faults *faults_of(struct nvdla_hw *hw)
{
	return container_of(hw->bus_ops, struct faults, bus_ops);
}

static bool is_ordered(struct faults *faults, enum fault fault)
{
	return atomic_dec_if_positive(&faults->count[fault]) >= 0;
}

static int faulty_reset(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	struct faults *faults = faults_of(&ndev->hw);
	int ret = faults->real_bus_ops->reset(dev);

	return !ret && is_ordered(faults, FAIL_RESET) ? -EIO : ret;
}

static void forget_device(struct drm_device *drm, void *data)
{
	struct faults *faults = data;

	mutex_lock(&devices_lock);
	list_del(&faults->link);
	mutex_unlock(&devices_lock);
}

int __wrap_nvdla_device_init(struct nvdla_device *ndev)
{
	struct faults *faults = drmm_kzalloc(&ndev->drm, sizeof(*faults), GFP_KERNEL);

	if (!faults)
		return -ENOMEM;
	faults->ndev = ndev;
	faults->real_bus_ops = ndev->hw.bus_ops;
	faults->bus_ops = *ndev->hw.bus_ops;
	if (faults->bus_ops.reset)
		faults->bus_ops.reset = faulty_reset;
	ndev->hw.bus_ops = &faults->bus_ops;

	mutex_lock(&devices_lock);
	list_add(&faults->link, &devices);
	mutex_unlock(&devices_lock);
	return drmm_add_action_or_reset(&ndev->drm, forget_device, faults) ?:
	       __real_nvdla_device_init(ndev);
}

void __wrap_nvdla_debugfs_init(struct nvdla_device *ndev)
{
	struct dentry *folder;
	u32 fault;

	__real_nvdla_debugfs_init(ndev);
	folder = debugfs_create_dir("inject", ndev->drm.debugfs_root);
	for (fault = 0; fault < NUM_FAULTS; fault++)
		debugfs_create_atomic_t(fault_names[fault], 0600, folder,
					&faults_of(&ndev->hw)->count[fault]);
}

bool __wrap_nvdla_hw_attend(struct nvdla_hw *hw)
{
	u32 status = 0;

	/* Reads take time, and benchmarks have this driver, too. */
	if (atomic_read(&faults_of(hw)->count[LOSE_INTERRUPT]) && !hw->stopped && !hw->dead)
		status = nvdla_hw_read(hw, NVDLA_GLB_S_INTR_STATUS);
	if (!status || !is_ordered(faults_of(hw), LOSE_INTERRUPT))
		return __real_nvdla_hw_attend(hw);

	nvdla_hw_write(hw, NVDLA_GLB_S_INTR_STATUS, status);
	return true;
}

static void faulty_task_done(void *context, struct nvdla_task *task, int error)
{
	struct nvdla_hw *hw = context;

	if (!error && !hw->active->scrubbing && is_ordered(faults_of(hw), FAIL_TASK))
		error = -EIO;
	nvdla_job_sequencer_ops.task_done(context, task, error);
}

int __wrap_nvdla_sequencer_create(const struct nvdla_variant *variant, const struct nvdla_io *io,
				  const struct nvdla_sequencer_ops *ops, void *context,
				  struct nvdla_sequencer **sequencer)
{
	struct faults *faults = faults_of(context);

	faults->sequencer_ops = *ops;
	faults->sequencer_ops.task_done = faulty_task_done;
	return __real_nvdla_sequencer_create(variant, io, &faults->sequencer_ops, context,
					     sequencer);
}

static enum drm_gpu_sched_stat faulty_timedout(struct drm_sched_job *job)
{
	struct nvdla_device *ndev = container_of(job->sched, struct nvdla_device, sched);
	struct faults *faults = faults_of(&ndev->hw);
	enum drm_gpu_sched_stat stat = faults->real_sched_ops->timedout_job(job);

	if (is_ordered(faults, SLOW_TIMEOUT))
		msleep(200);
	return stat;
}

int __wrap_nvdla_job_init(struct nvdla_device *ndev)
{
	struct faults *faults = faults_of(&ndev->hw);
	int ret = __real_nvdla_job_init(ndev);

	if (ret)
		return ret;
	faults->real_sched_ops = ndev->sched.ops;
	faults->sched_ops = *ndev->sched.ops;
	faults->sched_ops.timedout_job = faulty_timedout;
	ndev->sched.ops = &faults->sched_ops;
	return 0;
}

/* Of the newest buffer of all clients of a device that is to get it wrong. */
static u64 wrong_address(u64 right)
{
	struct faults *faults;
	u64 address = right;

	mutex_lock(&devices_lock);
	list_for_each_entry(faults, &devices, link) {
		struct nvdla_device *ndev = faults->ndev;

		if (!is_ordered(faults, WRONG_ADDRESS))
			continue;
		mutex_lock(&ndev->bos_lock);
		address = list_first_entry(&ndev->bos, struct nvdla_bo, link)->dma_addr;
		mutex_unlock(&ndev->bos_lock);
	}
	mutex_unlock(&devices_lock);
	return address;
}

int __wrap_nvdla_args_extent(const struct drm_nvdla_address *address, u32 index,
			     const struct nvdla_task_extent *buffer,
			     struct nvdla_task_extent *extent, struct nvdla_refusal *why)
{
	struct nvdla_task_extent wrong;

	if (buffer) {
		wrong = *buffer;
		wrong.dma_addr = wrong_address(buffer->dma_addr);
		buffer = &wrong;
	}
	return __real_nvdla_args_extent(address, index, buffer, extent, why);
}
