/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef __NVDLA_COUNTERS_H__
#define __NVDLA_COUNTERS_H__

#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <drm/nvdla_descriptors.h>

struct attribute_group;
struct nvdla_device;
struct nvdla_task;

/**
 * enum nvdla_counter - what is counted for an engine
 * @NVDLA_COUNTER_OPERATIONS: operations that completed
 * @NVDLA_COUNTER_COUNTED: those among them whose hardware counters were read
 * @NVDLA_COUNTER_READ_STALL: cycles the read DMA of the source stalled
 * @NVDLA_COUNTER_WEIGHT_READ_STALL: convolution: cycles the weight read DMA stalled
 * @NVDLA_COUNTER_X1_READ_STALL: SDP: cycles the read DMA of X1's operands stalled
 * @NVDLA_COUNTER_X2_READ_STALL: SDP: the same for X2
 * @NVDLA_COUNTER_Y_READ_STALL: SDP: the same for Y
 * @NVDLA_COUNTER_WRITE_STALL: cycles the write DMA stalled
 * @NVDLA_COUNTER_READ_LATENCY: convolution: latencies of data reads, cycles
 * @NVDLA_COUNTER_WEIGHT_READ_LATENCY: convolution: latencies of weight reads, cycles
 * @NVDLA_COUNTER_SATURATION: outputs that were saturated
 * @NVDLA_COUNTER_NAN_INPUT: NaNs in the source, FP16
 * @NVDLA_COUNTER_INF_INPUT: infinities in the source, FP16
 * @NVDLA_COUNTER_NAN_OUTPUT: NaNs in the output, FP16
 * @NVDLA_COUNTER_NAN_WEIGHT: NaNs in the weights, FP16
 * @NVDLA_COUNTER_INF_WEIGHT: infinities in the weights, FP16
 * @NVDLA_COUNTER_LUT_UNDERFLOW: values below both look-up tables
 * @NVDLA_COUNTER_LUT_OVERFLOW: values above both
 * @NVDLA_COUNTER_LUT_LE_HIT: values inside the raw table
 * @NVDLA_COUNTER_LUT_LO_HIT: values inside the density table
 * @NVDLA_COUNTER_LUT_HYBRID: values inside or outside both
 * @NVDLA_NUM_COUNTERS: number of counters
 */
enum nvdla_counter {
	NVDLA_COUNTER_OPERATIONS,
	NVDLA_COUNTER_COUNTED,
	NVDLA_COUNTER_READ_STALL,
	NVDLA_COUNTER_WEIGHT_READ_STALL,
	NVDLA_COUNTER_X1_READ_STALL,
	NVDLA_COUNTER_X2_READ_STALL,
	NVDLA_COUNTER_Y_READ_STALL,
	NVDLA_COUNTER_WRITE_STALL,
	NVDLA_COUNTER_READ_LATENCY,
	NVDLA_COUNTER_WEIGHT_READ_LATENCY,
	NVDLA_COUNTER_SATURATION,
	NVDLA_COUNTER_NAN_INPUT,
	NVDLA_COUNTER_INF_INPUT,
	NVDLA_COUNTER_NAN_OUTPUT,
	NVDLA_COUNTER_NAN_WEIGHT,
	NVDLA_COUNTER_INF_WEIGHT,
	NVDLA_COUNTER_LUT_UNDERFLOW,
	NVDLA_COUNTER_LUT_OVERFLOW,
	NVDLA_COUNTER_LUT_LE_HIT,
	NVDLA_COUNTER_LUT_LO_HIT,
	NVDLA_COUNTER_LUT_HYBRID,
	NVDLA_NUM_COUNTERS,
};

/**
 * struct nvdla_usage - how long one open file kept the engines busy
 * @client_id: &drm_file.client_id
 * @busy_ns: per engine; under &nvdla_counters.lock
 */
struct nvdla_usage {
	u64 client_id;
	u64 busy_ns[NVDLA_NUM_OP_TYPES];
};

/**
 * struct nvdla_engine_counters - what one engine did
 * @enabled: operations that are enabled now
 * @since: until when @busy_ns is up to date, while @enabled is not 0
 * @user: whose operations those are
 * @busy_ns: time in which at least one operation was enabled
 * @value: by enum nvdla_counter
 */
struct nvdla_engine_counters {
	u32 enabled;
	ktime_t since;
	struct nvdla_usage *user;
	u64 busy_ns;
	u64 value[NVDLA_NUM_COUNTERS];
};

/**
 * struct nvdla_counters - what a core did since it was probed, or since a reset of the counters
 * @lock: protects @engine and all &nvdla_usage.busy_ns
 * @always: have the core count for every task; read and written as a whole
 * @engine: per engine
 */
struct nvdla_counters {
	/* engine, nvdla_usage.busy_ns */
	spinlock_t lock;
	bool always;
	struct nvdla_engine_counters engine[NVDLA_NUM_OP_TYPES];
};

extern const struct attribute_group *nvdla_counters_groups[];

u64 nvdla_usage_busy_ns(struct nvdla_counters *counters, struct nvdla_usage *usage, u32 op_type);

void nvdla_counters_init(struct nvdla_counters *counters);
void nvdla_counters_op_enabled(struct nvdla_counters *counters, struct nvdla_usage *usage,
			       u32 op_type);
void nvdla_counters_op_completed(struct nvdla_counters *counters, const struct nvdla_task *task,
				 u32 operation);
void nvdla_counters_stop(struct nvdla_counters *counters);
void nvdla_counters_reset(struct nvdla_counters *counters);
u64 nvdla_counters_read(struct nvdla_counters *counters, u32 op_type, enum nvdla_counter counter);
u64 nvdla_counters_busy_ns(struct nvdla_counters *counters, u32 op_type);

const char *nvdla_engine_name(u32 op_type);

#endif /* __NVDLA_COUNTERS_H__ */
