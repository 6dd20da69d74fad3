/* SPDX-License-Identifier: MIT */
/*
 * The part of a PCI function that is the same for every device.
 */
#pragma once

#include <array>
#include <atomic>

#include "../device_function.h"
#include "../guest_memory.h"
#include "../interrupts.h"
#include "config_space.h"

namespace nvdla::sim::vfiouser::pci
{

/**
 * \brief A conventional PCI function with memory BARs, MSI, MSI-X, power states and function reset
 *
 * A device derives from it, adds its BARs and capabilities in its constructor, and
 * handles accesses to the BARs. The guest uses the function's only interrupt
 * message as MSI or as MSI-X; there is no INTx. The MSI-X table has
 * a BAR of its own. As with any VFIO device, the client (QEMU) keeps the table and the mask
 * bits, so only the pending bit is really read from the BAR. Function level reset is in
 * the Advanced Features capability, as for conventional functions. In D3hot the
 * device does nothing and does not decode its BARs; the return to D0 resets it.
 */
class PciFunction : public DeviceFunction
{
public:
	/** \param memory,interrupts must outlive the function */
	PciFunction(const Identity &identity, GuestMemory &memory, Interrupts &interrupts);

	Region region(uint32_t index) const final;
	int regionRead(uint32_t index, uint64_t offset, std::span<std::byte> data) final;
	int regionWrite(uint32_t index, uint64_t offset, std::span<const std::byte> data) final;
	void reset() final;

protected:
	/** \brief Add a memory BAR; accesses to it come to barRead() and barWrite() */
	void addBar(unsigned int bar, uint32_t size);
	/** \brief Add D3hot, MSI, MSI-X with its table in \a msixBar, and function level reset */
	void addStandardCapabilities(unsigned int msixBar);
	/** \brief To be called at the end of the device's constructor */
	void finish() { config_.seal(); }

	ConfigSpace &config() { return config_; }
	GuestMemory &memory() { return memory_; }

	/** \return true if the guest lets the function access memory; any thread */
	bool busMaster() const { return busMaster_.load(std::memory_order_acquire); }
	/** \brief Raise the function's interrupt; any thread */
	void raiseInterrupt() { interrupts_.raise(0); }

	/** \brief Read from a BAR; \a data lies inside it and may have any size */
	virtual void barRead(unsigned int bar, uint64_t offset, std::span<std::byte> data) = 0;
	/** \brief Write to a BAR; see barRead() */
	virtual void barWrite(unsigned int bar, uint64_t offset,
			      std::span<const std::byte> data) = 0;
	/** \brief Bring the device behind the function to its state after power-on */
	virtual void deviceReset() = 0;
	/**
	 * \brief Handle a loss of power
	 *
	 * Everything returns to its initial state except the power state: the client (QEMU) knows
	 * the power state only from writes, and decodes BARs accordingly.
	 */
	void losePower();
	/** \return false while the device is dead: reads return all ones, and writes are lost */
	virtual bool answers() const { return true; }
	/** \brief Called for each write to configuration space, even while answers() is false */
	virtual void configWritten(uint64_t, std::span<const std::byte>) {}

private:
	void stop();
	bool isOn() const;
	void powerWritten(uint8_t before);
	void configWrite(uint64_t offset, std::span<const std::byte> data);
	void msixRead(uint64_t offset, std::span<std::byte> data) const;

	ConfigSpace config_;
	GuestMemory &memory_;
	Interrupts &interrupts_;
	std::array<uint32_t, kBarCount> barSizes_ = {};
	unsigned int msixBar_ = kBarCount;
	uint8_t power_ = 0;    /**< offset of the Power Management capability; 0: none */
	uint8_t advanced_ = 0; /**< offset of the Advanced Features capability; 0: none */
	std::atomic<bool> busMaster_ = false;
};

} /* namespace nvdla::sim::vfiouser::pci */
