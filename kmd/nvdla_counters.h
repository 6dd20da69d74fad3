/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_COUNTERS_H__
#define __NVDLA_COUNTERS_H__

#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <drm/nvdla_descriptors.h>

struct nvdla_task;

/* Counters of an engine. The core's own counters come last. */
enum {
	NVDLA_COUNTER_BUSY_NS,
	NVDLA_COUNTER_OPERATIONS,
	NVDLA_COUNTER_COUNTED,
	NVDLA_FIRST_CORE_COUNTER,
	NVDLA_NUM_COUNTERS = 18
};

/**
 * struct nvdla_usage - busy time of the engines for one open file
 * @client_id: &drm_file.client_id
 * @busy_ns: per engine, nanoseconds; protected by &nvdla_counters.lock
 */
struct nvdla_usage {
	u64 client_id;
	u64 busy_ns[NVDLA_NUM_OP_TYPES];
};

/**
 * struct nvdla_engine_counters - counters of one engine
 * @enabled: operations that are enabled now
 * @since: time up to which @value's busy time is counted, while @enabled is not 0
 * @user: usage of the file that owns the enabled operations
 * @value: the counters, in the order of the enumeration above
 */
struct nvdla_engine_counters {
	u32 enabled;
	ktime_t since;
	struct nvdla_usage *user;
	u64 value[NVDLA_NUM_COUNTERS];
};

/**
 * struct nvdla_counters - counters of a core since its probe, or since they were reset
 * @lock: protects @engine and all &nvdla_usage.busy_ns
 * @always: the core's counters are enabled for every task; read and written atomically
 * @engine: counters of each engine, by enum nvdla_op_type
 */
struct nvdla_counters {
	/* protects @engine and nvdla_usage.busy_ns */
	spinlock_t lock;
	bool always;
	struct nvdla_engine_counters engine[NVDLA_NUM_OP_TYPES];
};

void nvdla_counters_op_enabled(struct nvdla_counters *counters, struct nvdla_usage *usage,
			       u32 op_type);
void nvdla_counters_op_completed(struct nvdla_counters *counters, const struct nvdla_task *task,
				 u32 operation);
void nvdla_counters_stop(struct nvdla_counters *counters);
u64 nvdla_counters_read(struct nvdla_counters *counters, u32 op_type, u32 counter);
void nvdla_counters_reset(struct nvdla_counters *counters);
u64 nvdla_usage_busy_ns(struct nvdla_counters *counters, struct nvdla_usage *usage, u32 op_type);

const char *nvdla_engine_name(u32 op_type);

#endif /* __NVDLA_COUNTERS_H__ */
