/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_SRAM_H__
#define __NVDLA_SRAM_H__

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <drm/drm_mm.h>

struct nvdla_bo;
struct nvdla_device;
struct nvdla_file;

/**
 * struct nvdla_sram - the on-chip memory of a core
 */
struct nvdla_sram {
	/** @base: its first address as the engines see it, constant */
	u64 base;

	/** @size: bytes, 0 if there is none; constant */
	u64 size;

	/** @lock: protects @mm */
	struct mutex lock;

	/** @mm: ranges of the buffers */
	struct drm_mm mm;

	/** @losses: number of times that its contents were lost */
	atomic64_t losses;
};

u64 nvdla_max_sram(struct nvdla_device *ndev);
int nvdla_sram_init(struct nvdla_device *ndev);
void nvdla_sram_fini(struct nvdla_device *ndev);
struct nvdla_bo *nvdla_sram_create(struct nvdla_device *ndev, struct nvdla_file *file,
				   size_t size);

#endif /* __NVDLA_SRAM_H__ */
