// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The PCI function of the device model as a device tree describes a core.
 *
 * Bound to the function by driver_override, it looks for a node that is compatible with
 * "nvdla,test-soc". The child of that node with a "reg" is the core: it becomes a platform device
 * with this node, so that its driver finds there what it would on the machine. Only the address is
 * the function's. The other children are where its interrupt, clocks and resets lead to:
 * "interrupt-controller", "clock-controller" and "reset-controller".
 *
 * Two simpler ways do not work. An overlay on the PCI function's own node needs
 * CONFIG_PCI_DYNAMIC_OF_NODES, which Debian's kernels lack. A node cannot name the PCI function's
 * interrupt line, because the device model has only MSI.
 */
#include <linux/clk-provider.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/reset-controller.h>

#include <nvdla/hw/pci.h>

#define GLUE_LINES 256
#define GLUE_CLOCKS 8
#define GLUE_RESETS 8
#define GLUE_HZ 100000000

struct glue {
	struct pci_dev *pdev;
	struct device_node *soc;
	struct irq_domain *domain;
	irq_hw_number_t line;
	struct clk_hw_onecell_data *clocks;
	struct reset_controller_dev resets;
	u32 num_asserted;
	struct platform_device *core;
};

/* The lines of the interrupt controller are levels; the function's message says that one rose. */
static void glue_line_set_mask(struct irq_data *data)
{
}

static struct irq_chip glue_lines = {
	.name = "nvdla-soc",
	.irq_mask = glue_line_set_mask,
	.irq_unmask = glue_line_set_mask,
};

static int glue_line_map(struct irq_domain *domain, unsigned int irq, irq_hw_number_t line)
{
	struct glue *glue = domain->host_data;

	glue->line = line;
	irq_set_chip_and_handler(irq, &glue_lines, handle_level_irq);
	irq_set_status_flags(irq, IRQ_LEVEL);
	return 0;
}

/* One cell is the line. With three, as the GIC has them, the second one is. */
static int glue_line_translate(struct irq_domain *domain, struct device_node *node,
			       const u32 *cells, unsigned int count, unsigned long *line,
			       unsigned int *type)
{
	*line = cells[count > 1];
	*type = IRQ_TYPE_LEVEL_HIGH;
	return 0;
}

static const struct irq_domain_ops glue_line_ops = {
	.map = glue_line_map,
	.xlate = glue_line_translate,
};

static irqreturn_t glue_message(int irq, void *data)
{
	struct glue *glue = data;

	generic_handle_domain_irq(glue->domain, glue->line);
	return IRQ_HANDLED;
}

static void glue_remove_lines(void *data)
{
	struct glue *glue = data;

	irq_dispose_mapping(irq_find_mapping(glue->domain, glue->line));
	irq_domain_remove(glue->domain);
}

static void glue_free_vectors(void *data)
{
	pci_free_irq_vectors(data);
}

static int glue_add_lines(struct glue *glue, struct device_node *node)
{
	struct device *dev = &glue->pdev->dev;
	int ret;

	ret = pci_alloc_irq_vectors(glue->pdev, 1, 1, PCI_IRQ_MSIX | PCI_IRQ_MSI);
	if (ret < 0)
		return ret;
	ret = devm_add_action_or_reset(dev, glue_free_vectors, glue->pdev);
	if (ret)
		return ret;

	glue->domain = irq_domain_create_linear(of_fwnode_handle(node), GLUE_LINES, &glue_line_ops,
						glue);
	if (!glue->domain)
		return -ENOMEM;
	ret = devm_add_action_or_reset(dev, glue_remove_lines, glue);
	if (ret)
		return ret;

	return devm_request_irq(dev, pci_irq_vector(glue->pdev, 0), glue_message, IRQF_NO_THREAD,
				"nvdla-soc", glue);
}

static int glue_add_clocks(struct glue *glue, struct device_node *node)
{
	struct device *dev = &glue->pdev->dev;
	char name[32];
	u32 i;

	glue->clocks = devm_kzalloc(dev, struct_size(glue->clocks, hws, GLUE_CLOCKS), GFP_KERNEL);
	if (!glue->clocks)
		return -ENOMEM;
	glue->clocks->num = GLUE_CLOCKS;
	for (i = 0; i < GLUE_CLOCKS; i++) {
		snprintf(name, sizeof(name), "nvdla-soc-%u", i);
		glue->clocks->hws[i] = devm_clk_hw_register_fixed_rate(dev, name, NULL, 0, GLUE_HZ);
		if (IS_ERR(glue->clocks->hws[i]))
			return PTR_ERR(glue->clocks->hws[i]);
	}
	return of_clk_add_hw_provider(node, of_clk_hw_onecell_get, glue->clocks);
}

/* In D3hot the function forgets its state, as long as one of the lines is asserted. */
static int glue_reset_assert(struct reset_controller_dev *rcdev, unsigned long id)
{
	struct glue *glue = container_of(rcdev, struct glue, resets);

	if (glue->num_asserted++)
		return 0;
	pci_save_state(glue->pdev);
	return pci_set_power_state(glue->pdev, PCI_D3hot);
}

static int glue_reset_deassert(struct reset_controller_dev *rcdev, unsigned long id)
{
	struct glue *glue = container_of(rcdev, struct glue, resets);
	int ret;

	/* Nothing is asserted at first. */
	if (!glue->num_asserted || --glue->num_asserted)
		return 0;
	ret = pci_set_power_state(glue->pdev, PCI_D0);
	pci_restore_state(glue->pdev);
	return ret;
}

static const struct reset_control_ops glue_reset_ops = {
	.assert = glue_reset_assert,
	.deassert = glue_reset_deassert,
};

static int glue_add_resets(struct glue *glue, struct device_node *node)
{
	struct device *dev = &glue->pdev->dev;

	glue->resets.ops = &glue_reset_ops;
	glue->resets.owner = THIS_MODULE;
	glue->resets.dev = dev;
	glue->resets.of_node = node;
	glue->resets.nr_resets = GLUE_RESETS;
	return devm_reset_controller_register(dev, &glue->resets);
}

/* As large as the node says, where the function is. */
static int glue_add_core(struct glue *glue, struct device_node *node)
{
	struct resource csb = DEFINE_RES_MEM(0, 0), reg;
	const struct platform_device_info info = {
		.parent = &glue->pdev->dev,
		.fwnode = of_fwnode_handle(node),
		.name = "nvdla-soc",
		.id = PLATFORM_DEVID_NONE,
		.res = &csb,
		.num_res = 1,
		.dma_mask = DMA_BIT_MASK(64),
	};
	int ret;

	ret = of_address_to_resource(node, 0, &reg);
	if (ret)
		return ret;
	csb.start = pci_resource_start(glue->pdev, NVDLA_PCI_CSB_BAR);
	csb.end = csb.start + resource_size(&reg) - 1;
	csb.parent = &glue->pdev->resource[NVDLA_PCI_CSB_BAR];

	glue->core = platform_device_register_full(&info);
	return PTR_ERR_OR_ZERO(glue->core);
}

static int glue_add_child(struct glue *glue, struct device_node *node)
{
	/* No device is going to be made of the node: who refers to it must not wait for one. */
	fwnode_dev_initialized(of_fwnode_handle(node), true);
	if (of_node_name_eq(node, "interrupt-controller"))
		return glue_add_lines(glue, node);
	if (of_node_name_eq(node, "clock-controller"))
		return glue_add_clocks(glue, node);
	if (of_node_name_eq(node, "reset-controller"))
		return glue_add_resets(glue, node);
	return glue_add_core(glue, node);
}

static void glue_put_node(void *data)
{
	of_node_put(data);
}

static int glue_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct device_node *child;
	struct glue *glue;
	int ret;

	glue = devm_kzalloc(&pdev->dev, sizeof(*glue), GFP_KERNEL);
	if (!glue)
		return -ENOMEM;
	glue->pdev = pdev;
	pci_set_drvdata(pdev, glue);

	glue->soc = of_find_compatible_node(NULL, NULL, "nvdla,test-soc");
	if (!glue->soc)
		return -ENODEV;
	ret = devm_add_action_or_reset(&pdev->dev, glue_put_node, glue->soc);
	if (ret)
		return ret;
	fwnode_dev_initialized(of_fwnode_handle(glue->soc), true);

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	pci_set_master(pdev);

	/* The core is the last one. */
	for_each_child_of_node(glue->soc, child) {
		ret = glue_add_child(glue, child);
		if (ret) {
			of_node_put(child);
			return ret;
		}
	}
	return 0;
}

static void glue_remove(struct pci_dev *pdev)
{
	struct glue *glue = pci_get_drvdata(pdev);
	struct device_node *node = of_get_child_by_name(glue->soc, "clock-controller");

	platform_device_unregister(glue->core);
	if (node)
		of_clk_del_provider(node);
	of_node_put(node);
	pci_clear_master(pdev);
}

#include "nvdla_glue.h"

MODULE_DESCRIPTION("SoC device of a device tree from the NVDLA device model's PCI function, for tests");
