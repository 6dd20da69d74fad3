/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_REGISTERS_H__
#define __NVDLA_REGISTERS_H__

#include <linux/types.h>

#include "engine/nvdla_task.h"

struct drm_printer;
struct nvdla_device;

/* All that a core has, and a few more */
#define NVDLA_NUM_REGISTERS 448

/**
 * struct nvdla_register_dump - what registers held
 * @count: entries at @values
 * @values: in the order in which they were read; those that each register group has come twice,
 *	first all of group 0
 */
struct nvdla_register_dump {
	u32 count;
	struct nvdla_reg_write values[2 * NVDLA_NUM_REGISTERS];
};

void nvdla_registers_read(struct nvdla_device *ndev, u32 index, struct nvdla_register_dump *dump);
bool nvdla_registers_are_idle(struct nvdla_device *ndev);
void nvdla_registers_print(const struct nvdla_reg_write *values, u32 count, struct drm_printer *p);

#endif /* __NVDLA_REGISTERS_H__ */
