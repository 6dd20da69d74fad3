/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_MEMORY_H__
#define __NVDLA_MEMORY_H__

#include <linux/types.h>

struct device;
struct nvdla_device;
struct page;
struct sg_table;

/**
 * struct nvdla_memory - system memory of a buffer
 *
 * The pages belong to the buffer and not to the device: they outlive the device as long as a
 * mapping of them exists.
 */
struct nvdla_memory {
	/** @pages: the pages, allocated at once and constant; NULL for those of a pool */
	struct page **pages;

	/** @num_pages: entries at @pages, or pages at @pool */
	unsigned int num_pages;

	/**
	 * @pool: the kernel's mapping of memory from a pool, see &nvdla_device.has_pool; or NULL
	 */
	void *pool;

	/** @owner: device that contiguous pages were allocated for, NULL for single pages */
	struct device *owner;

	/** @owner_addr: DMA address of the pages for @owner, needed to free them */
	dma_addr_t owner_addr;

	/** @leaked: the core may still access the pages, so nvdla_memory_free() does not free them */
	bool leaked;

	/** @write_combine: CPU mappings are write-combined, the kernel's own included */
	bool write_combine;
};

int nvdla_memory_init(struct nvdla_device *ndev);

int nvdla_memory_alloc(struct nvdla_device *ndev, struct nvdla_memory *memory, size_t size,
		       bool write_combine);
void nvdla_memory_free(struct nvdla_memory *memory);

struct sg_table *nvdla_memory_sg_table(const struct nvdla_memory *memory);
void *nvdla_memory_vmap(const struct nvdla_memory *memory, unsigned int first, unsigned int count);
void nvdla_memory_vunmap(const struct nvdla_memory *memory, void *vaddr);

#endif /* __NVDLA_MEMORY_H__ */
