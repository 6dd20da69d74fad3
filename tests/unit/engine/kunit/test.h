/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the engine's tests use of KUnit, for user space: there they are tests of GoogleTest.
 *
 * Names and behaviour are the kernel's. What runs the tests implements the functions.
 */
#ifndef NVDLA_TESTS_KUNIT_TEST_H
#define NVDLA_TESTS_KUNIT_TEST_H

#include <user/kernel_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct kunit - a test that runs
 * @priv: for the suite's init function
 */
struct kunit {
	void *priv;
};

/**
 * struct kunit_case - a test
 * @run_case: the test
 * @name: its name; NULL ends an array of them
 */
struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
};

/**
 * struct kunit_suite - tests that belong together
 * @name: their name
 * @init: is called before each of them; may be NULL
 * @exit: is called after each of them; may be NULL
 * @test_cases: the tests
 */
struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

/* Memory of zeros that is freed when the test has ended. */
void *kunit_kcalloc(struct kunit *test, size_t count, size_t size, gfp_t flags);

/* Called before main(). */
void kunit_register(struct kunit_suite *suite);

/* The test has failed; @fatal: it ends here. */
__attribute__((format(printf, 5, 6))) void
kunit_fail(struct kunit *test, const char *file, int line, bool fatal, const char *format, ...);

static inline void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t flags)
{
	return kunit_kcalloc(test, 1, size, flags);
}

#define KUNIT_CASE(function) { .run_case = function, .name = #function }

#define kunit_test_suite(suite)                                                                    \
	__attribute__((constructor)) static void register_##suite(void)                            \
	{                                                                                          \
		kunit_register(&(suite));                                                          \
	}

#define KUNIT_EXPECT_EQ_MSG(test, left, right, format, ...)                                        \
	do {                                                                                       \
		long long left_ = (left), right_ = (right);                                        \
		if (left_ != right_)                                                               \
			kunit_fail(test, __FILE__, __LINE__, false,                                \
				   "expected %s == %s, they are %lld and %lld; " format, #left,    \
				   #right, left_, right_, ##__VA_ARGS__);                          \
	} while (0)

#define KUNIT_EXPECT_EQ(test, left, right) KUNIT_EXPECT_EQ_MSG(test, left, right, "")
#define KUNIT_EXPECT_TRUE(test, condition) KUNIT_EXPECT_EQ(test, !!(condition), 1)
#define KUNIT_EXPECT_FALSE(test, condition) KUNIT_EXPECT_EQ(test, !!(condition), 0)
#define KUNIT_EXPECT_LT(test, left, right) KUNIT_EXPECT_TRUE(test, (left) < (right))
#define KUNIT_EXPECT_GT(test, left, right) KUNIT_EXPECT_TRUE(test, (left) > (right))
#define KUNIT_EXPECT_PTR_EQ(test, left, right) KUNIT_EXPECT_TRUE(test, (left) == (right))

#define KUNIT_ASSERT_EQ(test, left, right)                                                         \
	do {                                                                                       \
		long long left_ = (left), right_ = (right);                                        \
		if (left_ != right_)                                                               \
			kunit_fail(test, __FILE__, __LINE__, true,                                 \
				   "needed %s == %s, they are %lld and %lld", #left, #right,       \
				   left_, right_);                                                 \
	} while (0)
#define KUNIT_ASSERT_NOT_NULL(test, pointer) KUNIT_ASSERT_EQ(test, !!(pointer), 1)

#ifdef __cplusplus
}
#endif

#endif /* NVDLA_TESTS_KUNIT_TEST_H */
