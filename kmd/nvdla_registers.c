// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Values of all registers, for debugfs and core dumps. */
#include <linux/io.h>
#include <linux/lockdep.h>

#include <drm/drm_print.h>

#include <nvdla/hw/register_table.h>
#include <nvdla/hw/registers.h>

#include "nvdla_dump.h"
#include "nvdla_hw.h"

/* S_POINTER and S_STATUS have the same place in each unit with register groups. */
#define NVDLA_POINTER_OFFSET (NVDLA_CDMA_S_POINTER - NVDLA_CDMA_BASE)
#define NVDLA_STATUS_OFFSET (NVDLA_CDMA_S_STATUS - NVDLA_CDMA_BASE)

static bool nvdla_register_is_safe(const struct nvdla_register_info *info)
{
	return !(info->flags & (NVDLA_REGISTER_ABSENT | NVDLA_REGISTER_READ_ACTS)) &&
	       info->read_mask;
}

static bool nvdla_register_is_shadowed(const struct nvdla_register_info *info)
{
	return info->flags & NVDLA_REGISTER_SHADOWED;
}

static void nvdla_unit_read(struct nvdla_hw *hw, const struct nvdla_unit_info *unit,
			    bool shadowed, struct nvdla_register_dump *dump)
{
	const struct nvdla_register_info *info = unit->registers;
	u32 i;

	for (i = 0; i < unit->count; i++, info++)
		if (nvdla_register_is_safe(info) && nvdla_register_is_shadowed(info) == shadowed)
			dump->values[dump->count++] = (struct nvdla_reg_write) {
				info->address, nvdla_hw_read(hw, info->address)
			};
}

/*
 * Both groups can be read while the hardware works, because the producer pointer only selects the
 * group for register accesses. The pointer is restored, because the sequencer relies on the value
 * that it has written.
 */
static void nvdla_unit_read_groups(struct nvdla_hw *hw, const struct nvdla_unit_info *unit,
				   struct nvdla_register_dump *dump)
{
	u32 pointer = unit->base + NVDLA_POINTER_OFFSET;
	u32 producer = nvdla_hw_read(hw, pointer) & NVDLA_CDMA_S_POINTER__PRODUCER;
	u32 group;

	for (group = 0; group < 2; group++) {
		nvdla_hw_write(hw, pointer, group);
		nvdla_unit_read(hw, unit, true, dump);
	}
	nvdla_hw_write(hw, pointer, producer);
}

static bool nvdla_unit_has_groups(const struct nvdla_unit_info *unit)
{
	return nvdla_register_is_shadowed(&unit->registers[unit->count - 1]);
}

/* Returns whether the unit is in the mapped CSB space, which omits the last units in some cores. */
static bool nvdla_unit_is_there(struct nvdla_hw *hw, const struct nvdla_unit_info *unit)
{
	return nvdla_variant_register(hw->variant, unit->base) <
	       nvdla_variant_csb_bytes(hw->variant);
}

/**
 * nvdla_registers_read() - read the registers of a unit that have no read side effects
 * @hw: core that is awake; &nvdla_hw.lock is held
 * @index: less than NVDLA_NUM_UNITS
 * @dump: dump to which the registers are added
 */
void nvdla_registers_read(struct nvdla_hw *hw, u32 index, struct nvdla_register_dump *dump)
{
	const struct nvdla_unit_info *unit = &nvdla_units[index];

	static_assert(NVDLA_UNIT_COUNT == NVDLA_NUM_UNITS);
	static_assert(NVDLA_REGISTER_COUNT <= NVDLA_NUM_REGISTERS);
	lockdep_assert_held(&hw->lock);

	if (!nvdla_unit_is_there(hw, unit))
		return;
	nvdla_unit_read(hw, unit, false, dump);
	if (nvdla_unit_has_groups(unit))
		nvdla_unit_read_groups(hw, unit, dump);
}

/* Returns whether all engines of a core that is awake are idle; &nvdla_hw.lock is held. */
bool nvdla_registers_are_idle(struct nvdla_hw *hw)
{
	u32 unit;

	lockdep_assert_held(&hw->lock);

	if (hw->variant->engines & BIT(NVDLA_OP_BDMA) &&
	    !(nvdla_hw_read(hw, NVDLA_BDMA_STATUS) & NVDLA_BDMA_STATUS__IDLE))
		return false;

	for (unit = 0; unit < NVDLA_UNIT_COUNT; unit++)
		if (nvdla_unit_is_there(hw, &nvdla_units[unit]) &&
		    nvdla_unit_has_groups(&nvdla_units[unit]) &&
		    nvdla_hw_read(hw, nvdla_units[unit].base + NVDLA_STATUS_OFFSET))
			return false;
	return true;
}

/**
 * nvdla_registers_print() - print values of registers, one per line
 * @values: registers and their values
 * @count: entries at @values
 * @p: printer of the text
 *
 * Prints numbers; nvdla-info --dump translates them to names.
 */
void nvdla_registers_print(const struct nvdla_reg_write *values, u32 count, struct drm_printer *p)
{
	for (; count; count--, values++)
		drm_printf(p, "0x%05x = 0x%08x\n", values->reg, values->value);
}
