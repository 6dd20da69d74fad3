// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * System memory of buffers.
 *
 * The core needs one range of DMA addresses. An IOMMU maps any pages to such a range; without one
 * the pages have to be contiguous, from CMA if available.
 *
 * Memory of dma_alloc_noncontiguous() would belong to the device: it has to be freed when the
 * driver is unbound, even if others still use it. Here the pages belong to the buffer, and only
 * their mapping to the device. Only the DMA API can allocate from CMA and reserved memory, so
 * contiguous memory is allocated with it, for a second device that has no driver. That device
 * lives as long as the DRM device, to which all buffers have a reference.
 */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/iommu.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/of.h>
#include <linux/of_device.h>
#include <linux/of_reserved_mem.h>
#include <linux/platform_device.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#ifdef CONFIG_X86
#include <asm/set_memory.h>
#endif

#include <drm/drm_managed.h>

#include "nvdla_device.h"
#include "nvdla_memory.h"

/* Charged to the allocating process. If memory is short, fails without starting the OOM killer. */
#define NVDLA_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_ZERO | __GFP_NOWARN)

/* For blocks of several pages: fails early, because the caller can use single pages instead. */
#define NVDLA_GFP_EASY (NVDLA_GFP & ~(__GFP_DIRECT_RECLAIM | __GFP_RETRY_MAYFAIL))

static void nvdla_memory_device_unregister(struct drm_device *drm, void *data)
{
	struct platform_device *owner = data;

	kfree(owner->dev.dma_range_map);
	of_reserved_mem_device_release(&owner->dev);
	platform_device_unregister(owner);
}

/**
 * nvdla_memory_init() - prepare a device for nvdla_memory_alloc()
 * @ndev: device whose DMA masks are set
 *
 * Return: 0 or -errno; after an error nothing has to be undone.
 */
int nvdla_memory_init(struct nvdla_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);
	const struct platform_device_info info = {
		.name = "nvdla-memory",
		.id = PLATFORM_DEVID_AUTO,
		.dma_mask = min_not_zero(dma_get_mask(dev), dev->bus_dma_limit),
	};
	struct platform_device *owner;
	struct device_node *region;
	bool reusable;
	int ret;

	if (domain && iommu_is_dma_domain(domain))
		return 0;

	owner = platform_device_register_full(&info);
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	set_dev_node(&owner->dev, dev_to_node(dev));
	ndev->memory_owner = &owner->dev;
	ret = drmm_add_action_or_reset(&ndev->drm, nvdla_memory_device_unregister, owner);
	if (ret)
		return ret;

	if (!dev_of_node(dev))
		return 0;
	/* Applies the core's dma-ranges: which memory it can access, and at which addresses. */
	ret = of_dma_configure(&owner->dev, dev->of_node, true);
	if (ret)
		return dev_err_probe(dev, ret, "cannot follow the device tree's dma-ranges\n");

	region = of_parse_phandle(dev->of_node, "memory-region", 0);
	if (!region)
		return 0;
	reusable = of_property_read_bool(region, "reusable");
	ndev->has_pool = of_property_read_bool(region, "no-map");
	of_node_put(region);
	if (!reusable && !ndev->has_pool) {
		dev_warn(dev, "the reserved memory is neither reusable nor no-map: buffers come from the system's\n");
		return 0;
	}
	ret = of_reserved_mem_device_init_by_idx(&owner->dev, dev->of_node, 0);
	return ret ? dev_err_probe(dev, ret, "cannot use the reserved memory\n") : 0;
}

/*
 * Memory of a pool may be no system memory, so its pages may have no struct page, and it is never
 * mapped cached. The DMA API does not check whether the core reaches the pool: done here.
 */
static int nvdla_memory_alloc_from_pool(struct nvdla_memory *memory, size_t size)
{
	memory->pool = dma_alloc_coherent(memory->owner, size, &memory->owner_addr, GFP_KERNEL);
	memory->write_combine = true;
	if (!memory->pool)
		return -ENOMEM;
	return memory->owner_addr + size - 1 > dma_get_mask(memory->owner) ? -ENXIO : 0;
}

static int nvdla_memory_alloc_contiguous(struct nvdla_memory *memory)
{
	struct page *page;
	unsigned int i;

	page = dma_alloc_pages(memory->owner, (size_t)memory->num_pages << PAGE_SHIFT,
			       &memory->owner_addr, DMA_BIDIRECTIONAL, NVDLA_GFP);
	if (!page)
		return -ENOMEM;

	for (i = 0; i < memory->num_pages; i++)
		memory->pages[i] = pfn_to_page(page_to_pfn(page) + i);
	return 0;
}

static int nvdla_memory_alloc_single(struct nvdla_memory *memory)
{
	u32 i = 0, j, order, most = MAX_PAGE_ORDER;
	struct page *page;

	/* Try large blocks first: scatter list and IOMMU page table then need fewer entries. */
	while (i < memory->num_pages) {
		order = min_t(u32, most, __fls(memory->num_pages - i));
		page = alloc_pages(order ? NVDLA_GFP_EASY : NVDLA_GFP, order);
		if (!page && !order)
			goto err_free;
		if (!page) {
			most = order - 1;
			continue;
		}
		split_page(page, order);
		for (j = 0; j < 1U << order; j++)
			memory->pages[i++] = page + j;
	}
	return 0;

err_free:
	while (i--)
		__free_page(memory->pages[i]);
	return -ENOMEM;
}

static void nvdla_memory_free_pages(struct nvdla_memory *memory)
{
	unsigned int i;

	if (memory->owner) {
		dma_free_pages(memory->owner, (size_t)memory->num_pages << PAGE_SHIFT,
			       memory->pages[0], memory->owner_addr, DMA_BIDIRECTIONAL);
		return;
	}
	for (i = 0; i < memory->num_pages; i++)
		__free_page(memory->pages[i]);
}

/*
 * Returns whether write-combined mappings are safe. They are not if the device would read stale
 * cache lines of the kernel's own mapping. On x86 that mapping becomes write-combined too;
 * elsewhere it stays cached, so the device must not snoop caches.
 */
static bool nvdla_memory_can_write_combine(struct device *dev)
{
	return IS_ENABLED(CONFIG_X86) || device_get_dma_attr(dev) == DEV_DMA_NON_COHERENT;
}

/* Makes the kernel's own mapping cached, because all mappings must have the same cache mode. */
static void nvdla_memory_set_cached(struct nvdla_memory *memory)
{
#ifdef CONFIG_X86
	set_pages_array_wb(memory->pages, memory->num_pages);
#endif
}

/*
 * On x86, set_pages_array_wc() returns -EINVAL if there is no memory to split a large page of the
 * kernel's mapping; some of the pages have changed then.
 */
static int nvdla_memory_set_write_combine(struct nvdla_memory *memory)
{
	memory->write_combine = true;
#ifdef CONFIG_X86
	if (set_pages_array_wc(memory->pages, memory->num_pages))
		return -ENOMEM;
#endif
	return 0;
}

/**
 * nvdla_memory_alloc() - allocate zeroed memory
 * @ndev: device that is going to use the memory
 * @memory: filled
 * @size: bytes, a multiple of the page size
 * @write_combine: make the CPU's mappings write-combined; ignored where the device would see stale
 *	data
 *
 * Return: 0 or -errno. In both cases the caller has to call nvdla_memory_free().
 */
int nvdla_memory_alloc(struct nvdla_device *ndev, struct nvdla_memory *memory, size_t size,
		       bool write_combine)
{
	int ret;

	memory->owner = ndev->memory_owner;
	memory->num_pages = size >> PAGE_SHIFT;
	if (ndev->has_pool)
		return nvdla_memory_alloc_from_pool(memory, size);

	if (memory->num_pages > totalram_pages())
		return -ENOMEM;
	memory->pages = kvmalloc_array(memory->num_pages, sizeof(*memory->pages),
				       GFP_KERNEL_ACCOUNT);
	if (!memory->pages)
		return -ENOMEM;

	if (memory->owner)
		ret = nvdla_memory_alloc_contiguous(memory);
	else
		ret = nvdla_memory_alloc_single(memory);
	if (ret) {
		kvfree(memory->pages);
		memory->pages = NULL;
		return ret;
	}

	if (write_combine && nvdla_memory_can_write_combine(ndev->drm.dev))
		return nvdla_memory_set_write_combine(memory);
	return 0;
}

/**
 * nvdla_memory_free() - free memory
 * @memory: memory without mappings; may have no pages
 */
void nvdla_memory_free(struct nvdla_memory *memory)
{
	if (memory->pool && !memory->leaked)
		dma_free_coherent(memory->owner, (size_t)memory->num_pages << PAGE_SHIFT,
				  memory->pool, memory->owner_addr);
	if (!memory->pages)
		return;

	if (!memory->leaked) {
		if (memory->write_combine)
			nvdla_memory_set_cached(memory);
		nvdla_memory_free_pages(memory);
	}
	kvfree(memory->pages);
}

/**
 * nvdla_memory_sg_table() - describe memory to the DMA API
 * @memory: memory
 *
 * Return: a table of the pages, empty for those of a pool, to be freed with sg_free_table() and
 * kfree(), or an ERR_PTR().
 */
struct sg_table *nvdla_memory_sg_table(const struct nvdla_memory *memory)
{
	struct sg_table *sgt;
	int ret;

	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL_ACCOUNT);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	if (memory->pool)
		return sgt;

	ret = sg_alloc_table_from_pages(sgt, memory->pages, memory->num_pages, 0,
					(size_t)memory->num_pages << PAGE_SHIFT,
					GFP_KERNEL_ACCOUNT);
	if (ret) {
		kfree(sgt);
		return ERR_PTR(ret);
	}
	return sgt;
}

/**
 * nvdla_memory_vmap() - map a part of memory into the kernel
 * @memory: memory
 * @first: index of the part's first page
 * @count: pages
 *
 * Return: the mapping, to be undone with nvdla_memory_vunmap(), or NULL.
 */
void *nvdla_memory_vmap(const struct nvdla_memory *memory, unsigned int first, unsigned int count)
{
	if (memory->pool)
		return memory->pool + ((size_t)first << PAGE_SHIFT);
	return vmap(memory->pages + first, count, VM_MAP,
		    memory->write_combine ? pgprot_writecombine(PAGE_KERNEL) : PAGE_KERNEL);
}

/* Undoes nvdla_memory_vmap(). @vaddr is any address in the mapping's first page. May sleep. */
void nvdla_memory_vunmap(const struct nvdla_memory *memory, void *vaddr)
{
	if (!memory->pool)
		vunmap(PTR_ALIGN_DOWN(vaddr, PAGE_SIZE));
}
