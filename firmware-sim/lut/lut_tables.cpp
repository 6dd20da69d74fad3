/* SPDX-License-Identifier: MIT */
#include "lut/lut_tables.h"

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

namespace nvdla::sim
{

/* SDP and CDP have the same fields in this register. */
static_assert(NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ADDR == NVDLA_CDP_S_LUT_ACCESS_CFG__LUT_ADDR);
static_assert(NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_TABLE_ID == NVDLA_CDP_S_LUT_ACCESS_CFG__LUT_TABLE_ID);
static_assert(NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ACCESS_TYPE ==
	      NVDLA_CDP_S_LUT_ACCESS_CFG__LUT_ACCESS_TYPE);

namespace
{

constexpr uint32_t addressMask = NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ADDR;

} /* namespace */

void LutAccessPort::configure(uint32_t value)
{
	written_ = value & addressMask;
	entry_ = written_;
	lo_ = value & NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_TABLE_ID;
	writing_ = value & NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ACCESS_TYPE;
}

bool LutAccessPort::write(LutTables &tables, uint32_t value)
{
	const uint32_t entry = entry_;
	const auto number = static_cast<int16_t>(value);
	if (writing_)
		advance();
	if (entry >= entries())
		return false;
	int16_t &place = lo_ ? tables.lo[entry] : tables.le[entry];
	if (writing_)
		place = number;
	return place == number;
}

uint32_t LutAccessPort::read(const LutTables &tables)
{
	const uint32_t entry = entry_;
	if (!writing_)
		advance();
	if (entry >= entries())
		return 0;
	return static_cast<uint16_t>(lo_ ? tables.lo[entry] : tables.le[entry]);
}

void LutAccessPort::advance()
{
	if (kind_ == Kind::Sdp || entry_ != entries() - 1)
		entry_ = (entry_ + 1) & addressMask;
}

uint32_t LutAccessPort::config() const
{
	return (kind_ == Kind::Cdp ? entry_ : written_) |
	       (lo_ ? NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_TABLE_ID : 0) |
	       (writing_ ? NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ACCESS_TYPE : 0);
}

} /* namespace nvdla::sim */
