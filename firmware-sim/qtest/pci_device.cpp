/* SPDX-License-Identifier: MIT */
#include "qtest/pci_device.h"

namespace nvdla::sim::qtest
{

namespace
{

/* Configuration mechanism 1 of the PCI specification. */
constexpr uint16_t kConfigAddress = 0xcf8;
constexpr uint16_t kConfigData = 0xcfc;

} /* namespace */

void PciDevice::select(uint8_t offset)
{
	qtest_.out32(kConfigAddress, 0x80000000U | slot_ << 11 | (offset & 0xfcU));
}

uint8_t PciDevice::config8(uint8_t offset)
{
	select(offset);
	return qtest_.in8(kConfigData + (offset & 3));
}

uint16_t PciDevice::config16(uint8_t offset)
{
	select(offset);
	return qtest_.in16(kConfigData + (offset & 2));
}

uint32_t PciDevice::config32(uint8_t offset)
{
	select(offset);
	return qtest_.in32(kConfigData);
}

void PciDevice::setConfig8(uint8_t offset, uint8_t value)
{
	select(offset);
	qtest_.out8(kConfigData + (offset & 3), value);
}

void PciDevice::setConfig16(uint8_t offset, uint16_t value)
{
	select(offset);
	qtest_.out16(kConfigData + (offset & 2), value);
}

void PciDevice::setConfig32(uint8_t offset, uint32_t value)
{
	select(offset);
	qtest_.out32(kConfigData, value);
}

uint8_t PciDevice::findCapability(uint8_t id)
{
	uint8_t at = config8(0x34);
	for (int i = 0; at && i < 48; i++) {
		if (config8(at) == id)
			return at;
		at = config8(static_cast<uint8_t>(at + 1));
	}
	return 0;
}

uint32_t PciDevice::barSize(unsigned int bar)
{
	const auto offset = static_cast<uint8_t>(0x10 + 4 * bar);
	setConfig32(offset, 0xffffffff);
	const uint32_t mask = config32(offset) & ~0xfU;
	setConfig32(offset, 0);
	return ~mask + 1;
}

void PciDevice::mapBar(unsigned int bar, uint32_t address)
{
	setConfig32(static_cast<uint8_t>(0x10 + 4 * bar), address);
}

void PciDevice::enable(bool memory, bool master)
{
	setConfig16(0x04, static_cast<uint16_t>((memory ? 2 : 0) | (master ? 4 : 0)));
}

} /* namespace nvdla::sim::qtest */
