/* SPDX-License-Identifier: MIT */
#include "core/geometry.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "core/core.h"

using namespace nvdla::sim;

namespace
{

TEST(GeometryTest, NamesFindTheirGeometry)
{
	for (const Geometry *geometry : geometries()) {
		EXPECT_EQ(findGeometry(geometry->name), geometry);
		EXPECT_NE(std::string(geometryNames()).find(geometry->name), std::string::npos);
	}
	EXPECT_EQ(findGeometry("nv_tiny"), nullptr);
}

TEST(GeometryTest, EachPageIsAnotherUnit)
{
	for (const Geometry *geometry : geometries()) {
		uint32_t units = 0;
		for (uint32_t page = 0; page < geometry->pages.size(); page++) {
			const uint32_t address = page * NVDLA_UNIT_SIZE + 0x14;
			const uint32_t name = geometry->nameOf(address);
			EXPECT_EQ(geometry->addressOf(name), address) << geometry->name;
			units |= 1U << name / NVDLA_UNIT_SIZE;
		}
		EXPECT_EQ(units & geometry->units, geometry->units) << geometry->name;
	}
}

TEST(GeometryTest, BuffersAreWholeAtomsAndPowersOfTwo)
{
	for (const Geometry *geometry : geometries()) {
		const uint32_t entries = geometry->banks * geometry->bankEntries;
		EXPECT_EQ(geometry->entryBytes % geometry->atomBytes, 0U) << geometry->name;
		EXPECT_EQ(entries & (entries - 1), 0U) << geometry->name;
	}
}

struct CoreOf {
	explicit CoreOf(const Geometry &geometry)
		: core({ .geometry = geometry,
			 .cvsramSize = geometry.cvsramSize,
			 .diagnostics =
				 [this](const GuestError &error) {
					 errors.push_back(error.unit + (" " + error.where));
				 } },
		       dram, {})
	{
	}

	SparseMemory dram;
	std::vector<std::string> errors;
	Core core;
};

TEST(GeometryTest, UnitsAnswerWhereTheCoreHasThem)
{
	CoreOf full(nvFull);
	CoreOf small(nvSmall);

	EXPECT_EQ(full.core.csbRead(0), 0x00303031U);
	EXPECT_EQ(small.core.csbRead(0), 0x00010001U) << "configuration ROM";
	EXPECT_EQ(small.core.csbRead(0x1000), 0x00303031U);
	small.core.csbWrite(0, 1);
	EXPECT_EQ(small.core.csbRead(0), 0x00010001U);
	/* There is no BDMA. */
	small.core.csbWrite(0x10014, UINT32_MAX);
	EXPECT_EQ(small.core.csbRead(0x10014), 0U);
	EXPECT_TRUE(small.errors.empty());
}

TEST(GeometryTest, ErrorsNameTheAddressThatWasUsed)
{
	CoreOf full(nvFull);
	CoreOf small(nvSmall);

	full.core.csbRead(0x11000);
	small.core.csbRead(0x1ff0); /* of GLB */
	small.core.csbRead(0x12000);
	EXPECT_EQ(full.errors, std::vector<std::string>{ "CSB 0x11000" });
	EXPECT_EQ(small.errors, (std::vector<std::string>{ "GLB 0x1ff0", "CSB 0x12000" }));
}

TEST(GeometryTest, AddressesKeepTheBitsThatAtomsNeed)
{
	for (const Geometry *geometry : geometries()) {
		CoreOf one(*geometry);
		const uint32_t address = geometry->addressOf(NVDLA_SDP_D_DST_BASE_ADDR_LOW);
		one.core.csbWrite(address, UINT32_MAX);
		EXPECT_EQ(one.core.csbRead(address),
			  geometry->hasByteAddresses ? UINT32_MAX : ~31U)
			<< geometry->name;
	}
}

} /* namespace */
