// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DRM_IOCTL_NVDLA_SUBMIT: from user memory to a job in the scheduler.
 *
 * Everything is copied from user memory once and checked afterwards, so that
 * nothing user space writes later can change what was checked.
 */
#include <linux/dma-fence-chain.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include <drm/drm_exec.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>
#include <drm/drm_syncobj.h>
#include <drm/nvdla_accel.h>

#include "engine/nvdla_result.h"
#include "nvdla_compat.h"
#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_trace.h"

/**
 * struct nvdla_submit_task - one task while it is being checked
 * @source: copies of the descriptors, and the extents of the address table
 * @bo_index: per entry of the address table, its buffer in &nvdla_job.bos
 */
struct nvdla_submit_task {
	struct nvdla_task_source source;
	u32 *bo_index;
};

/**
 * struct nvdla_submit - one submit on its way into the scheduler
 * @ndev: device
 * @file: who submits
 * @args: the ioctl's argument
 * @job: the job; owned until it is pushed
 * @bo_of_handle: index into the job's buffers, by GEM handle
 * @bo_capacity: entries that fit into &nvdla_job.bos
 * @syncobjs: syncobjs to signal
 * @chains: for each of them the timeline node, NULL if it is a binary one
 * @points: for each of them the point on the timeline
 */
struct nvdla_submit {
	struct nvdla_device *ndev;
	struct drm_file *file;
	const struct drm_nvdla_submit *args;
	struct nvdla_job *job;
	struct xarray bo_of_handle;
	u32 bo_capacity;
	struct drm_syncobj **syncobjs;
	struct dma_fence_chain **chains;
	u64 *points;
};

/* Tells user space why a task was refused; the ioctl fails with -EINVAL anyway. */
static void nvdla_submit_report(struct nvdla_submit *submit, u32 task,
				const struct nvdla_task_error *why)
{
	struct drm_nvdla_error error = {
		.task = task,
		.operation = why->operation,
		.op_type = why->op_type,
		.value = why->value,
		.limit = why->limit,
	};
	size_t size = min_t(size_t, submit->args->error_size, sizeof(error));

	strscpy(error.field, why->field, sizeof(error.field));
	strscpy(error.reason, why->reason, sizeof(error.reason));

	drm_dbg(&submit->ndev->drm, "task %u operation %d: %s = %llu, limit %llu: %s\n", task,
		(int)why->operation, why->field, why->value, why->limit, why->reason);

	if (!submit->args->error)
		return;
	if (copy_to_user(u64_to_user_ptr(submit->args->error), &error, size))
		drm_dbg(&submit->ndev->drm, "cannot write the error to user memory\n");
}

/* Structures only grow, and no newer one is going to be larger than a page. */
static bool nvdla_submit_size_ok(u32 user_size, size_t size)
{
	return user_size >= size && user_size <= PAGE_SIZE;
}

static int nvdla_submit_bad_address(struct nvdla_submit *submit, u32 task, u32 index,
				    const char *member, u64 value, u64 limit,
				    const char *reason)
{
	struct nvdla_task_error why = {
		.operation = NVDLA_TASK_NO_OPERATION,
		.op_type = ~0U,
		.value = value,
		.limit = limit,
	};

	snprintf(why.field, sizeof(why.field), "addresses[%u].%s", index, member);
	strscpy(why.reason, reason, sizeof(why.reason));
	nvdla_submit_report(submit, task, &why);
	return -EINVAL;
}

static int nvdla_submit_bad_count(struct nvdla_submit *submit, u32 task, const char *member,
				  u32 value, u32 limit)
{
	struct nvdla_task_error why = {
		.operation = NVDLA_TASK_NO_OPERATION,
		.op_type = ~0U,
		.value = value,
		.limit = limit,
	};

	strscpy(why.field, member, sizeof(why.field));
	strscpy(why.reason, "not in the accepted range", sizeof(why.reason));
	nvdla_submit_report(submit, task, &why);
	return -EINVAL;
}

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
static int nvdla_submit_get_bo(struct nvdla_submit *submit, u32 handle)
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
	struct drm_gem_object *obj;
	u64 size;
	int bo;

	if (address->reserved)
		return nvdla_submit_bad_address(submit, task, index, "reserved",
						address->reserved, 0, "must be zero");
	if (!address->handle)
		return 0;

	bo = nvdla_submit_get_bo(submit, address->handle);
	if (bo == -ENOENT)
		return nvdla_submit_bad_address(submit, task, index, "handle", address->handle, 0,
						"no such buffer");
	if (bo < 0)
		return bo;

	obj = submit->job->bos[bo].obj;
	if (address->offset > obj->size)
		return nvdla_submit_bad_address(submit, task, index, "offset", address->offset,
						obj->size, "behind the end of the buffer");
	size = obj->size - address->offset;
	if (address->size > size)
		return nvdla_submit_bad_address(submit, task, index, "size", address->size, size,
						"behind the end of the buffer");

	extent->dma_addr = to_nvdla_bo(obj)->dma_addr + address->offset;
	extent->size = address->size ?: size;
	extent->mem_type = NVDLA_MEM_MC;
	extent->present = true;
	*bo_index = bo;
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

static int nvdla_submit_copy_array(const void **copy, u64 user, u32 count, size_t size)
{
	void *array;

	if (!count)
		return 0;

	array = vmemdup_array_user(u64_to_user_ptr(user), count, size);
	if (IS_ERR(array))
		return PTR_ERR(array);

	*copy = array;
	return 0;
}

static int nvdla_submit_copy(struct nvdla_task_source *source, const struct drm_nvdla_task *args)
{
	int ret;

	source->num_operations = args->num_operations;
	source->num_luts = args->num_luts;

	ret = nvdla_submit_copy_array((const void **)&source->graph, args->graph,
				      args->num_operations, sizeof(*source->graph));
	if (ret)
		return ret;
	ret = nvdla_submit_copy_array((const void **)&source->operations, args->operations,
				      args->num_operations, sizeof(*source->operations));
	if (ret)
		return ret;
	ret = nvdla_submit_copy_array((const void **)&source->surfaces, args->surfaces,
				      args->num_operations, sizeof(*source->surfaces));
	if (ret)
		return ret;
	return nvdla_submit_copy_array((const void **)&source->luts, args->luts, args->num_luts,
				       sizeof(*source->luts));
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
	struct nvdla_task_error why;
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
		nvdla_submit_report(submit, index, &why);
	if (ret)
		return ret;
	job->num_tasks = index + 1;

	for (i = 0; i < args->num_addresses; i++) {
		if (nvdla_task_access(job->tasks[index], i) & NVDLA_ACCESS_WRITE)
			job->bos[task->bo_index[i]].write = true;
	}
	return 0;
}

static int nvdla_submit_add_task(struct nvdla_submit *submit, u32 index)
{
	const struct drm_nvdla_submit *args = submit->args;
	struct nvdla_submit_task task = {};
	struct drm_nvdla_task task_args;
	int ret;

	ret = copy_struct_from_user(&task_args, sizeof(task_args),
				    u64_to_user_ptr(args->tasks) + (size_t)index * args->task_size,
				    args->task_size);
	if (ret)
		return ret;

	if (!task_args.num_operations || task_args.num_operations > NVDLA_TASK_MAX_OPERATIONS)
		return nvdla_submit_bad_count(submit, index, "num_operations",
					      task_args.num_operations, NVDLA_TASK_MAX_OPERATIONS);
	if (task_args.num_luts > NVDLA_TASK_MAX_LUTS)
		return nvdla_submit_bad_count(submit, index, "num_luts", task_args.num_luts,
					      NVDLA_TASK_MAX_LUTS);
	if (!task_args.num_addresses || task_args.num_addresses > NVDLA_TASK_MAX_ADDRESSES)
		return nvdla_submit_bad_count(submit, index, "num_addresses",
					      task_args.num_addresses, NVDLA_TASK_MAX_ADDRESSES);

	if (!nvdla_submit_size_ok(task_args.address_size, sizeof(struct drm_nvdla_address)))
		return nvdla_submit_bad_count(submit, index, "address_size",
					      task_args.address_size, PAGE_SIZE);

	ret = nvdla_submit_check_task(submit, index, &task_args, &task);
	nvdla_submit_free_task(&task);
	return ret;
}

/* Where the result goes; its size is known once all tasks are. */
static int nvdla_submit_add_result(struct nvdla_submit *submit)
{
	const struct drm_nvdla_submit *args = submit->args;
	struct nvdla_job *job = submit->job;
	u64 size, offset = args->result_offset;
	struct nvdla_bo *bo;
	void *vaddr;
	int index;

	if (!args->result_handle)
		return 0;

	index = nvdla_submit_get_bo(submit, args->result_handle);
	if (index < 0)
		return index;
	bo = to_nvdla_bo(job->bos[index].obj);

	size = nvdla_result_size(job->tasks, job->num_tasks);
	if (!IS_ALIGNED(offset, sizeof(u64)) || offset > bo->base.size ||
	    size > bo->base.size - offset) {
		drm_dbg(&submit->ndev->drm, "result of %llu bytes at %llu, buffer of %zu bytes\n",
			size, offset, bo->base.size);
		return -EINVAL;
	}

	vaddr = nvdla_bo_vmap(bo);
	if (!vaddr)
		return -ENOMEM;

	job->result = vaddr + offset;
	job->result_bo = bo;
	job->bos[index].write = true;
	return 0;
}

static int nvdla_submit_copy_sync(const struct nvdla_submit *submit, u64 user, u32 index,
				  struct drm_nvdla_sync *sync)
{
	int ret;

	ret = copy_struct_from_user(sync, sizeof(*sync),
				    u64_to_user_ptr(user) + (size_t)index * submit->args->sync_size,
				    submit->args->sync_size);
	if (ret)
		return ret;
	return sync->reserved ? -EINVAL : 0;
}

static int nvdla_submit_add_in_syncs(struct nvdla_submit *submit)
{
	struct drm_nvdla_sync sync;
	struct dma_fence *fence;
	u32 i;
	int ret;

	for (i = 0; i < submit->args->num_in_syncs; i++) {
		ret = nvdla_submit_copy_sync(submit, submit->args->in_syncs, i, &sync);
		if (ret)
			return ret;
		/* Not drm_sched_job_add_syncobj_dependency(), whose points have 32 bits. */
		ret = drm_syncobj_find_fence(submit->file, sync.handle, sync.point, 0, &fence);
		if (ret)
			return ret;
		ret = drm_sched_job_add_dependency(&submit->job->base, fence);
		if (ret)
			return ret;
	}
	return 0;
}

static int nvdla_submit_find_out_syncs(struct nvdla_submit *submit)
{
	u32 i, count = submit->args->num_out_syncs;
	struct drm_nvdla_sync sync;
	int ret;

	if (!count)
		return 0;

	submit->syncobjs = kcalloc(count, sizeof(*submit->syncobjs), GFP_KERNEL);
	submit->chains = kcalloc(count, sizeof(*submit->chains), GFP_KERNEL);
	submit->points = kcalloc(count, sizeof(*submit->points), GFP_KERNEL);
	if (!submit->syncobjs || !submit->chains || !submit->points)
		return -ENOMEM;

	for (i = 0; i < count; i++) {
		ret = nvdla_submit_copy_sync(submit, submit->args->out_syncs, i, &sync);
		if (ret)
			return ret;

		submit->syncobjs[i] = drm_syncobj_find(submit->file, sync.handle);
		if (!submit->syncobjs[i])
			return -ENOENT;

		submit->points[i] = sync.point;
		if (!sync.point)
			continue;
		submit->chains[i] = dma_fence_chain_alloc();
		if (!submit->chains[i])
			return -ENOMEM;
	}
	return 0;
}

static void nvdla_submit_signal_out_syncs(struct nvdla_submit *submit, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < submit->args->num_out_syncs; i++) {
		if (submit->chains[i]) {
			drm_syncobj_add_point(submit->syncobjs[i], submit->chains[i], fence,
					      submit->points[i]);
			submit->chains[i] = NULL;
		} else {
			drm_syncobj_replace_fence(submit->syncobjs[i], fence);
		}
	}
}

static void nvdla_submit_free_out_syncs(struct nvdla_submit *submit)
{
	u32 i;

	for (i = 0; submit->syncobjs && i < submit->args->num_out_syncs; i++) {
		if (submit->syncobjs[i])
			drm_syncobj_put(submit->syncobjs[i]);
		if (submit->chains)
			dma_fence_chain_free(submit->chains[i]);
	}
	kfree(submit->syncobjs);
	kfree(submit->chains);
	kfree(submit->points);
}

static int nvdla_submit_lock_bos(struct nvdla_submit *submit, struct drm_exec *exec)
{
	struct nvdla_job *job = submit->job;
	int ret = 0;
	u32 i;

	drm_exec_until_all_locked(exec) {
		for (i = 0; i < job->num_bos; i++) {
			/* Two handles may name one buffer. */
			ret = drm_exec_prepare_obj(exec, job->bos[i].obj, 1);
			if (ret)
				break;
		}
		drm_exec_retry_on_contention(exec);
		if (ret)
			return ret;
	}

	for (i = 0; i < job->num_bos; i++) {
		ret = drm_sched_job_add_implicit_dependencies(&job->base, job->bos[i].obj,
							      job->bos[i].write);
		if (ret)
			return ret;
	}
	return 0;
}

/* Nothing fails in here: the job's fence is promised from drm_sched_job_arm() on. */
static void nvdla_submit_push(struct nvdla_submit *submit)
{
	struct nvdla_job *job = submit->job;
	struct nvdla_context *context = job->context;
	struct dma_fence *fence;
	u32 i;

	/* The job takes its reference with it. */
	nvdla_context_get(context);
	mutex_lock(&context->submit_lock);

	drm_sched_job_arm(&job->base);
	fence = dma_fence_get(&job->base.s_fence->finished);

	for (i = 0; i < job->num_bos; i++)
		dma_resv_add_fence(job->bos[i].obj->resv, fence,
				   job->bos[i].write ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
	nvdla_submit_signal_out_syncs(submit, fence);
	trace_nvdla_job_queue(job);

	submit->job = NULL;
	drm_sched_entity_push_job(&job->base);

	mutex_unlock(&context->submit_lock);
	nvdla_context_put(context);
	dma_fence_put(fence);
}

static int nvdla_submit_queue(struct nvdla_submit *submit)
{
	struct nvdla_job *job = submit->job;
	struct drm_exec exec;
	int ret;

	ret = nvdla_sched_job_init(&job->base, &job->context->entity, job->context->file,
				   submit->file->client_id);
	if (ret)
		return ret;

	ret = nvdla_submit_add_in_syncs(submit);
	if (ret)
		goto err_cleanup;

	drm_exec_init(&exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES,
		      job->num_bos);
	ret = nvdla_submit_lock_bos(submit, &exec);
	if (!ret)
		nvdla_submit_push(submit);
	drm_exec_fini(&exec);
	if (ret)
		goto err_cleanup;

	return 0;

err_cleanup:
	drm_sched_job_cleanup(&job->base);
	return ret;
}

static int nvdla_submit_check_args(struct nvdla_submit *submit)
{
	const struct drm_nvdla_submit *args = submit->args;

	if (args->flags & ~(DRM_NVDLA_SUBMIT_STATISTICS | DRM_NVDLA_SUBMIT_RESTARTABLE))
		return -EINVAL;
	if (args->timeout_ms > NVDLA_MAX_TIMEOUT_MS)
		return -EINVAL;
	if (!args->result_handle &&
	    (args->result_offset || args->flags & DRM_NVDLA_SUBMIT_STATISTICS))
		return -EINVAL;
	if (!nvdla_submit_size_ok(args->task_size, sizeof(struct drm_nvdla_task)))
		return -EINVAL;
	if ((args->num_in_syncs || args->num_out_syncs) &&
	    !nvdla_submit_size_ok(args->sync_size, sizeof(struct drm_nvdla_sync)))
		return -EINVAL;
	if (!args->num_tasks || args->num_tasks > NVDLA_MAX_TASKS)
		return nvdla_submit_bad_count(submit, 0, "num_tasks", args->num_tasks,
					      NVDLA_MAX_TASKS);
	if (args->num_in_syncs > NVDLA_MAX_SYNCS)
		return nvdla_submit_bad_count(submit, 0, "num_in_syncs", args->num_in_syncs,
					      NVDLA_MAX_SYNCS);
	if (args->num_out_syncs > NVDLA_MAX_SYNCS)
		return nvdla_submit_bad_count(submit, 0, "num_out_syncs", args->num_out_syncs,
					      NVDLA_MAX_SYNCS);
	return 0;
}

static int nvdla_submit_create_job(struct nvdla_submit *submit)
{
	const struct drm_nvdla_submit *args = submit->args;
	struct nvdla_context *context;
	struct nvdla_job *job;

	context = nvdla_context_find(submit->file->driver_priv, args->context);
	if (!context)
		return -ENOENT;

	job = nvdla_job_create(submit->ndev, context, args->num_tasks);
	if (IS_ERR(job)) {
		nvdla_context_put(context);
		return PTR_ERR(job);
	}

	job->timeout = msecs_to_jiffies(args->timeout_ms ?: NVDLA_DEFAULT_TIMEOUT_MS);
	job->restartable = args->flags & DRM_NVDLA_SUBMIT_RESTARTABLE;
	submit->job = job;
	return 0;
}

int nvdla_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nvdla_submit submit = {
		.ndev = to_nvdla_device(drm),
		.file = file,
		.args = data,
	};
	u32 i;
	int ret;

	ret = nvdla_submit_check_args(&submit);
	if (ret)
		return ret;

	ret = nvdla_submit_create_job(&submit);
	if (ret)
		return ret;
	xa_init(&submit.bo_of_handle);

	ret = nvdla_submit_find_out_syncs(&submit);
	for (i = 0; !ret && i < submit.args->num_tasks; i++)
		ret = nvdla_submit_add_task(&submit, i);
	if (!ret)
		ret = nvdla_submit_add_result(&submit);
	if (!ret)
		ret = nvdla_submit_queue(&submit);

	nvdla_submit_free_out_syncs(&submit);
	xa_destroy(&submit.bo_of_handle);
	if (submit.job)
		nvdla_job_destroy(submit.job);
	return ret;
}
