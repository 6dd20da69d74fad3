/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_CONTEXT_H__
#define __NVDLA_CONTEXT_H__

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include <drm/gpu_scheduler.h>

struct drm_device;
struct drm_file;
struct nvdla_device;
struct nvdla_file;

/** NVDLA_MAX_CONTEXTS - contexts of one open file, besides context 0 */
#define NVDLA_MAX_CONTEXTS 64

/**
 * struct nvdla_context - a queue of jobs with a priority
 *
 * &nvdla_file.contexts and each job of the context hold a reference: a destroyed context is freed
 * with its last job.
 */
struct nvdla_context {
	/** @refcount: references of &nvdla_file.contexts and of jobs */
	refcount_t refcount;

	/** @file: file that owns the context; the context holds a reference */
	struct nvdla_file *file;

	/** @link: place in &nvdla_file.alive; protected by &nvdla_file.lock */
	struct list_head link;

	/** @entity: the scheduler's queue of jobs */
	struct drm_sched_entity entity;

	/** @submit_lock: keeps jobs in the order in which they got their fences */
	struct mutex submit_lock;

	/** @killed: the file was closed and @entity destroyed */
	bool killed;
};

static inline void nvdla_context_get(struct nvdla_context *context)
{
	refcount_inc(&context->refcount);
}

int nvdla_contexts_open(struct nvdla_device *ndev, struct nvdla_file *file);
void nvdla_contexts_close(struct nvdla_file *file);

struct nvdla_context *nvdla_context_find(struct nvdla_file *file, u32 id);
void nvdla_context_put(struct nvdla_context *context);
u32 nvdla_context_priorities(void);

int nvdla_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* __NVDLA_CONTEXT_H__ */
