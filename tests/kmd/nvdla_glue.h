/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The end of a module that makes another device of the device model's PCI function: glue_probe()
 * and glue_remove() come before.
 */
#include <linux/module.h>
#include <linux/pci.h>

/* Only what driver_override names. */
static const struct pci_device_id glue_ids[] = {
	{ }
};

static struct pci_driver glue_driver = {
	.name = KBUILD_MODNAME,
	.id_table = glue_ids,
	.probe = glue_probe,
	.remove = glue_remove,
};
module_pci_driver(glue_driver);

MODULE_AUTHOR("NVDLA stack maintainers");
MODULE_LICENSE("Dual MIT/GPL");
