// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * While this is loaded, virtio devices take no part in a sleep of the system: the
 * guest's shared folders (9p) would not come back from it.
 */
#include <linux/module.h>
#include <linux/pci.h>

static void sleep_guard_set(bool guarded)
{
	struct pci_dev *pdev = NULL;

	while ((pdev = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, PCI_ANY_ID, pdev)))
		dev_pm_syscore_device(&pdev->dev, guarded);
}

static int __init sleep_guard_init(void)
{
	sleep_guard_set(true);
	return 0;
}
module_init(sleep_guard_init);

static void __exit sleep_guard_exit(void)
{
	sleep_guard_set(false);
}
module_exit(sleep_guard_exit);

MODULE_AUTHOR("NVDLA stack maintainers");
MODULE_DESCRIPTION("Keeps virtio devices awake when the system sleeps, for tests");
MODULE_LICENSE("Dual MIT/GPL");
