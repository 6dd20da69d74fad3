/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "core/elements.h"
#include "core/engines.h"
#include "pdp/pdp.h"
#include "pdp_naive.h"

using namespace nvdla::sim;
using namespace nvdla::test;

namespace
{

/** \brief Feeds a cube to a sink as SDP may do it */
class Producer
{
public:
	Producer(const Cube &cube, AtomSink &sink) : cube_(cube), sink_(sink) {}

	void run(uint32_t surface, uint32_t y, uint32_t x, uint32_t width)
	{
		/* FP16 are numbers of 16 bits here. */
		const Precision precision = cube_.lanes == atomChannels(Precision::Int8)
						    ? Precision::Int8
						    : Precision::Int16;
		std::vector<std::byte> atoms(size_t{ width } * nvdla::sim::atomBytes);

		narrowElements(
			std::span(cube_.values)
				.subspan(cube_.index(surface, y, x), size_t{ width } * cube_.lanes),
			precision, atoms);
		sink_.push({ .batch = 0,
			     .surface = surface,
			     .y = y,
			     .x = x,
			     .precision = precision,
			     .atoms = atoms });
	}

	void lines()
	{
		for (uint32_t surface = 0; surface < cube_.surfaces; surface++)
			for (uint32_t y = 0; y < cube_.height; y++)
				run(surface, y, 0, cube_.width);
	}

	/* Lines in pieces; pairs of them interleaved if told so. */
	void pieces(uint32_t width, bool pairs)
	{
		const uint32_t step = pairs ? 2 : 1;
		for (uint32_t surface = 0; surface < cube_.surfaces; surface++)
			for (uint32_t y = 0; y < cube_.height; y += step)
				for (uint32_t x = 0; x < cube_.width; x += width)
					for (uint32_t line = y;
					     line < std::min(y + step, cube_.height); line++)
						run(surface, line, x,
						    std::min(width, cube_.width - x));
	}

private:
	const Cube &cube_;
	AtomSink &sink_;
};

PdpOp flyingOp(std::mt19937 &random)
{
	const auto precision = static_cast<Precision>(pick(random, 0, 2));
	PdpOp op = randomOp(precision, static_cast<PoolingMethod>(pick(random, 0, 2)), random);
	op.flying = true;
	return op;
}

} /* namespace */

TEST(PdpStreamTest, HoweverTheCubeComesItIsPooledAsFromMemory)
{
	std::mt19937 random(seed);

	for (int round = 0; round < 30; round++) {
		const PdpOp op = flyingOp(random);
		SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
		const Cube in = randomInput(op, random);
		PdpMemory expected(op);
		expected.storeInput(in);
		runPdp(op, expected.port());

		PdpMemory memory(op);
		PdpStream stream(op, memory.port());
		Producer producer(in, stream);
		if (round % 3 == 0)
			producer.lines();
		else
			producer.pieces(static_cast<uint32_t>(pick(random, 1, 5)), round % 3 == 2);
		const OperationResult result = stream.finish();

		EXPECT_FALSE(result.hangs) << result.guestError;
		EXPECT_EQ(result.guestError, "");
		ASSERT_EQ(memory.loadOutput().values, expected.loadOutput().values);
		EXPECT_EQ(memory.strayBytes(), 0U);
		EXPECT_EQ(memory.port().traffic(RamType::Mc).readBytes +
				  memory.port().traffic(RamType::Cv).readBytes,
			  0U);
	}
}

TEST(PdpStreamTest, NansFromSdpAreNotCleared)
{
	PdpOp op;
	op.precision = Precision::Fp16;
	op.method = PoolingMethod::Max;
	op.flying = true;
	op.nanToZero = true;
	op.destination = { RamType::Mc, PdpMemory::dramBase + PdpMemory::outputOffset, 32, 32 };
	PdpMemory memory(op);
	PdpStream stream(op, memory.port());
	Cube in(1, 1, 1, 16);
	in.values[3] = 0x7e00;

	Producer(in, stream).lines();
	EXPECT_FALSE(stream.finish().hangs);
	EXPECT_EQ(memory.loadOutput().values[3], 0x7e00);
}

TEST(PdpStreamTest, AnotherCubeThanProgrammedHangs)
{
	std::mt19937 random(seed);
	PdpOp op = randomOp(Precision::Int8, PoolingMethod::Max, random);
	op.flying = true;
	PdpMemory memory(op);
	const Cube in = randomInput(op, random);

	/* too little */
	PdpStream shortOfOne(op, memory.port());
	Producer(in, shortOfOne).run(0, 0, 0, op.inWidth);
	if (op.surfaces() * op.inHeight > 1) {
		EXPECT_TRUE(shortOfOne.finish().hangs);
	}

	/* too much */
	PdpStream tooMuch(op, memory.port());
	Producer producer(in, tooMuch);
	producer.lines();
	producer.run(0, 0, 0, op.inWidth);
	EXPECT_TRUE(tooMuch.finish().hangs);

	/* wider, and atoms of another precision */
	const Cube wide(op.inWidth + 1, op.inHeight, op.surfaces(), op.lanes());
	PdpStream wider(op, memory.port());
	Producer(wide, wider).lines();
	EXPECT_TRUE(wider.finish().hangs);

	const Cube narrowAtoms(op.inWidth, op.inHeight, op.surfaces(), 16);
	PdpStream precision(op, memory.port());
	Producer(narrowAtoms, precision).lines();
	const OperationResult result = precision.finish();
	EXPECT_TRUE(result.hangs);
	EXPECT_NE(result.guestError.find("another cube"), std::string::npos);
}

/* SDP with nothing to do but to pass on INT8 from memory, and PDP behind it. */
TEST(PdpStreamTest, SdpOperationGoesThroughPdp)
{
	PdpOp op;
	op.method = PoolingMethod::Max;
	op.inWidth = op.inHeight = 6;
	op.outWidth = op.outHeight = 3;
	op.channels = 40;
	op.kernelWidth = op.kernelHeight = op.strideX = op.strideY = 2;
	op.source = { RamType::Mc, PdpMemory::dramBase, 6 * 32, 36 * 32 };
	op.destination = { RamType::Cv, PdpMemory::cvsramBase + PdpMemory::outputOffset, 3 * 32,
			   9 * 32 };
	PdpMemory memory(op);
	std::mt19937 random(seed);
	const Cube in = randomInput(op, random);
	memory.storeInput(in);

	std::vector<uint32_t> sdp(RegisterView::kMostWords);
	std::vector<uint32_t> rdma(RegisterView::kMostWords);
	std::vector<uint32_t> pdp(RegisterView::kMostWords);
	const auto set = [](std::vector<uint32_t> &unit, uint32_t address, uint32_t value) {
		unit[address % 0x1000 / 4] = value;
	};
	for (const auto &[unit, address] : { std::pair{ &sdp, NVDLA_SDP_D_DATA_CUBE_WIDTH },
					     std::pair{ &rdma, NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH },
					     std::pair{ &pdp, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH } }) {
		set(*unit, address, 6 - 1);
		set(*unit, address + 4, 6 - 1);
		set(*unit, address + 8, 40 - 1);
	}
	set(sdp, NVDLA_SDP_D_FEATURE_MODE_CFG, NVDLA_SDP_D_FEATURE_MODE_CFG__OUTPUT_DST);
	set(sdp, NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_CFG__BS_BYPASS);
	set(sdp, NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_CFG__BN_BYPASS);
	set(sdp, NVDLA_SDP_D_DP_EW_CFG, NVDLA_SDP_D_DP_EW_CFG__EW_BYPASS);
	set(sdp, NVDLA_SDP_D_CVT_SCALE, 1);
	set(rdma, NVDLA_SDP_RDMA_D_BRDMA_CFG, NVDLA_SDP_RDMA_D_BRDMA_CFG__BRDMA_DISABLE);
	set(rdma, NVDLA_SDP_RDMA_D_NRDMA_CFG, NVDLA_SDP_RDMA_D_NRDMA_CFG__NRDMA_DISABLE);
	set(rdma, NVDLA_SDP_RDMA_D_ERDMA_CFG, NVDLA_SDP_RDMA_D_ERDMA_CFG__ERDMA_DISABLE);
	set(rdma, NVDLA_SDP_RDMA_D_SRC_DMA_CFG, NVDLA_SDP_RDMA_D_SRC_DMA_CFG__SRC_RAM_TYPE);
	set(rdma, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW, static_cast<uint32_t>(op.source.address));
	set(rdma, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_HIGH,
	    static_cast<uint32_t>(op.source.address >> 32));
	set(rdma, NVDLA_SDP_RDMA_D_SRC_LINE_STRIDE, op.source.lineStride);
	set(rdma, NVDLA_SDP_RDMA_D_SRC_SURFACE_STRIDE, op.source.surfaceStride);
	set(pdp, NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, 3 - 1);
	set(pdp, NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT, 3 - 1);
	set(pdp, NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL, 40 - 1);
	set(pdp, NVDLA_PDP_D_OPERATION_MODE_CFG, 0x01);
	set(pdp, NVDLA_PDP_D_POOLING_KERNEL_CFG, 0x110101);
	set(pdp, NVDLA_PDP_D_DST_BASE_ADDR_LOW, static_cast<uint32_t>(op.destination.address));
	set(pdp, NVDLA_PDP_D_DST_LINE_STRIDE, op.destination.lineStride);
	set(pdp, NVDLA_PDP_D_DST_SURFACE_STRIDE, op.destination.surfaceStride);

	OperationInputs inputs;
	inputs.views[index(Unit::Sdp)] = { NVDLA_SDP_S_STATUS, sdp };
	inputs.views[index(Unit::SdpRdma)] = { NVDLA_SDP_RDMA_S_STATUS, rdma };
	inputs.views[index(Unit::Pdp)] = { NVDLA_PDP_S_STATUS, pdp };
	for (const Unit unit : { Unit::Sdp, Unit::SdpRdma, Unit::Pdp })
		inputs.units |= 1U << index(unit);

	Workers workers(2);
	const OperationResult result = runOperation(Engine::Sdp, inputs, memory.port(), workers);

	EXPECT_EQ(result.guestError, "");
	EXPECT_FALSE(result.hangs);
	EXPECT_EQ(memory.loadOutput().values, poolByDefinition(op, in).values);
	EXPECT_EQ(memory.strayBytes(), 0U);
}
