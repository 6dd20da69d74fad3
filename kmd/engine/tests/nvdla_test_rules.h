/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tests of the rules for a submit. Each rule needs a valid task, a change that breaks the rule, and
 * the member that the error has to name.
 */
#ifndef NVDLA_TEST_RULES_H
#define NVDLA_TEST_RULES_H

#include <kunit/test.h>

#include <drm/nvdla_accel.h>
#include <drm/nvdla_descriptors.h>

#include "nvdla_test_task.h"

/* An index for each rule. */
enum nvdla_test_rule {
#define NVDLA_RULE(name, text, source) NVDLA_TEST_RULE_##name,
#include "nvdla_test_rule_list.h"
	NVDLA_TEST_NUM_RULES
};

/**
 * struct nvdla_test_place - a member of a submitted structure
 * @member_of: enum drm_nvdla_struct
 * @offset: bytes from the start of the structure
 * @size: bytes of the member
 */
struct nvdla_test_place {
	u32 member_of;
	u32 offset;
	u32 size;
};

#define NVDLA_TEST_PLACE(where, type, member) \
	((struct nvdla_test_place) { \
		.member_of = DRM_NVDLA_STRUCT_##where, \
		.offset = offsetof(type, member), \
		.size = offsetofend(type, member) - offsetof(type, member), \
	})
#define SUBMIT(member) NVDLA_TEST_PLACE(SUBMIT, struct drm_nvdla_submit, member)
#define TASK(member) NVDLA_TEST_PLACE(TASK, struct drm_nvdla_task, member)
#define ADDRESS(member) NVDLA_TEST_PLACE(ADDRESS, struct drm_nvdla_address, member)
#define NODE(member) NVDLA_TEST_PLACE(NODE, struct nvdla_graph_node, member)
#define OPERATION(engine, member) \
	NVDLA_TEST_PLACE(OPERATION, struct nvdla_##engine##_op_desc, member)
#define SURFACE(engine, member) \
	NVDLA_TEST_PLACE(SURFACE, union nvdla_surface_desc, engine.member)
#define LUT(member) NVDLA_TEST_PLACE(LUT, struct nvdla_lut_desc, member)

/**
 * NVDLA_VALID() - begin with a valid task
 * @test: test
 * @make: function that turns the empty task into a valid one
 */
#define NVDLA_VALID(test, make) nvdla_rules_valid(test, make, __LINE__)

/**
 * NVDLA_REFUSED() - expect that the task is refused, because it breaks a rule now
 * @test: test
 * @rule: name of the rule, without its prefix
 * @place: the member that the error has to name
 */
#define NVDLA_REFUSED(test, rule, place) \
	nvdla_rules_refused(test, NVDLA_TEST_RULE_##rule, place, __LINE__)

/**
 * NVDLA_BREAKS() - expect that one change to a valid task breaks a rule
 * @test: test
 * @rule: name of the rule, without its prefix
 * @place: the member that the error has to name
 * @make: function that turns the empty task into a valid one
 * @change: statement that breaks the rule
 */
#define NVDLA_BREAKS(test, rule, place, make, change) \
	do { \
		NVDLA_VALID(test, make); \
		change; \
		NVDLA_REFUSED(test, rule, place); \
	} while (0)

/* The text of each rule, and how often a test broke it and was refused. */
extern const char *const nvdla_test_rule_text[NVDLA_TEST_NUM_RULES];
extern u32 nvdla_rules_broken[NVDLA_TEST_NUM_RULES];

int nvdla_rules_init(struct kunit *test);
void nvdla_rules_valid(struct kunit *test, void (*make)(struct nvdla_test_task *t), int line);
void nvdla_rules_accepted(struct kunit *test, int line);
void nvdla_rules_refused(struct kunit *test, u32 rule, struct nvdla_test_place place, int line);
void nvdla_rules_check(struct kunit *test, const struct nvdla_refusal *why, u32 rule,
		       struct nvdla_test_place place, int line);

#endif /* NVDLA_TEST_RULES_H */
