/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * As much of the kernel as the driver's job code needs to build in a test. Each header that it
 * includes is a copy of kernel_header.h, which includes this one.
 *
 * There is one thread: locks are nothing, and works run when a test says so.
 */
#ifndef NVDLA_TEST_KERNEL_H
#define NVDLA_TEST_KERNEL_H

#include <engine/user/kernel_api.h>

typedef u64 dma_addr_t;
typedef u64 phys_addr_t;
typedef s64 ktime_t;

#define __iomem
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define readl(address) (*(volatile u32 *)(address))
#define writel(value, address) ((void)(*(volatile u32 *)(address) = (value)))
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define IS_ENABLED(option) 0
#define GFP_NOWAIT 0U
#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define PAGE_ALIGN(size) round_up(size, PAGE_SIZE)
#define round_down(x, y) ((x) & ~((__typeof__(x))(y) - 1))
#define __ffs(word) ((unsigned int)__builtin_ctzl(word))
#define kzalloc(size, gfp) kvzalloc(size, gfp)
#define kfree(memory) kvfree(memory)

#define MAX_ERRNO 4095
#define IS_ERR(pointer) ((unsigned long)(pointer) >= (unsigned long)-MAX_ERRNO)
#define PTR_ERR(pointer) ((int)(long)(pointer))
#define ERR_PTR(error) ((void *)(long)(error))
#define ERR_CAST(pointer) ((void *)(pointer))

/* Numbers */

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define atomic_dec(v) ((v)->counter--)
#define atomic_read(v) ((v)->counter)
#define atomic64_read(v) ((v)->counter)
#define atomic64_inc(v) ((v)->counter++)

struct kref {
	int count;
};

#define kref_init(kref) ((kref)->count = 1)
#define kref_get(kref) ((kref)->count++)
#define kref_put(kref, release) (--(kref)->count ? (void)0 : release(kref))

typedef int refcount_t;
#define refcount_inc(count) ((*(count))++)

/* Locks and lists */

struct mutex {
	bool held;
};

typedef struct mutex spinlock_t;

#define mutex_lock(lock) ((lock)->held = true)
#define mutex_unlock(lock) ((lock)->held = false)
#define lockdep_assert_held(lock) ((void)(lock))

struct list_head {
	struct list_head *next, *prev;
};

#define INIT_LIST_HEAD(head) ((head)->next = (head)->prev = (head))
#define LIST_HEAD(name) struct list_head name = { &name, &name }

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	entry->next->prev = entry->prev->next = entry;
}

static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
}

#define list_entry_at(at, entry, member) container_of(at, __typeof__(*(entry)), member)
#define list_for_each_entry(entry, head, member)                                             \
	for ((entry) = list_entry_at((head)->next, entry, member); &(entry)->member != (head); \
	     (entry) = list_entry_at((entry)->member.next, entry, member))
#define list_for_each_entry_safe(entry, following, head, member)               \
	for ((entry) = list_entry_at((head)->next, entry, member);             \
	     (following) = list_entry_at((entry)->member.next, entry, member), \
	    &(entry)->member != (head);                                        \
	     (entry) = (following))

struct xarray {
	void *entries;
};

/* Time, which stands still unless a test moves it */

#define HZ 1000
extern unsigned long jiffies;
#define msecs_to_jiffies(ms) ((unsigned long)(ms))
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define fsleep(us) ((void)(us), jiffies++)
#define NSEC_PER_MSEC 1000000ULL
#define MAX_JIFFY_OFFSET ((~0UL >> 1) - 1)
#define nsecs_to_jiffies64(ns) ((ns) / NSEC_PER_MSEC)
#define ktime_get_ns() ((u64)jiffies * NSEC_PER_MSEC)

struct ratelimit_state {
	int dummy;
};

/* Works */

struct work_struct {
	void (*function)(struct work_struct *work);
	bool queued;
};

struct workqueue_struct {
	int dummy;
};

#define WQ_UNBOUND 0
#define WQ_HIGHPRI 0
#define WQ_MEM_RECLAIM 0
#define alloc_workqueue(...) ((struct workqueue_struct *)calloc(1, sizeof(struct workqueue_struct)))
#define destroy_workqueue(wq) free(wq)

static inline bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	const bool was_queued = work->queued;

	(void)wq;
	work->queued = true;
	return !was_queued;
}

#define INIT_WORK(work, what) ((work)->function = (what), (work)->queued = false)

/* Devices */

struct device {
	int dummy;
};

struct clk_bulk_data {
	void *clk;
};

struct drm_driver;

struct drm_device {
	struct device *dev;
	unsigned int references;
	bool unplugged;
	void (*release)(struct drm_device *drm, void *data);
	void *release_data;
};

#define device_lock_assert(dev) ((void)(dev))
#define device_lock(dev) ((void)(dev))
#define device_unlock(dev) ((void)(dev))
#define drm_dev_is_unplugged(drm) ((drm)->unplugged)
#define drm_dev_get(drm) ((drm)->references++)
#define drm_dev_put(drm) ((drm)->references--)
/* The driver's job code has one action. */
#define drmm_add_action_or_reset(drm, action, data) \
	((drm)->release = (action), (drm)->release_data = (data), 0)
#define drmm_mutex_init(drm, lock) ((lock)->held = false, 0)
#define drm_err_ratelimited(drm, ...) ((void)(drm))
#define drm_err(drm, ...) ((void)(drm))
#define drm_info(drm, ...) ((void)(drm))

#define CAP_SYS_NICE 0
#define init_user_ns ((int){ 0 })
#define ns_capable_noaudit(ns, capability) ((void)(ns), false)

/* Buffers, fences and the scheduler */

struct sg_table {
	int dummy;
};

struct drm_gem_object {
	struct drm_device *dev;
	unsigned int references;
	size_t size;
};

#define drm_gem_object_get(obj) ((obj)->references++)
#define drm_gem_object_put(obj) ((obj)->references--)

struct drm_mm {
	int dummy;
};

struct dma_fence {
	u64 context, seqno;
	int error;
	bool signalled;
};

#define dma_fence_set_error(fence, why) ((fence)->error = (why))
#define dma_fence_signal(fence) ((fence)->signalled = true)
#define dma_fence_begin_signalling() false
#define dma_fence_end_signalling(cookie) ((void)(cookie))

struct drm_sched_fence {
	struct dma_fence finished;
};

struct drm_sched_job {
	struct drm_sched_fence *s_fence;
};

struct drm_sched_entity {
	int dummy;
};

struct drm_gpu_scheduler {
	int dummy;
};

bool flush_work(struct work_struct *work);

/* Tracepoints, which nobody listens to */

#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...) __VA_ARGS__
#define DECLARE_EVENT_CLASS(...)
#define TRACE_EVENT(name, proto, ...)             \
	static inline void trace_##name(proto)    \
	{                                         \
	}
#define DEFINE_EVENT(class, name, proto, ...) TRACE_EVENT(name, TP_PROTO(proto))

#endif /* NVDLA_TEST_KERNEL_H */
