/* SPDX-License-Identifier: MIT */
#include "nvdla/hw/field.h"
#include "nvdla/hw/registers.h"

#include <gtest/gtest.h>

#include "table_in_c.h"

namespace
{

/* Usable where a constant is needed. */
static_assert(NVDLA_FIELD_PREP(NVDLA_PDP_D_OPERATION_MODE_CFG__SPLIT_NUM, 3) == 0x300);
static_assert(NVDLA_FIELD_MAX(NVDLA_PDP_D_OPERATION_MODE_CFG__SPLIT_NUM) == 0xff);

TEST(Field, PrepAndGetAreInverse)
{
	for (unsigned lsb = 0; lsb < 32; ++lsb) {
		for (unsigned width = 1; lsb + width <= 32; ++width) {
			const unsigned mask = (~0U >> (32 - width)) << lsb;
			const unsigned largest = mask >> lsb;

			EXPECT_EQ(NVDLA_FIELD_MAX(mask), largest);
			for (unsigned value : { 0U, 1U, largest / 2, largest }) {
				EXPECT_EQ(NVDLA_FIELD_PREP(mask, value), value << lsb);
				EXPECT_EQ(NVDLA_FIELD_GET(mask, value << lsb), value);
				EXPECT_EQ(NVDLA_FIELD_GET(mask, (value << lsb) | ~mask), value);
			}
		}
	}
}

TEST(Field, PrepKeepsNeighboursClear)
{
	EXPECT_EQ(NVDLA_FIELD_PREP(0xff00U, 0x1ff), 0xff00U);
	EXPECT_EQ(NVDLA_FIELD_PREP(0xff00U, -1), 0xff00U);
}

TEST(Field, FitsComparesUnsigned)
{
	EXPECT_TRUE(NVDLA_FIELD_FITS(0xff00U, 0xff));
	EXPECT_FALSE(NVDLA_FIELD_FITS(0xff00U, 0x100));
	EXPECT_FALSE(NVDLA_FIELD_FITS(0xff00U, -1));
	EXPECT_TRUE(NVDLA_FIELD_FITS(0xffffffffU, 0xffffffffU));
	EXPECT_FALSE(NVDLA_FIELD_FITS(0xffffffffU, 0x100000000ULL));
}

TEST(Field, SignedValuesSurvive)
{
	for (int value : { -128, -1, 0, 1, 127 })
		EXPECT_EQ(NVDLA_FIELD_GET_SIGNED(0xff00U, NVDLA_FIELD_PREP(0xff00U, value)), value);

	EXPECT_EQ(NVDLA_FIELD_GET_SIGNED(0xffffffffU, 0x80000000U), -2147483647 - 1);
	EXPECT_EQ(NVDLA_FIELD_GET_SIGNED(0x1U, 0x1U), -1);
}

TEST(Field, ReplaceKeepsTheOtherBits)
{
	EXPECT_EQ(NVDLA_FIELD_REPLACE(0x00ff0000U, 0x12345678U, 0xab), 0x12ab5678U);
}

TEST(Field, CBuildsTheSameWords)
{
	EXPECT_EQ(data_format_built_by_c(), 0x9U);
}

} /* namespace */
