/* SPDX-License-Identifier: MIT */
/*
 * Interface of devices that the server serves.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::sim::vfiouser
{

/** \brief A region of the device; size 0: the region does not exist */
struct Region {
	uint64_t size = 0;
	bool readable = false;
	bool writable = false;
};

/**
 * \brief A PCI function behind the server
 *
 * The thread that serves the client calls all functions while the guest's processor waits.
 * They must return within microseconds, must not wait for the work
 * of other threads, and must not access guest memory. The device calls
 * GuestMemory and Interrupts from threads of its own.
 */
class DeviceFunction
{
public:
	virtual ~DeviceFunction() = default;

	/** \param index below wire::kRegionCount */
	virtual Region region(uint32_t index) const = 0;

	/**
	 * \brief Read from a region
	 * \param offset, data lie inside the region with any alignment; data is never empty
	 * \return 0 or an errno value for the client
	 */
	virtual int regionRead(uint32_t index, uint64_t offset, std::span<std::byte> data) = 0;

	/** \brief Write to a region; see regionRead() */
	virtual int regionWrite(uint32_t index, uint64_t offset,
				std::span<const std::byte> data) = 0;

	/**
	 * \brief Bring the function to the state after power-on
	 *
	 * Called for the client's DEVICE_RESET, and whenever a client has left. When it
	 * returns, DMA and interrupts from before the reset have ended.
	 */
	virtual void reset() = 0;
};

} /* namespace nvdla::sim::vfiouser */
