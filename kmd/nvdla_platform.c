// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* NVDLA in an SoC, described by a device tree or by a driver that created the device. */
#include <linux/clk.h>
#include <linux/delay.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/of_address.h>
#include <linux/platform_device.h>
#include <linux/pm_runtime.h>
#include <linux/property.h>
#include <linux/reset.h>

#include <drm/nvdla_accel.h>

#include <nvdla/hw/registers.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_pm.h"
#include "nvdla_probe.h"

/* Without a device tree, clocks are looked up by name, as clkdev cannot list a device's clocks. */
static const char *const nvdla_platform_clocks[] = { "core", "csb" };

/* Duration of a reset pulse: many cycles of the slowest clock of a core. */
#define NVDLA_RESET_US 10

static int nvdla_platform_reset(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	int ret;

	ret = reset_control_assert(ndev->reset);
	if (ret)
		return ret;
	fsleep(NVDLA_RESET_US);
	return reset_control_deassert(ndev->reset);
}

static void nvdla_platform_power_down(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	if (ndev->clks_enabled)
		clk_bulk_disable_unprepare(ndev->num_clks, ndev->clks);
	ndev->clks_enabled = false;
}

static int nvdla_platform_power_up(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	int ret;

	ret = clk_bulk_prepare_enable(ndev->num_clks, ndev->clks);
	if (ret)
		return ret;
	ndev->clks_enabled = true;

	ret = ndev->reset ? nvdla_platform_reset(dev) : 0;
	if (ret)
		nvdla_platform_power_down(dev);

	return ret;
}

/* Holds the core in reset. Its clocks may be shared, so disabling them might not stop it. */
static int nvdla_platform_disable_dma(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	int ret = reset_control_assert(ndev->reset);

	nvdla_platform_power_down(dev);
	return ret;
}

static const struct nvdla_bus_ops nvdla_platform_bus_ops = {
	.reset = nvdla_platform_reset,
	.disable_dma = nvdla_platform_disable_dma,
	.power_up = nvdla_platform_power_up,
	.power_down = nvdla_platform_power_down,
};

static const struct nvdla_bus_ops nvdla_platform_bus_ops_without_reset = {
	.power_up = nvdla_platform_power_up,
	.power_down = nvdla_platform_power_down,
};

static const struct nvdla_variant *nvdla_platform_variant(struct platform_device *pdev)
{
	const struct platform_device_id *id = platform_get_device_id(pdev);

	return id ? (const void *)id->driver_data : device_get_match_data(&pdev->dev);
}

static int nvdla_platform_get_clocks(struct nvdla_device *ndev, struct device *dev)
{
	u32 i;
	int ret;

	if (dev_of_node(dev)) {
		ret = devm_clk_bulk_get_all(dev, &ndev->clks);
		ndev->num_clks = max(ret, 0);
	} else {
		ndev->num_clks = ARRAY_SIZE(nvdla_platform_clocks);
		ndev->clks = devm_kcalloc(dev, ndev->num_clks, sizeof(*ndev->clks), GFP_KERNEL);
		if (!ndev->clks)
			return -ENOMEM;
		for (i = 0; i < ndev->num_clks; i++)
			ndev->clks[i].id = nvdla_platform_clocks[i];
		ret = devm_clk_bulk_get_optional(dev, ndev->num_clks, ndev->clks);
	}
	if (ret < 0)
		return ret;

	for (i = 0; i < ndev->num_clks; i++)
		if (ndev->num_clks == 1 ||
		    (ndev->clks[i].id && !strcmp(ndev->clks[i].id, "core")))
			ndev->core_clk = ndev->clks[i].clk;
	return 0;
}

static int nvdla_platform_get_reset(struct nvdla_device *ndev, struct device *dev)
{
	if (dev_of_node(dev))
		ndev->reset = devm_reset_control_array_get_optional_exclusive(dev);
	else
		ndev->reset = devm_reset_control_get_optional_exclusive(dev, NULL);
	if (IS_ERR(ndev->reset))
		return PTR_ERR(ndev->reset);

	ndev->hw.bus_ops = &nvdla_platform_bus_ops;
	if (!ndev->reset) {
		ndev->hw.bus_ops = &nvdla_platform_bus_ops_without_reset;
		dev_warn(dev, "no reset line: a core that hangs is given up, with the memory of its job\n");
	}
	return 0;
}

/* The CPU does not access on-chip memory, so only its address and size are needed. */
static int nvdla_platform_read_sram(struct nvdla_device *ndev, const struct fwnode_handle *sram)
{
	struct resource res;
	u64 range[2];
	int ret;

	if (is_of_node(sram)) {
		ret = of_address_to_resource(to_of_node(sram), 0, &res);
		if (ret)
			return ret;
		range[0] = res.start;
		range[1] = resource_size(&res);
	} else {
		ret = fwnode_property_read_u64_array(sram, "reg", range, ARRAY_SIZE(range));
		if (ret)
			return ret;
	}

	ndev->sram.base = range[0];
	ndev->sram.size = range[1];
	return 0;
}

static int nvdla_platform_get_sram(struct nvdla_device *ndev, struct device *dev)
{
	struct fwnode_handle *sram;
	int ret;

	if (!ndev->hw.variant->has_cvsram || !device_property_present(dev, "sram"))
		return 0;

	sram = fwnode_find_reference(dev_fwnode(dev), "sram", 0);
	if (IS_ERR(sram))
		return PTR_ERR(sram);

	ret = nvdla_platform_read_sram(ndev, sram);
	fwnode_handle_put(sram);
	return ret;
}

/*
 * Sets up runtime PM as the PCI core does for its devices: active and enabled, with a reference
 * that keeps the device awake during probe.
 */
static int nvdla_platform_enable_pm(struct device *dev)
{
	int ret;

	ret = devm_pm_runtime_get_noresume(dev);
	if (ret)
		return ret;

	return devm_pm_runtime_set_active_enabled(dev);
}

static int nvdla_platform_probe(struct platform_device *pdev)
{
	const struct nvdla_variant *variant = nvdla_platform_variant(pdev);
	struct device *dev = &pdev->dev;
	struct nvdla_device *ndev;
	struct resource *csb;
	int ret;

	if (!variant)
		return dev_err_probe(dev, -ENODEV, "nothing says what core this is\n");

	ndev = nvdla_device_alloc(dev);
	if (IS_ERR(ndev))
		return PTR_ERR(ndev);

	ndev->hw.variant = variant;

	ndev->hw.regs = devm_platform_get_and_ioremap_resource(pdev, 0, &csb);
	if (IS_ERR(ndev->hw.regs))
		return PTR_ERR(ndev->hw.regs);
	if (resource_size(csb) < nvdla_variant_csb_bytes(variant))
		return dev_err_probe(dev, -EINVAL, "registers %pR are less than %#x bytes\n", csb,
				     nvdla_variant_csb_bytes(variant));

	ndev->irq = platform_get_irq(pdev, 0);
	if (ndev->irq < 0)
		return ndev->irq;

	ret = nvdla_platform_get_clocks(ndev, dev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot get the clocks\n");

	ret = nvdla_platform_get_reset(ndev, dev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot get the reset lines\n");

	ret = nvdla_platform_get_sram(ndev, dev);
	if (ret)
		return dev_err_probe(dev, ret, "sram has no address and size\n");

	ret = nvdla_platform_enable_pm(dev);
	if (ret)
		return ret;

	return nvdla_device_init(ndev);
}

static void nvdla_platform_remove(struct platform_device *pdev)
{
	nvdla_device_fini(platform_get_drvdata(pdev));
}

/* The compatibles "nvidia,..." are those that NVIDIA's own driver uses. */
static const struct of_device_id nvdla_of_match[] = {
	{ .compatible = "nvdla,nv-full", .data = &nvdla_variants[DRM_NVDLA_VARIANT_NV_FULL] },
	{ .compatible = "nvidia,nvdla_os_initial",
	  .data = &nvdla_variants[DRM_NVDLA_VARIANT_NV_FULL] },
	{ .compatible = "nvidia,nv_small", .data = &nvdla_variants[DRM_NVDLA_VARIANT_NV_SMALL] },
	{ .compatible = "nvidia,nvdla_2", .data = &nvdla_variants[DRM_NVDLA_VARIANT_NV_SMALL] },
	{ .compatible = "nvidia,nv_large", .data = &nvdla_variants[DRM_NVDLA_VARIANT_NV_LARGE] },
	{ }
};
MODULE_DEVICE_TABLE(of, nvdla_of_match);

static const struct platform_device_id nvdla_platform_ids[] = {
	{ .name = "nvdla-nv-full",
	  .driver_data = (kernel_ulong_t)&nvdla_variants[DRM_NVDLA_VARIANT_NV_FULL] },
	{ }
};
MODULE_DEVICE_TABLE(platform, nvdla_platform_ids);

static struct platform_driver nvdla_platform_driver = {
	.probe = nvdla_platform_probe,
	.remove = nvdla_platform_remove,
	/*
	 * Stop the core at a reboot: the next kernel uses the memory that the core writes
	 * to.
	 */
	.shutdown = nvdla_platform_remove,
	.id_table = nvdla_platform_ids,
	.driver = {
		.name = "nvdla",
		.of_match_table = nvdla_of_match,
		.dev_groups = nvdla_sysfs_groups,
		.pm = pm_ptr(&nvdla_pm_ops),
	},
};

int nvdla_platform_register(void)
{
	return platform_driver_register(&nvdla_platform_driver);
}

void nvdla_platform_unregister(void)
{
	platform_driver_unregister(&nvdla_platform_driver);
}
