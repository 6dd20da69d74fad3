/* SPDX-License-Identifier: MIT */
#include "pci/fault_orders.h"

#include <nvdla/hw/pci.h>

namespace nvdla::sim
{

bool FaultOrders::take(uint32_t order)
{
	const uint32_t count = order >> NVDLA_PCI_FAULTS_COUNT_SHIFT;

	switch (order & ((1u << NVDLA_PCI_FAULTS_COUNT_SHIFT) - 1)) {
	case NVDLA_PCI_FAULT_NONE:
		lost_ = hangs_ = cdmaHangs_ = dma_ = 0;
		ones_ = gone_ = false;
		break;
	case NVDLA_PCI_FAULT_LOST:
		lost_ += count;
		break;
	case NVDLA_PCI_FAULT_SPURIOUS:
		return true;
	case NVDLA_PCI_FAULT_HANG:
		hangs_ += count;
		break;
	case NVDLA_PCI_FAULT_CDMA:
		cdmaHangs_ += count;
		break;
	case NVDLA_PCI_FAULT_ONES:
		ones_ = true;
		break;
	case NVDLA_PCI_FAULT_DMA:
		dma_ += count;
		break;
	case NVDLA_PCI_FAULT_GONE:
		gone_ = true;
		break;
	}
	return false;
}

/* Uses up one of the ordered faults; returns false if none is left. */
bool FaultOrders::strikes(std::atomic<uint32_t> &count)
{
	uint32_t left = count.load(std::memory_order_relaxed);

	while (left && !count.compare_exchange_weak(left, left - 1))
		;
	return left;
}

} /* namespace nvdla::sim */
