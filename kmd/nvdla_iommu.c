// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The second wall, where the core has an IOMMU for itself: a domain for each open file.
 *
 * The kernel's own domain gives every buffer its address, as for any device. The domain of
 * a file has, at the same addresses, only what the file has handles of and what its jobs
 * use. It is entered before a job of the file starts, so that a core that was programmed
 * wrong reaches nobody else's memory. A buffer that two files share has one address in both.
 *
 * The core stays in a domain until another one is needed: for one client alone this costs
 * nothing per job. What the driver itself has the core do to memory has a domain of its own.
 */
#include <linux/iommu.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/property.h>
#include <linux/slab.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include <drm/nvdla_descriptors.h>

#include "nvdla_device.h"
#include "nvdla_gem.h"
#include "nvdla_iommu.h"

/**
 * struct nvdla_domain - memory that the core reaches for one client
 * @refcount: the client, and &nvdla_iommu.entered
 * @ndev: device
 * @iommu: the IOMMU's domain
 * @client_id: &drm_file.client_id, 0 for the driver
 * @faulted: the core reached for what is not in it, since it was entered
 */
struct nvdla_domain {
	struct kref refcount;
	struct nvdla_device *ndev;
	struct iommu_domain *iommu;
	u64 client_id;
	bool faulted;
};

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

	domain = kzalloc(sizeof(*domain), GFP_KERNEL);
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

/**
 * nvdla_domain_client() - whose domain it is
 * @domain: domain
 *
 * Return: &drm_file.client_id, 0 for the driver.
 */
u64 nvdla_domain_client(const struct nvdla_domain *domain)
{
	return domain->client_id;
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
		ret = phys ? iommu_map(domain->iommu, first + done, phys, bytes, prot,
				       GFP_KERNEL_ACCOUNT) : -EFAULT;
		if (ret) {
			iommu_unmap(domain->iommu, first, done);
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

	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	if (!mapping)
		return -ENOMEM;

	mutex_lock(&domain->ndev->iommu.tables);
	ret = nvdla_domain_fill(domain, bo);
	mutex_unlock(&domain->ndev->iommu.tables);
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
	struct nvdla_domain *domain = mapping->domain;

	mutex_lock(&domain->ndev->iommu.tables);
	iommu_unmap(domain->iommu, nvdla_bo_first(bo), nvdla_bo_span(bo));
	mutex_unlock(&domain->ndev->iommu.tables);
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

static void nvdla_domain_leave(struct nvdla_device *ndev)
{
	struct nvdla_domain *domain = ndev->iommu.entered;

	if (!domain)
		return;
	iommu_detach_device(domain->iommu, ndev->drm.dev);
	ndev->iommu.entered = NULL;
	nvdla_domain_put(domain);
}

/**
 * nvdla_domain_enter() - have the core reach the memory of one client
 * @ndev: device, locked, whose core is idle and not being reset
 * @domain: domain of the client, NULL if there is no second wall
 *
 * Faults from here on are those of what is about to start. The IOMMU's driver may
 * allocate memory; there is no way to have it do so earlier.
 *
 * Return: 0 or -errno.
 */
int nvdla_domain_enter(struct nvdla_device *ndev, struct nvdla_domain *domain)
{
	struct nvdla_iommu *iommu = &ndev->iommu;
	int ret;

	lockdep_assert_held(&ndev->lock);

	if (!domain)
		return 0;
	WRITE_ONCE(domain->faulted, false);
	if (domain == iommu->entered)
		return 0;

	/* The way from one domain to another is through the kernel's. */
	mutex_lock(&iommu->tables);
	nvdla_domain_leave(ndev);
	ret = iommu_attach_device(domain->iommu, ndev->drm.dev);
	mutex_unlock(&iommu->tables);
	if (ret)
		return ret;
	kref_get(&domain->refcount);
	iommu->entered = domain;
	iommu->changes++;
	return 0;
}

/**
 * nvdla_iommu_has_faulted() - whether the core reached for what it must not
 * @ndev: device, locked
 *
 * Return: true if an IOMMU that tells has told so since the last nvdla_domain_enter().
 */
bool nvdla_iommu_has_faulted(struct nvdla_device *ndev)
{
	lockdep_assert_held(&ndev->lock);

	return ndev->iommu.entered && READ_ONCE(ndev->iommu.entered->faulted);
}

/*
 * What else has to be in a domain that the core is in: memory that the firmware wants there,
 * and where messages are sent to, if the IOMMU is in their way.
 */
static bool nvdla_iommu_has_regions(struct device *dev)
{
	struct iommu_resv_region *region;
	LIST_HEAD(regions);
	bool found = false;

	iommu_get_resv_regions(dev, &regions);
	list_for_each_entry(region, &regions, list)
		found |= region->type == IOMMU_RESV_DIRECT ||
			 (region->type == IOMMU_RESV_SW_MSI && dev_is_pci(dev));
	iommu_put_resv_regions(dev, &regions);
	return found;
}

/* The driver's own domain, which shows that the core can have such. */
static int nvdla_iommu_try(struct nvdla_device *ndev)
{
	struct nvdla_iommu *iommu = &ndev->iommu;
	int ret;

	if (nvdla_iommu_has_regions(ndev->drm.dev))
		return -EOPNOTSUPP;

	iommu->own = nvdla_domain_create(ndev, 0);
	if (IS_ERR(iommu->own))
		return PTR_ERR(iommu->own);
	/* Buffers are pages of the CPU. */
	if (__ffs(iommu->own->iommu->pgsize_bitmap) > PAGE_SHIFT)
		return -EOPNOTSUPP;

	/* Fails also if another device is in the group, which needs the kernel's domain. */
	mutex_lock(&ndev->lock);
	ret = nvdla_domain_enter(ndev, iommu->own);
	mutex_unlock(&ndev->lock);
	return ret;
}

/**
 * nvdla_iommu_init() - build the second wall, if that can be
 * @ndev: device whose core is idle, before anybody can open it
 *
 * Return: 0, to be undone with nvdla_iommu_fini(), or -ENOMEM.
 */
int nvdla_iommu_init(struct nvdla_device *ndev)
{
	struct iommu_domain *dma = iommu_get_domain_for_dev(ndev->drm.dev);
	int ret;

	ret = drmm_mutex_init(&ndev->drm, &ndev->iommu.tables);
	if (ret)
		return ret;
	if (!dma || !iommu_is_dma_domain(dma))
		return 0;

	ndev->iommu.dma = dma;
	ret = nvdla_iommu_try(ndev);
	if (!ret) {
		drm_info(&ndev->drm, "each client has an IOMMU domain of its own\n");
		return 0;
	}

	nvdla_iommu_fini(ndev);
	if (ret != -ENOMEM)
		drm_info(&ndev->drm, "no IOMMU domain for each client: %d\n", ret);
	return ret == -ENOMEM ? ret : 0;
}

/**
 * nvdla_iommu_fini() - back to the kernel's domain
 * @ndev: device without jobs or buffers that nobody can open; the lock of its parent is held
 */
void nvdla_iommu_fini(struct nvdla_device *ndev)
{
	struct nvdla_iommu *iommu = &ndev->iommu;

	mutex_lock(&ndev->lock);
	nvdla_domain_leave(ndev);
	mutex_unlock(&ndev->lock);

	if (!IS_ERR(iommu->own))
		nvdla_domain_put(iommu->own);
	iommu->own = NULL;
	iommu->dma = NULL;
}
