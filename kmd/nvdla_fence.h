/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_FENCE_H__
#define __NVDLA_FENCE_H__

#include <linux/dma-fence.h>
#include <linux/spinlock_types.h>

/** struct nvdla_fence - fence of a job for all users except the scheduler */
struct nvdla_fence {
	/** @base: the fence; first member, because dma_fence_free() gets its address */
	struct dma_fence base;

	/** @lock: lock of @base, here because it has to live as long as @base */
	spinlock_t lock;

	/** @cb: callback with which the scheduler's fence signals @base */
	struct dma_fence_cb cb;
};

struct dma_fence *nvdla_fence_follow(struct nvdla_fence *fence, struct dma_fence *finished);
void nvdla_fences_fini(void);

#endif /* __NVDLA_FENCE_H__ */
