/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_DOMAIN_H__
#define __NVDLA_DOMAIN_H__

#include <linux/kref.h>
#include <linux/types.h>

struct iommu_domain;
struct nvdla_bo;
struct nvdla_device;

/**
 * struct nvdla_domain - memory that the core reaches for one client
 * @refcount: the client, &nvdla_iommu.entered and &nvdla_iommu.wanted
 * @ndev: device
 * @iommu: the IOMMU's domain
 * @client_id: &drm_file.client_id, 0 for the driver
 * @entries: times that the core went there, under &nvdla_iommu.tables
 * @faulted: the core reached for what is not in it, since it was entered
 */
struct nvdla_domain {
	struct kref refcount;
	struct nvdla_device *ndev;
	struct iommu_domain *iommu;
	u64 client_id;
	u32 entries;
	bool faulted;
};

struct nvdla_domain *nvdla_domain_create(struct nvdla_device *ndev, u64 client_id);
void nvdla_domain_put(struct nvdla_domain *domain);

int nvdla_domain_map(struct nvdla_domain *domain, struct nvdla_bo *bo);
void nvdla_domain_unmap(struct nvdla_domain *domain, struct nvdla_bo *bo);
void nvdla_bo_unmap_domains(struct nvdla_bo *bo);

#endif /* __NVDLA_DOMAIN_H__ */
