/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_SRAM_H__
#define __NVDLA_SRAM_H__

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <drm/drm_mm.h>

#include <drm/nvdla_descriptors.h>

struct nvdla_bo;
struct nvdla_device;
struct nvdla_file;

/* Pages that one transfer clears: BDMA repeats a surface that often. */
#define NVDLA_SRAM_CLEAR_PAGES 8192U
/* Bytes that one operation can clear */
#define NVDLA_SRAM_CLEAR_MAX \
	((u64)NVDLA_BDMA_MAX_TRANSFERS * NVDLA_SRAM_CLEAR_PAGES << PAGE_SHIFT)

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

	/** @mm: which parts are taken */
	struct drm_mm mm;

	/** @zeroes: page in system memory that new buffers are cleared from */
	struct nvdla_bo *zeroes;

	/** @losses: times that what it held was lost */
	atomic64_t losses;
};

int nvdla_sram_init(struct nvdla_device *ndev);
void nvdla_sram_fini(struct nvdla_device *ndev);
struct nvdla_bo *nvdla_sram_create(struct nvdla_device *ndev, struct nvdla_file *file,
				   size_t size);
int nvdla_sram_clear(struct nvdla_device *ndev, struct nvdla_file *file, struct nvdla_bo *bo);

#endif /* __NVDLA_SRAM_H__ */
