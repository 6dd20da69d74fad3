// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Contexts: the queues of an open file.
 *
 * The scheduler has an entity for each context. Context 0 is the file's own, from open to close.
 */
#include <linux/capability.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include <drm/drm_file.h>
#include <drm/nvdla_accel.h>

#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_file.h"

static const enum drm_sched_priority nvdla_sched_priorities[] = {
	[DRM_NVDLA_PRIORITY_LOW] = DRM_SCHED_PRIORITY_LOW,
	[DRM_NVDLA_PRIORITY_NORMAL] = DRM_SCHED_PRIORITY_NORMAL,
	[DRM_NVDLA_PRIORITY_HIGH] = DRM_SCHED_PRIORITY_HIGH,
};

/**
 * nvdla_context_priorities() - priorities that the calling process may use
 *
 * Return: bit n is set for enum drm_nvdla_priority n.
 */
u32 nvdla_context_priorities(void)
{
	u32 priorities = BIT(DRM_NVDLA_PRIORITY_LOW) | BIT(DRM_NVDLA_PRIORITY_NORMAL);

	if (nvdla_is_trusted())
		priorities |= BIT(DRM_NVDLA_PRIORITY_HIGH);
	return priorities;
}

static struct nvdla_context *nvdla_context_create(struct nvdla_device *ndev,
						  struct nvdla_file *file, u32 priority)
{
	struct drm_gpu_scheduler *sched = &ndev->sched;
	struct nvdla_context *context;
	int ret;

	context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	if (!context)
		return ERR_PTR(-ENOMEM);

	ret = drm_sched_entity_init(&context->entity, nvdla_sched_priorities[priority], &sched, 1,
				    NULL);
	if (ret) {
		kfree(context);
		return ERR_PTR(ret);
	}

	refcount_set(&context->refcount, 1);
	mutex_init(&context->submit_lock);
	context->file = nvdla_file_get(file);

	spin_lock(&file->lock);
	list_add(&context->link, &file->alive);
	spin_unlock(&file->lock);
	return context;
}

static void nvdla_context_free(struct nvdla_context *context)
{
	struct nvdla_file *file = context->file;

	spin_lock(&file->lock);
	list_del(&context->link);
	spin_unlock(&file->lock);

	/* Each job holds a reference, so the queue is empty here. */
	if (!context->killed)
		drm_sched_entity_fini(&context->entity);
	mutex_destroy(&context->submit_lock);
	kfree(context);
	nvdla_file_put(file);
}

/**
 * nvdla_context_put() - drop a reference
 * @context: context
 *
 * May sleep.
 */
void nvdla_context_put(struct nvdla_context *context)
{
	if (refcount_dec_and_test(&context->refcount))
		nvdla_context_free(context);
}

/**
 * nvdla_context_find() - look up a context by its number
 * @file: file
 * @id: number in this file, 0 for the file's own context
 *
 * Return: a reference to the context, or NULL if there is none.
 */
struct nvdla_context *nvdla_context_find(struct nvdla_file *file, u32 id)
{
	struct nvdla_context *context;

	xa_lock(&file->contexts);
	context = xa_load(&file->contexts, id);
	if (context)
		nvdla_context_get(context);
	xa_unlock(&file->contexts);
	return context;
}

/**
 * nvdla_contexts_open() - prepare a file for contexts, and create context 0
 * @ndev: device
 * @file: file
 *
 * Return: 0 or -errno; after an error nothing has to be undone.
 */
int nvdla_contexts_open(struct nvdla_device *ndev, struct nvdla_file *file)
{
	struct nvdla_context *context;
	int ret;

	xa_init_flags(&file->contexts, XA_FLAGS_ALLOC);
	spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->alive);

	context = nvdla_context_create(ndev, file, DRM_NVDLA_PRIORITY_NORMAL);
	if (IS_ERR(context))
		return PTR_ERR(context);

	ret = xa_insert(&file->contexts, 0, context, GFP_KERNEL);
	if (ret)
		nvdla_context_put(context);
	return ret;
}

/*
 * Takes a context off the list of a file and returns a reference to it, or NULL. A context whose
 * last reference is just being dropped is skipped: it has no jobs.
 */
static struct nvdla_context *nvdla_contexts_take(struct nvdla_file *file)
{
	struct nvdla_context *context, *found = NULL;

	spin_lock(&file->lock);
	list_for_each_entry(context, &file->alive, link) {
		if (refcount_inc_not_zero(&context->refcount)) {
			list_del_init(&context->link);
			found = context;
			break;
		}
	}
	spin_unlock(&file->lock);
	return found;
}

/**
 * nvdla_contexts_close() - end all contexts of a file
 * @file: file to which no thread submits any more
 *
 * Includes contexts that were destroyed. Unless the process is killed, jobs get some time to start;
 * jobs that have not started by then never run.
 */
void nvdla_contexts_close(struct nvdla_file *file)
{
	long timeout = MAX_WAIT_SCHED_ENTITY_Q_EMPTY;
	struct nvdla_context *context;
	unsigned long id;

	while ((context = nvdla_contexts_take(file))) {
		timeout = drm_sched_entity_flush(&context->entity, timeout);
		drm_sched_entity_fini(&context->entity);
		context->killed = true;
		nvdla_context_put(context);
	}

	xa_for_each(&file->contexts, id, context)
		nvdla_context_put(context);
	xa_destroy(&file->contexts);
}

int nvdla_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_context_create *args = data;
	struct nvdla_file *priv = file->driver_priv;
	struct nvdla_context *context;
	int ret;

	if (args->flags || args->reserved || args->priority > DRM_NVDLA_PRIORITY_HIGH)
		return -EINVAL;
	if (args->priority == DRM_NVDLA_PRIORITY_HIGH && !capable(CAP_SYS_NICE))
		return -EACCES;

	context = nvdla_context_create(to_nvdla_device(drm), priv, args->priority);
	if (IS_ERR(context))
		return PTR_ERR(context);

	ret = xa_alloc(&priv->contexts, &args->context, context,
		       XA_LIMIT(1, NVDLA_MAX_CONTEXTS), GFP_KERNEL_ACCOUNT);
	if (ret)
		nvdla_context_put(context);
	return ret == -EBUSY ? -ENOSPC : ret;
}

int nvdla_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_context_destroy *args = data;
	struct nvdla_file *priv = file->driver_priv;
	struct nvdla_context *context;

	if (args->reserved)
		return -EINVAL;

	context = args->context ? xa_erase(&priv->contexts, args->context) : NULL;
	if (!context)
		return -ENOENT;

	nvdla_context_put(context);
	return 0;
}
