/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A simulated core that records writes and completes operations as a test tells it to. */
#ifndef NVDLA_TEST_CORE_H
#define NVDLA_TEST_CORE_H

#include <kunit/test.h>

#include "../nvdla_sequencer.h"
#include "../nvdla_task.h"
#include "nvdla_test_task.h"

/* Capacities of the lists below: enough for the largest test, which uploads look-up tables. */
#define NVDLA_TEST_MAX_ACCESSES 4096
#define NVDLA_TEST_MAX_EVENTS 32
#define NVDLA_TEST_MAX_READABLE 8
#define NVDLA_TEST_MAX_TASKS 4

/* Bits of GLB's S_INTR_STATUS, by register group. */
#define SDP_DONE(group) BIT(group)
#define CDP_DONE(group) BIT(2 + (group))
#define PDP_DONE(group) BIT(4 + (group))
#define BDMA_DONE(group) BIT(6 + (group))
#define DATA_DONE(group) BIT(16 + (group))
#define WEIGHT_DONE(group) BIT(18 + (group))
#define SUMS_DONE(group) BIT(20 + (group))
#define CONV_DONE(group) (SUMS_DONE(group) | DATA_DONE(group) | WEIGHT_DONE(group))

/**
 * struct nvdla_test_list - events, in the order in which they happened
 * @count: number of @values
 * @values: operations, errors or values of a register
 */
struct nvdla_test_list {
	u32 count;
	s64 values[NVDLA_TEST_MAX_EVENTS];
};

/**
 * struct nvdla_test_access - one access to a register
 * @write: true for a write, false for a read
 * @reg: byte offset
 * @value: value that was written or read
 */
struct nvdla_test_access {
	bool write;
	u32 reg;
	u32 value;
};

/**
 * struct nvdla_test_core - a core, its sequencer, and the notifications of the sequencer's owner
 * @accesses: register accesses since the test last set @num_accesses to 0
 * @num_accesses: entries of @accesses in use
 * @readable: values of registers for reads; others read as zero
 * @num_readable: entries of @readable in use
 * @delays: number of pauses between polls
 * @now_ns: the clock in nanoseconds; it ticks when it is read
 * @done: the error of each task_done notification
 * @programmed: the operation of each op_programmed notification
 * @enabled: the operation of each op_enabled notification
 * @completed: the operation of each op_completed notification
 * @sequencer: runs tasks on this core
 * @graph: task graph for nvdla_test_core_run()
 * @tasks: tasks that nvdla_test_core_create() made
 * @num_tasks: entries of @tasks in use
 */
struct nvdla_test_core {
	struct nvdla_test_access accesses[NVDLA_TEST_MAX_ACCESSES];
	u32 num_accesses;
	struct nvdla_reg_write readable[NVDLA_TEST_MAX_READABLE];
	u32 num_readable;
	u32 delays;
	u64 now_ns;
	struct nvdla_test_list done;
	struct nvdla_test_list programmed;
	struct nvdla_test_list enabled;
	struct nvdla_test_list completed;
	struct nvdla_sequencer *sequencer;
	struct nvdla_test_task *graph;
	struct nvdla_task *tasks[NVDLA_TEST_MAX_TASKS];
	u32 num_tasks;
};

/**
 * NVDLA_EXPECT_LIST() - expect exactly the values that follow, in this order
 * @test: test
 * @list: the struct nvdla_test_list with the test's records
 */
#define NVDLA_EXPECT_LIST(test, list, ...) \
	do { \
		static const s64 expected[] = { __VA_ARGS__ }; \
		\
		nvdla_test_expect_list(test, list, expected, ARRAY_SIZE(expected), __LINE__); \
	} while (0)

/**
 * NVDLA_EXPECT_WRITES() - expect that exactly the values that follow were written to a register
 * @test: test, whose private data is a core
 * @reg: the register
 */
#define NVDLA_EXPECT_WRITES(test, reg, ...) \
	do { \
		const s64 values[] = { __VA_ARGS__ }; \
		\
		nvdla_test_expect_writes(test, reg, values, ARRAY_SIZE(values), __LINE__); \
	} while (0)

int nvdla_test_core_init(struct kunit *test);
void nvdla_test_core_exit(struct kunit *test);
void nvdla_test_core_reads(struct nvdla_test_core *core, u32 reg, u32 value);
struct nvdla_task *nvdla_test_core_create(struct kunit *test);
struct nvdla_task *nvdla_test_core_run(struct kunit *test);
u32 nvdla_test_num_writes(const struct nvdla_test_core *core, u32 reg);
u32 nvdla_test_num_reads(const struct nvdla_test_core *core, u32 reg);
u32 nvdla_test_position(const struct nvdla_test_core *core, u32 reg);
void nvdla_test_expect_list(struct kunit *test, const struct nvdla_test_list *list,
			    const s64 *expected, u32 count, int line);
void nvdla_test_expect_writes(struct kunit *test, u32 reg, const s64 *expected, u32 count,
			      int line);

#endif /* NVDLA_TEST_CORE_H */
