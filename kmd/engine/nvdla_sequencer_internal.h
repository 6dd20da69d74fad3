/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_SEQUENCER_INTERNAL_H
#define NVDLA_SEQUENCER_INTERNAL_H

#include <drm/nvdla_descriptors.h>

#include <nvdla/hw/registers.h>

#include "nvdla_internal.h"
#include "nvdla_io.h"
#include "nvdla_schedule.h"

struct nvdla_sequencer_ops;

/** NVDLA_UNIT_REGS - registers of a unit that can belong to a group */
#define NVDLA_UNIT_REGS 64

/** NVDLA_PRODUCER_UNKNOWN - the unit's register group was not selected yet */
#define NVDLA_PRODUCER_UNKNOWN U8_MAX

/**
 * struct nvdla_group_shadow - last values written to a unit's register group
 * @valid: bit n is set if register n was written
 * @value: register values
 */
struct nvdla_group_shadow {
	u64 valid;
	u32 value[NVDLA_UNIT_REGS];
};

/**
 * struct nvdla_loaded_lut - look-up table in an engine's memory
 * @valid: a table was uploaded
 * @fp16: the table's slopes are FP16
 * @owner: &nvdla_task.owner of the task for which the table was uploaded
 * @table: the uploaded table
 */
struct nvdla_loaded_lut {
	bool valid;
	bool fp16;
	u64 owner;
	struct nvdla_lut_desc table;
};

/**
 * struct nvdla_sequencer - see nvdla_sequencer.h
 * @variant: the core's configuration
 * @io: access to its registers
 * @ops: functions of the owner
 * @context: passed to @ops
 * @task: task that runs, or NULL
 * @schedule: progress of @task
 * @ahead: progress of the next task, which is programmed ahead; its task is NULL if there is none
 * @needs_reset: the core's state is not known
 * @pointers_known: @next_group and @rdma_next are known to match the core
 * @cbuf_flushed: the convolution buffer was flushed since reset
 * @cbuf_data_banks: number of data banks of the last convolution, 0 if none ran since reset
 * @next_group: per engine: group that the engine will run next
 * @rdma_next: per engine: group that its RDMA will run next
 * @rdma_group: per engine and group: the RDMA's group for the operation in that group
 * @conv_seen: per group: interrupt status bits that came for the group's convolution
 * @bdma_next: group that BDMA will launch next
 * @bdma_slots: BDMA has at least this many free slots
 * @bdma_group: per group of the schedule: BDMA's own group for the operation in that group
 * @producer: per unit: register group that is selected for writing
 * @shadow: per unit and group: contents of the registers
 * @lut: look-up tables of SDP and CDP
 */
struct nvdla_sequencer {
	const struct nvdla_variant *variant;
	struct nvdla_io io;
	const struct nvdla_sequencer_ops *ops;
	void *context;
	struct nvdla_task *task;
	struct nvdla_schedule schedule;
	struct nvdla_schedule ahead;
	bool needs_reset;
	bool pointers_known;
	bool cbuf_flushed;
	u32 cbuf_data_banks;
	u8 next_group[NVDLA_NUM_OP_TYPES];
	u8 rdma_next[NVDLA_NUM_OP_TYPES];
	u8 rdma_group[NVDLA_NUM_OP_TYPES][NVDLA_NUM_GROUPS];
	u32 conv_seen[NVDLA_NUM_GROUPS];
	u8 bdma_next;
	u32 bdma_slots;
	u8 bdma_group[NVDLA_NUM_GROUPS];
	u8 producer[NVDLA_NUM_UNITS];
	struct nvdla_group_shadow shadow[NVDLA_NUM_UNITS][NVDLA_NUM_GROUPS];
	struct nvdla_loaded_lut lut[2];
};

/* CLOCK_MONOTONIC in nanoseconds, or 0 without &nvdla_io.now. */
static inline u64 nvdla_sequencer_now(const struct nvdla_sequencer *sequencer)
{
	return sequencer->io.now ? sequencer->io.now(sequencer->io.context) : 0;
}

/* Returns the value last written to a register of a group, 0 if none was written since reset. */
static inline u32 nvdla_sequencer_held(const struct nvdla_sequencer *sequencer, u32 group, u32 reg)
{
	return sequencer->shadow[reg / NVDLA_UNIT_SIZE][group]
		.value[reg % NVDLA_UNIT_SIZE / sizeof(u32)];
}

/* Whether a unit is the RDMA of an engine, with groups of its own. */
static inline bool nvdla_unit_is_rdma(u32 unit)
{
	return unit == NVDLA_SDP_RDMA_BASE / NVDLA_UNIT_SIZE ||
	       unit == NVDLA_PDP_RDMA_BASE / NVDLA_UNIT_SIZE ||
	       unit == NVDLA_CDP_RDMA_BASE / NVDLA_UNIT_SIZE;
}

/* Forgets everything that was written to the core. */
void nvdla_issue_reset(struct nvdla_sequencer *sequencer);

/* Asks the core which groups it will run next. */
void nvdla_issue_read_pointers(struct nvdla_sequencer *sequencer);

/* Writes the registers of a task's operation to a group. Returns 0 or -EIO. */
int nvdla_issue_program(struct nvdla_sequencer *sequencer, const struct nvdla_task *task,
			u32 operation, u32 group);

/* Selects the groups of a programmed operation, so that only op_enable is left to be written. */
void nvdla_issue_aim(struct nvdla_sequencer *sequencer, const struct nvdla_task *task,
		     u32 operation, u32 group);

/* Starts an operation, &nvdla_schedule_ops.enable: @context is the sequencer. Returns 0 or -EIO. */
int nvdla_issue_enable(void *context, u32 operation, u32 group);

/*
 * Chooses a unit's register group for reading and writing. @unit is its base address divided by
 * the size of a unit.
 */
void nvdla_issue_select(struct nvdla_sequencer *sequencer, u32 unit, u32 group);

void nvdla_stats_read(struct nvdla_sequencer *sequencer, u32 operation, u32 group);

#endif /* NVDLA_SEQUENCER_INTERNAL_H */
