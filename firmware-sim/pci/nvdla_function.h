/* SPDX-License-Identifier: MIT */
/*
 * The core as a PCI function.
 */
#pragma once

#include <atomic>

#include "core/core.h"
#include "pci/fault_orders.h"
#include "vfio-user/log.h"
#include "vfio-user/pci/pci_function.h"

namespace nvdla::sim
{

/**
 * \brief NVDLA behind PCI, as include/nvdla/hw/pci.h describes it
 *
 * BAR 0 is the CSB space. The core's DRAM is the guest's memory, accessible while the guest lets
 * the function be a bus master. The core's interrupt is the function's only interrupt
 * message.
 */
class NvdlaFunction : public vfiouser::pci::PciFunction
{
public:
	struct Config {
		Geometry geometry = nvFull;
		uint64_t cvsramBase = 0;
		size_t cvsramSize = nvFull.cvsramSize;
		Fp16Arithmetic fp16 = Fp16Arithmetic::Exact;
		unsigned int threads = 0; /**< CoreConfig::threads */
		bool faults = false;	  /**< add a capability to order faults with */
		TimingParameters timing = {};
		bool realtime = false;
	};

	/** \param memory,interrupts,log must outlive the function */
	NvdlaFunction(const Config &config, vfiouser::GuestMemory &memory,
		      vfiouser::Interrupts &interrupts, vfiouser::Log &log);

protected:
	void barRead(unsigned int bar, uint64_t offset, std::span<std::byte> data) override;
	void barWrite(unsigned int bar, uint64_t offset, std::span<const std::byte> data) override;
	void deviceReset() override;
	bool answers() const override { return !faults_.gone(); }
	void configWritten(uint64_t offset, std::span<const std::byte> data) override;

private:
	/** \brief Memory outside the function, accessed through the core's memory interface */
	class Dram : public Memory
	{
	public:
		explicit Dram(NvdlaFunction &function) : function_(function) {}

		bool read(uint64_t address, std::span<std::byte> out) override;
		bool write(uint64_t address, std::span<const std::byte> data) override;

	private:
		bool reaches() const;

		NvdlaFunction &function_;
	};

	CoreConfig coreConfig(const Config &config);
	void sendInterrupt();
	bool isCsbAccess(uint64_t offset, size_t size, const char *what);
	void addDescription(const Config &config);
	void addFaults();

	vfiouser::Log &log_;
	bool badWidthReported_ = false;
	FaultOrders faults_;
	uint8_t faultsCapability_ = 0; /* offset of the capability, 0 without it */
	Dram dram_{ *this };
	Core core_; /* last: its threads use the members above */
};

} /* namespace nvdla::sim */
