/* SPDX-License-Identifier: MIT */
/*
 * The list of rules, and how a violation is told.
 */
#include <cerrno>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <tests/nvdla_test_rules.h>

#include "device/refusal.h"
#include "kunit.h"
#include "task_builder.h"

namespace nvdla::test
{

namespace
{

const std::map<std::string, uint32_t> &numbers()
{
	static const std::map<std::string, uint32_t> table = {
#define NVDLA_RULE(number, name, text, source) { #name, number },
#include <drm/nvdla_rules.h>
	};
	return table;
}

} /* namespace */

/* In kmd/engine/tests: a task that breaks it and nothing else. */
TEST(Rules, EachHasATest)
{
	runKunitQuietly();
	for (const auto &[name, number] : numbers()) {
		ASSERT_LE(number, static_cast<uint32_t>(NVDLA_TEST_MAX_RULE));
		EXPECT_GT(nvdla_rules_broken[number], 0u) << name;
	}
}

TEST(Rules, HaveOneNumberEach)
{
	std::set<uint32_t> seen;
	for (const auto &[name, number] : numbers())
		EXPECT_TRUE(seen.insert(number).second) << name;
	EXPECT_FALSE(seen.contains(DRM_NVDLA_RULE_NONE));
}

TEST(Rules, AreToldInWords)
{
	drm_nvdla_error error = {};
	error.rule = DRM_NVDLA_RULE_CUBE_EXTENT;
	error.op_type = NVDLA_OP_SDP;
	error.member_of = DRM_NVDLA_STRUCT_SURFACE;
	error.offset = offsetof(nvdla_sdp_surface_desc, x1_data);
	error.size = sizeof(nvdla_data_cube);
	error.value = 96;
	error.limit = 64;
	EXPECT_EQ(describeRefusal(error),
		  "x1_data: the cube reaches beyond the memory of its address (is 96, limit 64)");

	/* Of a newer driver: numbers that this code does not know. */
	error.rule = 4711;
	error.member_of = 4711;
	error.value = static_cast<uint64_t>(-1);
	EXPECT_EQ(describeRefusal(error),
		  "rule 4711, which this version does not know (is -1, limit 64)");
	error.member_of = DRM_NVDLA_STRUCT_SURFACE;
	error.offset = 640;
	EXPECT_EQ(refusedField(error), "byte 640");
}

TEST(Rules, ErrorSaysWhichOperation)
{
	TaskBuilder builder;
	builder.addPdp();
	builder.addConv();
	builder.conv(1).pad_x_left = 7;
	const Created created = builder.create();
	EXPECT_EQ(created.result, -EINVAL);
	EXPECT_EQ(created.error.operation, 1u);
	EXPECT_EQ(created.error.op_type, static_cast<uint32_t>(NVDLA_OP_CONV));
	EXPECT_EQ(created.error.value, 7u);
	EXPECT_EQ(created.error.limit, 2u);
}

/* An inner product of four cubes: 1x1 cubes are packed, so they cannot be 64 bytes apart. */
TEST(Rules, BatchesOfSingleElementsArePacked)
{
	TaskBuilder builder;
	nvdla_conv_op_desc &op = builder.conv(builder.addConv() - 1);
	op.batch = builder.sdp(1).batch_num = 4;
	op.batch_stride = builder.sdp(1).batch_stride = 32;
	op.input_width_csc = op.input_height_csc = op.release = 1;
	op.input_width_cmac = op.input_height_cmac = 1;
	op.kernel_width_csc = op.kernel_height_csc = 1;
	op.pad_x_left = op.pad_x_right = op.pad_y_top = op.pad_y_bottom = 0;
	builder.convCubes(0).src_data = featureCube(0, 0, 1, 1, 32);
	builder.convCubes(0).dst_data = streamCube(1, 1, 32);
	builder.setChannels(0, 32);
	builder.setKernels(0, 32);
	builder.sdpCubes(1).dst_data.offset = 32;
	const Created created = builder.create();
	EXPECT_EQ(created.result, 0) << describeRefusal(created.error);
}

TEST(Rules, ErrorMayBeIgnored)
{
	TaskBuilder builder;
	builder.add(NVDLA_OP_PDP);
	const nvdla_task_source source = builder.source();
	nvdla_task *task = nullptr;
	EXPECT_EQ(nvdla_task_create(&builder.variant, &source, nullptr, &task), -EINVAL);
	EXPECT_EQ(task, nullptr);
}

} /* namespace nvdla::test */
