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
