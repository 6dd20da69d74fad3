// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sysfs: a group of counters for each engine, see Documentation/ABI/testing/sysfs-driver-nvdla.
 * Only root can read them, because the timing of the engines reveals what another client computes.
 * The usage of an open file is in its fdinfo.
 *
 * The bus drivers register the groups as dev_groups: the driver core adds them before it announces
 * the binding, and removes them, waiting for running show functions, before the device is freed.
 */
#include <linux/device.h>
#include <linux/math64.h>
#include <linux/sysfs.h>
#include <linux/time64.h>

#include "engine/nvdla_result.h"
#include "nvdla_counters.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"

static const char * const nvdla_common_counters[] = {
	[NVDLA_COUNTER_BUSY_NS] = "busy_time_us",
	[NVDLA_COUNTER_OPERATIONS] = "operations",
	[NVDLA_COUNTER_COUNTED] = "counted_operations",
};

static struct device_attribute nvdla_counter_attrs[NVDLA_NUM_OP_TYPES][NVDLA_NUM_COUNTERS];
static struct attribute *nvdla_group_attrs[NVDLA_NUM_OP_TYPES][NVDLA_NUM_COUNTERS + 1];

static ssize_t nvdla_counter_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	u32 index = attr - nvdla_counter_attrs[0];
	u32 type = index / NVDLA_NUM_COUNTERS, counter = index % NVDLA_NUM_COUNTERS;
	u64 value = nvdla_counters_read(&ndev->hw.counters, type, counter);

	if (counter == NVDLA_COUNTER_BUSY_NS)
		value = div_u64(value, NSEC_PER_USEC);
	return sysfs_emit(buf, "%llu\n", value);
}

static umode_t nvdla_counter_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	const struct device_attribute *dev_attr = container_of(attr, struct device_attribute, attr);
	const struct nvdla_device *ndev = dev_get_drvdata(kobj_to_dev(kobj));
	u32 type = (dev_attr - nvdla_counter_attrs[0]) / NVDLA_NUM_COUNTERS;

	return ndev->hw.variant->engines & BIT(type) ? attr->mode : SYSFS_GROUP_INVISIBLE;
}

#define NVDLA_GROUP(_type, _name)						\
	[NVDLA_OP_##_type] = {							\
		.name = "counters_" _name,					\
		.attrs = nvdla_group_attrs[NVDLA_OP_##_type],			\
		.is_visible = nvdla_counter_visible,				\
	}

static const struct attribute_group nvdla_engine_groups[NVDLA_NUM_OP_TYPES] = {
	NVDLA_GROUP(BDMA, "bdma"),
	NVDLA_GROUP(CONV, "conv"),
	NVDLA_GROUP(SDP, "sdp"),
	NVDLA_GROUP(PDP, "pdp"),
	NVDLA_GROUP(CDP, "cdp"),
	NVDLA_GROUP(RUBIK, "rubik"),
};

static ssize_t enable_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%d\n", READ_ONCE(ndev->hw.counters.always));
}

static ssize_t enable_store(struct device *dev, struct device_attribute *attr, const char *buf,
			    size_t count)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	bool enable;
	int ret;

	ret = kstrtobool(buf, &enable);
	if (ret)
		return ret;

	WRITE_ONCE(ndev->hw.counters.always, enable);
	return count;
}
static DEVICE_ATTR_ADMIN_RW(enable);

static ssize_t reset_store(struct device *dev, struct device_attribute *attr, const char *buf,
			   size_t count)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	nvdla_counters_reset(&ndev->hw.counters);
	return count;
}
static DEVICE_ATTR_WO(reset);

static struct attribute *nvdla_control_attrs[] = {
	&dev_attr_enable.attr,
	&dev_attr_reset.attr,
	NULL
};

static const struct attribute_group nvdla_control_group = {
	.name = "counters",
	.attrs = nvdla_control_attrs,
};

static ssize_t recovery_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct nvdla_device *ndev = dev_get_drvdata(dev);

	if (READ_ONCE(ndev->hw.dead))
		return sysfs_emit(buf, "dead\n");
	return sysfs_emit(buf, "%s\n", ndev->hw.bus_ops->reset ? "reset" : "none");
}
static DEVICE_ATTR_RO(recovery);

static struct attribute *nvdla_recovery_attrs[] = {
	&dev_attr_recovery.attr,
	NULL
};

/* Tells how the driver recovers from a hang of the core. */
static const struct attribute_group nvdla_recovery_group = {
	.attrs = nvdla_recovery_attrs,
};

const struct attribute_group *nvdla_sysfs_groups[] = {
	&nvdla_engine_groups[NVDLA_OP_BDMA],
	&nvdla_engine_groups[NVDLA_OP_CONV],
	&nvdla_engine_groups[NVDLA_OP_SDP],
	&nvdla_engine_groups[NVDLA_OP_PDP],
	&nvdla_engine_groups[NVDLA_OP_CDP],
	&nvdla_engine_groups[NVDLA_OP_RUBIK],
	&nvdla_control_group,
	&nvdla_recovery_group,
	NULL
};

static void nvdla_counter_add(struct device_attribute *attr, struct attribute **place,
			      const char *name)
{
	attr->attr.name = name;
	attr->attr.mode = 0400;
	attr->show = nvdla_counter_show;
	*place = &attr->attr;
}

/** nvdla_sysfs_init() - fill the attribute groups, before any driver is registered */
void nvdla_sysfs_init(void)
{
	const struct nvdla_counter *counters;
	struct device_attribute *attr;
	struct attribute **place;
	u32 type, count, i;

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		attr = nvdla_counter_attrs[type];
		place = nvdla_group_attrs[type];
		for (i = 0; i < NVDLA_FIRST_CORE_COUNTER; i++)
			nvdla_counter_add(attr++, place++, nvdla_common_counters[i]);
		counters = nvdla_counters_of(type, &count);
		for (i = 0; i < count; i++, attr++)
			if (counters[i].name)
				nvdla_counter_add(attr, place++, counters[i].name);
	}
}
