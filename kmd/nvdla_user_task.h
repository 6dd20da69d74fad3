/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_USER_TASK_H__
#define __NVDLA_USER_TASK_H__

#include <linux/kref.h>
#include <linux/types.h>

struct drm_device;
struct drm_file;
struct nvdla_refusal;
struct drm_nvdla_task;
struct nvdla_file;
struct nvdla_prepared;
struct nvdla_task;
struct nvdla_task_source;

/**
 * struct nvdla_user_task - a prepared task for which user space has a handle
 *
 * The handle and each job that runs the task hold a reference.
 */
struct nvdla_user_task {
	/** @refcount: references of the handle and of jobs */
	struct kref refcount;

	/** @file: file that is charged for the task; the task holds a reference */
	struct nvdla_file *file;

	/** @prepared: the prepared task */
	struct nvdla_prepared *prepared;
};

void nvdla_user_tasks_open(struct nvdla_file *file);
void nvdla_user_tasks_close(struct nvdla_file *file);

struct nvdla_user_task *nvdla_user_task_find(struct nvdla_file *file, u32 handle);
void nvdla_user_task_put(struct nvdla_user_task *task);
void nvdla_user_tasks_free(struct nvdla_task **tasks, struct nvdla_user_task **user_tasks,
			   u32 count);

int nvdla_user_refuse(struct drm_device *drm, u64 user, u32 user_size, u32 task,
		      struct nvdla_refusal *why);
int nvdla_user_copy_array(const void **copy, u64 user, u32 count, u32 user_size, size_t size);
int nvdla_user_copy_task(struct nvdla_task_source *source, const struct drm_nvdla_task *args);
void nvdla_user_free_copy(struct nvdla_task_source *source);

int nvdla_ioctl_task_create(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_task_destroy(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* __NVDLA_USER_TASK_H__ */
