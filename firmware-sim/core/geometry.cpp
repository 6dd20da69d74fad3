/* SPDX-License-Identifier: MIT */
/*
 * The five configurations of the core.
 *
 * Sources: nv_full is from the public tree nvdla/hw, branch nvdlav1 (spec/defs/nv_full.spec). The
 * others are from branch master: spec/defs/NAME.spec, spec/defs/projects.spec (buffer entries are
 * as wide as ATOMIC_C), spec/manual/nvdla.rdl (address map), vmod/nvdla/csb_master (units that
 * answer), vmod/nvdla/cfgrom (ROM). Their masks and reset values were read from nv_small's RTL,
 * because the register headers that the tree generates are the same for all of its
 * configurations.
 */
#include "core/geometry.h"

#include <algorithm>
#include <array>
#include <bit>

#include <nvdla/hw/pci.h>
#include <nvdla/hw/registers.h>

namespace nvdla::sim
{

namespace
{

constexpr uint32_t bitOf(Unit unit)
{
	return 1U << index(unit);
}

/* Every configuration has GEC in its register map, but none has it in the RTL. */
constexpr uint32_t kAllUnits = (bitOf(Unit::Rbk) * 2 - 1) & ~bitOf(Unit::Gec);
constexpr uint32_t kUnitsOfSmall = (kAllUnits | bitOf(Unit::CfgRom)) &
				   ~(bitOf(Unit::Cvif) | bitOf(Unit::Bdma) | bitOf(Unit::Rbk));
constexpr uint32_t kUnitsOfLarge = kUnitsOfSmall | bitOf(Unit::Cvif);

constexpr std::array kPagesOfFull = {
	Unit::Glb,     Unit::Gec,   Unit::Mcif,	   Unit::Cvif, Unit::Bdma,    Unit::Cdma,
	Unit::Csc,     Unit::CmacA, Unit::CmacB,   Unit::Cacc, Unit::SdpRdma, Unit::Sdp,
	Unit::PdpRdma, Unit::Pdp,   Unit::CdpRdma, Unit::Cdp,  Unit::Rbk,
};

constexpr std::array kPagesOfOthers = {
	Unit::CfgRom,  Unit::Glb,  Unit::Mcif,	  Unit::Cdma, Unit::Csc,     Unit::CmacA,
	Unit::CmacB,   Unit::Cacc, Unit::SdpRdma, Unit::Sdp,  Unit::PdpRdma, Unit::Pdp,
	Unit::CdpRdma, Unit::Cdp,  Unit::Gec,	  Unit::Cvif, Unit::Bdma,    Unit::Rbk,
};

/*
 * Differences of branch master from nv_full: BANK and ENTRIES are wider, reset bypasses SDP's
 * stages, and S_INTR_SET has no bits for the absent BDMA and RUBIK (S_INTR_MASK has).
 */
constexpr RegisterDifference kDifferences[] = {
	{ NVDLA_GLB_S_INTR_SET, 0, 0x3f003f },	     { NVDLA_CDMA_D_BANK, 0, 0x1f001f },
	{ NVDLA_CDMA_D_ENTRY_PER_SLICE, 0, 0x3fff }, { NVDLA_CSC_D_BANK, 0, 0x1f001f },
	{ NVDLA_CSC_D_ENTRY_PER_SLICE, 0, 0x3fff },  { NVDLA_SDP_RDMA_D_BRDMA_CFG, 0x1, 0x3f },
	{ NVDLA_SDP_RDMA_D_NRDMA_CFG, 0x1, 0x3f },   { NVDLA_SDP_RDMA_D_ERDMA_CFG, 0x1, 0x3f },
	{ NVDLA_SDP_D_DP_BS_CFG, 0x73, 0x7f },	     { NVDLA_SDP_D_DP_BN_CFG, 0x53, 0x7f },
	{ NVDLA_SDP_D_DP_EW_CFG, 0x53, 0x7f },	     { NVDLA_SDP_D_DP_EW_ALU_CFG, 0x2, 0x3 },
	{ NVDLA_SDP_D_DP_EW_MUL_CFG, 0x2, 0x3 },
};

/*
 * The ROM of branch master is a constant table for nv_small, so all its configurations return
 * nv_small's numbers. After version and GLB each sub-unit begins with its id and the number of
 * bytes that follow. Ids are 2 to 13: memory interface, CDMA, CBUF, CSC, CMAC_A and CMAC_B (both
 * 6), CACC, SDP_RDMA, SDP, PDP_RDMA, PDP, CDP_RDMA, CDP. 0 ends the list.
 */
constexpr uint32_t kRomOfOthers[] = {
	0x10001,  0x1,	     0x180002, 0x0,	 0x0,  0x8,  0x32, 0x80, 0x400,	   0x340003,
	0x0,	  0x10,	     0x10,     0x10,	 0x8,  0x8,  0x8,  0x20, 0x8,	   0x200,
	0x0,	  0xcfff001, 0x3,      0x180004, 0x0,  0x0,  0x20, 0x8,	 0x200,	   0x3,
	0x300005, 0x0,	     0x10,     0x10,	 0x10, 0x8,  0x8,  0x8,	 0x20,	   0x8,
	0x200,	  0x3,	     0x0,      0x1c0006, 0x0,  0x10, 0x10, 0x10, 0x8,	   0x8,
	0x3,	  0x1c0006,  0x0,      0x10,	 0x10, 0x10, 0x8,  0x8,	 0x3,	   0x200007,
	0x0,	  0x0,	     0x10,     0x10,	 0x8,  0x8,  0x3,  0x0,	 0xe0008,  0x0,
	0x0,	  0x8,	     0x9,      0x200009, 0x0,  0x18, 0x10, 0x10, 0x3,	   0x0,
	0x1,	  0x1,	     0x0,      0xe000a,	 0x0,  0x0,  0x8,  0xb,	 0x10000b, 0x0,
	0x0,	  0x10,	     0x1,      0xe000c,	 0x0,  0x0,  0x8,  0xd,	 0x10000d, 0x0,
	0x0,	  0x10,	     0x1,      0x0
};

constexpr uint32_t kInt8 = 1U << static_cast<unsigned int>(Precision::Int8);
constexpr uint32_t kAllPrecisions = kInt8 | 1U << static_cast<unsigned int>(Precision::Int16) |
				    1U << static_cast<unsigned int>(Precision::Fp16);

/* Sets the values that all configurations of branch master share. */
constexpr Geometry others(Geometry geometry)
{
	geometry.precisions = kInt8;
	geometry.mostBatches = 1;
	geometry.pages = kPagesOfOthers;
	geometry.hasByteAddresses = true;
	geometry.registers = kDifferences;
	geometry.rom = kRomOfOthers;
	return geometry;
}

/* Bit that marks names for addresses beyond the last page. */
constexpr uint32_t kNobody = 1U << 31;

/* Default of the model: the integrator of a chip chooses the size of its CVSRAM. */
constexpr size_t kCvsramSize = 4 << 20;

} /* namespace */

constinit const Geometry nvFull = {
	.name = "nv_full",
	.pciVariant = NVDLA_PCI_VARIANT_NV_FULL,
	.atomBytes = 32,
	.macChannels = 64,
	.banks = 16,
	.bankEntries = 256,
	.entryBytes = 128,
	.precisions = kAllPrecisions,
	.mostBatches = 32,
	.hasWinograd = true,
	.hasCompressedWeights = true,
	.hasY = true,
	.bdmaSlots = 20,
	.cvsramSize = kCvsramSize,
	.units = kAllUnits,
	.pages = kPagesOfFull,
	.timing = &nvFullTiming,
};

constinit const Geometry nvLarge = others({
	.name = "nv_large",
	.pciVariant = NVDLA_PCI_VARIANT_NV_LARGE,
	.atomBytes = 32,
	.macChannels = 64,
	.banks = 16,
	.bankEntries = 512,
	.entryBytes = 64,
	.hasY = true,
	.cvsramSize = kCvsramSize,
	.units = kUnitsOfLarge,
	.timing = &nvLargeTiming,
});

constinit const Geometry nvSmall = others({
	.name = "nv_small",
	.pciVariant = NVDLA_PCI_VARIANT_NV_SMALL,
	.atomBytes = 8,
	.macChannels = 8,
	.banks = 32,
	.bankEntries = 512,
	.entryBytes = 8,
	.units = kUnitsOfSmall,
	.timing = &nvSmallTiming,
});

constinit const Geometry nvSmall256 = others({
	.name = "nv_small_256",
	.pciVariant = NVDLA_PCI_VARIANT_NV_SMALL_256,
	.atomBytes = 8,
	.macChannels = 32,
	.banks = 32,
	.bankEntries = 128,
	.entryBytes = 32,
	.units = kUnitsOfSmall,
	.timing = &nvSmall256Timing,
});

constinit const Geometry nvSmall256Full = others({
	.name = "nv_small_256_full",
	.pciVariant = NVDLA_PCI_VARIANT_NV_SMALL_256_FULL,
	.atomBytes = 8,
	.macChannels = 32,
	.banks = 32,
	.bankEntries = 128,
	.entryBytes = 32,
	.hasY = true,
	.cvsramSize = kCvsramSize,
	.units = kUnitsOfLarge,
	.timing = &nvSmall256FullTiming,
});

std::span<const Geometry *const> geometries()
{
	static constexpr std::array kAll = { &nvFull, &nvLarge, &nvSmall, &nvSmall256,
					     &nvSmall256Full };
	return kAll;
}

const Geometry *findGeometry(std::string_view name)
{
	const auto all = geometries();
	const auto found = std::ranges::find(all, name, &Geometry::name);

	return found == all.end() ? nullptr : *found;
}

const char *geometryNames()
{
	return "nv_full, nv_large, nv_small, nv_small_256, nv_small_256_full";
}

uint32_t Geometry::nameOf(uint32_t address) const
{
	const size_t page = address / NVDLA_UNIT_SIZE;

	if (page >= pages.size())
		return address | kNobody;
	return static_cast<uint32_t>(index(pages[page])) * NVDLA_UNIT_SIZE +
	       address % NVDLA_UNIT_SIZE;
}

uint32_t Geometry::addressOf(uint32_t name) const
{
	const auto page = std::ranges::find(pages, name / NVDLA_UNIT_SIZE,
					    [](Unit unit) { return index(unit); });

	if (page == pages.end())
		return name & ~kNobody;
	return static_cast<uint32_t>(page - pages.begin()) * NVDLA_UNIT_SIZE +
	       name % NVDLA_UNIT_SIZE;
}

RegisterInfo Geometry::adapt(uint32_t name, RegisterInfo info) const
{
	const auto other = std::ranges::find(registers, name, &RegisterDifference::name);
	const uint32_t lowest = info.writeMask & (~info.writeMask + 1);

	if (other != registers.end()) {
		info.reset = other->reset;
		info.readMask = info.writeMask = other->mask;
	} else if (hasByteAddresses && lowest > 1 && std::popcount(info.writeMask) > 16) {
		/* The only field of the register is an address, a stride or a size. Without byte
		 * addresses its unit is an atom or an entry. */
		info.readMask |= lowest - 1;
		info.writeMask |= lowest - 1;
	}
	return info;
}

} /* namespace nvdla::sim */
