/* SPDX-License-Identifier: MIT */
#include <random>

#include <gtest/gtest.h>
#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

#include "sdp_test_support.h"

using namespace nvdla::sim;
using namespace nvdla::sim::test;

namespace
{

/* The registers of both units; all stages are bypassed and all readers off at first. */
class SdpRegisters
{
public:
	SdpRegisters() : sdp_(RegisterView::kMostWords), rdma_(RegisterView::kMostWords)
	{
		set(NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_CFG__BS_BYPASS);
		set(NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_CFG__BN_BYPASS);
		set(NVDLA_SDP_D_DP_EW_CFG, NVDLA_SDP_D_DP_EW_CFG__EW_BYPASS);
		set(NVDLA_SDP_D_CVT_SCALE, 1);
		set(NVDLA_SDP_RDMA_D_BRDMA_CFG, 1);
		set(NVDLA_SDP_RDMA_D_NRDMA_CFG, 1);
		set(NVDLA_SDP_RDMA_D_ERDMA_CFG, 1);
	}

	void set(uint32_t address, uint32_t value)
	{
		words(address)[address % NVDLA_UNIT_SIZE / 4] = value;
	}

	/* All words random, but for a small cube. */
	void scramble(std::mt19937 &random)
	{
		for (uint32_t &word : sdp_)
			word = random();
		for (uint32_t &word : rdma_)
			word = random();
		set(NVDLA_SDP_D_DATA_CUBE_WIDTH, random() % 5);
		set(NVDLA_SDP_D_DATA_CUBE_HEIGHT, random() % 3);
		set(NVDLA_SDP_D_DATA_CUBE_CHANNEL, random() % 70);
	}

	SdpOp decode() const
	{
		return decodeSdp({ NVDLA_SDP_BASE, sdp_ }, { NVDLA_SDP_RDMA_BASE, rdma_ });
	}

private:
	std::vector<uint32_t> &words(uint32_t address)
	{
		return address >= NVDLA_SDP_BASE ? sdp_ : rdma_;
	}

	std::vector<uint32_t> sdp_;
	std::vector<uint32_t> rdma_;
};

uint32_t precisions(Precision proc, Precision out)
{
	return NVDLA_FIELD_PREP(NVDLA_SDP_D_DATA_FORMAT__PROC_PRECISION,
				static_cast<uint32_t>(proc)) |
	       NVDLA_FIELD_PREP(NVDLA_SDP_D_DATA_FORMAT__OUT_PRECISION, static_cast<uint32_t>(out));
}

} /* namespace */

TEST(SdpDecode, EmptyOperation)
{
	const SdpOp op = SdpRegisters().decode();

	EXPECT_EQ(op.guestError, "");
	EXPECT_FALSE(op.hangs);
	EXPECT_EQ(op.width, 1u);
	EXPECT_EQ(op.batches, 1u);
	EXPECT_TRUE(op.x1.bypass && op.x2.bypass && op.y.bypass);
	EXPECT_TRUE(op.usesRdma());
	EXPECT_EQ(op.destination.ram, RamType::Cv);
}

TEST(SdpDecode, Fields)
{
	SdpRegisters registers;
	registers.set(NVDLA_SDP_D_DATA_CUBE_WIDTH, 0x1fff);
	registers.set(NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH, 0x1fff);
	registers.set(NVDLA_SDP_D_DST_BASE_ADDR_HIGH, 0x7f);
	registers.set(NVDLA_SDP_D_DST_BASE_ADDR_LOW, 0x800018bf);
	registers.set(NVDLA_SDP_D_DST_LINE_STRIDE, 0x7f);
	registers.set(NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE, 0xfffe);
	registers.set(NVDLA_SDP_D_DP_BS_MUL_CFG, 0xc500);
	registers.set(NVDLA_SDP_D_CVT_SCALE, 0xffff);
	registers.set(NVDLA_SDP_D_CVT_OFFSET, 0x80000000);
	registers.set(NVDLA_SDP_S_LUT_INFO, 0xfffd02ff);
	registers.set(NVDLA_SDP_S_LUT_LE_SLOPE_SHIFT, 0x21f);
	registers.set(NVDLA_SDP_S_LUT_LE_SLOPE_SCALE, 0x8000ffff);
	const SdpOp op = registers.decode();

	EXPECT_EQ(op.guestError, "");
	EXPECT_EQ(op.width, 8192u);
	EXPECT_EQ(op.destination.address, 0x7f800018a0u);
	EXPECT_EQ(op.destination.lineStride, 0x60u);
	EXPECT_EQ(op.x1.alu.value, -2);
	EXPECT_EQ(op.x1.mulShift, 5) << "six of the eight bits";
	EXPECT_EQ(op.converter.scale, -1);
	EXPECT_EQ(op.converter.offset, INT32_MIN);
	EXPECT_TRUE(op.lut.le.exponential);
	EXPECT_EQ(op.lut.le.indexOffset, -1);
	EXPECT_EQ(op.lut.le.indexSelect, 2);
	EXPECT_EQ(op.lut.lo.indexSelect, -3);
	EXPECT_EQ(op.lut.le.underflow.shift, -1);
	EXPECT_EQ(op.lut.le.overflow.shift, -16);
	EXPECT_EQ(op.lut.le.underflow.scale, -1);
	EXPECT_EQ(op.lut.le.overflow.scale, INT16_MIN);
}

TEST(SdpDecode, OnePositionIsPacked)
{
	SdpRegisters registers;
	registers.set(NVDLA_SDP_RDMA_D_SRC_SURFACE_STRIDE, 0x400);
	registers.set(NVDLA_SDP_D_DST_SURFACE_STRIDE, 0x400);
	registers.set(NVDLA_SDP_RDMA_D_BRDMA_CFG,
		      NVDLA_FIELD_PREP(NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE, 2) |
			      NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_SIZE);
	const SdpOp op = registers.decode();

	EXPECT_EQ(op.source.surfaceStride, 32u);
	EXPECT_EQ(op.destination.surfaceStride, 32u);
	EXPECT_EQ(op.x1.read.cube.surfaceStride, 32u * 2 * 2);
}

TEST(SdpDecode, FlyingWithoutOperandsLeavesRdmaAlone)
{
	SdpRegisters registers;
	registers.set(NVDLA_SDP_D_FEATURE_MODE_CFG, NVDLA_SDP_D_FEATURE_MODE_CFG__FLYING_MODE);
	registers.set(NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH, 5);
	registers.set(NVDLA_SDP_RDMA_D_BRDMA_CFG, 0);
	const SdpOp op = registers.decode();

	EXPECT_EQ(op.guestError, "");
	EXPECT_FALSE(op.usesRdma());
}

TEST(SdpDecode, MissingOperandsHang)
{
	SdpRegisters registers;
	registers.set(NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_CFG__BS_MUL_BYPASS);
	registers.set(NVDLA_SDP_D_DP_BS_ALU_CFG, NVDLA_SDP_D_DP_BS_ALU_CFG__BS_ALU_SRC);
	EXPECT_TRUE(registers.decode().hangs);
	EXPECT_NE(registers.decode().guestError.find("BRDMA"), std::string::npos);

	/* Reads multiplier operands only. */
	registers.set(NVDLA_SDP_RDMA_D_BRDMA_CFG, 0);
	EXPECT_TRUE(registers.decode().hangs);
	registers.set(NVDLA_SDP_RDMA_D_BRDMA_CFG,
		      NVDLA_FIELD_PREP(NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE, 1));
	EXPECT_FALSE(registers.decode().hangs);
	EXPECT_EQ(registers.decode().guestError, "");
}

/* Each operand has a source of its own; what is read has to be taken. */
TEST(SdpDecode, AluFromARegisterAndMultiplierFromMemory)
{
	SdpRegisters registers;
	registers.set(NVDLA_SDP_D_DP_BS_CFG, 0);
	registers.set(NVDLA_SDP_D_DP_BS_ALU_SRC_VALUE, 5);
	registers.set(NVDLA_SDP_D_DP_BS_MUL_CFG, NVDLA_SDP_D_DP_BS_MUL_CFG__BS_MUL_SRC);
	registers.set(NVDLA_SDP_RDMA_D_BRDMA_CFG, 0); /* multiplier operands only */
	const SdpOp op = registers.decode();
	EXPECT_EQ(op.guestError, "");
	EXPECT_FALSE(op.hangs);
	EXPECT_FALSE(op.x1.readsAlu());
	EXPECT_TRUE(op.x1.readsMul());
	EXPECT_EQ(op.x1.alu.value, 5);

	/* Nobody takes the ALU's, and the multiplier's are behind them. */
	registers.set(NVDLA_SDP_RDMA_D_BRDMA_CFG,
		      NVDLA_FIELD_PREP(NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DATA_USE, 2));
	EXPECT_NE(registers.decode().guestError.find("BRDMA"), std::string::npos);
	EXPECT_TRUE(registers.decode().hangs);
}

TEST(SdpDecode, IllegalPrecisions)
{
	const struct {
		Precision proc;
		Precision out;
		bool error;
		bool hangs;
	} cases[] = {
		{ Precision::Int8, Precision::Int8, false, false },
		{ Precision::Int8, Precision::Int16, false, false },
		{ Precision::Int8, Precision::Fp16, true, false },
		{ Precision::Int16, Precision::Int8, true, true },
		{ Precision::Int16, Precision::Fp16, false, false },
		{ Precision::Fp16, Precision::Int8, true, true },
		{ Precision::Fp16, Precision::Int16, false, false },
	};

	for (const auto &test : cases) {
		SdpRegisters registers;
		registers.set(NVDLA_SDP_D_DATA_FORMAT, precisions(test.proc, test.out));
		registers.set(
			NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG,
			NVDLA_FIELD_PREP(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__IN_PRECISION,
					 static_cast<uint32_t>(test.proc)) |
				NVDLA_FIELD_PREP(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG__PROC_PRECISION,
						 static_cast<uint32_t>(test.proc)));
		const SdpOp op = registers.decode();
		EXPECT_EQ(!op.guestError.empty(), test.error) << op.guestError;
		EXPECT_EQ(op.hangs, test.hangs);
	}
}

TEST(SdpDecode, OtherLimits)
{
	SdpRegisters registers;
	registers.set(NVDLA_SDP_D_FEATURE_MODE_CFG, NVDLA_SDP_D_FEATURE_MODE_CFG__WINOGRAD);
	EXPECT_NE(registers.decode().guestError, "") << "off-line Winograd";
	registers.set(NVDLA_SDP_D_FEATURE_MODE_CFG, 0);
	registers.set(NVDLA_SDP_RDMA_D_DATA_CUBE_HEIGHT, 1);
	EXPECT_NE(registers.decode().guestError, "") << "cube sizes differ";
	registers.set(NVDLA_SDP_RDMA_D_DATA_CUBE_HEIGHT, 0);
	registers.set(NVDLA_SDP_D_DATA_FORMAT, 3);
	EXPECT_NE(registers.decode().guestError, "") << "reserved precision";
}

TEST(SdpDecode, AnyRegistersRun)
{
	std::mt19937 random(11);
	SdpBench bench;
	const LutTables tables;
	SdpRegisters registers;

	for (int i = 0; i < 3000; i++) {
		registers.scramble(random);
		const SdpOp op = registers.decode();
		MemoryPort port = bench.port();
		const OperationResult result = runSdp(op, tables, port);
		EXPECT_FALSE(result.guestError.empty() && result.hangs);
	}
}
