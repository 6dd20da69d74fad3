/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_PM_H__
#define __NVDLA_PM_H__

#include <linux/pm.h>

struct drm_device;
struct nvdla_device;

extern const struct dev_pm_ops nvdla_pm_ops;

int nvdla_pm_init(struct nvdla_device *ndev);
void nvdla_pm_fini(struct nvdla_device *ndev);
void nvdla_pm_allow(struct drm_device *drm);
void nvdla_pm_forbid(struct drm_device *drm);
int nvdla_pm_get(struct drm_device *drm);
void nvdla_pm_put(struct drm_device *drm);

#endif /* __NVDLA_PM_H__ */
