// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The PCI function of the device model as an SoC would show its core.
 *
 * Bound to the function by driver_override, it makes a platform device of it, with
 * registers, interrupt, two clocks and a reset line. The reset line keeps the function
 * in D3hot, out of which it comes with all its state lost.
 */
#include <linux/clk-provider.h>
#include <linux/clkdev.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/reset-controller.h>
#include <linux/slab.h>

#include <nvdla/hw/pci.h>

#define GLUE_CORE_HZ 1000000000
#define GLUE_CSB_HZ 100000000

static bool reset = true;
module_param(reset, bool, 0444);
MODULE_PARM_DESC(reset, "give the device a reset line (default: yes)");

static bool share;
module_param(share, bool, 0444);
MODULE_PARM_DESC(share, "have a handler of its own on the device's interrupt line (default: no)");

struct glue {
	struct pci_dev *pdev;
	struct reset_controller_dev resets;
	struct fwnode_handle *resets_fwnode;
	struct platform_device *child;
	char child_name[32];
};

static int glue_reset_assert(struct reset_controller_dev *rcdev, unsigned long id)
{
	struct glue *glue = container_of(rcdev, struct glue, resets);

	pci_save_state(glue->pdev);
	return pci_set_power_state(glue->pdev, PCI_D3hot);
}

static int glue_reset_deassert(struct reset_controller_dev *rcdev, unsigned long id)
{
	struct glue *glue = container_of(rcdev, struct glue, resets);
	int ret;

	ret = pci_set_power_state(glue->pdev, PCI_D0);
	pci_restore_state(glue->pdev);
	return ret;
}

static const struct reset_control_ops glue_reset_ops = {
	.assert = glue_reset_assert,
	.deassert = glue_reset_deassert,
};

static void glue_remove_fwnode(void *data)
{
	fwnode_remove_software_node(data);
}

static struct fwnode_handle *glue_add_fwnode(struct device *dev,
					     const struct property_entry *properties)
{
	struct fwnode_handle *fwnode = fwnode_create_software_node(properties, NULL);
	int ret;

	if (IS_ERR(fwnode))
		return fwnode;
	ret = devm_add_action_or_reset(dev, glue_remove_fwnode, fwnode);
	if (ret)
		return ERR_PTR(ret);

	/* No device is going to be made of the node: who refers to it must not wait for one. */
	fwnode_dev_initialized(fwnode, true);
	return fwnode;
}

static int glue_add_reset(struct glue *glue)
{
	const struct property_entry properties[] = {
		PROPERTY_ENTRY_U32("#reset-cells", 1),
		{ }
	};
	struct device *dev = &glue->pdev->dev;

	glue->resets_fwnode = glue_add_fwnode(dev, properties);
	if (IS_ERR(glue->resets_fwnode))
		return PTR_ERR(glue->resets_fwnode);

	glue->resets.ops = &glue_reset_ops;
	glue->resets.owner = THIS_MODULE;
	glue->resets.dev = dev;
	glue->resets.nr_resets = 1;
#ifdef NVDLA_HAVE_RESET_LOOKUP
	/* Entries cannot be removed again: these outlive the module. */
	struct reset_control_lookup *lookup = kzalloc(sizeof(*lookup), GFP_KERNEL);

	if (!lookup)
		return -ENOMEM;
	lookup->provider = kstrdup(dev_name(dev), GFP_KERNEL);
	lookup->dev_id = kstrdup(glue->child_name, GFP_KERNEL);
	if (!lookup->provider || !lookup->dev_id) {
		kfree(lookup->provider);
		kfree(lookup->dev_id);
		kfree(lookup);
		return -ENOMEM;
	}
	reset_controller_add_lookup(lookup, 1);
#else
	glue->resets.fwnode = glue->resets_fwnode;
#endif
	return devm_reset_controller_register(dev, &glue->resets);
}

static int glue_add_clock(struct glue *glue, const char *id, unsigned long rate)
{
	struct device *dev = &glue->pdev->dev;
	struct clk_hw *hw;
	char name[32];

	snprintf(name, sizeof(name), "%s-%s", dev_name(dev), id);
	hw = devm_clk_hw_register_fixed_rate(dev, name, NULL, 0, rate);
	if (IS_ERR(hw))
		return PTR_ERR(hw);

	return devm_clk_hw_register_clkdev(dev, hw, id, glue->child_name);
}

static u64 glue_read_qword(struct pci_dev *pdev, int offset)
{
	u32 low = 0, high = 0;

	pci_read_config_dword(pdev, offset, &low);
	pci_read_config_dword(pdev, offset + 4, &high);
	return (u64)high << 32 | low;
}

static int glue_add_child(struct glue *glue)
{
	struct pci_dev *pdev = glue->pdev;
	u8 cap = pci_find_capability(pdev, PCI_CAP_ID_VNDR);
	const u64 sram[] = {
		glue_read_qword(pdev, cap + NVDLA_PCI_VSC_CVSRAM_BASE_OFFSET),
		glue_read_qword(pdev, cap + NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET),
	};
	const struct resource resources[] = {
		{
			.start = pci_resource_start(pdev, NVDLA_PCI_CSB_BAR),
			.end = pci_resource_end(pdev, NVDLA_PCI_CSB_BAR),
			.flags = IORESOURCE_MEM,
			.parent = &pdev->resource[NVDLA_PCI_CSB_BAR],
		},
		DEFINE_RES_IRQ(pci_irq_vector(pdev, 0)),
	};
	const struct property_entry sram_properties[] = {
		PROPERTY_ENTRY_U64_ARRAY("reg", sram),
		{ }
	};
	struct fwnode_handle *sram_fwnode = glue_add_fwnode(&pdev->dev, sram_properties);
	struct software_node_ref_args sram_ref, resets_ref;
	struct property_entry properties[3] = { };
	const struct platform_device_info info = {
		.parent = &pdev->dev,
		.name = "nvdla-nv-full",
		.id = pci_dev_id(pdev),
		.res = resources,
		.num_res = ARRAY_SIZE(resources),
		.dma_mask = DMA_BIT_MASK(64),
		.properties = properties,
	};

	if (IS_ERR(sram_fwnode))
		return PTR_ERR(sram_fwnode);
	sram_ref = SOFTWARE_NODE_REFERENCE(to_software_node(sram_fwnode));
	properties[0] = PROPERTY_ENTRY_REF_ARRAY_LEN("sram", &sram_ref, 1);
	if (reset) {
		resets_ref = SOFTWARE_NODE_REFERENCE(to_software_node(glue->resets_fwnode), 0);
		properties[1] = PROPERTY_ENTRY_REF_ARRAY_LEN("resets", &resets_ref, 1);
	}

	glue->child = platform_device_register_full(&info);
	return PTR_ERR_OR_ZERO(glue->child);
}

static void glue_free_vectors(void *data)
{
	pci_free_irq_vectors(data);
}

/* The neighbour on a shared line, which never has an interrupt of its own. */
static irqreturn_t glue_neighbour(int irq, void *data)
{
	return IRQ_NONE;
}

static int glue_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct glue *glue;
	int ret;

	glue = devm_kzalloc(&pdev->dev, sizeof(*glue), GFP_KERNEL);
	if (!glue)
		return -ENOMEM;
	glue->pdev = pdev;
	snprintf(glue->child_name, sizeof(glue->child_name), "nvdla-nv-full.%u", pci_dev_id(pdev));

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;

	ret = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX | PCI_IRQ_MSI);
	if (ret < 0)
		return ret;
	ret = devm_add_action_or_reset(&pdev->dev, glue_free_vectors, pdev);
	if (ret)
		return ret;
	pci_set_master(pdev);

	ret = glue_add_clock(glue, "core", GLUE_CORE_HZ);
	if (ret)
		return ret;
	ret = glue_add_clock(glue, "csb", GLUE_CSB_HZ);
	if (ret)
		return ret;

	if (reset) {
		ret = glue_add_reset(glue);
		if (ret)
			return ret;
	}

	if (share) {
		ret = devm_request_threaded_irq(&pdev->dev, pci_irq_vector(pdev, 0), NULL,
						glue_neighbour, IRQF_SHARED | IRQF_ONESHOT,
						"neighbour", glue);
		if (ret)
			return ret;
	}

	pci_set_drvdata(pdev, glue);
	return glue_add_child(glue);
}

static void glue_remove(struct pci_dev *pdev)
{
	struct glue *glue = pci_get_drvdata(pdev);

	platform_device_unregister(glue->child);
	pci_clear_master(pdev);
}

#include "nvdla_glue.h"

MODULE_DESCRIPTION("Platform device from the NVDLA device model's PCI function, for tests");
