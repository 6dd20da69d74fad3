/* SPDX-License-Identifier: MIT */
#include "core/timing.h"

#include <algorithm>

#include <nvdla/hw/registers.h>

namespace nvdla::sim
{

namespace
{

constexpr TimingParameters reference;

/* A stall register, and the bit that asks for it. */
struct StallRegister {
	Unit unit;
	uint32_t enable;
	uint32_t mask;
	uint32_t address;
	bool write;
};

constexpr StallRegister stallRegisters[] = {
	{ Unit::Pdp, NVDLA_PDP_D_PERF_ENABLE, NVDLA_PDP_D_PERF_ENABLE__DMA_EN,
	  NVDLA_PDP_D_PERF_WRITE_STALL, true },
	{ Unit::PdpRdma, NVDLA_PDP_RDMA_D_PERF_ENABLE, NVDLA_PDP_RDMA_D_PERF_ENABLE__DMA_EN,
	  NVDLA_PDP_RDMA_D_PERF_READ_STALL, false },
	{ Unit::Cdp, NVDLA_CDP_D_PERF_ENABLE, NVDLA_CDP_D_PERF_ENABLE__DMA_EN,
	  NVDLA_CDP_D_PERF_WRITE_STALL, true },
	{ Unit::CdpRdma, NVDLA_CDP_RDMA_D_PERF_ENABLE, NVDLA_CDP_RDMA_D_PERF_ENABLE__DMA_EN,
	  NVDLA_CDP_RDMA_D_PERF_READ_STALL, false },
	{ Unit::Sdp, NVDLA_SDP_D_PERF_ENABLE, NVDLA_SDP_D_PERF_ENABLE__PERF_DMA_EN,
	  NVDLA_SDP_D_PERF_WDMA_WRITE_STALL, true },
	{ Unit::SdpRdma, NVDLA_SDP_RDMA_D_PERF_ENABLE, NVDLA_SDP_RDMA_D_PERF_ENABLE__PERF_DMA_EN,
	  NVDLA_SDP_RDMA_D_PERF_MRDMA_READ_STALL, false },
	{ Unit::Rbk, NVDLA_RBK_D_PERF_ENABLE, NVDLA_RBK_D_PERF_ENABLE__PERF_EN,
	  NVDLA_RBK_D_PERF_READ_STALL, false },
	{ Unit::Rbk, NVDLA_RBK_D_PERF_ENABLE, NVDLA_RBK_D_PERF_ENABLE__PERF_EN,
	  NVDLA_RBK_D_PERF_WRITE_STALL, true },
};

uint32_t saturate(uint64_t value)
{
	return static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX));
}

uint64_t transferCycles(uint64_t bytes, const MemoryTiming &memory)
{
	return (bytes + memory.bytesPerCycle - 1) / memory.bytesPerCycle;
}

uint64_t beyond(uint64_t value, uint64_t limit)
{
	return value > limit ? value - limit : 0;
}

/* CDMA's counters: weights get the share that their size has of the stall. */
void addCdmaRegisters(const RegisterView &cdma, const OperationTiming &timing, uint32_t latency,
		      std::vector<RegisterUpdate> &updates)
{
	if (!cdma.flag(NVDLA_CDMA_D_PERF_ENABLE, NVDLA_CDMA_D_PERF_ENABLE__DMA_EN))
		return;
	const uint64_t weights = cdma[NVDLA_CDMA_D_WEIGHT_BYTES];
	const uint64_t stalled = timing.readStall * reference.mc.bytesPerCycle;
	const uint64_t ofWeights = std::min(stalled, weights) / reference.mc.bytesPerCycle;
	updates.push_back({ NVDLA_CDMA_D_PERF_WT_READ_STALL, saturate(ofWeights) });
	updates.push_back(
		{ NVDLA_CDMA_D_PERF_DAT_READ_STALL, saturate(timing.readStall - ofWeights) });
	updates.push_back(
		{ NVDLA_CDMA_D_PERF_WT_READ_LATENCY, saturate(weights ? ofWeights + latency : 0) });
	updates.push_back({ NVDLA_CDMA_D_PERF_DAT_READ_LATENCY,
			    saturate(timing.readStall - ofWeights + latency) });
}

} /* namespace */

uint32_t readLatency(const MemoryPort &port, const TimingParameters &parameters)
{
	uint32_t latency = 0;
	if (port.traffic(RamType::Mc).readBytes)
		latency = parameters.mc.latency;
	if (port.traffic(RamType::Cv).readBytes)
		latency = std::max(latency, parameters.cv.latency);
	return latency;
}

OperationTiming timeOperation(uint64_t engineCycles, const MemoryPort &port,
			      const TimingParameters &parameters)
{
	const Traffic &mc = port.traffic(RamType::Mc);
	const Traffic &cv = port.traffic(RamType::Cv);
	const uint64_t reads = std::max(transferCycles(mc.readBytes, parameters.mc),
					transferCycles(cv.readBytes, parameters.cv));
	const uint64_t writes = std::max(transferCycles(mc.writeBytes, parameters.mc),
					 transferCycles(cv.writeBytes, parameters.cv));

	OperationTiming timing;
	timing.readStall = beyond(reads, engineCycles) +
			   beyond(readLatency(port, parameters), reference.mc.latency);
	timing.writeStall = beyond(writes, engineCycles);
	timing.cycles = engineCycles + std::max(timing.readStall, timing.writeStall);
	return timing;
}

std::vector<RegisterUpdate> performanceRegisters(const OperationInputs &inputs,
						 const OperationTiming &timing, uint32_t latency)
{
	std::vector<RegisterUpdate> updates;
	for (const StallRegister &stall : stallRegisters)
		if (inputs.has(stall.unit) && inputs[stall.unit].flag(stall.enable, stall.mask))
			updates.push_back(
				{ stall.address,
				  saturate(stall.write ? timing.writeStall : timing.readStall) });
	if (inputs.has(Unit::Cdma))
		addCdmaRegisters(inputs[Unit::Cdma], timing, latency, updates);
	return updates;
}

} /* namespace nvdla::sim */
