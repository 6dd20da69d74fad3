// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The DRM side of the driver: files, ioctls and the accel node. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_accel.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include "engine/nvdla_args.h"
#include "nvdla_compat.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_fence.h"
#include "nvdla_file.h"
#include "nvdla_gem.h"
#include "nvdla_run.h"
#include "nvdla_sram.h"
#include "nvdla_submit.h"
#include "nvdla_user_task.h"

static void nvdla_query_device(struct nvdla_device *ndev, struct drm_nvdla_device_info *info)
{
	*info = (struct drm_nvdla_device_info){
		.hw_version = ndev->hw.hw_version,
		.max_operations = NVDLA_TASK_MAX_OPERATIONS,
		.max_luts = NVDLA_TASK_MAX_LUTS,
		.max_addresses = NVDLA_TASK_MAX_ADDRESSES,
		.max_tasks = NVDLA_MAX_TASKS,
		.default_timeout_ms = NVDLA_DEFAULT_TIMEOUT_MS,
		.max_timeout_ms = nvdla_is_trusted() ? NVDLA_MAX_TIMEOUT_MS : NVDLA_USER_TIMEOUT_MS,
		.max_jobs = NVDLA_MAX_JOBS,
		.cvsram_bytes = ndev->sram.size,
		.core_clock_hz = clk_get_rate(ndev->core_clk),
		.max_bo_bytes = NVDLA_BO_MAX_SIZE,
		.features = DRM_NVDLA_FEATURE_CONTEXTS | DRM_NVDLA_FEATURE_RESULTS |
			    DRM_NVDLA_FEATURE_STATISTICS | DRM_NVDLA_FEATURE_TIMELINE |
			    DRM_NVDLA_FEATURE_PRIME | DRM_NVDLA_FEATURE_WRITE_COMBINE |
			    DRM_NVDLA_FEATURE_PREPARED_TASKS |
			    (ndev->sram.size ? DRM_NVDLA_FEATURE_SRAM : 0),
		.priorities = nvdla_context_priorities(),
		.max_contexts = NVDLA_MAX_CONTEXTS,
		.max_sram_bytes = nvdla_max_sram(ndev),
		.max_task_bytes = NVDLA_MAX_TASK_BYTES,
	};
	nvdla_variant_tell(ndev->hw.variant, info);
}

static void nvdla_query_client(struct nvdla_device *ndev, struct nvdla_file *file,
			       struct drm_nvdla_client_info *info)
{
	*info = (struct drm_nvdla_client_info){
		.guilty_jobs = atomic64_read(&file->guilty_jobs),
		.innocent_jobs = atomic64_read(&file->innocent_jobs),
		.sram_losses = atomic64_read(&ndev->hw.sram_losses),
	};
}

static int nvdla_query_answer(struct drm_nvdla_dev_query *args, const void *answer, u32 size)
{
	u32 user_size = args->size;

	args->size = size;
	if (!args->pointer)
		return 0;
	return copy_struct_to_user(u64_to_user_ptr(args->pointer), user_size, answer, size, NULL);
}

/* Writing to user memory can block without limit, and an unplug must not wait for this ioctl. */
static int nvdla_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_dev_query *args = data;
	struct drm_nvdla_device_info device;
	struct drm_nvdla_client_info client;
	int idx;

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	nvdla_query_device(to_nvdla_device(drm), &device);
	nvdla_query_client(to_nvdla_device(drm), file->driver_priv, &client);
	drm_dev_exit(idx);

	switch (args->type) {
	case DRM_NVDLA_QUERY_DEVICE:
		return nvdla_query_answer(args, &device, sizeof(device));
	case DRM_NVDLA_QUERY_CLIENT:
		return nvdla_query_answer(args, &client, sizeof(client));
	default:
		return -EINVAL;
	}
}

/* Excludes a concurrent unplug, because the new file refers to the device. */
static int nvdla_open(struct drm_device *drm, struct drm_file *file)
{
	struct nvdla_file *priv;
	int ret, idx;

	priv = kzalloc(sizeof(*priv), GFP_KERNEL_ACCOUNT);
	if (!priv)
		return -ENOMEM;
	kref_init(&priv->refcount);
	priv->usage.client_id = file->client_id;
	nvdla_user_tasks_open(priv);

	ret = -ENODEV;
	if (drm_dev_enter(drm, &idx)) {
		ret = nvdla_contexts_open(to_nvdla_device(drm), priv);
		drm_dev_exit(idx);
	}
	if (ret)
		nvdla_file_put(priv);
	else
		file->driver_priv = priv;
	return ret;
}

/* Jobs of the file may still exist; each holds a reference to its context. */
static void nvdla_postclose(struct drm_device *drm, struct drm_file *file)
{
	struct nvdla_file *priv = file->driver_priv;

	nvdla_contexts_close(priv);
	nvdla_user_tasks_close(priv);
	nvdla_file_put(priv);
}

/* Prints a file's usage in /proc/PID/fdinfo/FD; see Documentation/gpu/drm-usage-stats.rst. */
static void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(file->minor->dev);
	struct nvdla_file *priv = file->driver_priv;
	u32 type;

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		if (!(ndev->hw.variant->engines & BIT(type)))
			continue;
		drm_printf(p, "drm-engine-%s:\t%llu ns\n", nvdla_engine_name(type),
			   nvdla_usage_busy_ns(&ndev->hw.counters, &priv->usage, type));
	}
	drm_show_memory_stats(p, file);
}

/*
 * After an unplug every ioctl returns -ENODEV, whatever its arguments. Ioctls that access user
 * memory or sleep for an unlimited time check for an unplug themselves.
 */
#define NVDLA_IOCTL_WRAPPER(func)						\
static int func##_plugged(struct drm_device *drm, void *data, struct drm_file *file)	\
{										\
	int ret, idx;								\
										\
	if (!drm_dev_enter(drm, &idx))						\
		return -ENODEV;							\
	ret = func(drm, data, file);						\
	drm_dev_exit(idx);							\
	return ret;								\
}

NVDLA_IOCTL_WRAPPER(nvdla_ioctl_bo_create)
NVDLA_IOCTL_WRAPPER(nvdla_ioctl_bo_mmap_offset)
NVDLA_IOCTL_WRAPPER(nvdla_ioctl_bo_fini)
NVDLA_IOCTL_WRAPPER(nvdla_ioctl_context_create)
NVDLA_IOCTL_WRAPPER(nvdla_ioctl_context_destroy)
NVDLA_IOCTL_WRAPPER(nvdla_ioctl_task_destroy)

#define NVDLA_IOCTL(n, func) DRM_IOCTL_DEF_DRV(NVDLA_##n, func, DRM_RENDER_ALLOW)

static const struct drm_ioctl_desc nvdla_ioctls[] = {
	NVDLA_IOCTL(DEV_QUERY, nvdla_ioctl_dev_query),
	NVDLA_IOCTL(BO_CREATE, nvdla_ioctl_bo_create_plugged),
	NVDLA_IOCTL(BO_MMAP_OFFSET, nvdla_ioctl_bo_mmap_offset_plugged),
	NVDLA_IOCTL(BO_PREP, nvdla_ioctl_bo_prep),
	NVDLA_IOCTL(BO_FINI, nvdla_ioctl_bo_fini_plugged),
	NVDLA_IOCTL(SUBMIT, nvdla_ioctl_submit),
	NVDLA_IOCTL(CONTEXT_CREATE, nvdla_ioctl_context_create_plugged),
	NVDLA_IOCTL(CONTEXT_DESTROY, nvdla_ioctl_context_destroy_plugged),
	NVDLA_IOCTL(TASK_CREATE, nvdla_ioctl_task_create),
	NVDLA_IOCTL(TASK_DESTROY, nvdla_ioctl_task_destroy_plugged),
};

static const struct file_operations nvdla_fops = {
	.owner = THIS_MODULE,
	DRM_ACCEL_FOPS,
	.show_fdinfo = drm_show_fdinfo,
};

const struct drm_driver nvdla_drm_driver = {
	.driver_features = DRIVER_COMPUTE_ACCEL | DRIVER_GEM | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = nvdla_open,
	.postclose = nvdla_postclose,
	.ioctls = nvdla_ioctls,
	.num_ioctls = ARRAY_SIZE(nvdla_ioctls),
	.fops = &nvdla_fops,
	.show_fdinfo = nvdla_show_fdinfo,
	.gem_prime_import = nvdla_prime_import,
	.gem_prime_import_sg_table = nvdla_prime_import_sg_table,
	.name = "nvdla",
	.desc = "NVIDIA Deep Learning Accelerator",
	.major = 1,
	.minor = 0,
};

static int __init nvdla_init(void)
{
	int ret;

	nvdla_sysfs_init();
	ret = nvdla_recovery_init();
	if (ret)
		return ret;

	ret = nvdla_pci_register();
	if (ret)
		goto err_recovery;

	ret = nvdla_platform_register();
	if (ret)
		goto err_pci;

	return 0;

err_pci:
	nvdla_pci_unregister();
err_recovery:
	nvdla_recovery_fini();
	return ret;
}
module_init(nvdla_init);

static void __exit nvdla_exit(void)
{
	nvdla_platform_unregister();
	nvdla_pci_unregister();
	nvdla_recovery_fini();
	nvdla_fences_fini();
}
module_exit(nvdla_exit);

MODULE_AUTHOR("NVDLA stack maintainers");
MODULE_DESCRIPTION("DRM accel driver for NVDLA");
MODULE_LICENSE("Dual MIT/GPL");
