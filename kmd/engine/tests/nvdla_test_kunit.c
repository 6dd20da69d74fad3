// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <kunit/test.h>

#include "../nvdla_platform.h"
#include "nvdla_test_task.h"

/**
 * nvdla_test_task_new() - allocate a task graph without operations
 * @test: test that owns the graph; it fails and ends if there is no memory
 *
 * Return: the graph, which is freed with the test.
 */
struct nvdla_test_task *nvdla_test_task_new(struct kunit *test)
{
	struct nvdla_test_task *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->graph = kunit_kcalloc(test, NVDLA_TEST_MAX_OPERATIONS, sizeof(*t->graph), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->graph);
	t->operations = kunit_kcalloc(test, NVDLA_TEST_MAX_OPERATIONS, sizeof(*t->operations),
				      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->operations);
	t->surfaces = kunit_kcalloc(test, NVDLA_TEST_MAX_OPERATIONS, sizeof(*t->surfaces),
				    GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->surfaces);
	t->luts = kunit_kcalloc(test, NVDLA_TEST_MAX_LUTS, sizeof(*t->luts), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->luts);
	t->extents = kunit_kcalloc(test, NVDLA_TEST_NUM_EXTENTS, sizeof(*t->extents), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->extents);
	nvdla_test_task_reset(t);
	return t;
}
