/* SPDX-License-Identifier: MIT */
#include "core/timing.h"

#include <algorithm>

#include <nvdla/hw/registers.h>

namespace nvdla::sim
{

namespace
{

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

void addCdmaRegisters(const RegisterView &cdma, const OperationTiming &timing,
		      std::vector<RegisterUpdate> &updates)
{
	if (!cdma.flag(NVDLA_CDMA_D_PERF_ENABLE, NVDLA_CDMA_D_PERF_ENABLE__DMA_EN))
		return;
	updates.push_back({ NVDLA_CDMA_D_PERF_DAT_READ_STALL, saturate(timing.readStall) });
	updates.push_back({ NVDLA_CDMA_D_PERF_WT_READ_STALL, saturate(timing.weightStall) });
	updates.push_back({ NVDLA_CDMA_D_PERF_DAT_READ_LATENCY, saturate(timing.dataCycles) });
	updates.push_back({ NVDLA_CDMA_D_PERF_WT_READ_LATENCY, saturate(timing.weightCycles) });
}

} /* namespace */

std::vector<RegisterUpdate> performanceRegisters(const OperationInputs &inputs,
						 const OperationTiming &timing)
{
	std::vector<RegisterUpdate> updates;
	for (const StallRegister &stall : stallRegisters) {
		if (!inputs.has(stall.unit) || !inputs[stall.unit].flag(stall.enable, stall.mask))
			continue;
		/* Of a chain, CDMA reads the data and the last engine writes. */
		const bool onTheFly = stall.write ? stall.unit == Unit::Sdp && inputs.has(Unit::Pdp)
						  : inputs.has(Unit::Cdma);
		const uint64_t cycles = stall.write ? timing.writeStall : timing.readStall;
		updates.push_back({ stall.address, saturate(onTheFly ? 0 : cycles) });
	}
	if (inputs.has(Unit::Cdma))
		addCdmaRegisters(inputs[Unit::Cdma], timing, updates);
	return updates;
}

} /* namespace nvdla::sim */
