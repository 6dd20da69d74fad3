/* SPDX-License-Identifier: MIT */
/*
 * What differs between configurations of the core, as values.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/precision.h"
#include "core/register_table.h"
#include "core/unit.h"

namespace nvdla::sim
{

/** \brief A register that is another one than nv_full's */
struct OtherRegister {
	uint32_t name; /**< NVDLA_<UNIT>_<REGISTER> */
	uint32_t reset;
	uint32_t mask; /**< of what is read and written */
};

/**
 * \brief One configuration of the core, chosen at run time
 *
 * Registers are named by their addresses in nv_full (NVDLA_<UNIT>_<REGISTER>) everywhere: the unit
 * and the offset in it, which is the same in all configurations. Only the core's doors know where
 * another configuration has its units.
 */
struct Geometry {
	const char *name;
	uint16_t pciVariant; /**< NVDLA_PCI_VARIANT_* */

	uint32_t atomBytes;   /**< of a column in one surface of a cube in memory */
	uint32_t macChannels; /**< that a kernel's MAC cell multiplies in a step (ATOMIC_C) */
	uint32_t banks;	      /**< of the convolution buffer */
	uint32_t bankEntries;
	uint32_t entryBytes;

	uint32_t precisions;	    /**< bit n: there is Precision n */
	uint32_t mostBatches;	    /**< cubes that one convolution takes */
	bool hasWinograd;	    /**< of convolutions */
	bool hasCompressedWeights;
	bool hasY;		    /**< stage Y of SDP, with its operands and its table */
	uint32_t bdmaSlots;	    /**< operations that BDMA can queue */
	size_t cvsramSize;	    /**< bytes of memory behind CVIF, unless configured */

	uint32_t units; /**< bit n: unit number n is there */
	std::span<const Unit> pages; /**< the unit of each page of the CSB, the missing ones too */
	bool hasByteAddresses; /**< registers keep the low bits of addresses, strides and sizes */
	std::span<const OtherRegister> registers; /**< that are others than nv_full's besides */
	std::span<const uint32_t> rom; /**< words of the unit that tells what there is */

	constexpr bool has(Unit unit) const { return units >> index(unit) & 1; }
	constexpr bool has(Precision precision) const
	{
		return precisions >> static_cast<unsigned int>(precision) & 1;
	}

	/** \return channels in one atom */
	constexpr uint32_t atomChannels(Precision precision) const
	{
		return atomBytes / elementBytes(precision);
	}
	/** \return surfaces of a cube of \a channels */
	constexpr uint32_t surfaces(Precision precision, uint32_t channels) const
	{
		return (channels + atomChannels(precision) - 1) / atomChannels(precision);
	}
	/** \return bytes of a bank of the convolution buffer */
	constexpr uint32_t bankBytes() const { return bankEntries * entryBytes; }

	/** \return the name of what answers at an address of the CSB: its address in nv_full; where
	 * nobody does, what no register is called */
	uint32_t nameOf(uint32_t address) const;
	/** \return where the register of a name answers */
	uint32_t addressOf(uint32_t name) const;
	/** \return facts about a register of the core \param info those of nv_full */
	RegisterInfo adapt(uint32_t name, RegisterInfo info) const;
};

/** \brief nvdlav1 with all units */
extern const Geometry nvFull;
extern const Geometry nvLarge;
extern const Geometry nvSmall;
extern const Geometry nvSmall256;
extern const Geometry nvSmall256Full;

/** \return all of them */
std::span<const Geometry *const> geometries();
/** \return the one of a name, null if there is none */
const Geometry *findGeometry(std::string_view name);
/** \return "nv_full, nv_large and so on", for who has asked for another one */
const char *geometryNames();

} /* namespace nvdla::sim */
