// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Counters of the engines: busy time and operations of all tasks, the core's own counters of tasks
 * with NVDLA_TASK_STATISTICS.
 *
 * Time is measured from writing op_enable to seeing the interrupt. If an engine has two enabled
 * operations, one running and one queued, the time in which both are enabled counts once. All
 * operations on the hardware belong to one job, and so to one open file.
 */
#include <drm/nvdla_accel.h>

#include "engine/nvdla_result.h"
#include "engine/nvdla_task.h"
#include "nvdla_counters.h"

static_assert(NVDLA_FIRST_CORE_COUNTER + NVDLA_MAX_ENGINE_COUNTERS == NVDLA_NUM_COUNTERS);

/* Returns the name of an engine, enum nvdla_op_type, for sysfs, fdinfo, traces and dumps. */
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

/* Brings the busy time of an engine, and of the file that uses it, up to date. */
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
 * nvdla_usage_busy_ns() - get the time that a file has kept an engine busy
 * @counters: counters of the device
 * @usage: usage of the file
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
 * nvdla_counters_op_enabled() - count an operation that was enabled
 * @counters: counters of the device
 * @usage: usage of the file whose job is on the hardware; has to exist as long as that job
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
 * nvdla_counters_op_completed() - count an operation that completed
 * @counters: counters of the device
 * @task: task of the operation
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

/* Stops the busy time of all engines, because the job was taken off the hardware. */
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

/* Returns the present value of a counter of an engine. @counter is less than NVDLA_NUM_COUNTERS. */
u64 nvdla_counters_read(struct nvdla_counters *counters, u32 op_type, u32 counter)
{
	u64 value;

	spin_lock(&counters->lock);
	nvdla_engine_account(counters, op_type);
	value = counters->engine[op_type].value[counter];
	spin_unlock(&counters->lock);
	return value;
}

/* Sets the counters of all engines to zero; the busy times of files stay. */
void nvdla_counters_reset(struct nvdla_counters *counters)
{
	struct nvdla_engine_counters *engine;
	u32 type;

	spin_lock(&counters->lock);
	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		engine = &counters->engine[type];
		nvdla_engine_account(counters, type);
		memset(engine->value, 0, sizeof(engine->value));
	}
	spin_unlock(&counters->lock);
}
