/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_IOMMU_H__
#define __NVDLA_IOMMU_H__

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct iommu_domain;
struct nvdla_device;
struct nvdla_domain;

/**
 * struct nvdla_iommu - the second wall of a core
 */
struct nvdla_iommu {
	/**
	 * @dma: the kernel's domain, where buffers get their addresses; NULL if there is no
	 * second wall. Constant while the device is registered.
	 */
	struct iommu_domain *dma;

	/** @own: domain for tasks of the driver's own, NULL if there is no second wall */
	struct nvdla_domain *own;

	/**
	 * @tables: held while the core goes to another domain, and while something is taken out of
	 * one: an emulated IOMMU keeps a copy of the tables of the domain that the core is in, and
	 * the kernel does not tell it of a change before the core is all there. Nobody waits for
	 * memory under it. Innermost.
	 */
	struct mutex tables;

	/**
	 * @entered: domain that the core is in, with a reference, NULL while that changes; under
	 * &nvdla_device.lock
	 */
	struct nvdla_domain *entered;

	/**
	 * @wanted: domain that the job on the hardware waits for, with a reference, or NULL; under
	 * &nvdla_device.lock
	 */
	struct nvdla_domain *wanted;

	/** @error: why the core could not go to @wanted, or 0; under &nvdla_device.lock */
	int error;

	/** @enter_work: has the core go to @wanted */
	struct work_struct enter_work;

	/** @changes: times that it changed, under &nvdla_device.lock */
	u64 changes;
};

int nvdla_iommu_init(struct nvdla_device *ndev);
void nvdla_iommu_fini(struct nvdla_device *ndev);

void nvdla_iommu_settle(struct nvdla_device *ndev);
int nvdla_domain_enter(struct nvdla_device *ndev, struct nvdla_domain *domain);
bool nvdla_iommu_has_faulted(struct nvdla_device *ndev);

#endif /* __NVDLA_IOMMU_H__ */
