// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the writing of look-up tables by the sequencer.
 */
#include <nvdla/hw/registers.h>

#include "../nvdla_platform.h"
#include "nvdla_test_core.h"

/* Register writes of an upload: an address for each table, all entries, all settings. */
#define WHOLE_LUT_ENTRIES (65 + 257)
#define WHOLE_LUT_WRITES (2 + WHOLE_LUT_ENTRIES + 10)

/* Returns the number of table entries that were written. */
static u32 lut_entries(const struct nvdla_test_core *core)
{
	return nvdla_test_num_writes(core, NVDLA_SDP_S_LUT_ACCESS_DATA);
}

static void sequencer_lut_is_uploaded_once(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_use_lut(t, nvdla_test_add_sdp(t));
	nvdla_test_add_sdp(t);
	t->operations[1].sdp.y_op = t->operations[0].sdp.y_op;
	t->operations[1].sdp.lut_index = 0;
	nvdla_test_core_run(test);
	KUNIT_EXPECT_EQ(test, lut_entries(core), WHOLE_LUT_ENTRIES);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1);
	nvdla_sequencer_irq(core->sequencer, SDP_DONE(0) | SDP_DONE(1));

	/* The next task with an equal table uploads nothing. */
	core->num_accesses = 0;
	nvdla_test_core_run(test);
	KUNIT_EXPECT_EQ(test, lut_entries(core), 0);
}

/* Returns the number of writes to the registers of SDP's tables. */
static u32 lut_writes(const struct nvdla_test_core *core)
{
	u32 writes = 0;
	u32 reg;

	for (reg = NVDLA_SDP_S_LUT_ACCESS_CFG; reg <= NVDLA_SDP_S_LUT_LO_SLOPE_SHIFT;
	     reg += sizeof(u32))
		writes += nvdla_test_num_writes(core, reg);
	return writes;
}

/* Runs the graph's only operation, an SDP that uses register @group, as a task of @owner. */
static void run_sdp_of(struct kunit *test, u64 owner, u32 group)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_task *task = nvdla_test_core_create(test);

	core->num_accesses = 0;
	nvdla_task_set_owner(task, owner);
	KUNIT_ASSERT_EQ(test, nvdla_sequencer_start(core->sequencer, task), 0);
	nvdla_sequencer_irq(core->sequencer, SDP_DONE(group));
}

#define LUT_ADDRESS(lo, entry) \
	(NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ACCESS_TYPE | \
	 ((lo) ? NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_TABLE_ID : 0) | (entry))

static void sequencer_lut_is_written_where_it_differs(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_lut_desc *lut = &t->luts[0];

	nvdla_test_use_lut(t, nvdla_test_add_sdp(t));
	run_sdp_of(test, 1, 0);
	NVDLA_EXPECT_WRITES(test, NVDLA_SDP_S_LUT_ACCESS_CFG, LUT_ADDRESS(0, 0), LUT_ADDRESS(1, 0));
	KUNIT_EXPECT_EQ(test, lut_writes(core), WHOLE_LUT_WRITES);

	/* LE's last entry, two adjacent entries of LO, and one other register differ. */
	lut->le_table[64] ^= 1;
	lut->lo_table[7] = -2;
	lut->lo_table[8] = 3;
	lut->hybrid_priority ^= 1;
	run_sdp_of(test, 1, 1);
	NVDLA_EXPECT_WRITES(test, NVDLA_SDP_S_LUT_ACCESS_CFG, LUT_ADDRESS(0, 64),
			    LUT_ADDRESS(1, 7));
	NVDLA_EXPECT_WRITES(test, NVDLA_SDP_S_LUT_ACCESS_DATA, (u16)lut->le_table[64], 0xfffe, 3);
	KUNIT_EXPECT_EQ(test, nvdla_test_num_writes(core, NVDLA_SDP_S_LUT_CFG), 1);
	KUNIT_EXPECT_EQ(test, lut_writes(core), 2 + 3 + 1);
}

static void sequencer_lut_of_another_owner_is_written_as_a_whole(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_use_lut(t, nvdla_test_add_sdp(t));
	run_sdp_of(test, 1, 0);
	/* Another owner's table is replaced as a whole even if it is equal. */
	run_sdp_of(test, 2, 1);
	KUNIT_EXPECT_EQ(test, lut_writes(core), WHOLE_LUT_WRITES);

	/* The loaded table is now that of owner 2. */
	t->luts[0].lo_table[7]++;
	run_sdp_of(test, 2, 0);
	KUNIT_EXPECT_EQ(test, lut_writes(core), 2);
	t->luts[0].lo_table[7]++;
	run_sdp_of(test, 1, 1);
	KUNIT_EXPECT_EQ(test, lut_writes(core), WHOLE_LUT_WRITES);
}

static void sequencer_lut_is_written_as_a_whole_after_reset(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_use_lut(t, nvdla_test_add_sdp(t));
	run_sdp_of(test, 1, 0);
	nvdla_sequencer_reset(core->sequencer);
	run_sdp_of(test, 1, 0);
	KUNIT_EXPECT_EQ(test, lut_writes(core), WHOLE_LUT_WRITES);
}

static void sequencer_lut_is_not_replaced_while_its_engine_runs(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;

	nvdla_test_use_lut(t, nvdla_test_add_sdp(t));
	nvdla_test_use_lut(t, nvdla_test_add_sdp(t));
	nvdla_test_core_run(test);
	NVDLA_EXPECT_LIST(test, &core->enabled, 0);
	KUNIT_EXPECT_EQ(test, lut_entries(core), WHOLE_LUT_ENTRIES);
	core->num_accesses = 0;
	nvdla_sequencer_irq(core->sequencer, SDP_DONE(0));
	KUNIT_EXPECT_EQ(test, lut_entries(core), WHOLE_LUT_ENTRIES);
	KUNIT_EXPECT_LT(test, nvdla_test_position(core, NVDLA_SDP_S_LUT_ACCESS_DATA),
			nvdla_test_position(core, NVDLA_SDP_D_OP_ENABLE));
	NVDLA_EXPECT_LIST(test, &core->enabled, 0, 1);
}

static void sequencer_lut_registers_of_cdp(struct kunit *test)
{
	struct nvdla_test_core *core = test->priv;
	struct nvdla_test_task *t = core->graph;
	struct nvdla_lut_desc *lut = &t->luts[0];

	nvdla_test_add_cdp(t);
	lut->method = NVDLA_LUT_EXPONENTIAL;
	lut->le_offset.field.value = -20;
	lut->lo_offset.field.value = -3;
	lut->le_start = -5;
	lut->le_end = 0x2f12345678;
	lut->le_underflow.field.scale = -2;
	lut->le_underflow.field.shifter = -3;
	lut->le_overflow.field.scale = 7;
	lut->le_overflow.field.shifter = 4;
	lut->hybrid_priority = 1;
	nvdla_test_core_run(test);
	NVDLA_EXPECT_WRITES(test, NVDLA_CDP_S_LUT_INFO, 0xfd00ec);
	NVDLA_EXPECT_WRITES(test, NVDLA_CDP_S_LUT_CFG, 0x40);
	NVDLA_EXPECT_WRITES(test, NVDLA_CDP_S_LUT_LE_START_LOW, 0xfffffffb);
	NVDLA_EXPECT_WRITES(test, NVDLA_CDP_S_LUT_LE_START_HIGH, 0x3f);
	NVDLA_EXPECT_WRITES(test, NVDLA_CDP_S_LUT_LE_END_LOW, 0x12345678);
	NVDLA_EXPECT_WRITES(test, NVDLA_CDP_S_LUT_LE_END_HIGH, 0x2f);
	NVDLA_EXPECT_WRITES(test, NVDLA_CDP_S_LUT_LE_SLOPE_SCALE, 0x7fffe);
	NVDLA_EXPECT_WRITES(test, NVDLA_CDP_S_LUT_LE_SLOPE_SHIFT, (4 << 5) | 0x1d);
}

static struct kunit_case nvdla_sequencer_lut_cases[] = {
	KUNIT_CASE(sequencer_lut_is_uploaded_once),
	KUNIT_CASE(sequencer_lut_is_written_where_it_differs),
	KUNIT_CASE(sequencer_lut_of_another_owner_is_written_as_a_whole),
	KUNIT_CASE(sequencer_lut_is_written_as_a_whole_after_reset),
	KUNIT_CASE(sequencer_lut_is_not_replaced_while_its_engine_runs),
	KUNIT_CASE(sequencer_lut_registers_of_cdp),
	{}
};

static struct kunit_suite nvdla_sequencer_lut_suite = {
	.name = "nvdla_sequencer_lut",
	.init = nvdla_test_core_init,
	.exit = nvdla_test_core_exit,
	.test_cases = nvdla_sequencer_lut_cases,
};

kunit_test_suite(nvdla_sequencer_lut_suite);
