// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The second wall, where the core has an IOMMU for itself: which domain the core is in.
 *
 * The domain of a file is entered before a job of the file starts, so that a core that was
 * programmed wrong reaches nobody else's memory. What is in it: nvdla_domain.c.
 *
 * The core stays in a domain until another one is needed: for one client alone this costs
 * nothing per job. What the driver itself has the core do to memory has a domain of its own.
 */
#include <linux/dma-fence.h>
#include <linux/iommu.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/sched/mm.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_domain.h"
#include "nvdla_iommu.h"
#include "nvdla_job.h"

/*
 * The way from one domain to another is through the kernel's.
 *
 * The IOMMU's core and its driver take locks for that under which others allocate memory. Only a
 * job whose client is not that of the last one waits for this; whatever else signals fences takes
 * none of the locks that are held here. And what is allocated here comes from the reserves.
 */
static int nvdla_domain_change(struct nvdla_device *ndev, struct nvdla_domain *to)
{
	struct nvdla_iommu *iommu = &ndev->iommu;
	struct nvdla_domain *from;
	unsigned int flags;
	int ret = 0;

	mutex_lock(&ndev->lock);
	from = iommu->entered;
	iommu->entered = NULL;
	mutex_unlock(&ndev->lock);

	mutex_lock(&iommu->tables);
	flags = memalloc_noreclaim_save();
	if (from)
		iommu_detach_device(from->iommu, ndev->drm.dev);
	if (to) {
		to->entries++;
		ret = iommu_attach_device(to->iommu, ndev->drm.dev);
	}
	memalloc_noreclaim_restore(flags);
	mutex_unlock(&iommu->tables);

	nvdla_domain_put(from);
	if (ret || !to)
		return ret;

	kref_get(&to->refcount);
	mutex_lock(&ndev->lock);
	iommu->entered = to;
	iommu->changes++;
	mutex_unlock(&ndev->lock);
	return 0;
}

static void nvdla_iommu_enter_work(struct work_struct *work)
{
	struct nvdla_device *ndev = container_of(work, struct nvdla_device, iommu.enter_work);
	struct nvdla_iommu *iommu = &ndev->iommu;
	bool cookie;
	int ret;

	/* It stays until it is known how this went. */
	ret = nvdla_domain_change(ndev, iommu->wanted);

	cookie = dma_fence_begin_signalling();
	mutex_lock(&ndev->lock);
	iommu->error = ret;
	if (!ret) {
		nvdla_domain_put(iommu->wanted);
		iommu->wanted = NULL;
	}
	nvdla_jobs_go_on(ndev);
	mutex_unlock(&ndev->lock);
	dma_fence_end_signalling(cookie);
}

/**
 * nvdla_domain_enter() - have the core reach the memory of one client
 * @ndev: device, locked, whose core is idle and not being reset
 * @domain: domain of the client, NULL if there is no second wall
 *
 * Faults from here on are those of what is about to start.
 *
 * Return: 0; -EINPROGRESS if the core is on its way there, and nvdla_jobs_go_on() asks again; or
 * another -errno if it did not arrive.
 */
int nvdla_domain_enter(struct nvdla_device *ndev, struct nvdla_domain *domain)
{
	struct nvdla_iommu *iommu = &ndev->iommu;
	int ret = iommu->error;

	lockdep_assert_held(&ndev->lock);

	if (!domain)
		return 0;
	WRITE_ONCE(domain->faulted, false);
	if (domain == iommu->entered)
		return 0;

	if (ret) {
		iommu->error = 0;
		nvdla_domain_put(iommu->wanted);
		iommu->wanted = NULL;
		return ret;
	}

	if (!iommu->wanted) {
		kref_get(&domain->refcount);
		iommu->wanted = domain;
		queue_work(ndev->sched_wq, &iommu->enter_work);
	}
	return -EINPROGRESS;
}

/**
 * nvdla_iommu_settle() - wait until the core is not on its way to another domain
 * @ndev: device that is stopped
 *
 * A job that waited for the domain has to ask again when it begins anew.
 */
void nvdla_iommu_settle(struct nvdla_device *ndev)
{
	struct nvdla_iommu *iommu = &ndev->iommu;
	struct nvdla_domain *wanted;

	flush_work(&iommu->enter_work);

	mutex_lock(&ndev->lock);
	wanted = iommu->wanted;
	iommu->wanted = NULL;
	iommu->error = 0;
	mutex_unlock(&ndev->lock);
	nvdla_domain_put(wanted);
}

/**
 * nvdla_iommu_has_faulted() - whether the core reached for what it must not
 * @ndev: device, locked
 *
 * A job that waits for its domain did not: it is that of the job before in which the core still is.
 *
 * Return: true if an IOMMU that tells has told so since the last nvdla_domain_enter().
 */
bool nvdla_iommu_has_faulted(struct nvdla_device *ndev)
{
	const struct nvdla_iommu *iommu = &ndev->iommu;

	lockdep_assert_held(&ndev->lock);

	return iommu->entered && !iommu->wanted && READ_ONCE(iommu->entered->faulted);
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

	if (nvdla_iommu_has_regions(ndev->drm.dev))
		return -EOPNOTSUPP;

	iommu->own = nvdla_domain_create(ndev, 0);
	if (IS_ERR(iommu->own))
		return PTR_ERR(iommu->own);
	/* Buffers are pages of the CPU. */
	if (__ffs(iommu->own->iommu->pgsize_bitmap) > PAGE_SHIFT)
		return -EOPNOTSUPP;

	/* Fails also if another device is in the group, which needs the kernel's domain. */
	return nvdla_domain_change(ndev, iommu->own);
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

	INIT_WORK(&ndev->iommu.enter_work, nvdla_iommu_enter_work);
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

	nvdla_iommu_settle(ndev);
	nvdla_domain_change(ndev, NULL);
	if (!IS_ERR(iommu->own))
		nvdla_domain_put(iommu->own);
	iommu->own = NULL;
	iommu->dma = NULL;
}
