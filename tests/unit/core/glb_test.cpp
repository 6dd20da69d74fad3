/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "core/glb.h"

using namespace nvdla::sim;

namespace
{

constexpr uint32_t implemented = 0x003f03ff;

class GlbTest : public testing::Test
{
protected:
	void SetUp() override { glb.reset(); }

	Glb glb;
};

TEST_F(GlbTest, VersionIsReadOnly)
{
	glb.write(NVDLA_GLB_S_NVDLA_HW_VERSION, 0xffffffff);
	EXPECT_EQ(glb.read(NVDLA_GLB_S_NVDLA_HW_VERSION), 0x00303031U);
}

TEST_F(GlbTest, SetSetsStatusWhateverTheMaskIs)
{
	glb.write(NVDLA_GLB_S_INTR_MASK, 0xffffffff);
	EXPECT_EQ(glb.read(NVDLA_GLB_S_INTR_MASK), implemented);
	EXPECT_FALSE(glb.write(NVDLA_GLB_S_INTR_SET, 0xffffffff));
	EXPECT_EQ(glb.read(NVDLA_GLB_S_INTR_STATUS), implemented);
	EXPECT_EQ(glb.read(NVDLA_GLB_S_INTR_SET), 0U);
}

TEST_F(GlbTest, StatusIsClearedByOnes)
{
	glb.raise(0x155);
	glb.write(NVDLA_GLB_S_INTR_STATUS, 0);
	EXPECT_EQ(glb.read(NVDLA_GLB_S_INTR_STATUS), 0x155U);
	glb.write(NVDLA_GLB_S_INTR_STATUS, 0x111);
	EXPECT_EQ(glb.read(NVDLA_GLB_S_INTR_STATUS), 0x44U);
}

TEST_F(GlbTest, UnmaskedBitCallsForAMessage)
{
	glb.write(NVDLA_GLB_S_INTR_MASK, 0x1);
	EXPECT_FALSE(glb.raise(0x1));
	EXPECT_TRUE(glb.raise(0x2));
	EXPECT_TRUE(glb.raise(0x3));
}

TEST_F(GlbTest, ClearThatLeavesABitStandingCallsForAMessage)
{
	glb.raise(0x3);
	EXPECT_TRUE(glb.write(NVDLA_GLB_S_INTR_STATUS, 0x1));
	EXPECT_FALSE(glb.write(NVDLA_GLB_S_INTR_STATUS, 0x2));
}

TEST_F(GlbTest, UnmaskingAStandingBitCallsForAMessage)
{
	glb.write(NVDLA_GLB_S_INTR_MASK, implemented);
	glb.raise(0x4);
	EXPECT_FALSE(glb.write(NVDLA_GLB_S_INTR_MASK, 0x4));
	EXPECT_TRUE(glb.write(NVDLA_GLB_S_INTR_MASK, 0x8));
}

} /* namespace */
