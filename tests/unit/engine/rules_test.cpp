/* SPDX-License-Identifier: MIT */
/*
 * One row per rule: a valid task, what is changed, and the field that is named.
 */
#include <cerrno>
#include <functional>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "rule_cases.h"

namespace nvdla::test
{

namespace
{

const std::map<std::string, std::string> &reasons()
{
	static const std::map<std::string, std::string> table = {
#define NVDLA_RULE(name, reason, source) { #name, reason },
#include <nvdla_rules.h>
#undef NVDLA_RULE
	};
	return table;
}

std::vector<RuleCase> allCases()
{
	std::vector<RuleCase> cases;
	for (const auto &part :
	     { taskRuleCases(), convRuleCases(), sdpRuleCases(), lutRuleCases(), otherRuleCases() })
		cases.insert(cases.end(), part.begin(), part.end());
	return cases;
}

} /* namespace */

class Rule : public testing::TestWithParam<RuleCase>
{
};

TEST_P(Rule, IsEnforced)
{
	const RuleCase &row = GetParam();
	TaskBuilder builder;
	row.build(builder);
	ASSERT_EQ(builder.create().result, 0)
		<< "before the change: " << builder.create().error.field << ": "
		<< builder.create().error.reason;

	row.change(builder);
	const Created created = builder.create();
	EXPECT_EQ(created.result, -EINVAL);
	EXPECT_EQ(created.error.field, row.field);
	EXPECT_EQ(created.error.reason, reasons().at(row.rule));
	EXPECT_EQ(created.task, nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, Rule, testing::ValuesIn(allCases()), [](const auto &info) {
	return info.param.rule + "_" + std::to_string(info.index);
});

TEST(Rules, EachHasATest)
{
	std::set<std::string> tested;
	for (const RuleCase &row : allCases())
		tested.insert(row.rule);
	for (const auto &[name, reason] : reasons())
		EXPECT_TRUE(tested.contains(name)) << name;
}

TEST(Rules, ReasonsFitTheirField)
{
	for (const auto &[name, reason] : reasons())
		EXPECT_LT(reason.size(), sizeof(nvdla_task_error::reason)) << name;
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
	EXPECT_EQ(created.result, 0) << created.error.field << ": " << created.error.reason;
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
