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

/** \brief A region of the device; one without size does not exist */
struct Region {
	uint64_t size = 0;
	bool readable = false;
	bool writable = false;
};

/**
 * \brief A PCI function behind the server
 *
 * All functions are called by the thread that serves the client, and the guest's
 * processor waits meanwhile: they must return within microseconds, must not wait
 * for other threads' work, and must not access guest memory. The device calls
 * back through GuestMemory and Interrupts, from threads of its own.
 */
class DeviceFunction
{
public:
	virtual ~DeviceFunction() = default;

	/** \param index below wire::kRegionCount */
	virtual Region region(uint32_t index) const = 0;

	/**
	 * \brief Read from a region
	 * \param offset, data lie inside the region, data is never empty; any alignment
	 * \return 0 or an errno value for the client
	 */
	virtual int regionRead(uint32_t index, uint64_t offset, std::span<std::byte> data) = 0;

	/** \brief Write to a region; as regionRead() */
	virtual int regionWrite(uint32_t index, uint64_t offset,
				std::span<const std::byte> data) = 0;

	/**
	 * \brief Bring the function to the state after power-on
	 *
	 * Called for the client's DEVICE_RESET and whenever a client has left. On
	 * return no more DMA and no more interrupts come from before the reset.
	 */
	virtual void reset() = 0;
};

} /* namespace nvdla::sim::vfiouser */
