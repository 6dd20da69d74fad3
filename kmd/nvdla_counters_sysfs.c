// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The counters in sysfs; see Documentation/ABI/testing/sysfs-driver-nvdla.
 *
 * They are root's: from what the engines do when, one client could tell what another
 * one computes. What a file itself uses is in its fdinfo.
 *
 * The bus drivers name the groups as those of their devices: the driver core adds
 * them before it announces that the driver is bound, and has removed them, and
 * waited for everybody in a show function, before the device goes.
 */
#include <linux/device.h>
#include <linux/math64.h>
#include <linux/sysfs.h>
#include <linux/time64.h>

#include "nvdla_counters.h"
#include "nvdla_device.h"

/**
 * struct nvdla_counter_attribute - one counter of one engine
 * @attr: the attribute
 * @op_type: engine
 * @counter: which counter; not used for the busy time
 */
struct nvdla_counter_attribute {
	struct device_attribute attr;
	u8 op_type;
	u8 counter;
};

static const struct nvdla_counter_attribute *
to_nvdla_counter_attribute(const struct device_attribute *attr)
{
	return container_of_const(attr, struct nvdla_counter_attribute, attr);
}

static ssize_t nvdla_counter_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct nvdla_counter_attribute *which = to_nvdla_counter_attribute(attr);
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%llu\n", nvdla_counters_read(&ndev->counters, which->op_type,
							     which->counter));
}

static ssize_t nvdla_busy_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct nvdla_counter_attribute *which = to_nvdla_counter_attribute(attr);
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	u64 ns = nvdla_counters_busy_ns(&ndev->counters, which->op_type);

	return sysfs_emit(buf, "%llu\n", div_u64(ns, NSEC_PER_USEC));
}

static umode_t nvdla_counter_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	const struct device_attribute *dev_attr = container_of(attr, struct device_attribute, attr);
	const struct nvdla_device *ndev = dev_get_drvdata(kobj_to_dev(kobj));

	if (!(ndev->variant->engines & BIT(to_nvdla_counter_attribute(dev_attr)->op_type)))
		return SYSFS_GROUP_INVISIBLE;
	return attr->mode;
}

#define NVDLA_ATTRIBUTE(_type, _name, _show, _counter)					\
	(&((struct nvdla_counter_attribute) {						\
		.attr = __ATTR(_name, 0400, _show, NULL),				\
		.op_type = NVDLA_OP_##_type,						\
		.counter = _counter,							\
	}).attr.attr)

#define NVDLA_COUNTER(_type, _name, _counter)						\
	NVDLA_ATTRIBUTE(_type, _name, nvdla_counter_show, NVDLA_COUNTER_##_counter)

#define NVDLA_BUSY_TIME(_type) NVDLA_ATTRIBUTE(_type, busy_time_us, nvdla_busy_show, 0)

static struct attribute *nvdla_bdma_attrs[] = {
	NVDLA_BUSY_TIME(BDMA),
	NVDLA_COUNTER(BDMA, operations, OPERATIONS),
	NVDLA_COUNTER(BDMA, counted_operations, COUNTED),
	NVDLA_COUNTER(BDMA, read_stall_cycles, READ_STALL),
	NVDLA_COUNTER(BDMA, write_stall_cycles, WRITE_STALL),
	NULL
};

static struct attribute *nvdla_conv_attrs[] = {
	NVDLA_BUSY_TIME(CONV),
	NVDLA_COUNTER(CONV, operations, OPERATIONS),
	NVDLA_COUNTER(CONV, counted_operations, COUNTED),
	NVDLA_COUNTER(CONV, read_stall_cycles, READ_STALL),
	NVDLA_COUNTER(CONV, weight_read_stall_cycles, WEIGHT_READ_STALL),
	NVDLA_COUNTER(CONV, read_latency_cycles, READ_LATENCY),
	NVDLA_COUNTER(CONV, weight_read_latency_cycles, WEIGHT_READ_LATENCY),
	NVDLA_COUNTER(CONV, saturation, SATURATION),
	NVDLA_COUNTER(CONV, nan_input, NAN_INPUT),
	NVDLA_COUNTER(CONV, inf_input, INF_INPUT),
	NVDLA_COUNTER(CONV, nan_weight, NAN_WEIGHT),
	NVDLA_COUNTER(CONV, inf_weight, INF_WEIGHT),
	NULL
};

static struct attribute *nvdla_sdp_attrs[] = {
	NVDLA_BUSY_TIME(SDP),
	NVDLA_COUNTER(SDP, operations, OPERATIONS),
	NVDLA_COUNTER(SDP, counted_operations, COUNTED),
	NVDLA_COUNTER(SDP, read_stall_cycles, READ_STALL),
	NVDLA_COUNTER(SDP, x1_read_stall_cycles, X1_READ_STALL),
	NVDLA_COUNTER(SDP, x2_read_stall_cycles, X2_READ_STALL),
	NVDLA_COUNTER(SDP, y_read_stall_cycles, Y_READ_STALL),
	NVDLA_COUNTER(SDP, write_stall_cycles, WRITE_STALL),
	NVDLA_COUNTER(SDP, saturation, SATURATION),
	NVDLA_COUNTER(SDP, nan_input, NAN_INPUT),
	NVDLA_COUNTER(SDP, inf_input, INF_INPUT),
	NVDLA_COUNTER(SDP, nan_output, NAN_OUTPUT),
	NVDLA_COUNTER(SDP, lut_underflow, LUT_UNDERFLOW),
	NVDLA_COUNTER(SDP, lut_overflow, LUT_OVERFLOW),
	NVDLA_COUNTER(SDP, lut_le_hit, LUT_LE_HIT),
	NVDLA_COUNTER(SDP, lut_lo_hit, LUT_LO_HIT),
	NVDLA_COUNTER(SDP, lut_hybrid, LUT_HYBRID),
	NULL
};

static struct attribute *nvdla_pdp_attrs[] = {
	NVDLA_BUSY_TIME(PDP),
	NVDLA_COUNTER(PDP, operations, OPERATIONS),
	NVDLA_COUNTER(PDP, counted_operations, COUNTED),
	NVDLA_COUNTER(PDP, read_stall_cycles, READ_STALL),
	NVDLA_COUNTER(PDP, write_stall_cycles, WRITE_STALL),
	NVDLA_COUNTER(PDP, nan_input, NAN_INPUT),
	NVDLA_COUNTER(PDP, inf_input, INF_INPUT),
	NVDLA_COUNTER(PDP, nan_output, NAN_OUTPUT),
	NULL
};

static struct attribute *nvdla_cdp_attrs[] = {
	NVDLA_BUSY_TIME(CDP),
	NVDLA_COUNTER(CDP, operations, OPERATIONS),
	NVDLA_COUNTER(CDP, counted_operations, COUNTED),
	NVDLA_COUNTER(CDP, read_stall_cycles, READ_STALL),
	NVDLA_COUNTER(CDP, write_stall_cycles, WRITE_STALL),
	NVDLA_COUNTER(CDP, saturation, SATURATION),
	NVDLA_COUNTER(CDP, nan_input, NAN_INPUT),
	NVDLA_COUNTER(CDP, inf_input, INF_INPUT),
	NVDLA_COUNTER(CDP, nan_output, NAN_OUTPUT),
	NVDLA_COUNTER(CDP, lut_underflow, LUT_UNDERFLOW),
	NVDLA_COUNTER(CDP, lut_overflow, LUT_OVERFLOW),
	NVDLA_COUNTER(CDP, lut_le_hit, LUT_LE_HIT),
	NVDLA_COUNTER(CDP, lut_lo_hit, LUT_LO_HIT),
	NVDLA_COUNTER(CDP, lut_hybrid, LUT_HYBRID),
	NULL
};

static struct attribute *nvdla_rubik_attrs[] = {
	NVDLA_BUSY_TIME(RUBIK),
	NVDLA_COUNTER(RUBIK, operations, OPERATIONS),
	NVDLA_COUNTER(RUBIK, counted_operations, COUNTED),
	NVDLA_COUNTER(RUBIK, read_stall_cycles, READ_STALL),
	NVDLA_COUNTER(RUBIK, write_stall_cycles, WRITE_STALL),
	NULL
};

#define NVDLA_ENGINE_GROUP(_name)							\
static const struct attribute_group nvdla_##_name##_group = {				\
	.name = "counters_" #_name,							\
	.attrs = nvdla_##_name##_attrs,							\
	.is_visible = nvdla_counter_visible,						\
}

NVDLA_ENGINE_GROUP(bdma);
NVDLA_ENGINE_GROUP(conv);
NVDLA_ENGINE_GROUP(sdp);
NVDLA_ENGINE_GROUP(pdp);
NVDLA_ENGINE_GROUP(cdp);
NVDLA_ENGINE_GROUP(rubik);

static ssize_t enable_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%d\n", READ_ONCE(ndev->counters.always));
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

	WRITE_ONCE(ndev->counters.always, enable);
	return count;
}
static DEVICE_ATTR_ADMIN_RW(enable);

static ssize_t reset_store(struct device *dev, struct device_attribute *attr, const char *buf,
			   size_t count)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	nvdla_counters_reset(&ndev->counters);
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

const struct attribute_group *nvdla_counters_groups[] = {
	&nvdla_recovery_group,
	&nvdla_control_group,
	&nvdla_bdma_group,
	&nvdla_conv_group,
	&nvdla_sdp_group,
	&nvdla_pdp_group,
	&nvdla_cdp_group,
	&nvdla_rubik_group,
	NULL
};
