/* SPDX-License-Identifier: MIT */
#include "nvdla/hw/register_table.h"
#include "nvdla/hw/registers.h"

#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "table_in_c.h"

namespace
{

std::span<const nvdla_register_info> registersOf(const nvdla_unit_info &unit)
{
	return { unit.registers, unit.count };
}

const nvdla_register_info *find(unsigned int address)
{
	for (const nvdla_unit_info &unit : nvdla_units)
		for (const nvdla_register_info &reg : registersOf(unit))
			if (reg.address == address)
				return &reg;

	return nullptr;
}

TEST(RegisterTable, HasEveryUnitOnAPageOfItsOwn)
{
	const struct {
		const char *name;
		unsigned int registers;
	} units[] = {
		{ "GLB", 4 },	    { "GEC", 32 },  { "MCIF", 7 },	{ "CVIF", 7 },
		{ "BDMA", 21 },	    { "CDMA", 59 }, { "CSC", 26 },	{ "CMAC_A", 4 },
		{ "CMAC_B", 4 },    { "CACC", 14 }, { "SDP_RDMA", 37 }, { "SDP", 63 },
		{ "PDP_RDMA", 20 }, { "PDP", 40 },  { "CDP_RDMA", 17 }, { "CDP", 47 },
		{ "RBK", 25 },
	};
	unsigned int total = 0;

	EXPECT_EQ(NVDLA_UNIT_SIZE, 4096U);
	EXPECT_EQ(NVDLA_CSB_SIZE, 256U * 1024);
	ASSERT_EQ(std::size(units), NVDLA_UNIT_COUNT);
	for (unsigned int index = 0; index < NVDLA_UNIT_COUNT; ++index) {
		EXPECT_STREQ(nvdla_units[index].name, units[index].name);
		EXPECT_EQ(nvdla_units[index].base, index * NVDLA_UNIT_SIZE) << units[index].name;
		EXPECT_EQ(nvdla_units[index].count, units[index].registers) << units[index].name;
		total += units[index].registers;
	}
	EXPECT_EQ(registers_seen_by_c(), total);
}

TEST(RegisterTable, AddressesAscendWithinTheUnit)
{
	for (const nvdla_unit_info &unit : nvdla_units) {
		unsigned int next = unit.base;

		for (const nvdla_register_info &reg : registersOf(unit)) {
			EXPECT_GE(reg.address, next) << unit.name << "." << reg.name;
			EXPECT_EQ(reg.address % 4, 0U) << unit.name << "." << reg.name;
			next = reg.address + 4;
		}
		EXPECT_LE(next, unit.base + NVDLA_UNIT_SIZE) << unit.name;
	}
}

TEST(RegisterTable, NamesAreUniqueWithinTheUnit)
{
	for (const nvdla_unit_info &unit : nvdla_units) {
		std::set<std::string_view> names;

		for (const nvdla_register_info &reg : registersOf(unit))
			EXPECT_TRUE(names.insert(reg.name).second) << unit.name << "." << reg.name;
	}
}

TEST(RegisterTable, ResetValuesAreWithinTheMasks)
{
	for (const nvdla_unit_info &unit : nvdla_units) {
		for (const nvdla_register_info &reg : registersOf(unit)) {
			const unsigned int mask = reg.read_mask | reg.write_mask;

			EXPECT_NE(mask, 0U) << unit.name << "." << reg.name;
			EXPECT_EQ(reg.reset & ~mask, 0U) << unit.name << "." << reg.name;
		}
	}
}

TEST(RegisterTable, FlagsFollowNamesAndMasks)
{
	for (const nvdla_unit_info &unit : nvdla_units) {
		for (const nvdla_register_info &reg : registersOf(unit)) {
			const std::string where = std::string(unit.name) + "." + reg.name;
			const std::string_view name = reg.name;

			EXPECT_EQ(bool(reg.flags & NVDLA_REGISTER_SHADOWED), name.starts_with("D_"))
				<< where;
			EXPECT_EQ(bool(reg.flags & NVDLA_REGISTER_ABSENT),
				  std::string_view(unit.name) == "GEC")
				<< where;
			if (reg.flags & NVDLA_REGISTER_COUNTER) {
				EXPECT_EQ(reg.write_mask, 0U) << where;
				EXPECT_EQ(reg.reset, 0U) << where;
			}
			if (reg.flags & NVDLA_REGISTER_W1C) {
				EXPECT_EQ(reg.write_mask, reg.read_mask) << where;
			}
			if (name == "D_OP_ENABLE") {
				EXPECT_TRUE(reg.flags & NVDLA_REGISTER_TRIGGER) << where;
			}
		}
	}
}

TEST(RegisterTable, EveryPingPongUnitStartsWithStatusAndPointer)
{
	unsigned int found = 0;

	for (const nvdla_unit_info &unit : nvdla_units) {
		if (!(unit.registers[unit.count - 1].flags & NVDLA_REGISTER_SHADOWED))
			continue;

		++found;
		ASSERT_GE(unit.count, 3U) << unit.name;
		EXPECT_STREQ(unit.registers[0].name, "S_STATUS") << unit.name;
		EXPECT_EQ(unit.registers[0].read_mask, 0x30003U) << unit.name;
		EXPECT_EQ(unit.registers[0].write_mask, 0U) << unit.name;
		EXPECT_STREQ(unit.registers[1].name, "S_POINTER") << unit.name;
		EXPECT_EQ(unit.registers[1].address, unit.base + 4) << unit.name;
		EXPECT_EQ(unit.registers[1].read_mask, 0x10001U) << unit.name;
		EXPECT_EQ(unit.registers[1].write_mask, 0x1U) << unit.name;
	}
	EXPECT_EQ(found, 12U);
}

TEST(RegisterTable, TwinUnitsAreEqual)
{
	const std::pair<unsigned int, unsigned int> twins[] = {
		{ NVDLA_MCIF_BASE, NVDLA_CVIF_BASE },
		{ NVDLA_CMAC_A_BASE, NVDLA_CMAC_B_BASE },
	};

	for (const auto &[first, second] : twins) {
		const nvdla_unit_info &a = nvdla_units[first / NVDLA_UNIT_SIZE];
		const nvdla_unit_info &b = nvdla_units[second / NVDLA_UNIT_SIZE];

		ASSERT_EQ(a.count, b.count);
		for (unsigned int index = 0; index < a.count; ++index) {
			const nvdla_register_info &x = a.registers[index];
			const nvdla_register_info &y = b.registers[index];

			EXPECT_STREQ(x.name, y.name);
			EXPECT_EQ(x.address - first, y.address - second) << x.name;
			EXPECT_EQ(x.reset, y.reset) << x.name;
			EXPECT_EQ(x.read_mask, y.read_mask) << x.name;
			EXPECT_EQ(x.write_mask, y.write_mask) << x.name;
			EXPECT_EQ(x.flags, y.flags) << x.name;
		}
	}
}

/* What is known of single registers from the documents and the golden vectors. */
TEST(RegisterTable, KnownRegisters)
{
	const struct {
		unsigned int address;
		const char *name;
		unsigned int reset, readMask, writeMask, flags;
	} known[] = {
		{ 0x00000, "S_NVDLA_HW_VERSION", 0x303031, 0xffffff, 0, 0 },
		{ 0x00008, "S_INTR_SET", 0, 0, 0x3f03ff, NVDLA_REGISTER_TRIGGER },
		{ 0x0000c, "S_INTR_STATUS", 0, 0x3f03ff, 0x3f03ff,
		  NVDLA_REGISTER_W1C | NVDLA_REGISTER_STATUS },
		{ 0x0103c, "ERRSLICE0_MISSIONERR_INJECT", 0, 0xffff81ff, 0xffff81ff,
		  NVDLA_REGISTER_ABSENT },
		{ 0x02014, "CFG_OUTSTANDING_CNT", 0xffff, 0xffff, 0xffff, 0 },
		{ 0x04040, "STATUS", 0x114, 0x7ff, 0, NVDLA_REGISTER_STATUS },
		{ 0x05008, "S_ARBITER", 0x3000f, 0xf000f, 0xf000f, 0 },
		{ 0x05010, "D_OP_ENABLE", 0, 1, 1,
		  NVDLA_REGISTER_SHADOWED | NVDLA_REGISTER_TRIGGER },
		{ 0x05080, "D_WEIGHT_BYTES", 0, 0xffffff80, 0xffffff80, NVDLA_REGISTER_SHADOWED },
		{ 0x06044, "D_ATOMICS", 1, 0x1fffff, 0x1fffff, NVDLA_REGISTER_SHADOWED },
		{ 0x0800c, "D_MISC_CFG", 0x1000, 0x3001, 0x3001, NVDLA_REGISTER_SHADOWED },
		{ 0x09030, "D_OUT_SATURATION", 0, 0xffffffff, 0,
		  NVDLA_REGISTER_SHADOWED | NVDLA_REGISTER_COUNTER },
		{ 0x0a070, "D_FEATURE_MODE_CFG", 0x14, 0x1fff, 0x1fff, NVDLA_REGISTER_SHADOWED },
		{ 0x0b00c, "S_LUT_ACCESS_DATA", 0, 0xffff, 0xffff,
		  NVDLA_REGISTER_TRIGGER | NVDLA_REGISTER_READ_ACTS },
		{ 0x0b0cc, "D_STATUS", 0, 1, 0, NVDLA_REGISTER_SHADOWED | NVDLA_REGISTER_STATUS },
		{ 0x0d05c, "D_POOLING_PADDING_VALUE_7_CFG", 0, 0x7ffff, 0x7ffff,
		  NVDLA_REGISTER_SHADOWED },
		{ 0x0e030, "D_OPERATION_MODE", 0, 3, 0, NVDLA_REGISTER_SHADOWED },
		{ 0x0f024, "S_LUT_LE_END_HIGH", 0, 0x3f, 0x3f, 0 },
		{ 0x10054, "D_DECONV_STRIDE", 0, 0x1f001f, 0x1f001f, NVDLA_REGISTER_SHADOWED },
	};

	for (const auto &expected : known) {
		const nvdla_register_info *reg = find(expected.address);

		ASSERT_TRUE(reg) << expected.name;
		EXPECT_STREQ(reg->name, expected.name);
		EXPECT_EQ(reg->reset, expected.reset) << expected.name;
		EXPECT_EQ(reg->read_mask, expected.readMask) << expected.name;
		EXPECT_EQ(reg->write_mask, expected.writeMask) << expected.name;
		EXPECT_EQ(reg->flags, expected.flags) << expected.name;
	}
	EXPECT_FALSE(find(0x01020));
}

TEST(RegistersHeader, KnownAddresses)
{
	EXPECT_EQ(NVDLA_GLB_S_INTR_STATUS, 0x0000cU);
	EXPECT_EQ(NVDLA_BDMA_CFG_LAUNCH1, 0x04038U);
	EXPECT_EQ(NVDLA_CDMA_D_OP_ENABLE, 0x05010U);
	EXPECT_EQ(NVDLA_CSC_D_OP_ENABLE, 0x06008U);
	EXPECT_EQ(NVDLA_CMAC_A_D_OP_ENABLE, 0x07008U);
	EXPECT_EQ(NVDLA_CMAC_B_D_OP_ENABLE, 0x08008U);
	EXPECT_EQ(NVDLA_SDP_D_OP_ENABLE, 0x0b038U);
	EXPECT_EQ(NVDLA_CDP_D_OP_ENABLE, 0x0f048U);
	EXPECT_EQ(NVDLA_RBK_D_PERF_WRITE_STALL, 0x10060U);
}

/* A convolution that is done leaves exactly these status bits of group 0. */
TEST(RegistersHeader, ConvolutionInterruptBits)
{
	EXPECT_EQ(NVDLA_GLB_S_INTR_STATUS__CACC_DONE_STATUS0 |
			  NVDLA_GLB_S_INTR_STATUS__CDMA_WT_DONE_STATUS0 |
			  NVDLA_GLB_S_INTR_STATUS__CDMA_DAT_DONE_STATUS0 |
			  NVDLA_GLB_S_INTR_STATUS__SDP_DONE_STATUS0,
		  0x150001U);
}

TEST(RegistersHeader, KnownFieldsAndValues)
{
	EXPECT_EQ(NVDLA_SDP_D_DATA_FORMAT__PROC_PRECISION, 0x3U);
	EXPECT_EQ(NVDLA_SDP_D_DATA_FORMAT__PROC_PRECISION__FP16, 2U);
	EXPECT_EQ(NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_FORMAT, 0x3f00U);
	EXPECT_EQ(NVDLA_CDMA_D_DATAIN_FORMAT__PIXEL_FORMAT__T_Y16___V16U16_N444, 35U);
	EXPECT_EQ(NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE__YES, 1U);
	EXPECT_EQ(NVDLA_SDP_D_DP_EW_CFG__EW_ALU_ALGO__EQL, 3U);
	EXPECT_EQ(NVDLA_CACC_D_DATAOUT_MAP__LINE_PACKED__FALSE, 0U);
	EXPECT_EQ(NVDLA_GEC_MISSIONERR_INJECT_UNLOCK__VALUE__UNLOCK, 225U);
	EXPECT_EQ(NVDLA_GEC_ERRSLICE1_MISSIONERR_ENABLE__ERR32, 0x1U);
	EXPECT_EQ(NVDLA_GEC_ERRSLICE0_MISSIONERR_INJECT__ERR15, 0x8000U);
	EXPECT_EQ(NVDLA_GEC_ERRSLICE2_MISSIONERR_STATUS__ERR67, 0x8U);
	EXPECT_EQ(NVDLA_PDP_D_PARTIAL_WIDTH_IN__PARTIAL_WIDTH_IN_MID, 0x3ff00000U);
}

/* Version 1.00 in ASCII. */
TEST(RegistersHeader, VersionFields)
{
	const nvdla_register_info *reg = find(NVDLA_GLB_S_NVDLA_HW_VERSION);

	ASSERT_TRUE(reg);
	EXPECT_EQ(reg->reset & NVDLA_GLB_S_NVDLA_HW_VERSION__MAJOR, unsigned('1'));
	EXPECT_EQ(NVDLA_GLB_S_NVDLA_HW_VERSION__MINOR, 0xffff00U);
}

} /* namespace */
