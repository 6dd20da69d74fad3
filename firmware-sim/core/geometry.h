/* SPDX-License-Identifier: MIT */
/*
 * Configurations of the core as values: sizes, units, capabilities, address map.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/precision.h"
#include "core/register_table.h"
#include "core/unit.h"
#include "timing/core_timing.h"

namespace nvdla::sim
{

/** \brief Difference between a register of another configuration and of nv_full, which is
 * described in registers.yaml */
struct RegisterDifference {
	uint32_t name; /**< NVDLA_<UNIT>_<REGISTER>: its CSB address on nv_full */
	uint32_t reset;
	uint32_t mask; /**< bits that can be read and written */
};

/**
 * \brief One configuration of the core, chosen at run time
 *
 * A register is named by its address in nv_full (NVDLA_<UNIT>_<REGISTER>), in all configurations.
 * Its offset inside the unit is the same everywhere, but the units' addresses differ. Core
 * translates each CSB address to such a name once, on entry.
 */
struct Geometry {
	const char *name;
	uint16_t pciVariant; /**< NVDLA_PCI_VARIANT_*: the configuration as PCI devices report it */

	uint32_t atomBytes;   /**< memory atom: bytes of one column in one surface of a cube */
	uint32_t macChannels; /**< ATOMIC_C: channels that a MAC cell multiplies in one step */
	uint32_t banks;	      /**< banks of the convolution buffer */
	uint32_t bankEntries; /**< entries of a bank */
	uint32_t entryBytes;  /**< bytes of an entry */

	uint32_t precisions;  /**< bit n: the datapath supports Precision n */
	uint32_t mostBatches; /**< largest batch of one convolution */
	bool hasWinograd;
	bool hasCompressedWeights;
	bool hasY;	    /**< SDP has stage Y with its operands (ERDMA) and its LUT */
	uint32_t bdmaSlots; /**< operations that BDMA can queue */
	size_t cvsramSize;  /**< default bytes of the on-chip memory behind CVIF; 0: no CVIF */

	uint32_t units;		     /**< bit n: unit n exists */
	std::span<const Unit> pages; /**< unit of each 4 KiB page of the CSB, absent units too */
	bool hasByteAddresses;	     /**< low bits of addresses, strides and sizes are writable */
	std::span<const RegisterDifference> registers; /**< further differences from nv_full */
	std::span<const uint32_t> rom;		       /**< words of the configuration ROM */
	const CoreTiming *timing;		       /**< speed of the core's units */

	constexpr bool has(Unit unit) const { return units >> index(unit) & 1; }
	constexpr bool has(Precision precision) const
	{
		return precisions >> static_cast<unsigned int>(precision) & 1;
	}

	/** \return \a bytes rounded down to whole atoms, as engines use addresses and strides */
	template<typename Bytes>
	constexpr Bytes wholeAtoms(Bytes bytes) const
	{
		return bytes & ~static_cast<Bytes>(atomBytes - 1);
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

	/**
	 * \return the name of the register at a CSB address, which is its address in nv_full; a
	 *	   number that names no register if \a address is beyond the last page
	 */
	uint32_t nameOf(uint32_t address) const;
	/** \return the CSB address of a name; the inverse of nameOf() */
	uint32_t addressOf(uint32_t name) const;
	/**
	 * \return facts about a register of this core
	 * \param info facts about the register in nv_full
	 */
	RegisterInfo adapt(uint32_t name, RegisterInfo info) const;
};

/** \brief nv_full of NVDLA's hardware branch nvdlav1; has all units */
extern const Geometry nvFull;
extern const Geometry nvLarge;
extern const Geometry nvSmall;
extern const Geometry nvSmall256;
extern const Geometry nvSmall256Full;

/** \return all configurations */
std::span<const Geometry *const> geometries();
/** \return the configuration called \a name, null if there is none */
const Geometry *findGeometry(std::string_view name);
/** \return the names of all configurations with commas between them, for error messages */
const char *geometryNames();

} /* namespace nvdla::sim */
