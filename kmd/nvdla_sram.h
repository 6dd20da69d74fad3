/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_SRAM_H__
#define __NVDLA_SRAM_H__

#include <linux/types.h>

struct nvdla_bo;
struct nvdla_device;
struct nvdla_file;

u64 nvdla_max_sram(struct nvdla_device *ndev);
int nvdla_sram_init(struct nvdla_device *ndev);
void nvdla_sram_fini(struct nvdla_device *ndev);
struct nvdla_bo *nvdla_sram_create(struct nvdla_device *ndev, struct nvdla_file *file,
				   size_t size);

#endif /* __NVDLA_SRAM_H__ */
