// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What a client's jobs reach where the core has an IOMMU for itself: a domain for each open file.
 *
 * The kernel's own domain gives every buffer its address, as for any device. The domain of
 * a file has, at the same addresses, only what the file has handles of and what its jobs
 * use. A buffer that two files share has one address in both.
 */
#include <linux/iommu.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/property.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include <drm/nvdla_descriptors.h>

#include "nvdla_device.h"
#include "nvdla_domain.h"
#include "nvdla_gem.h"

/**
 * struct nvdla_mapping - a buffer in a domain
 * @link: place in &nvdla_bo.mappings, under &nvdla_device.bos_lock
 * @domain: the domain, which outlives it
 * @users: handles and jobs of the client that have the buffer
 */
struct nvdla_mapping {
	struct list_head link;
	struct nvdla_domain *domain;
	u32 users;
};

/*
 * Called in interrupts, by those IOMMU drivers that report faults: that of Arm's SMMU, for
 * example. Those of x86 only write a line to the log.
 */
static int nvdla_domain_fault(struct iommu_domain *iommu, struct device *dev, unsigned long addr,
			      int flags, void *token)
{
	struct nvdla_domain *domain = token;

	WRITE_ONCE(domain->faulted, true);
	drm_err_ratelimited(&domain->ndev->drm, "%s %#lx, which is not memory of client %llu\n",
			    flags & IOMMU_FAULT_WRITE ? "write to" : "read of", addr,
			    domain->client_id);
	drm_sched_fault(&domain->ndev->sched);
	return 0;
}

/**
 * nvdla_domain_create() - make a domain that has no memory
 * @ndev: device; the caller is between drm_dev_enter() and drm_dev_exit(), or removes it
 * @client_id: &drm_file.client_id of whom it is for, 0 for the driver itself
 *
 * Return: the domain, NULL if there is no second wall, or an ERR_PTR().
 */
struct nvdla_domain *nvdla_domain_create(struct nvdla_device *ndev, u64 client_id)
{
	struct nvdla_domain *domain;
	struct iommu_domain *iommu;

	if (!ndev->iommu.dma)
		return NULL;

	domain = kzalloc(sizeof(*domain), GFP_KERNEL_ACCOUNT);
	if (!domain)
		return ERR_PTR(-ENOMEM);

	iommu = iommu_paging_domain_alloc(ndev->drm.dev);
	if (IS_ERR(iommu)) {
		kfree(domain);
		return ERR_CAST(iommu);
	}

	kref_init(&domain->refcount);
	domain->ndev = ndev;
	domain->iommu = iommu;
	domain->client_id = client_id;
	iommu_set_fault_handler(iommu, nvdla_domain_fault, domain);
	return domain;
}

static void nvdla_domain_release(struct kref *refcount)
{
	struct nvdla_domain *domain = container_of(refcount, struct nvdla_domain, refcount);

	iommu_domain_free(domain->iommu);
	kfree(domain);
}

/**
 * nvdla_domain_put() - give up a reference
 * @domain: domain without memory, or NULL
 */
void nvdla_domain_put(struct nvdla_domain *domain)
{
	if (domain)
		kref_put(&domain->refcount, nvdla_domain_release);
}

/* The pages that a buffer lies in. */
static dma_addr_t nvdla_bo_first(const struct nvdla_bo *bo)
{
	return round_down(bo->dma_addr, PAGE_SIZE);
}

static size_t nvdla_bo_span(const struct nvdla_bo *bo)
{
	return round_up(bo->dma_addr + bo->base.size, PAGE_SIZE) - nvdla_bo_first(bo);
}

/* Where memory that the kernel's domain has at an address lies, and how far it goes on there. */
static phys_addr_t nvdla_iommu_find(struct iommu_domain *dma, dma_addr_t addr, size_t most,
				    size_t *bytes)
{
	phys_addr_t phys = iommu_iova_to_phys(dma, addr);

	*bytes = PAGE_SIZE;
	while (*bytes < most && iommu_iova_to_phys(dma, addr + *bytes) == phys + *bytes)
		*bytes += PAGE_SIZE;
	return phys;
}

static void nvdla_domain_clear(struct nvdla_domain *domain, dma_addr_t first, size_t bytes)
{
	mutex_lock(&domain->ndev->iommu.tables);
	iommu_unmap(domain->iommu, first, bytes);
	mutex_unlock(&domain->ndev->iommu.tables);
}

/*
 * Mapping allocates, and who changes the core's domain must not wait for that: no lock keeps the
 * two apart. But an IOMMU driver tells the IOMMU of a mapping only if the core is in the domain,
 * and of those that the domain has already when the core comes there. It may miss one that is made
 * while the core is on its way, so that is made again.
 */
static int nvdla_domain_map_range(struct nvdla_domain *domain, dma_addr_t addr, phys_addr_t phys,
				  size_t bytes, int prot)
{
	struct mutex *tables = &domain->ndev->iommu.tables;
	bool missed;
	u32 entries;
	int ret;

	do {
		mutex_lock(tables);
		entries = domain->entries;
		mutex_unlock(tables);

		ret = iommu_map(domain->iommu, addr, phys, bytes, prot, GFP_KERNEL_ACCOUNT);
		if (ret)
			return ret;

		mutex_lock(tables);
		missed = domain->entries != entries;
		if (missed)
			iommu_unmap(domain->iommu, addr, bytes);
		mutex_unlock(tables);
	} while (missed);
	return 0;
}

/* The exporter of a dma-buf need not have told where its pages are: the kernel's domain knows. */
static int nvdla_domain_fill(struct nvdla_domain *domain, const struct nvdla_bo *bo)
{
	struct nvdla_device *ndev = domain->ndev;
	const dma_addr_t first = nvdla_bo_first(bo);
	const size_t span = nvdla_bo_span(bo);
	int prot = IOMMU_READ | IOMMU_WRITE;
	size_t done, bytes;
	phys_addr_t phys;
	int ret;

	if (device_get_dma_attr(ndev->drm.dev) != DEV_DMA_NON_COHERENT)
		prot |= IOMMU_CACHE;

	for (done = 0; done < span; done += bytes) {
		phys = nvdla_iommu_find(ndev->iommu.dma, first + done, span - done, &bytes);
		ret = phys ? nvdla_domain_map_range(domain, first + done, phys, bytes, prot) :
			     -EFAULT;
		if (ret) {
			nvdla_domain_clear(domain, first, done);
			return ret;
		}
	}
	return 0;
}

static struct nvdla_mapping *nvdla_bo_find_mapping(struct nvdla_bo *bo,
						   const struct nvdla_domain *domain)
{
	struct nvdla_mapping *mapping;

	list_for_each_entry(mapping, &bo->mappings, link)
		if (mapping->domain == domain)
			return mapping;
	return NULL;
}

static int nvdla_mapping_create(struct nvdla_domain *domain, struct nvdla_bo *bo)
{
	struct nvdla_mapping *mapping;
	int ret;

	/* The device has gone. */
	if (!bo->sgt)
		return -ENODEV;

	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	if (!mapping)
		return -ENOMEM;

	ret = nvdla_domain_fill(domain, bo);
	if (ret) {
		kfree(mapping);
		return ret;
	}
	mapping->domain = domain;
	mapping->users = 1;
	list_add(&mapping->link, &bo->mappings);
	return 0;
}

static void nvdla_mapping_destroy(struct nvdla_mapping *mapping, const struct nvdla_bo *bo)
{
	nvdla_domain_clear(mapping->domain, nvdla_bo_first(bo), nvdla_bo_span(bo));
	list_del(&mapping->link);
	kfree(mapping);
}

/**
 * nvdla_domain_map() - let a client's jobs reach a buffer
 * @domain: domain of the client, NULL if there is no second wall
 * @bo: buffer
 *
 * Counted: it has to be undone as often with nvdla_domain_unmap(), if it succeeds.
 *
 * Return: 0 or -errno.
 */
int nvdla_domain_map(struct nvdla_domain *domain, struct nvdla_bo *bo)
{
	struct nvdla_mapping *mapping;
	int ret = 0;

	/* On-chip memory is behind another port. */
	if (!domain || bo->mem_type != NVDLA_MEM_MC)
		return 0;

	mutex_lock(&domain->ndev->bos_lock);
	mapping = nvdla_bo_find_mapping(bo, domain);
	if (mapping)
		mapping->users++;
	else
		ret = nvdla_mapping_create(domain, bo);
	mutex_unlock(&domain->ndev->bos_lock);
	return ret;
}

/**
 * nvdla_domain_unmap() - undo a nvdla_domain_map()
 * @domain: domain of the client, NULL if there is no second wall
 * @bo: buffer
 */
void nvdla_domain_unmap(struct nvdla_domain *domain, struct nvdla_bo *bo)
{
	struct nvdla_mapping *mapping;

	if (!domain || bo->mem_type != NVDLA_MEM_MC)
		return;

	mutex_lock(&domain->ndev->bos_lock);
	mapping = nvdla_bo_find_mapping(bo, domain);
	/* There is none if the device has gone. */
	if (mapping && !--mapping->users)
		nvdla_mapping_destroy(mapping, bo);
	mutex_unlock(&domain->ndev->bos_lock);
}

/**
 * nvdla_bo_unmap_domains() - take a buffer from all domains
 * @bo: buffer that is going to lose its address; &nvdla_device.bos_lock is held
 */
void nvdla_bo_unmap_domains(struct nvdla_bo *bo)
{
	struct nvdla_mapping *mapping, *next;

	lockdep_assert_held(&to_nvdla_device(bo->base.dev)->bos_lock);

	list_for_each_entry_safe(mapping, next, &bo->mappings, link)
		nvdla_mapping_destroy(mapping, bo);
}
