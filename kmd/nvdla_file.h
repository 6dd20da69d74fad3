/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_FILE_H__
#define __NVDLA_FILE_H__

#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>

#include "nvdla_counters.h"

/**
 * struct nvdla_file - one open of the accel node
 *
 * The open file and each context hold a reference; each job holds one to its context.
 */
struct nvdla_file {
	/** @refcount: references of the open file and of contexts */
	struct kref refcount;

	/** @contexts: contexts that jobs can be submitted to, by their number */
	struct xarray contexts;

	/** @tasks: prepared tasks by their handles */
	struct xarray tasks;

	/** @num_jobs: jobs that have not ended, including those that are just being submitted */
	atomic_t num_jobs;

	/** @task_bytes: memory of prepared tasks, including those whose handle was destroyed */
	atomic64_t task_bytes;

	/** @lock: protects @alive */
	spinlock_t lock;

	/** @alive: all contexts, including destroyed ones that still have jobs */
	struct list_head alive;

	/** @usage: time that the file's jobs kept the engines busy */
	struct nvdla_usage usage;

	/** @guilty_jobs: jobs of the file that failed and had the core reset */
	atomic64_t guilty_jobs;

	/** @innocent_jobs: jobs of the file that a reset for another reason took off the core */
	atomic64_t innocent_jobs;
};

static inline struct nvdla_file *nvdla_file_get(struct nvdla_file *file)
{
	kref_get(&file->refcount);
	return file;
}

static inline void nvdla_file_release(struct kref *refcount)
{
	kfree(container_of(refcount, struct nvdla_file, refcount));
}

static inline void nvdla_file_put(struct nvdla_file *file)
{
	kref_put(&file->refcount, nvdla_file_release);
}

/* Returns whether the caller has CAP_SYS_NICE, without an audit record: queries call this, too. */
static inline bool nvdla_is_trusted(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_NICE);
}

#endif /* __NVDLA_FILE_H__ */
