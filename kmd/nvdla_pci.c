// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* NVDLA behind PCI: the device model that QEMU attaches, or an FPGA card. */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm_runtime.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include <nvdla/hw/pci.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_pm.h"
#include "nvdla_probe.h"
#include "nvdla_run.h"

static int nvdla_pci_reset(struct device *dev)
{
	struct pci_dev *pdev = to_pci_dev(dev);
	int ret;

	/* pci_reset_function() would take the device lock, which is already held. */
	pci_save_state(pdev);
	/* The core may be running: stop its bus accesses while the function is reset. */
	pci_write_config_word(pdev, PCI_COMMAND, PCI_COMMAND_INTX_DISABLE);
	ret = __pci_reset_function_locked(pdev);
	pci_restore_state(pdev);

	return ret;
}

static int nvdla_pci_disable_dma(struct device *dev)
{
	pci_clear_master(to_pci_dev(dev));
	return 0;
}

static const struct nvdla_bus_ops nvdla_pci_bus_ops = {
	.reset = nvdla_pci_reset,
	.disable_dma = nvdla_pci_disable_dma,
};

static u64 nvdla_pci_read_qword(struct pci_dev *pdev, int offset)
{
	u32 low = 0, high = 0;

	pci_read_config_dword(pdev, offset, &low);
	pci_read_config_dword(pdev, offset + 4, &high);
	return (u64)high << 32 | low;
}

/* Reads the core's variant and CVSRAM from a vendor-specific capability in the config space. */
static int nvdla_pci_read_configuration(struct nvdla_device *ndev, struct pci_dev *pdev)
{
	u16 variant = 0;
	u32 magic = 0;
	u8 cap;

	for (cap = pci_find_capability(pdev, PCI_CAP_ID_VNDR); cap;
	     cap = pci_find_next_capability(pdev, cap, PCI_CAP_ID_VNDR)) {
		pci_read_config_dword(pdev, cap + NVDLA_PCI_VSC_MAGIC_OFFSET, &magic);
		if (magic == NVDLA_PCI_VSC_MAGIC)
			break;
	}
	if (!cap)
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "the capability that describes the core is missing\n");

	pci_read_config_word(pdev, cap + NVDLA_PCI_VSC_VARIANT_OFFSET, &variant);
	if (variant >= NVDLA_NUM_VARIANTS)
		return dev_err_probe(&pdev->dev, -ENODEV, "core variant %u is not supported\n",
				     variant);

	ndev->hw.variant = &nvdla_variants[variant];
	ndev->sram.base = nvdla_pci_read_qword(pdev, cap + NVDLA_PCI_VSC_CVSRAM_BASE_OFFSET);
	ndev->sram.size = nvdla_pci_read_qword(pdev, cap + NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET);
	return 0;
}

static void nvdla_pci_free_vectors(void *data)
{
	pci_free_irq_vectors(data);
}

static int nvdla_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct nvdla_device *ndev;
	resource_size_t bar_size;
	int ret;

	ret = pcim_enable_device(pdev);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "cannot enable the PCI function\n");

	bar_size = pci_resource_len(pdev, NVDLA_PCI_CSB_BAR);
	if (bar_size < NVDLA_PCI_CSB_SIZE)
		return dev_err_probe(&pdev->dev, -ENODEV, "BAR %d has %pa bytes, %#x expected\n",
				     NVDLA_PCI_CSB_BAR, &bar_size, NVDLA_PCI_CSB_SIZE);

	ndev = nvdla_device_alloc(&pdev->dev);
	if (IS_ERR(ndev))
		return PTR_ERR(ndev);

	ndev->hw.bus_ops = &nvdla_pci_bus_ops;
	ret = nvdla_pci_read_configuration(ndev, pdev);
	if (ret)
		return ret;

	ndev->hw.regs = pcim_iomap_region(pdev, NVDLA_PCI_CSB_BAR, "nvdla");
	if (IS_ERR(ndev->hw.regs))
		return dev_err_probe(&pdev->dev, PTR_ERR(ndev->hw.regs), "cannot map BAR %d\n",
				     NVDLA_PCI_CSB_BAR);

	/* An earlier driver may have left the function in any state. */
	ret = nvdla_pci_reset(&pdev->dev);
	if (ret)
		return dev_err_probe(&pdev->dev, ret,
				     "cannot reset the function, without which a core that hangs goes on writing\n");

	ret = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX | PCI_IRQ_MSI);
	if (ret < 0)
		return dev_err_probe(&pdev->dev, ret, "no message signalled interrupt\n");
	ret = devm_add_action_or_reset(&pdev->dev, nvdla_pci_free_vectors, pdev);
	if (ret)
		return ret;
	ndev->irq = pci_irq_vector(pdev, 0);

	pci_set_master(pdev);

	ret = nvdla_device_init(ndev);
	if (ret)
		return ret;

	/* A function without power states saves nothing by sleeping. */
	if (pdev->pm_cap)
		pm_runtime_allow(&pdev->dev);
	return 0;
}

static void nvdla_pci_remove(struct pci_dev *pdev)
{
	pm_runtime_forbid(&pdev->dev);
	nvdla_device_fini(pci_get_drvdata(pdev));
	pci_clear_master(pdev);
}

/* The function is reset from outside the driver, for example through sysfs. */
static void nvdla_pci_reset_prepare(struct pci_dev *pdev)
{
	struct nvdla_device *ndev = pci_get_drvdata(pdev);

	nvdla_hw_reset_prepare(&ndev->hw);
}

static void nvdla_pci_reset_done(struct pci_dev *pdev)
{
	struct nvdla_device *ndev = pci_get_drvdata(pdev);

	nvdla_hw_reset_done(&ndev->hw, 0);
}

static const struct pci_error_handlers nvdla_pci_error_handlers = {
	.reset_prepare = nvdla_pci_reset_prepare,
	.reset_done = nvdla_pci_reset_done,
};

/* No MODULE_DEVICE_TABLE(): the id is reserved for experimental devices. */
static const struct pci_device_id nvdla_pci_ids[] = {
	{ PCI_DEVICE(NVDLA_PCI_VENDOR_ID, NVDLA_PCI_DEVICE_ID) },
	{ }
};

static struct pci_driver nvdla_pci_driver = {
	.name = "nvdla",
	.id_table = nvdla_pci_ids,
	.probe = nvdla_pci_probe,
	.remove = nvdla_pci_remove,
	.dev_groups = nvdla_sysfs_groups,
	.err_handler = &nvdla_pci_error_handlers,
	.driver.pm = pm_ptr(&nvdla_pm_ops),
};

int nvdla_pci_register(void)
{
	return pci_register_driver(&nvdla_pci_driver);
}

void nvdla_pci_unregister(void)
{
	pci_unregister_driver(&nvdla_pci_driver);
}
