/* SPDX-License-Identifier: MIT */
#include <map>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "core/register_file.h"
#include "core/timing.h"

using namespace nvdla::sim;

namespace
{

class PerformanceRegisters : public testing::Test
{
protected:
	void add(RegisterFile &file, Unit unit)
	{
		inputs.views[index(unit)] = file.view(0);
		inputs.units |= 1U << index(unit);
	}

	std::map<uint32_t, uint32_t> registers()
	{
		std::map<uint32_t, uint32_t> values;
		for (const RegisterUpdate &update : performanceRegisters(inputs, timing))
			values[update.address] = update.value;
		EXPECT_EQ(asksForTiming(inputs), !values.empty());
		return values;
	}

	OperationInputs inputs;
	OperationTiming timing{ .cycles = 100, .readStall = 30, .writeStall = 7 };
};

TEST_F(PerformanceRegisters, AreCountedWhereEnabled)
{
	RegisterFile pdp(Unit::Pdp);
	RegisterFile rdma(Unit::PdpRdma);
	add(pdp, Unit::Pdp);
	add(rdma, Unit::PdpRdma);
	EXPECT_EQ(registers(), (std::map<uint32_t, uint32_t>{}));
	rdma.write(NVDLA_PDP_RDMA_D_PERF_ENABLE, NVDLA_PDP_RDMA_D_PERF_ENABLE__DMA_EN);
	add(rdma, Unit::PdpRdma);
	EXPECT_EQ(registers(),
		  (std::map<uint32_t, uint32_t>{ { NVDLA_PDP_RDMA_D_PERF_READ_STALL, 30 } }));
	pdp.write(NVDLA_PDP_D_PERF_ENABLE, NVDLA_PDP_D_PERF_ENABLE__DMA_EN);
	add(pdp, Unit::Pdp);
	EXPECT_EQ(registers()[NVDLA_PDP_D_PERF_WRITE_STALL], 7U);
}

TEST_F(PerformanceRegisters, ConvolutionTellsWeightsFromData)
{
	RegisterFile cdma(Unit::Cdma);
	cdma.write(NVDLA_CDMA_D_PERF_ENABLE, NVDLA_CDMA_D_PERF_ENABLE__DMA_EN);
	add(cdma, Unit::Cdma);
	timing.weightStall = 5;
	timing.dataCycles = 60;
	timing.weightCycles = 80;
	auto values = registers();
	EXPECT_EQ(values[NVDLA_CDMA_D_PERF_WT_READ_STALL], 5U);
	EXPECT_EQ(values[NVDLA_CDMA_D_PERF_DAT_READ_STALL], 30U);
	EXPECT_EQ(values[NVDLA_CDMA_D_PERF_WT_READ_LATENCY], 80U);
	EXPECT_EQ(values[NVDLA_CDMA_D_PERF_DAT_READ_LATENCY], 60U);
}

TEST_F(PerformanceRegisters, OfAChainBelongToWhoReadsAndWhoWrites)
{
	RegisterFile cdma(Unit::Cdma);
	RegisterFile sdpRdma(Unit::SdpRdma);
	RegisterFile sdp(Unit::Sdp);
	RegisterFile pdp(Unit::Pdp);
	cdma.write(NVDLA_CDMA_D_PERF_ENABLE, NVDLA_CDMA_D_PERF_ENABLE__DMA_EN);
	sdpRdma.write(NVDLA_SDP_RDMA_D_PERF_ENABLE, NVDLA_SDP_RDMA_D_PERF_ENABLE__PERF_DMA_EN);
	sdp.write(NVDLA_SDP_D_PERF_ENABLE, NVDLA_SDP_D_PERF_ENABLE__PERF_DMA_EN);
	pdp.write(NVDLA_PDP_D_PERF_ENABLE, NVDLA_PDP_D_PERF_ENABLE__DMA_EN);
	add(cdma, Unit::Cdma);
	add(sdpRdma, Unit::SdpRdma);
	add(sdp, Unit::Sdp);
	EXPECT_EQ(registers()[NVDLA_CDMA_D_PERF_DAT_READ_STALL], 30U);
	EXPECT_EQ(registers()[NVDLA_SDP_RDMA_D_PERF_MRDMA_READ_STALL], 0U);
	EXPECT_EQ(registers()[NVDLA_SDP_D_PERF_WDMA_WRITE_STALL], 7U);
	add(pdp, Unit::Pdp);
	EXPECT_EQ(registers()[NVDLA_SDP_D_PERF_WDMA_WRITE_STALL], 0U);
	EXPECT_EQ(registers()[NVDLA_PDP_D_PERF_WRITE_STALL], 7U);
}

TEST_F(PerformanceRegisters, DoNotWrap)
{
	RegisterFile rubik(Unit::Rbk);
	rubik.write(NVDLA_RBK_D_PERF_ENABLE, 1);
	add(rubik, Unit::Rbk);
	timing.readStall = 1ULL << 40;
	EXPECT_EQ(registers()[NVDLA_RBK_D_PERF_READ_STALL], UINT32_MAX);
}

} /* namespace */
