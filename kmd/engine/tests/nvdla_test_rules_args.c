// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rules of a submit's arguments.
 */
#include "../nvdla_platform.h"
#include "../nvdla_args.h"
#include "nvdla_test_rules.h"

#define BUFFER_INDEX 3
#define BUFFER_ADDRESS 0x10000
#define BUFFER_BYTES 4096

/* Arguments of a small submit with one buffer. The checks do not follow their user pointers. */
struct nvdla_test_args {
	struct drm_nvdla_submit submit;
	struct drm_nvdla_task task;
	struct drm_nvdla_address address;
	struct nvdla_task_extent buffer;
	struct nvdla_task_extent extent;
	bool has_buffer;
};

static void args_reset(struct nvdla_test_args *args)
{
	memset(args, 0, sizeof(*args));
	args->submit.num_tasks = 1;
	args->submit.task_size = sizeof(args->task);
	args->task.num_operations = 1;
	args->task.num_addresses = 1;
	args->task.address_size = sizeof(args->address);
	args->task.node_size = sizeof(struct nvdla_graph_node);
	args->task.operation_size = sizeof(union nvdla_operation_desc);
	args->task.surface_size = sizeof(union nvdla_surface_desc);
	args->address.handle = 1;
	args->buffer.dma_addr = BUFFER_ADDRESS;
	args->buffer.size = BUFFER_BYTES;
	args->buffer.present = true;
	args->has_buffer = true;
}

/* Check the arguments in the order in which the driver does. */
static int args_check(struct nvdla_test_args *args, struct nvdla_refusal *why)
{
	int ret = nvdla_args_check_submit(&args->submit, why);

	if (!ret)
		ret = nvdla_args_check_task(&args->task, why);
	if (!ret)
		ret = nvdla_args_extent(&args->address, BUFFER_INDEX,
					args->has_buffer ? &args->buffer : NULL, &args->extent,
					why);
	return ret;
}

static int args_init(struct kunit *test)
{
	struct nvdla_test_args *args = kunit_kzalloc(test, sizeof(*args), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, args);
	args_reset(args);
	test->priv = args;
	return 0;
}

/* Expects that the arguments are refused, and makes them valid again. */
static void args_refused(struct kunit *test, u32 rule, struct nvdla_test_place place, int line)
{
	struct nvdla_refusal why = {};

	KUNIT_EXPECT_EQ_MSG(test, args_check(test->priv, &why), -EINVAL, "line %d", line);
	nvdla_rules_check(test, &why, rule, place, line);
	KUNIT_EXPECT_EQ_MSG(test, why.error.operation, NVDLA_TASK_NO_OPERATION, "line %d", line);
	if (place.member_of == DRM_NVDLA_STRUCT_ADDRESS)
		KUNIT_EXPECT_EQ_MSG(test, why.error.index, BUFFER_INDEX, "line %d", line);
	args_reset(test->priv);
}

#define ARGS_BREAK(test, rule, place, change) \
	do { \
		change; \
		args_refused(test, NVDLA_TEST_RULE_##rule, place, __LINE__); \
	} while (0)

/* Make the arguments those of a prepared task. */
static void args_prepared(struct nvdla_test_args *args)
{
	memset(&args->task, 0, sizeof(args->task));
	args->task.handle = 1;
	args->task.num_addresses = 1;
	args->task.address_size = sizeof(args->address);
}

/* Expects that the task is refused for preparation, and makes it valid again. */
static void template_refused(struct kunit *test, u32 rule, struct nvdla_test_place place, int line)
{
	struct nvdla_test_args *args = test->priv;
	struct nvdla_refusal why = {};

	KUNIT_EXPECT_EQ_MSG(test, nvdla_args_check_template(&args->task, &why), -EINVAL,
			    "line %d", line);
	nvdla_rules_check(test, &why, rule, place, line);
	args_reset(args);
	args->task.address_size = 0;
}

#define TEMPLATE_BREAK(test, rule, place, change) \
	do { \
		change; \
		template_refused(test, NVDLA_TEST_RULE_##rule, place, __LINE__); \
	} while (0)

static void args_submit_rules(struct kunit *test)
{
	struct nvdla_test_args *a = test->priv;

	ARGS_BREAK(test, SUBMIT_COUNT, SUBMIT(num_tasks), a->submit.num_tasks = 0);
	ARGS_BREAK(test, SUBMIT_COUNT, SUBMIT(num_tasks), a->submit.num_tasks = 65);
	ARGS_BREAK(test, SUBMIT_COUNT, SUBMIT(num_in_syncs), a->submit.num_in_syncs = 1025);
	ARGS_BREAK(test, SUBMIT_COUNT, SUBMIT(num_out_syncs), a->submit.num_out_syncs = 1025);
	ARGS_BREAK(test, SUBMIT_COUNT, SUBMIT(timeout_ms), a->submit.timeout_ms = 600001);
	ARGS_BREAK(test, SUBMIT_SIZE, SUBMIT(task_size),
		   a->submit.task_size = NVDLA_MIN_TASK_SIZE - 4);

	a->submit.num_in_syncs = 1;
	a->submit.sync_size = sizeof(struct drm_nvdla_sync) - 8;
	args_refused(test, NVDLA_TEST_RULE_SUBMIT_SIZE, SUBMIT(sync_size), __LINE__);

	ARGS_BREAK(test, SUBMIT_FLAGS, SUBMIT(flags), a->submit.flags = 1U << 31);
	ARGS_BREAK(test, SUBMIT_RESULT, SUBMIT(result_handle),
		   a->submit.flags = DRM_NVDLA_SUBMIT_STATISTICS);
	ARGS_BREAK(test, SUBMIT_RESULT, SUBMIT(result_handle), a->submit.result_offset = 8);
}

static void args_task_rules(struct kunit *test)
{
	struct nvdla_test_args *a = test->priv;

	ARGS_BREAK(test, SUBMIT_SIZE, TASK(address_size), a->task.address_size -= 8);
	ARGS_BREAK(test, SUBMIT_SIZE, TASK(node_size), a->task.node_size = 0);
	ARGS_BREAK(test, SUBMIT_SIZE, TASK(operation_size), a->task.operation_size = 118);
	ARGS_BREAK(test, SUBMIT_SIZE, TASK(surface_size), a->task.surface_size = 4100);
	ARGS_BREAK(test, SUBMIT_SIZE, TASK(lut_size), a->task.num_luts = 1);
	ARGS_BREAK(test, TASK_NUM_OPERATIONS, TASK(num_operations), a->task.num_operations = 0);
	ARGS_BREAK(test, TASK_NUM_OPERATIONS, TASK(num_operations),
		   a->task.num_operations = NVDLA_TASK_MAX_OPERATIONS + 1);
	ARGS_BREAK(test, TASK_NUM_LUTS, TASK(num_luts),
		   a->task.num_luts = NVDLA_TASK_MAX_LUTS + 1);
	ARGS_BREAK(test, TASK_NUM_ADDRESSES, TASK(num_addresses), a->task.num_addresses = 0);
	ARGS_BREAK(test, TASK_RESERVED, TASK(reserved), a->task.reserved = 1);
}

/* A task with a handle has no descriptors of its own. */
static void args_prepared_rules(struct kunit *test)
{
	struct nvdla_test_args *a = test->priv;
	struct nvdla_refusal why;

	ARGS_BREAK(test, TASK_PREPARED, TASK(num_operations), a->task.handle = 1);

	args_prepared(a);
	KUNIT_EXPECT_EQ(test, args_check(a, &why), 0);
	a->task.graph = 1ULL << 40;
	args_refused(test, NVDLA_TEST_RULE_TASK_PREPARED, TASK(graph), __LINE__);

	args_prepared(a);
	a->task.lut_size = 4;
	args_refused(test, NVDLA_TEST_RULE_TASK_PREPARED, TASK(lut_size), __LINE__);

	args_prepared(a);
	a->task.address_size -= 8;
	args_refused(test, NVDLA_TEST_RULE_SUBMIT_SIZE, TASK(address_size), __LINE__);
}

/* A task that is being prepared has neither addresses nor a handle. */
static void args_template_rules(struct kunit *test)
{
	struct nvdla_test_args *a = test->priv;
	struct nvdla_refusal why;

	a->task.address_size = 0;
	KUNIT_EXPECT_EQ(test, nvdla_args_check_template(&a->task, &why), 0);

	TEMPLATE_BREAK(test, TASK_TEMPLATE, TASK(addresses), a->task.addresses = 64);
	TEMPLATE_BREAK(test, TASK_TEMPLATE, TASK(address_size), a->task.address_size = 24);
	TEMPLATE_BREAK(test, TASK_TEMPLATE, TASK(handle), a->task.handle = 1);
	TEMPLATE_BREAK(test, TASK_RESERVED, TASK(reserved), a->task.reserved = 1);
	TEMPLATE_BREAK(test, TASK_NUM_ADDRESSES, TASK(num_addresses), a->task.num_addresses = 0);
	TEMPLATE_BREAK(test, SUBMIT_SIZE, TASK(node_size), a->task.node_size = 0);
}

static void args_address_rules(struct kunit *test)
{
	struct nvdla_test_args *a = test->priv;

	ARGS_BREAK(test, ADDRESS_RESERVED, ADDRESS(reserved), a->address.reserved = 1);
	ARGS_BREAK(test, ADDRESS_HANDLE, ADDRESS(handle), a->has_buffer = false);
	ARGS_BREAK(test, ADDRESS_RANGE, ADDRESS(offset), a->address.offset = BUFFER_BYTES + 1);

	a->address.offset = 64;
	a->address.size = BUFFER_BYTES - 63;
	args_refused(test, NVDLA_TEST_RULE_ADDRESS_RANGE, ADDRESS(size), __LINE__);
}

static void args_extent_is_rest_of_buffer_unless_told(struct kunit *test)
{
	struct nvdla_test_args *a = test->priv;
	struct nvdla_refusal why;

	a->address.offset = 64;
	KUNIT_EXPECT_EQ(test, args_check(a, &why), 0);
	KUNIT_EXPECT_EQ(test, a->extent.dma_addr, BUFFER_ADDRESS + 64);
	KUNIT_EXPECT_EQ(test, a->extent.size, BUFFER_BYTES - 64);
	KUNIT_EXPECT_TRUE(test, a->extent.present);

	a->address.size = 32;
	KUNIT_EXPECT_EQ(test, args_check(a, &why), 0);
	KUNIT_EXPECT_EQ(test, a->extent.size, 32);

	/* A zero handle is accepted: it marks an entry that no operation uses. */
	a->address.handle = 0;
	a->has_buffer = false;
	KUNIT_EXPECT_EQ(test, args_check(a, &why), 0);
	KUNIT_EXPECT_FALSE(test, a->extent.present);
}

static struct kunit_case nvdla_args_rules_cases[] = {
	KUNIT_CASE(args_submit_rules),
	KUNIT_CASE(args_task_rules),
	KUNIT_CASE(args_prepared_rules),
	KUNIT_CASE(args_template_rules),
	KUNIT_CASE(args_address_rules),
	KUNIT_CASE(args_extent_is_rest_of_buffer_unless_told),
	{}
};

static struct kunit_suite nvdla_args_rules_suite = {
	.name = "nvdla_args_rules",
	.init = args_init,
	.test_cases = nvdla_args_rules_cases,
};

kunit_test_suite(nvdla_args_rules_suite);
