// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Faults to order, for tests of what the driver does about them. Only a driver that is
 * built with CONFIG_DRM_ACCEL_NVDLA_FAULTS has them.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/list.h>

#include "nvdla_device.h"
#include "nvdla_faults.h"
#include "nvdla_gem.h"

static const char * const nvdla_fault_names[NVDLA_NUM_FAULTS] = {
	[NVDLA_FAULT_INTERRUPT] = "lose_interrupt",
	[NVDLA_FAULT_TASK] = "fail_task",
	[NVDLA_FAULT_RESET] = "fail_reset",
	[NVDLA_FAULT_ADDRESS] = "wrong_address",
	[NVDLA_FAULT_TIMEOUT] = "slow_timeout",
};

/**
 * nvdla_faults_init() - nothing goes wrong for now
 * @faults: memory that was zeroed
 */
void nvdla_faults_init(struct nvdla_faults *faults)
{
#ifdef CONFIG_FAULT_INJECTION
	u32 fault;

	for (fault = 0; fault < NVDLA_NUM_FAULTS; fault++)
		faults->attr[fault] = (struct fault_attr)FAULT_ATTR_INITIALIZER;
#endif
}

/**
 * nvdla_faults_add_files() - let user space order faults
 * @faults: of the device
 * @root: the device's folder in debugfs
 */
void nvdla_faults_add_files(struct nvdla_faults *faults, struct dentry *root)
{
	struct dentry *folder = debugfs_create_dir("inject", root);
	u32 fault;

	for (fault = 0; fault < NVDLA_NUM_FAULTS; fault++)
		debugfs_create_atomic_t(nvdla_fault_names[fault], 0600, folder,
					&faults->count[fault]);
#ifdef CONFIG_FAULT_INJECTION
	folder = debugfs_create_dir("random", folder);
	for (fault = 0; fault < NVDLA_NUM_FAULTS; fault++)
		fault_create_debugfs_attr(nvdla_fault_names[fault], folder, &faults->attr[fault]);
#endif
}

/**
 * nvdla_fault_strikes() - does it go wrong now?
 * @faults: of the device
 * @fault: what could
 *
 * Return: true as often as somebody has asked for.
 */
bool nvdla_fault_strikes(struct nvdla_faults *faults, enum nvdla_fault fault)
{
	if (atomic_dec_if_positive(&faults->count[fault]) >= 0)
		return true;
#ifdef CONFIG_FAULT_INJECTION
	return should_fail(&faults->attr[fault], 1);
#else
	return false;
#endif
}

/**
 * nvdla_fault_in_address() - have a task programmed wrong, as no check would let it pass
 * @ndev: device
 * @addr: of a buffer of the task, which becomes that of the newest buffer of all clients
 */
void nvdla_fault_in_address(struct nvdla_device *ndev, u64 *addr)
{
	if (!nvdla_fault_strikes(&ndev->faults, NVDLA_FAULT_ADDRESS))
		return;

	mutex_lock(&ndev->bos_lock);
	*addr = list_first_entry(&ndev->bos, struct nvdla_bo, link)->dma_addr;
	mutex_unlock(&ndev->bos_lock);
}

/**
 * nvdla_fault_in_timeout() - take a while to come back from a timeout, as on a busy machine
 * @ndev: device
 */
void nvdla_fault_in_timeout(struct nvdla_device *ndev)
{
	if (nvdla_fault_strikes(&ndev->faults, NVDLA_FAULT_TIMEOUT))
		msleep(200);
}
