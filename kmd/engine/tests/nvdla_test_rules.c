// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "../nvdla_platform.h"
#include "nvdla_test_rules.h"

const char *const nvdla_test_rule_text[NVDLA_TEST_NUM_RULES] = {
#define NVDLA_RULE(name, text, source) \
	[NVDLA_TEST_RULE_##name] = text,
#include "nvdla_test_rule_list.h"
};

u32 nvdla_rules_broken[NVDLA_TEST_NUM_RULES];

/**
 * nvdla_rules_init() - set up an empty task as a test's private data, before each test of a suite
 * @test: test
 *
 * Return: 0.
 */
int nvdla_rules_init(struct kunit *test)
{
	test->priv = nvdla_test_task_new(test);
	return 0;
}

/**
 * nvdla_rules_accepted() - expect that the task breaks no rule
 * @test: test
 * @line: line of the test
 */
void nvdla_rules_accepted(struct kunit *test, int line)
{
	struct nvdla_refusal why = { .rule = "" };
	struct nvdla_task *task = NULL;
	int ret = nvdla_test_task_create(test->priv, &why, &task);

	KUNIT_EXPECT_EQ_MSG(test, ret, 0, "line %d: before the change: %s", line, why.rule);
	nvdla_task_destroy(task);
}

/**
 * nvdla_rules_valid() - begin with a valid task
 * @test: test
 * @make: function that turns the empty task into a valid one
 * @line: line of the test
 */
void nvdla_rules_valid(struct kunit *test, void (*make)(struct nvdla_test_task *t), int line)
{
	nvdla_test_task_reset(test->priv);
	make(test->priv);
	nvdla_rules_accepted(test, line);
}

/**
 * nvdla_rules_refused() - expect that the task is refused for a rule
 * @test: test
 * @rule: enum nvdla_test_rule
 * @place: the member that the error has to name
 * @line: line of the test
 */
void nvdla_rules_refused(struct kunit *test, u32 rule, struct nvdla_test_place place, int line)
{
	struct nvdla_refusal why = { .rule = "" };
	struct nvdla_task *task = NULL;
	int ret = nvdla_test_task_create(test->priv, &why, &task);

	KUNIT_EXPECT_EQ_MSG(test, ret, -EINVAL, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, !task, 1, "line %d", line);
	nvdla_task_destroy(task);
	nvdla_rules_check(test, &why, rule, place, line);
}

/**
 * nvdla_rules_check() - check that an error names the rule and the member
 * @test: test
 * @why: the error
 * @rule: enum nvdla_test_rule that the error has to name
 * @place: the member that the error has to name
 * @line: line of the test
 */
void nvdla_rules_check(struct kunit *test, const struct nvdla_refusal *why, u32 rule,
		       struct nvdla_test_place place, int line)
{
	KUNIT_EXPECT_EQ_MSG(test, strcmp(why->rule, nvdla_test_rule_text[rule]), 0,
			    "line %d: %s", line, why->rule);
	KUNIT_EXPECT_EQ_MSG(test, why->error.member_of, place.member_of, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, why->error.offset, place.offset, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, why->error.size, place.size, "line %d", line);
	if (!strcmp(why->rule, nvdla_test_rule_text[rule]))
		nvdla_rules_broken[rule]++;
}
