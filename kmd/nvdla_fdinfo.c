// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What an open file uses, in /proc/PID/fdinfo/FD; see the kernel's
 * Documentation/gpu/drm-usage-stats.rst.
 */
#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "nvdla_counters.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"

/**
 * nvdla_show_fdinfo() - print what a file used and uses
 * @p: where to
 * @file: open file
 */
void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(file->minor->dev);
	struct nvdla_file *priv = file->driver_priv;
	u32 type;

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		if (!(ndev->variant->engines & BIT(type)))
			continue;
		drm_printf(p, "drm-engine-%s:\t%llu ns\n", nvdla_engine_name(type),
			   nvdla_usage_busy_ns(&ndev->counters, &priv->usage, type));
	}
	drm_show_memory_stats(p, file);
}
