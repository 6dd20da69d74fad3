// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Prepared tasks: checked once, bound to addresses as often as they are run.
 */
#include <drm/nvdla_accel.h>

#include "../nvdla_args.h"
#include "../nvdla_platform.h"
#include "../nvdla_task.h"
#include "nvdla_test_rules.h"

#define MOVED_BY 0x40000000ULL
#define SOURCE_BYTES (8 * 8 * 32)

/* The task graph of a convolution with its SDP, and the prepared task made from it. */
struct nvdla_test_prepared {
	struct nvdla_test_task *t;
	struct nvdla_prepared *prepared;
};

static int prepared_init(struct kunit *test)
{
	struct nvdla_test_prepared *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct nvdla_task_source source;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->t = nvdla_test_task_new(test);
	nvdla_test_add_conv(p->t);
	source = nvdla_test_task_source(p->t);
	source.extents = NULL;
	KUNIT_ASSERT_EQ(test, nvdla_prepared_create(&p->t->variant, &source, NULL, &p->prepared),
			0);
	test->priv = p;
	return 0;
}

static void prepared_exit(struct kunit *test)
{
	struct nvdla_test_prepared *p = test->priv;

	if (p)
		nvdla_prepared_destroy(p->prepared);
}

static struct nvdla_task *bind(struct kunit *test, u32 flags)
{
	struct nvdla_test_prepared *p = test->priv;
	struct nvdla_task *task = NULL;

	KUNIT_EXPECT_EQ(test, nvdla_task_bind(p->prepared, p->t->extents, flags, NULL, &task), 0);
	KUNIT_ASSERT_NOT_NULL(test, task);
	return task;
}

/* Counts the register writes in which two tasks of one graph differ. */
static u32 differences(struct kunit *test, const struct nvdla_task *one,
		       const struct nvdla_task *other)
{
	u32 count = 0;
	u32 op;
	u32 i;

	for (op = 0; op < nvdla_task_num_operations(one); op++) {
		KUNIT_ASSERT_EQ(test, nvdla_task_num_writes(one, op),
				nvdla_task_num_writes(other, op));
		for (i = 0; i < nvdla_task_num_writes(one, op); i++) {
			struct nvdla_reg_write a = nvdla_task_write(one, op, i);
			struct nvdla_reg_write b = nvdla_task_write(other, op, i);

			KUNIT_EXPECT_EQ(test, a.reg, b.reg);
			count += a.value != b.value;
		}
	}
	return count;
}

static void prepared_equals_task_created_at_once(struct kunit *test)
{
	struct nvdla_test_prepared *p = test->priv;
	struct nvdla_task *bound = bind(test, 0);
	struct nvdla_task *created = NULL;

	KUNIT_ASSERT_EQ(test, nvdla_test_task_create(p->t, NULL, &created), 0);
	KUNIT_EXPECT_EQ(test, differences(test, bound, created), 0);
	nvdla_task_destroy(created);
	nvdla_task_destroy(bound);
}

/* Four address registers differ: of the source, the weights, SDP's operand and the destination. */
static void prepared_addresses_follow_the_extents(struct kunit *test)
{
	struct nvdla_test_prepared *p = test->priv;
	struct nvdla_task *here = bind(test, 0);
	struct nvdla_task *there;
	u32 i;

	for (i = 0; i < p->t->num_extents; i++)
		p->t->extents[i].dma_addr += MOVED_BY;
	there = bind(test, 0);
	KUNIT_EXPECT_EQ(test, differences(test, here, there), 4);
	nvdla_task_destroy(there);
	nvdla_task_destroy(here);
}

/* Three registers enable counters: of CDMA, of SDP's RDMA and of SDP. */
static void prepared_counts_only_if_asked(struct kunit *test)
{
	struct nvdla_task *silent = bind(test, 0);
	struct nvdla_task *counting = bind(test, NVDLA_TASK_STATISTICS);

	KUNIT_EXPECT_EQ(test, differences(test, silent, counting), 3);
	nvdla_task_destroy(counting);
	nvdla_task_destroy(silent);
}

static void prepared_is_refused_memory(struct kunit *test)
{
	struct nvdla_test_prepared *p = test->priv;
	const struct nvdla_test_place source = SURFACE(conv, src_data);
	struct nvdla_task_extent *extent = &p->t->extents[0];
	struct nvdla_task *task = NULL;
	struct nvdla_refusal why;

	extent->size = SOURCE_BYTES - 1;
	KUNIT_EXPECT_EQ(test, nvdla_task_bind(p->prepared, p->t->extents, 0, &why, &task),
			-EINVAL);
	nvdla_rules_check(test, &why, NVDLA_TEST_RULE_CUBE_EXTENT, source, __LINE__);
	KUNIT_EXPECT_EQ(test, why.error.operation, 0);
	KUNIT_EXPECT_EQ(test, why.op_type, NVDLA_OP_CONV);
	KUNIT_EXPECT_EQ(test, why.limit, extent->size);
	KUNIT_EXPECT_TRUE(test, !task);

	extent->size++;
	nvdla_task_destroy(bind(test, 0));
}

static void prepared_has_its_number_of_addresses(struct kunit *test)
{
	struct nvdla_test_prepared *p = test->priv;
	struct drm_nvdla_task args = { .handle = 1, .num_addresses = p->t->num_extents };
	const u32 expected = nvdla_prepared_num_addresses(p->prepared);
	struct nvdla_refusal why;

	KUNIT_EXPECT_EQ(test, nvdla_args_check_prepared(&args, expected, &why), 0);
	args.num_addresses++;
	KUNIT_EXPECT_EQ(test, nvdla_args_check_prepared(&args, expected, &why), -EINVAL);
	nvdla_rules_check(test, &why, NVDLA_TEST_RULE_TASK_PREPARED_ADDRESSES,
			  TASK(num_addresses), __LINE__);
	KUNIT_EXPECT_EQ(test, why.limit, p->t->num_extents);
}

static void prepared_says_what_it_takes(struct kunit *test)
{
	struct nvdla_test_prepared *p = test->priv;
	struct nvdla_task *task = bind(test, 0);
	u64 writes = nvdla_task_num_writes(task, 0) + nvdla_task_num_writes(task, 1);

	KUNIT_EXPECT_GT(test, nvdla_prepared_bytes(p->prepared),
			writes * sizeof(struct nvdla_reg_write));
	nvdla_task_destroy(task);
}

static struct kunit_case nvdla_prepared_cases[] = {
	KUNIT_CASE(prepared_equals_task_created_at_once),
	KUNIT_CASE(prepared_addresses_follow_the_extents),
	KUNIT_CASE(prepared_counts_only_if_asked),
	KUNIT_CASE(prepared_is_refused_memory),
	KUNIT_CASE(prepared_has_its_number_of_addresses),
	KUNIT_CASE(prepared_says_what_it_takes),
	{}
};

static struct kunit_suite nvdla_prepared_suite = {
	.name = "nvdla_prepared",
	.init = prepared_init,
	.exit = prepared_exit,
	.test_cases = nvdla_prepared_cases,
};

kunit_test_suite(nvdla_prepared_suite);
