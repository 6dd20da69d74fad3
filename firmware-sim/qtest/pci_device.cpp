/* SPDX-License-Identifier: MIT */
#include "qtest/pci_device.h"

namespace nvdla::sim::qtest
{

void PciDevice::select(uint8_t offset)
{
	constexpr uint16_t kConfigAddress = 0xcf8;

	qtest_.out<uint32_t>(kConfigAddress, 0x80000000U | slot_ << 11 | (offset & 0xfcU));
}

uint8_t PciDevice::findCapability(uint8_t id)
{
	uint8_t at = config<uint8_t>(0x34);
	for (int i = 0; at && i < 48; i++) {
		if (config<uint8_t>(at) == id)
			return at;
		at = config<uint8_t>(static_cast<uint8_t>(at + 1));
	}
	return 0;
}

uint32_t PciDevice::barSize(unsigned int bar)
{
	const auto offset = static_cast<uint8_t>(0x10 + 4 * bar);
	setConfig<uint32_t>(offset, 0xffffffff);
	const uint32_t mask = config<uint32_t>(offset) & ~0xfU;
	setConfig<uint32_t>(offset, 0);
	return ~mask + 1;
}

void PciDevice::mapBar(unsigned int bar, uint32_t address)
{
	setConfig<uint32_t>(static_cast<uint8_t>(0x10 + 4 * bar), address);
}

void PciDevice::enable(bool memory, bool master)
{
	setConfig<uint16_t>(0x04, static_cast<uint16_t>((memory ? 2 : 0) | (master ? 4 : 0)));
}

} /* namespace nvdla::sim::qtest */
