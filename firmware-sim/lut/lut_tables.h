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
 * The layout of both registers is the same in SDP and CDP. Each access to the data register in the
 * configured direction increments the address. CDP's address stops at the last entry, and CDP's
 * configuration register shows it. SDP's address has no limit, and SDP's configuration register
 * reads as written (nvdlav1 RTL). Accesses beyond a table's end read zero and write
 * nothing.
 */
class LutAccessPort
{
public:
	enum class Kind { Sdp, Cdp };

	explicit LutAccessPort(Kind kind) : kind_(kind) {}

	/** \brief Write S_LUT_ACCESS_CFG: table, first entry and direction */
	void configure(uint32_t value);

	/**
	 * \brief Write S_LUT_ACCESS_DATA
	 * \return false if the table does not hold \a value at the address afterwards
	 */
	bool write(LutTables &tables, uint32_t value);

	/** \brief Read S_LUT_ACCESS_DATA */
	uint32_t read(const LutTables &tables);

	/** \return value of S_LUT_ACCESS_CFG */
	uint32_t config() const;

private:
	uint32_t entries() const { return lo_ ? LutTables::loEntries : LutTables::leEntries; }
	void advance();

	Kind kind_;
	uint32_t written_ = 0; /* LUT_ADDR as written to S_LUT_ACCESS_CFG */
	uint32_t entry_ = 0;
	bool lo_ = false;
	bool writing_ = false;
};

} /* namespace nvdla::sim */
