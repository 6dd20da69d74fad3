/* SPDX-License-Identifier: MIT */
/*
 * A PCI function of a machine without a guest.
 */
#pragma once

#include "qtest/qtest.h"

namespace nvdla::sim::qtest
{

/** \brief A PCI function of a Qtest machine, configured through I/O ports 0xcf8 and 0xcfc */
class PciDevice
{
public:
	/** \param slot device number on bus 0; the function is 0 */
	PciDevice(Qtest &qtest, unsigned int slot) : qtest_(qtest), slot_(slot) {}

	/** \brief Read configuration space with the width of \a T */
	template<typename T>
	T config(uint8_t offset)
	{
		select(offset);
		return qtest_.in<T>(kConfigData + offset % 4);
	}
	template<typename T>
	void setConfig(uint8_t offset, T value)
	{
		select(offset);
		qtest_.out<T>(kConfigData + offset % 4, value);
	}

	/** \return offset of a capability in configuration space, 0 if there is none */
	uint8_t findCapability(uint8_t id);
	/** \return the size of a memory BAR in bytes; destroys the BAR's address */
	uint32_t barSize(unsigned int bar);
	/** \brief Give a BAR an address */
	void mapBar(unsigned int bar, uint32_t address);
	/** \brief Enable or disable the function's BARs (memory) and its DMA (master) */
	void enable(bool memory, bool master);

private:
	static constexpr uint16_t kConfigData = 0xcfc;

	void select(uint8_t offset);

	Qtest &qtest_;
	unsigned int slot_;
};

} /* namespace nvdla::sim::qtest */
