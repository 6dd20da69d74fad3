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

constexpr uint16_t kVariantId = NVDLA_PCI_VARIANT_NV_FULL;

constexpr Identity kIdentity = {
	.vendorId = NVDLA_PCI_VENDOR_ID,
	.deviceId = NVDLA_PCI_DEVICE_ID,
	.subsystemVendorId = NVDLA_PCI_SUBSYSTEM_VENDOR_ID,
	.subsystemId = NVDLA_PCI_SUBSYSTEM_ID_BASE + kVariantId,
	.revision = NVDLA_PCI_REVISION,
	.classCode = NVDLA_PCI_CLASS,
};

CoreConfig coreConfig(const NvdlaFunction::Config &config, vfiouser::Log &log)
{
	return {
		.variant = config.variant,
		.cvsramBase = config.cvsramBase,
		.cvsramSize = config.cvsramSize,
		.diagnostics =
			[&log](const GuestError &error) {
				log.warning("guest error: {} {}: {}{}{}", error.unit, error.where,
					    error.reason, error.detail.empty() ? "" : ": ",
					    error.detail);
			},
		.fp16 = config.fp16,
		.threads = config.threads,
	};
}

} /* namespace */

NvdlaFunction::NvdlaFunction(const Config &config, vfiouser::GuestMemory &memory,
			     vfiouser::Interrupts &interrupts, vfiouser::Log &log)
	: PciFunction(kIdentity, memory, interrupts), log_(log),
	  core_(coreConfig(config, log), dram_, [this] { raiseInterrupt(); })
{
	addBar(NVDLA_PCI_CSB_BAR, NVDLA_PCI_CSB_SIZE);
	addStandardCapabilities(NVDLA_PCI_MSIX_BAR);
	addDescription(config);
	finish();
}

/* The vendor-specific capability: what a driver cannot read from the core's registers. */
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
	put(NVDLA_PCI_VSC_VARIANT_OFFSET, kVariantId, 2);
	put(NVDLA_PCI_VSC_CVSRAM_BASE_OFFSET, config.cvsramBase, 8);
	put(NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET, config.cvsramSize, 8);
	this->config().addCapability(vfiouser::pci::kCapabilityVendor, body);
}

void NvdlaFunction::barRead(unsigned int, uint64_t offset, std::span<std::byte> data)
{
	if (!isCsbAccess(offset, data.size(), "read")) {
		std::fill(data.begin(), data.end(), std::byte{ 0xff });
		return;
	}
	const uint32_t value = core_.csbRead(static_cast<uint32_t>(offset));
	std::memcpy(data.data(), &value, sizeof(value));
}

void NvdlaFunction::barWrite(unsigned int, uint64_t offset, std::span<const std::byte> data)
{
	if (!isCsbAccess(offset, data.size(), "write"))
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
	badWidthReported_ = false;
}

bool NvdlaFunction::Dram::read(uint64_t address, std::span<std::byte> out)
{
	return function_.busMaster() && function_.memory().read(address, out);
}

bool NvdlaFunction::Dram::write(uint64_t address, std::span<const std::byte> data)
{
	return function_.busMaster() && function_.memory().write(address, data);
}

} /* namespace nvdla::sim */
