/* SPDX-License-Identifier: MIT */
/*
 * What differs between configurations of the core.
 */
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/unit.h"

namespace nvdla::sim
{

/** \brief One configuration of the core, chosen at run time */
struct Variant {
	const char *name;
	uint32_t atomBytes;	  /**< one atom of a feature cube */
	uint32_t cbufBanks;	  /**< banks of the convolution buffer */
	uint32_t cbufBankEntries; /**< entries of one bank */
	uint32_t cbufEntryBytes;  /**< bytes of one entry */
	uint32_t macChannels;	  /**< channels multiplied at once, in elements of 16 bits */
	uint32_t bdmaSlots;	  /**< operations that BDMA can queue */
	uint32_t units;		  /**< bit n: unit number n is there */
	size_t cvsramSize;	  /**< bytes of on-chip memory behind CVIF, unless configured */

	constexpr bool has(Unit unit) const { return units >> index(unit) & 1; }
};

/**
 * \brief nvdlav1 with all units
 *
 * GEC is described by the register map but is not in the RTL. The size of the
 * CVSRAM is the integrator's choice, not the core's.
 */
constexpr Variant nvFull = {
	.name = "nv_full",
	.atomBytes = 32,
	.cbufBanks = 16,
	.cbufBankEntries = 256,
	.cbufEntryBytes = 128,
	.macChannels = 64,
	.bdmaSlots = 20,
	.units = 0x1ffff & ~(1U << index(Unit::Gec)),
	.cvsramSize = 4 << 20,
};

} /* namespace nvdla::sim */
