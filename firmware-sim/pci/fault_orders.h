/* SPDX-License-Identifier: MIT */
/* Faults of the device that driver tests can order. */
#pragma once

#include <atomic>
#include <cstdint>

namespace nvdla::sim
{

/** \brief Counts ordered faults: NVDLA_PCI_FAULT_* of include/nvdla/hw/pci.h; thread-safe */
class FaultOrders
{
public:
	/**
	 * \brief Take an order
	 * \param[in] order value written to the capability
	 * \return true if the order is for an immediate interrupt
	 */
	bool take(uint32_t order);

	/** \brief Handle a reset of the function: registers answer again */
	void reset() { ones_ = false; }

	/** \return true if the next interrupt message is to be lost */
	bool losesInterrupt() { return strikes(lost_); }
	/** \return true if the operation that is about to complete must never end */
	bool hangs() { return strikes(hangs_); }
	/** \return true if CDMA of the convolution that is about to complete must never end */
	bool hangsCdma() { return strikes(cdmaHangs_); }
	/** \return true if the current access to system memory is to be refused */
	bool refusesDma() { return strikes(dma_); }
	/** \return true if the registers do not answer: they read as all ones */
	bool silent() const { return ones_ || gone_; }
	/** \return true if the whole function does not answer, as if it was unplugged */
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
