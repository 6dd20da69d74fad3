// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tasks of user space: descriptors in user memory, and prepared tasks with handles.
 *
 * A prepared task is a copy that was checked once. A submit adds an address table, and only the
 * table is checked then.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include "engine/nvdla_args.h"
#include "engine/nvdla_task.h"
#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_file.h"
#include "nvdla_user_task.h"

/**
 * nvdla_user_refuse() - report a violated rule to user space
 * @drm: device
 * @user: user address of a struct drm_nvdla_error, or 0
 * @user_size: bytes at @user
 * @task: index of the task
 * @why: the violated rule
 *
 * Return: -EINVAL.
 */
int nvdla_user_refuse(struct drm_device *drm, u64 user, u32 user_size, u32 task,
		      struct nvdla_refusal *why)
{
	struct drm_nvdla_error *error = &why->error;

	error->task = task;
	drm_dbg(drm, "task %u operation %d: byte %u of structure %u [%u]: %s (is %lld, limit %lld)\n",
		task, (int)error->operation, error->offset, error->member_of, error->index,
		why->rule, why->value, why->limit);

	if (user && copy_struct_to_user(u64_to_user_ptr(user), user_size, error, sizeof(*error),
					NULL))
		drm_dbg(drm, "cannot write the error to user memory\n");
	return -EINVAL;
}

/**
 * nvdla_user_copy_array() - copy an array whose elements may differ in size
 * @copy: set to the copy, or NULL; to be freed with kvfree() even after an error
 * @user: the array in user memory
 * @count: elements of the array
 * @user_size: bytes of an element for user space
 * @size: bytes of an element for the kernel
 *
 * Return: 0 or -errno.
 */
int nvdla_user_copy_array(const void **copy, u64 user, u32 count, u32 user_size, size_t size)
{
	void *array;
	u32 i;
	int ret;

	if (!count)
		return 0;

	if (user_size == size) {
		array = vmemdup_array_user(u64_to_user_ptr(user), count, size);
		if (IS_ERR(array))
			return PTR_ERR(array);
		*copy = array;
		return 0;
	}

	array = kvcalloc(count, size, GFP_KERNEL_ACCOUNT);
	if (!array)
		return -ENOMEM;
	*copy = array;

	for (i = 0; i < count; i++) {
		ret = copy_struct_from_user(array + i * size, size,
					    u64_to_user_ptr(user) + (size_t)i * user_size,
					    user_size);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * nvdla_user_copy_task() - copy the descriptors of a task
 * @source: gets the copies, to be freed with nvdla_user_free_copy() even after an error
 * @args: the task; its counts and sizes were checked
 *
 * Return: 0 or -errno.
 */
int nvdla_user_copy_task(struct nvdla_task_source *source, const struct drm_nvdla_task *args)
{
	const struct {
		const void **copy;
		u64 user;
		u32 count, user_size, size;
	} arrays[] = {
		{ (const void **)&source->graph, args->graph, args->num_operations,
		  args->node_size, sizeof(*source->graph) },
		{ (const void **)&source->operations, args->operations, args->num_operations,
		  args->operation_size, sizeof(*source->operations) },
		{ (const void **)&source->surfaces, args->surfaces, args->num_operations,
		  args->surface_size, sizeof(*source->surfaces) },
		{ (const void **)&source->luts, args->luts, args->num_luts,
		  args->lut_size, sizeof(*source->luts) },
	};
	u32 i;
	int ret = 0;

	source->num_operations = args->num_operations;
	source->num_luts = args->num_luts;
	source->num_extents = args->num_addresses;

	for (i = 0; !ret && i < ARRAY_SIZE(arrays); i++)
		ret = nvdla_user_copy_array(arrays[i].copy, arrays[i].user, arrays[i].count,
					    arrays[i].user_size, arrays[i].size);
	return ret;
}

/**
 * nvdla_user_free_copy() - free the copies of nvdla_user_copy_task()
 * @source: the copies
 */
void nvdla_user_free_copy(struct nvdla_task_source *source)
{
	kvfree(source->graph);
	kvfree(source->operations);
	kvfree(source->surfaces);
	kvfree(source->luts);
}

/**
 * nvdla_user_tasks_open() - set up the prepared tasks of a file
 * @file: file
 */
void nvdla_user_tasks_open(struct nvdla_file *file)
{
	xa_init_flags(&file->tasks, XA_FLAGS_ALLOC1);
}

/**
 * nvdla_user_tasks_close() - drop all prepared tasks of a file
 * @file: file to which no thread submits any more
 */
void nvdla_user_tasks_close(struct nvdla_file *file)
{
	struct nvdla_user_task *task;
	unsigned long handle;

	xa_for_each(&file->tasks, handle, task)
		nvdla_user_task_put(task);
	xa_destroy(&file->tasks);
}

static void nvdla_user_task_release(struct kref *refcount)
{
	struct nvdla_user_task *task = container_of(refcount, struct nvdla_user_task, refcount);
	struct nvdla_file *file = task->file;

	atomic64_sub(nvdla_prepared_bytes(task->prepared), &file->task_bytes);
	nvdla_prepared_destroy(task->prepared);
	kfree(task);
	nvdla_file_put(file);
}

/**
 * nvdla_user_task_put() - drop a reference
 * @task: prepared task
 *
 * May sleep.
 */
void nvdla_user_task_put(struct nvdla_user_task *task)
{
	kref_put(&task->refcount, nvdla_user_task_release);
}

/**
 * nvdla_user_tasks_free() - free tasks, and drop their prepared tasks
 * @tasks: array of @count tasks, any of which may be NULL; freed, too
 * @user_tasks: array of as many prepared tasks or NULL; freed, too
 * @count: tasks
 */
void nvdla_user_tasks_free(struct nvdla_task **tasks, struct nvdla_user_task **user_tasks,
			   u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		nvdla_task_destroy(tasks[i]);
		if (user_tasks[i])
			nvdla_user_task_put(user_tasks[i]);
	}
	kfree(user_tasks);
	kfree(tasks);
}

/**
 * nvdla_user_task_find() - look up a prepared task by its handle
 * @file: file
 * @handle: handle in this file
 *
 * Return: a reference to the prepared task, or NULL if there is none.
 */
struct nvdla_user_task *nvdla_user_task_find(struct nvdla_file *file, u32 handle)
{
	struct nvdla_user_task *task;

	xa_lock(&file->tasks);
	task = xa_load(&file->tasks, handle);
	if (task)
		kref_get(&task->refcount);
	xa_unlock(&file->tasks);
	return task;
}

/* Gives a prepared task a handle. Takes over @prepared on success. */
static int nvdla_user_task_publish(struct nvdla_file *file, struct nvdla_prepared *prepared,
				   u32 *handle)
{
	s64 bytes = nvdla_prepared_bytes(prepared);
	struct nvdla_user_task *task;
	int ret;

	task = kzalloc(sizeof(*task), GFP_KERNEL_ACCOUNT);
	if (!task)
		return -ENOMEM;
	kref_init(&task->refcount);
	task->prepared = prepared;

	if (atomic64_add_return(bytes, &file->task_bytes) > (s64)NVDLA_MAX_TASK_BYTES) {
		ret = -ENOSPC;
		goto err_bytes;
	}
	task->file = nvdla_file_get(file);

	/* From here on the handle may be destroyed. */
	ret = xa_alloc(&file->tasks, handle, task, xa_limit_31b, GFP_KERNEL_ACCOUNT);
	if (!ret)
		return 0;

	nvdla_file_put(file);
err_bytes:
	atomic64_sub(bytes, &file->task_bytes);
	kfree(task);
	return ret;
}

static int nvdla_user_task_prepare(struct nvdla_device *ndev,
				   const struct drm_nvdla_task_create *args,
				   const struct drm_nvdla_task *task,
				   struct nvdla_prepared **prepared)
{
	struct nvdla_task_source source = {};
	struct nvdla_refusal why;
	int ret;

	if (nvdla_args_check_template(task, &why))
		return nvdla_user_refuse(&ndev->drm, args->error, args->error_size, 0, &why);

	ret = nvdla_user_copy_task(&source, task);
	if (!ret)
		ret = nvdla_prepared_create(ndev->hw.variant, &source, &why, prepared);
	if (ret == -EINVAL)
		nvdla_user_refuse(&ndev->drm, args->error, args->error_size, 0, &why);
	nvdla_user_free_copy(&source);
	return ret;
}

int nvdla_ioctl_task_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_task_create *args = data;
	struct nvdla_prepared *prepared;
	struct drm_nvdla_task task;
	int ret;

	if (drm_dev_is_unplugged(drm))
		return -ENODEV;
	if (args->flags || args->task_size < NVDLA_MIN_TASK_SIZE ||
	    args->task_size > NVDLA_MAX_ELEMENT_SIZE)
		return -EINVAL;

	ret = copy_struct_from_user(&task, sizeof(task), u64_to_user_ptr(args->task),
				    args->task_size);
	if (!ret)
		ret = nvdla_user_task_prepare(to_nvdla_device(drm), args, &task, &prepared);
	if (ret)
		return ret;

	ret = nvdla_user_task_publish(file->driver_priv, prepared, &args->handle);
	if (ret)
		nvdla_prepared_destroy(prepared);
	return ret;
}

int nvdla_ioctl_task_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_task_destroy *args = data;
	struct nvdla_file *priv = file->driver_priv;
	struct nvdla_user_task *task;

	if (args->reserved)
		return -EINVAL;

	task = xa_erase(&priv->tasks, args->handle);
	if (!task)
		return -ENOENT;

	nvdla_user_task_put(task);
	return 0;
}
