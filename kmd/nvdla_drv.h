/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_DRV_H__
#define __NVDLA_DRV_H__

#include <linux/kconfig.h>

struct attribute_group;
struct drm_driver;
struct nvdla_device;

extern const struct drm_driver nvdla_drm_driver;
extern const struct attribute_group *nvdla_sysfs_groups[];

void nvdla_sysfs_init(void);
void nvdla_debugfs_init(struct nvdla_device *ndev);

#if IS_ENABLED(CONFIG_PCI)
int nvdla_pci_register(void);
void nvdla_pci_unregister(void);
#else
static inline int nvdla_pci_register(void)
{
	return 0;
}

static inline void nvdla_pci_unregister(void)
{
}
#endif

int nvdla_platform_register(void);
void nvdla_platform_unregister(void);

#endif /* __NVDLA_DRV_H__ */
