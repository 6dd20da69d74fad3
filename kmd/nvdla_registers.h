/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_REGISTERS_H__
#define __NVDLA_REGISTERS_H__

#include <linux/types.h>

struct drm_printer;
struct nvdla_device;
struct nvdla_register_dump;

struct nvdla_register_dump *nvdla_registers_read(struct nvdla_device *ndev, gfp_t gfp);
struct nvdla_register_dump *nvdla_registers_read_at_work(struct nvdla_device *ndev);
bool nvdla_registers_are_idle(struct nvdla_device *ndev);
void nvdla_registers_print(const struct nvdla_register_dump *dump, struct drm_printer *p);
void nvdla_register_print(u32 reg, u32 value, struct drm_printer *p);

#endif /* __NVDLA_REGISTERS_H__ */
