/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_PM_H__
#define __NVDLA_PM_H__

struct dev_pm_ops;
struct nvdla_device;

extern const struct dev_pm_ops nvdla_pm_ops;

int nvdla_pm_init(struct nvdla_device *ndev);
void nvdla_pm_fini(struct nvdla_device *ndev);

void nvdla_pm_allow(struct nvdla_device *ndev);
void nvdla_pm_forbid(struct nvdla_device *ndev);

int nvdla_pm_get(struct nvdla_device *ndev);
void nvdla_pm_put(struct nvdla_device *ndev);

#endif /* __NVDLA_PM_H__ */
