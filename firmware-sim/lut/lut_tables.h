/* SPDX-License-Identifier: MIT */
/*
 * Contents of the two look-up tables of SDP-Y and of CDP, and the registers
 * through which they are filled.
 */
#pragma once

#include <array>
#include <cstdint>

namespace nvdla::sim
{

/** \brief The two tables of one look-up unit; entries are INT16, or the bits of FP16 numbers */
struct LutTables {
	static constexpr uint32_t leEntries = 65;
	static constexpr uint32_t loEntries = 257;

	std::array<int16_t, leEntries> le = {};
	std::array<int16_t, loEntries> lo = {};
};

/**
 * \brief S_LUT_ACCESS_CFG and S_LUT_ACCESS_DATA
 *
 * The layout of both registers is the same in SDP and CDP. Every access to the
 * data register moves on to the next entry. Entries that a table does not have
 * read as zero and ignore what is written.
 */
class LutAccessPort
{
public:
	/** \brief Write of S_LUT_ACCESS_CFG: table, first entry and direction */
	void configure(uint32_t value);

	/** \brief Write of S_LUT_ACCESS_DATA \return false if no entry was written */
	bool write(LutTables &tables, uint32_t value);

	/** \brief Read of S_LUT_ACCESS_DATA */
	uint32_t read(const LutTables &tables);

	/** \return what S_LUT_ACCESS_CFG reads back; the address is that of the next access */
	uint32_t config() const;

private:
	uint32_t entry_ = 0;
	bool lo_ = false;
	bool writing_ = false;
};

} /* namespace nvdla::sim */
