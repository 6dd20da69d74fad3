/* SPDX-License-Identifier: MIT */
/*
 * Facts about all registers, made from the generated register description.
 */
#pragma once

#include <cstdint>
#include <span>

#include "core/unit.h"

namespace nvdla::sim
{

/** \brief Facts about one register, from the register description */
struct RegisterInfo {
	const char *name;
	uint32_t reset;
	uint32_t readMask;
	uint32_t writeMask;
	bool shadowed; /**< one copy per register group */
	bool counter;  /**< statistics of an operation, counted by the unit */
	bool status;   /**< changed by the unit */
};

/** \return name of a unit in the register description */
const char *unitName(Unit unit);

/** \return CSB byte address of a unit */
uint32_t unitBase(Unit unit);

/** \return a unit's registers by word from its base; words without a register have no name */
std::span<const RegisterInfo> unitRegisters(Unit unit);

/** \return the register at a CSB byte address, null if there is none */
const RegisterInfo *registerInfo(uint32_t address);

} /* namespace nvdla::sim */
