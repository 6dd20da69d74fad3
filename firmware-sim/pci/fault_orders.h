/* SPDX-License-Identifier: MIT */
/*
 * Faults to order, for tests of drivers.
 */
#pragma once

#include <atomic>
#include <cstdint>

namespace nvdla::sim
{

/** \brief What is going to go wrong, as NVDLA_PCI_FAULT_* of include/nvdla/hw/pci.h; any thread */
class FaultOrders
{
public:
	/**
	 * \brief Take an order
	 * \param[in] order as it is written to the capability
	 * \return it asks for an interrupt now
	 */
	bool take(uint32_t order);

	/** \brief The function was reset */
	void reset() { ones_ = false; }

	/** \return whether the next interrupt message is to be lost */
	bool losesInterrupt() { return strikes(lost_); }
	/** \return the operation that is done never ends */
	bool hangs() { return strikes(hangs_); }
	/** \return CDMA of the convolution that is done never ends */
	bool hangsCdma() { return strikes(cdmaHangs_); }
	/** \return the access to system memory is refused */
	bool refusesDma() { return strikes(dma_); }
	/** \return the registers do not answer */
	bool silent() const { return ones_ || gone_; }
	/** \return nothing of the function answers */
	bool gone() const { return gone_; }

private:
	static bool strikes(std::atomic<uint32_t> &count);

	std::atomic<uint32_t> lost_ = 0;
	std::atomic<uint32_t> hangs_ = 0;
	std::atomic<uint32_t> cdmaHangs_ = 0;
	std::atomic<uint32_t> dma_ = 0;
	std::atomic<bool> ones_ = false;
	std::atomic<bool> gone_ = false;
};

} /* namespace nvdla::sim */
