// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Writes programs to the core's register groups, and starts operations (op_enable). The driver
 * keeps a copy of each group's contents (shadow), and does not write unchanged values again.
 */

#include <nvdla/hw/registers.h>

#include "nvdla_conv.h"
#include "nvdla_internal.h"
#include "nvdla_lut.h"
#include "nvdla_platform.h"
#include "nvdla_sequencer.h"
#include "nvdla_sequencer_internal.h"

/* S_POINTER has the same place in each unit with register groups. */
#define S_POINTER_OFFSET (NVDLA_CDMA_S_POINTER - NVDLA_CDMA_BASE)

/*
 * Most reads of a status register, with pauses of 1 us; then the driver assumes that the core
 * hangs. Flushing the convolution buffer takes 4240 cycles.
 */
#define MAX_POLLS 1000

/* Units that work together on an operation, in the order in which they are enabled. */
struct engine_units {
	u32 rdma_enable;	/* D_OP_ENABLE of the RDMA, 0 if there is none */
	u32 num_units;
	u32 enable[5];		/* D_OP_ENABLE of each unit */
};

static const struct engine_units engine_units[NVDLA_NUM_OP_TYPES] = {
	[NVDLA_OP_BDMA] = { 0, 0, { 0 } },
	[NVDLA_OP_CONV] = {
		0, 5,
		{ NVDLA_CACC_D_OP_ENABLE, NVDLA_CMAC_A_D_OP_ENABLE, NVDLA_CMAC_B_D_OP_ENABLE,
		  NVDLA_CSC_D_OP_ENABLE, NVDLA_CDMA_D_OP_ENABLE },
	},
	[NVDLA_OP_SDP] = { NVDLA_SDP_RDMA_D_OP_ENABLE, 1, { NVDLA_SDP_D_OP_ENABLE } },
	[NVDLA_OP_PDP] = { NVDLA_PDP_RDMA_D_OP_ENABLE, 1, { NVDLA_PDP_D_OP_ENABLE } },
	[NVDLA_OP_CDP] = { NVDLA_CDP_RDMA_D_OP_ENABLE, 1, { NVDLA_CDP_D_OP_ENABLE } },
	[NVDLA_OP_RUBIK] = { 0, 1, { NVDLA_RBK_D_OP_ENABLE } },
};

static u32 read_register(struct nvdla_sequencer *sequencer, u32 reg)
{
	return sequencer->io.read(sequencer->io.context, reg);
}

static void write_register(struct nvdla_sequencer *sequencer, u32 reg, u32 value)
{
	sequencer->io.write(sequencer->io.context, reg, value);
}

static u32 unit_of(u32 reg)
{
	return reg / NVDLA_UNIT_SIZE;
}

static const struct nvdla_write *writes_of(const struct nvdla_task *task,
					   const struct nvdla_operation *op)
{
	return &task->prepared->writes[op->first_write];
}

void nvdla_issue_reset(struct nvdla_sequencer *sequencer)
{
	sequencer->needs_reset = false;
	sequencer->pointers_known = false;
	sequencer->cbuf_flushed = false;
	sequencer->cbuf_data_banks = 0;
	sequencer->bdma_next = 0;
	sequencer->bdma_slots = 0;
	memset(sequencer->producer, NVDLA_PRODUCER_UNKNOWN, sizeof(sequencer->producer));
	memset(sequencer->shadow, 0, sizeof(sequencer->shadow));
	memset(sequencer->lut, 0, sizeof(sequencer->lut));
}

static u8 consumer_of(struct nvdla_sequencer *sequencer, u32 enable_reg)
{
	u32 reg = unit_of(enable_reg) * NVDLA_UNIT_SIZE + S_POINTER_OFFSET;

	return read_register(sequencer, reg) & NVDLA_CDMA_S_POINTER__CONSUMER ? 1 : 0;
}

void nvdla_issue_read_pointers(struct nvdla_sequencer *sequencer)
{
	u32 type;

	if (sequencer->pointers_known)
		return;

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		const struct engine_units *units = &engine_units[type];

		if (!(sequencer->variant->engines & BIT(type)))
			continue;
		/* The units of the convolution pipeline switch groups together. */
		if (units->num_units > 0)
			sequencer->next_group[type] = consumer_of(sequencer, units->enable[0]);
		if (units->rdma_enable)
			sequencer->rdma_next[type] = consumer_of(sequencer, units->rdma_enable);
	}
	sequencer->pointers_known = true;
}

void nvdla_issue_select(struct nvdla_sequencer *sequencer, u32 unit, u32 group)
{
	if (sequencer->producer[unit] == group)
		return;

	write_register(sequencer, unit * NVDLA_UNIT_SIZE + S_POINTER_OFFSET, group);
	sequencer->producer[unit] = group;
}

/* Returns whether the register needs a write, and records @value as the group's new contents. */
static bool changes(struct nvdla_sequencer *sequencer, u32 group, u32 reg, u32 value)
{
	u32 index = reg % NVDLA_UNIT_SIZE / sizeof(u32);
	struct nvdla_group_shadow *shadow = &sequencer->shadow[unit_of(reg)][group];

	if ((shadow->valid & BIT_ULL(index)) && shadow->value[index] == value)
		return false;

	shadow->valid |= BIT_ULL(index);
	shadow->value[index] = value;
	return true;
}

/* Writes the register unless the group holds the value from an earlier operation. */
static void write_shadowed(struct nvdla_sequencer *sequencer, u32 group, u32 reg, u32 value)
{
	if (!changes(sequencer, group, reg, value))
		return;

	nvdla_issue_select(sequencer, unit_of(reg), group);
	write_register(sequencer, reg, value);
}

/*
 * Like write_shadowed(), for BDMA, which has only one set of registers. CFG_OP is always written:
 * it starts an operation and holds no value.
 */
static void write_bdma(struct nvdla_sequencer *sequencer, u32 reg, u32 value)
{
	if (reg == NVDLA_BDMA_CFG_OP || changes(sequencer, 0, reg, value))
		write_register(sequencer, reg, value);
}

/*
 * Writes only the differing entries if a task of the same client loaded the present table. Another
 * client's table is replaced as a whole, as the time would reveal how similar the tables are.
 */
static void load_lut(struct nvdla_sequencer *sequencer, const struct nvdla_task *task,
		     const struct nvdla_operation *op)
{
	struct nvdla_loaded_lut *loaded = &sequencer->lut[op->op_type == NVDLA_OP_CDP];
	const struct nvdla_lut table = { &task->prepared->luts[op->lut], op->lut_fp16 };
	const struct nvdla_lut held = { &loaded->table, loaded->fp16 };
	const bool is_own = loaded->valid && loaded->owner == task->owner;

	if (is_own && held.fp16 == table.fp16 &&
	    !memcmp(held.desc, table.desc, sizeof(*table.desc)))
		return;

	nvdla_lut_upload(&sequencer->io, op->op_type, &table, is_own ? &held : NULL);
	loaded->valid = true;
	loaded->fp16 = table.fp16;
	loaded->owner = task->owner;
	loaded->table = *table.desc;
}

/* Polls until a field is at least @minimum, for a limited time. Returns the field. */
static u32 wait_for(struct nvdla_sequencer *sequencer, u32 reg, u32 mask, u32 minimum)
{
	u32 value = 0;
	u32 i;

	for (i = 0; i < MAX_POLLS; i++) {
		value = read_register(sequencer, reg) & mask;
		if (value >= minimum)
			break;
		if (sequencer->io.delay)
			sequencer->io.delay(sequencer->io.context, 1);
	}

	return value;
}

/*
 * Takes @count of BDMA's slots; returns false if they do not become free. The status register is
 * read only when needed: a slot that was seen free stays free until the sequencer fills it.
 */
static bool take_bdma_slots(struct nvdla_sequencer *sequencer, u32 count)
{
	if (sequencer->bdma_slots < count)
		sequencer->bdma_slots = wait_for(sequencer, NVDLA_BDMA_STATUS,
						 NVDLA_BDMA_STATUS__FREE_SLOT, count);
	if (sequencer->bdma_slots < count)
		return false;

	sequencer->bdma_slots -= count;
	return true;
}

static int program_bdma(struct nvdla_sequencer *sequencer, const struct nvdla_task *task,
			u32 operation)
{
	const struct nvdla_operation *op = &task->prepared->operations[operation];
	const struct nvdla_write *write = writes_of(task, op);
	u32 i;

	/* The schedule has counted the slots, so a working core has them free now. */
	if (!take_bdma_slots(sequencer, op->num_transfers))
		return -EIO;

	for (i = 0; i < op->num_writes; i++, write++)
		write_bdma(sequencer, write->reg, nvdla_task_value(task, write));
	return 0;
}

int nvdla_issue_program(struct nvdla_sequencer *sequencer, const struct nvdla_task *task,
			u32 operation, u32 group)
{
	const struct nvdla_operation *op = &task->prepared->operations[operation];
	const struct nvdla_write *write = writes_of(task, op);
	u32 rdma_group = 0;
	u32 i;

	if (op->op_type == NVDLA_OP_BDMA)
		return program_bdma(sequencer, task, operation);

	if (op->uses_rdma) {
		rdma_group = sequencer->rdma_next[op->op_type];
		sequencer->rdma_next[op->op_type] = !rdma_group;
		sequencer->rdma_group[op->op_type][group] = rdma_group;
	}
	if (op->lut != NVDLA_NO_LUT)
		load_lut(sequencer, task, op);

	for (i = 0; i < op->num_writes; i++, write++) {
		bool rdma = nvdla_unit_is_rdma(unit_of(write->reg));

		write_shadowed(sequencer, rdma ? rdma_group : group, write->reg,
			       nvdla_task_value(task, write));
	}

	return 0;
}

static void enable_unit(struct nvdla_sequencer *sequencer, u32 enable_reg, u32 group)
{
	nvdla_issue_select(sequencer, unit_of(enable_reg), group);
	write_register(sequencer, enable_reg, NVDLA_CDMA_D_OP_ENABLE__OP_EN);
}

void nvdla_issue_aim(struct nvdla_sequencer *sequencer, const struct nvdla_task *task,
		     u32 operation, u32 group)
{
	const struct nvdla_operation *op = &task->prepared->operations[operation];
	const struct engine_units *units = &engine_units[op->op_type];
	u32 i;

	if (op->uses_rdma)
		nvdla_issue_select(sequencer, unit_of(units->rdma_enable),
				   sequencer->rdma_group[op->op_type][group]);
	for (i = 0; i < units->num_units; i++)
		nvdla_issue_select(sequencer, unit_of(units->enable[i]), group);
}

static void launch_bdma(struct nvdla_sequencer *sequencer, const struct nvdla_operation *op,
			u32 group)
{
	u32 bdma_group = sequencer->bdma_next;

	/* A group without transfers would be busy for ever and raise no interrupt. */
	if (op->num_transfers == 0)
		return;

	write_bdma(sequencer, NVDLA_BDMA_CFG_STATUS,
		   sequencer->task->counted ? NVDLA_BDMA_CFG_STATUS__STALL_COUNT_EN : 0);
	write_register(sequencer, bdma_group ? NVDLA_BDMA_CFG_LAUNCH1 : NVDLA_BDMA_CFG_LAUNCH0,
		       NVDLA_BDMA_CFG_LAUNCH0__GRP0_LAUNCH);
	sequencer->bdma_group[group] = bdma_group;
	sequencer->bdma_next = !bdma_group;
}

/* Returns the number of data banks of the convolution in a register group. */
static u32 data_banks(const struct nvdla_sequencer *sequencer, u32 group)
{
	u32 value = nvdla_sequencer_held(sequencer, group, NVDLA_CSC_D_BANK);

	return FIELD_GET(NVDLA_CONV_DATA_BANK, value) + 1;
}

int nvdla_issue_enable(void *context, u32 operation, u32 group)
{
	struct nvdla_sequencer *sequencer = context;
	const struct nvdla_operation *op = &sequencer->task->prepared->operations[operation];
	const struct engine_units *units = &engine_units[op->op_type];
	u32 i;

	if (op->op_type == NVDLA_OP_CONV && !sequencer->cbuf_flushed) {
		sequencer->cbuf_flushed = wait_for(sequencer, NVDLA_CDMA_S_CBUF_FLUSH_STATUS,
						   NVDLA_CDMA_S_CBUF_FLUSH_STATUS__FLUSH_DONE, 1);
		if (!sequencer->cbuf_flushed)
			return -EIO;
	}
	if (op->op_type == NVDLA_OP_CONV) {
		sequencer->conv_seen[group] = 0;
		sequencer->cbuf_data_banks = data_banks(sequencer, group);
	}

	sequencer->task->state[operation].times.start_ns = nvdla_sequencer_now(sequencer);
	if (op->op_type == NVDLA_OP_BDMA)
		launch_bdma(sequencer, op, group);
	if (op->uses_rdma)
		enable_unit(sequencer, units->rdma_enable,
			    sequencer->rdma_group[op->op_type][group]);
	for (i = 0; i < units->num_units; i++)
		enable_unit(sequencer, units->enable[i], group);

	if (sequencer->ops->op_enabled)
		sequencer->ops->op_enabled(sequencer->context, sequencer->task, operation);
	return 0;
}
