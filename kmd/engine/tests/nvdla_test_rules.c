// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "../nvdla_platform.h"
#include "nvdla_test_rules.h"

u32 nvdla_rules_broken[NVDLA_TEST_MAX_RULE + 1];

/**
 * nvdla_rules_init() - before each test of a suite: an empty task in its private data
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
 * nvdla_rules_accepted() - the task breaks no rule
 * @test: test
 * @line: where that is stated
 */
void nvdla_rules_accepted(struct kunit *test, int line)
{
	struct drm_nvdla_error error = {};
	struct nvdla_task *task = NULL;
	int ret = nvdla_test_task_create(test->priv, &error, &task);

	KUNIT_EXPECT_EQ_MSG(test, ret, 0, "line %d: before the change it breaks rule %u", line,
			    error.rule);
	nvdla_task_destroy(task);
}

/**
 * nvdla_rules_valid() - begin with a valid task
 * @test: test
 * @make: makes it of the empty one
 * @line: where that is stated
 */
void nvdla_rules_valid(struct kunit *test, void (*make)(struct nvdla_test_task *t), int line)
{
	nvdla_test_task_reset(test->priv);
	make(test->priv);
	nvdla_rules_accepted(test, line);
}

/**
 * nvdla_rules_refused() - the task breaks a rule
 * @test: test
 * @rule: enum drm_nvdla_rule
 * @place: the member that the error has to name
 * @line: where that is stated
 */
void nvdla_rules_refused(struct kunit *test, u32 rule, struct nvdla_test_place place, int line)
{
	struct drm_nvdla_error error = {};
	struct nvdla_task *task = NULL;
	int ret = nvdla_test_task_create(test->priv, &error, &task);

	KUNIT_EXPECT_EQ_MSG(test, ret, -EINVAL, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, !task, 1, "line %d", line);
	nvdla_task_destroy(task);
	nvdla_rules_check(test, &error, rule, place, line);
}

/**
 * nvdla_rules_check() - an error says what is wrong
 * @test: test
 * @error: the error
 * @rule: enum drm_nvdla_rule that it has to tell
 * @place: the member that it has to name
 * @line: where that is stated
 */
void nvdla_rules_check(struct kunit *test, const struct drm_nvdla_error *error, u32 rule,
		       struct nvdla_test_place place, int line)
{
	KUNIT_EXPECT_EQ_MSG(test, error->rule, rule, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, error->member_of, place.member_of, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, error->offset, place.offset, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, error->size, place.size, "line %d", line);
	if (error->rule == rule)
		nvdla_rules_broken[rule]++;
}
