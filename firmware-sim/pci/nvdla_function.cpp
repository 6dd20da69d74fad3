/* SPDX-License-Identifier: MIT */
#include "pci/nvdla_function.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <nvdla/hw/pci.h>

namespace nvdla::sim
{

namespace
{

using vfiouser::pci::Identity;

Identity identityOf(const Geometry &geometry)
{
	return {
		.vendorId = NVDLA_PCI_VENDOR_ID,
		.deviceId = NVDLA_PCI_DEVICE_ID,
		.subsystemVendorId = NVDLA_PCI_SUBSYSTEM_VENDOR_ID,
		.subsystemId =
			static_cast<uint16_t>(NVDLA_PCI_SUBSYSTEM_ID_BASE + geometry.pciVariant),
		.revision = NVDLA_PCI_REVISION,
		.classCode = NVDLA_PCI_CLASS,
	};
}

} /* namespace */

NvdlaFunction::NvdlaFunction(const Config &config, vfiouser::GuestMemory &memory,
			     vfiouser::Interrupts &interrupts, vfiouser::Log &log)
	: PciFunction(identityOf(config.geometry), memory, interrupts), log_(log),
	  core_(coreConfig(config), dram_, [this] { sendInterrupt(); })
{
	addBar(NVDLA_PCI_CSB_BAR, NVDLA_PCI_CSB_SIZE);
	addStandardCapabilities(NVDLA_PCI_MSIX_BAR);
	addDescription(config);
	if (config.faults)
		addFaults();
	finish();
}

CoreConfig NvdlaFunction::coreConfig(const Config &config)
{
	return {
		.geometry = config.geometry,
		.cvsramBase = config.cvsramBase,
		.cvsramSize = config.cvsramSize,
		.diagnostics =
			[this](const GuestError &error) {
				log_.warning("guest error: {} {}: {}{}{}", error.unit, error.where,
					     error.reason, error.detail.empty() ? "" : ": ",
					     error.detail);
			},
		.timing = config.timing,
		.conv = { .fp16 = config.fp16 },
		.threads = config.threads,
		.neverEnds = [this] { return faults_.hangs(); },
		.cdmaNeverEnds = [this] { return faults_.hangsCdma(); },
		.realtime = config.realtime,
	};
}

void NvdlaFunction::sendInterrupt()
{
	if (!faults_.losesInterrupt())
		raiseInterrupt();
}

/*
 * Adds the vendor-specific capability, with facts that a driver cannot read from the core's
 * registers.
 */
void NvdlaFunction::addDescription(const Config &config)
{
	/* The capability's first two bytes are not part of its body. */
	constexpr size_t header = 2;
	std::array<uint8_t, NVDLA_PCI_VSC_LENGTH - header> body = {};
	const auto put = [&body](size_t offset, uint64_t value, size_t size) {
		for (size_t i = 0; i < size; i++)
			body[offset - header + i] = static_cast<uint8_t>(value >> (8 * i));
	};
	put(NVDLA_PCI_VSC_LENGTH_OFFSET, NVDLA_PCI_VSC_LENGTH, 1);
	put(NVDLA_PCI_VSC_VERSION_OFFSET, NVDLA_PCI_VSC_VERSION_1, 1);
	put(NVDLA_PCI_VSC_MAGIC_OFFSET, NVDLA_PCI_VSC_MAGIC, 4);
	put(NVDLA_PCI_VSC_VARIANT_OFFSET, config.geometry.pciVariant, 2);
	put(NVDLA_PCI_VSC_CVSRAM_BASE_OFFSET, config.cvsramBase, 8);
	put(NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET, config.cvsramSize, 8);
	this->config().addCapability(vfiouser::pci::kCapabilityVendor, body);
}

/* Adds the capability through which tests order faults. */
void NvdlaFunction::addFaults()
{
	constexpr size_t header = 2;
	std::array<uint8_t, NVDLA_PCI_FAULTS_LENGTH - header> body = { NVDLA_PCI_FAULTS_LENGTH, 1 };
	for (size_t i = 0; i < sizeof(uint32_t); i++)
		body[NVDLA_PCI_VSC_MAGIC_OFFSET - header + i] =
			static_cast<uint8_t>(NVDLA_PCI_FAULTS_MAGIC >> (8 * i));
	faultsCapability_ = config().addCapability(vfiouser::pci::kCapabilityVendor, body);
}

/* Handles orders of faults, also while the device does not answer. */
void NvdlaFunction::configWritten(uint64_t offset, std::span<const std::byte> data)
{
	uint32_t order;

	if (!faultsCapability_ || data.size() != sizeof(order) ||
	    offset != faultsCapability_ + uint64_t{ NVDLA_PCI_FAULTS_ORDER_OFFSET })
		return;
	std::memcpy(&order, data.data(), sizeof(order));
	log_.info("fault ordered: {:#x}", order);
	const bool gone = faults_.gone();
	if (faults_.take(order))
		raiseInterrupt();
	if (gone && !faults_.gone())
		losePower();
}

void NvdlaFunction::barRead(unsigned int, uint64_t offset, std::span<std::byte> data)
{
	if (faults_.silent() || !isCsbAccess(offset, data.size(), "read")) {
		std::fill(data.begin(), data.end(), std::byte{ 0xff });
		return;
	}
	const uint32_t value = core_.csbRead(static_cast<uint32_t>(offset));
	std::memcpy(data.data(), &value, sizeof(value));
}

void NvdlaFunction::barWrite(unsigned int, uint64_t offset, std::span<const std::byte> data)
{
	if (faults_.silent() || !isCsbAccess(offset, data.size(), "write"))
		return;
	uint32_t value;
	std::memcpy(&value, data.data(), sizeof(value));
	core_.csbWrite(static_cast<uint32_t>(offset), value);
}

bool NvdlaFunction::isCsbAccess(uint64_t offset, size_t size, const char *what)
{
	if (size == sizeof(uint32_t) && offset % sizeof(uint32_t) == 0)
		return true;
	if (!badWidthReported_)
		log_.warning("guest error: CSB {} of {} bytes at {:#x}: only aligned accesses of 4 "
			     "bytes are carried out (reported once)",
			     what, size, offset);
	badWidthReported_ = true;
	return false;
}

void NvdlaFunction::deviceReset()
{
	core_.reset();
	faults_.reset();
	badWidthReported_ = false;
}

bool NvdlaFunction::Dram::reaches() const
{
	return function_.busMaster() && !function_.faults_.gone() &&
	       !function_.faults_.refusesDma();
}

bool NvdlaFunction::Dram::read(uint64_t address, std::span<std::byte> out)
{
	return reaches() && function_.memory().read(address, out);
}

bool NvdlaFunction::Dram::write(uint64_t address, std::span<const std::byte> data)
{
	return reaches() && function_.memory().write(address, data);
}

} /* namespace nvdla::sim */
