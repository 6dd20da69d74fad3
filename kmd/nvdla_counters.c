// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Counters of the engines: busy time and operations always, the core's own counters
 * for tasks with NVDLA_TASK_STATISTICS. In sysfs only root can read them, see
 * Documentation/ABI/testing/sysfs-driver-nvdla: from the times of operations, one client
 * could guess what another one computes. A file's own use is in its fdinfo.
 *
 * Time is measured from writing op_enable to seeing the interrupt. The time of an
 * engine with two operations enabled, one running and one queued behind it, counts
 * once. All operations on the hardware belong to one job, so to one file.
 */
#include <linux/device.h>
#include <linux/math64.h>
#include <linux/sysfs.h>
#include <linux/time64.h>

#include <drm/nvdla_accel.h>

#include "engine/nvdla_result.h"
#include "engine/nvdla_task.h"

#include "nvdla_counters.h"
#include "nvdla_device.h"

/* Counters that all engines have, before the core's own. */
enum {
	NVDLA_COUNTER_BUSY_NS,
	NVDLA_COUNTER_OPERATIONS,
	NVDLA_COUNTER_COUNTED,
	NVDLA_FIRST_CORE_COUNTER,
};

static const char * const nvdla_common_counters[] = {
	[NVDLA_COUNTER_BUSY_NS] = "busy_time_us",
	[NVDLA_COUNTER_OPERATIONS] = "operations",
	[NVDLA_COUNTER_COUNTED] = "counted_operations",
};

static_assert(NVDLA_FIRST_CORE_COUNTER + NVDLA_MAX_ENGINE_COUNTERS == NVDLA_NUM_COUNTERS);

/**
 * nvdla_engine_name() - name of an engine in sysfs, fdinfo, traces and dumps
 * @op_type: enum nvdla_op_type
 *
 * Return: the name.
 */
const char *nvdla_engine_name(u32 op_type)
{
	static const char * const names[NVDLA_NUM_OP_TYPES] = {
		[NVDLA_OP_BDMA] = "bdma",
		[NVDLA_OP_CONV] = "conv",
		[NVDLA_OP_SDP] = "sdp",
		[NVDLA_OP_PDP] = "pdp",
		[NVDLA_OP_CDP] = "cdp",
		[NVDLA_OP_RUBIK] = "rubik",
	};

	return op_type < NVDLA_NUM_OP_TYPES ? names[op_type] : "?";
}

/* Brings the busy time of an engine and of its user up to date. */
static void nvdla_engine_account(struct nvdla_counters *counters, u32 op_type)
{
	struct nvdla_engine_counters *engine = &counters->engine[op_type];
	ktime_t now = ktime_get();
	u64 ns;

	lockdep_assert_held(&counters->lock);

	if (!engine->enabled)
		return;

	ns = ktime_to_ns(ktime_sub(now, engine->since));
	engine->since = now;
	engine->value[NVDLA_COUNTER_BUSY_NS] += ns;
	engine->user->busy_ns[op_type] += ns;
}

/**
 * nvdla_usage_busy_ns() - time that a file kept an engine busy, until now
 * @counters: of the device
 * @usage: of the file
 * @op_type: engine
 *
 * Never decreases, not even when the counters are set to zero.
 *
 * Return: nanoseconds.
 */
u64 nvdla_usage_busy_ns(struct nvdla_counters *counters, struct nvdla_usage *usage, u32 op_type)
{
	u64 ns;

	spin_lock(&counters->lock);
	nvdla_engine_account(counters, op_type);
	ns = usage->busy_ns[op_type];
	spin_unlock(&counters->lock);

	return ns;
}

/**
 * nvdla_counters_op_enabled() - an operation was enabled
 * @counters: of the device
 * @usage: of the file whose job is on the hardware; stays at least as long as that job
 * @op_type: engine
 */
void nvdla_counters_op_enabled(struct nvdla_counters *counters, struct nvdla_usage *usage,
			       u32 op_type)
{
	struct nvdla_engine_counters *engine = &counters->engine[op_type];

	spin_lock(&counters->lock);
	if (!engine->enabled++) {
		engine->since = ktime_get();
		engine->user = usage;
	}
	spin_unlock(&counters->lock);
}

static void nvdla_count(u64 *value, const struct drm_nvdla_operation_result *result)
{
	const struct nvdla_counter *counters;
	u32 count, i;

	counters = nvdla_counters_of(result->op_type, &count);
	value[NVDLA_COUNTER_COUNTED]++;
	for (i = 0; i < count; i++)
		value[NVDLA_FIRST_CORE_COUNTER + i] +=
			*(const u32 *)((const void *)result + counters[i].offset);
}

/**
 * nvdla_counters_op_completed() - an operation that was enabled completed
 * @counters: of the device
 * @task: its task
 * @operation: index in that task
 */
void nvdla_counters_op_completed(struct nvdla_counters *counters, const struct nvdla_task *task,
				 u32 operation)
{
	u32 op_type = nvdla_task_op_type(task, operation);
	struct nvdla_engine_counters *engine = &counters->engine[op_type];
	struct drm_nvdla_operation_result result;

	nvdla_result_operation(task, operation, &result);

	spin_lock(&counters->lock);
	nvdla_engine_account(counters, op_type);
	engine->enabled--;
	engine->value[NVDLA_COUNTER_OPERATIONS]++;
	if (result.flags & DRM_NVDLA_OPERATION_COUNTED)
		nvdla_count(engine->value, &result);
	spin_unlock(&counters->lock);
}

/**
 * nvdla_counters_stop() - the job was taken off the hardware
 * @counters: of the device
 */
void nvdla_counters_stop(struct nvdla_counters *counters)
{
	u32 type;

	spin_lock(&counters->lock);
	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		nvdla_engine_account(counters, type);
		counters->engine[type].enabled = 0;
	}
	spin_unlock(&counters->lock);
}

/*
 * sysfs: a group for each engine. The bus drivers name the groups as those of their devices: the
 * driver core adds them before it announces that the driver is bound, and has removed them, and
 * waited for everybody in a show function, before the device goes.
 */
static struct device_attribute nvdla_counter_attrs[NVDLA_NUM_OP_TYPES][NVDLA_NUM_COUNTERS];
static struct attribute *nvdla_group_attrs[NVDLA_NUM_OP_TYPES][NVDLA_NUM_COUNTERS + 1];

static ssize_t nvdla_counter_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	u32 index = attr - nvdla_counter_attrs[0];
	u32 type = index / NVDLA_NUM_COUNTERS, counter = index % NVDLA_NUM_COUNTERS;
	u64 value;

	spin_lock(&ndev->counters.lock);
	nvdla_engine_account(&ndev->counters, type);
	value = ndev->counters.engine[type].value[counter];
	spin_unlock(&ndev->counters.lock);

	if (counter == NVDLA_COUNTER_BUSY_NS)
		value = div_u64(value, NSEC_PER_USEC);
	return sysfs_emit(buf, "%llu\n", value);
}

static umode_t nvdla_counter_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	const struct device_attribute *dev_attr = container_of(attr, struct device_attribute, attr);
	const struct nvdla_device *ndev = dev_get_drvdata(kobj_to_dev(kobj));
	u32 type = (dev_attr - nvdla_counter_attrs[0]) / NVDLA_NUM_COUNTERS;

	return ndev->variant->engines & BIT(type) ? attr->mode : SYSFS_GROUP_INVISIBLE;
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
	struct nvdla_engine_counters *engine;
	u32 type;

	spin_lock(&ndev->counters.lock);
	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		engine = &ndev->counters.engine[type];
		nvdla_engine_account(&ndev->counters, type);
		memset(engine->value, 0, sizeof(engine->value));
	}
	spin_unlock(&ndev->counters.lock);
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

	if (READ_ONCE(ndev->dead))
		return sysfs_emit(buf, "dead\n");
	return sysfs_emit(buf, "%s\n", ndev->bus_ops->reset ? "reset" : "none");
}
static DEVICE_ATTR_RO(recovery);

static struct attribute *nvdla_recovery_attrs[] = {
	&dev_attr_recovery.attr,
	NULL
};

/* How the device recovers from a hang, in sysfs. */
static const struct attribute_group nvdla_recovery_group = {
	.attrs = nvdla_recovery_attrs,
};

const struct attribute_group *nvdla_counters_groups[] = {
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

/**
 * nvdla_counters_init_attrs() - make files of the tables, before any driver is registered
 */
void nvdla_counters_init_attrs(void)
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
