// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * /sys/kernel/debug/accel/DEVICE: files for debugging, not an interface for programs.
 * Documentation/failed-jobs.md describes the files.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/pm_runtime.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_dump.h"
#include "nvdla_job.h"

/* A sleeping core has no registers, and a reader of the file does not wake it. */
static int nvdla_registers_read_awake(struct nvdla_device *ndev, struct nvdla_register_dump *dump)
{
	int ret = 0;
	u32 unit;

	if (pm_runtime_get_if_active(ndev->drm.dev) <= 0)
		return -EAGAIN;

	/* The core's interrupts can wait for one unit, not for all of them. */
	for (unit = 0; !ret && unit < NVDLA_NUM_UNITS; unit++) {
		mutex_lock(&ndev->lock);
		/* Without clocks, or in the middle of a reset, a read may not come back. */
		if (ndev->dead)
			ret = -ENODEV;
		else if (ndev->stopped)
			ret = -EAGAIN;
		else
			nvdla_registers_read(ndev, unit, dump);
		mutex_unlock(&ndev->lock);
	}
	pm_runtime_put_autosuspend(ndev->drm.dev);
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
		ret = nvdla_registers_read_awake(ndev, dump);
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
	struct nvdla_sequencer_snapshot groups;
	struct nvdla_job_record record;
	u64 owner, scrubs;
	bool busy;

	mutex_lock(&ndev->lock);
	owner = ndev->cbuf_owner;
	scrubs = ndev->num_scrubs;
	busy = ndev->active;
	if (busy)
		nvdla_job_record_fill(&record, ndev->active, ndev->active->error);
	nvdla_sequencer_snapshot(ndev->seq, &groups);
	mutex_unlock(&ndev->lock);

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

	mutex_lock(&ndev->lock);
	record = ndev->last_job;
	mutex_unlock(&ndev->lock);

	/* No fence has the number 0. */
	if (record.seqno)
		nvdla_job_record_print(&record, &p);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvdla_last_job);

static ssize_t nvdla_reset_write(struct file *file, const char __user *buf, size_t count,
				 loff_t *pos)
{
	struct nvdla_device *ndev = file_inode(file)->i_private;
	int ret = nvdla_device_force_reset(ndev);

	return ret ?: count;
}

static const struct file_operations nvdla_reset_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = nvdla_reset_write,
};

/**
 * nvdla_debugfs_init() - add the files of a device
 * @ndev: device that is registered; they go when it is unregistered
 */
void nvdla_debugfs_init(struct nvdla_device *ndev)
{
	struct dentry *root = ndev->drm.debugfs_root;

	debugfs_create_file("registers", 0400, root, ndev, &nvdla_registers_fops);
	debugfs_create_file("queue", 0400, root, ndev, &nvdla_queue_fops);
	debugfs_create_file("last_job", 0400, root, ndev, &nvdla_last_job_fops);
	debugfs_create_file("reset", 0200, root, ndev, &nvdla_reset_fops);
}
