/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The newest kernel's interfaces for older kernels, from 6.12 on.
 *
 * The driver is written for the newest kernel; this file defines the functions that an older
 * kernel lacks, under the newest kernel's names. The NVDLA_HAVE_* macros come from test compiles
 * (see Kbuild and compat/): stable kernels get interface changes too, so a version number proves
 * nothing. In a kernel tree this file is not used (scripts/upstream).
 */
#ifndef __NVDLA_COMPAT_H__
#define __NVDLA_COMPAT_H__

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>

/* Before 6.13 MODULE_IMPORT_NS() took the name without quotes. */
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, ns)

#ifndef NVDLA_HAVE_SCHED_INIT_ARGS
/* Contains only the members that the driver sets. */
struct drm_sched_init_args {
	const struct drm_sched_backend_ops *ops;
	struct workqueue_struct *submit_wq;
	struct workqueue_struct *timeout_wq;
	u32 num_rqs;
	u32 credit_limit;
	long timeout;
	const char *name;
	struct device *dev;
};

#define drm_sched_init(sched, args) \
	drm_sched_init(sched, (args)->ops, (args)->submit_wq, (args)->num_rqs, \
		       (args)->credit_limit, 0, (args)->timeout, (args)->timeout_wq, NULL, \
		       (args)->name, (args)->dev)
#endif

#ifndef NVDLA_HAVE_SCHED_JOB_CLIENT_ID
#define drm_sched_job_init(job, entity, credits, owner, client_id) \
	drm_sched_job_init(job, entity, credits, owner)
#endif

#if !IS_ENABLED(CONFIG_DRM_ACCEL)
/* Kernels without accel nodes, such as Debian's for riscv64 and arm64: use a render node. */
#define DRIVER_COMPUTE_ACCEL DRIVER_RENDER
#define accel_open drm_open
#endif

#ifndef NVDLA_HAVE_COPY_STRUCT_TO_USER
static inline int copy_struct_to_user(void __user *to, size_t user_size, const void *from,
				      size_t size, bool *ignored_trailing)
{
	size = min(user_size, size);
	if (copy_to_user(to, from, size) || clear_user(to + size, user_size - size))
		return -EFAULT;
	return 0;
}
#endif

#ifndef NVDLA_HAVE_VMA_IS_COW_MAPPING
static inline bool vma_is_cow_mapping(const struct vm_area_struct *vma)
{
	return is_cow_mapping(vma->vm_flags);
}
#endif

/*
 * For the end of a timedout_job callback: return the job to the scheduler, which took the job off
 * its list. The newest kernel does this itself.
 */
static inline enum drm_gpu_sched_stat nvdla_sched_keep_job(struct drm_sched_job *job)
{
#ifdef NVDLA_HAVE_SCHED_NO_HANG
	return DRM_GPU_SCHED_STAT_NO_HANG;
#else
	struct drm_gpu_scheduler *sched = job->sched;

	spin_lock(&sched->job_list_lock);
	list_add(&job->list, &sched->pending_list);
	spin_unlock(&sched->job_list_lock);
	/* The job may have ended meanwhile, and nothing else would free it. */
	queue_work(sched->submit_wq, &sched->work_free_job);
	return DRM_GPU_SCHED_STAT_NOMINAL;
#endif
}

#endif /* __NVDLA_COMPAT_H__ */
