/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Differences between the supported kernels, 6.12 to 7.3.
 *
 * The NVDLA_HAVE_* macros come from test compiles (see Kbuild and compat/):
 * stable kernels get interface changes too, so a version number proves nothing.
 * Sending the driver upstream means keeping the newer side of each choice.
 */
#ifndef __NVDLA_COMPAT_H__
#define __NVDLA_COMPAT_H__

#include <linux/mm.h>

#include <drm/gpu_scheduler.h>

#ifdef NVDLA_HAVE_IMPORT_NS_TOKEN
#define NVDLA_DMA_BUF_NAMESPACE DMA_BUF
#else
#define NVDLA_DMA_BUF_NAMESPACE "DMA_BUF"
#endif

static inline int nvdla_sched_init(struct drm_gpu_scheduler *sched,
				   const struct drm_sched_backend_ops *ops,
				   struct workqueue_struct *submit_wq,
				   struct workqueue_struct *timeout_wq, long timeout,
				   const char *name, struct device *dev)
{
#ifdef NVDLA_HAVE_SCHED_INIT_ARGS
	const struct drm_sched_init_args args = {
		.ops = ops,
		.submit_wq = submit_wq,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = 1,
		.timeout = timeout,
		.timeout_wq = timeout_wq,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#else
	return drm_sched_init(sched, ops, submit_wq, DRM_SCHED_PRIORITY_COUNT, 1, 0,
			      timeout, timeout_wq, NULL, name, dev);
#endif
}

/* For the end of a timedout_job callback: the scheduler took the job away, and has it again. */
static inline enum drm_gpu_sched_stat nvdla_sched_keep_job(struct drm_sched_job *job)
{
#ifdef NVDLA_HAVE_SCHED_NO_HANG
	return DRM_GPU_SCHED_STAT_NO_HANG;
#else
	struct drm_gpu_scheduler *sched = job->sched;

	spin_lock(&sched->job_list_lock);
	list_add(&job->list, &sched->pending_list);
	spin_unlock(&sched->job_list_lock);
	/* It may have ended in between, and nobody else would look again. */
	queue_work(sched->submit_wq, &sched->work_free_job);
	return DRM_GPU_SCHED_STAT_NOMINAL;
#endif
}

static inline int nvdla_sched_job_init(struct drm_sched_job *job,
				       struct drm_sched_entity *entity, void *owner,
				       u64 client_id)
{
#ifdef NVDLA_HAVE_SCHED_JOB_CLIENT_ID
	return drm_sched_job_init(job, entity, 1, owner, client_id);
#else
	return drm_sched_job_init(job, entity, 1, owner);
#endif
}

static inline bool nvdla_vma_is_cow_mapping(const struct vm_area_struct *vma)
{
#ifdef NVDLA_HAVE_VMA_IS_COW_MAPPING
	return vma_is_cow_mapping(vma);
#else
	return is_cow_mapping(vma->vm_flags);
#endif
}

#endif /* __NVDLA_COMPAT_H__ */
