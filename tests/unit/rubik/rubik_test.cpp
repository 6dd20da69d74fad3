/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <atomic>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

#include "core/ram_memory.h"
#include "core/register_file.h"
#include "element_memories.h"
#include "rubik/rubik.h"

using namespace nvdla::sim;
using nvdla::sim::test::HiddenMemory;

namespace
{

using Bytes = std::vector<std::byte>;

constexpr uint32_t atomBytes = 32;
constexpr uint64_t inBase = 0x10000;
constexpr uint64_t outBase = 0x80000;
constexpr size_t areaSize = 0x40000;

/* Position of an element in a feature cube. */
uint64_t featureOffset(uint32_t x, uint32_t y, uint32_t c, Precision precision, uint32_t lineStride,
		       uint32_t surfaceStride)
{
	return c / atomChannels(precision) * surfaceStride + y * lineStride + x * atomBytes +
	       c % atomChannels(precision) * elementBytes(precision);
}

class RubikTest : public testing::TestWithParam<Precision>
{
protected:
	uint32_t pick(uint32_t from, uint32_t to) { return from + random() % (to - from + 1); }
	uint32_t gap() { return gapless ? 0 : pick(0, 2) * 64; }

	RubikOp makeOp(RubikMode mode)
	{
		RubikOp op = {};
		op.mode = mode;
		op.precision = GetParam();
		op.srcType = op.dstType = RamType::Mc;
		/* Now and then lines behind one another. */
		gapless = pick(0, 3) == 0;
		op.width = gapless ? 64 : pick(1, 40);
		op.height = gapless ? 12 : pick(1, 4);
		op.channels = pick(1, 70);
		op.src = inBase;
		op.dst = outBase;
		return op;
	}

	uint32_t surfaces(uint32_t channels) const
	{
		return (channels + atomChannels(GetParam()) - 1) / atomChannels(GetParam());
	}

	/* Strides of planes are multiples of 64 bytes. */
	uint32_t planeLine(uint32_t width)
	{
		return (width * elementBytes(GetParam()) + 63) / 64 * 64 + gap();
	}

	void fill()
	{
		in.resize(areaSize);
		for (std::byte &byte : in)
			byte = static_cast<std::byte>(random());
		ASSERT_TRUE(dram.write(inBase, in));
		expected.resize(areaSize);
		for (std::byte &byte : expected)
			byte = static_cast<std::byte>(random());
		ASSERT_TRUE(dram.write(outBase, expected));
	}

	void copyElement(uint64_t to, uint64_t from)
	{
		for (uint32_t i = 0; i < elementBytes(GetParam()); i++)
			expected.at(to + i) = in.at(from + i);
	}

	/* In a memory that is worked on where it is, and in one that shows nothing. */
	void runAndCompare(const RubikOp &op)
	{
		HiddenMemory hidden(inBase, outBase + areaSize - inBase);
		Bytes got(areaSize);

		ASSERT_TRUE(dram.read(outBase, got));
		ASSERT_TRUE(hidden.write(inBase, in));
		ASSERT_TRUE(hidden.write(outBase, got));
		for (Memory *memory :
		     { static_cast<Memory *>(&dram), static_cast<Memory *>(&hidden) }) {
			MemoryPort port(*memory, cvsram);
			const OperationResult result = run(op, port);
			EXPECT_TRUE(result.guestError.empty());
			EXPECT_FALSE(result.hangs);
			ASSERT_TRUE(memory->read(outBase, got));
			ASSERT_EQ(got, expected);
		}
	}

	std::mt19937 random{ 7 };
	bool gapless = false;
	SparseMemory dram;
	RamMemory cvsram{ 0, 32 };
	Bytes in;
	Bytes expected;
};

TEST_P(RubikTest, SplitPutsEachChannelIntoAPlane)
{
	for (int round = 0; round < 20; round++) {
		RubikOp op = makeOp(RubikMode::Split);
		op.outChannels = pick(1, op.channels);
		op.srcLineStride = op.width * atomBytes + gap();
		op.srcSurfaceStride = op.srcLineStride * op.height + gap();
		op.dstLineStride = planeLine(op.width);
		op.dstPlaneStride = op.dstLineStride * op.height + gap();
		fill();
		const uint32_t line = op.width * elementBytes(GetParam());
		for (uint32_t c = 0; c < op.outChannels; c++) {
			for (uint32_t y = 0; y < op.height; y++) {
				const uint64_t out = c * op.dstPlaneStride + y * op.dstLineStride;
				for (uint32_t x = 0; x < op.width; x++)
					copyElement(out + x * elementBytes(GetParam()),
						    featureOffset(x, y, c, GetParam(),
								  op.srcLineStride,
								  op.srcSurfaceStride));
				/* Whole atoms are written. */
				for (uint32_t i = line; i % atomBytes; i++)
					expected.at(out + i) = std::byte{ 0 };
			}
		}
		runAndCompare(op);
	}
}

TEST_P(RubikTest, MergeMakesAFeatureCubeOfPlanes)
{
	for (int round = 0; round < 20; round++) {
		RubikOp op = makeOp(RubikMode::Merge);
		op.srcLineStride = planeLine(op.width);
		op.srcPlaneStride = op.srcLineStride * op.height + gap();
		op.dstLineStride = op.width * atomBytes + gap();
		op.dstSurfaceStride = op.dstLineStride * op.height + gap();
		fill();
		const uint32_t padded = surfaces(op.channels) * atomChannels(GetParam());
		for (uint32_t c = 0; c < padded; c++) {
			for (uint32_t y = 0; y < op.height; y++) {
				for (uint32_t x = 0; x < op.width; x++) {
					const uint64_t out =
						featureOffset(x, y, c, GetParam(), op.dstLineStride,
							      op.dstSurfaceStride);
					if (c < op.channels)
						copyElement(out,
							    c * op.srcPlaneStride +
								    y * op.srcLineStride +
								    x * elementBytes(GetParam()));
					else
						for (uint32_t i = 0; i < elementBytes(GetParam());
						     i++)
							expected.at(out + i) = std::byte{ 0 };
				}
			}
		}
		runAndCompare(op);
	}
}

TEST_P(RubikTest, ContractTurnsChannelGroupsIntoPixels)
{
	for (int round = 0; round < 20; round++) {
		RubikOp op = makeOp(RubikMode::Contract);
		op.width = pick(1, 9);
		op.strideX = pick(1, 5);
		op.strideY = pick(1, 4);
		op.outChannels = pick(1, 2) * atomChannels(GetParam());
		op.channels = op.outChannels * op.strideX * op.strideY;
		op.srcLineStride = op.width * atomBytes + gap();
		op.srcSurfaceStride = op.srcLineStride * op.height + gap();
		op.groupStride = surfaces(op.outChannels) * op.srcSurfaceStride;
		op.dstLineStride = op.width * op.strideX * atomBytes + gap();
		op.blockStride = op.strideY * op.dstLineStride;
		op.dstSurfaceStride = op.blockStride * op.height + gap();
		fill();
		for (uint32_t c = 0; c < op.outChannels; c++)
			for (uint32_t y = 0; y < op.height * op.strideY; y++)
				for (uint32_t x = 0; x < op.width * op.strideX; x++) {
					const uint32_t group =
						y % op.strideY * op.strideX + x % op.strideX;
					copyElement(featureOffset(x, y, c, GetParam(),
								  op.dstLineStride,
								  op.dstSurfaceStride),
						    featureOffset(x / op.strideX, y / op.strideY,
								  group * op.outChannels + c,
								  GetParam(), op.srcLineStride,
								  op.srcSurfaceStride));
				}
		runAndCompare(op);
	}
}

/* What is written may be what is read, and planes may lie upon each other. */
TEST_P(RubikTest, OverlappingCubesAreAsCopied)
{
	constexpr uint64_t base = inBase + 0x10000;
	constexpr uint32_t width = 64, height = 12, surface = width * height * atomBytes;

	for (const RubikMode mode : { RubikMode::Split, RubikMode::Merge }) {
		for (const int32_t at : { -4096, -32, 0, 32, 4096 }) {
			RubikOp op = makeOp(mode);
			op.width = width;
			op.height = height;
			op.channels = op.outChannels = 2 * atomChannels(GetParam());
			op.src = base;
			op.dst = base + static_cast<uint64_t>(int64_t{ at });
			const uint32_t plane = width * elementBytes(GetParam());
			const bool splits = mode == RubikMode::Split;
			op.srcLineStride = splits ? width * atomBytes : plane;
			op.dstLineStride = splits ? plane : width * atomBytes;
			op.srcPlaneStride = op.dstPlaneStride = at < 0 ? 64 : plane * height;
			op.srcSurfaceStride = op.dstSurfaceStride = surface;
			fill();
			RamMemory shown(inBase, areaSize);
			HiddenMemory hidden(inBase, areaSize);
			ASSERT_TRUE(shown.write(inBase, in));
			ASSERT_TRUE(hidden.write(inBase, in));
			Bytes results[2] = { in, in };
			MemoryPort hiddenPort(hidden, cvsram), shownPort(shown, cvsram);
			run(op, hiddenPort);
			run(op, shownPort);
			ASSERT_TRUE(hidden.read(inBase, results[0]));
			ASSERT_TRUE(shown.read(inBase, results[1]));
			EXPECT_EQ(results[0], results[1]) << at;
			EXPECT_NE(results[0], in);
		}
	}
}

TEST_P(RubikTest, AbandonedOperationEndsAndWritesNothing)
{
	for (const RubikMode mode : { RubikMode::Contract, RubikMode::Split, RubikMode::Merge }) {
		RubikOp op = makeOp(mode);
		op.strideX = op.strideY = 1;
		op.outChannels = op.channels;
		std::atomic<bool> cancel = true;
		MemoryPort port(dram, cvsram, &cancel);
		run(op, port);
		EXPECT_EQ(port.traffic(RamType::Mc).writeBytes, 0U);
	}
}

INSTANTIATE_TEST_SUITE_P(Precisions, RubikTest,
			 testing::Values(Precision::Int8, Precision::Int16, Precision::Fp16));

TEST(RubikDecode, TakesFieldsApart)
{
	RegisterFile file(Unit::Rbk);
	file.write(NVDLA_RBK_D_MISC_CFG,
		   NVDLA_FIELD_PREP(NVDLA_RBK_D_MISC_CFG__RUBIK_MODE,
				    NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__MERGE) |
			   NVDLA_FIELD_PREP(NVDLA_RBK_D_MISC_CFG__IN_PRECISION,
					    NVDLA_RBK_D_MISC_CFG__IN_PRECISION__FP16));
	file.write(NVDLA_RBK_D_DATAIN_SIZE_0, 0x1fff0007);
	file.write(NVDLA_RBK_D_DATAIN_SIZE_1, 11);
	file.write(NVDLA_RBK_D_DATAOUT_SIZE_1, 12);
	file.write(NVDLA_RBK_D_DECONV_STRIDE, 0x00030001);
	file.write(NVDLA_RBK_D_DAOUT_RAM_TYPE, 1);
	file.write(NVDLA_RBK_D_DAIN_ADDR_HIGH, 2);
	file.write(NVDLA_RBK_D_DAIN_ADDR_LOW, 0x40);
	const RubikOp op = decodeRubik(file.view(0));
	EXPECT_TRUE(op.guestError.empty());
	EXPECT_EQ(op.mode, RubikMode::Merge);
	EXPECT_EQ(op.precision, Precision::Fp16);
	EXPECT_EQ(op.width, 8U);
	EXPECT_EQ(op.height, 8192U);
	EXPECT_EQ(op.channels, 12U);
	EXPECT_EQ(op.outChannels, 13U);
	EXPECT_EQ(op.strideX, 2U);
	EXPECT_EQ(op.strideY, 4U);
	EXPECT_EQ(op.srcType, RamType::Cv);
	EXPECT_EQ(op.dstType, RamType::Mc);
	EXPECT_EQ(op.src, 0x200000040U);
}

TEST(RubikDecode, UndefinedModeAndPrecisionHang)
{
	for (const uint32_t config :
	     { NVDLA_RBK_D_MISC_CFG__RUBIK_MODE, NVDLA_RBK_D_MISC_CFG__IN_PRECISION }) {
		RegisterFile file(Unit::Rbk);
		file.write(NVDLA_RBK_D_MISC_CFG, config);
		SparseMemory dram;
		RamMemory cvsram(0, 32);
		MemoryPort port(dram, cvsram);
		const OperationResult result = run(decodeRubik(file.view(0)), port);
		EXPECT_TRUE(result.hangs);
		EXPECT_FALSE(result.guestError.empty());
	}
}

TEST(RubikTiming, MergeReadsWhileItWrites)
{
	RubikOp op = { .mode = RubikMode::Merge, .precision = Precision::Int8 };
	op.width = 64;
	op.height = 100;
	op.channels = 32;
	const uint64_t full = rubikWork(op).cycles;

	op.channels = 1; /* as many atoms are written */
	EXPECT_NEAR(static_cast<double>(full - rubikWork(op).cycles), 31, 1);
	op.width = 2;
	EXPECT_LT(rubikWork(op).cycles, full / 10);
}

} /* namespace */
