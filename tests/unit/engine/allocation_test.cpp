/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out.
 */
#include <cerrno>
#include <cstddef>

#include <gtest/gtest.h>

#include "recording_core.h"
#include "task_builder.h"

namespace
{

/* Allocations of this thread that still succeed; negative: all of them. */
thread_local int allocationsLeft = -1;

} /* namespace */

extern "C" {

void *__real_calloc(size_t count, size_t size);

/* The engine's kvcalloc() ends here, see meson.build. */
void *__wrap_calloc(size_t count, size_t size)
{
	if (allocationsLeft == 0)
		return nullptr;
	if (allocationsLeft > 0)
		allocationsLeft--;
	return __real_calloc(count, size);
}
}

namespace nvdla::test
{

TEST(Allocation, EachFailureOfATaskIsReported)
{
	TaskBuilder builder;
	builder.flags = NVDLA_TASK_STATISTICS;
	builder.addCdp();
	const nvdla_task_source source = builder.source();
	int failures = 0;

	for (;; failures++) {
		nvdla_task *task = nullptr;
		nvdla_refusal error;
		allocationsLeft = failures;
		const int result = nvdla_task_create(&builder.variant, &source, &error, &task);
		allocationsLeft = -1;
		if (result == 0) {
			nvdla_task_destroy(task);
			break;
		}
		ASSERT_EQ(result, -ENOMEM) << failures;
		ASSERT_EQ(task, nullptr);
	}
	EXPECT_GT(failures, 5);
}

TEST(Allocation, FailureOfASequencerIsReported)
{
	RecordingCore core;
	const nvdla_io io = core.io();
	const nvdla_sequencer_ops ops = {};
	nvdla_sequencer *sequencer = nullptr;

	allocationsLeft = 0;
	EXPECT_EQ(nvdla_sequencer_create(nvdla_variant_nv_full(), &io, &ops, nullptr, &sequencer),
		  -ENOMEM);
	allocationsLeft = -1;
	EXPECT_EQ(sequencer, nullptr);
	nvdla_sequencer_destroy(nullptr);
	nvdla_task_destroy(nullptr);
}

} /* namespace nvdla::test */
