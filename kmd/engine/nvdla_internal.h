/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef NVDLA_INTERNAL_H
#define NVDLA_INTERNAL_H

#include <drm/nvdla_accel.h>
#include <drm/nvdla_descriptors.h>

#include "nvdla_io.h"
#include "nvdla_platform.h"
#include "nvdla_variant.h"

/** NVDLA_NO_OP - index that stands for no operation */
#define NVDLA_NO_OP U16_MAX

/** NVDLA_NO_LUT - index that stands for no look-up table */
#define NVDLA_NO_LUT U16_MAX

/** NVDLA_MAX_EDGES - edges that leave a node: one per engine and the fused parent */
#define NVDLA_MAX_EDGES (NVDLA_NUM_OP_TYPES + 1)

/**
 * struct nvdla_edge - an edge of the task graph, in the operation that causes the event
 * @target: index of the operation that waits
 * @event: enum nvdla_event
 */
struct nvdla_edge {
	u16 target;
	u8 event;
};

/** enum nvdla_write_kind - meaning of &nvdla_write.value */
enum nvdla_write_kind {
	/** @NVDLA_WRITE_VALUE: the register's value */
	NVDLA_WRITE_VALUE,
	/** @NVDLA_WRITE_ADDRESS_HIGH: bits 63 to 32 of the address of an access */
	NVDLA_WRITE_ADDRESS_HIGH,
	/** @NVDLA_WRITE_ADDRESS_LOW: bits 31 to 0 of the address of an access */
	NVDLA_WRITE_ADDRESS_LOW,
	/** @NVDLA_WRITE_COUNTING: the register's value if the core is to count, 0 otherwise */
	NVDLA_WRITE_COUNTING,
};

/**
 * struct nvdla_write - a register write of a prepared task
 * @reg: byte offset in the CSB space
 * @kind: enum nvdla_write_kind
 * @value: value of the register or index of an access, depending on @kind
 */
struct nvdla_write {
	u32 reg : 24;
	u32 kind : 8;
	u32 value;
};

/**
 * struct nvdla_surface_member - part of an operation's surface descriptor
 * @offset: bytes from the descriptor's start
 * @size: size of the part in bytes
 */
struct nvdla_surface_member {
	u16 offset;
	u16 size;
};

/**
 * struct nvdla_access - memory that an operation touches, before its address is known
 * @offset: bytes from the start of the memory that @address names to the first byte
 * @bytes: number of bytes from @offset on
 * @alignment: alignment of the first byte's address, bytes
 * @alignment_rule: the alignment rule in words
 * @operation: index of the operation that touches the memory
 * @address: index into the address table, valid
 * @mem_type: enum nvdla_mem_type that the address has to have
 * @type_member: the member with @mem_type
 * @address_member: the member with @address
 * @offset_member: the member with @offset
 * @member: the member that describes the whole access
 */
struct nvdla_access {
	u64 offset;
	u64 bytes;
	const char *alignment_rule;
	u32 alignment;
	u16 operation;
	u16 address;
	u8 mem_type;
	struct nvdla_surface_member type_member;
	struct nvdla_surface_member address_member;
	struct nvdla_surface_member offset_member;
	struct nvdla_surface_member member;
};

/**
 * struct nvdla_operation - one operation, ready to be programmed
 * @op_type: enum nvdla_op_type
 * @num_edges: edges in use
 * @uses_rdma: the operation uses the engine's RDMA
 * @flying_in: the input is another engine's stream
 * @flying_out: the output is a stream to another engine
 * @comparison: SDP: compare mode, whose result is in the status; nothing is written
 * @lut_fp16: slopes of the look-up table are FP16
 * @num_transfers: BDMA: transfers of the operation
 * @lut: index of the look-up table or NVDLA_NO_LUT; equal tables have the same index
 * @waits: number of events that have to occur before the operation may be enabled
 * @producer: index of the operation whose stream this operation takes, or NVDLA_NO_OP
 * @consumer: index of the operation that takes this operation's stream, or NVDLA_NO_OP
 * @first_write: index in &nvdla_prepared.writes of the program's first register write
 * @num_writes: register writes in the program
 * @edges: operations that wait for this one
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
 * struct nvdla_op_state - progress of an operation in the current run
 * @waits: events that are still to come
 * @enabled: the operation's op_enable was written
 * @completed: the operation's interrupt came
 * @events: bit n is set once enum nvdla_event n happened
 * @times: when the operation started and ended
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
 * struct nvdla_prepared - a checked task graph, constant from then on
 * @variant: core for which the graph was checked
 * @bytes: memory that the structure and its arrays take
 * @num_operations: entries of @operations
 * @num_extents: entries of @use
 * @num_luts: entries of @luts
 * @num_writes: entries of @writes in use
 * @num_accesses: entries of @accesses in use
 * @operations: the operations
 * @writes: programs of all operations, one after the other
 * @accesses: memory that the operations touch
 * @luts: copies of the look-up tables
 * @lut_alias: per look-up table, the lowest index of an equal one
 * @use: NVDLA_ACCESS_* per entry of the address table
 * @queue: queue of each engine, by enum nvdla_op_type
 * @queue_entries: indices of operations: the contents of all queues
 */
struct nvdla_prepared {
	const struct nvdla_variant *variant;
	u64 bytes;
	u32 num_operations;
	u32 num_extents;
	u32 num_luts;
	u32 num_writes;
	u32 num_accesses;
	struct nvdla_operation *operations;
	struct nvdla_write *writes;
	struct nvdla_access *accesses;
	struct nvdla_lut_desc *luts;
	u16 *lut_alias;
	u8 *use;
	struct nvdla_queue queue[NVDLA_NUM_OP_TYPES];
	u16 *queue_entries;
};

/**
 * struct nvdla_task - a prepared task with its addresses and its progress
 * @prepared: the prepared task
 * @owned: @prepared if that is freed with the task, or NULL
 * @owner: number of the client to whom the task belongs, see nvdla_task_set_owner()
 * @num_completed: operations that completed in the current run
 * @state: state of each operation while the task runs
 * @addresses: per access of @prepared, the core's address of the first byte
 * @counted: per operation the core's counters, or NULL without NVDLA_TASK_STATISTICS
 */
struct nvdla_task {
	const struct nvdla_prepared *prepared;
	struct nvdla_prepared *owned;
	u64 owner;
	u32 num_completed;
	struct nvdla_op_state *state;
	u64 *addresses;
	struct drm_nvdla_operation_result *counted;
};

/* Returns the value of a register write of @task->prepared for this task's addresses and flags. */
static inline u32 nvdla_task_value(const struct nvdla_task *task, const struct nvdla_write *write)
{
	switch (write->kind) {
	case NVDLA_WRITE_ADDRESS_HIGH:
		return upper_32_bits(task->addresses[write->value]);
	case NVDLA_WRITE_ADDRESS_LOW:
		return lower_32_bits(task->addresses[write->value]);
	case NVDLA_WRITE_COUNTING:
		return task->counted ? write->value : 0;
	}
	return write->value;
}

/*
 * Allocates a task that has no addresses yet, or returns NULL. @flags is NVDLA_TASK_STATISTICS
 * or 0.
 */
struct nvdla_task *nvdla_task_allocate(const struct nvdla_prepared *prepared, u32 flags);

struct nvdla_check;

/* Builds edges, queues and fused pairs of a task whose operations are filled. */
void nvdla_graph_build(struct nvdla_check *check);

/* Checks rules between operations, once every operation was checked by itself. */
void nvdla_graph_check_pairs(struct nvdla_check *check);

/*
 * Checks that the task can run to its end, after nvdla_graph_check_pairs(): simulates the schedule
 * with a core that completes every operation whose turn it is.
 */
void nvdla_graph_check_progress(struct nvdla_check *check);

#endif /* NVDLA_INTERNAL_H */
