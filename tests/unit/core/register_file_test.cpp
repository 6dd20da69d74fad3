/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "core/register_file.h"
#include "core/register_table.h"

using namespace nvdla::sim;

namespace
{

using Write = RegisterFile::Write;

TEST(RegisterFile, EveryReadableBitResetsToTheTable)
{
	for (size_t number = 0; number < unitCount; number++) {
		const auto unit = static_cast<Unit>(number);
		const RegisterFile file(unit);
		for (uint32_t word = 0; word < unitRegisters(unit).size(); word++) {
			const uint32_t address = unitBase(unit) + word * 4;
			const RegisterInfo *info = registerInfo(address);
			EXPECT_EQ(file.read(address), info ? info->reset & info->readMask : 0)
				<< unitName(unit) << " " << std::hex << address;
		}
	}
}

TEST(RegisterFile, WritesReachWritableBitsOnly)
{
	RegisterFile file(Unit::Cdma);
	EXPECT_EQ(file.write(NVDLA_CDMA_S_ARBITER, 0xffffffff), Write::Done);
	EXPECT_EQ(file.read(NVDLA_CDMA_S_ARBITER), 0x000f000fU);
	EXPECT_EQ(file.write(NVDLA_CDMA_D_PERF_DAT_READ_STALL, 0xffffffff), Write::Done);
	EXPECT_EQ(file.read(NVDLA_CDMA_D_PERF_DAT_READ_STALL), 0U);
}

TEST(RegisterFile, AddressesWithoutRegisterAreReserved)
{
	RegisterFile file(Unit::Rbk);
	EXPECT_EQ(file.write(NVDLA_RBK_BASE + 0xffc, 1), Write::Reserved);
	EXPECT_EQ(file.read(NVDLA_RBK_BASE + 0xffc), 0U);
}

TEST(RegisterFile, ProducerSelectsTheGroup)
{
	RegisterFile file(Unit::Rbk);
	file.write(NVDLA_RBK_D_DAIN_ADDR_HIGH, 0x11);
	file.write(NVDLA_RBK_S_POINTER, 1);
	file.write(NVDLA_RBK_D_DAIN_ADDR_HIGH, 0x22);
	EXPECT_EQ(file.read(NVDLA_RBK_D_DAIN_ADDR_HIGH), 0x22U);
	file.write(NVDLA_RBK_S_POINTER, 0);
	EXPECT_EQ(file.read(NVDLA_RBK_D_DAIN_ADDR_HIGH), 0x11U);
	EXPECT_EQ(file.view(0)[NVDLA_RBK_D_DAIN_ADDR_HIGH], 0x11U);
	EXPECT_EQ(file.view(1)[NVDLA_RBK_D_DAIN_ADDR_HIGH], 0x22U);
}

TEST(RegisterFile, ViewsHaveRoomForEachUnit)
{
	for (size_t unit = 0; unit < unitCount; unit++)
		EXPECT_LE(unitRegisters(static_cast<Unit>(unit)).size(), RegisterView::kMostWords)
			<< unit;
}

TEST(RegisterFile, BothGroupsSeeSingleRegisters)
{
	RegisterFile file(Unit::Sdp);
	file.write(NVDLA_SDP_S_POINTER, 1);
	file.write(NVDLA_SDP_S_LUT_LE_START, 0x1234);
	EXPECT_EQ(file.view(0)[NVDLA_SDP_S_LUT_LE_START], 0x1234U);
	EXPECT_EQ(file.view(1)[NVDLA_SDP_S_LUT_LE_START], 0x1234U);
}

TEST(RegisterFile, OperationGoesThroughItsStates)
{
	RegisterFile file(Unit::Rbk);
	EXPECT_EQ(file.read(NVDLA_RBK_S_STATUS), 0U);
	EXPECT_FALSE(file.ready());

	EXPECT_EQ(file.write(NVDLA_RBK_D_OP_ENABLE, 1), Write::Enabled);
	EXPECT_EQ(file.read(NVDLA_RBK_S_STATUS), 0x00000001U);
	EXPECT_EQ(file.read(NVDLA_RBK_D_OP_ENABLE), 1U);
	EXPECT_TRUE(file.ready());

	file.write(NVDLA_RBK_S_POINTER, 1);
	EXPECT_EQ(file.write(NVDLA_RBK_D_OP_ENABLE, 1), Write::Enabled);
	EXPECT_EQ(file.read(NVDLA_RBK_S_STATUS), 0x00020001U);

	file.begin();
	EXPECT_FALSE(file.ready());
	EXPECT_EQ(file.read(NVDLA_RBK_S_STATUS), 0x00020001U);

	file.finish();
	EXPECT_EQ(file.read(NVDLA_RBK_S_STATUS), 0x00010000U);
	EXPECT_EQ(file.read(NVDLA_RBK_S_POINTER), 0x00010001U);
	EXPECT_TRUE(file.ready());
	file.write(NVDLA_RBK_S_POINTER, 0);
	EXPECT_EQ(file.read(NVDLA_RBK_D_OP_ENABLE), 0U);
}

TEST(RegisterFile, GroupThatIsNotTheConsumersWaits)
{
	RegisterFile file(Unit::Rbk);
	file.write(NVDLA_RBK_S_POINTER, 1);
	file.write(NVDLA_RBK_D_OP_ENABLE, 1);
	EXPECT_EQ(file.read(NVDLA_RBK_S_STATUS), 0x00020000U);
	EXPECT_FALSE(file.ready());
}

TEST(RegisterFile, EnabledGroupIgnoresWrites)
{
	RegisterFile file(Unit::Rbk);
	file.write(NVDLA_RBK_D_DAIN_ADDR_HIGH, 0x11);
	file.write(NVDLA_RBK_D_OP_ENABLE, 1);
	EXPECT_EQ(file.write(NVDLA_RBK_D_DAIN_ADDR_HIGH, 0x22), Write::Locked);
	EXPECT_EQ(file.write(NVDLA_RBK_D_OP_ENABLE, 0), Write::Locked);
	EXPECT_EQ(file.read(NVDLA_RBK_D_DAIN_ADDR_HIGH), 0x11U);
	EXPECT_EQ(file.read(NVDLA_RBK_D_OP_ENABLE), 1U);
	file.write(NVDLA_RBK_S_POINTER, 1);
	EXPECT_EQ(file.write(NVDLA_RBK_D_DAIN_ADDR_HIGH, 0x22), Write::Done);
}

TEST(RegisterFile, WritingZeroEnablesNothing)
{
	RegisterFile file(Unit::Rbk);
	EXPECT_EQ(file.write(NVDLA_RBK_D_OP_ENABLE, 0xfffffffe), Write::Done);
	EXPECT_EQ(file.read(NVDLA_RBK_D_OP_ENABLE), 0U);
}

TEST(RegisterFile, CountersOfAGroupRestartWhenItIsEnabled)
{
	RegisterFile file(Unit::Sdp);
	file.latch(0, NVDLA_SDP_D_PERF_OUT_SATURATION, 7);
	file.latch(0, NVDLA_SDP_D_STATUS, 1);
	file.latch(1, NVDLA_SDP_D_PERF_OUT_SATURATION, 9);
	EXPECT_EQ(file.read(NVDLA_SDP_D_PERF_OUT_SATURATION), 7U);
	file.write(NVDLA_SDP_D_OP_ENABLE, 1);
	EXPECT_EQ(file.read(NVDLA_SDP_D_PERF_OUT_SATURATION), 0U);
	EXPECT_EQ(file.read(NVDLA_SDP_D_STATUS), 0U);
	file.write(NVDLA_SDP_S_POINTER, 1);
	EXPECT_EQ(file.read(NVDLA_SDP_D_PERF_OUT_SATURATION), 9U);
}

TEST(RegisterFile, ResetForgetsEverything)
{
	RegisterFile file(Unit::Rbk);
	file.write(NVDLA_RBK_D_DAIN_ADDR_HIGH, 0x11);
	file.write(NVDLA_RBK_D_OP_ENABLE, 1);
	file.begin();
	file.finish();
	file.write(NVDLA_RBK_S_POINTER, 1);
	file.reset();
	EXPECT_EQ(file.read(NVDLA_RBK_S_POINTER), 0U);
	EXPECT_EQ(file.read(NVDLA_RBK_S_STATUS), 0U);
	EXPECT_EQ(file.read(NVDLA_RBK_D_DAIN_ADDR_HIGH), 0U);
}

} /* namespace */
