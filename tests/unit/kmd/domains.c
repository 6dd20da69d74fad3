/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#include "domains.h"

#include <nvdla_device.h>
#include <nvdla_domain.h>
#include <nvdla_gem.h>
#include <nvdla_iommu.h>
#include <nvdla_job.h>

#define NUM_PAGES 64

/* The kernel's IOMMU code relies on the condition. Unlike assert(), this is in every build. */
#define ASSERT(condition) ((condition) ? (void)0 : abort())

/* One bit for a page of the lowest addresses. */
struct tables {
	struct iommu_domain base;
	u64 pages;
	iommu_fault_handler_t handler;
	void *token;
};

struct device {
	struct domains *domains;
};

struct domains {
	struct nvdla_device ndev;
	struct device dev;
	struct tables dma;
	struct nvdla_domain *client[DOMAINS_NUM_CLIENTS];
	/* The IOMMU's driver knows that the core is there. */
	struct tables *known;
	/* The IOMMU's own copy of the tables. */
	u64 copy;
	/* Mapped while the core goes there. */
	struct tables *overtaken;
	u64 overtaken_pages;
	unsigned int overtakes, failures;
};

unsigned long jiffies = 1000;

/* One test, one core. */
static struct domains *the_domains;

static struct tables *tables_of(struct iommu_domain *domain)
{
	return container_of(domain, struct tables, base);
}

static u64 pages_at(unsigned long iova, size_t size)
{
	const unsigned long first = iova >> PAGE_SHIFT, count = size >> PAGE_SHIFT;

	ASSERT(first + count <= NUM_PAGES);
	return (count == NUM_PAGES ? ~0ULL : (1ULL << count) - 1) << first;
}

/* The IOMMU and its driver */

struct iommu_domain *iommu_get_domain_for_dev(struct device *dev)
{
	return &dev->domains->dma.base;
}

phys_addr_t iommu_iova_to_phys(struct iommu_domain *domain, dma_addr_t iova)
{
	return (1ULL << 32) + iova;
}

struct iommu_domain *iommu_paging_domain_alloc(struct device *dev)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	tables->base.pgsize_bitmap = PAGE_SIZE;
	return &tables->base;
}

void iommu_set_fault_handler(struct iommu_domain *domain, iommu_fault_handler_t handler,
			     void *token)
{
	tables_of(domain)->handler = handler;
	tables_of(domain)->token = token;
}

void iommu_domain_free(struct iommu_domain *domain)
{
	ASSERT(the_domains->known != tables_of(domain));
	free(tables_of(domain));
}

int iommu_attach_device(struct iommu_domain *domain, struct device *dev)
{
	struct domains *domains = dev->domains;
	struct tables *tables = tables_of(domain);

	ASSERT(domains->ndev.iommu.tables.held && !domains->known);
	if (domains->failures) {
		domains->failures--;
		return -ENOMEM;
	}
	domains->copy = tables->pages;
	if (domains->overtaken)
		domains->overtaken->pages |= domains->overtaken_pages;
	domains->known = tables;
	return 0;
}

void iommu_detach_device(struct iommu_domain *domain, struct device *dev)
{
	struct domains *domains = dev->domains;

	ASSERT(domains->ndev.iommu.tables.held && domains->known == tables_of(domain));
	domains->known = NULL;
	domains->copy = 0;
}

int iommu_map(struct iommu_domain *domain, unsigned long iova, phys_addr_t paddr, size_t size,
	      int prot, gfp_t gfp)
{
	struct domains *domains = the_domains;
	struct tables *tables = tables_of(domain);
	unsigned int i;

	/* It waits for memory. */
	ASSERT(!domains->ndev.iommu.tables.held);
	ASSERT(!(tables->pages & pages_at(iova, size)));
	if (domains->overtakes) {
		domains->overtakes--;
		/* If the core is there already, it comes from somewhere else. */
		domains->overtaken_pages = pages_at(iova, size);
		for (i = 0; i < DOMAINS_NUM_CLIENTS; i++) {
			if (domains->client[i]->iommu == domain)
				break;
			domains_go(domains, i);
		}
		domains->overtaken = tables;
		domains_go(domains, i);
		domains->overtaken = NULL;
		return 0;
	}
	tables->pages |= pages_at(iova, size);
	if (domains->known == tables)
		domains->copy |= pages_at(iova, size);
	return 0;
}

size_t iommu_unmap(struct iommu_domain *domain, unsigned long iova, size_t size)
{
	struct domains *domains = the_domains;
	struct tables *tables = tables_of(domain);

	ASSERT(domains->ndev.iommu.tables.held);
	tables->pages &= ~pages_at(iova, size);
	if (domains->known == tables)
		domains->copy &= ~pages_at(iova, size);
	return size;
}

/* The rest of the driver, and of the kernel */

void nvdla_jobs_go_on(struct nvdla_device *ndev)
{
}

static void run_work(struct domains *domains)
{
	struct nvdla_iommu *iommu = &domains->ndev.iommu;

	if (!iommu->enter_work.queued)
		return;
	iommu->enter_work.queued = false;
	iommu->enter_work.function(&iommu->enter_work);
}

bool flush_work(struct work_struct *work)
{
	run_work(the_domains);
	return true;
}

/* The interface for the tests */

struct domains *domains_create(void)
{
	struct domains *domains = calloc(1, sizeof(*domains));
	unsigned int i;

	the_domains = domains;
	domains->dev.domains = domains;
	domains->ndev.drm.dev = &domains->dev;
	INIT_LIST_HEAD(&domains->ndev.bos);
	nvdla_iommu_init(&domains->ndev);
	for (i = 0; i < DOMAINS_NUM_CLIENTS; i++)
		domains->client[i] = nvdla_domain_create(&domains->ndev, 1 + i);
	return domains;
}

void domains_destroy(struct domains *domains)
{
	unsigned int i;

	nvdla_iommu_fini(&domains->ndev);
	for (i = 0; i < DOMAINS_NUM_CLIENTS; i++)
		nvdla_domain_put(domains->client[i]);
	free(domains);
}

struct nvdla_bo *domains_bo(struct domains *domains, u64 addr, u32 pages)
{
	static struct sg_table sgt;
	struct nvdla_bo *bo = calloc(1, sizeof(*bo));

	bo->base.dev = &domains->ndev.drm;
	bo->base.size = (size_t)pages << PAGE_SHIFT;
	bo->dma_addr = addr;
	bo->sgt = &sgt;
	INIT_LIST_HEAD(&bo->mappings);
	return bo;
}

void domains_bo_free(struct nvdla_bo *bo)
{
	nvdla_bo_unmap_domains(bo);
	free(bo);
}

int domains_map(struct domains *domains, unsigned int client, struct nvdla_bo *bo)
{
	return nvdla_domain_map(domains->client[client], bo);
}

void domains_unmap(struct domains *domains, unsigned int client, struct nvdla_bo *bo)
{
	nvdla_domain_unmap(domains->client[client], bo);
}

int domains_go(struct domains *domains, unsigned int client)
{
	int ret = nvdla_domain_enter(&domains->ndev, domains->client[client]);

	if (ret != -EINPROGRESS)
		return ret;
	run_work(domains);
	return nvdla_domain_enter(&domains->ndev, domains->client[client]);
}

void domains_call(struct domains *domains, unsigned int client)
{
	nvdla_domain_enter(&domains->ndev, domains->client[client]);
}

void domains_fault(struct domains *domains, unsigned int client)
{
	struct tables *tables = tables_of(domains->client[client]->iommu);

	tables->handler(&tables->base, &domains->dev, 0, 0, tables->token);
}

bool domains_has_faulted(struct domains *domains)
{
	return nvdla_iommu_has_faulted(&domains->ndev);
}

void domains_overtake(struct domains *domains, unsigned int times)
{
	domains->overtakes = times;
}

void domains_fail(struct domains *domains, unsigned int times)
{
	domains->failures = times;
}

bool domains_reaches(const struct domains *domains, u64 addr)
{
	return domains->copy >> (addr >> PAGE_SHIFT) & 1;
}
