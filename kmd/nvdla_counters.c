// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What the engines did: busy time and operations always, the core's own counters
 * for tasks that were made with them. In sysfs they are root's, see
 * Documentation/ABI/testing/sysfs-driver-nvdla: from what the engines do when, one client
 * could tell what another one computes. What a file itself uses is in its fdinfo.
 *
 * Time is taken where op_enable is written and where the interrupt is seen. An
 * engine with two operations enabled, one running and one queued behind it, is
 * busy once. All operations on the hardware belong to one job, so to one file.
 */
#include <linux/device.h>
#include <linux/math64.h>
#include <linux/stddef.h>
#include <linux/sysfs.h>
#include <linux/time64.h>

#include <drm/nvdla_accel.h>

#include "engine/nvdla_result.h"
#include "engine/nvdla_task.h"

#include "nvdla_counters.h"
#include "nvdla_device.h"

/* The first ones are not the core's. */
enum {
	NVDLA_COUNTER_BUSY_NS,
	NVDLA_COUNTER_OPERATIONS,
	NVDLA_COUNTER_COUNTED,
	NVDLA_FIRST_CORE_COUNTER,
};

/* Sets of engines */
#define NVDLA_CONV BIT(NVDLA_OP_CONV)
#define NVDLA_SDP BIT(NVDLA_OP_SDP)
#define NVDLA_PDP BIT(NVDLA_OP_PDP)
#define NVDLA_CDP BIT(NVDLA_OP_CDP)
#define NVDLA_ALL GENMASK(NVDLA_NUM_OP_TYPES - 1, 0)
#define NVDLA_FLOATS (NVDLA_CONV | NVDLA_SDP | NVDLA_PDP | NVDLA_CDP)

#define NVDLA_RESULT(_member)							\
	offsetof(struct drm_nvdla_operation_result, _member),			\
	sizeof_field(struct drm_nvdla_operation_result, _member)

/*
 * Name in sysfs, engines that have it, and where in a result it is: what is counted for each
 * operation is told there, see struct drm_nvdla_operation_result.
 */
static const struct nvdla_counter_info {
	const char *name;
	u32 engines;
	u32 offset;
	u32 size;
} nvdla_counter_infos[] = {
	{ "busy_time_us", NVDLA_ALL },
	{ "operations", NVDLA_ALL },
	{ "counted_operations", NVDLA_ALL },
	{ "read_stall_cycles", NVDLA_ALL, NVDLA_RESULT(read_stall) },
	{ "weight_read_stall_cycles", NVDLA_CONV, NVDLA_RESULT(weight_read_stall) },
	{ "x1_read_stall_cycles", NVDLA_SDP, NVDLA_RESULT(operand_read_stall[0]) },
	{ "x2_read_stall_cycles", NVDLA_SDP, NVDLA_RESULT(operand_read_stall[1]) },
	{ "y_read_stall_cycles", NVDLA_SDP, NVDLA_RESULT(operand_read_stall[2]) },
	{ "write_stall_cycles", NVDLA_ALL & ~NVDLA_CONV, NVDLA_RESULT(write_stall) },
	{ "read_latency_cycles", NVDLA_CONV, NVDLA_RESULT(read_latency) },
	{ "weight_read_latency_cycles", NVDLA_CONV, NVDLA_RESULT(weight_read_latency) },
	{ "saturation", NVDLA_CONV | NVDLA_SDP | NVDLA_CDP, NVDLA_RESULT(saturation) },
	{ "nan_input", NVDLA_FLOATS, NVDLA_RESULT(nan_input) },
	{ "inf_input", NVDLA_FLOATS, NVDLA_RESULT(inf_input) },
	{ "nan_output", NVDLA_FLOATS & ~NVDLA_CONV, NVDLA_RESULT(nan_output) },
	{ "nan_weight", NVDLA_CONV, NVDLA_RESULT(nan_weight) },
	{ "inf_weight", NVDLA_CONV, NVDLA_RESULT(inf_weight) },
	{ "lut_underflow", NVDLA_SDP | NVDLA_CDP, NVDLA_RESULT(lut.underflow) },
	{ "lut_overflow", NVDLA_SDP | NVDLA_CDP, NVDLA_RESULT(lut.overflow) },
	{ "lut_le_hit", NVDLA_SDP | NVDLA_CDP, NVDLA_RESULT(lut.le_hit) },
	{ "lut_lo_hit", NVDLA_SDP | NVDLA_CDP, NVDLA_RESULT(lut.lo_hit) },
	{ "lut_hybrid", NVDLA_SDP | NVDLA_CDP, NVDLA_RESULT(lut.hybrid) },
};
static_assert(ARRAY_SIZE(nvdla_counter_infos) == NVDLA_NUM_COUNTERS);

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
	const struct nvdla_counter_info *info;
	const void *member;
	u32 i;

	value[NVDLA_COUNTER_COUNTED]++;
	for (i = NVDLA_FIRST_CORE_COUNTER; i < NVDLA_NUM_COUNTERS; i++) {
		info = &nvdla_counter_infos[i];
		member = (const void *)result + info->offset;
		value[i] += info->size == sizeof(u64) ? *(const u64 *)member :
							*(const u32 *)member;
	}
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

	if (!(ndev->variant->engines & BIT(type)))
		return SYSFS_GROUP_INVISIBLE;
	return nvdla_counter_infos[index].engines & BIT(type) ? attr->mode : 0;
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

/**
 * nvdla_counters_init_attrs() - make files of the table, before any driver is registered
 */
void nvdla_counters_init_attrs(void)
{
	struct device_attribute *attr;
	u32 type, i;

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		for (i = 0; i < NVDLA_NUM_COUNTERS; i++) {
			attr = &nvdla_counter_attrs[type][i];
			attr->attr.name = nvdla_counter_infos[i].name;
			attr->attr.mode = 0400;
			attr->show = nvdla_counter_show;
			nvdla_group_attrs[type][i] = &attr->attr;
		}
	}
}
