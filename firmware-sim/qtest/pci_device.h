/* SPDX-License-Identifier: MIT */
/*
 * A PCI function of a machine without a guest.
 */
#pragma once

#include "qtest/qtest.h"

namespace nvdla::sim::qtest
{

/** \brief A PCI function of a Qtest machine, by configuration mechanism 1 */
class PciDevice
{
public:
	/** \param slot device number on bus 0; function 0 is meant */
	PciDevice(Qtest &qtest, unsigned int slot) : qtest_(qtest), slot_(slot) {}

	uint8_t config8(uint8_t offset);
	uint16_t config16(uint8_t offset);
	uint32_t config32(uint8_t offset);
	void setConfig8(uint8_t offset, uint8_t value);
	void setConfig16(uint8_t offset, uint16_t value);
	void setConfig32(uint8_t offset, uint32_t value);

	/** \return place of a capability in configuration space, 0 if there is none */
	uint8_t findCapability(uint8_t id);
	/** \return bytes a memory BAR asks for; its address is lost */
	uint32_t barSize(unsigned int bar);
	/** \brief Give a BAR an address */
	void mapBar(unsigned int bar, uint32_t address);
	/** \brief Let the function answer to its BARs and be a bus master, or not */
	void enable(bool memory, bool master);

private:
	void select(uint8_t offset);

	Qtest &qtest_;
	unsigned int slot_;
};

} /* namespace nvdla::sim::qtest */
