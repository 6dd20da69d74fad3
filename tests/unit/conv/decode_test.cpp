/* SPDX-License-Identifier: MIT */
#include <map>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include "conv_support.h"

namespace nvdla::sim::test
{

namespace
{

/** Registers of the five units, set for a small INT8 layer of 8x6x40, 3x2 kernels */
class Registers
{
public:
	Registers()
	{
		for (uint32_t base : { 0x5000U, 0x6000U, 0x7000U, 0x8000U, 0x9000U })
			units_[base].resize(64);
		set(NVDLA_CDMA_D_DATAIN_SIZE_0, 5 << 16 | 7);
		set(NVDLA_CDMA_D_DATAIN_SIZE_1, 39);
		set(NVDLA_CDMA_D_DAIN_RAM_TYPE, 1);
		set(NVDLA_CDMA_D_DAIN_ADDR_LOW_0, Bench::kData);
		set(NVDLA_CDMA_D_LINE_STRIDE, 256);
		set(NVDLA_CDMA_D_SURF_STRIDE, 256 * 6);
		set(NVDLA_CDMA_D_WEIGHT_SIZE_0, 3 * 2 * 40 - 1);
		set(NVDLA_CDMA_D_WEIGHT_SIZE_1, 9);
		set(NVDLA_CDMA_D_WEIGHT_RAM_TYPE, 1);
		set(NVDLA_CDMA_D_WEIGHT_ADDR_LOW, Bench::kWeights);
		set(NVDLA_CDMA_D_WEIGHT_BYTES, 2432);
		set(NVDLA_CSC_D_DATAIN_SIZE_EXT_0, 5 << 16 | 7);
		set(NVDLA_CSC_D_DATAIN_SIZE_EXT_1, 39);
		set(NVDLA_CSC_D_WEIGHT_SIZE_EXT_0, 1 << 16 | 2);
		set(NVDLA_CSC_D_WEIGHT_SIZE_EXT_1, 9 << 16 | 39);
		set(NVDLA_CSC_D_DATAOUT_SIZE_0, 4 << 16 | 5);
		set(NVDLA_CSC_D_DATAOUT_SIZE_1, 9);
		set(NVDLA_CSC_D_RELEASE, 5);
		set(NVDLA_CACC_D_DATAOUT_SIZE_0, 4 << 16 | 5);
		set(NVDLA_CACC_D_DATAOUT_SIZE_1, 9);
	}

	void set(uint32_t address, uint32_t value) { at(address) = value; }
	uint32_t &at(uint32_t address)
	{
		return units_.at(address & ~0xfffU)[address % 0x1000 / 4];
	}

	ConvOp decode(const Geometry &geometry = nvFull)
	{
		std::vector<RegisterView> views;
		for (const auto &[base, words] : units_)
			views.emplace_back(base, words);
		return decodeConv({ views[0], views[1], views[2], views[3], views[4] }, geometry);
	}

private:
	std::map<uint32_t, std::vector<uint32_t>> units_;
};

TEST(DecodeConvTest, CountsAndBytes)
{
	Registers registers;
	registers.set(NVDLA_CSC_D_CONV_STRIDE_EXT, 3 << 16 | 1);
	registers.set(NVDLA_CSC_D_DILATION_EXT, 4 << 16 | 2);
	registers.set(NVDLA_CSC_D_ZERO_PADDING, 2 << 16 | 1);
	registers.set(NVDLA_CSC_D_ZERO_PADDING_VALUE, 0xfffe);
	registers.set(NVDLA_CACC_D_CLIP_CFG, 7);
	registers.set(NVDLA_CDMA_D_DAIN_ADDR_HIGH_0, 1);
	registers.at(NVDLA_CDMA_D_DAIN_ADDR_LOW_0) |= 0x1f;
	const ConvOp op = registers.decode();

	EXPECT_EQ(op.guestError, "");
	EXPECT_EQ(op.mode, ConvMode::Direct);
	EXPECT_EQ(op.precision, Precision::Int8);
	EXPECT_EQ(op.fetch.address, 0x100000000 + Bench::kData) << "the low bits are not there";
	EXPECT_EQ(op.fetch.lineStride, 256U);
	EXPECT_EQ(op.fetch.size, (CubeSize{ 8, 6, 40 }));
	EXPECT_EQ(op.windows.data, op.fetch.size);
	EXPECT_EQ(op.windows.kernel, (CubeSize{ 3, 2, 40 }));
	EXPECT_EQ(op.windows.kernels, 10U);
	EXPECT_EQ(op.windows.out, (CubeSize{ 6, 5, 10 }));
	EXPECT_EQ(op.windows.strideX, 2U);
	EXPECT_EQ(op.windows.strideY, 4U);
	EXPECT_EQ(op.windows.dilationX, 3U);
	EXPECT_EQ(op.windows.dilationY, 5U);
	EXPECT_EQ(op.windows.padLeft, 1U);
	EXPECT_EQ(op.windows.padTop, 2U);
	EXPECT_EQ(op.windows.padValue, -2);
	EXPECT_EQ(op.windows.releasedSlices, 6U);
	EXPECT_EQ(op.clipTruncate, 7U);
	EXPECT_EQ(op.dataBanks, 1U);
	EXPECT_EQ(op.surfaces(), 1U);
}

TEST(DecodeConvTest, TheSmallLayerRuns)
{
	Bench bench;
	EXPECT_EQ(bench.run(Registers().decode()).guestError, "");
	EXPECT_EQ(bench.out->columns(), 30U);
}

TEST(DecodeConvTest, MeanIsOffsetUnlessEnabled)
{
	Registers registers;
	registers.set(NVDLA_CDMA_D_CVT_OFFSET, 0xfff0);
	registers.set(NVDLA_CDMA_D_MEAN_GLOBAL_0, 0x00020001);
	registers.set(NVDLA_CDMA_D_MEAN_GLOBAL_1, 0xffff0003);
	EXPECT_EQ(registers.decode().pixel.mean[3], -16);
	registers.set(NVDLA_CDMA_D_MEAN_FORMAT, 1);
	const ConvOp op = registers.decode();
	EXPECT_EQ(op.pixel.mean[0], 1);
	EXPECT_EQ(op.pixel.mean[1], 2);
	EXPECT_EQ(op.pixel.mean[2], 3);
	EXPECT_EQ(op.pixel.mean[3], -1);
}

TEST(DecodeConvTest, ContradictionsAreGuestErrors)
{
	const std::pair<uint32_t, uint32_t> cases[] = {
		{ NVDLA_CDMA_D_MISC_CFG, 0x1000 },
		{ NVDLA_CSC_D_MISC_CFG, 1 },
		{ NVDLA_CMAC_A_D_MISC_CFG, 0x1000 },
		{ NVDLA_CMAC_B_D_MISC_CFG, 1 },
		{ NVDLA_CACC_D_MISC_CFG, 0x2000 },
		{ NVDLA_CDMA_D_DATAIN_FORMAT, 1 },
		{ NVDLA_CSC_D_BATCH_NUMBER, 1 },
		{ NVDLA_CACC_D_BATCH_NUMBER, 2 },
		{ NVDLA_CSC_D_BANK, 1 },
		{ NVDLA_CDMA_D_BANK, 1 << 16 },
		{ NVDLA_CSC_D_WEIGHT_FORMAT, 1 },
		{ NVDLA_CDMA_D_WEIGHT_SIZE_1, 10 },
		{ NVDLA_CACC_D_DATAOUT_SIZE_0, 4 << 16 },
		{ NVDLA_CSC_D_DATAOUT_SIZE_1, 10 },
		{ NVDLA_CSC_D_WEIGHT_SIZE_EXT_1, 9 << 16 },
	};

	for (const auto &[address, value] : cases) {
		Registers registers;
		registers.set(address, value);
		const ConvOp op = registers.decode();
		EXPECT_NE(op.guestError, "") << std::hex << address;
		Bench bench;
		EXPECT_TRUE(bench.run(op).hangs);
	}
}

TEST(DecodeConvTest, IllegalInAllUnitsAlike)
{
	Registers banks;
	banks.set(NVDLA_CSC_D_BANK, 8 << 16 | 7);
	banks.set(NVDLA_CDMA_D_BANK, 8 << 16 | 7);
	EXPECT_NE(banks.decode().guestError, "");

	Registers precision;
	for (uint32_t misc : { NVDLA_CDMA_D_MISC_CFG, NVDLA_CSC_D_MISC_CFG, NVDLA_CMAC_A_D_MISC_CFG,
			       NVDLA_CMAC_B_D_MISC_CFG, NVDLA_CACC_D_MISC_CFG })
		precision.set(misc, 0x3300);
	EXPECT_NE(precision.decode().guestError, "");
}

/** Multiply-accumulate steps an operation would take at most */
double effort(const ConvOp &op)
{
	const Windows &w = op.windows;
	return static_cast<double>(op.batches) * w.out.width * w.out.height * op.surfaces() * 32 *
	       w.kernel.width * w.kernel.height * w.kernel.channels;
}

/* Nothing the registers can hold may crash, read outside its operands or hang the model. */
TEST(DecodeConvTest, RandomRegistersAreBounded)
{
	constexpr uint32_t kBases[] = { 0x5000, 0x6000, 0x7000, 0x8000, 0x9000 };
	Random random(99);
	int ran = 0;

	for (int i = 0; i < 4000; i++) {
		Registers registers;
		/* Some change in one unit, some in all alike, a few everywhere. */
		const int changes = random(1, 4);
		for (int change = 0; change < changes; change++) {
			const auto offset = static_cast<uint32_t>(random(3, 57)) * 4;
			const auto bit = 1U << random(0, 31);
			registers.at(kBases[random(0, 4)] + offset) ^= bit;
		}
		if (random(0, 3) == 0) {
			for (uint32_t misc :
			     { NVDLA_CDMA_D_MISC_CFG, NVDLA_CSC_D_MISC_CFG, NVDLA_CMAC_A_D_MISC_CFG,
			       NVDLA_CMAC_B_D_MISC_CFG, NVDLA_CACC_D_MISC_CFG })
				registers.set(misc, 0x2200);
		}
		const ConvOp op = registers.decode();
		if (effort(op) > 1e7)
			continue;
		Bench bench;
		MemoryPort port(bench.dram, bench.cvsram);
		Collector out(op);
		const OperationResult result = bench.engine.run(op, port, out);
		EXPECT_EQ(result.hangs, !result.guestError.empty());
		ran += !result.hangs;
	}
	EXPECT_GT(ran, 100);
}

} /* namespace */

TEST(DecodeConvTest, MissingCapabilitiesAreNamed)
{
	const struct {
		std::function<void(Registers &)> change;
		const char *error;
	} cases[] = {
		{ [](Registers &) {}, "" },
		{ [](Registers &one) {
			 /* PROC_PRECISION: INT16 */
			 one.set(NVDLA_CDMA_D_MISC_CFG, 0x1100);
			 one.set(NVDLA_CSC_D_MISC_CFG, 0x1100);
			 one.set(NVDLA_CMAC_A_D_MISC_CFG, 0x1000);
			 one.set(NVDLA_CMAC_B_D_MISC_CFG, 0x1000);
			 one.set(NVDLA_CACC_D_MISC_CFG, 0x1000);
		 },
		  "INT8 only" },
		{ [](Registers &one) {
			 one.set(NVDLA_CDMA_D_WEIGHT_FORMAT, 1);
			 one.set(NVDLA_CSC_D_WEIGHT_FORMAT, 1);
		 },
		  "no compressed weights" },
		{ [](Registers &one) {
			 one.set(NVDLA_CDMA_D_BATCH_NUMBER, 1);
			 one.set(NVDLA_CSC_D_BATCH_NUMBER, 1);
			 one.set(NVDLA_CACC_D_BATCH_NUMBER, 1);
		 },
		  "no batches" },
	};

	for (const auto &one : cases) {
		Registers registers;
		one.change(registers);
		const std::string error = registers.decode(nvSmall).guestError;
		if (*one.error)
			EXPECT_NE(error.find(one.error), std::string::npos) << error;
		else
			EXPECT_EQ(error, "");
		EXPECT_EQ(registers.decode().guestError.find("the core has"), std::string::npos);
	}
}

TEST(DecodeConvTest, BanksAndEntriesHaveTheWidestFields)
{
	Registers registers;

	for (const uint32_t address : { NVDLA_CDMA_D_BANK, NVDLA_CSC_D_BANK })
		registers.set(address, 14U << 16 | 16);
	registers.set(NVDLA_CDMA_D_ENTRY_PER_SLICE, 0x2fff);
	registers.set(NVDLA_CSC_D_ENTRY_PER_SLICE, 0x2fff);
	const ConvOp op = registers.decode(nvSmall);

	EXPECT_EQ(op.guestError, "");
	EXPECT_EQ(op.dataBanks, 17U);
	EXPECT_EQ(op.weightBanks, 15U);
	EXPECT_EQ(op.fetch.entries, 0x3000U);
	EXPECT_EQ(op.windows.entries, 0x3000U);
	EXPECT_NE(registers.decode().guestError, "") << "nv_full has 16 banks";
}

} /* namespace nvdla::sim::test */
