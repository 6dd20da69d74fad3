# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# The engine's objects. Kbuild includes this file; meson.build reads the same lists from it.
nvdla-engine-objs := \
	nvdla_args.o \
	nvdla_bdma.o \
	nvdla_cdp.o \
	nvdla_check.o \
	nvdla_conv.o \
	nvdla_conv_program.o \
	nvdla_conv_reuse.o \
	nvdla_conv_rules.o \
	nvdla_graph.o \
	nvdla_issue.o \
	nvdla_lut.o \
	nvdla_pdp.o \
	nvdla_prepared.o \
	nvdla_program.o \
	nvdla_result.o \
	nvdla_rubik.o \
	nvdla_schedule.o \
	nvdla_scrub.o \
	nvdla_sdp.o \
	nvdla_sdp_program.o \
	nvdla_sequencer.o \
	nvdla_stats.o \
	nvdla_task.o \
	nvdla_variant.o

# Tests that use KUnit in a kernel tree and GoogleTest in user space: first their sample task
# graphs, then the tests.
nvdla-engine-test-task-objs := \
	tests/nvdla_test_conv.o \
	tests/nvdla_test_engines.o \
	tests/nvdla_test_task.o
nvdla-engine-test-objs := \
	tests/nvdla_test_core.o \
	tests/nvdla_test_follow.o \
	tests/nvdla_test_kunit.o \
	tests/nvdla_test_prepared.o \
	tests/nvdla_test_rules.o \
	tests/nvdla_test_rules_args.o \
	tests/nvdla_test_rules_conv.o \
	tests/nvdla_test_rules_lut.o \
	tests/nvdla_test_rules_other.o \
	tests/nvdla_test_rules_reuse.o \
	tests/nvdla_test_rules_sdp.o \
	tests/nvdla_test_rules_task.o \
	tests/nvdla_test_sequencer.o \
	tests/nvdla_test_sequencer_engines.o \
	tests/nvdla_test_sequencer_lut.o
