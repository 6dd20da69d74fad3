// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * All registers by name, for people.
 */
#include <linux/io.h>
#include <linux/lockdep.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include <nvdla/hw/register_table.h>
#include <nvdla/hw/registers.h>

#include "nvdla_device.h"
#include "nvdla_registers.h"

#define NVDLA_NUM_GROUPS 2

/* S_POINTER and S_STATUS have the same place in each unit with register groups. */
#define NVDLA_POINTER_OFFSET (NVDLA_CDMA_S_POINTER - NVDLA_CDMA_BASE)
#define NVDLA_STATUS_OFFSET (NVDLA_CDMA_S_STATUS - NVDLA_CDMA_BASE)

/**
 * struct nvdla_register_dump - what the registers held
 * @value: per register in the table's order, and per register group; registers
 *	that are not shadowed have the first entry only
 */
struct nvdla_register_dump {
	u32 value[NVDLA_REGISTER_COUNT][NVDLA_NUM_GROUPS];
};

static bool nvdla_register_is_safe(const struct nvdla_register_info *info)
{
	return !(info->flags & (NVDLA_REGISTER_ABSENT | NVDLA_REGISTER_READ_ACTS)) &&
	       info->read_mask;
}

static bool nvdla_register_is_shadowed(const struct nvdla_register_info *info)
{
	return info->flags & NVDLA_REGISTER_SHADOWED;
}

static void nvdla_unit_read(struct nvdla_device *ndev, const struct nvdla_unit_info *unit,
			    bool shadowed, u32 group, u32 (*value)[NVDLA_NUM_GROUPS])
{
	u32 i;

	for (i = 0; i < unit->count; i++) {
		const struct nvdla_register_info *info = &unit->registers[i];

		if (nvdla_register_is_safe(info) && nvdla_register_is_shadowed(info) == shadowed)
			value[i][group] = nvdla_device_read(ndev, info->address);
	}
}

/*
 * Both groups can be read while the hardware works: the producer pointer only
 * says which of them the register interface reaches. It is put back, because the
 * sequencer does not write what it believes is there.
 */
static void nvdla_unit_read_groups(struct nvdla_device *ndev, const struct nvdla_unit_info *unit,
				   u32 (*value)[NVDLA_NUM_GROUPS])
{
	u32 pointer = unit->base + NVDLA_POINTER_OFFSET;
	u32 producer = nvdla_device_read(ndev, pointer) & NVDLA_CDMA_S_POINTER__PRODUCER;
	u32 group;

	for (group = 0; group < NVDLA_NUM_GROUPS; group++) {
		nvdla_device_write(ndev, pointer, group);
		nvdla_unit_read(ndev, unit, true, group, value);
	}
	nvdla_device_write(ndev, pointer, producer);
}

static bool nvdla_unit_has_groups(const struct nvdla_unit_info *unit)
{
	return nvdla_register_is_shadowed(&unit->registers[unit->count - 1]);
}

/* The CSB space may end before the units that a core does not have. */
static bool nvdla_unit_is_there(struct nvdla_device *ndev, const struct nvdla_unit_info *unit)
{
	return nvdla_variant_register(ndev->variant, unit->base) <
	       nvdla_variant_csb_bytes(ndev->variant);
}

/* Returns the first value of the next unit. */
static u32 nvdla_unit_read_all(struct nvdla_device *ndev, u32 unit, u32 first,
			       struct nvdla_register_dump *dump)
{
	lockdep_assert_held(&ndev->lock);

	if (nvdla_unit_is_there(ndev, &nvdla_units[unit])) {
		nvdla_unit_read(ndev, &nvdla_units[unit], false, 0, &dump->value[first]);
		if (nvdla_unit_has_groups(&nvdla_units[unit]))
			nvdla_unit_read_groups(ndev, &nvdla_units[unit], &dump->value[first]);
	}
	return first + nvdla_units[unit].count;
}

/**
 * nvdla_registers_read() - read all registers that can be read without effect
 * @ndev: device; its lock is held and the core is awake
 * @gfp: how to allocate memory
 *
 * Return: the registers, to be freed with kfree(), or NULL if there is no memory.
 */
struct nvdla_register_dump *nvdla_registers_read(struct nvdla_device *ndev, gfp_t gfp)
{
	struct nvdla_register_dump *dump = kzalloc(sizeof(*dump), gfp);
	u32 first = 0;
	u32 unit;

	for (unit = 0; dump && unit < NVDLA_UNIT_COUNT; unit++)
		first = nvdla_unit_read_all(ndev, unit, first, dump);

	return dump;
}

/**
 * nvdla_registers_read_at_work() - read the registers of a core that may be at work
 * @ndev: device; its lock is not held and the core is awake
 *
 * As nvdla_registers_read(), but with the device locked for one unit at a time:
 * the core's interrupts can wait for one unit, not for all of them.
 *
 * Return: the registers, to be freed with kfree(), or an ERR_PTR(): -EAGAIN while
 * the core is being reset, -ENODEV if it is dead, -ENOMEM.
 */
struct nvdla_register_dump *nvdla_registers_read_at_work(struct nvdla_device *ndev)
{
	struct nvdla_register_dump *dump = kzalloc(sizeof(*dump), GFP_KERNEL);
	u32 first = 0;
	int ret = 0;
	u32 unit;

	if (!dump)
		return ERR_PTR(-ENOMEM);

	for (unit = 0; !ret && unit < NVDLA_UNIT_COUNT; unit++) {
		mutex_lock(&ndev->lock);
		/* Without clocks, or in the middle of a reset, a read may not come back. */
		if (ndev->dead)
			ret = -ENODEV;
		else if (ndev->stopped)
			ret = -EAGAIN;
		else
			first = nvdla_unit_read_all(ndev, unit, first, dump);
		mutex_unlock(&ndev->lock);
	}
	if (ret) {
		kfree(dump);
		return ERR_PTR(ret);
	}

	return dump;
}

/**
 * nvdla_registers_are_idle() - whether no engine is at work, and none waits for another
 * @ndev: device; its lock is held and the core is awake
 *
 * Return: true if all engines are idle.
 */
bool nvdla_registers_are_idle(struct nvdla_device *ndev)
{
	u32 unit;

	lockdep_assert_held(&ndev->lock);

	if (ndev->variant->engines & BIT(NVDLA_OP_BDMA) &&
	    !(nvdla_device_read(ndev, NVDLA_BDMA_STATUS) & NVDLA_BDMA_STATUS__IDLE))
		return false;

	for (unit = 0; unit < NVDLA_UNIT_COUNT; unit++)
		if (nvdla_unit_is_there(ndev, &nvdla_units[unit]) &&
		    nvdla_unit_has_groups(&nvdla_units[unit]) &&
		    nvdla_device_read(ndev, nvdla_units[unit].base + NVDLA_STATUS_OFFSET))
			return false;
	return true;
}

static void nvdla_unit_print(const struct nvdla_unit_info *unit,
			     const u32 (*value)[NVDLA_NUM_GROUPS], struct drm_printer *p)
{
	u32 i;

	for (i = 0; i < unit->count; i++) {
		const struct nvdla_register_info *info = &unit->registers[i];

		if (!nvdla_register_is_safe(info))
			continue;
		if (nvdla_register_is_shadowed(info))
			drm_printf(p, "%s.%s = 0x%08x 0x%08x\n", unit->name, info->name,
				   value[i][0], value[i][1]);
		else
			drm_printf(p, "%s.%s = 0x%08x\n", unit->name, info->name, value[i][0]);
	}
}

/**
 * nvdla_registers_print() - print registers, one a line
 * @dump: what they held
 * @p: where to
 *
 * A register that there is once per register group has two values, that of
 * group 0 first.
 */
void nvdla_registers_print(const struct nvdla_register_dump *dump, struct drm_printer *p)
{
	u32 first = 0;
	u32 unit;

	for (unit = 0; unit < NVDLA_UNIT_COUNT; unit++) {
		nvdla_unit_print(&nvdla_units[unit], &dump->value[first], p);
		first += nvdla_units[unit].count;
	}
}

/**
 * nvdla_register_print() - print a value that is, or was, meant for a register
 * @reg: byte offset in the CSB space
 * @value: its value
 * @p: where to
 */
void nvdla_register_print(u32 reg, u32 value, struct drm_printer *p)
{
	const struct nvdla_unit_info *unit;
	u32 i;

	if (reg / NVDLA_UNIT_SIZE >= NVDLA_UNIT_COUNT)
		return;

	unit = &nvdla_units[reg / NVDLA_UNIT_SIZE];
	for (i = 0; i < unit->count; i++) {
		if (unit->registers[i].address == reg)
			drm_printf(p, "%s.%s = 0x%08x\n", unit->name, unit->registers[i].name,
				   value);
	}
}
