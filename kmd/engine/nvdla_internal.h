/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_INTERNAL_H
#define NVDLA_INTERNAL_H

#include <drm/nvdla_descriptors.h>

#include "nvdla_platform.h"
#include "nvdla_stats.h"
#include "nvdla_task.h"

/** NVDLA_NO_OP - no operation */
#define NVDLA_NO_OP U16_MAX

/** NVDLA_NO_LUT - no look-up table */
#define NVDLA_NO_LUT U16_MAX

/** NVDLA_MAX_EDGES - edges that leave a node: one per engine and the fused parent */
#define NVDLA_MAX_EDGES (NVDLA_NUM_OP_TYPES + 1)

/**
 * struct nvdla_edge - somebody waits for an event of an operation
 * @target: operation that waits
 * @event: enum nvdla_event
 */
struct nvdla_edge {
	u16 target;
	u8 event;
};

/**
 * struct nvdla_operation - one operation, ready to be programmed
 * @op_type: enum nvdla_op_type
 * @num_edges: edges in use
 * @uses_rdma: the engine's RDMA works too
 * @flying_in: the input is another engine's stream
 * @flying_out: the output is a stream to another engine
 * @comparison: SDP: nothing is written, the status tells what was found
 * @lut_fp16: slopes of the look-up table are FP16
 * @num_transfers: BDMA: transfers of the operation
 * @lut: index of the look-up table or NVDLA_NO_LUT; equal tables, equal index
 * @waits: number of events it waits for before it may be enabled
 * @producer: operation whose stream it takes, or NVDLA_NO_OP
 * @consumer: operation that takes its stream, or NVDLA_NO_OP
 * @first_write: index of the first register write of its program
 * @num_writes: register writes in its program
 * @edges: who waits for it
 */
struct nvdla_operation {
	u8 op_type;
	u8 num_edges;
	bool uses_rdma;
	bool flying_in;
	bool flying_out;
	bool comparison;
	bool lut_fp16;
	u8 num_transfers;
	u16 lut;
	u16 waits;
	u16 producer;
	u16 consumer;
	u32 first_write;
	u32 num_writes;
	struct nvdla_edge edges[NVDLA_MAX_EDGES];
};

/**
 * struct nvdla_op_state - how far an operation has come in the current run
 * @waits: events that are still to come
 * @enabled: op_enable was written
 * @completed: its interrupt came
 * @events: bit n is set once enum nvdla_event n happened
 * @times: when it started and ended
 */
struct nvdla_op_state {
	u16 waits;
	bool enabled;
	bool completed;
	u8 events;
	struct nvdla_operation_times times;
};

/**
 * struct nvdla_queue - order in which an engine runs its operations
 * @first: index of the first entry in the task's queue_entries
 * @count: number of entries
 */
struct nvdla_queue {
	u32 first;
	u32 count;
};

/**
 * struct nvdla_task - a checked task
 * @variant: core that it was checked for
 * @num_operations: operations
 * @num_completed: operations that completed in the current run
 * @num_extents: entries of @access
 * @num_luts: entries of @luts
 * @num_writes: entries of @writes in use
 * @operations: the operations
 * @state: what the sequencer knows about them while the task runs
 * @writes: programs of all operations, one after the other
 * @luts: copies of the look-up tables
 * @lut_alias: per look-up table, the lowest index of an equal one
 * @access: NVDLA_ACCESS_* per entry of the address table
 * @stats: counters per operation, or NULL if they were not asked for
 * @queue: per engine, enum nvdla_op_type
 * @queue_entries: operations of all queues
 */
struct nvdla_task {
	const struct nvdla_variant *variant;
	u32 num_operations;
	u32 num_completed;
	u32 num_extents;
	u32 num_luts;
	u32 num_writes;
	struct nvdla_operation *operations;
	struct nvdla_op_state *state;
	struct nvdla_reg_write *writes;
	struct nvdla_lut_desc *luts;
	u16 *lut_alias;
	u8 *access;
	struct nvdla_operation_stats *stats;
	struct nvdla_queue queue[NVDLA_NUM_OP_TYPES];
	u16 *queue_entries;
};

struct nvdla_check;

/**
 * nvdla_graph_build() - edges, queues and fused pairs of a task
 * @check: examination; its task's operations are filled
 */
void nvdla_graph_build(struct nvdla_check *check);

/**
 * nvdla_graph_check_pairs() - rules between operations
 * @check: examination, after every operation was checked by itself
 */
void nvdla_graph_check_pairs(struct nvdla_check *check);

/**
 * nvdla_graph_check_progress() - show that the task comes to its end
 * @check: examination, after nvdla_graph_check_pairs()
 *
 * Runs the schedule with an imagined core that completes every operation whose
 * turn it is.
 */
void nvdla_graph_check_progress(struct nvdla_check *check);

#endif /* NVDLA_INTERNAL_H */
