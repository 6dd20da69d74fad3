/* SPDX-License-Identifier: MIT */
#include <atomic>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "bdma/bdma.h"
#include "core/ram_memory.h"
#include "core/register_file.h"

using namespace nvdla::sim;

namespace
{

using Bytes = std::vector<std::byte>;

Bytes randomBytes(std::mt19937 &random, size_t size)
{
	Bytes bytes(size);
	for (std::byte &byte : bytes)
		byte = static_cast<std::byte>(random());
	return bytes;
}

TEST(Bdma, DecodesItsRegisters)
{
	RegisterFile file(Unit::Bdma);
	file.write(NVDLA_BDMA_CFG_SRC_ADDR_LOW, 0x12345678);
	file.write(NVDLA_BDMA_CFG_SRC_ADDR_HIGH, 0x7f);
	file.write(NVDLA_BDMA_CFG_DST_ADDR_LOW, 0x20);
	file.write(NVDLA_BDMA_CFG_DST_ADDR_HIGH, 0xff);
	file.write(NVDLA_BDMA_CFG_LINE, 0xffffffff);
	file.write(NVDLA_BDMA_CFG_CMD, NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE);
	file.write(NVDLA_BDMA_CFG_LINE_REPEAT, 3);
	file.write(NVDLA_BDMA_CFG_SURF_REPEAT, 0xffffffff);
	file.write(NVDLA_BDMA_CFG_SRC_LINE, 0x40);
	file.write(NVDLA_BDMA_CFG_DST_LINE, 0x60);
	file.write(NVDLA_BDMA_CFG_SRC_SURF, 0x80);
	file.write(NVDLA_BDMA_CFG_DST_SURF, 0xa0);
	const BdmaOp op = decodeBdma(file.view(0));
	EXPECT_EQ(op.srcType, RamType::Cv);
	EXPECT_EQ(op.dstType, RamType::Mc);
	EXPECT_EQ(op.src, 0x7f12345660U);
	EXPECT_EQ(op.dst, 0xff00000020U);
	EXPECT_EQ(op.lineBytes, 8192U * 32);
	EXPECT_EQ(op.lines, 4U);
	EXPECT_EQ(op.surfaces, 1U << 24);
	EXPECT_EQ(op.srcLineStride, 0x40U);
	EXPECT_EQ(op.dstLineStride, 0x60U);
	EXPECT_EQ(op.srcSurfaceStride, 0x80U);
	EXPECT_EQ(op.dstSurfaceStride, 0xa0U);
}

TEST(Bdma, OnlyAnotherSourceBreaksTheFlowOfAGroup)
{
	BdmaOp op = { .srcType = RamType::Mc, .dstType = RamType::Cv };
	op.lineBytes = 64;
	op.lines = op.surfaces = 1;
	BdmaOp other = op;
	other.srcType = RamType::Cv;
	const uint64_t alone = bdmaWork(op).cycles;

	op.follow(op);
	const uint64_t flowing = bdmaWork(op).cycles;
	op.follow(other);
	const uint64_t waiting = bdmaWork(op).cycles;
	EXPECT_LT(flowing, 5U);
	EXPECT_LT(flowing, waiting);
	EXPECT_LT(waiting, alone);
}

TEST(Bdma, WordsThatLinesTouchTakeTime)
{
	BdmaOp op = { .srcType = RamType::Mc, .dstType = RamType::Mc };
	op.lineBytes = 64;
	op.lines = 100;
	op.surfaces = 1;
	op.dstLineStride = 64;
	const uint64_t aligned = bdmaWork(op).cycles;

	op.dst = 32;
	EXPECT_GT(bdmaWork(op).cycles, aligned + 100);
}

/* Random shapes: every byte of the destination is either copied or untouched. */
TEST(Bdma, CopiesLinesAndLeavesGapsAlone)
{
	std::mt19937 random(1);
	for (int round = 0; round < 200; round++) {
		SparseMemory dram;
		RamMemory cvsram(0, 1 << 16);
		BdmaOp op = {};
		op.srcType = static_cast<RamType>(random() % 2);
		op.dstType = static_cast<RamType>(random() % 2);
		op.lineBytes = (random() % 4 + 1) * 32;
		op.lines = random() % 4 + 1;
		op.surfaces = random() % 3 + 1;
		op.srcLineStride = op.lineBytes + random() % 3 * 32;
		op.dstLineStride = op.lineBytes + random() % 3 * 32;
		op.srcSurfaceStride = op.srcLineStride * op.lines + random() % 3 * 32;
		op.dstSurfaceStride = op.dstLineStride * op.lines + random() % 3 * 32;
		op.src = random() % 8 * 32;
		op.dst = 0x8000 + random() % 8 * 32;

		Memory &src = op.srcType == RamType::Mc ? static_cast<Memory &>(dram) : cvsram;
		Memory &dst = op.dstType == RamType::Mc ? static_cast<Memory &>(dram) : cvsram;
		const Bytes in = randomBytes(random, 0x4000);
		Bytes expected = randomBytes(random, 0x4000);
		ASSERT_TRUE(src.write(0, in));
		ASSERT_TRUE(dst.write(0x8000, expected));

		MemoryPort port(dram, cvsram);
		const OperationResult result = run(op, port);
		EXPECT_TRUE(result.guestError.empty());
		EXPECT_FALSE(port.faulted());

		for (uint32_t s = 0; s < op.surfaces; s++)
			for (uint32_t l = 0; l < op.lines; l++)
				for (uint32_t i = 0; i < op.lineBytes; i++)
					expected[op.dst - 0x8000 + s * op.dstSurfaceStride +
						 l * op.dstLineStride + i] =
						in[op.src + s * op.srcSurfaceStride +
						   l * op.srcLineStride + i];
		Bytes got(expected.size());
		ASSERT_TRUE(dst.read(0x8000, got));
		ASSERT_EQ(got, expected) << "round " << round;
	}
}

TEST(Bdma, AbandonedCopyEnds)
{
	SparseMemory dram;
	RamMemory cvsram(0, 32);
	std::atomic<bool> cancel = true;
	MemoryPort port(dram, cvsram, &cancel);
	BdmaOp op = {};
	op.srcType = op.dstType = RamType::Mc;
	op.lineBytes = 32;
	op.lines = 1 << 24;
	op.surfaces = 1 << 24;
	run(op, port);
	EXPECT_EQ(port.traffic(RamType::Mc).writeBytes, 0U);
}

} /* namespace */
