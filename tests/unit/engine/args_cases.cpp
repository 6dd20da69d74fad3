/* SPDX-License-Identifier: MIT */
#include "args_cases.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace nvdla::test
{

namespace
{

constexpr uint32_t bufferIndex = 3;

} /* namespace */

SubmitArgs::SubmitArgs()
{
	submit.num_tasks = 1;
	submit.task_size = sizeof(task);
	task.num_operations = 1;
	task.num_addresses = 1;
	task.address_size = sizeof(address);
	task.node_size = sizeof(nvdla_graph_node);
	task.operation_size = sizeof(nvdla_operation_desc);
	task.surface_size = sizeof(nvdla_surface_desc);
	address.handle = 1;
	buffer.dma_addr = 0x10000;
	buffer.size = 4096;
	buffer.present = true;
}

int SubmitArgs::check()
{
	if (const int ret = nvdla_args_check_submit(&submit, &error))
		return ret;
	if (const int ret = nvdla_args_check_task(&task, &error))
		return ret;
	return nvdla_args_extent(&address, bufferIndex, hasBuffer ? &buffer : nullptr, &extent,
				 &error);
}

std::vector<ArgsCase> argsCases()
{
	using A = SubmitArgs;

	return {
		{ "SUBMIT_COUNT", "num_tasks", [](A &a) { a.submit.num_tasks = 0; } },
		{ "SUBMIT_COUNT", "num_tasks", [](A &a) { a.submit.num_tasks = 65; } },
		{ "SUBMIT_COUNT", "num_in_syncs", [](A &a) { a.submit.num_in_syncs = 1025; } },
		{ "SUBMIT_COUNT", "num_out_syncs", [](A &a) { a.submit.num_out_syncs = 1025; } },
		{ "SUBMIT_COUNT", "timeout_ms", [](A &a) { a.submit.timeout_ms = 600001; } },
		{ "SUBMIT_SIZE", "task_size", [](A &a) { a.submit.task_size -= 4; } },
		{ "SUBMIT_SIZE", "sync_size",
		  [](A &a) {
			  a.submit.num_in_syncs = 1;
			  a.submit.sync_size = sizeof(drm_nvdla_sync) - 8;
		  } },
		{ "SUBMIT_SIZE", "address_size", [](A &a) { a.task.address_size -= 8; } },
		{ "SUBMIT_SIZE", "node_size", [](A &a) { a.task.node_size = 0; } },
		{ "SUBMIT_SIZE", "operation_size", [](A &a) { a.task.operation_size = 118; } },
		{ "SUBMIT_SIZE", "surface_size", [](A &a) { a.task.surface_size = 4100; } },
		{ "SUBMIT_SIZE", "lut_size", [](A &a) { a.task.num_luts = 1; } },
		{ "SUBMIT_FLAGS", "flags", [](A &a) { a.submit.flags = 1U << 31; } },
		{ "SUBMIT_RESULT", "result_handle",
		  [](A &a) { a.submit.flags = DRM_NVDLA_SUBMIT_STATISTICS; } },
		{ "SUBMIT_RESULT", "result_handle", [](A &a) { a.submit.result_offset = 8; } },
		{ "TASK_NUM_OPERATIONS", "num_operations",
		  [](A &a) { a.task.num_operations = 0; } },
		{ "TASK_NUM_OPERATIONS", "num_operations",
		  [](A &a) { a.task.num_operations = NVDLA_TASK_MAX_OPERATIONS + 1; } },
		{ "TASK_NUM_LUTS", "num_luts",
		  [](A &a) { a.task.num_luts = NVDLA_TASK_MAX_LUTS + 1; } },
		{ "TASK_NUM_ADDRESSES", "num_addresses", [](A &a) { a.task.num_addresses = 0; } },
		{ "ADDRESS_RESERVED", "addresses[3].reserved",
		  [](A &a) { a.address.reserved = 1; } },
		{ "ADDRESS_HANDLE", "addresses[3].handle", [](A &a) { a.hasBuffer = false; } },
		{ "ADDRESS_RANGE", "addresses[3].offset", [](A &a) { a.address.offset = 4097; } },
		{ "ADDRESS_RANGE", "addresses[3].size",
		  [](A &a) {
			  a.address.offset = 64;
			  a.address.size = 4096 - 63;
		  } },
	};
}

TEST(Extents, AreTheRestOfTheirBufferUnlessTold)
{
	SubmitArgs args;
	args.address.offset = 64;
	ASSERT_EQ(args.check(), 0);
	EXPECT_EQ(args.extent.dma_addr, 0x10040u);
	EXPECT_EQ(args.extent.size, 4096u - 64);
	EXPECT_TRUE(args.extent.present);

	args.address.size = 32;
	ASSERT_EQ(args.check(), 0);
	EXPECT_EQ(args.extent.size, 32u);

	/* An entry that no operation uses. */
	args.address.handle = 0;
	args.hasBuffer = false;
	ASSERT_EQ(args.check(), 0);
	EXPECT_FALSE(args.extent.present);
}

} /* namespace nvdla::test */
