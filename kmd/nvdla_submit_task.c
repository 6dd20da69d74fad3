// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The tasks of a submit: descriptors are copied, addresses become extents of
 * buffers, and the engine checks the rest.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <drm/drm_gem.h>
#include <drm/nvdla_accel.h>

#include "engine/nvdla_args.h"
#include "nvdla_device.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_submit.h"

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
		bos = kvmalloc_array(capacity, sizeof(*bos), GFP_KERNEL);
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
	entry = xa_store(&submit->bo_of_handle, handle, xa_mk_value(ret), GFP_KERNEL);
	return xa_is_err(entry) ? xa_err(entry) : ret;
}

static int nvdla_submit_resolve(struct nvdla_submit *submit, u32 task, u32 index,
				const struct drm_nvdla_address *address,
				struct nvdla_task_extent *extent, u32 *bo_index)
{
	struct nvdla_task_extent buffer = { .present = true };
	struct drm_nvdla_error error;
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

	if (nvdla_args_extent(address, index, bo < 0 ? NULL : &buffer, extent, &error))
		return nvdla_submit_refuse(submit, task, &error);
	return 0;
}

static int nvdla_submit_resolve_all(struct nvdla_submit *submit, u32 index,
				    const struct drm_nvdla_task *args,
				    struct nvdla_submit_task *task)
{
	struct drm_nvdla_address address;
	struct nvdla_task_extent *extents;
	u32 i;
	int ret;

	extents = kvcalloc(args->num_addresses, sizeof(*extents), GFP_KERNEL);
	task->bo_index = kvcalloc(args->num_addresses, sizeof(*task->bo_index), GFP_KERNEL);
	task->source.extents = extents;
	task->source.num_extents = args->num_addresses;
	if (!extents || !task->bo_index)
		return -ENOMEM;

	for (i = 0; i < args->num_addresses; i++) {
		cond_resched();
		ret = copy_struct_from_user(&address, sizeof(address),
					    u64_to_user_ptr(args->addresses) +
					    (size_t)i * args->address_size,
					    args->address_size);
		if (ret)
			return ret;

		ret = nvdla_submit_resolve(submit, index, i, &address, &extents[i],
					   &task->bo_index[i]);
		if (ret)
			return ret;
	}

	return 0;
}

/* An array of @count elements, @user_size bytes each in user space's eyes, @size in ours. */
static int nvdla_submit_copy_array(const void **copy, u64 user, u32 count, u32 user_size,
				   size_t size)
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

	array = kvcalloc(count, size, GFP_KERNEL);
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

static int nvdla_submit_copy(struct nvdla_task_source *source, const struct drm_nvdla_task *args)
{
	int ret;

	source->num_operations = args->num_operations;
	source->num_luts = args->num_luts;

	ret = nvdla_submit_copy_array((const void **)&source->graph, args->graph,
				      args->num_operations, args->node_size,
				      sizeof(*source->graph));
	if (ret)
		return ret;
	ret = nvdla_submit_copy_array((const void **)&source->operations, args->operations,
				      args->num_operations, args->operation_size,
				      sizeof(*source->operations));
	if (ret)
		return ret;
	ret = nvdla_submit_copy_array((const void **)&source->surfaces, args->surfaces,
				      args->num_operations, args->surface_size,
				      sizeof(*source->surfaces));
	if (ret)
		return ret;
	return nvdla_submit_copy_array((const void **)&source->luts, args->luts, args->num_luts,
				       args->lut_size, sizeof(*source->luts));
}

static void nvdla_submit_free_task(struct nvdla_submit_task *task)
{
	kvfree(task->source.graph);
	kvfree(task->source.operations);
	kvfree(task->source.surfaces);
	kvfree(task->source.luts);
	kvfree(task->source.extents);
	kvfree(task->bo_index);
}

static int nvdla_submit_check_task(struct nvdla_submit *submit, u32 index,
				   const struct drm_nvdla_task *args,
				   struct nvdla_submit_task *task)
{
	struct nvdla_job *job = submit->job;
	struct drm_nvdla_error why;
	u32 i;
	int ret;

	ret = nvdla_submit_resolve_all(submit, index, args, task);
	if (ret)
		return ret;
	ret = nvdla_submit_copy(&task->source, args);
	if (ret)
		return ret;

	if (submit->args->flags & DRM_NVDLA_SUBMIT_STATISTICS ||
	    READ_ONCE(submit->ndev->counters.always))
		task->source.flags |= NVDLA_TASK_STATISTICS;
	ret = nvdla_task_create(submit->ndev->variant, &task->source, &why, &job->tasks[index]);
	if (ret == -EINVAL)
		return nvdla_submit_refuse(submit, index, &why);
	if (ret)
		return ret;
	job->num_tasks = index + 1;

	for (i = 0; i < args->num_addresses; i++) {
		if (nvdla_task_access(job->tasks[index], i) & NVDLA_ACCESS_WRITE)
			job->bos[task->bo_index[i]].write = true;
	}
	return 0;
}

int nvdla_submit_add_task(struct nvdla_submit *submit, u32 index)
{
	const struct drm_nvdla_submit *args = submit->args;
	struct nvdla_submit_task task = {};
	struct drm_nvdla_task task_args;
	struct drm_nvdla_error error;
	int ret;

	ret = copy_struct_from_user(&task_args, sizeof(task_args),
				    u64_to_user_ptr(args->tasks) + (size_t)index * args->task_size,
				    args->task_size);
	if (ret)
		return ret;

	if (nvdla_args_check_task(&task_args, &error))
		return nvdla_submit_refuse(submit, index, &error);

	ret = nvdla_submit_check_task(submit, index, &task_args, &task);
	nvdla_submit_free_task(&task);
	return ret;
}
