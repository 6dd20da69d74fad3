/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_PROBE_H__
#define __NVDLA_PROBE_H__

struct device;
struct nvdla_device;

struct nvdla_device *nvdla_device_alloc(struct device *parent);
int nvdla_device_init(struct nvdla_device *ndev);
void nvdla_device_fini(struct nvdla_device *ndev);

#endif /* __NVDLA_PROBE_H__ */
