/* SPDX-License-Identifier: MIT */
#include "pci_function.h"

#include <algorithm>

#include "../wire.h"

namespace nvdla::sim::vfiouser::pci
{

namespace
{

/* MSI-X: one vector of 16 bytes at the BAR's start, the pending bits in the middle of the BAR. */
constexpr uint32_t kMsixBarSize = 4096;
constexpr uint32_t kMsixPendingBits = 2048;

/* Power Management: offset and values of the power state (PCI PM 1.2, section 3.2). */
constexpr size_t kPowerControl = 4;
constexpr uint8_t kPowerStateMask = 0x03;
constexpr uint8_t kPowerD0 = 0;
constexpr uint8_t kPowerD3Hot = 3;

/* Advanced Features: offset and bits of its bytes (PCI ECN "Advanced Capabilities", 2006). */
constexpr size_t kAdvancedControl = 4;
constexpr uint8_t kAdvancedTransactionsPending = 1 << 0;
constexpr uint8_t kAdvancedFunctionReset = 1 << 1;
constexpr uint8_t kAdvancedInitiateReset = 1 << 0;

} /* namespace */

PciFunction::PciFunction(const Identity &identity, GuestMemory &memory, Interrupts &interrupts)
	: config_(identity), memory_(memory), interrupts_(interrupts)
{
}

void PciFunction::addBar(unsigned int bar, uint32_t size)
{
	config_.addMemoryBar(bar, size);
	barSizes_[bar] = size;
}

void PciFunction::addStandardCapabilities(unsigned int msixBar)
{
	/*
	 * Version 1.2, no D1, no D2, no PME. No_Soft_Reset is clear: the return from D3hot is a
	 * reset.
	 */
	const std::array<uint8_t, 6> power = { 0x03, 0x00 };
	const std::array<uint8_t, 3> powerWritable = { 0x00, 0x00, kPowerStateMask };
	power_ = config_.addCapability(kCapabilityPower, power, powerWritable);

	/* Control: one message, 64-bit address. Then the address, low and high, and the data. */
	const std::array<uint8_t, 12> msi = { 0x80, 0x00 };
	const std::array<uint8_t, 12> msiWritable = { 0x71, 0x00, 0xfc, 0xff, 0xff, 0xff,
						      0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	config_.addCapability(kCapabilityMsi, msi, msiWritable);

	addBar(msixBar, kMsixBarSize);
	msixBar_ = msixBar;
	/* Control: one vector. Then BAR and offset of the table, and of the pending bits. */
	const auto indicator = static_cast<uint8_t>(msixBar);
	const std::array<uint8_t, 10> msix = {
		0x00,
		0x00,
		indicator,
		0x00,
		0x00,
		0x00,
		static_cast<uint8_t>((kMsixPendingBits & 0xff) | indicator),
		static_cast<uint8_t>(kMsixPendingBits >> 8),
		0x00,
		0x00,
	};
	const std::array<uint8_t, 2> msixWritable = { 0x00, 0xc0 };
	config_.addCapability(kCapabilityMsix, msix, msixWritable);

	/* Four bytes: length, capabilities, control, status. */
	const std::array<uint8_t, 4> advanced = {
		6, kAdvancedTransactionsPending | kAdvancedFunctionReset, 0, 0
	};
	advanced_ = config_.addCapability(kCapabilityAdvanced, advanced);
}

Region PciFunction::region(uint32_t index) const
{
	if (index < kBarCount && barSizes_[index])
		return { barSizes_[index], true, true };
	if (index == wire::kRegionConfig)
		return { ConfigSpace::kSize, true, true };
	return {};
}

int PciFunction::regionRead(uint32_t index, uint64_t offset, std::span<std::byte> data)
{
	if (!answers())
		std::fill(data.begin(), data.end(), std::byte{ 0xff });
	else if (index == wire::kRegionConfig)
		config_.read(offset, data);
	else if (!isOn())
		std::fill(data.begin(), data.end(), std::byte{ 0xff });
	else if (index == msixBar_)
		msixRead(offset, data);
	else
		barRead(index, offset, data);
	return 0;
}

int PciFunction::regionWrite(uint32_t index, uint64_t offset, std::span<const std::byte> data)
{
	const bool answered = answers();
	if (index == wire::kRegionConfig)
		configWritten(offset, data);
	if (!answered)
		return 0;
	if (index == wire::kRegionConfig)
		configWrite(offset, data);
	else if (isOn() && index != msixBar_)
		barWrite(index, offset, data);
	return 0;
}

void PciFunction::configWrite(uint64_t offset, std::span<const std::byte> data)
{
	/* The bit that starts a reset always reads as zero, so look for it in the written data. */
	const uint64_t control = advanced_ + kAdvancedControl;
	if (advanced_ && offset <= control && control - offset < data.size() &&
	    std::to_integer<uint8_t>(data[control - offset]) & kAdvancedInitiateReset) {
		reset();
		return;
	}
	const uint8_t power = config_.get8(power_ + kPowerControl);
	config_.write(offset, data);
	if (power_)
		powerWritten(power);
	busMaster_.store(isOn() && (config_.get16(kCommand) & kCommandMaster) != 0,
			 std::memory_order_release);
}

bool PciFunction::isOn() const
{
	return !power_ || (config_.get8(power_ + kPowerControl) & kPowerStateMask) == kPowerD0;
}

/* Handles a change of the power state; \a before is the former value of the state's byte. */
void PciFunction::powerWritten(uint8_t before)
{
	const uint8_t from = before & kPowerStateMask;
	const uint8_t to = config_.get8(power_ + kPowerControl) & kPowerStateMask;
	if (to != kPowerD0 && to != kPowerD3Hot) {
		/* The function does not support the new state: undo the write. */
		const auto byte = std::byte{ before };
		config_.write(power_ + kPowerControl, { &byte, 1 });
	} else if (from == kPowerD0 && to == kPowerD3Hot) {
		stop();
	} else if (from == kPowerD3Hot && to == kPowerD0) {
		reset();
	}
}

void PciFunction::msixRead(uint64_t offset, std::span<std::byte> data) const
{
	std::fill(data.begin(), data.end(), std::byte{ 0 });
	if (offset <= kMsixPendingBits && kMsixPendingBits - offset < data.size())
		data[kMsixPendingBits - offset] = std::byte{ interrupts_.pending(0) };
}

/* Makes the device abandon its operations. */
void PciFunction::stop()
{
	busMaster_.store(false, std::memory_order_release);
	const GuestMemory::Suspension suspension = memory_.suspendMessages();
	deviceReset();
	interrupts_.reset();
}

void PciFunction::reset()
{
	stop();
	config_.reset();
}

void PciFunction::losePower()
{
	const auto state = std::byte{ config_.get8(power_ + kPowerControl) };

	reset();
	if (power_)
		config_.write(power_ + kPowerControl, { &state, 1 });
}

} /* namespace nvdla::sim::vfiouser::pci */
