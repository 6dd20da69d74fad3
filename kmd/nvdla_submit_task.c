// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The tasks of a submit: descriptors are copied, addresses become extents of
 * buffers, and the engine checks the rest.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/nvdla_accel.h>

#include "engine/nvdla_args.h"
#include "engine/nvdla_task.h"
#include "nvdla_device.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_submit.h"
#include "nvdla_user_task.h"

/**
 * struct nvdla_submit_task - one task while it is being checked
 * @source: copies of the descriptors, and the extents of the address table
 * @bo_index: per entry of the address table, its buffer in &nvdla_job.bos
 */
struct nvdla_submit_task {
	struct nvdla_task_source source;
	u32 *bo_index;
};

static int nvdla_submit_add_bo(struct nvdla_submit *submit, struct drm_gem_object *obj)
{
	struct nvdla_job *job = submit->job;
	struct nvdla_job_bo *bos;
	u32 capacity;

	if (job->num_bos == submit->bo_capacity) {
		capacity = max(16U, submit->bo_capacity * 2);
		bos = kvmalloc_array(capacity, sizeof(*bos), GFP_KERNEL_ACCOUNT);
		if (!bos)
			return -ENOMEM;
		if (job->num_bos)
			memcpy(bos, job->bos, job->num_bos * sizeof(*bos));
		kvfree(job->bos);
		job->bos = bos;
		submit->bo_capacity = capacity;
	}

	job->bos[job->num_bos].obj = obj;
	job->bos[job->num_bos].write = false;
	job->num_bos++;
	return 0;
}

/* Returns the index of the handle's buffer among those of the job, or -errno. */
int nvdla_submit_get_bo(struct nvdla_submit *submit, u32 handle)
{
	struct drm_gem_object *obj;
	void *entry;
	int ret;

	entry = xa_load(&submit->bo_of_handle, handle);
	if (entry)
		return xa_to_value(entry);

	obj = drm_gem_object_lookup(submit->file, handle);
	if (!obj)
		return -ENOENT;

	ret = nvdla_submit_add_bo(submit, obj);
	if (ret) {
		drm_gem_object_put(obj);
		return ret;
	}

	/* From here on the job owns the reference. */
	ret = submit->job->num_bos - 1;
	entry = xa_store(&submit->bo_of_handle, handle, xa_mk_value(ret), GFP_KERNEL_ACCOUNT);
	return xa_is_err(entry) ? xa_err(entry) : ret;
}

static int nvdla_submit_resolve(struct nvdla_submit *submit, u32 task, u32 index,
				const struct drm_nvdla_address *address,
				struct nvdla_task_extent *extent, u32 *bo_index)
{
	struct nvdla_task_extent buffer = { .present = true };
	struct nvdla_refusal why;
	int bo = -ENOENT;

	if (address->handle) {
		bo = nvdla_submit_get_bo(submit, address->handle);
		if (bo < 0 && bo != -ENOENT)
			return bo;
	}
	if (bo >= 0) {
		struct nvdla_bo *nbo = to_nvdla_bo(submit->job->bos[bo].obj);

		buffer.dma_addr = nbo->dma_addr;
		buffer.size = nbo->base.size;
		buffer.mem_type = nbo->mem_type;
		*bo_index = bo;
	}

	if (nvdla_args_extent(address, index, bo < 0 ? NULL : &buffer, extent, &why))
		return nvdla_submit_refuse(submit, task, &why);
	return 0;
}

static int nvdla_submit_resolve_all(struct nvdla_submit *submit, u32 index,
				    const struct drm_nvdla_task *args,
				    struct nvdla_submit_task *task)
{
	const struct drm_nvdla_address *addresses = NULL;
	struct nvdla_task_extent *extents;
	u32 i;
	int ret;

	extents = kvcalloc(args->num_addresses, sizeof(*extents), GFP_KERNEL_ACCOUNT);
	task->bo_index = kvcalloc(args->num_addresses, sizeof(*task->bo_index),
				  GFP_KERNEL_ACCOUNT);
	task->source.extents = extents;
	task->source.num_extents = args->num_addresses;
	if (!extents || !task->bo_index)
		return -ENOMEM;

	ret = nvdla_user_copy_array((const void **)&addresses, args->addresses,
				    args->num_addresses, args->address_size, sizeof(*addresses));
	for (i = 0; !ret && i < args->num_addresses; i++) {
		cond_resched();
		ret = nvdla_submit_resolve(submit, index, i, &addresses[i], &extents[i],
					   &task->bo_index[i]);
	}

	kvfree(addresses);
	return ret;
}

static void nvdla_submit_free_task(struct nvdla_submit_task *task)
{
	nvdla_user_free_copy(&task->source);
	kvfree(task->source.extents);
	kvfree(task->bo_index);
}

/* A task with descriptors: everything is checked now. */
static int nvdla_submit_create_task(struct nvdla_submit *submit, const struct drm_nvdla_task *args,
				    struct nvdla_submit_task *task, struct nvdla_refusal *why,
				    struct nvdla_task **created)
{
	int ret;

	ret = nvdla_user_copy_task(&task->source, args);
	if (ret)
		return ret;
	return nvdla_task_create(submit->ndev->hw.variant, &task->source, why, created);
}

/* A prepared task: only the addresses are checked now. */
static int nvdla_submit_bind_task(struct nvdla_submit *submit, u32 index,
				  struct nvdla_submit_task *task, struct nvdla_refusal *why,
				  struct nvdla_task **created)
{
	const struct nvdla_user_task *user_task = submit->job->user_tasks[index];

	return nvdla_task_bind(user_task->prepared, task->source.extents, task->source.flags,
			       why, created);
}

static int nvdla_submit_check_task(struct nvdla_submit *submit, u32 index,
				   const struct drm_nvdla_task *args,
				   struct nvdla_submit_task *task)
{
	struct nvdla_job *job = submit->job;
	struct nvdla_refusal why;
	u32 i;
	int ret;

	ret = nvdla_submit_resolve_all(submit, index, args, task);
	if (ret)
		return ret;

	if (submit->args->flags & DRM_NVDLA_SUBMIT_STATISTICS ||
	    READ_ONCE(submit->ndev->hw.counters.always))
		task->source.flags |= NVDLA_TASK_STATISTICS;
	if (args->handle)
		ret = nvdla_submit_bind_task(submit, index, task, &why, &job->tasks[index]);
	else
		ret = nvdla_submit_create_task(submit, args, task, &why, &job->tasks[index]);
	if (ret == -EINVAL)
		return nvdla_submit_refuse(submit, index, &why);
	if (ret)
		return ret;
	nvdla_task_set_owner(job->tasks[index], submit->file->client_id);

	for (i = 0; i < args->num_addresses; i++) {
		if (nvdla_task_access(job->tasks[index], i) & NVDLA_ACCESS_WRITE)
			job->bos[task->bo_index[i]].write = true;
	}
	return 0;
}

static int nvdla_submit_find_task(struct nvdla_submit *submit, u32 index,
				  const struct drm_nvdla_task *args)
{
	struct nvdla_user_task **task = &submit->job->user_tasks[index];
	struct nvdla_refusal why;

	if (!args->handle)
		return 0;
	*task = nvdla_user_task_find(submit->file->driver_priv, args->handle);
	if (!*task)
		return -ENOENT;
	if (nvdla_args_check_prepared(args, nvdla_prepared_num_addresses((*task)->prepared),
				      &why))
		return nvdla_submit_refuse(submit, index, &why);
	return 0;
}

int nvdla_submit_add_task(struct nvdla_submit *submit, u32 index)
{
	const struct drm_nvdla_submit *args = submit->args;
	struct nvdla_submit_task task = {};
	struct drm_nvdla_task task_args;
	struct nvdla_refusal why;
	int ret;

	ret = copy_struct_from_user(&task_args, sizeof(task_args),
				    u64_to_user_ptr(args->tasks) + (size_t)index * args->task_size,
				    args->task_size);
	if (ret)
		return ret;

	if (nvdla_args_check_task(&task_args, &why))
		return nvdla_submit_refuse(submit, index, &why);

	/* From here on nvdla_job_destroy() frees the task. */
	submit->job->num_tasks = index + 1;
	ret = nvdla_submit_find_task(submit, index, &task_args);
	if (!ret)
		ret = nvdla_submit_check_task(submit, index, &task_args, &task);
	nvdla_submit_free_task(&task);
	return ret;
}
