/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

#include "lut/lut_tables.h"

using namespace nvdla::sim;

namespace
{

constexpr uint32_t config(uint32_t entry, bool lo, bool write)
{
	return NVDLA_FIELD_PREP(NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ADDR, entry) |
	       NVDLA_FIELD_PREP(NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_TABLE_ID, lo) |
	       NVDLA_FIELD_PREP(NVDLA_SDP_S_LUT_ACCESS_CFG__LUT_ACCESS_TYPE, write);
}

class LutAccess : public testing::TestWithParam<LutAccessPort::Kind>
{
protected:
	LutTables tables;
	LutAccessPort port{ GetParam() };
};

TEST_P(LutAccess, FillsBothTables)
{
	for (const bool lo : { false, true }) {
		const uint32_t entries = lo ? LutTables::loEntries : LutTables::leEntries;
		port.configure(config(0, lo, true));
		for (uint32_t i = 0; i < entries; i++)
			EXPECT_TRUE(port.write(tables, 0xff00 + i * 3 + lo));
		port.configure(config(0, lo, false));
		for (uint32_t i = 0; i < entries; i++)
			EXPECT_EQ(port.read(tables), (0xff00 + i * 3 + lo) & 0xffff) << i;
	}
	EXPECT_EQ(tables.le[1], static_cast<int16_t>(0xff03));
	EXPECT_EQ(tables.lo[256], static_cast<int16_t>(0xff00 + 256 * 3 + 1));
}

TEST_P(LutAccess, WritingNeedsTheDirection)
{
	port.configure(config(0, false, false));
	EXPECT_FALSE(port.write(tables, 5));
	EXPECT_EQ(tables.le[0], 0);
	EXPECT_TRUE(port.write(tables, 0)) << "it holds that, so nothing is lost";
}

TEST_P(LutAccess, EntriesOutsideTheTableAreNotThere)
{
	port.configure(config(70, false, true));
	EXPECT_FALSE(port.write(tables, 5));
	port.configure(config(1023, true, false));
	EXPECT_EQ(port.read(tables), 0U);
}

INSTANTIATE_TEST_SUITE_P(Units, LutAccess,
			 testing::Values(LutAccessPort::Kind::Sdp, LutAccessPort::Kind::Cdp));

TEST(LutAccessEnd, CdpStopsAtTheLastEntryAndShowsIt)
{
	LutTables tables;
	LutAccessPort port(LutAccessPort::Kind::Cdp);
	port.configure(config(63, false, false));
	EXPECT_EQ(port.config(), config(63, false, false));
	port.read(tables);
	EXPECT_EQ(port.config(), config(64, false, false));
	port.read(tables);
	EXPECT_EQ(port.config(), config(64, false, false));
}

TEST(LutAccessEnd, SdpShowsWhatWasWritten)
{
	LutTables tables;
	tables.le[64] = 7;
	LutAccessPort port(LutAccessPort::Kind::Sdp);
	port.configure(config(64, false, false));
	EXPECT_EQ(port.read(tables), 7U);
	EXPECT_EQ(port.read(tables), 0U);
	EXPECT_EQ(port.config(), config(64, false, false));
}

} /* namespace */
