/* SPDX-License-Identifier: MIT */
#include "core/timing.h"

#include <algorithm>

#include <nvdla/hw/registers.h>

namespace nvdla::sim
{

namespace
{

/* Reader or writer whose waiting cycles a stall register counts. */
enum class Waits : uint8_t { Reads, X1, X2, Y, Writes };

/* A stall register, and the field of D_PERF_ENABLE that enables it. */
struct StallRegister {
	Unit unit;
	uint32_t enable;
	uint32_t mask;
	uint32_t address;
	Waits waits;
};

constexpr uint32_t kSdpRdmaEnable = NVDLA_SDP_RDMA_D_PERF_ENABLE;
constexpr uint32_t kSdpRdmaMask = NVDLA_SDP_RDMA_D_PERF_ENABLE__PERF_DMA_EN;

constexpr StallRegister stallRegisters[] = {
	{ Unit::Pdp, NVDLA_PDP_D_PERF_ENABLE, NVDLA_PDP_D_PERF_ENABLE__DMA_EN,
	  NVDLA_PDP_D_PERF_WRITE_STALL, Waits::Writes },
	{ Unit::PdpRdma, NVDLA_PDP_RDMA_D_PERF_ENABLE, NVDLA_PDP_RDMA_D_PERF_ENABLE__DMA_EN,
	  NVDLA_PDP_RDMA_D_PERF_READ_STALL, Waits::Reads },
	{ Unit::Cdp, NVDLA_CDP_D_PERF_ENABLE, NVDLA_CDP_D_PERF_ENABLE__DMA_EN,
	  NVDLA_CDP_D_PERF_WRITE_STALL, Waits::Writes },
	{ Unit::CdpRdma, NVDLA_CDP_RDMA_D_PERF_ENABLE, NVDLA_CDP_RDMA_D_PERF_ENABLE__DMA_EN,
	  NVDLA_CDP_RDMA_D_PERF_READ_STALL, Waits::Reads },
	{ Unit::Sdp, NVDLA_SDP_D_PERF_ENABLE, NVDLA_SDP_D_PERF_ENABLE__PERF_DMA_EN,
	  NVDLA_SDP_D_PERF_WDMA_WRITE_STALL, Waits::Writes },
	{ Unit::SdpRdma, kSdpRdmaEnable, kSdpRdmaMask, NVDLA_SDP_RDMA_D_PERF_MRDMA_READ_STALL,
	  Waits::Reads },
	{ Unit::SdpRdma, kSdpRdmaEnable, kSdpRdmaMask, NVDLA_SDP_RDMA_D_PERF_BRDMA_READ_STALL,
	  Waits::X1 },
	{ Unit::SdpRdma, kSdpRdmaEnable, kSdpRdmaMask, NVDLA_SDP_RDMA_D_PERF_NRDMA_READ_STALL,
	  Waits::X2 },
	{ Unit::SdpRdma, kSdpRdmaEnable, kSdpRdmaMask, NVDLA_SDP_RDMA_D_PERF_ERDMA_READ_STALL,
	  Waits::Y },
	{ Unit::Rbk, NVDLA_RBK_D_PERF_ENABLE, NVDLA_RBK_D_PERF_ENABLE__PERF_EN,
	  NVDLA_RBK_D_PERF_READ_STALL, Waits::Reads },
	{ Unit::Rbk, NVDLA_RBK_D_PERF_ENABLE, NVDLA_RBK_D_PERF_ENABLE__PERF_EN,
	  NVDLA_RBK_D_PERF_WRITE_STALL, Waits::Writes },
};

/* If several engines are fused, CDMA reads the input and the last engine writes the output. */
uint64_t cyclesOf(const StallRegister &stall, const OperationInputs &inputs,
		  const OperationTiming &timing)
{
	switch (stall.waits) {
	case Waits::Reads:
		return inputs.has(Unit::Cdma) ? 0 : timing.readStall;
	case Waits::X1:
		return timing.operandStall[0];
	case Waits::X2:
		return timing.operandStall[1];
	case Waits::Y:
		return timing.operandStall[2];
	case Waits::Writes:
		break;
	}
	return stall.unit == Unit::Sdp && inputs.has(Unit::Pdp) ? 0 : timing.writeStall;
}

bool isAskedFor(const StallRegister &stall, const OperationInputs &inputs)
{
	return inputs.has(stall.unit) && inputs[stall.unit].flag(stall.enable, stall.mask);
}

bool asksCdma(const OperationInputs &inputs)
{
	return inputs.has(Unit::Cdma) &&
	       inputs[Unit::Cdma].flag(NVDLA_CDMA_D_PERF_ENABLE, NVDLA_CDMA_D_PERF_ENABLE__DMA_EN);
}

void addCdmaRegisters(const OperationTiming &timing, std::vector<RegisterUpdate> &updates)
{
	updates.push_back({ NVDLA_CDMA_D_PERF_DAT_READ_STALL, registerValue(timing.readStall) });
	updates.push_back({ NVDLA_CDMA_D_PERF_WT_READ_STALL, registerValue(timing.weightStall) });
	updates.push_back({ NVDLA_CDMA_D_PERF_DAT_READ_LATENCY, registerValue(timing.dataCycles) });
	updates.push_back(
		{ NVDLA_CDMA_D_PERF_WT_READ_LATENCY, registerValue(timing.weightCycles) });
}

} /* namespace */

uint32_t registerValue(uint64_t count)
{
	return static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
}

bool asksForTiming(const OperationInputs &inputs)
{
	return asksCdma(inputs) || std::ranges::any_of(stallRegisters, [&](const auto &stall) {
		       return isAskedFor(stall, inputs);
	       });
}

std::vector<RegisterUpdate> performanceRegisters(const OperationInputs &inputs,
						 const OperationTiming &timing)
{
	std::vector<RegisterUpdate> updates;
	for (const StallRegister &stall : stallRegisters) {
		if (isAskedFor(stall, inputs))
			updates.push_back(
				{ stall.address, registerValue(cyclesOf(stall, inputs, timing)) });
	}
	if (asksCdma(inputs))
		addCdmaRegisters(timing, updates);
	return updates;
}

} /* namespace nvdla::sim */
