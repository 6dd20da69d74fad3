/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_PRIME_H__
#define __NVDLA_PRIME_H__

#include <linux/types.h>

struct dma_buf;
struct dma_buf_attachment;
struct drm_device;
struct drm_gem_object;
struct sg_table;

struct dma_buf *nvdla_prime_export(struct drm_gem_object *obj, int flags);

struct drm_gem_object *nvdla_prime_import(struct drm_device *drm, struct dma_buf *dma_buf);
struct drm_gem_object *nvdla_prime_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt);

#endif /* __NVDLA_PRIME_H__ */
