/* SPDX-License-Identifier: MIT */
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "core/ram_memory.h"
#include "pdp/pdp.h"

using namespace nvdla::sim;

namespace
{

/** \brief Registers of one unit, by field */
class Registers
{
public:
	explicit Registers(uint32_t base) : base_(base), words_(RegisterView::kMostWords) {}

	void set(uint32_t address, uint32_t value) { words_[(address - base_) / 4] = value; }
	RegisterView view() const { return { base_, words_ }; }

private:
	uint32_t base_;
	std::vector<uint32_t> words_;
};

constexpr uint32_t pdpBase = NVDLA_PDP_S_STATUS;
constexpr uint32_t rdmaBase = NVDLA_PDP_RDMA_S_STATUS;

/** \brief A legal operation from memory: 9x7 columns and lines, 40 channels, kernel 3x2, stride 2
 */
class PdpDecode : public testing::Test
{
public:
	PdpDecode()
	{
		for (const uint32_t base :
		     { NVDLA_PDP_D_DATA_CUBE_IN_WIDTH, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH }) {
			Registers &unit = base == NVDLA_PDP_D_DATA_CUBE_IN_WIDTH ? pdp : rdma;
			unit.set(base, 9 - 1);
			unit.set(base + 4, 7 - 1);
			unit.set(base + 8, 40 - 1);
		}
		pdp.set(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, 5 - 1);
		pdp.set(NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT, 4 - 1);
		pdp.set(NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL, 40 - 1);
		pdp.set(NVDLA_PDP_D_OPERATION_MODE_CFG, 0x11);	   /* from memory, maximum */
		pdp.set(NVDLA_PDP_D_POOLING_KERNEL_CFG, 0x110102); /* 3x2, strides 2 */
		pdp.set(NVDLA_PDP_D_POOLING_PADDING_CFG, 0x1101);  /* 1 left, right, bottom */
		rdma.set(NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG, 0x12);
	}

	PdpOp decode() const { return decodePdp(pdp.view(), rdma.view()); }

	/* Two parts: 6 columns to 3, then 3 more to 2. */
	void split()
	{
		pdp.set(NVDLA_PDP_D_OPERATION_MODE_CFG, 0x111);
		rdma.set(NVDLA_PDP_RDMA_D_OPERATION_MODE_CFG, 1);
		pdp.set(NVDLA_PDP_D_PARTIAL_WIDTH_IN, (2 << 10) | (6 - 1));
		rdma.set(NVDLA_PDP_RDMA_D_PARTIAL_WIDTH_IN, (2 << 10) | (6 - 1));
		pdp.set(NVDLA_PDP_D_PARTIAL_WIDTH_OUT, (1 << 10) | (3 - 1));
	}

	Registers pdp{ pdpBase };
	Registers rdma{ rdmaBase };
};

} /* namespace */

TEST_F(PdpDecode, EveryFieldOfALegalOperation)
{
	pdp.set(NVDLA_PDP_D_NAN_FLUSH_TO_ZERO, 1);
	pdp.set(NVDLA_PDP_D_RECIP_KERNEL_WIDTH, 21845);
	pdp.set(NVDLA_PDP_D_RECIP_KERNEL_HEIGHT, 32768);
	pdp.set(NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG, 0x7ffff);
	pdp.set(NVDLA_PDP_D_POOLING_PADDING_VALUE_7_CFG, 0x3ffff);
	pdp.set(NVDLA_PDP_D_DST_BASE_ADDR_HIGH, 2);
	pdp.set(NVDLA_PDP_D_DST_BASE_ADDR_LOW, 0x40);
	pdp.set(NVDLA_PDP_D_DST_LINE_STRIDE, 0xa0);
	pdp.set(NVDLA_PDP_D_DST_SURFACE_STRIDE, 0x300);
	pdp.set(NVDLA_PDP_D_DST_RAM_CFG, 1);
	rdma.set(NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_HIGH, 1);
	rdma.set(NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW, 0x20);
	rdma.set(NVDLA_PDP_RDMA_D_SRC_LINE_STRIDE, 0x120);
	rdma.set(NVDLA_PDP_RDMA_D_SRC_SURFACE_STRIDE, 0x800);

	const PdpOp op = decode();

	EXPECT_EQ(op.guestError, "");
	EXPECT_EQ(op.precision, Precision::Int8);
	EXPECT_EQ(op.method, PoolingMethod::Max);
	EXPECT_FALSE(op.flying);
	EXPECT_TRUE(op.nanToZero);
	EXPECT_EQ(op.inWidth, 9U);
	EXPECT_EQ(op.inHeight, 7U);
	EXPECT_EQ(op.channels, 40U);
	EXPECT_EQ(op.surfaces(), 2U);
	EXPECT_EQ(op.outWidth, 5U);
	EXPECT_EQ(op.outHeight, 4U);
	EXPECT_EQ(op.kernelWidth, 3U);
	EXPECT_EQ(op.kernelHeight, 2U);
	EXPECT_EQ(op.strideX, 2U);
	EXPECT_EQ(op.strideY, 2U);
	EXPECT_EQ(op.padLeft, 1U);
	EXPECT_EQ(op.padTop, 0U);
	EXPECT_EQ(op.padRight, 1U);
	EXPECT_EQ(op.padBottom, 1U);
	EXPECT_EQ(op.padValue[0], 0);
	EXPECT_EQ(op.padValue[1], -1);
	EXPECT_EQ(op.padValue[7], 0x3ffff);
	EXPECT_EQ(op.recipWidth, 21845U);
	EXPECT_EQ(op.recipHeight, 32768U);
	EXPECT_EQ(op.parts, 1U);
	EXPECT_EQ(op.destination.ram, RamType::Mc);
	EXPECT_EQ(op.destination.address, 0x2'0000'0040U);
	EXPECT_EQ(op.destination.lineStride, 0xa0U);
	EXPECT_EQ(op.destination.surfaceStride, 0x300U);
	EXPECT_EQ(op.source.ram, RamType::Cv);
	EXPECT_EQ(op.source.address, 0x1'0000'0020U);
	EXPECT_EQ(op.source.lineStride, 0x120U);
	EXPECT_EQ(op.source.surfaceStride, 0x800U);
}

TEST_F(PdpDecode, PaddingValuesOfFp16AreBits)
{
	pdp.set(NVDLA_PDP_D_DATA_FORMAT, 2);
	rdma.set(NVDLA_PDP_RDMA_D_DATA_FORMAT, 2);
	pdp.set(NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG, 0x7ffff);

	const PdpOp op = decode();
	EXPECT_EQ(op.guestError, "");
	EXPECT_EQ(op.padValue[1], 0x7ffff);
	EXPECT_EQ(op.surfaces(), 3U);
}

TEST_F(PdpDecode, PartsOverlapByKernelMinusStride)
{
	split();
	const PdpOp op = decode();
	EXPECT_EQ(op.guestError, "");

	/* Left: 1 padded + 6 columns for 3 windows; right: from column 5 on. */
	const std::vector<PdpPart> parts = pdpParts(op);
	ASSERT_EQ(parts.size(), 2U);
	EXPECT_EQ(parts[0].inX, 0);
	EXPECT_EQ(parts[0].inWidth, 6U);
	EXPECT_EQ(parts[0].outX, 0U);
	EXPECT_EQ(parts[0].outWidth, 3U);
	EXPECT_EQ(parts[0].padLeft, 1U);
	EXPECT_EQ(parts[0].padRight, 0U);
	EXPECT_EQ(parts[1].inX, 5);
	EXPECT_EQ(parts[1].inWidth, 4U);
	EXPECT_EQ(parts[1].outX, 3U);
	EXPECT_EQ(parts[1].outWidth, 2U);
	EXPECT_EQ(parts[1].padLeft, 0U);
	EXPECT_EQ(parts[1].padRight, 1U);
}

TEST_F(PdpDecode, LineBufferIsSharedByTheLinesUnderWay)
{
	EXPECT_EQ(pdpMaxOutWidth(1, 1), 128U);
	EXPECT_EQ(pdpMaxOutWidth(8, 8), 128U);
	EXPECT_EQ(pdpMaxOutWidth(3, 2), 64U);
	EXPECT_EQ(pdpMaxOutWidth(3, 1), 32U);
	EXPECT_EQ(pdpMaxOutWidth(4, 1), 32U);
	EXPECT_EQ(pdpMaxOutWidth(5, 1), 16U);
	EXPECT_EQ(pdpMaxOutWidth(8, 1), 16U);
}

TEST_F(PdpDecode, FlyingNeedsNoReadEngine)
{
	pdp.set(NVDLA_PDP_D_OPERATION_MODE_CFG, 0x01);

	const PdpOp op = decodePdp(pdp.view(), {});
	EXPECT_EQ(op.guestError, "");
	EXPECT_TRUE(op.flying);
}

/* The hardware has the register and does not look at it. */
TEST_F(PdpDecode, FlyingModeOfTheReadEngineMeansNothing)
{
	for (const uint32_t mode : { 0U, 1U }) {
		rdma.set(NVDLA_PDP_RDMA_D_FLYING_MODE, mode);
		EXPECT_EQ(decode().guestError, "");
		EXPECT_FALSE(decode().flying);
	}
}

TEST_F(PdpDecode, SaysWhatIsNotAllowed)
{
	struct Case {
		Registers PdpDecode::*unit;
		uint32_t address;
		uint32_t value;
		const char *error; /* part of it */
	};
	const std::vector<Case> cases = {
		{ &PdpDecode::pdp, NVDLA_PDP_D_DATA_FORMAT, 3, "INPUT_DATA" },
		{ &PdpDecode::pdp, NVDLA_PDP_D_OPERATION_MODE_CFG, 0x13, "POOLING_METHOD" },
		{ &PdpDecode::pdp, NVDLA_PDP_D_OPERATION_MODE_CFG, 0x101, "split" },
		{ &PdpDecode::pdp, NVDLA_PDP_D_OPERATION_MODE_CFG, 0x111, "SPLIT_NUM" },
		{ &PdpDecode::pdp, NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL, 40, "channels" },
		{ &PdpDecode::pdp, NVDLA_PDP_D_POOLING_KERNEL_CFG, 0x11010a, "larger than 8" },
		{ &PdpDecode::pdp, NVDLA_PDP_D_POOLING_PADDING_CFG, 0x1301, "widths do not fit" },
		{ &PdpDecode::pdp, NVDLA_PDP_D_POOLING_PADDING_CFG, 0x0101, "heights do not fit" },
		{ &PdpDecode::pdp, NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, 5, "widths do not fit" },
		{ &PdpDecode::pdp, NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT, 4, "heights do not fit" },
		{ &PdpDecode::rdma, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT, 7, "cube sizes" },
		{ &PdpDecode::rdma, NVDLA_PDP_RDMA_D_DATA_FORMAT, 1, "PDP_RDMA differ" },
		{ &PdpDecode::rdma, NVDLA_PDP_RDMA_D_OPERATION_MODE_CFG, 1, "SPLIT_NUM" },
	};

	const Registers legalPdp = pdp;
	const Registers legalRdma = rdma;
	for (const Case &test : cases) {
		pdp = legalPdp;
		rdma = legalRdma;
		(this->*test.unit).set(test.address, test.value);
		EXPECT_NE(decode().guestError.find(test.error), std::string::npos)
			<< test.error << ": '" << decode().guestError << "'";
	}
}

TEST_F(PdpDecode, SaysWhatIsWrongWithASplit)
{
	split();
	pdp.set(NVDLA_PDP_D_PARTIAL_WIDTH_IN, (2 << 10) | (4 - 1));
	EXPECT_NE(decode().guestError.find("part widths of PDP and PDP_RDMA"), std::string::npos);
	rdma.set(NVDLA_PDP_RDMA_D_PARTIAL_WIDTH_IN, (2 << 10) | (4 - 1));
	EXPECT_NE(decode().guestError.find("widths do not fit"), std::string::npos);

	split();
	pdp.set(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, 6 - 1);
	EXPECT_NE(decode().guestError.find("do not make up"), std::string::npos);
}

TEST_F(PdpDecode, PaddingAsLargeAsTheKernel)
{
	pdp.set(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, 6 - 1);
	pdp.set(NVDLA_PDP_D_POOLING_PADDING_CFG, 0x1301);
	EXPECT_NE(decode().guestError.find("not smaller than the kernel"), std::string::npos);
}

TEST_F(PdpDecode, OutputWiderThanTheLineBuffer)
{
	pdp.set(NVDLA_PDP_D_DATA_CUBE_IN_WIDTH, 257 - 1);
	rdma.set(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH, 257 - 1);
	pdp.set(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, 129 - 1);
	EXPECT_NE(decode().guestError.find("line buffer"), std::string::npos);

	pdp.set(NVDLA_PDP_D_DATA_CUBE_IN_WIDTH, 255 - 1);
	rdma.set(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH, 255 - 1);
	pdp.set(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, 128 - 1);
	EXPECT_EQ(decode().guestError, "");
}

/* Whatever the registers hold, an operation runs to its end and touches nothing it may not. */
TEST_F(PdpDecode, AnyRegistersCanBeRun)
{
	constexpr uint32_t seed = 20261120;
	std::mt19937 random(seed);
	RamMemory dram(0, 1 << 16);
	RamMemory cvsram(0, 1 << 16);

	for (int round = 0; round < 300; round++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
		for (uint32_t offset = 0; offset < 0xa0; offset += 4) {
			pdp.set(pdpBase + offset, static_cast<uint32_t>(random()));
			rdma.set(rdmaBase + offset, static_cast<uint32_t>(random()));
		}
		/* Small enough to be quick. */
		for (uint32_t offset = 0; offset < 0x18; offset += 4)
			pdp.set(NVDLA_PDP_D_DATA_CUBE_IN_WIDTH + offset, random() % 40);
		pdp.set(NVDLA_PDP_D_OPERATION_MODE_CFG, 0x10 | (random() & 0x303));
		pdp.set(NVDLA_PDP_D_PARTIAL_WIDTH_IN, random() & 0x00f03c0f);
		pdp.set(NVDLA_PDP_D_PARTIAL_WIDTH_OUT, random() & 0x00f03c0f);

		MemoryPort port(dram, cvsram);
		const OperationResult result = runPdp(decode(), port);
		EXPECT_FALSE(result.guestError.empty());
		EXPECT_FALSE(result.hangs);
	}
}
