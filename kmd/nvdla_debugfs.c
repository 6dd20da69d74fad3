// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * /sys/kernel/debug/accel/DEVICE: files for debugging, not an interface for programs.
 * Documentation/failed-jobs.md describes the files.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/pm_runtime.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_dump.h"
#include "nvdla_job.h"
#include "nvdla_pm.h"
#include "nvdla_run.h"

/* A sleeping core's registers cannot be read, and debugfs does not wake it. */
static int nvdla_registers_read_awake(struct nvdla_hw *hw, struct nvdla_register_dump *dump)
{
	int ret = 0;
	u32 unit;

	if (pm_runtime_get_if_active(hw->drm->dev) <= 0)
		return -EAGAIN;

	/* Locks for each unit anew: the core's interrupts can wait for one unit, not for all. */
	for (unit = 0; !ret && unit < NVDLA_NUM_UNITS; unit++) {
		mutex_lock(&hw->lock);
		/* Without clocks, or during a reset, a register read may hang. */
		if (hw->dead)
			ret = -ENODEV;
		else if (hw->stopped)
			ret = -EAGAIN;
		else
			nvdla_registers_read(hw, unit, dump);
		mutex_unlock(&hw->lock);
	}
	pm_runtime_put_autosuspend(hw->drm->dev);
	return ret;
}

static int nvdla_registers_show(struct seq_file *m, void *unused)
{
	struct drm_printer p = drm_seq_file_printer(m);
	struct nvdla_device *ndev = m->private;
	struct nvdla_register_dump *dump;
	int ret = -ENODEV, idx;

	dump = kzalloc(sizeof(*dump), GFP_KERNEL);
	if (!dump)
		return -ENOMEM;
	if (drm_dev_enter(&ndev->drm, &idx)) {
		ret = nvdla_registers_read_awake(&ndev->hw, dump);
		drm_dev_exit(idx);
	}
	if (!ret)
		nvdla_registers_print(dump->values, dump->count, &p);
	kfree(dump);
	return ret;
}
DEFINE_SHOW_ATTRIBUTE(nvdla_registers);

static int nvdla_queue_show(struct seq_file *m, void *unused)
{
	struct drm_printer p = drm_seq_file_printer(m);
	struct nvdla_device *ndev = m->private;
	struct nvdla_hw *hw = &ndev->hw;
	struct nvdla_sequencer_snapshot groups;
	struct nvdla_job_record record;
	u64 owner, scrubs;
	bool busy;

	mutex_lock(&hw->lock);
	owner = hw->cbuf_owner;
	scrubs = hw->num_scrubs;
	busy = hw->active;
	if (busy)
		nvdla_job_record_fill(&record, hw->active, hw->active->error);
	nvdla_sequencer_snapshot(hw->seq, &groups);
	mutex_unlock(&hw->lock);

	drm_printf(&p, "jobs: %d\n", atomic_read(&ndev->num_jobs));
	drm_printf(&p, "convolution buffer: of client %llu, cleared %llu times\n", owner, scrubs);
	if (busy)
		nvdla_job_record_print(&record, &p);
	nvdla_snapshot_print(&groups, &p);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvdla_queue);

static int nvdla_last_job_show(struct seq_file *m, void *unused)
{
	struct drm_printer p = drm_seq_file_printer(m);
	struct nvdla_device *ndev = m->private;
	struct nvdla_job_record record;

	mutex_lock(&ndev->hw.lock);
	record = ndev->hw.last_job;
	mutex_unlock(&ndev->hw.lock);

	/* A seqno of 0 means that there was no job yet: no fence has the number 0. */
	if (record.seqno)
		nvdla_job_record_print(&record, &p);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvdla_last_job);

/*
 * Resets the core on request. The job on the core is not to blame: it starts again if it is
 * restartable. Uses device_trylock() for the device on the bus: a removal of the driver holds
 * that lock while it waits for users of this file.
 */
static int nvdla_force_reset(struct nvdla_device *ndev)
{
	int ret;

	if (!ndev->hw.bus_ops->reset)
		return -EOPNOTSUPP;

	ret = nvdla_pm_get(&ndev->drm);
	if (ret)
		return ret;

	while (!device_trylock(ndev->drm.dev)) {
		if (drm_dev_is_unplugged(&ndev->drm)) {
			ret = -ENODEV;
			goto out_put;
		}
		fsleep(1000);
	}
	if (!ndev->hw.dead)
		nvdla_hw_reset(&ndev->hw);
	ret = ndev->hw.dead ? -ENODEV : 0;
	device_unlock(ndev->drm.dev);

out_put:
	nvdla_pm_put(&ndev->drm);
	return ret;
}

static ssize_t nvdla_reset_write(struct file *file, const char __user *buf, size_t count,
				 loff_t *pos)
{
	struct nvdla_device *ndev = file_inode(file)->i_private;
	int ret = nvdla_force_reset(ndev);

	return ret ?: count;
}

static const struct file_operations nvdla_reset_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = nvdla_reset_write,
};

/* Adds the files of a registered device. Unregistering the device removes them. */
void nvdla_debugfs_init(struct nvdla_device *ndev)
{
	struct dentry *root = ndev->drm.debugfs_root;

	debugfs_create_file("registers", 0400, root, ndev, &nvdla_registers_fops);
	debugfs_create_file("queue", 0400, root, ndev, &nvdla_queue_fops);
	debugfs_create_file("last_job", 0400, root, ndev, &nvdla_last_job_fops);
	debugfs_create_file("reset", 0200, root, ndev, &nvdla_reset_fops);
}
