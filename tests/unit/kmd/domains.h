/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The driver's IOMMU code - nvdla_domain.c, nvdla_iommu.c - with an IOMMU that keeps a copy of the
 * tables of the domain that the core is in, as emulated ones do. What the IOMMU's driver does not
 * tell it is not in the copy.
 */
#pragma once

#include <nvdla_types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DOMAINS_NUM_CLIENTS 2

struct domains;
struct nvdla_bo;

struct domains *domains_create(void);
void domains_destroy(struct domains *domains);

/** \brief A buffer of so many pages at \a addr */
struct nvdla_bo *domains_bo(struct domains *domains, u64 addr, u32 pages);
void domains_bo_free(struct nvdla_bo *bo);

/** \brief A client gets a handle of a buffer, or gives it up. \return 0 or -errno */
int domains_map(struct domains *domains, unsigned int client, struct nvdla_bo *bo);
void domains_unmap(struct domains *domains, unsigned int client, struct nvdla_bo *bo);

/** \brief The core goes to a client's domain. \return 0 or -errno */
int domains_go(struct domains *domains, unsigned int client);
/**
 * \brief The next \a times that something is mapped, the core goes there meanwhile
 *
 * The mapping is in the domain's tables when the IOMMU has copied them, but before the IOMMU's
 * driver knows that the core is there.
 */
void domains_overtake(struct domains *domains, unsigned int times);
/** \brief So many times going to a domain fails */
void domains_fail(struct domains *domains, unsigned int times);

/** \brief The core is to go to a client's domain, and is not on its way yet */
void domains_call(struct domains *domains, unsigned int client);
/** \brief The IOMMU says that the core reached for what is not a client's */
void domains_fault(struct domains *domains, unsigned int client);
/** \brief Whether the job on the core did that */
bool domains_has_faulted(struct domains *domains);

/** \brief Whether the core reaches a page */
bool domains_reaches(const struct domains *domains, u64 addr);

#ifdef __cplusplus
}
#endif
