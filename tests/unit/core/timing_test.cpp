/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <nvdla/hw/registers.h>

#include "core/ram_memory.h"
#include "core/register_file.h"
#include "core/timing.h"

using namespace nvdla::sim;

namespace
{

class TimingTest : public testing::Test
{
protected:
	void transfer(RamType type, size_t read, size_t written)
	{
		std::vector<std::byte> bytes(std::max(read, written));
		if (read)
			port.read(type, 0, std::span(bytes).first(read));
		if (written)
			port.write(type, 0, std::span(bytes).first(written));
	}

	SparseMemory mc;
	RamMemory cv{ 0, 1 << 16 };
	MemoryPort port{ mc, cv };
	TimingParameters parameters;
};

TEST_F(TimingTest, EngineSetsThePace)
{
	transfer(RamType::Mc, 6400, 640);
	const OperationTiming timing = timeOperation(500, port, parameters);
	EXPECT_EQ(timing.cycles, 500U);
	EXPECT_EQ(timing.readStall, 0U);
	EXPECT_EQ(timing.writeStall, 0U);
}

TEST_F(TimingTest, SlowMemoryStalls)
{
	transfer(RamType::Mc, 6400, 640);
	parameters.mc.bytesPerCycle = 8;
	const OperationTiming timing = timeOperation(500, port, parameters);
	EXPECT_EQ(timing.readStall, 300U);
	EXPECT_EQ(timing.writeStall, 0U);
	EXPECT_EQ(timing.cycles, 800U);
}

TEST_F(TimingTest, MemoriesWorkSideBySide)
{
	transfer(RamType::Mc, 6400, 0);
	transfer(RamType::Cv, 3200, 12800);
	parameters.mc.bytesPerCycle = 16;
	const OperationTiming timing = timeOperation(100, port, parameters);
	EXPECT_EQ(timing.readStall, 300U);
	EXPECT_EQ(timing.writeStall, 100U);
	EXPECT_EQ(timing.cycles, 400U);
}

TEST_F(TimingTest, LatencyOfAMemoryThatIsReadCountsOnce)
{
	parameters.mc.latency = 216;
	parameters.cv.latency = 1000;
	transfer(RamType::Mc, 64, 0);
	transfer(RamType::Cv, 0, 64);
	EXPECT_EQ(readLatency(port, parameters), 216U);
	EXPECT_EQ(timeOperation(50, port, parameters).cycles, 250U);
}

class PerformanceRegisters : public testing::Test
{
protected:
	void add(RegisterFile &file, Unit unit)
	{
		inputs.views[index(unit)] = file.view(0);
		inputs.units |= 1U << index(unit);
	}

	std::map<uint32_t, uint32_t> registers(uint32_t latency = 0)
	{
		std::map<uint32_t, uint32_t> values;
		for (const RegisterUpdate &update : performanceRegisters(inputs, timing, latency))
			values[update.address] = update.value;
		return values;
	}

	OperationInputs inputs;
	OperationTiming timing{ .cycles = 100, .readStall = 30, .writeStall = 7 };
};

TEST_F(PerformanceRegisters, AreCountedWhereEnabled)
{
	RegisterFile pdp(Unit::Pdp);
	RegisterFile rdma(Unit::PdpRdma);
	rdma.write(NVDLA_PDP_RDMA_D_PERF_ENABLE, NVDLA_PDP_RDMA_D_PERF_ENABLE__DMA_EN);
	add(pdp, Unit::Pdp);
	add(rdma, Unit::PdpRdma);
	EXPECT_EQ(registers(),
		  (std::map<uint32_t, uint32_t>{ { NVDLA_PDP_RDMA_D_PERF_READ_STALL, 30 } }));
	pdp.write(NVDLA_PDP_D_PERF_ENABLE, NVDLA_PDP_D_PERF_ENABLE__DMA_EN);
	add(pdp, Unit::Pdp);
	EXPECT_EQ(registers()[NVDLA_PDP_D_PERF_WRITE_STALL], 7U);
}

TEST_F(PerformanceRegisters, ConvolutionDividesStallByWeightsAndData)
{
	RegisterFile cdma(Unit::Cdma);
	cdma.write(NVDLA_CDMA_D_PERF_ENABLE, NVDLA_CDMA_D_PERF_ENABLE__DMA_EN);
	cdma.write(NVDLA_CDMA_D_WEIGHT_BYTES, 640);
	add(cdma, Unit::Cdma);
	auto values = registers(16);
	EXPECT_EQ(values[NVDLA_CDMA_D_PERF_WT_READ_STALL], 10U);
	EXPECT_EQ(values[NVDLA_CDMA_D_PERF_DAT_READ_STALL], 20U);
	EXPECT_EQ(values[NVDLA_CDMA_D_PERF_WT_READ_LATENCY], 26U);
	EXPECT_EQ(values[NVDLA_CDMA_D_PERF_DAT_READ_LATENCY], 36U);
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
