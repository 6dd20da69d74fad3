/* SPDX-License-Identifier: MIT */
#include "core/register_table.h"

#include <array>
#include <vector>

#include <nvdla/hw/register_table.h>
#include <nvdla/hw/registers.h>

namespace nvdla::sim
{

static_assert(NVDLA_UNIT_COUNT == unitCount);
static_assert(NVDLA_RBK_BASE == index(Unit::Rbk) * NVDLA_UNIT_SIZE);

namespace
{

/* A unit's registers by 32-bit word from its base; a word without register has no name. */
using Words = std::vector<RegisterInfo>;

Words makeWords(const nvdla_unit_info &unit)
{
	const uint32_t last = unit.registers[unit.count - 1].address;
	Words words((last - unit.base) / 4 + 1);
	for (unsigned int i = 0; i < unit.count; i++) {
		const nvdla_register_info &info = unit.registers[i];
		words[(info.address - unit.base) / 4] = {
			.name = info.name,
			.reset = info.reset,
			.readMask = info.read_mask,
			.writeMask = info.write_mask,
			.shadowed = (info.flags & NVDLA_REGISTER_SHADOWED) != 0,
			.counter = (info.flags & NVDLA_REGISTER_COUNTER) != 0,
			.status = (info.flags & NVDLA_REGISTER_STATUS) != 0,
		};
	}
	return words;
}

const std::array<Words, unitCount> &table()
{
	/* Never destroyed, because a core may still run when the process calls exit(). */
	static const auto *words = [] {
		auto *all = new std::array<Words, unitCount>;
		for (size_t unit = 0; unit < unitCount; unit++)
			(*all)[unit] = makeWords(nvdla_units[unit]);
		return all;
	}();
	return *words;
}

} /* namespace */

const char *unitName(Unit unit)
{
	return nvdla_units[index(unit)].name;
}

uint32_t unitBase(Unit unit)
{
	return nvdla_units[index(unit)].base;
}

std::span<const RegisterInfo> unitRegisters(Unit unit)
{
	return table()[index(unit)];
}

const RegisterInfo *registerInfo(uint32_t address)
{
	const size_t unit = address / NVDLA_UNIT_SIZE;
	if (unit >= unitCount || address % 4)
		return nullptr;
	const Words &words = table()[unit];
	const size_t word = address % NVDLA_UNIT_SIZE / 4;
	return word < words.size() && words[word].name ? &words[word] : nullptr;
}

} /* namespace nvdla::sim */
